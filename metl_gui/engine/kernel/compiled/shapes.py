"""What the names of an object say of it, whatever its values are."""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.formats.record_wrapper import VALUE_NAMES, WRAPPER_NAMES

_BARE_MARKS = frozenset({"before", "after", "op", "specversion", "ddl", "tableChanges", "payload"})
_TRANSACTION = frozenset({"status", "id", "ts_ms", "ts_us", "ts_ns", "event_count", "data_collections"})
_SIGNAL = frozenset({"id", "type", "data"})
_ENCODED = frozenset({"value_b64", "key_b64"})


def facts_of(names: Sequence[bytes]) -> list[int]:
    """Return where members of known names stand, and the flags of the shape.

    Args:
        names: of the object in order.
    """
    texts = [name.decode() for name in names]
    places = {name: number * at.SLOT_BYTES for number, name in enumerate(texts)}
    facts = [places.get(name, -1) for name in at.FACTS]
    flags = _flags(frozenset(texts))
    if len(places) != len(texts):
        flags = at.IS_BROKEN
    if flags & at.IS_WRAPPER:
        facts[at.FACTS.index("value")] = places["value" if "value" in places else "message"]
    return [*facts, flags]


def _flags(names: frozenset[str]) -> int:
    if names == {"schema", "payload"}:
        return at.IS_WITH_SCHEMA
    if "op" in names and not names.isdisjoint(("before", "after", "source")):
        return at.IS_REFUSED if {"specversion", "type"} <= names else at.IS_ENVELOPE
    if _BARE_MARKS.isdisjoint(names):
        carriers = [name for name in VALUE_NAMES if name in names]
        if carriers:
            return at.IS_WRAPPER if len(carriers) == 1 and names.isdisjoint(_ENCODED) else at.IS_REFUSED
        if "topic" in names and names <= WRAPPER_NAMES:
            return at.IS_REFUSED
    if {"specversion", "type"} <= names or ({"type", "data"} <= names <= _SIGNAL):
        return at.IS_REFUSED
    return at.IS_TRANSACTION if names <= _TRANSACTION and {"id", "status"} <= names else 0
