"""A copy of the project in which tests run with one mutant at a time; the project itself is never touched."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.own_package import OwnPackage
from tests.mutants.mutations import Mutation

_LEFT_OUT = (".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "artifacts", "build", "dist")
_HERE = Path(__file__).parent
_KEPT = Path("metl-gui") / "kernel"
"""What costs minutes to make anew, in the user's cache: machine code (docs/reference/environment.md)."""
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
        shutil.copy(_HERE / "first_failure.py", self.root / "first_failure.py")
        self._environment = self._own_environment()

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
        if mutation is not None:
            path = self.package / mutation.module
            source = mutation.applied(path.read_bytes()).decode()
            order.write_text(json.dumps({"path": str(path), "source": source}), encoding="utf-8")
        (self.root / "chosen_tests.txt").write_text("\n".join(tests), encoding="utf-8")
        code, text = self._run_pytest(seconds)
        failed = noted.read_text(encoding="utf-8") if noted.exists() else ""
        return Ending(code == 0, code is None, failed, text)

    def _run_pytest(self, seconds: float) -> tuple[int | None, str]:
        log = self._folder / "pytest.log"
        temporary = self._folder / "tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
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
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # also what a test that failed has left
            process.wait()
        return code, log.read_text(errors="replace")[-2000:]

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


def remaining(end: float) -> float:
    """Return the seconds until a time, at least a little."""
    return max(end - time.monotonic(), 1.0)
