"""The checks of a project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.search.problems import Severity
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.publishing.checks import check_document, check_project, seen_in_runs
from metl_gui.workbench.review.decisions import confirm_all, retire
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import runs_folder

from .conftest import declare


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_project_without_doubts_has_notes_at_most(mapped: Workbench) -> None:
    found = check_project(mapped)
    assert [(p.code, p.place) for p in found.problems] == [("extraction.never-mapped", "fx.pay@1")]
    assert {problem.severity for problem in found.problems} <= {Severity.NOTE}


def test_a_block_that_waits_is_a_warning_until_it_is_decided(mapped: Workbench) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id", "amount")))
    found = check_document(mapped.document).as_json()["problems"]
    assert [(p["severity"], p["code"], p["place"]) for p in found] == [
        ("warning", "mapping.needs-review", "fx.pay.orders@2:payment@1"),
        ("note", "extraction.never-mapped", "fx.pay@1"),
    ]
    assert {problem.severity for problem in check_document(mapped.document).problems} - {Severity.NOTE}
    confirm_all(mapped, "smaller")
    assert {problem.severity for problem in check_document(mapped.document).problems} <= {Severity.NOTE}


def test_a_file_that_reads_back_as_something_else_is_an_error(mapped: Workbench) -> None:
    with Workbench.open(mapped.path, for_editing=False) as reader:
        # The view is made to differ from the file, which no edit can do.
        reader._document = reader.at_state(4)
        found = check_project(reader).problems
    assert [problem.code for problem in found if problem.code.startswith("project.")] == []
    with Workbench.open(mapped.path, for_editing=False) as reader:
        older = reader.at_state(4)
        reader._document = replace(older, state=mapped.document.state)
        codes = [problem.code for problem in check_project(reader).problems]
    assert "project.differs-from-file" in codes


def test_retired_blocks_that_runs_still_meet_are_told(mapped: Workbench) -> None:
    retire(mapped, "fx.pay.orders@1:refund@1")
    run_id = mapped.add_run({"run_id": "first", "state": 1, "errors": ""}, [])
    samples = runs_folder(mapped.project_id) / run_id / "samples"
    samples.mkdir(parents=True)
    sent = {"entity": "payment", "source": {"schema": "fx.pay.orders", "version": "1"}, "payload": {}}
    record = {"place": "a@0", "outgoing": [{"entity": "payment", "message": sent}], "raw": "{}"}
    (samples / "part-0.jsonl").write_text(json.dumps(record) + "\n")
    assert seen_in_runs(mapped) == {("fx.pay.orders", "1")}
    found = [p for p in check_project(mapped).problems if p.code == "mapping.retired-receives"]
    assert [p.place for p in found] == ["fx.pay.orders@1:refund@1"]
    (samples / "part-0.jsonl").write_text("{broken\n")
    assert seen_in_runs(mapped) == set()
