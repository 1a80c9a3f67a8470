"""What workers tell, and what is made of it: versions, packages, files and folders that they see or do not."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import msgspec
import pytest
from pyspark.errors import PySparkRuntimeError

from metl_gui.core.runs.events import WorkerFacts
from metl_gui.engine.spark.task_errors import run_error
from metl_gui.engine.spark.worker_check import WorkerCheck, check_files, check_packages, from_spark, parse_facts
from metl_gui.engine.spark.worker_facts import MARK, NEEDED, WorkerProbe
from metl_gui.errors import RunError


def facts(**others: object) -> WorkerFacts:
    plain = {
        "host": "node-1",
        "process": 1,
        "partition": 0,
        "python": platform.python_version(),
        "executable": "/opt/python/bin/python3",
        "platform": "Linux x86_64",
        "user": "1000",
        "packages": {"pyarrow": "20.0", "msgspec": "0.19", "numpy": "2.0", "numba": "0.62"},
    }
    return msgspec.convert(plain | others, WorkerFacts)


def asked(look: WorkerCheck) -> WorkerFacts:
    """Ask this very process, as a task of Spark would be asked."""
    answer = WorkerProbe(msgspec.json.encode(look).decode()).answer(0)
    return parse_facts([answer, None])[0]


@pytest.fixture(autouse=True)
def not_asked_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metl_gui.engine.spark.worker_facts._told", {})


def test_a_worker_tells_its_own_python_and_packages() -> None:
    told = asked(WorkerCheck())
    assert (told.python, told.executable) == (platform.python_version(), sys.executable)
    assert all(told.packages[name] for name in NEEDED)
    assert check_packages([told]) == ()


def test_a_task_answers_once_for_all_its_rows() -> None:
    question = WorkerProbe(msgspec.json.encode(WorkerCheck()).decode())
    assert question.answer(0) is not None
    assert question.answer(1) is None


def test_a_file_that_is_missing_or_shorter_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "short.jsonl").write_bytes(b"{}\n")
    (tmp_path / "grown.jsonl").write_bytes(b"{}\n" * 9)
    wanted = {"short.jsonl": 1000, "grown.jsonl": 3, "gone.jsonl": 3}
    told = asked(WorkerCheck(files=tuple((str(tmp_path / name), size) for name, size in wanted.items())))
    assert [why.partition(".jsonl")[0].rpartition("/")[2] for why in told.files] == ["short", "gone"]
    with pytest.raises(RunError, match="does not see the source") as caught:
        check_files([facts(), told], "/data/in")
    assert f"{told.host} cannot read {tmp_path / 'short.jsonl'} has 3 bytes there and 1,000 here" in caught.value.text
    assert "(and 1 more)" in caught.value.text
    assert "/data/in" in caught.value.hint


def test_a_folder_of_the_same_name_on_another_computer_is_not_taken_for_the_shared_one(tmp_path: Path) -> None:
    for name, mark in (("shared", "run-1"), ("other", "run-2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / MARK).write_text(mark)
    folders = tuple(str(tmp_path / name) for name in ("shared", "other", "gone"))
    told = asked(WorkerCheck(folders=folders, mark="run-1"))
    assert told.folders == {folders[1]: "it is another folder of the same name", folders[2]: "it is not there"}
    assert [path.name for path in (tmp_path / "shared").iterdir()] == [MARK]


def test_a_folder_that_cannot_be_written_there_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / MARK).write_text("run-1")

    def refuse(_self: Path, _text: str) -> int:
        raise PermissionError(13, "Permission denied")

    look = WorkerCheck(folders=(str(tmp_path),), mark="run-1")
    monkeypatch.setattr(Path, "write_text", refuse)
    assert asked(look).folders == {str(tmp_path): "it cannot be written: Permission denied"}


def test_another_python_is_explained_by_what_the_worker_tells_and_by_what_spark_says() -> None:
    with pytest.raises(RunError) as caught:
        check_packages([facts(), facts(host="node-2", python="3.9.18")])
    said = PySparkRuntimeError(
        errorClass="PYTHON_VERSION_MISMATCH", messageParameters={"worker_version": "3.9", "driver_version": "3.11"}
    )
    by_spark = from_spark(f"Lost task 0.3 in stage 0.0 (TID 3) (node-2 executor 1): PythonException: {said}")
    assert by_spark is not None
    for error in (caught.value, by_spark):
        assert error.title == "A worker runs another Python."
        assert "node-2 runs Python 3.9, this program 3." in error.text
        assert "spark.pyspark.python" in error.hint


def test_a_missing_package_is_named_with_the_python_that_lacks_it() -> None:
    with pytest.raises(RunError, match="pyarrow and msgspec are missing") as caught:
        check_packages([facts(packages={"pyarrow": "", "msgspec": "", "numba": ""})])
    assert "/opt/python/bin/python3 -m pip install pyarrow msgspec" in caught.value.hint


def test_a_worker_without_numba_will_do_and_the_report_says_what_it_costs() -> None:
    (note,) = check_packages([facts(), facts(host="b", packages=facts().packages | {"numba": ""})])
    assert "numba is missing on b" in note
    assert "same outcome" in note


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("(node-3 executor 0): ModuleNotFoundError: No module named 'msgspec.json'", "msgspec is missing on a worker."),
        (
            '(node-3 executor 0): java.io.IOException: Cannot run program "/opt/py": error=2',
            "Spark cannot start Python",
        ),
    ],
)
def test_what_spark_says_when_a_worker_cannot_begin_names_the_worker(said: str, title: str) -> None:
    error = run_error(RuntimeError(f"Job aborted: Lost task 1.0 in stage 2.0 (TID 7) {said}\n at java.base/x"))
    assert error.title.startswith(title)
    assert "node-3" in error.text


def test_facts_come_back_as_they_were_told() -> None:
    told = facts(files=("a",), folders={"b": "c"})
    assert parse_facts([json.dumps(msgspec.to_builtins(told)), None]) == (told,)


def test_what_java_met_is_told_by_the_last_cause_that_it_names() -> None:
    met = (
        "An error occurred while calling o652.collectToPython.\n: org.apache.spark.SparkException: Job aborted\n\tat x"
    )
    cause = "Caused by: java.io.IOException: Connection reset by peer\n\tat java.base/x"
    assert run_error(RuntimeError(met)).text == "org.apache.spark.SparkException: Job aborted"
    assert run_error(RuntimeError(f"{met}\n{cause}")).text == "java.io.IOException: Connection reset by peer"
