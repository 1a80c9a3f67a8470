from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from metl_gui import __version__
from tests.flows.counting import Flow
from tests.flows.tracing import Call, Trace
from tests.helpers.baselines import record
from tests.helpers.own_package import ROOT, OwnPackage
from tests.helpers.toy_project import write_toy

_FILES = {
    "toy/core/things.py": """\
class Thing:
    size = 1

    def act(self):
        return [part for part in self.parts()]

    def parts(self):
        yield from (1, 2)


def start():
    return 1


def threaded():
    return (lambda: 2)()


def forked():
    return 3


def spawned():
    return 4
""",
    "toy/main.py": """\
import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.flows.tracing import Trace
from toy.core import things

trace = Trace(Path(os.environ["FLOW_TRACE"]), Path(os.environ["FLOW_PACKAGE"]))
waiting = threading.Event()
thread = threading.Thread(target=lambda: (waiting.wait(), things.threaded()))
thread.start()
things.start()
with trace.phase(1):
    thing = things.Thing()
    thing.act()
    thing.act()
    waiting.set()
    thread.join()
    process = os.fork()
    if not process:
        things.forked()
        os._exit(0)
    os.waitpid(process, 0)
    subprocess.run([sys.executable, "-m", "toy.child"], check=True)
things.start()
with trace.phase(2):
    thing.act()
""",
    "toy/child.py": "from toy.core.things import spawned\n\nspawned()\n",
}


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """What a program did that was traced."""
    package = write_toy(tmp_path / "project", _FILES)
    made = Trace(tmp_path / "trace", package.folder)
    environment = made.environment([tmp_path / "project", ROOT])
    subprocess.run([sys.executable, "-m", "toy.main"], cwd=tmp_path / "project", env=environment, check=True)
    return made


def test_functions_are_recorded_in_every_thread_and_process_and_only_in_their_phase(trace: Trace) -> None:
    called = {(call.process, call.function) for call in trace.calls(1)}
    assert called == {
        ("main", "Thing.act"),
        ("main", "Thing.parts"),
        ("main", "threaded"),
        ("main", "threaded.<locals>.<lambda>"),
        ("main", "forked"),
        ("child", "spawned"),
    }
    assert {call.function for call in trace.calls(2)} == {"Thing.act", "Thing.parts"}


def test_a_function_counts_once_however_often_and_in_however_many_processes_it_is_called() -> None:
    first = Call("window", "core.one", "act", 3)
    calls = {first, Call("worker", "core.one", "act", 3), Call("worker", "core.two", "act", 3)}
    found = Flow("toy", {"first": calls}).as_json()
    assert found["first"] == {
        "functions": 2,
        "modules": 2,
        "by_process": {"window": {"functions": 1, "modules": 1}, "worker": {"functions": 2, "modules": 2}},
    }


def test_lambdas_of_one_function_are_told_apart_by_their_lines() -> None:
    calls = {Call("window", "core.one", "f.<locals>.<lambda>", line) for line in (3, 4)}
    assert next(iter(Flow("toy", {"first": calls}).lines())).split()[-4:] == ["2", "functions", "1", "modules"]


def test_a_trace_is_quiet_once_nothing_new_is_called(tmp_path: Path) -> None:
    made = Trace(tmp_path, OwnPackage.of().folder)
    rows = tmp_path / "1.calls"
    pauses: list[int] = []

    def pause() -> None:
        pauses.append(1)
        if len(pauses) <= 3:
            rows.write_text("x" * len(pauses), encoding="utf-8")

    made.wait_until_quiet(0.05, pause)
    assert len(pauses) > 3


def test_a_recorded_result_takes_the_place_of_the_same_one_and_leaves_the_others(tmp_path: Path) -> None:
    file = tmp_path / "baselines.json"
    record("1.0", "flows", {"click": {"functions": 3}, "lane": {"functions": 4}}, file=file)
    record("1.0", "mutants", {"core": {"kill_rate": 0.5}}, file=file)
    record("1.0", "flows", {"click": {"functions": 2}}, file=file)
    found = json.loads(file.read_text(encoding="utf-8"))["1.0"]
    assert {name: entry["found"] for name, entry in found["flows"].items()} == {
        "click": {"functions": 2},
        "lane": {"functions": 4},
    }
    assert found["mutants"]["core"]["found"] == {"kill_rate": 0.5}


def test_a_recorded_result_names_the_version_that_was_measured_not_the_one_that_measures(tmp_path: Path) -> None:
    file = tmp_path / "baselines.json"
    toy = write_toy(tmp_path / "toy", {"toy/__init__.py": '__version__ = "0.0.7"\n'})
    record("old", "flows", {"click": {}}, toy, file)
    record("new", "flows", {"click": {}}, file=file)
    found = json.loads(file.read_text(encoding="utf-8"))
    assert (found["old"]["flows"]["click"]["version"], found["old"]["flows"]["click"]["commit"]) == ("0.0.7", "")
    assert found["new"]["flows"]["click"]["version"] == __version__
