"""A record of which the reference knows no more than what decides: every value says where in the record it stands.

The reference maps such a record as any other, and the values of its messages say which slots of the record they come
from. What decides by its value is there as it came: the operation, the place in the source block, what it says of a
snapshot, the field that names the version, what is unavailable where a program is for that. Any other value is a number
that no other value of the record is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from metl_gui.core.trees.paths import escape
from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.tables import Tables, bytes_at
from metl_gui.formats.json_text import ParsedObject

_DECIDING = frozenset({b"name", b"schema", b"db", b"table", b"collection", b"snapshot"})
"""Members of a source block that decide by their values: its place, and whether a snapshot read the row."""

_DECIDING_OF_EVENT = frozenset({b"op", b"snapshot", b"name", b"schema", b"db", b"table", b"collection"})
"""The same of a CloudEvent, without what its names begin with."""

_EVENT = b"iodebezium"
_ROLES = {b"before": at.BEFORE, b"after": at.AFTER, b"source": at.SOURCE, b"transaction": at.TRANSACTION}
_NULL = b"null"
_OBJECT = b"{}"


class TracedValue(bytes):
    """A value that stands in a slot.

    Attributes:
        slot: where, as ``layout`` counts slots.
    """

    slot: int


class TracedObject(ParsedObject):
    """An object of traced values that may stand in a slot itself.

    Attributes:
        slot: where, below 0 for nowhere.
    """

    slot: int


def traced(slot: int, value: bytes | None = None) -> TracedValue:
    """Return what stands for the value in a slot; ``value`` where it decides."""
    found = TracedValue(b"%d" % slot if value is None else value)
    found.slot = slot
    return found


def traced_object(members: dict[str, bytes], slot: int = -1, text: bytes = _OBJECT) -> TracedObject:
    """Return an object of some members; ``text`` is what is looked for at its beginning."""
    found = TracedObject(text)
    found.found, found.slot = dict(members), slot
    return found


class Tracer:
    """Makes the objects of one record.

    Args:
        tables: with the members of the record at hand.

    Attributes:
        deciding: values of rows that decide, wherever they stand: those that are unavailable.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.deciding: Collection[bytes] = frozenset()

    def object_of(self, role: int, value_of: Callable[[bytes, int, bytes], bytes], slot: int = -1) -> TracedObject:
        """Return the object in a role, each value as it is told by name, slot and real value."""
        found = {}
        for number, (name, value_at, value_length) in enumerate(self.tables.members(role)):
            own = role * at.ROLE_BYTES + number * at.SLOT_BYTES
            found[name.decode()] = value_of(name, own, bytes_at(value_at, value_length))
        return traced_object(found, slot)

    def row(self, role: int, kept: Collection[bytes], inner: dict[int, int], slot: int = -1) -> TracedObject:
        """Return a row or an object within one.

        Args:
            role: of the row.
            kept: names that keep their values.
            inner: the roles of objects within it by their slots; 0 for what is looked into and no object.
            slot: where it stands itself, below 0 for nowhere.
        """

        def value_of(name: bytes, own: int, value: bytes) -> bytes:
            if value == _NULL and own in inner:
                return value
            if inner.get(own):
                return self.row(inner[own], (), inner, own)
            return traced(own, value if name in kept or value in self.deciding else None)

        return self.object_of(role, value_of, slot)

    def envelope(self, role: int, rows: dict[int, bytes]) -> TracedObject:
        """Return an envelope; ``rows`` are its objects by role."""

        def value_of(name: bytes, slot: int, value: bytes) -> bytes:
            if name == b"op":
                return value
            below = _ROLES.get(name)
            return traced(slot) if below is None else rows.get(below, value)

        return self.object_of(role, value_of)

    def event(self, role: int, data: bytes) -> TracedObject:
        """Return a CloudEvent with its data."""

        def value_of(name: bytes, slot: int, value: bytes) -> bytes:
            if name == b"data":
                return data
            is_deciding = name.startswith(_EVENT) and name.removeprefix(_EVENT) in _DECIDING_OF_EVENT
            return traced(slot, value if is_deciding else None)

        return self.object_of(role, value_of)

    def with_schema(self, role: int, payload: bytes) -> TracedObject:
        """Return the object in a role, of a schema and a payload."""
        half = next(bytes_at(place, length) for name, place, length in self.tables.members(role) if name == b"schema")
        return traced_object({"schema": half, "payload": payload}, text=b'{"schema":' + half)

    def source(self) -> TracedObject:
        """Return the source block."""
        return self.object_of(at.SOURCE, lambda name, slot, value: traced(slot, value if name in _DECIDING else None))


def slot_of(value: bytes) -> int:
    """Return the slot that a value stands in, below 0 for none."""
    return value.slot if isinstance(value, TracedValue | TracedObject) else -1


def path_of(prefix: str, name: bytes) -> str:
    """Return the dotted path of a member."""
    return prefix + escape(name.decode())
