"""Where the files lie that are packaged beside the code.

In an installed wheel they are inside the package; in the source tree they stand at its top level.
"""

from __future__ import annotations

from pathlib import Path

from metl_gui.errors import SetupError

_PACKAGE = Path(__file__).resolve().parent


def resources() -> Path:
    """Return the folder of icons, themes, fonts and translations."""
    return _packaged("resources")


def sample_projects() -> Path:
    """Return the folder of the sample projects; it is read only, so open copies of what lies there."""
    return _packaged("sample_projects")


def _packaged(name: str) -> Path:
    for place in (_PACKAGE / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise SetupError(
        f"The folder {name} is missing from this installation.",
        f"It is neither in {_PACKAGE} nor beside it.",
        "Install the program again: pip install --force-reinstall metl-gui",
    )
