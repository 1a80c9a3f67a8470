"""What a run over the sample must give, worked out without the engine: plain JSON, the rules read naively, and A1."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from metl_gui.core.matrix.blocks import Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.sequential import map_sequentially
from metl_gui.core.trees.nodes import Version
from metl_gui.core.trees.paths import escape, split
from tests.helpers import fx_files
from tests.helpers.fx_files import Line

PLACEHOLDER = "__debezium_unavailable_value"
Payload = dict[str, Any]


@dataclass
class Expected:
    """Counts, and the payloads without nulls by (position, entity, op); positions of what is set aside by reason."""

    read: int = 0
    mapped: int = 0
    filtered: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    hostile: int = 0
    held: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    payloads: dict[tuple[str, str, str], Payload] = field(default_factory=dict)
    is_production: bool = False

    @property
    def by_entity(self) -> Counter[str]:
        """Number of messages of each entity."""
        return Counter(entity for _, entity, _ in self.payloads)


def expect(document: Document, is_production: bool = False) -> Expected:
    """Map every line of the sample's files; in production all blocks are taken for confirmed but those in review."""
    expected = Expected(is_production=is_production)
    for lines in fx_files.kinds().values():
        for kind, line in lines:
            expected.read += 1
            if line is None:
                expected.hostile += 1
            elif kind in set("rcudt"):
                _map(document, kind, line, expected)
            else:
                expected.skipped[kind] += 1
    return expected


def _map(document: Document, op: str, line: Line, expected: Expected) -> None:
    wrapper = line.wrapper
    position = f"{wrapper['topic']}/{wrapper['partition']}/{wrapper['offset']}"
    if op not in ("t", "d") and _number(document, line) is None:  # a delete is told by its key alone
        expected.unknown.add(position)
        return
    if op != "t" and expected.is_production and _waits(document, op, line):
        expected.held.add(position)
        return
    found = _truncated(document, line) if op == "t" else _changed(document, op, line)
    for entity, payload in found.items():
        expected.payloads[position, entity, op] = payload
    expected.mapped += bool(found)
    expected.filtered += not found


def _truncated(document: Document, line: Line) -> dict[str, Payload]:
    fed = [block for version in _versions(document, line) for block in document.matrix.column_set(version.id)]
    versions = [document.cdm.version(block.entity_version) for block in fed if block.elements]
    return {document.cdm.schema(version.schema_id).name: {} for version in versions}


def _changed(document: Document, op: str, line: Line) -> dict[str, Payload]:
    row = line.value["before" if op == "d" else "after"]
    version = _version(document, line, row)
    if op == "d":
        values = {path: line.key[split(path)[0]] for path in version.key or ()}
    else:
        values = {escape(name): value for name, value in row.items()}
    mapped = {block.entity_version for block in document.matrix.column_set(version.id) if block.elements}
    entities = {document.cdm.schema(document.cdm.version(w).schema_id).name for w in mapped}
    sent = {}
    for message in map_sequentially(document, version.id, values):
        newest = document.cdm.newest(document.cdm.named(message.entity).id)  # type: ignore[union-attr]
        if message.entity not in entities or newest is None or message.entity_version != newest.label:
            continue
        payload = {path: value for path, value in message.payload.items() if value is not None}
        if payload or op in ("u", "d"):
            sent[message.entity] = {path: value for path, value in payload.items() if value != PLACEHOLDER}
    return sent


def _waits(document: Document, op: str, line: Line) -> bool:
    """Whether a block of the version of a line waits for a person."""
    version = _version(document, line, line.value["before" if op == "d" else "after"])
    column_set = document.matrix.column_set(version.id)
    return any(block.status is Status.NEEDS_REVIEW and not block.unconfirmed for block in column_set)


def _number(document: Document, line: Line) -> int | None:
    """Return which of the table's versions a line has, by its columns; None where the document does not have it."""
    row = line.value["before" if line.value["op"] == "d" else "after"]
    present = {escape(name) for name in row}
    names = [{escape(facts[0]) for facts in version} for version in fx_files.versions()[line.topic]]
    there = [{a.path for a in version.attributes} for version in _versions(document, line)]
    return next((at for at, own in enumerate(names) if own == present and own in there), None)


def _versions(document: Document, line: Line) -> tuple[Version, ...]:
    schema = document.extraction.named(line.topic)
    assert schema is not None
    return document.extraction.versions(schema.id)


def _version(document: Document, line: Line, row: Payload) -> Version:
    """Take the newest version whose required paths are present and which has all present paths.

    Lines with schemas say their version themselves: the one whose columns have the types they state.
    """
    present = {escape(name) for name in row}
    fitting = [
        version
        for version in _versions(document, line)
        if {a.path for a in version.attributes if not a.optional} <= present <= {a.path for a in version.attributes}
    ]
    if line.wrapped and _number(document, line) is not None:
        number = fx_files.versions()[line.topic].index(fx_files.facts_of_message(line.wrapper))
        return _versions(document, line)[number]
    if not fitting and line.value["op"] == "d":
        fitting = [version for version in _versions(document, line) if version.key and set(version.key) <= present]
    return fitting[-1]


def flat(payload: Payload, above: str = "") -> Payload:
    """Flatten a payload along the paths of the CDM, without nulls."""
    found: Payload = {}
    for name, value in payload.items():
        path = above + escape(name)
        if isinstance(value, dict):
            found |= flat(value, f"{path}.")
        elif value is not None:
            found[path] = value
    return found
