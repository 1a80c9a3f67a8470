"""What became of a batch of records: messages, fates, what was set aside, and the counts of a report.

While a batch is mapped, its outcome is gathered in columns that grow and are used again for the next batch
(``BatchOutput``).
"""

from __future__ import annotations

import base64
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from metl_gui.core.runs.records import RecordOutcome
from metl_gui.engine.kernel.compiled.layout import PADDING
from metl_gui.engine.kernel.message_layout import Layout
from metl_gui.engine.kernel.numbered_counts import Filled, NumberedCounts, added
from metl_gui.engine.kernel.plan import BlockPlan
from metl_gui.errors import RecordError
from metl_gui.formats.hidden_values import Names, hidden
from metl_gui.formats.json_text import NULL, on_one_line, quoted
from metl_gui.formats.record_kind import RecordKind

_PIECE_BYTES = 1 << 18
_LINE_FEED, _SPACE = b"\n "
"""In JSON that was accepted only line ends and tabs come before a space."""

_DETAIL_LETTERS = 2000
"""Details may name what a hostile record is made of; the record itself stands beside them."""


class SetAside(NamedTuple):
    """One record in the error store.

    Args:
        record: which record of the batch it is.
        reason: why it was set aside.
        text: its row of the error store as JSON.
    """

    record: int
    reason: str
    text: bytes


@dataclass(slots=True, eq=False)
class MappedBatch:
    """What became of one batch.

    Args:
        text: all messages one after the other, each with a line feed behind it; ``PADDING`` bytes lie behind it.
        starts, stops: of each message in the text, without its line feed.
        entities: of each message, an index into ``entity_names``.
        records: of each message, the record of the batch that it was made from.
        layouts: of each message, the number of its layout, see ``layout``.
        lengths: of the values of all messages one after the other, in the order of their layouts.
        layout_list, own_layouts: layouts of this and other batches, to which more may come; of this batch alone, whose
            numbers are below 0.
        fates: of each record, a ``RecordOutcome``.
        set_aside: the records in the error store.
        by_skip: records without a row by kind.
        from_unreviewed: messages made by blocks that nobody has confirmed, by entity.
        named_versions, named_filled: what the reference counted, see ``by_version`` and ``filled``.
        numbered: what machine code counted of both.
        bytes_in: bytes of the records.
        hits: records that the compiled kernel mapped. The reference mapped the others.

    Shape: ``starts``, ``stops``, ``entities``, ``records`` and ``layouts`` (messages,); ``lengths`` (values,);
        ``fates`` (records,).
    Order: as the batch.
    """

    text: memoryview
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    entities: NDArray[np.int32]
    records: NDArray[np.int32]
    layouts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    layout_list: Sequence[Layout]
    own_layouts: Sequence[Layout]
    fates: NDArray[np.int8]
    entity_names: tuple[str, ...]
    set_aside: list[SetAside] = field(default_factory=list)
    by_skip: Counter[str] = field(default_factory=Counter)
    from_unreviewed: Counter[str] = field(default_factory=Counter)
    named_versions: Counter[str] = field(default_factory=Counter)
    named_filled: Filled = field(default_factory=Counter)
    numbered: NumberedCounts = field(default_factory=NumberedCounts)
    bytes_in: int = 0
    hits: int = 0

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self.starts)

    def message(self, at: int) -> bytes:
        """Return one message."""
        return bytes(self.text[self.starts[at] : self.stops[at]])

    def entity(self, at: int) -> str:
        """Return the entity of one message."""
        return self.entity_names[int(self.entities[at])]

    def messages(self) -> list[bytes]:
        """Return all messages."""
        text = bytes(self.text)
        return [text[start:stop] for start, stop in zip(self.starts.tolist(), self.stops.tolist(), strict=True)]

    def layout(self, number: int) -> Layout:
        """Return a layout by the number that messages have in ``layouts``."""
        return self.layout_list[number] if number >= 0 else self.own_layouts[~number]

    def sent_to(self) -> list[str]:
        """Return the entity of each message."""
        return [self.entity_names[entity] for entity in self.entities.tolist()]

    def lines(self) -> memoryview:
        """Return the text with each message on one line: values that span lines have spaces for their line ends."""
        letters = np.frombuffer(self.text, np.uint8)
        pieces = (letters[at : at + _PIECE_BYTES] for at in range(0, len(letters), _PIECE_BYTES))
        if sum(int(np.count_nonzero(piece < _SPACE)) for piece in pieces) == len(self):
            return self.text
        found = bytearray(on_one_line(bytes(self.text)))
        np.frombuffer(found, np.uint8)[self.stops] = _LINE_FEED
        return memoryview(found)

    def lines_by_entity(self) -> dict[str, memoryview | bytes]:
        """Return the messages of each entity, each one line with its line feed, in the order they first came."""
        found, first = np.unique(self.entities, return_index=True)
        text = self.lines()
        if len(found) == 1:
            return {self.entity_names[found[0]]: text}
        return {self.entity_names[entity]: self._lines(entity, text) for entity in found[np.argsort(first)]}

    def _lines(self, entity: int, text: memoryview) -> bytes:
        of_it = self.entities == entity
        ends = zip(self.starts[of_it].tolist(), (self.stops[of_it] + 1).tolist(), strict=True)
        return b"".join([text[start:end] for start, end in ends])

    @property
    def by_version(self) -> Counter[str]:
        """Records whose version was told, whatever their fate, by ``schema@version``."""
        return added(self.named_versions, self.numbered.by_version())

    @property
    def filled(self) -> Filled:
        """See ``Filled``."""
        return added(self.named_filled, self.numbered.filled())

    def counts(self) -> dict[str, int | dict[str, int] | dict[str, dict[str, int]]]:
        """Return the counts under the names that a report uses."""
        return {**self.brief_counts(), "by_version": dict(self.by_version), "by_attribute": self.by_attribute()}

    def brief_counts(self) -> dict[str, int | dict[str, int]]:
        """Return those of ``counts`` that are few, however many versions and attributes there are."""
        fates = np.bincount(self.fates, minlength=len(RecordOutcome)).tolist()
        by_entity = np.bincount(self.entities, minlength=len(self.entity_names)).tolist()
        return {
            "read": len(self.fates),
            "mapped": fates[RecordOutcome.MAPPED],
            "filtered": fates[RecordOutcome.FILTERED],
            "set_aside": fates[RecordOutcome.SET_ASIDE],
            "skipped": fates[RecordOutcome.SKIPPED],
            "messages_out": len(self),
            "bytes_in": self.bytes_in,
            "bytes_out": len(self.text) - len(self),
            "from_unreviewed": dict(self.from_unreviewed),
            "by_entity": {name: count for name, count in zip(self.entity_names, by_entity, strict=True) if count},
            "by_reason": dict(Counter(row.reason for row in self.set_aside)),
            "by_skip": dict(self.by_skip),
        }

    def by_attribute(self) -> dict[str, dict[str, int]]:
        """Return ``filled`` as reports write it: CDM paths by ``entity@version``."""
        return by_attribute(self.filled)


def by_attribute(filled: Filled) -> dict[str, dict[str, int]]:
    """Return counts of filled attributes as reports write them: CDM paths by ``entity@version``."""
    found: dict[str, dict[str, int]] = {}
    for (entity, version, path), count in filled.items():
        found.setdefault(f"{entity}@{version}", {})[path] = count
    return found


def error_row(error: RecordError, state: int, place: tuple[str, str, str], raw: bytes) -> bytes:
    """Write one row of the error store.

    Args:
        error: why the record is set aside.
        state: number of the state it was mapped with.
        place: schema name, version label and position; empty where unknown.
        raw: the whole record exactly.
    """
    schema, version, position = (quoted(text) if text else NULL for text in place)
    detail = error.detail if len(error.detail) <= _DETAIL_LETTERS else f"{error.detail[:_DETAIL_LETTERS]}…"
    try:
        content = b'"raw":' + quoted(raw.decode())
    except UnicodeDecodeError:
        content = b'"raw_base64":"' + base64.b64encode(raw) + b'"'
    return b'{"reason":%b,"detail":%b,"state":%d,"schema":%b,"version":%b,"position":%b,%b}' % (
        quoted(error.reason),
        quoted(detail),
        state,
        schema,
        version,
        position,
        content,
    )


_VERSION_REASONS = ("unknown_schema", "unknown_version", "ambiguous_version", "block_needs_review")
"""Why records are set aside that nobody has read a value of."""


def hidden_row(row: SetAside, raw: bytes, names: frozenset[Names]) -> SetAside:
    """Return the row of a record without values that nobody may see, nor what it says of them.

    Args:
        row: that it would have.
        raw: the record; empty where that is not kept at all.
        names: of the values.
    """
    found: dict[str, Any] = msgspec.json.decode(row.text)
    told = {name: found[name] for name in ("reason", "detail", "state", "schema", "version", "position")}
    if row.reason not in _VERSION_REASONS:
        told["detail"] = ""
    kept = (hidden(raw, names) or b"").decode(errors="replace")
    return row._replace(text=msgspec.json.encode({**told, "hidden": True, "raw": kept}))


_TEXT_BYTES = 1 << 16
_MESSAGES = 1024
_VALUES = 16 * _MESSAGES
_OF_MESSAGES = "starts", "stops", "entities", "records", "layouts"
_OWN_REFERENCES = 3
"""What counts as one holder: the column, the argument of the question, and the one of ``getrefcount``."""


class Sent(NamedTuple):
    """One message as it is sent.

    Args:
        block: what made it.
        layout: all of it but its values.
        values: its values, in the order of the layout.
        filled: CDM paths of the payload that are not null.
    """

    block: BlockPlan
    layout: Layout
    values: Sequence[bytes]
    filled: Sequence[str] = ()

    @property
    def text(self) -> bytes:
        """The message as JSON."""
        return self.layout.write(self.values)


class BatchOutput:
    """The columns of an ``MappedBatch`` while they grow.

    They are handed out without a copy, and used again for the next batch when nobody holds them any more.
    """

    def __init__(self) -> None:
        self.entity_names: list[str] = []
        self._entity_numbers: dict[str, int] = {}
        self.text: NDArray[np.uint8] = np.empty(_TEXT_BYTES, np.uint8)
        self.starts: NDArray[np.int64] = np.empty(_MESSAGES, np.int64)
        self.stops: NDArray[np.int64] = np.empty(_MESSAGES, np.int64)
        self.entities: NDArray[np.int32] = np.empty(_MESSAGES, np.int32)
        self.records: NDArray[np.int32] = np.empty(_MESSAGES, np.int32)
        self.layouts: NDArray[np.int32] = np.empty(_MESSAGES, np.int32)
        self.lengths: NDArray[np.int32] = np.empty(_VALUES, np.int32)
        self.layout_list: list[Layout] = []
        self.fates: NDArray[np.int8] = np.empty(0, np.int8)
        self.begin(0)

    def begin(self, records: int) -> None:
        """Begin a batch of so many records."""
        self.bytes_out = self.messages = self.values = self.done = 0
        self.own_layouts: list[Layout] = []
        self._own_numbers: dict[Layout, int] = {}
        self.fates = np.empty(records, np.int8)
        self.set_aside: list[SetAside] = []
        self.by_skip: Counter[str] = Counter()
        self.from_unreviewed: Counter[str] = Counter()
        self.by_version: Counter[str] = Counter()
        self.filled: Filled = Counter()
        self.numbered = NumberedCounts()
        for name in ("text", *_OF_MESSAGES, "lengths"):
            if not _is_held_once(getattr(self, name)):
                setattr(self, name, np.empty_like(getattr(self, name)))

    def reserve(self, more_bytes: int, more_messages: int, more_values: int) -> None:
        """Make room for what comes next."""
        wanted_bytes = self.bytes_out + more_bytes + PADDING
        if wanted_bytes > len(self.text):
            self.text = _grown(self.text, self.bytes_out, wanted_bytes)
        if self.messages + more_messages > len(self.starts):
            wanted = self.messages + more_messages
            for name in _OF_MESSAGES:
                setattr(self, name, _grown(getattr(self, name), self.messages, wanted))
        if self.values + more_values > len(self.lengths):
            self.lengths = _grown(self.lengths, self.values, self.values + more_values)

    def entity_number(self, entity: str) -> int:
        """Return the index of an entity among the names."""
        number = self._entity_numbers.get(entity)
        if number is None:
            number = self._entity_numbers[entity] = len(self.entity_names)
            self.entity_names.append(entity)
        return number

    def skip(self, kind: RecordKind) -> None:
        """Count a record without a row."""
        self._end(RecordOutcome.SKIPPED)
        self.by_skip[str(kind)] += 1

    def send(self, sent: Iterable[Sent]) -> None:
        """Keep the messages of one record."""
        before = self.messages
        for one in sent:
            block = one.block
            self._append(one)
            if block.is_unreviewed:
                self.from_unreviewed[block.entity] += 1
            for path in one.filled:
                self.filled[block.entity, block.entity_version, path] += 1
        self._end(RecordOutcome.MAPPED if self.messages > before else RecordOutcome.FILTERED)

    def put_aside(self, error: RecordError, row: bytes) -> None:
        """Keep a record that cannot be mapped, with its row of the error store."""
        self.set_aside.append(SetAside(self.done, error.reason, row))
        self._end(RecordOutcome.SET_ASIDE)

    def outcome(self, bytes_in: int, hits: int = 0) -> MappedBatch:
        """Return what was gathered."""
        count = self.messages
        return MappedBatch(
            text=self.text.data[: self.bytes_out],
            starts=self.starts[:count],
            stops=self.stops[:count],
            entities=self.entities[:count],
            records=self.records[:count],
            layouts=self.layouts[:count],
            lengths=self.lengths[: self.values],
            layout_list=self.layout_list,
            own_layouts=self.own_layouts,
            fates=self.fates[: self.done],
            entity_names=tuple(self.entity_names),
            set_aside=self.set_aside,
            by_skip=self.by_skip,
            from_unreviewed=self.from_unreviewed,
            named_versions=self.by_version,
            named_filled=self.filled,
            numbered=self.numbered,
            bytes_in=bytes_in,
            hits=hits,
        )

    def _append(self, sent: Sent) -> None:
        text, values = sent.text, len(sent.values)
        self.reserve(len(text) + 1, 1, values)
        start, at, first = self.bytes_out, self.messages, self.values
        stop = start + len(text)
        self.text[start : stop + 1] = np.frombuffer(text + b"\n", np.uint8)
        self.starts[at], self.stops[at] = start, stop
        self.entities[at], self.records[at] = self.entity_number(sent.block.entity), self.done
        self.layouts[at] = self._own_layout_number(sent.layout)
        self.lengths[first : first + values] = list(map(len, sent.values))
        self.bytes_out, self.messages, self.values = stop + 1, at + 1, first + values

    def layout_number(self, layout: Layout) -> int:
        """Return the number of a layout that stays known over batches."""
        self.layout_list.append(layout)
        return len(self.layout_list) - 1

    def _own_layout_number(self, layout: Layout) -> int:
        """Return the number of a layout in this batch alone."""
        number = self._own_numbers.get(layout)
        if number is None:
            number = self._own_numbers[layout] = ~len(self.own_layouts)
            self.own_layouts.append(layout)
        return number

    def forget_layouts(self) -> None:
        """Forget the layouts that stayed known over batches; no message of this batch was written yet."""
        self.layout_list = []

    def _end(self, fate: RecordOutcome) -> None:
        self.fates[self.done] = fate
        self.done += 1


class RecordOutput(BatchOutput):
    """Keeps what one record becomes, instead of its text.

    Attributes:
        kind: of a record that is skipped.
        sent: its messages.
    """

    def __init__(self) -> None:
        super().__init__()
        self.kind: RecordKind | None = None
        self.sent: tuple[Sent, ...] = ()

    def skip(self, kind: RecordKind) -> None:
        """Keep the kind."""
        self.kind = kind

    def send(self, sent: Iterable[Sent]) -> None:
        """Keep the messages."""
        self.sent = tuple(sent)


def _is_held_once(column: NDArray[Any]) -> bool:
    """Return whether no outcome, nor anything cut from one, still shows this column."""
    return sys.getrefcount(column) <= _OWN_REFERENCES


def _grown(column: NDArray[Any], used: int, wanted: int) -> NDArray[Any]:
    larger = np.empty(max(wanted, 2 * len(column)), column.dtype)
    larger[:used] = column[:used]
    return larger
