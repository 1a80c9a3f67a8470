"""The captured records of one service, each with what it is and which version it has."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from making.history import Service

UNAVAILABLE = "__debezium_unavailable_value"


@dataclass(frozen=True)
class Record:
    """One record as the engine sent it.

    Args:
        topic: where it goes.
        kind: ``r c u d t``, ``tombstone``, ``heartbeat``, ``transaction`` or ``message``.
        version: the version of its row, counted from 1; None for what has no row.
        timestamp: when it was received, in milliseconds.
        off: key, value and headers in the bytes of ``schemas.enable=false``.
        on: the same with schemas.
    """

    topic: str
    kind: str
    version: int | None
    timestamp: int
    off: dict[str, Any]
    on: dict[str, Any]

    def line(self, offset: int, with_schemas: bool) -> str:
        """Return the wrapper line of a file."""
        wire = self.on if with_schemas else self.off
        line: dict[str, Any] = {"topic": self.topic, "key": wire["key"], "value": wire["value"]}
        if wire["headers"]:
            line["headers"] = wire["headers"]
        line |= {"partition": 0, "offset": offset, "timestamp": self.timestamp}
        return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def row_schema(value: str) -> frozenset[tuple[Any, ...]]:
    """Return what identifies the row's version: path, type, logical name, scale and optional of each column."""
    envelope = json.loads(value)["schema"]
    row = next(field for field in envelope["fields"] if field["field"] == "after")
    return frozenset(
        (
            column["field"],
            column["type"],
            column.get("name", ""),
            column.get("parameters", {}).get("scale"),
            column["optional"],
        )
        for column in row["fields"]
    )


def kind_of(topic: str, value: str | None) -> str:
    """Tell what a record is from its bare value."""
    if value is None:
        return "tombstone"
    message = json.loads(value)
    if topic.startswith("__debezium-heartbeat."):
        return "heartbeat"
    if topic.endswith(".transaction"):
        return "transaction"
    return "message" if message["op"] == "m" else str(message["op"])


def read(path: Path, service: Service) -> list[Record]:
    """Read a raw capture and number the versions of each topic in the order of their appearance.

    Raises:
        SystemExit: the engine saw another number of versions than the history made.
    """
    versions: dict[str, list[frozenset[tuple[Any, ...]]]] = {}
    records = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            raw = json.loads(line)
            topic, kind = raw["topic"], kind_of(raw["topic"], raw["off"]["value"])
            version = None
            if kind in {"r", "c", "u", "d"}:
                schema, seen = row_schema(raw["on"]["value"]), versions.setdefault(topic, [])
                if schema not in seen:
                    seen.append(schema)
                version = seen.index(schema) + 1
            records.append(Record(topic, kind, version, raw["timestamp"], raw["off"], raw["on"]))
    for table in service.tables:
        found = len(versions.get(f"fx.{service.name}.{table.name}", []))
        if found != table.versions:
            raise SystemExit(f"{service.name}.{table.name} has {table.versions} versions, the engine saw {found}")
    return records
