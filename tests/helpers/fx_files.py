"""The files of the sample ``fx``, read plainly and strictly, with nothing of the program or of the sample's script."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

FX = Path(__file__).parents[2] / "sample_projects" / "fx"
WITHOUT_ROW = {"fx.transaction": "transaction", "fx.message": "message", "__debezium-heartbeat.fx": "heartbeat"}
Facts: TypeAlias = tuple[str, str, str, str, bool]
"""Path, type, logical name, scale and optional of a column."""


class UnacceptableError(Exception):
    """A line that a strict reader does not take."""


@dataclass(frozen=True)
class Line:
    """One accepted line: its wrapper, and key and value without their schemas."""

    wrapper: dict[str, Any]
    key: Any
    value: Any
    wrapped: bool

    @property
    def topic(self) -> str:
        return str(self.wrapper["topic"])

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.wrapper.get("headers", []))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise UnacceptableError("a name twice")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise UnacceptableError(name)


def strict(text: str) -> Any:
    """Parse JSON as RFC 8259 has it: no NaN, no name twice, no lone surrogates, nesting up to 64."""
    try:
        parsed = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant)
        json.dumps(parsed, ensure_ascii=False).encode()
    except ValueError as error:
        raise UnacceptableError(str(error)) from error
    if depth_of(parsed) > 64:
        raise UnacceptableError("too deep")
    return parsed


def depth_of(value: Any) -> int:
    """Count how deep arrays and objects are nested."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth_of, inner), default=0)


def accept(raw: bytes) -> Line:
    """Read one line of a message file, or refuse it."""
    try:
        wrapper = strict(raw.decode())
    except UnicodeDecodeError as error:
        raise UnacceptableError(str(error)) from error
    if not isinstance(wrapper, dict) or "topic" not in wrapper:
        raise UnacceptableError("no wrapper")
    key, value = (None if wrapper[part] is None else strict(wrapper[part]) for part in ("key", "value"))
    wrapped = [set(part) == {"schema", "payload"} for part in (key, value) if isinstance(part, dict)]
    if any(wrapped) != all(wrapped):
        raise UnacceptableError("only one of key and value has a schema")
    if any(wrapped):
        key, value = (part if part is None else part["payload"] for part in (key, value))
    return Line(wrapper, key, value, any(wrapped))


def kind_of(line: Line) -> str:
    """Tell what an accepted line is, or refuse it."""
    if line.topic in WITHOUT_ROW:
        return WITHOUT_ROW[line.topic]
    if line.topic not in versions():
        raise UnacceptableError("unknown topic")
    if line.value is None:
        return "tombstone"
    if not isinstance(line.value, dict) or line.value.get("op") not in set("rcudt"):
        raise UnacceptableError("no change")
    row = line.value["before" if line.value["op"] == "d" else "after"]
    if line.value["op"] != "t":
        known = [{column[0] for column in version} for version in versions()[line.topic]]
        if row is None or set(row) not in known:
            raise UnacceptableError("unknown version")
    return str(line.value["op"])


def content(path: Path) -> bytes:
    """Return a file's bytes, unpacked."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


@cache
def message_files() -> dict[str, list[bytes]]:
    """Return the lines of every file of messages."""
    return {f"cdc/{path.name}": content(path).splitlines() for path in sorted((FX / "cdc").iterdir())}


@cache
def kinds() -> dict[str, list[tuple[str, Line | None]]]:
    """Return kind and line of everything, hostile lines with None."""
    return {name: [_kind_and_line(raw) for raw in lines] for name, lines in message_files().items()}


def _kind_and_line(raw: bytes) -> tuple[str, Line | None]:
    try:
        line = accept(raw)
        return kind_of(line), line
    except UnacceptableError:
        return "hostile", None


def _facts(raw: bytes) -> frozenset[Facts]:
    return facts_of_message(json.loads(raw))


def facts_of_message(wrapper: dict[str, Any]) -> frozenset[Facts]:
    """Return the columns that a message with schemas states."""
    envelope = json.loads(wrapper["value"])["schema"]
    row = next(field for field in envelope["fields"] if field["field"] == "after")
    assert "version" not in row, "the labels are 1, 2, ... only while Connect gives none"
    return frozenset(
        (
            column["field"],
            column["type"],
            column.get("name", ""),
            column.get("parameters", {}).get("scale", ""),
            column["optional"],
        )
        for column in row["fields"]
    )


@cache
def imported() -> dict[str, list[frozenset[Facts]]]:
    """Return the versions in ``schemas`` by topic, in order."""
    return {
        path.stem: [_facts(raw) for raw in content(path).splitlines()] for path in sorted((FX / "schemas").iterdir())
    }


@cache
def waiting() -> tuple[str, frozenset[Facts]]:
    """Return the topic and the version that wait."""
    [path] = (FX / "waiting").iterdir()
    [raw] = content(path).splitlines()
    return path.stem, _facts(raw)


@cache
def versions() -> dict[str, list[frozenset[Facts]]]:
    """Return all versions by topic, the waiting one last in its topic."""
    topic, newest = waiting()
    return {name: found + [newest] * (name == topic) for name, found in imported().items()}


@cache
def keys() -> dict[str, tuple[str, ...]]:
    """Return the key columns of each topic's first version."""
    first = {path.stem: json.loads(content(path).splitlines()[0]) for path in (FX / "schemas").iterdir()}
    return {name: tuple(json.loads(line["key"])["payload"]) if line["key"] else () for name, line in first.items()}


@cache
def mapping() -> list[dict[str, str]]:
    """Return the rows of mapping.csv."""
    with (FX / "mapping.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@cache
def counts() -> dict[str, Any]:
    """Return counts.json."""
    parsed: dict[str, Any] = json.loads((FX / "counts.json").read_text(encoding="utf-8"))
    return parsed


@cache
def entities() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the CDM's documents by entity and version."""
    documents = {}
    for path in sorted((FX / "cdm").glob("*/*.yaml")):
        document = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        documents[document["title"], path.stem] = document
    return documents


def leaves(document: dict[str, Any], above: str = "") -> list[str]:
    """Return the dotted paths of the leaves of a JSON Schema."""
    found: list[str] = []
    for name, node in document["properties"].items():
        found += leaves(node, f"{above}{name}.") if "properties" in node else [f"{above}{name}"]
    return found
