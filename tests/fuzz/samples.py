"""Real records as seeds, and a plan that knows their tables."""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from metl_gui.core.trees.paths import join
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from tests.fuzz.plans import World

_PROJECT = Path(__file__).resolve().parents[2] / "sample_projects" / "fx" / "cdc"
_SHARED = Path(__file__).resolve().parents[3] / "shared" / "debezium-samples"
_MOST = 60


@lru_cache(maxsize=1)
def samples() -> tuple[bytes, ...]:
    """Read some records of every file of samples that is there."""
    found: list[bytes] = []
    for path in sorted([*_PROJECT.glob("*.jsonl*"), *_SHARED.glob("*.jsonl")]):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        lines = text.splitlines()
        found += lines[:: max(1, len(lines) // _MOST)]
    return tuple(found)


@lru_cache(maxsize=1)
def world_of_samples() -> World:
    """Make a plan that maps every row of the samples, each set of columns as one version."""
    rows: dict[str, dict[tuple[str, ...], None]] = {}
    for raw in samples():
        for name, row in _rows(raw):
            rows.setdefault(name, {})[tuple(row)] = None
    schemas = tuple(
        SchemaPlan(name, tuple(_version(str(at + 1), names) for at, names in enumerate(found) if names))
        for name, found in rows.items()
    )
    return World(Plan(17, "", schemas), ())


def _version(label: str, names: tuple[str, ...]) -> VersionPlan:
    paths = tuple(join([name]) for name in names)
    half = tuple((path, f"x.c{at}") for at, path in enumerate(paths) if at % 2 == 0)
    blocks = (BlockPlan("e", "1", tuple((path, f"c{at}") for at, path in enumerate(paths))), BlockPlan("f", "2", half))
    return VersionPlan(label=label, fingerprint="", paths=paths, key=paths[:1], blocks=blocks, is_inferred=True)


def _rows(raw: bytes) -> list[tuple[str, dict[str, object]]]:
    """Return the rows of a record with the names that its table goes by."""
    value = _parsed(raw)
    names = {value["topic"]} if isinstance(value.get("topic"), str) else set()
    for _ in range(3):
        inner = [value[name] for name in ("value", "message", "payload") if name in value]
        value = next((_parsed(part) for part in inner if isinstance(part, (str, dict))), value)
    source = value.get("source")
    if isinstance(source, dict):
        place = source.get("schema") or source.get("db")
        names.add(f"{source.get('name')}.{place}.{source.get('table') or source.get('collection')}")
    rows = [row for row in (value.get("after"), value.get("before")) if isinstance(row, dict)]
    return [(name, row) for name in names for row in rows]


def _parsed(text: bytes | str | dict[str, Any]) -> dict[str, Any]:
    """Parse an object; what is none has no members."""
    try:
        found = text if isinstance(text, dict) else json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
