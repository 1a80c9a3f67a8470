"""A copy of the project in which tests run with one mutant at a time; the project itself is never touched."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.own_package import OwnPackage
from tests.mutants.forked_pytest import ANSWERS, ORDERS
from tests.mutants.mutations import Mutation

_LEFT_OUT = (".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "artifacts", "build", "dist")
_HERE = Path(__file__).parent
_KEPT = Path("metl-gui") / "kernel"
"""What costs minutes to make anew, in the user's cache: machine code (docs/reference/environment.md)."""
_TEXT = 2000
_BESIDE = "shared"
"""The data beside the project without which some tests are skipped (``tests.helpers.shared``)."""


@dataclass(frozen=True)
class Ending:
    """How tests ended.

    Args:
        is_passed: all passed.
        is_timed_out: they took longer than they may and were ended.
        failed: the name of the first that failed, empty where it has none.
        text: what pytest wrote last.
    """

    is_passed: bool
    is_timed_out: bool = False
    failed: str = ""
    text: str = ""


class Scratch:
    """A copy of a project, with folders of its own for what the tests leave in the user's.

    Args:
        package: of the project.
        folder: where the copy is made.
        seed: of what the tests draw.
    """

    def __init__(self, package: OwnPackage, folder: Path, seed: int) -> None:
        self.root = folder / "project"
        self.package = self.root / package.folder.name
        self.seed = seed
        self._folder = folder
        shutil.copytree(package.folder.parent, self.root, ignore=shutil.ignore_patterns(*_LEFT_OUT), symlinks=True)
        beside = package.folder.parent.parent / _BESIDE
        if beside.is_dir():
            (folder / _BESIDE).symlink_to(beside)
        shutil.copy(_HERE / "mutated_import.py", self.root / "sitecustomize.py")
        for plugin in ("first_failure.py", "forked_pytest.py"):
            shutil.copy(_HERE / plugin, self.root / plugin)
        self._environment = self._own_environment()
        self._make_temporary()
        self._forking = _Forking(self.root, self._folder / "forked.log", self._options(), self._environment)

    def run(self, tests: Sequence[str], seconds: float, mutation: Mutation | None = None) -> Ending:
        """Run tests until the first fails.

        Args:
            tests: their names.
            seconds: how long they may take.
            mutation: what is changed meanwhile.
        """
        order, noted = self.root / "mutant.json", self.root / "first_failure.txt"
        for path in (order, noted):
            path.unlink(missing_ok=True)
        shutil.rmtree(self.root / ".hypothesis", ignore_errors=True)  # examples that failed with another mutant
        changed = self.package / mutation.module if mutation is not None else None
        if mutation is not None and changed is not None:
            source = mutation.applied(changed.read_bytes()).decode()
            order.write_text(json.dumps({"path": str(changed), "source": source}), encoding="utf-8")
        code, text = self._run_pytest(tests, seconds, changed)
        failed = noted.read_text(encoding="utf-8") if noted.exists() else ""
        return Ending(code == 0, code is None, failed, text)

    def close(self) -> None:
        """End the process that forks those of the tests."""
        self._forking.close()

    def _run_pytest(self, tests: Sequence[str], seconds: float, changed: Path | None) -> tuple[int | None, str]:
        self._make_temporary()
        if changed is None or str(changed) not in self._forking.loaded:
            return self._forking.run(tests, seconds)
        return self._run_anew(tests, seconds)

    def _run_anew(self, tests: Sequence[str], seconds: float) -> tuple[int | None, str]:
        (self.root / "chosen_tests.txt").write_text("\n".join(tests), encoding="utf-8")
        log = self._folder / "pytest.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *self._options(), "@chosen_tests.txt"],
                cwd=self.root,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            code: int | None = None
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(seconds)
            _end(process.pid)  # also what a test that failed has left
            process.wait()
        return code, log.read_text(errors="replace")[-_TEXT:]

    def _make_temporary(self) -> None:
        temporary = self._folder / "tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()

    def _options(self) -> list[str]:
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "first_failure"]
        if importlib.util.find_spec("hypothesis") is not None and not os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
            options.append(f"--hypothesis-seed={self.seed}")  # the same examples for every mutant
        return options

    def _own_environment(self) -> dict[str, str]:
        own = {
            name: str(self._folder / name.lower()) for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
        }
        for folder in own.values():
            Path(folder).mkdir()
        kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / _KEPT
        if kept.is_dir():
            shutil.copytree(kept, Path(own["XDG_CACHE_HOME"]) / _KEPT)
        dropped = ("COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG", "METL_KERNEL_CACHE")
        inherited = {name: value for name, value in os.environ.items() if name not in dropped}
        return {**inherited, **own, "PYTHONPATH": str(self.root), "TMPDIR": str(self._folder / "tmp")}


class _Forking:
    """A process that has loaded what any test needs and forks one for each run (``forked_pytest``).

    Args:
        root: of the copy of the project.
        log: what the runs write.
        options: of pytest.
        environment: of the process and those that it forks.
    """

    def __init__(self, root: Path, log: Path, options: Sequence[str], environment: Mapping[str, str]) -> None:
        self._log = log
        orders, self._orders = os.pipe()
        self._answers, answers = os.pipe()
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *options, "-p", "forked_pytest"],
                cwd=root,
                env={**environment, ORDERS: str(orders), ANSWERS: str(answers)},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                pass_fds=(orders, answers),
                start_new_session=True,
            )
        os.close(orders)
        os.close(answers)
        self._waiting = b""
        self._running = 0
        self.loaded = frozenset[str](json.loads(self._answer(None) or "[]"))
        """The project's modules that are loaded, of which a change would come too late."""

    def run(self, tests: Sequence[str], seconds: float) -> tuple[int | None, str]:
        """Run tests, and return the exit code, ``None`` where they took too long, and what they wrote last."""
        os.truncate(self._log, 0)
        os.write(self._orders, f"{json.dumps(tests)}\n".encode())
        self._running = int(self._answer(None) or "")
        code = self._answer(seconds)
        _end(self._running)  # also what a test that failed has left
        if code is None:
            self._answer(None)
        self._running = 0
        return None if code is None else int(code), self._log.read_text(errors="replace")[-_TEXT:]

    def close(self) -> None:
        """End it, and the tests that run."""
        if self._running:
            _end(self._running)
        os.close(self._orders)
        self._process.wait()
        os.close(self._answers)

    def _answer(self, seconds: float | None) -> str | None:
        """Return the next line, ``None`` when it does not come in time."""
        end = None if seconds is None else time.monotonic() + seconds
        while b"\n" not in self._waiting:
            left = None if end is None else max(end - time.monotonic(), 0)
            if not select.select([self._answers], [], [], left)[0]:
                return None
            read = os.read(self._answers, 65_536)
            if not read:
                raise RuntimeError(f"pytest ended before its time: {self._log.read_text(errors='replace')[-_TEXT:]}")
            self._waiting += read
        found, _, self._waiting = self._waiting.partition(b"\n")
        return found.decode()


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def remaining(end: float) -> float:
    """Return the seconds until a time, at least a little."""
    return max(end - time.monotonic(), 1.0)
