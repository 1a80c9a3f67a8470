"""A real project is spoilt in hundreds of ways: it opens, or is refused with a sentence, in little memory and time."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from metl_gui.cli.main import main
from metl_gui.core.edits.warehouse import SetModel
from metl_gui.core.project.comments import CommentSubject, Spot
from metl_gui.core.project.refusals import RefusedRename, RefusedSuggestion
from metl_gui.core.project.sample_profiles import AttributeProfile, SchemaProfile
from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.core.project.writer_schemas import WriterSchema
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Dimension, Model
from metl_gui.workbench.session import Workbench
from tests.helpers.fx_files import FX

CASES = 240
TOGETHER = 60


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample project, as the commands make it, with something in every table."""
    path = tmp_path_factory.mktemp("hostile") / "fx.metl"
    for arguments in (
        ["new", str(path)],
        ["import", str(path), "--tree", "extraction", str(FX / "schemas")],
        ["import", str(path), "--tree", "cdm", str(FX / "cdm")],
        ["map", str(path), "--csv", str(FX / "mapping.csv")],
        ["import", str(path), "--tree", "extraction", str(FX / "waiting")],
        ["review", str(path), "--confirm-all", "same"],
        ["publish", str(path), "--name", "first"],
        ["undo", str(path)],
        ["redo", str(path)],
    ):
        assert main(arguments) == 0, arguments
    with Workbench.open(path, who="ada") as workbench:
        fill(workbench)
    return path


def fill(workbench: Workbench) -> None:
    """Put something into every table beside the states."""
    kept, stamp = workbench.kept, workbench.stamp()
    declared = VersionDeclaration("more", (AttributeDeclaration("a", "int64"),), "1")
    kept.comments.add(CommentSubject(Spot(1, 2, 3, 4), Spot(5)), "Ask the billing team", stamp)
    kept.refused_renames.add([RefusedRename(Side.EXTRACTION, 3, "legacy", "note")], stamp)
    kept.refused_suggestions.add([RefusedSuggestion(1, 2, 3, 4, "a", "b")], stamp)
    kept.assignments.assign([(1, 1, 1)], "grace", stamp)
    kept.states.add_export(1, 5)
    kept.pending_imports.begin(Side.EXTRACTION, "window", [declared], stamp)
    kept.version_tasks.collect([VersionTask(0, "s", "9", declared)], stamp)
    kept.writer_schemas.keep([WriterSchema("7", "avro", '"string"', "s", "f" * 32)], stamp)
    kept.settings.put({"second_person_confirms": "yes"})
    kept.samples.put_profiles(
        [SchemaProfile(1, 1, 5, (AttributeProfile("id", (("integer", 10),), 1.0, ("99",), 2, 2, 10),))]
    )
    kept.samples.include(1, b'{"a":1}\n' * 50, stamp)
    workbench.do(SetModel(Model(name="fx", tables=(Dimension(name="payment", entity="payment"),))))
    workbench.add_run({"run_id": "r", "state": 1, "read": 3}, [{"event": "RunStarted"}], {"source": "x"})


def test_something_stands_in_every_table(project: Path) -> None:
    with closing(sqlite3.connect(project)) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        empty = {name for (name,) in names if not connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone()}
    assert empty == {"lease"}


@pytest.mark.parametrize("first", range(0, CASES, TOGETHER))
def test_a_spoilt_project_is_read_or_refused_with_a_sentence(project: Path, tmp_path: Path, first: int) -> None:
    own = tmp_path / "fx.metl"
    own.write_bytes(project.read_bytes())
    command = [sys.executable, "-m", "tests.unit.store.spoilt_files", str(own), str(first), str(first + TOGETHER)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1_200, check=False)
    cases = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(cases) == TOGETHER, done.stderr
    assert [case for case in cases if case[2].startswith("broke")] == []
    kinds = Counter(case[2].partition(":")[0] for case in cases)
    assert kinds["refused"] > TOGETHER // 10
    assert kinds["same"] > TOGETHER // 10
