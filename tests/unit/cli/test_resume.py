"""``metl resume`` and ``--forget``: what an interrupted import had still to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import RunCancelled
from metl_gui.workbench.importing.schema_import import add_reading
from metl_gui.workbench.session import Workbench
from tests.unit.cli.test_commands import Metl, metl
from tests.unit.workbench.test_resuming import MANY, stop_after

__all__ = ["metl"]


@pytest.fixture
def interrupted(tmp_path: Path) -> Path:
    path = tmp_path / "p.metl"
    with Workbench.create(path) as workbench, pytest.raises(RunCancelled):
        add_reading(workbench, Side.EXTRACTION, ReaderResult(MANY), watch=stop_after(100))
    return path


def test_resume_adds_what_is_left_and_a_second_one_ends_with_1(metl: Metl, interrupted: Path) -> None:
    code, document, _ = metl("check", interrupted)
    assert (code, document["problems"][0]["code"]) == (3, "project.import-unfinished")
    code, document, _ = metl("resume", interrupted)
    assert (code, len(document["added"]), document["state"]) == (0, 150, 250)
    code, _, said = metl("resume", interrupted)
    assert code == 1
    assert "No import was interrupted" in said


def test_forget_says_how_many_versions_will_not_be_added(metl: Metl, interrupted: Path) -> None:
    assert metl("resume", interrupted, "--forget")[:2] == (0, {"state": 100, "forgotten": 150})
    assert metl("resume", interrupted, "--forget")[1]["forgotten"] == 0
