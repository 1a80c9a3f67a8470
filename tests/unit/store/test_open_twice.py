"""A project that one process has open twice keeps its locks while other programs open and close it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.store.sqlite.connection import is_database, require_project
from metl_gui.workbench.session import Workbench

_OTHER = (
    "import sys; from pathlib import Path; from metl_gui.workbench.session import Workbench\n"
    "Workbench.open(Path(sys.argv[1]), for_editing=False).close()"
)


def test_edits_survive_another_program_that_opens_and_closes_a_project_which_was_looked_at_twice_here(
    tmp_path: Path,
) -> None:
    path = tmp_path / "shop.metl"
    with Workbench.create(path, who="Ada") as editing:
        for number in range(12):
            Workbench.open(path, for_editing=False).close()
            assert is_database(path)
            require_project(path)
            if number % 4 == 1:
                subprocess.run([sys.executable, "-c", _OTHER, str(path)], check=True)
                assert (tmp_path / "shop.metl-wal").exists(), "the other took its log away under the editor"
            editing.do(AddVersion(Side.CDM, VersionDeclaration(f"e{number}", (AttributeDeclaration("a", "int"),), "1")))
    with Workbench.open(path, for_editing=False) as read:
        assert read.document.state == 12
