"""Whether the workers of a cluster can do the work: their Python, their packages, and the folders that they see.

The workers tell (``worker_facts``); here their answers are judged and put into words.
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable, Sequence

import msgspec

from metl_gui.core.runs.events import WorkerFacts
from metl_gui.engine.spark.worker_facts import KAFKA, NEEDED
from metl_gui.errors import RunError

_NAMED = 3


class WorkerCheck(msgspec.Struct, frozen=True):
    """What workers are asked.

    Args:
        files: path and size of each file that they must be able to read.
        folders: folders that they must be able to write to.
        mark: what the mark in each of these folders says.
    """

    files: tuple[tuple[str, int], ...] = ()
    folders: tuple[str, ...] = ()
    mark: str = ""


def parse_facts(answers: Iterable[str | None]) -> tuple[WorkerFacts, ...]:
    """Read what tasks told."""
    told = (msgspec.json.decode(answer, type=WorkerFacts) for answer in answers if answer)
    return tuple(sorted(told, key=lambda facts: (facts.host, facts.partition)))


def check_packages(facts: Sequence[WorkerFacts], *, is_with_kafka: bool = False) -> tuple[str, ...]:
    """Refuse workers that lack what a task needs.

    Args:
        facts: what they told.
        is_with_kafka: their tasks read or write topics.

    Returns:
        What a person should know although the workers will do.

    Raises:
        RunError: another Python, or a package is missing.
    """
    for worker in facts:
        needed = (*NEEDED, KAFKA) if is_with_kafka else NEEDED
        missing = [name for name in needed if not worker.packages.get(name)]
        if missing:
            raise _missing(missing, worker.host, worker.executable)
        if _short(worker.python) != _short(platform.python_version()):
            raise _other_python(worker.python, worker.host)
    without = sorted({worker.host for worker in facts if not worker.packages.get("numba")})
    if not without:
        return ()
    slower = "there with the same outcome at a fraction of the speed. Install numba there to mend that."
    return (f"numba is missing on {_some(without)}: the reference kernel maps records {slower}",)


def check_files(facts: Sequence[WorkerFacts], source: str) -> None:
    """Refuse a source that a worker does not see.

    Raises:
        RunError: a file cannot be read there.
    """
    for worker in facts:
        if worker.files:
            more = f" (and {len(worker.files) - 1} more)" if len(worker.files) > 1 else ""
            raise RunError(
                "A worker does not see the source.",
                f"{worker.host} cannot read {worker.files[0]}{more}. Nothing was written.",
                f"Put {source} on storage that all workers and this computer share under the same path.",
            )


def from_spark(text: str) -> RunError | None:
    """Explain what Spark says when a worker cannot even begin; ``None`` when it says something else."""
    found = re.search(r"\((\S+) executor \S+\)", text)
    host = found.group(1) if found else "a worker"
    other = re.search(r"Python in worker has different version:? \(?'?([\d.]+)", text)
    if other:
        return _other_python(other.group(1), host)
    lacking = re.search(r"No module named '([\w.]+)'", text)
    if lacking:
        name = lacking.group(1).partition(".")[0]
        return _missing([name], host, "")
    program = re.search(r'Cannot run program "([^"]+)"', text)
    if program:
        return RunError(
            "Spark cannot start Python on a worker.",
            f"{host} has no {program.group(1)}. Nothing was written.",
            "Set spark.pyspark.python in a profile to the Python that the workers have.",
        )
    return None


def _missing(names: Sequence[str], host: str, executable: str) -> RunError:
    there = f"{host}{f' ({executable})' if executable else ''}"
    verb = "is" if len(names) == 1 else "are"
    return RunError(
        f"{' and '.join(names)} {verb} missing on a worker.",
        f"The Python of {there} cannot import {' and '.join(names)}. Nothing was written.",
        f"Install there: {executable or 'python3'} -m pip install {' '.join(names)}. Or set spark.pyspark.python in a "
        "profile to a Python that has it.",
    )


def _other_python(version: str, host: str) -> RunError:
    own = _short(platform.python_version())
    return RunError(
        "A worker runs another Python.",
        f"{host} runs Python {_short(version)}, this program {own}. Nothing was written.",
        f"Set spark.pyspark.python in a profile to a Python {own} that the workers have; for a Spark Connect server, "
        f"start it with PYSPARK_PYTHON naming one. This program runs {sys.executable}.",
    )


def _short(version: str) -> str:
    return ".".join(version.strip("'\",").split(".")[:2])


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
