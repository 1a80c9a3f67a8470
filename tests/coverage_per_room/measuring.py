"""Run tests under coverage.py, in their own process and in all that it starts, and count what they ran by room.

Every process measures itself: coverage.py's own start-up file asks for ``COVERAGE_PROCESS_START``, and the tests are
started with it like everything below them, so nothing is measured twice. What numba compiles is left out
(``OwnPackage.jitted``), as no tracer sees it run.

Not seen are processes that a test kills at once, that run without site-packages, or that are given another environment,
and copies of the package elsewhere (a wheel that is installed, an export).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from coverage import Coverage

from tests.coverage_per_room import contexts, forked_workers
from tests.coverage_per_room.contexts import DURATIONS, TEST
from tests.helpers.own_package import OwnPackage

_STDERR = 2
_PLUGINS = {"coverage_contexts": contexts, "coverage_of_forked_workers": forked_workers}
"""What is loaded into the processes that are measured, by the name that it has there: another version of the project
has tests of its own, which hide these."""
_SETTINGS = """\
[run]
core = ctrace
branch = false
parallel = true
data_file = {data}
include = {package}/*
context = ${{{test}-}}
sigterm = true
patch =
    _exit
    fork
plugins = coverage_of_forked_workers
disable_warnings = no-data-collected, couldnt-parse
"""


@dataclass(frozen=True)
class RoomCoverage:
    """What the tests ran of a room.

    Args:
        room: its name.
        statements: how many it has outside of what numba compiles.
        covered: how many of them ran.
    """

    room: str
    statements: int
    covered: int

    @property
    def percent(self) -> float:
        """Covered statements in a hundred."""
        return round(100 * self.covered / self.statements, 2) if self.statements else 100.0

    def as_json(self) -> dict[str, object]:
        """Return the facts of one room for the JSON document."""
        return {**asdict(self), "percent": self.percent}


def run_tests(
    package: OwnPackage, folder: Path, arguments: Sequence[str], *, durations: Path | None = None
) -> tuple[int, Path]:
    """Run the tests.

    Args:
        package: what is measured; the tests run in the folder above it.
        folder: an empty one, for what is measured.
        arguments: for pytest.
        durations: record which test ran each line, and there how long each took.

    Returns:
        pytest's exit code, and the file of what was measured in all processes together.

    Raises:
        RuntimeError: nothing was measured.
    """
    root = package.folder.parent
    data = folder / "coverage"
    settings = folder / "settings.ini"
    settings.write_text(_SETTINGS.format(data=data, package=package.folder, test=TEST), encoding="utf-8")
    recording = ["-p", "coverage_contexts"] if durations is not None else []
    plugins = folder / "plugins"
    plugins.mkdir()
    for name, module in _PLUGINS.items():
        shutil.copy(str(module.__file__), plugins / f"{name}.py")
    known = [str(root), str(plugins), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    environment = {
        **os.environ,
        "COVERAGE_PROCESS_START": str(settings),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(known)),
        DURATIONS: str(durations or ""),
    }
    for inherited in (TEST, "COVERAGE_PROCESS_CONFIG"):
        environment.pop(inherited, None)
    command = [sys.executable, "-m", "pytest", *recording, *arguments]
    done = subprocess.run(command, cwd=root, env=environment, stdout=_STDERR, check=False)
    if not list(folder.glob(f"{data.name}.*")):
        raise RuntimeError("No process measured itself: coverage.py's start-up file is missing in this environment.")
    combined = Coverage(data_file=str(data), config_file=False)
    combined.combine([str(folder)])
    combined.save()
    return done.returncode, data


def count(package: OwnPackage, data: Path, rooms: Sequence[str] = ()) -> list[RoomCoverage]:
    """Count statements and those that ran, room by room.

    Args:
        package: whose statements.
        data: what was measured.
        rooms: which; by default all.
    """
    measured = Coverage(data_file=str(data), config_file=False)
    measured.load()
    found = []
    for room in rooms or package.rooms:
        counts = [_count_module(measured, package, module) for module in package.rooms[room]]
        statements, covered = (sum(numbers) for numbers in zip(*counts, strict=True))
        found.append(RoomCoverage(room, statements, covered))
    return found


def _count_module(measured: Coverage, package: OwnPackage, module: Path) -> tuple[int, int]:
    _, statements, _, missing, _ = measured.analysis2(str(package.folder / module))
    jitted = {line for lines in package.jitted.get(module, ()) for line in lines}
    own = set(statements) - jitted
    return len(own), len(own - set(missing))
