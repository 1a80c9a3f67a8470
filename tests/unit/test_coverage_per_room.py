from __future__ import annotations

import json
from pathlib import Path

import pytest
from coverage import CoverageData

from tests.coverage_per_room.__main__ import durations_beside, main
from tests.helpers.toy_project import WITHOUT_PLUGINS, write_toy

_FILES = {
    "toy/core/sums.py": "def add(a, b):\n    return a + b\n\n\ndef never():\n    return 0\n",
    "toy/engine/child.py": "print(sum([1, 2]))\n\n\ndef forked():\n    return 1\n\n\ndef ended():\n    return 2\n",
    "toy/engine/fast.py": "from numba import njit\n\n\n@njit\ndef fast(n):\n    m = n + 1\n    return m\n",
    "toy/ui/unseen.py": "x = 1\ny = 2\n",
    "tests/test_toy.py": """\
import os
import subprocess
import sys

import pytest

from toy.core.sums import add


@pytest.fixture
def five():
    return add(2, 3)


def test_in_this_process(five):
    assert five == 5


@pytest.mark.parametrize("code", [0, 7])
def test_in_another(code):
    program = f"import os, toy.engine.child; os.fork() or toy.engine.child.forked(); os._exit({code})"
    assert subprocess.run([sys.executable, "-c", program]).returncode == code


def test_in_one_that_is_ended():
    program = '''
import os, signal, toy.engine.child
process = os.fork()
if process:
    os.waitpid(process, 0)
else:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    toy.engine.child.ended()
    os.kill(os.getpid(), signal.SIGHUP)
'''
    subprocess.run([sys.executable, "-c", program], check=True)
""",
}


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WITHOUT_PLUGINS, "1")


def test_lines_count_in_whatever_process_they_run_and_not_where_numba_compiles(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    package = write_toy(tmp_path / "project", _FILES)
    contexts = tmp_path / "contexts"
    code = main(["--json", "--root", str(tmp_path / "project"), "--contexts", str(contexts), "-q"])
    found = json.loads(capfd.readouterr().out)
    assert code == 0
    counts = {room["room"]: (room["covered"], room["statements"]) for room in found["rooms"]}
    assert counts == {"core": (3, 4), "engine": (5, 6), "top": (0, 0), "ui": (0, 2)}
    data = CoverageData(str(contexts))
    data.read()
    ran = data.contexts_by_lineno(str(package.folder / "engine" / "child.py"))
    assert set(ran[5]) == {f"tests/test_toy.py::test_in_another[{number}]" for number in (0, 7)}
    of_fixture = data.contexts_by_lineno(str(package.folder / "core" / "sums.py"))[2]
    assert of_fixture == ["tests/test_toy.py::test_in_this_process"]
    durations = json.loads(durations_beside(contexts).read_text(encoding="utf-8"))
    assert set(durations) == {*of_fixture, *ran[5], *ran[9]}


def test_the_exit_code_is_that_of_the_tests(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_toy(tmp_path, {"tests/test_toy.py": "import toy\n\n\ndef test_it():\n    assert False\n"})
    assert main(["--root", str(tmp_path), "-q"]) == 1
    assert "top" in capfd.readouterr().out
