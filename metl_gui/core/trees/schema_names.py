"""What a schema is called and how its versions are labelled and ordered, from whatever its source writes.

Source: docs/reference/formats.md, "Schemas"; docs/architecture/model.md, "Trees, versions, lineages".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, TypeAlias

from metl_gui.values import Value

LabelOrder: TypeAlias = tuple[int, tuple[int, ...], int, tuple[tuple[int, int, str], ...]]
"""Sorts labels as people count: 1-0-9 before 1-0-10, 1.0.0-rc1 before 1.0.0, words after numbers."""

RECORD_ENDINGS = (".Envelope", ".Value", ".Key")
SUBJECT_ENDINGS = ("-value", "-key")
FILE_ENDINGS = (".schema.json", ".schema.yaml", ".schema.yml", ".json", ".yaml", ".yml")

_LABEL = re.compile(r"[vV]?(\d{1,18}(?:[.\-]\d{1,18})*)((?:[-+][0-9A-Za-z.\-+]+)?)")
_WHOLE_LABEL = re.compile(
    r"[vV]?\d{1,18}(?:\.\d{1,18})+(?:[-+][0-9A-Za-z.\-+]+)?|\d{1,18}-\d{1,18}-\d{1,18}|[vV]?\d{1,18}"
)
_NAME_WITH_LABEL = re.compile(r"(.+?)[-_.]([vV]\d{1,18}(?:[.\-]\d{1,18})*|\d{1,18}(?:[.\-]\d{1,18})+)")
_RUNS = re.compile(r"\d{1,18}|\D+|\d+")


class Named(Value):
    """A schema name with the label that stood beside it.

    Args:
        name: the schema name without its version.
        label: the version text, ``None`` when there was none.
    """

    name: str
    label: str | None = None


def of_record(record: str) -> str:
    """Return the schema name in a Connect or Avro record name (``srv.inv.customers.Envelope``)."""
    return _without(record, RECORD_ENDINGS)


def of_subject(subject: str) -> str:
    """Return the schema name in a registry subject (``srv.inv.customers-value``)."""
    return _without(subject, SUBJECT_ENDINGS)


def of_source(source: Mapping[str, Any]) -> str | None:
    """Return ``name.schema-or-db.table`` from a Debezium source block, ``None`` when a part is missing.

    A MongoDB source says ``collection`` where the others say ``table``.
    """
    server = source.get("name")
    place = source.get("schema") or source.get("db")
    table = source.get("table") or source.get("collection")
    if not all(isinstance(part, str) and part for part in (server, place, table)):
        return None
    return f"{server}.{place}.{table}"


def of_iglu(vendor: str, name: str) -> str:
    """Return the schema name of a self-describing Iglu schema."""
    return f"{vendor}/{name}"


def of_change(topic: str | None, source: Mapping[str, Any] | None, record: str) -> tuple[str, ...]:
    """Return all names of the schema of a change, the best one first; empty when nothing names it.

    The topic names it best, then the source block, then the record name of its schema.
    """
    found = (topic, of_source(source) if source else None, of_record(record))
    return tuple(dict.fromkeys(name for name in found if name))


def of_id(schema_id: str) -> Named:
    """Return name and label in a JSON Schema ``$id`` such as ``/stream/created/1.0.0``."""
    return _named(schema_id.strip().split("#", 1)[0])


def of_path(path: str) -> Named:
    """Return name and label in a relative file path such as ``stream/created/1.0.0.yaml``."""
    return _named(PurePosixPath(path).as_posix())


def is_label(text: str) -> bool:
    """Return whether a text is a version and nothing else: SchemaVer, semver, or a number with or without ``v``."""
    return _WHOLE_LABEL.fullmatch(text) is not None


@lru_cache(maxsize=1 << 16)
def label_order(label: str) -> LabelOrder:
    """Return what labels are sorted by; remembered, as every new version is compared with all of its schema."""
    found = _LABEL.fullmatch(label)
    if found is None:
        return 1, (), 0, _natural(label)
    numbers = tuple(int(part) for part in re.split(r"[.\-]", found[1]))
    tail = found[2]
    return 0, numbers, 0 if tail.startswith("-") else 1, _natural(tail)


def _named(text: str) -> Named:
    trimmed = text.strip("/")
    stem = next((trimmed[: -len(ending)] for ending in FILE_ENDINGS if trimmed.lower().endswith(ending)), trimmed)
    folder, _, last = stem.rpartition("/")
    if is_label(last):
        return Named(folder, last) if folder else Named(last)
    parted = _NAME_WITH_LABEL.fullmatch(last)
    if parted is None:
        return Named(stem)
    return Named(f"{folder}/{parted[1]}" if folder else parted[1], parted[2])


def _without(name: str, endings: tuple[str, ...]) -> str:
    for ending in endings:
        if name.endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    return tuple((0, int(run), "") if run.isdecimal() else (1, 0, run) for run in _RUNS.findall(text))


def group_of(name: str) -> str:
    """Return the group a schema or entity name belongs to, its prefix before the last dot or slash; may be empty."""
    return name[: _own_start(name)].rstrip("./")


def outer_of(group: str) -> str:
    """Return the first part of the name of a group."""
    return group.partition(".")[0].partition("/")[0]


def name_in_group(name: str) -> str:
    """Return what a schema or entity is called within its group."""
    return name[_own_start(name) :]


def _own_start(name: str) -> int:
    return max(name.rfind("."), name.rfind("/")) + 1
