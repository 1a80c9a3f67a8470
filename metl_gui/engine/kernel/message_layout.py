"""How an outgoing message is written: keys in a fixed order, values as the bytes they came in.

Source: docs/reference/message.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from metl_gui.core.trees.paths import split
from metl_gui.formats.json_text import NULL, quoted

_Nested: TypeAlias = "dict[str, _Nested | int]"

ORDINAL, TIME, TOTAL_ORDER = "ord", "ts_ms", "total_order"
"""MongoDB orders by time and ordinal; the time is no order anywhere else. A transaction may count its changes."""

ORIGIN_NAMES = (
    "sequence",
    "lsn",
    "commit_lsn",
    "change_lsn",
    "event_serial_no",
    "commit_scn",
    "scn",
    "server_id",
    "gtid",
    "file",
    "pos",
    "row",
    "ord",
)
"""Members of a source block that say where in the database's log a change stands, in the order they are written."""

MESSAGE = (
    b'{"entity":%b,"version":%b,"state":%d,"op":"%b","key":%b,"ts_ms":%b,'
    b'"source":{"schema":%b,"version":%b,"position":%b,"origin":%b,'
    b'"committed_at_ms":%b,"snapshot":%b,"old_key":%b,"publication":%b},"payload":%b%b%b}'
)

_KEPT_LETTERS = 1 << 15
"""Longer layouts are made anew each time, so that a hostile stream of names cannot fill the memory."""

REPLAYED = b',"replayed":true'
"""The last member of a message whose record was set aside before."""


@lru_cache(maxsize=8192)
def nested(paths: tuple[str, ...]) -> tuple[tuple[bytes, ...], tuple[int, ...]]:
    """Lay out dotted paths as nested objects; a path that runs through the leaf of another stands whole as one name.

    Returns:
        The fixed pieces around the values (one more than values), and which value stands in which gap.
    """
    tree: _Nested = {}
    for number, path in enumerate(paths):
        *parents, leaf = split(path)
        place = _place(tree, parents)
        if place is None or leaf in place:
            tree[path] = number
        else:
            place[leaf] = number
    pieces: list[bytes] = [b""]
    order: list[int] = []
    _write(tree, pieces, order)
    return tuple(pieces), tuple(order)


def _place(tree: _Nested, parents: Sequence[str]) -> _Nested | None:
    """Return the object that a leaf belongs into; ``None`` when another leaf stands in the way."""
    place = tree
    for parent in parents:
        below = place.setdefault(parent, {})
        if isinstance(below, int):
            return None
        place = below
    return place


def _write(tree: _Nested, pieces: list[bytes], order: list[int]) -> None:
    pieces[-1] += b"{"
    for number, (name, below) in enumerate(tree.items()):
        pieces[-1] += (b"," if number else b"") + quoted(name) + b":"
        if isinstance(below, int):
            order.append(below)
            pieces.append(b"")
        else:
            _write(below, pieces, order)
    pieces[-1] += b"}"


def write_nested(members: Sequence[tuple[str, bytes]]) -> bytes:
    """Write (dotted path, value) pairs as nested objects."""
    paths = tuple(path for path, _ in members)
    pieces, order = nested(paths) if sum(map(len, paths)) <= _KEPT_LETTERS else nested.__wrapped__(paths)
    parts = [b""] * (2 * len(order) + 1)
    parts[::2] = pieces
    parts[1::2] = [members[number][1] for number in order]
    return b"".join(parts)


def write_origin(source: Mapping[str, bytes]) -> bytes:
    """Write what a source block says of the change's place in the database's log; null when it says nothing."""
    found = [(name, source[name]) for name in (*ORIGIN_NAMES, TIME, TOTAL_ORDER) if name in source]
    return write_nested(found) if found else NULL


def write_unchanged(paths: Sequence[str]) -> bytes:
    """Write the member that lists what is unchanged; nothing when there is nothing."""
    return b',"unchanged":[' + b",".join(map(quoted, paths)) + b"]" if paths else b""
