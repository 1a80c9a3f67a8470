"""What a test leaves changed is named and put back; what the program changes in its own process is on a list."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import metl_gui
from tests.helpers import leftovers
from tests.helpers.leftovers import LeftoverGuard

TESTS = """
import logging, os, signal, sys, tempfile, threading

def test_a():
    {change}

def test_b():
    pass
"""

FIXTURE = """
import os, pytest

@pytest.fixture(scope="session", autouse=True)
def server():
    os.environ["METL_SERVER"] = "on"
    yield
    del os.environ["METL_SERVER"]

def test_a():
    pass

def test_b():
    pass
"""

PATCHED = """
import os, sys

def test_a(monkeypatch, tmp_path):
    monkeypatch.setenv("METL_USER", "Ada")
    monkeypatch.delenv("PATH")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    os.umask(os.umask(0))
"""

SHARED = """
import pytest, subprocess

@pytest.fixture(scope="module")
def server():
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()

def test_a(server):
    assert server.poll() is None

def test_b(server):
    assert server.poll() is None
"""

FORESEEN = """
import logging, pytest

LOG = logging.getLogger("metl_gui.engine")

def test_looks(caplog):
    LOG.error("seven")
    assert "seven" in caplog.text

@pytest.mark.logs("^metl_gui.engine: seven$")
def test_foresees():
    LOG.warning("seven")

@pytest.mark.logs("six")
def test_other():
    LOG.warning("seven")
"""

_OS = re.compile(r"\bos\b")
WRITERS = {"update", "setdefault", "pop", "popitem", "clear", "putenv", "unsetenv", "chdir", "fchdir"}
OWN_PROCESSES = {
    "engine/session_keeper.py": "is the process of a kept session, before it starts anything",
    "engine/sessions/local.py": "puts back what stood there as soon as Java is started",
    "engine/spark/archive_entrance.py": "is in a Python worker of Spark, which has no other work",
    "engine/tasks/worker_daemon.py": "is the process that Python workers are forked from, before it loads anything",
    "threads.py": "is called by programs that were started as such, before they load anything",
}


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for threads and processes to end."""
    monkeypatch.setattr(leftovers, "_END_SECONDS", 0.1)


def played(pytester: pytest.Pytester, source: str) -> pytest.HookRecorder:
    pytester.makepyfile(source)
    return pytester.inline_run("-p", "no:xdist", "-p", "no:randomly", plugins=[LeftoverGuard()])


@pytest.mark.logs("It is gone")
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("os.environ['METL_X'] = '1'", "changed: METL_X."),
        ("del os.environ['PATH']", "changed: PATH."),
        ("os.environ['PATH'] = 'secret'; os.environ['A'] = 'secret'", "changed: A, PATH."),
        ("os.chdir('/')", "changed: the working folder, now /."),
        ("os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')", "changed: the working folder, now a removed one."),
        ("tempfile.tempdir = '/nowhere'", "changed: tempfile.tempdir, now /nowhere."),
        ("os.umask(0o123)", "changed: the umask, now 0123."),
        ("sys.path.insert(0, '/nowhere')", "changed: sys.path, by ['/nowhere']."),
        ("sys.path.append(sys.path.pop(0))", "changed: sys.path, by its order."),
        ("signal.signal(signal.SIGTERM, lambda *_: None)", "changed: the handler of SIGTERM."),
        ("threading.Timer(3, str).start()", "changed: the thread Thread-"),
        ("os.spawnlp(os.P_NOWAIT, 'sleep', 'sleep', '0.5')", "changed: the process sleep 0.5, which runs."),
        ("logging.getLogger('metl_gui.store').warning('It is %s.', 'gone')", "['metl_gui.store: It is gone.']"),
    ],
)
def test_a_test_that_leaves_its_process_changed_fails_by_name_and_the_next_one_finds_it_as_it_was(
    pytester: pytest.Pytester, change: str, named: str
) -> None:
    run = played(pytester, TESTS.format(change=change))
    assert [report.nodeid.rpartition("::")[2] for report in run.getreports() if report.failed] == ["test_a"]
    (failed,) = run.getfailures()
    assert named in str(failed.longrepr)
    assert "secret" not in str(failed.longrepr)


def test_a_fixture_of_the_whole_session_that_changes_the_environment_fails_the_first_test_that_asks_for_it(
    pytester: pytest.Pytester,
) -> None:
    run = played(pytester, FIXTURE)
    assert "METL_SERVER" in str(run.getfailures()[0].longrepr)


def test_a_test_that_puts_everything_back_passes(pytester: pytest.Pytester) -> None:
    assert played(pytester, PATCHED).ret == pytest.ExitCode.OK


def test_a_process_that_a_fixture_of_several_tests_starts_may_run_on_until_that_ends(pytester: pytest.Pytester) -> None:
    assert played(pytester, SHARED).ret == pytest.ExitCode.OK


@pytest.mark.logs("seven")
def test_a_warning_in_the_log_that_a_test_looks_at_or_foresees_does_not_fail_it(pytester: pytest.Pytester) -> None:
    run = played(pytester, FORESEEN)
    assert [report.nodeid.rpartition("::")[2] for report in run.getreports() if report.failed] == ["test_other"]


def test_the_program_changes_the_environment_only_where_a_process_is_its_own() -> None:
    package = Path(metl_gui.__file__).parent
    found = {str(path.relative_to(package)) for path in package.rglob("*.py") if changes_the_process(path)}
    assert found == OWN_PROCESSES.keys()


def changes_the_process(path: Path) -> bool:
    """Whether a file writes ``os.environ`` or the working folder, both of which have the word ``os`` in them."""
    text = path.read_text("utf-8")
    for node in ast.walk(ast.parse(text)) if _OS.search(text) else ():
        match node:
            case ast.Call(func=ast.Attribute(value=called, attr=name)):
                if name in WRITERS and ast.unparse(called) in {"os", "os.environ"}:
                    return True
            case ast.Subscript(value=read, ctx=ast.Store() | ast.Del()):
                if ast.unparse(read) == "os.environ":
                    return True
    return False
