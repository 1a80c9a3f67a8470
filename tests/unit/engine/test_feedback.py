"""A run never reads what it writes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.checks.destinations import refuse_feedback
from metl_gui.errors import RunError
from tests.helpers.run_specs import run_spec


def _spec(source: Path | str, sink: Path | str, errors: str = "", checkpoint: str = "") -> RunSpec:
    return run_spec(
        run_id="r1", plan=b"", source=str(source), sink=str(sink), folder="", errors=errors, checkpoint=checkpoint
    )


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("in", "in"),
        ("in", "in/out"),
        ("in", "in/deep/out"),
        ("in/**/*.jsonl", "in/out"),
        ("in/*", "in/out"),
        ("in/d*/x", "in/deep/x/out"),
        ("in/*/part-*.jsonl", "in/out"),
        ("in/_o*", "in/_out"),
    ],
)
def test_a_place_in_the_source_is_refused_whatever_lies_there(tmp_path: Path, pattern: str, place: str) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    source, written = tmp_path / pattern, str(tmp_path / place)
    for spec in (
        _spec(source, written),
        _spec(source, "noop", errors=written),
        _spec(source, tmp_path / "elsewhere", checkpoint=written),
    ):
        with pytest.raises(RunError, match="lies in the source") as refused:
            refuse_feedback(spec)
        assert written in str(refused.value)


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("in", "out"),
        ("in", "in-out"),
        ("in", "in/.out"),
        ("in", "in/_out/x"),
        ("in/*", "in/_out"),
        ("in/**/*.jsonl", "in/_out"),
        ("in/*.jsonl", "in/out"),
        ("in/one.jsonl", "in/out"),
        ("in/d*/x", "in/deep/y"),
    ],
)
def test_a_place_that_the_source_does_not_reach_is_taken(tmp_path: Path, pattern: str, place: str) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "one.jsonl").touch()
    refuse_feedback(_spec(tmp_path / pattern, tmp_path / place))


def test_a_link_into_the_source_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "in")
    with pytest.raises(RunError, match="lies in the source"):
        refuse_feedback(_spec(os.path.relpath(tmp_path / "in"), tmp_path / "link" / "out"))


def test_an_output_in_a_folder_that_a_link_in_the_source_leads_to_is_refused(tmp_path: Path) -> None:
    for name in ("in", "kept"):
        (tmp_path / name).mkdir()
    (tmp_path / "in" / "more").symlink_to(tmp_path / "kept")
    refuse_feedback(_spec(tmp_path / "in", tmp_path / "kept" / "_out"))
    refuse_feedback(_spec(tmp_path / "in", tmp_path / "kept2"))
    with pytest.raises(RunError, match="lies in the source"):
        refuse_feedback(_spec(tmp_path / "in", tmp_path / "kept" / "out"))
