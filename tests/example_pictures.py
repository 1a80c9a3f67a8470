"""Makes pictures of the worked examples: Map and Review page before and after each event, in both themes.

Run it as ``python -m tests.example_pictures FOLDER [WIDTH HEIGHT]``. Source: docs/architecture/model.md, "Worked
examples".
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.edits.versions import RemoveVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.importing.schema_import import import_sources
from metl_gui.workbench.session import EditOrigin, Workbench
from tests.helpers import worked_examples as examples

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window

Step = tuple[str, Callable[[Workbench, Path], object]]


def nothing(_workbench: Workbench, _folder: Path) -> None:
    """Leave the project as it is made."""


def add(side: Side, file: Callable[[Path], Path]) -> Callable[[Workbench, Path], object]:
    """Import what an event brings."""
    return lambda workbench, folder: import_sources(workbench, side, [file(folder)], door=EditOrigin.WINDOW)


def confirm(workbench: Workbench, _folder: Path) -> None:
    """Confirm what waits."""
    workbench.do(ConfirmBlock(workbench.document.matrix.waiting()[0]), EditOrigin.WINDOW)


def undo(workbench: Workbench, _folder: Path) -> None:
    """Take the last step back."""
    workbench.undo((EditOrigin.WINDOW,), EditOrigin.WINDOW)


def remove_first(workbench: Workbench, _folder: Path) -> None:
    """Remove the first version of example C."""
    version = examples.version_of(workbench, Side.EXTRACTION, "s1", "1")
    workbench.do(RemoveVersion(Side.EXTRACTION, version.id), EditOrigin.WINDOW)


def row_removed(folder: Path) -> Path:
    """Write an entity version that has the second attribute no more."""
    return examples.schema_file(folder, "be1", "2", "c3=c1", "c5")


EXAMPLES: dict[str, tuple[Callable[[Path], Workbench], tuple[Step, ...]]] = {
    "a": (examples.example_a, (("made", nothing),)),
    "b": (
        examples.example_b,
        (
            ("made", nothing),
            ("event-1", add(Side.EXTRACTION, examples.event_1)),
            ("event-2", add(Side.CDM, examples.event_2)),
            ("confirmed", confirm),
            ("undone", undo),
        ),
    ),
    "b-row": (
        examples.example_b,
        (
            ("event-1", add(Side.EXTRACTION, examples.event_1)),
            ("row-removed", add(Side.CDM, row_removed)),
        ),
    ),
    "c": (examples.example_c, (("made", nothing), ("removed", remove_first), ("undone", undo))),
}


def take(project: Path, target: Path, name: str, size: tuple[int, int]) -> Iterator[Path]:
    """Save the pages of a project as it stands."""
    from metl_gui.ui.shell.screenshot import posed_window, save_picture

    for theme in ("light", "dark"):
        with posed_window(project, theme, size) as window:
            for page, prepare in (("map", _map), ("review", _lists), ("matrix", _matrix)):
                prepare(window)
                picture = target / f"{name}-{page}-{theme}.png"
                save_picture(window, picture)
                yield picture


def _map(window: Window) -> None:
    window.show_page(0)


def _lists(window: Window) -> None:
    window.show_page(1)
    window.review.detail.show_matrix(is_shown=False)


def _matrix(window: Window) -> None:
    window.show_page(1)
    window.review.detail.show_matrix(is_shown=True)


def main(target: Path, size: tuple[int, int]) -> None:
    """Take all pictures."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ["METL_USER"] = "Ada"
    for name, (make, steps) in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            project = folder / f"{name}.metl"
            make(project).close()
            for label, act in steps:
                with Workbench.open(project) as workbench:
                    act(workbench, folder)
                for picture in take(project, target, f"{name}-{label}", size):
                    sys.stdout.write(f"{picture}\n")


if __name__ == "__main__":
    width, height = (int(word) for word in sys.argv[2:4]) if len(sys.argv) > 3 else (1600, 1000)
    main(Path(sys.argv[1]), (width, height))
