from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.runs.staged_outputs import Staging
from metl_gui.engine.sinks.jsonl import JsonlParts
from metl_gui.engine.sinks.sink import folder_name
from metl_gui.engine.spark.task_errors import TaskError, run_error
from metl_gui.errors import RunError
from tests.helpers.run_specs import changed, run_spec


def _spec(folder: Path, sink: str = "", errors: str = "") -> RunSpec:
    return run_spec(
        run_id="r1", plan=b"", source="", sink=sink or str(folder / "out"), folder=str(folder / "run"), errors=errors
    )


def _tree(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def _write(staging: Staging, name: str = "part-000000-0") -> list[str]:
    assert staging.messages_partial is not None
    messages, errors = JsonlParts(staging.messages_partial, name), JsonlParts(staging.errors_partial, name)
    messages.append(("payment",), [b"{}\n"])
    errors.append(("reason=malformed",), [b"{}\n"])
    return [*messages.close(), *errors.close()]


def test_outputs_are_in_place_only_after_the_commit(tmp_path: Path) -> None:
    staging = Staging(_spec(tmp_path))
    staging.prepare()
    written = _write(staging)
    assert not (tmp_path / "out").exists()
    staging.commit(written)
    assert _tree(tmp_path) == [
        "out",
        "out/payment",
        "out/payment/part-000000-0.jsonl",
        "run",
        "run/errors",
        "run/errors/reason=malformed",
        "run/errors/reason=malformed/part-000000-0.jsonl",
    ]


def test_parts_of_attempts_that_failed_are_dropped(tmp_path: Path) -> None:
    staging = Staging(_spec(tmp_path))
    staging.prepare()
    _write(staging, "part-000000-0")
    staging.commit(_write(staging, "part-000000-1"))
    assert [path.name for path in (tmp_path / "out" / "payment").iterdir()] == ["part-000000-1.jsonl"]


def test_a_discarded_run_leaves_nothing_not_even_the_folders_made_for_it(tmp_path: Path) -> None:
    staging = Staging(_spec(tmp_path, str(tmp_path / "deep" / "er" / "out")))
    staging.prepare()
    _write(staging)
    staging.discard()
    assert _tree(tmp_path) == []


def test_what_cannot_be_removed_at_once_goes_with_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    staging = Staging(_spec(tmp_path))
    staging.prepare()
    _write(staging)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)
        staging.discard()
    assert any(".discarded" in name for name in _tree(tmp_path))
    following = Staging(changed(_spec(tmp_path), run_id="later"))
    following.prepare()
    following.discard()
    assert _tree(tmp_path) == ["run"]


def test_an_error_store_inside_the_output_moves_with_it(tmp_path: Path) -> None:
    staging = Staging(_spec(tmp_path, errors=str(tmp_path / "out" / "errors")))
    staging.prepare()
    staging.commit(_write(staging))
    assert (tmp_path / "out" / "errors" / "reason=malformed" / "part-000000-0.jsonl").is_file()


def test_an_empty_folder_is_taken_as_the_output(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    staging = Staging(_spec(tmp_path))
    staging.prepare()
    staging.commit(_write(staging))
    assert (tmp_path / "out" / "payment").is_dir()


def test_a_folder_with_data_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_bytes(b"")
    with pytest.raises(RunError, match="not empty") as caught:
        Staging(_spec(tmp_path)).prepare()
    assert caught.value.hint
    assert _tree(tmp_path) == ["out", "out/mine"]


def test_a_place_that_cannot_be_written_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(RunError) as caught:
        Staging(_spec(tmp_path, str(tmp_path / "file" / "out"))).prepare()
    assert str(tmp_path / "file") in caught.value.text
    assert _tree(tmp_path) == ["file"]


@pytest.mark.parametrize("sink", ["jdbc:x://host/{entity}", "s3://bucket/x"])
def test_a_sink_that_is_not_known_is_refused_by_name(tmp_path: Path, sink: str) -> None:
    with pytest.raises(RunError) as caught:
        Staging(_spec(tmp_path, sink))
    with pytest.raises(RunError, match="need a folder"):
        Staging(_spec(tmp_path, errors=sink))
    assert sink in caught.value.text


def test_messages_inside_the_error_store_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="two folders"):
        Staging(_spec(tmp_path, str(tmp_path / "x" / "out"), str(tmp_path / "x"))).prepare()


def test_no_part_is_written_once_the_partial_folder_is_gone(tmp_path: Path) -> None:
    parts = JsonlParts(tmp_path / "gone", "part-000000-0")
    parts.append(("payment",), [b"{}\n"])
    with pytest.raises(TaskError) as caught:
        parts.close()
    assert "removed during the run" in run_error(caught.value).title
    assert _tree(tmp_path) == []


@given(names=st.lists(st.text(min_size=1, max_size=300), unique=True, max_size=8))
def test_any_entities_get_safe_folders_of_their_own(names: list[str]) -> None:
    folders = [folder_name(name) for name in names]
    assert len(set(folders)) == len(names)
    for folder in folders:
        assert "/" not in folder
        assert "\0" not in folder
        assert not folder.startswith((".", "_"))
        assert 0 < len(folder.encode()) < 250


def test_a_plain_entity_name_stays_as_it_is() -> None:
    assert folder_name("payment.refund v2") == "payment.refund v2"
