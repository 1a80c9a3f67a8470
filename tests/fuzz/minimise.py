"""Make a failure small enough to be understood: fewer batches, fewer records, fewer bytes."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.records import Records
from tests.fuzz.kernels import Pair, Setting
from tests.fuzz.rounds import Failure

T = TypeVar("T")
Batches: TypeAlias = "tuple[Records, ...]"

_TRIES = 1500


class _Budget:
    def __init__(self, tries: int) -> None:
        self.left = tries

    def take(self) -> bool:
        self.left -= 1
        return self.left >= 0


def minimised(failure: Failure) -> Failure:
    """Return the smallest failure that was found near a failure."""
    budget = _Budget(_TRIES)
    batches = _fewest(failure.batches, lambda some: bool(_found(failure.setting, some)), budget)
    for number in range(len(batches)):
        batches = _with_fewest_records(failure.setting, batches, number, budget)
    batches = _with_fewest_bytes(failure.setting, batches, budget)
    found = _found(failure.setting, batches)
    return replace(failure, batches=batches, found=tuple(found)) if found else failure


def write_failure(failure: Failure, folder: Path, explanation: str = "") -> Path:
    """Write a failure so that ``read_failure`` and people can read it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"fail-{failure.seed.replace(':', '-')}.json"
    content: dict[str, Any] = {
        "explanation": explanation or failure.found[0][:300],
        "found": list(failure.found),
        "seed": failure.seed,
        "mode": failure.setting.mode,
        "is_replay": failure.setting.is_replay,
        "patience": failure.setting.patience,
        "batches": [[_shown(raw) for raw in records] for records in failure.batches],
        "plan": json.loads(plans.encode(failure.setting.plan)),
    }
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8", errors="backslashreplace")
    return path


def read_failure(path: Path) -> Failure:
    """Read a failure back, its records a line each."""
    content = json.loads(path.read_text(encoding="utf-8"))
    plan = plans.decode(json.dumps(content["plan"]).encode())
    setting = Setting(plan, content["mode"], content["is_replay"], content["patience"])
    batches = tuple(Records.of([_hidden(raw) for raw in raws], "f") for raws in content["batches"])
    return Failure(content["seed"], setting, batches, tuple(content["found"]))


def _shown(raw: bytes) -> str | dict[str, str]:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}


def _hidden(shown: str | dict[str, str]) -> bytes:
    return shown.encode() if isinstance(shown, str) else base64.b64decode(shown["base64"])


def _found(setting: Setting, batches: Sequence[Records]) -> list[str]:
    pair = Pair(setting)
    for records in batches:
        found = pair.differ(records)
        if found:
            return found
    return []


def _fewest(parts: tuple[T, ...], fails: Callable[[tuple[T, ...]], bool], budget: _Budget) -> tuple[T, ...]:
    """Take parts out, half of them at a time and then fewer, as long as it still fails."""
    size = max(len(parts) // 2, 1)
    while parts:
        at, is_smaller = 0, False
        while at < len(parts):
            fewer = parts[:at] + parts[at + size :]
            if not budget.take():
                return parts
            if fails(fewer):
                parts, is_smaller = fewer, True
            else:
                at += size
        if size == 1 and not is_smaller:
            return parts
        size = max(size // 2, 1)
    return parts


def _with_fewest_records(setting: Setting, batches: Batches, number: int, budget: _Budget) -> Batches:
    if number >= len(batches):
        return batches
    records = batches[number]

    def some(kept: tuple[int, ...]) -> Batches:
        return (*batches[:number], _chosen(records, kept), *batches[number + 1 :])

    kept = _fewest(tuple(range(len(records))), lambda kept: bool(_found(setting, some(kept))), budget)
    return some(kept)


def _with_fewest_bytes(setting: Setting, batches: Batches, budget: _Budget) -> Batches:
    """Make records smaller, if the failure does not depend on how they lie in the buffer."""
    texts = [list(records) for records in batches]

    def lines() -> Batches:
        return tuple(Records.of(raws, "f") for raws in texts)

    if not _found(setting, lines()):
        return batches
    for raws in texts:
        for at in range(len(raws)):
            _shorten(raws, at, lambda: bool(_found(setting, lines())), budget)
    return lines()


def _shorten(raws: list[bytes], at: int, fails: Callable[[], bool], budget: _Budget) -> None:
    """Take bytes out of one record of a list as long as it still fails."""

    def still(kept: tuple[int, ...]) -> bool:
        raws[at] = bytes(kept)
        return fails()

    shortest = _fewest(tuple(raws[at]), still, budget)
    raws[at] = bytes(shortest)


def _chosen(records: Records, kept: tuple[int, ...]) -> Records:
    at = list(kept)
    return Records(
        records.buffer,
        records.starts[at],
        records.stops[at],
        records.offsets[at],
        records.name,
        [records.names[number] for number in at] if records.names else (),
        None if records.sizes is None else records.sizes[at],
    )
