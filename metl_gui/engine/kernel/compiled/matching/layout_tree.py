"""Known layouts of written messages, and the messages of a batch that are of one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.trees.paths import split
from metl_gui.engine.kernel.compiled.layout import MOST_DEPTH, PADDING, WORD
from metl_gui.engine.kernel.compiled.matching import message_match as at
from metl_gui.engine.kernel.compiled.memory import IS_CHECKED, allow
from metl_gui.engine.kernel.compiled.tables import Growing, address_of
from metl_gui.engine.kernel.message_layout import POSITION, SNAPSHOT, Layout, fields_of
from metl_gui.engine.kernel.message_records import MessageRecords, RecordBatch
from metl_gui.engine.kernel.outcomes import MappedBatch

MOST_LAYOUTS = 1024
"""As many as the places of members are kept of (``message_layout.fields_of``)."""

MOST_VALUES = 512
"""Messages of more values are of no known layout, so that the lengths of a batch have a bound."""

MOST_BESIDE = 256
"""So many pieces may follow one value: they are asked for one after the other."""

MOST_TEXT_BYTES = 8 << 20
"""Names, schemas and versions are text of messages, which may be hostile: all layouts of a tree have so much of it."""

_MOST_PARTS = MOST_DEPTH - at.VALUE_DEPTH - 2
"""Of a path: a message and its payload are around it."""

_MANY_LAYOUTS = 64
_FEW_ROWS = 8
"""To make columns of a layout takes as long as reading some messages one by one."""

_ROOT = -1, 0, 0, -1, -1, -1
"""No text, and nothing that follows yet: numbers as ``message_match`` places them."""


class LayoutTree:
    """Layouts, as a tree of the fixed texts that stand between values.

    Attributes:
        layouts: by their numbers.
    """

    def __init__(self) -> None:
        self.layouts: list[Layout] = []
        self._pieces = Growing(np.int64, 64 * at.PIECE_WORDS)
        self._pieces.extend(_ROOT)
        self._texts = Growing(np.uint8, 1 << 14)
        self._children: dict[tuple[int, bytes, int], int] = {}
        self._beside: dict[int, int] = {}
        self._most_values = 0

    def add(self, layout: Layout) -> bool:
        """Add a layout; return whether there was room for it, and none with the same text."""
        if len(self.layouts) >= MOST_LAYOUTS or len(layout.order) > MOST_VALUES:
            return False
        if self._texts.used + sum(map(len, layout.fixed)) > MOST_TEXT_BYTES:
            return False
        if any(len(split(path)) > _MOST_PARTS for path in layout.paths.payload):
            return False
        parent = 0
        for text, kind in _pieces_of(layout):
            found = self._children.get((parent, text, kind))
            if found is None:
                found = self._new_piece(parent, text, kind)
            if found is None:
                return False
            parent = found
        place = parent * at.PIECE_WORDS + at.PIECE_LAYOUT // WORD
        if self._pieces.column[place] >= 0:
            return False
        self._pieces.column[place] = len(self.layouts)
        self.layouts.append(layout)
        self._most_values = max(self._most_values, len(layout.order))
        return True

    def _new_piece(self, parent: int, text: bytes, kind: int) -> int | None:
        if self._beside.get(parent, 0) >= MOST_BESIDE:
            return None
        number = self._pieces.used // at.PIECE_WORDS
        place = self._texts.extend(np.frombuffer(text, np.uint8))
        child = parent * at.PIECE_WORDS + at.PIECE_CHILD // WORD
        self._pieces.extend((place, len(text), kind, -1, int(self._pieces.column[child]), -1))
        self._pieces.column[child] = number
        self._children[parent, text, kind] = number
        self._beside[parent] = self._beside.get(parent, 0) + 1
        return number

    def find(self, records: RecordBatch, text: NDArray[np.uint8]) -> tuple[MappedBatch, NDArray[np.int64]]:
        """Find the messages of a batch that are of a known layout.

        Where a batch has many layouts, those of a few messages are left out.

        Args:
            records: the batch, each record a message.
            text: what ``padded`` makes of it.

        Returns:
            These messages as if they had been written just now, and which records are none of them.
        """
        starts = np.ascontiguousarray(records.starts, np.int64)
        stops = np.where(records.is_cut, starts, records.stops)
        layouts, lengths = self._match(text, starts, stops)
        found = np.flatnonzero(layouts >= 0)
        times = np.bincount(layouts[found], minlength=len(self.layouts))
        if np.count_nonzero(times) > _MANY_LAYOUTS:
            values = np.array([len(one.order) for one in self.layouts])[layouts[found]]
            is_kept = times[layouts[found]] >= _FEW_ROWS
            lengths, found = lengths[np.repeat(is_kept, values)], found[is_kept]
        mapped = MappedBatch(
            text=text.data,
            starts=starts[found],
            stops=stops[found],
            entities=np.zeros(len(found), np.int32),
            records=found.astype(np.int32),
            layouts=layouts[found].astype(np.int32),
            lengths=lengths,
            layout_list=self.layouts,
            own_layouts=(),
            fates=np.zeros(0, np.int8),
            entity_names=(),
        )
        is_left = np.ones(len(records), np.bool_)
        is_left[found] = False
        return mapped, np.flatnonzero(is_left)

    def _match(
        self, text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        layouts = np.empty(len(starts), np.int64)
        # Before each value stands a letter of fixed text at least.
        most = min(len(starts) * self._most_values, int(np.maximum(stops - starts, 0).sum()))
        lengths = np.empty(most + self._most_values + PADDING, np.int32)
        columns: tuple[NDArray[Any], ...] = (
            text, starts, stops, self._pieces.column, self._texts.column, layouts, lengths,
        )  # fmt: skip
        match = np.array([*map(address_of, columns), len(starts)], np.int64)
        if IS_CHECKED:
            allow([(address_of(one), address_of(one) + one.nbytes) for one in (*columns, match)])
        count: int = at.match_messages(address_of(match))
        return layouts, lengths[:count]


def padded(records: RecordBatch) -> NDArray[np.uint8]:
    """Return the buffer of records with room to read behind it."""
    text = np.frombuffer(records.buffer, np.uint8)
    if isinstance(records, MessageRecords):
        return text
    return np.concatenate((text, np.zeros(PADDING, np.uint8)))


def _pieces_of(layout: Layout) -> Iterator[tuple[bytes, int]]:
    """Yield the fixed texts of a layout, each with what stands behind it."""
    named = fields_of(layout).named
    kinds = {named[POSITION].start.values: at.BEFORE_LETTERS, named[SNAPSHOT].start.values: at.BEFORE_WORD}
    for number, text in enumerate(layout.fixed[:-1]):
        yield text, kinds.get(number, at.BEFORE_VALUE)
    yield layout.fixed[-1], at.LAST
