"""Files of change events of any size, counted while they are made: with plain Python, nothing of the engine.

Ordinary creates and updates, deletes, tombstones, transaction markers, broken lines and versions nobody knows, in
fixed proportions but random order, so that each count of a run's report can be compared with one of these.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan

SCHEMA = "shop.public.orders"
STATE, HASH = 7, "abc"
_KINDS = ("create", "update", "delete", "tombstone", "transaction", "broken", "unknown", "empty")
_WEIGHTS = (600, 300, 30, 20, 20, 10, 10, 10)


@dataclass(slots=True)
class Expected:
    """What a run over the files must count."""

    read: int = 0
    mapped: int = 0
    filtered: int = 0
    set_aside: int = 0
    skipped: int = 0
    messages_out: int = 0
    bytes_in: int = 0
    by_entity: Counter[str] = field(default_factory=Counter)
    by_reason: Counter[str] = field(default_factory=Counter)
    by_skip: Counter[str] = field(default_factory=Counter)

    def differences(self, report: object) -> dict[str, tuple[object, object]]:
        """Return what a report counts otherwise, by name: expected and found."""
        found = {name: getattr(report, name) for name in self.__slots__}
        mine = {name: getattr(self, name) for name in self.__slots__}
        return {
            name: (dict(value) if isinstance(value, Counter) else value, found[name])
            for name, value in mine.items()
            if (dict(value) if isinstance(value, Counter) else value) != found[name]
        }


def order_plan(state: int = STATE, state_hash: str = HASH) -> bytes:
    """Compile one schema that feeds two entities: ``remark`` only where there is a note."""
    order = BlockPlan("order", "1", (("id", "order_id"), ("amount", "money.amount"), ("status", "status")))
    remark = BlockPlan("remark", "1", (("note", "text"),), is_unreviewed=True)
    paths = ("id", "amount", "note", "status")
    version = VersionPlan("1", "", paths, ("id",), key=("id",), blocks=(order, remark), is_inferred=True)
    return plans.encode(Plan(state, state_hash, (SchemaPlan(SCHEMA, (version,)),)))


class EventMaker:
    """Makes events and counts what must become of them.

    Args:
        seed: the same seed makes the same events.
    """

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)
        self.expected = Expected()
        self.number = 0

    def lines(self, count: int) -> Iterator[bytes]:
        """Yield lines without their line ends."""
        for kind in self.random.choices(_KINDS, _WEIGHTS, k=count):
            self.number += 1
            line = self._line(kind)
            self.expected.read += 1
            self.expected.bytes_in += len(line)
            yield line

    def write(self, path: Path, count: int) -> None:
        """Write a file of lines."""
        with path.open("ab") as file:
            left = count
            while left:
                part = min(left, 100_000)
                file.write(b"\n".join(self.lines(part)) + b"\n")
                left -= part

    def _line(self, kind: str) -> bytes:
        number, expected = self.number, self.expected
        if kind in {"create", "update"}:
            has_note = number % 3 == 0
            row = {"id": number, "amount": f"{number}.50", "note": f"n{number}" if has_note else None, "status": "open"}
            before = dict(row, status="new") if kind == "update" else None
            expected.mapped += 1
            # An update is sent to every entity that it feeds, a create only where something is filled.
            self._sent("order", *(["remark"] if has_note or kind == "update" else []))
            return self._envelope("u" if kind == "update" else "c", before, row)
        if kind == "delete":
            expected.mapped += 1
            self._sent("order", "remark")
            return self._envelope("d", {"id": number, "amount": None, "note": None, "status": None}, None)
        if kind == "tombstone":
            return self._skipped("tombstone", b"null")
        if kind == "transaction":
            marker = {"status": "BEGIN", "id": str(number), "event_count": None, "data_collections": None, "ts_ms": 1}
            return self._skipped("transaction", json.dumps(marker).encode())
        if kind == "broken":
            return self._aside("malformed", b'{"op":"c","after":{"id":%d' % number)
        if kind == "unknown":
            row = {"id": number, "colour": "red"}
            return self._aside("unknown_version", self._envelope("c", None, row))
        expected.filtered += 1
        return self._envelope("c", None, {"id": None, "amount": None, "note": None, "status": None})

    def _envelope(self, op: str, before: object, after: object) -> bytes:
        source = {"connector": "postgresql", "name": "shop", "schema": "public", "table": "orders", "lsn": self.number}
        return json.dumps({"before": before, "after": after, "source": source, "op": op, "ts_ms": 1}).encode()

    def _sent(self, *entities: str) -> None:
        self.expected.messages_out += len(entities)
        self.expected.by_entity.update(entities)

    def _skipped(self, kind: str, line: bytes) -> bytes:
        self.expected.skipped += 1
        self.expected.by_skip[kind] += 1
        return line

    def _aside(self, reason: str, line: bytes) -> bytes:
        self.expected.set_aside += 1
        self.expected.by_reason[reason] += 1
        return line


def make(folder: Path, events: int, files: int, seed: int = 1) -> Expected:
    """Fill a folder and return what a run over it must count."""
    maker = EventMaker(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for at in range(files):
        maker.write(folder / f"events-{at:04d}.jsonl", events // files + (at < events % files))
    return maker.expected


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("events", type=int)
    parser.add_argument("--files", type=int, default=10)
    asked = parser.parse_args()
    print(make(asked.folder, asked.events, asked.files))  # noqa: T201 - a program that prints what it made
