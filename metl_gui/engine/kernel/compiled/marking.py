"""Write a record anew with a number nobody writes in place of each value, so that the reference shows where it goes.

What decides by its value keeps it: the operation, the place in the source block, what it says of a snapshot, the
field that names the version.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection

from metl_gui.core.trees.paths import escape
from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.tables import Tables, bytes_at

_DECIDING = frozenset({b"name", b"schema", b"db", b"table", b"collection", b"snapshot"})
"""Members of a source block that decide by their values: its place, and whether a snapshot read the row."""

_ROLES = {b"before": at.BEFORE, b"after": at.AFTER, b"source": at.SOURCE, b"transaction": at.TRANSACTION}
_NULL = b"null"


class Marks:
    """The marks of one record, and what each stands for.

    Args:
        tables: with the members of the record at hand.
    """

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.slots: dict[bytes, int] = {}
        self.wholes: list[bytes] = []
        self._number = 10**18 + secrets.randbelow(8 * 10**18)

    def of(self, slot: int) -> bytes:
        """Return a new mark for a slot."""
        self._number += 1
        mark = b"%d" % self._number
        self.slots[mark] = slot
        return mark

    def object_of(self, role: int, value_of: Callable[[bytes, int, bytes], bytes]) -> bytes:
        """Write the object in a role, each value as it is told by name, slot and real value."""
        written = []
        for number, (name_at, name_length, value_at, value_length) in enumerate(self.tables.members(role)):
            name, slot = bytes_at(name_at, name_length), role * at.ROLE_BYTES + number * at.SLOT_BYTES
            written.append(b'"%b":%b' % (name, value_of(name, slot, bytes_at(value_at, value_length))))
        return b"{" + b",".join(written) + b"}"

    def row(self, role: int, kept: Collection[bytes], inner: dict[int, int]) -> bytes:
        """Write a row or an object within one.

        Args:
            role: of the row.
            kept: names that keep their values.
            inner: the roles of objects within it by their slots; 0 for what is looked into and no object.
        """

        def value_of(name: bytes, slot: int, value: bytes) -> bytes:
            if name in kept or (value == _NULL and slot in inner):
                return value
            if inner.get(slot):
                whole = self.row(inner[slot], (), inner)
                self.wholes.append(whole)
                return whole
            return self.of(slot)

        return self.object_of(role, value_of)

    def envelope(self, role: int, rows: dict[int, bytes]) -> bytes:
        """Write an envelope; ``rows`` are its objects as they were written before, by role."""

        def value_of(name: bytes, slot: int, value: bytes) -> bytes:
            if name == b"op":
                return value
            below = _ROLES.get(name)
            if below is None:
                return self.of(slot)
            return rows.get(below, value)

        return self.object_of(role, value_of)

    def source(self) -> bytes:
        """Write the source block."""
        return self.object_of(at.SOURCE, lambda name, slot, value: value if name in _DECIDING else self.of(slot))


def path_of(prefix: str, name: bytes) -> str:
    """Return the dotted path of a member."""
    return prefix + escape(name.decode())
