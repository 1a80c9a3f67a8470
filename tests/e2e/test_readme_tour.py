from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.helpers import documents

README = documents.ROOT / "README.md"


def test_the_commands_of_the_tour_run_one_after_the_other(tmp_path: Path) -> None:
    """The calls that name a project are the tour; those that set the computer up are what runs this test."""
    tour = [call for call in documents.metl_commands(README) if "fx.metl" in call]
    assert {call[0] for call in tour} >= {"new", "import", "map", "review", "run", "export"}
    (tmp_path / "sample_projects").symlink_to(documents.ROOT / "sample_projects")
    for call in tour:
        done = subprocess.run(
            [sys.executable, "-m", "metl_gui.cli.main", *call],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"metl {' '.join(call)}\n{done.stdout}\n{done.stderr}"
        assert done.stdout
