"""The project file that a link leads into: one that a person names, else one that was opened here before.

A project is known by the id in its file, so a file that was moved or renamed is found again once it was opened there.
Only names of files are kept, in the user's own data folder.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from metl_gui.errors import LinkError, UserError
from metl_gui.own_files import atomic_write, make_folder
from metl_gui.store.project_file import read_project_id
from metl_gui.store.sqlite.connection import SUFFIX
from metl_gui.workbench.user_folders import known_project_path

_LONGEST_PATH_BYTES = 4_096
_LOOKED_AT = 50
"""Files that are looked into at most, of those that lie near."""


def remember_project(project_id: str, path: Path) -> None:
    """Keep where a project lies; where that cannot be written nothing is kept."""
    place, content = known_project_path(project_id), os.fsencode(path.absolute())
    with contextlib.suppress(OSError):
        if not place.exists() or place.read_bytes() != content:
            make_folder(place.parent)
            atomic_write(place, content)


def find_project(project_id: str, named: Path | None = None, near: Iterable[Path] = ()) -> Path:
    """Find the file of a project.

    Args:
        project_id: the id of the project that is looked for.
        named: the file that a person named; no other is looked at.
        near: files that may be it: recent projects, those of a folder. The first fifty are looked into.

    Raises:
        LinkError: it is not known where the project lies, or the named file is another one.
        ProjectError: the named file cannot be read.
    """
    if named is not None:
        if read_project_id(named) != project_id:
            raise LinkError(
                f"The link does not lead into {named.name}.",
                "It was made in another project.",
                "Open the project that it was made in, or a copy of that one.",
            )
        return named
    for path in (*_remembered(project_id), *islice(near, _LOOKED_AT)):
        with contextlib.suppress(UserError, OSError):
            if path.is_file() and read_project_id(path) == project_id:
                return path
    raise LinkError(
        "The project of this link is not known on this computer.",
        f"Its id is {project_id[:64]}.",
        "Open its project file once, then follow the link again.",
    )


def projects_in(folder: Path) -> tuple[Path, ...]:
    """List the project files of a folder, by name; none where it cannot be read."""
    try:
        return tuple(sorted(islice(folder.glob(f"*{SUFFIX}"), _LOOKED_AT)))
    except OSError:
        return ()


def _remembered(project_id: str) -> tuple[Path, ...]:
    try:
        with known_project_path(project_id).open("rb") as file:
            kept = file.read(_LONGEST_PATH_BYTES)
    except OSError:
        return ()
    return (Path(os.fsdecode(kept)),) if kept and b"\0" not in kept else ()
