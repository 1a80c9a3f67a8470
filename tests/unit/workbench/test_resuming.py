"""Bulk imports that are killed or stopped go on where they were, and say what is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from metl_gui.core.edits.versions import RemoveVersion
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.progress import Progress, Watch
from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import RunCancelled, UserError
from metl_gui.workbench.importing.schema_import import add_reading, forget, remainders, resume, words
from metl_gui.workbench.publishing.checks import check_project
from metl_gui.workbench.session import Workbench

from .conftest import declare

MANY = tuple(declare(f"s{at % 7}", str(at // 7 + 1), "id", f"a{at}", f"b{at}") for at in range(250))
ROOT = Path(__file__).parents[3]

IMPORTER = """
import sys
from pathlib import Path
from metl_gui.core.trees.nodes import Side
from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.workbench.importing.schema_import import add_reading
from metl_gui.workbench.session import Workbench
from tests.unit.workbench.test_resuming import MANY
with Workbench.open(Path(sys.argv[1])) as workbench:
    print("open", flush=True)
    add_reading(workbench, Side.EXTRACTION, ReaderResult(MANY))
"""


def stop_after(count: int) -> Watch:
    """Stop an import when so many of its versions were added."""
    told: list[Progress] = []
    return Watch(told.append, lambda: len(told) >= count)


def labels(workbench: Workbench) -> list[tuple[str, str]]:
    tree = workbench.document.extraction
    return [(schema.name, v.label) for schema in tree.schemas() for v in tree.versions(schema.id)]


@pytest.fixture
def whole(tmp_path: Path) -> str:
    """The hash of a project into which everything was imported at once."""
    with Workbench.create(tmp_path / "whole.metl") as workbench:
        add_reading(workbench, Side.EXTRACTION, ReaderResult(MANY))
        return state_hash(workbench.document)


def test_a_stopped_import_says_what_is_left_and_goes_on_in_its_undo_step(tmp_path: Path, whole: str) -> None:
    with Workbench.create(tmp_path / "p.metl") as workbench, pytest.raises(RunCancelled):
        add_reading(workbench, Side.EXTRACTION, ReaderResult(MANY), watch=stop_after(100))
    with Workbench.open(tmp_path / "p.metl") as workbench:
        (left,) = remainders(workbench)
        assert (left.began.total, len(left.declarations)) == (250, 150)
        assert left.declarations == MANY[100:]
        assert "150 of them still to be added, from s2 version 15 on" in words(left)
        assert check_project(workbench).problems[0].code == "project.import-unfinished"
        done = resume(workbench)
        assert len(done.added) == 150
        assert state_hash(workbench.document) == whole
        assert remainders(workbench) == ()
        assert workbench.kept.pending_imports.all() == ()
        workbench.undo()
        assert labels(workbench) == []


def test_after_another_edit_the_rest_is_an_undo_step_of_its_own(tmp_path: Path) -> None:
    with Workbench.create(tmp_path / "p.metl") as workbench:
        with pytest.raises(RunCancelled):
            add_reading(workbench, Side.EXTRACTION, ReaderResult(MANY), watch=stop_after(100))
        version = workbench.document.extraction.labelled(1, "1")
        assert version is not None
        workbench.do(RemoveVersion(Side.EXTRACTION, version.id))
        resume(workbench)
        workbench.undo()
        assert len(labels(workbench)) == 99


def test_forgetting_keeps_what_was_added(tmp_path: Path) -> None:
    with Workbench.create(tmp_path / "p.metl") as workbench:
        with pytest.raises(RunCancelled):
            add_reading(workbench, Side.EXTRACTION, ReaderResult(MANY), watch=stop_after(100))
        assert forget(workbench) == 150
        assert len(labels(workbench)) == 100
        with pytest.raises(UserError, match="No import was interrupted"):
            resume(workbench)


def test_running_the_same_import_again_forgets_the_interrupted_one(tmp_path: Path, whole: str) -> None:
    with Workbench.create(tmp_path / "p.metl") as workbench:
        with pytest.raises(RunCancelled):
            add_reading(workbench, Side.EXTRACTION, ReaderResult(MANY), watch=stop_after(100))
        add_reading(workbench, Side.EXTRACTION, ReaderResult(MANY))
        assert state_hash(workbench.document) == whole
        assert workbench.kept.pending_imports.all() == ()


def test_an_import_of_one_version_or_of_what_is_there_leaves_no_record(tmp_path: Path) -> None:
    with Workbench.create(tmp_path / "p.metl") as workbench:
        for reading in (ReaderResult(MANY[:1]), ReaderResult(MANY[:1])):
            with pytest.raises(RunCancelled):
                add_reading(workbench, Side.EXTRACTION, reading, watch=stop_after(0))
            assert workbench.kept.pending_imports.all() == ()
            add_reading(workbench, Side.EXTRACTION, reading)


@pytest.mark.parametrize("seed", range(5))
def test_an_import_killed_at_any_moment_leaves_a_whole_state_and_goes_on_to_the_same_end(
    tmp_path: Path, whole: str, seed: int
) -> None:
    path, random = tmp_path / "p.metl", Random(seed)
    Workbench.create(path).close()
    command = [sys.executable, "-c", IMPORTER, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=environment) as child:
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(random.uniform(0.02, 0.4))
        child.send_signal(signal.SIGKILL)
    with Workbench.open(path) as workbench:
        added = labels(workbench)
        assert set(added) <= {(declaration.name, declaration.label) for declaration in MANY}
        assert state_hash(workbench.document) == state_hash(workbench.read_again())
        left = remainders(workbench)
        if left:
            assert len(left[0].declarations) == len(MANY) - len(added)
            assert left[0].declarations == MANY[len(added) :]
            resume(workbench)
        elif not added:
            add_reading(workbench, Side.EXTRACTION, ReaderResult(MANY))
        assert state_hash(workbench.document) == whole
