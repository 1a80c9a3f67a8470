"""Runs on a real Connect server and on a real standalone cluster, whose Pythons lack our package."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from metl_gui.core.runs.events import EngineEvent, RunProgressed, RunStopped
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.target import Target
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.spark.java import find_java
from metl_gui.errors import RunCancelled, RunError
from metl_gui.packaged import sample_projects
from metl_gui.stack.guard import children_of
from metl_gui.stack.spark import SparkConnect, SparkMaster, quick_java, spark_home
from metl_gui.workbench.demo.sample import FX, SampleFolder, build_project
from metl_gui.workbench.exports.files import export_published
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.runs.mapping_run import run_mapping
from tests.helpers.machine_code import kernel_cache
from tests.helpers.run_requests import run_request
from tests.helpers.spark_fixtures import make_python
from tests.spark.conftest import SpecOf, order_record

_RECORDS = 24_000
_HIDDEN = "hunter2-of-the-lake"
_MANY = 1_200_000
"""More than a run reads before somebody who sees its first progress can act."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("servers")


@pytest.fixture(scope="module")
def on_cluster(spark_master: SparkMaster, bare_python: Path) -> Iterator[SparkProcess]:
    """A session that has two cores of the cluster, until the tests of another file ask for them."""
    with SparkProcess(_standalone(spark_master, bare_python)) as process:
        yield process


@pytest.fixture(scope="module")
def spare_workers(spark_master: SparkMaster) -> Iterator[None]:
    """Two further workers, for sessions beside the one that has two cores, which goes on meanwhile."""
    before = spark_master.workers
    spare = [spark_master.add_worker(), spark_master.add_worker()]
    yield
    spark_master.workers = before
    for worker in spare:
        worker.stop()


@pytest.fixture(scope="module")
def on_connect(spark_connect: SparkConnect) -> Iterator[SparkProcess]:
    with SparkProcess(spark_connect.target) as process:
        yield process


@pytest.fixture(scope="session")
def source(folder: Path) -> Path:
    path = folder / "source.jsonl"
    path.write_bytes(b"".join(_line(n) for n in range(_RECORDS)))
    return path


@pytest.fixture(scope="session")
def long_source(folder: Path) -> Path:
    path = folder / "long.jsonl"
    path.write_bytes(b"".join(order_record(n) + b"\n" for n in range(_MANY)))
    return path


def _line(number: int) -> bytes:
    return b"{broken\n" if number % 1000 == 7 else order_record(number) + b"\n"


def _standalone(cluster: SparkMaster, python: Path, cores: int = 2) -> Target:
    settings = {"spark.pyspark.python": str(python), "spark.executor.memory": "512m", "spark.cores.max": str(cores)}
    target = cluster.target
    secrets = (*target.secrets, ("spark.hadoop.lake.password", _HIDDEN))
    return msgspec.structs.replace(target, settings=(*target.settings, *settings.items()), secrets=secrets)


def _bytes(path: Path) -> bytes:
    """Read a file that may go at any moment, as those of processes do."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _run_into(process: SparkProcess, folder: Path, source: Path, spec_of: SpecOf) -> RunReport:
    places = {"folder": str(folder / "run"), "errors": str(folder / "errors")}
    return process.run(spec_of(source, str(folder / "out"), **places))


def _once_records_flow(act: Callable[[], None]) -> Callable[[EngineEvent], None]:
    is_done: list[bool] = []

    def take(event: EngineEvent) -> None:
        if isinstance(event, RunProgressed) and event.tally.read and not is_done:
            is_done.append(True)
            act()

    return take


@pytest.mark.parametrize("kind", ["on_connect", "on_cluster"])
def test_a_remote_run_writes_the_files_of_a_local_one_with_none_of_our_package_there(
    kind: str, request: pytest.FixtureRequest, bare_python: Path, source: Path, spark: SparkProcess, spec_of: SpecOf
) -> None:
    tried = subprocess.run([bare_python, "-c", "import metl_gui"], cwd="/", capture_output=True, text=True, check=False)
    assert "No module named 'metl_gui'" in tried.stderr
    folder = Path(spec_of(source).policy.folder).parent
    remote: SparkProcess = request.getfixturevalue(kind)
    here = _run_into(spark, folder / "here", source, spec_of)
    there = _run_into(remote, folder / "there", source, spec_of)
    assert there.spark == remote.target != here.spark
    assert (there.read, there.mapped, there.by_entity) == (here.read, here.mapped, here.by_entity)
    for part in ("out", "errors", "run/samples"):
        assert _files(folder / "there" / part) == _files(folder / "here" / part) != {}
    assert any("numba is missing on" in problem for problem in there.problems) == (kind == "on_connect")


@pytest.mark.parametrize("kind", ["on_connect", "on_cluster"])
def test_a_remote_run_stops_when_it_is_cancelled_and_its_session_takes_the_next_one(
    kind: str, request: pytest.FixtureRequest, source: Path, long_source: Path, spec_of: SpecOf
) -> None:
    remote: SparkProcess = request.getfixturevalue(kind)
    folder = Path(spec_of(source).policy.folder).parent
    spec, events = spec_of(long_source), list[EngineEvent]()
    stop = _once_records_flow(remote.cancel)

    def take(event: EngineEvent) -> None:
        events.append(event)
        stop(event)

    with pytest.raises(RunCancelled):
        remote.run(spec, take)
    assert isinstance(events[-1], RunStopped)
    assert not Path(spec.sink.address).exists()
    assert _run_into(remote, folder / "next", source, spec_of).read == _RECORDS


def test_a_secret_stands_in_no_command_line_and_in_no_file_of_the_session(
    spark_master: SparkMaster, on_cluster: SparkProcess
) -> None:
    on_cluster.wait_until_ready()
    assert on_cluster.process_id is not None
    below = [on_cluster.process_id, *children_of(on_cluster.process_id), *spark_master.executors]
    assert len(below) >= 3
    told = [Path(f"/proc/{process_id}/{name}") for process_id in below for name in ("cmdline", "environ")]
    assert on_cluster.folder is not None
    for folder in (on_cluster.folder, spark_master.folder):
        told += [path for path in folder.rglob("*") if path.is_file() and path.suffix not in {".so", ".zip"}]
    assert [path for path in told if _HIDDEN.encode() in _bytes(path)] == []
    # What the cluster asks for reaches its executors in their environment, which is their owner's alone to read.
    told = [path for path in told if path.name != "environ"]
    assert [path for path in told if spark_master.secret.encode() in _bytes(path)] == []


def test_an_executor_that_comes_late_needs_nothing_of_runs_whose_folders_are_gone(
    on_cluster: SparkProcess, spark_master: SparkMaster, source: Path, spec_of: SpecOf, tmp_path: Path
) -> None:
    """The plans of batches lie in their checkpoint; executors ask for all that was ever sent."""
    checkpoint = tmp_path / "checkpoint"
    in_batches = on_cluster.run(spec_of(source, checkpoint=str(checkpoint)))
    assert list(checkpoint.rglob("*.json"))
    shutil.rmtree(checkpoint)
    before = set(spark_master.executors)
    for process_id in before:
        os.kill(process_id, signal.SIGKILL)
    assert _run_into(on_cluster, tmp_path / "again", source, spec_of).mapped == in_batches.mapped
    assert before.isdisjoint(spark_master.executors)


def test_an_executor_that_is_killed_loses_nothing_and_repeats_nothing(
    spark_master: SparkMaster, on_cluster: SparkProcess, long_source: Path, spec_of: SpecOf
) -> None:
    killed: list[int] = []

    def kill() -> None:
        killed.append(spark_master.executors[0])
        os.kill(killed[0], signal.SIGKILL)

    spec = spec_of(long_source)
    report = on_cluster.run(spec, _once_records_flow(kill))
    assert killed
    assert killed[0] not in spark_master.executors
    assert (report.read, report.mapped, report.by_entity) == (_MANY, _MANY, {"order": _MANY, "remark": _MANY})
    parts = sorted((Path(spec.sink.address) / "order").iterdir())
    keys = [msgspec.json.decode(line)["key"]["order_id"] for part in parts for line in part.read_bytes().splitlines()]
    assert keys == list(range(_MANY))


@pytest.mark.usefixtures("spare_workers")
def test_a_worker_without_pyarrow_is_named_before_anything_is_written(
    folder: Path, spark_master: SparkMaster, source: Path, spec_of: SpecOf
) -> None:
    without = make_python(folder / "poor", without=["pyarrow"])
    spec = spec_of(source)
    with SparkProcess(_standalone(spark_master, without, cores=1)) as process, pytest.raises(RunError) as caught:
        process.run(spec)
    assert caught.value.title == "pyarrow is missing on a worker."
    assert f"{os.uname().nodename} ({without})" in caught.value.text
    assert "pip install pyarrow" in caught.value.hint
    assert not Path(spec.sink.address).exists()


def _properties(target: Target, path: Path) -> Path:
    """Write what a cluster asks for into a file: a secret is not for the command line."""
    path.touch(0o600)
    asked = (*target.settings, ("spark.cores.max", "2"), *target.secrets)
    path.write_text("".join(f"{name} {value}\n" for name, value in asked))
    return path


def _submit(
    options: Sequence[str], job: Sequence[str | Path], python: Path, folder: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Submit a job with its arguments as somebody does who has Spark alone, and return how it ended."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK", "SPARK"))}
    known |= {"PYSPARK_PYTHON": str(python), "JAVA_HOME": str(find_java().path), **quick_java(), **variables}
    command = [spark_home() / "bin" / "spark-submit", *options, *job]
    return subprocess.run(command, env=known, cwd=folder, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.usefixtures("spare_workers")
def test_an_exported_folder_that_is_submitted_writes_the_files_of_metl_run_with_only_what_it_asks_for_there(
    folder: Path, spark_master: SparkMaster, spark: SparkProcess, tmp_path: Path
) -> None:
    asked_for = {"pyspark", "py4j", "pyarrow", "pandas", "dateutil", "pytz", "six", "msgspec", "numpy"}
    there = {entry.name.partition("-")[0].partition(".")[0] for entry in Path(sysconfig.get_path("purelib")).iterdir()}
    python = make_python(folder / "submitting", without=there - asked_for)
    sample = SampleFolder(tmp_path / "fx")
    shutil.copytree(sample_projects() / FX, sample.path)
    job, again, report = tmp_path / "job", tmp_path / "again", tmp_path / "report.json"
    with build_project(sample) as workbench:
        for path in (job, again):
            export_published(workbench, EXPORTS["spark"], path)
        sink, errors = str(tmp_path / "here"), str(tmp_path / "here-errors")
        request = run_request(str(sample.messages), sink, mode="production", errors=errors)
        here = run_mapping(workbench, request, spark)
    assert _files(job) == _files(again)
    asked = _properties(spark_master.target, tmp_path / "asked.conf")
    options = ("--master", spark_master.address, "--executor-memory", "512m", "--properties-file", str(asked))
    arguments = (sample.messages, tmp_path / "there", "--report", report, "--strict")
    done = _submit(options, (job / "job.py", *arguments), python, tmp_path, SPARK_LOCAL_IP="127.0.0.1")
    assert done.returncode == 3, done.stderr[-2000:]
    told = json.loads(report.read_text(encoding="utf-8"))
    assert told == json.loads(done.stdout)
    assert {name: told[name] for name in ("read", "mapped", "by_entity", "by_reason")} == {
        "read": here.report.read,
        "mapped": here.report.mapped,
        "by_entity": here.report.by_entity,
        "by_reason": here.report.by_reason,
    }
    assert _files(tmp_path / "there") == _files(tmp_path / "here") != {}
    assert _files(tmp_path / "there-errors") == _files(tmp_path / "here-errors") != {}
    alone = _submit(("--master", "local[1]"), (job / "job.py", tmp_path / "nowhere", "noop"), python, tmp_path)
    assert (alone.returncode, "error: The source" in alone.stdout) == (1, True)
    assert "SecurityManager: authentication enabled" in alone.stderr  # by itself, where nobody said what to ask for
    assert "Bound SparkUI" not in alone.stderr


def test_a_connect_server_that_is_killed_is_named_and_the_next_run_finds_the_new_one(
    slow_python: Path, source: Path, long_source: Path, spec_of: SpecOf
) -> None:
    with SparkConnect(python=slow_python, environment=kernel_cache()) as server:
        target = server.target
        spec = spec_of(long_source)
        with SparkProcess(target) as process:
            with pytest.raises(RunError) as caught:
                process.run(spec, _once_records_flow(server.kill))
            assert "went away" in caught.value.title
            assert target.master in caught.value.text
            assert "connects anew" in caught.value.hint
            assert not Path(spec.sink.address).exists()
            with pytest.raises(RunError, match="does not answer"):
                process.run(spec_of(source))
            server.restart()
            assert process.run(spec_of(source)).read == _RECORDS


@pytest.mark.parametrize("kind", ["on_connect", "on_cluster"])
def test_a_remote_run_in_batches_sends_every_record_once_and_goes_on_with_what_is_new(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, spec_of: SpecOf
) -> None:
    remote: SparkProcess = request.getfixturevalue(kind)
    source = tmp_path / "source"
    source.mkdir()
    for at in range(3):
        (source / f"{at}.jsonl").write_bytes(b"".join(_line(at * 1000 + n) for n in range(1000)))
    batches = {"checkpoint": str(tmp_path / "checkpoint"), "batch_bytes": 200_000}
    first = remote.run(spec_of(source, **batches))
    assert (first.read, first.mapped, first.by_reason) == (3000, 2997, {"malformed": 3})
    assert first.batches == 3
    (source / "3.jsonl").write_bytes(order_record(3000) + b"\n")
    second = remote.run(spec_of(source, **batches))
    assert (second.read, second.batches, second.outputs) == (1, 1, first.outputs)
    lines = [line for part in Path(first.outputs).rglob("*.jsonl") for line in part.read_bytes().splitlines()]
    assert len(lines) == len(set(lines)) == first.messages_out + second.messages_out
