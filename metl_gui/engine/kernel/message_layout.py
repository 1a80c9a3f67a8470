"""How an outgoing message is written: members in a fixed order, values as the bytes they came in.

A message is made of *pieces*: fixed text, which comes from the plan and from names alone, with a value of the record
between any two of them. Its ``Layout`` is all but its values, and one for all messages of a kind. Writing a message
joins both, machine code for it is made of both, and where a member stands in it follows from the lengths of its values,
without looking at its text.

Source: docs/reference/message.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from metl_gui.core.trees.paths import split
from metl_gui.formats.json_text import NULL, quoted
from metl_gui.values import Value

Nested: TypeAlias = "dict[str, Nested | int]"
"""Dotted paths as nested objects, with the number of a path where it ends."""

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

_KEPT_LETTERS = 1 << 14
"""Longer layouts are made anew each time, so that a hostile stream of names cannot fill the memory."""


def tree_of(paths: Sequence[str]) -> Nested:
    """Lay out dotted paths as nested objects; a path that runs through the leaf of another stands whole as one name."""
    tree: Nested = {}
    for number, path in enumerate(paths):
        *parents, leaf = split(path)
        place = _place(tree, parents)
        if place is None or leaf in place:
            tree[path] = number
        else:
            place[leaf] = number
    return tree


def _place(tree: Nested, parents: Sequence[str]) -> Nested | None:
    """Return the object that a leaf belongs into; ``None`` when another leaf stands in the way."""
    place = tree
    for parent in parents:
        below = place.setdefault(parent, {})
        if isinstance(below, int):
            return None
        place = below
    return place


KEY, TS_MS, POSITION, ORIGIN = "key", "ts_ms", "position", "origin"
COMMITTED_AT_MS, SNAPSHOT, OLD_KEY = "committed_at_ms", "snapshot", "old_key"
_SINGLE_VALUES = 4
"""Time, position, time of the commit and whether a snapshot read the row."""


class MessageKind(NamedTuple):
    """What a message says of itself that is no value of its record.

    Args:
        entity, entity_version: what it is; a truncate has no version.
        state: number of the state.
        op: its kind of change.
        schema, version: its source; a truncate has no version.
        publication: number of the publication, ``None`` for none.
        is_replay: its record was set aside before.
    """

    entity: str
    entity_version: str | None
    state: int
    op: str
    schema: str
    version: str | None
    publication: int | None
    is_replay: bool


class MessagePaths(NamedTuple):
    """The dotted paths in the objects of a message.

    Args:
        key, origin, old_key: empty where the object is null.
        payload: of its values.
        unchanged: of what keeps the value that it had.
    """

    key: tuple[str, ...] = ()
    origin: tuple[str, ...] = ()
    old_key: tuple[str, ...] = ()
    payload: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    @property
    def are_short(self) -> bool:
        """Whether what is made of them may be kept."""
        return sum(sum(map(len, some)) for some in self) <= _KEPT_LETTERS

    @property
    def committed(self) -> int:
        """The number of the value that is the time of the commit."""
        return self.snapshot - 1

    @property
    def snapshot(self) -> int:
        """The number of the value that says whether a snapshot read the row."""
        return len(self.key) + len(self.origin) + _SINGLE_VALUES - 1

    @property
    def payload_start(self) -> int:
        """The number of the first value of the payload among all values."""
        return len(self.key) + len(self.origin) + len(self.old_key) + _SINGLE_VALUES


class Place(NamedTuple):
    """A place in the messages of a layout: behind so many values, and so many letters of fixed text."""

    values: int
    letters: int


class Field(NamedTuple):
    """Where a member stands in the messages of a layout."""

    start: Place
    stop: Place


class Layout(Value, eq=False):
    """All of a message but its values; two are the same where they are one object.

    Args:
        kind, paths: of the message.
        literals: values that all messages of the layout have alike, by their numbers; they stand in the fixed text.
        fixed: the fixed text before, between and behind the values.
        order: the numbers of the values as they stand in the message, those of ``literals`` left out. Values are
            numbered as they come: of the key, the time, the position, of the origin, the time of the commit, whether a
            snapshot read the row, of the old key, of the payload; in objects as ``paths`` says.
    """

    kind: MessageKind
    paths: MessagePaths
    literals: Mapping[int, bytes]
    fixed: tuple[bytes, ...]
    order: tuple[int, ...]

    @classmethod
    def of(cls, kind: MessageKind, paths: MessagePaths, literals: Mapping[int, bytes] | None = None) -> Layout:
        """Lay out messages."""
        draft = _Draft(literals or {})
        draft.lay_out(kind, paths)
        return cls(kind, paths, draft.literals, tuple(draft.fixed), tuple(draft.order))

    def write(self, values: Sequence[bytes]) -> bytes:
        """Write a message; ``values`` in the order of ``order``."""
        parts = [b""] * (2 * len(values) + 1)
        parts[::2] = self.fixed
        parts[1::2] = values
        return b"".join(parts)


_kept_layout = lru_cache(maxsize=4096)(Layout.of)


def layout_of(kind: MessageKind, paths: MessagePaths) -> Layout:
    """Return the layout of messages, the same object for the same messages while it is kept."""
    return _kept_layout(kind, paths) if paths.are_short else Layout.of(kind, paths)


class Fields(Value):
    """Where the members of messages of a layout stand.

    Args:
        named: those outside of the payload by name, such as ``KEY``; a position without its quotes.
        payload: values of the payload by their dotted paths.
    """

    named: dict[str, Field]
    payload: dict[str, Field]


def fields_of(layout: Layout) -> Fields:
    """Return where the members of the messages of a layout stand."""
    return _kept_fields(layout) if layout.paths.are_short else _fields(layout)


def _fields(layout: Layout) -> Fields:
    return _Draft(layout.literals).lay_out(layout.kind, layout.paths)


_kept_fields = lru_cache(maxsize=1024)(_fields)


class _Draft:
    """A layout while it is written."""

    def __init__(self, literals: Mapping[int, bytes]) -> None:
        self.literals = literals
        self.fixed = [b""]
        self.order: list[int] = []
        self._letters = 0
        self._next = 0

    def lay_out(self, kind: MessageKind, paths: MessagePaths) -> Fields:
        """Write all members in their order."""
        named: dict[str, Field] = {}
        version = NULL if kind.entity_version is None else quoted(kind.entity_version)
        head = quoted(kind.entity), version, kind.state, kind.op.encode()
        self._text(b'{"entity":%b,"version":%b,"state":%d,"op":"%b","key":' % head)
        named[KEY], _ = self._object(paths.key)
        self._text(b',"ts_ms":')
        named[TS_MS] = self._value()
        source = NULL if kind.version is None else quoted(kind.version)
        self._text(b',"source":{"schema":%b,"version":%b,"position":"' % (quoted(kind.schema), source))
        named[POSITION] = self._value()
        self._text(b'","origin":')
        named[ORIGIN], _ = self._object(paths.origin)
        self._text(b',"committed_at_ms":')
        named[COMMITTED_AT_MS] = self._value()
        self._text(b',"snapshot":')
        named[SNAPSHOT] = self._value()
        self._text(b',"old_key":')
        named[OLD_KEY], _ = self._object(paths.old_key)
        publication = NULL if kind.publication is None else b"%d" % kind.publication
        self._text(b',"publication":%b},"payload":' % publication)
        _, payload = self._object(paths.payload, empty=b"{}")
        if paths.unchanged:
            self._text(b',"unchanged":[%b]' % b",".join(map(quoted, paths.unchanged)))
        self._text(b',"replayed":true}' if kind.is_replay else b"}")
        return Fields(named, payload)

    def _text(self, text: bytes) -> None:
        self.fixed[-1] += text
        self._letters += len(text)

    def _value(self, number: int | None = None) -> Field:
        """Write a value, the next one where no number is given."""
        if number is None:
            number = self._next
            self._next += 1
        start = self._place()
        literal = self.literals.get(number)
        if literal is None:
            self.order.append(number)
            self.fixed.append(b"")
        else:
            self._text(literal)
        return Field(start, self._place())

    def _object(self, paths: tuple[str, ...], empty: bytes = NULL) -> tuple[Field, dict[str, Field]]:
        """Write the next values as an object; return where it stands, and each of them by its path."""
        start, leaves = self._place(), dict[str, Field]()
        if paths:
            self._members(tree_of(paths), paths, leaves)
            self._next += len(paths)
        else:
            self._text(empty)
        return Field(start, self._place()), leaves

    def _members(self, tree: Nested, paths: tuple[str, ...], leaves: dict[str, Field]) -> None:
        """Write an object and those in it; note where values stand by their paths."""
        before = b"{"
        for name, below in tree.items():
            self._text(before + quoted(name) + b":")
            if isinstance(below, int):
                leaves[paths[below]] = self._value(self._next + below)
            else:
                self._members(below, paths, leaves)
            before = b","
        self._text(b"}")

    def _place(self) -> Place:
        return Place(len(self.order), self._letters)
