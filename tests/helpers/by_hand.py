"""A mapper by hand: what a change must become, worked out from A1 and the form of messages without the kernel.

It never reads a record: it is told of the change from which a test has written one, so that it shares no parser and no
decision with what it judges. Values are texts and are never looked into, but for null and the placeholder.
Source: docs/architecture/model.md, "Algorithms" (A1); docs/reference/message.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, str]
"""Text of the value by dotted path; a path that is missing is not in the record."""

PLACEHOLDER = '"__debezium_unavailable_value"'


@dataclass(frozen=True)
class Told:
    """A change as its source means it.

    Args:
        op: ``c r u d``.
        after, before: the rows, ``None`` for none.
        key: what the message key names, ``None`` for none.
        version: label of the version where the message says it, empty where its paths must tell.
    """

    op: str
    after: Row | None
    before: Row | None = None
    key: Row | None = None
    version: str = ""


@dataclass(frozen=True)
class Message:
    """One outgoing message, its values as texts by dotted path."""

    entity: str
    entity_version: str
    op: str
    key: Row | None
    payload: Row
    unchanged: frozenset[str]


@dataclass(frozen=True)
class Verdict:
    """What must become of a record: its fate, the reason if it is set aside, and the messages in order."""

    fate: str
    reason: str = ""
    version: str = ""
    messages: list[Message] = field(default_factory=list)


def map_by_hand(schema: Mapping[str, Any], told: Told) -> Verdict:
    """Map a change of a schema, written as cases write plans."""
    row = told.before if told.op == "d" else told.after
    fitting = _fitting(schema, told, row)
    if not fitting and told.op == "d" and not row and not told.key:
        return Verdict("set_aside", "no_key")
    if len(fitting) != 1:
        return Verdict("set_aside", "ambiguous_version" if fitting else "unknown_version")
    version = fitting[0]
    blocks = [block for block in version["blocks"] if block["targets"]]
    paths = version.get("key") or list(told.key or ())
    if not blocks:
        return Verdict("filtered", version=version["label"])
    if told.op == "d":
        sent = _deletes(schema, blocks, paths, told.key, row)
        if sent is None:
            return Verdict("set_aside", "no_key", version["label"])
        return Verdict("mapped", "", version["label"], sent)
    given = None if version.get("key") else told.key
    if told.op == "u" and told.before and _changes_key(paths, told.before, row or {}):
        deletes = _deletes(schema, blocks, paths, None, told.before) or []
        return Verdict("mapped", "", version["label"], [*deletes, *_images("c", blocks, paths, given, row or {})])
    sent = _images(told.op, blocks, paths, given, row or {})
    return Verdict("mapped" if sent else "filtered", "", version["label"], sent)


def _fitting(schema: Mapping[str, Any], told: Told, row: Row | None) -> list[Mapping[str, Any]]:
    """Return the version, several that would give different output, or none."""
    versions = schema["versions"]
    if told.version:
        return [version for version in versions if version["label"] == told.version]
    fitting = [
        version
        for version in versions
        if row is not None and set(row) <= set(version["paths"]) and set(version.get("required", ())) <= set(row)
    ]
    if not fitting and told.op == "d" and (row or told.key):
        names = set(row or {}) if told.key is None else set(told.key)
        fitting = [version for version in versions if _fits_by_key(version, names, told.key is not None)]
    if len(fitting) > 1 and len({_output(schema, version, told.op, row or {}) for version in fitting}) == 1:
        return fitting[-1:]
    return fitting


def _fits_by_key(version: Mapping[str, Any], names: set[str], is_message_key: bool) -> bool:
    if version.get("key"):
        return {path.split(".")[0] for path in version["key"]} <= {name.split(".")[0] for name in names}
    return is_message_key and names <= set(version["paths"])


def _output(schema: Mapping[str, Any], version: Mapping[str, Any], op: str, row: Row) -> object:
    key = version.get("key")
    present = set(key or ()) if op == "d" and not schema.get("has_full_images") else set(row)
    blocks = set()
    for block in version["blocks"]:
        targets = frozenset((source, target) for source, target in block["targets"] if source in present)
        if block["targets"] and (targets or op in "ud"):
            blocks.add((block["entity"], block["entity_version"], targets))
    return frozenset(blocks), None if key is None else tuple(key)


def _changes_key(paths: Sequence[str], before: Row, after: Row) -> bool:
    old, new = ([row.get(path, "null") for path in paths] for row in (before, after))
    return bool(paths) and old != new and "null" not in old


def _images(op: str, blocks: Sequence[Any], paths: Sequence[str], given: Row | None, row: Row) -> list[Message]:
    """Make full images by A1: every mapped attribute null, then those that are there filled in."""
    sent = []
    for block in blocks:
        payload = {target: "null" for _, target in block["targets"]}
        payload |= {target: row[source] for source, target in block["targets"] if source in row}
        unchanged = frozenset(target for target, text in payload.items() if text == PLACEHOLDER)
        payload = {target: text for target, text in payload.items() if target not in unchanged}
        if op == "u" or unchanged or any(text != "null" for text in payload.values()):
            key = _key(block, paths, given, row)
            sent.append(Message(block["entity"], block["entity_version"], op, key, payload, unchanged))
    return sent


def _deletes(
    schema: Mapping[str, Any], blocks: Sequence[Any], paths: Sequence[str], key: Row | None, row: Row | None
) -> list[Message] | None:
    is_whole = bool(schema.get("has_full_images")) and row is not None
    values = {path: (key or {}).get(path, (row or {}).get(path, "null")) for path in paths}
    if not is_whole and (not values or (key is None and set(values.values()) == {"null"})):
        return None
    sent = []
    for block in blocks:
        payload = {target: values[source] for source, target in block["targets"] if source in values}
        if is_whole:
            payload = {target: (row or {}).get(source, "null") for source, target in block["targets"]}
        unchanged = frozenset(target for target, text in payload.items() if text == PLACEHOLDER)
        payload = {target: text for target, text in payload.items() if target not in unchanged}
        named = _key(block, paths, key, row or {})
        sent.append(Message(block["entity"], block["entity_version"], "d", named, payload, unchanged))
    return sent


def _key(block: Any, paths: Sequence[str], key: Row | None, row: Row) -> Row | None:
    targets = dict(block["targets"])
    if not paths:
        return None
    return {targets.get(path) or f"@{path}": (key or {}).get(path, row.get(path, "null")) for path in paths}
