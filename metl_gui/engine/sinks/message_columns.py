"""Messages of one entity version as columns: where each value stands in the text of the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from metl_gui.engine.kernel import message_layout as at
from metl_gui.engine.kernel.message_fields import AlikeMessages, Places
from metl_gui.engine.kernel.message_layout import Layout, fields_of
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.sinks.cells import Cells
from metl_gui.formats.json_text import text_of
from metl_gui.values import Value

Array: TypeAlias = "pa.Array[Any]"
NAMED = (at.KEY, at.TS_MS, at.POSITION, at.ORIGIN, at.COMMITTED_AT_MS, at.SNAPSHOT, at.OLD_KEY)


class MessageColumns(Value, eq=False):
    """Some messages of a batch.

    Args:
        layouts: of these messages.
        which: of each message, an index into ``layouts``.
        cells: the values of each column, ``NAMED`` first; both places are 0 where nothing stands.

    Shape: ``which`` (messages,).
    """

    layouts: Sequence[Layout]
    which: Places
    cells: Cells

    @classmethod
    def of(
        cls, batch: MappedBatch, alike: Sequence[AlikeMessages], paths: Sequence[str]
    ) -> tuple[MessageColumns, Places]:
        """Find the values of some messages.

        Args:
            batch: all messages.
            alike: some of them, by layout.
            paths: of the payload, a column each.

        Returns:
            The columns, and which messages of the batch they are of, in its order.
        """
        rows = alike[0].rows if len(alike) == 1 else np.sort(np.concatenate([one.rows for one in alike]))
        places = np.zeros((2, len(NAMED) + len(paths), len(rows)), np.int64)
        starts, stops = places
        which = np.zeros(len(rows), np.int64)
        for number, one in enumerate(alike):
            fields = fields_of(one.layout)
            found = [fields.named[name] for name in NAMED] + [fields.payload.get(path) for path in paths]
            mine: Any = slice(None) if len(alike) == 1 else np.searchsorted(rows, one.rows)
            which[mine] = number
            for column, field in enumerate(found):
                if field is not None:
                    starts[column, mine], stops[column, mine] = one.span(field)
        # A text as others are, with its quotes.
        starts[NAMED.index(at.POSITION)] -= 1
        stops[NAMED.index(at.POSITION)] += 1
        text = np.frombuffer(batch.text, np.uint8)
        text.flags.writeable = False
        return cls([one.layout for one in alike], which, Cells(text, places)), rows

    def shared(self, value_of: Callable[[Layout], Any], type_: pa.DataType) -> Array:
        """Return what all messages of a layout say alike."""
        found = [value_of(layout) for layout in self.layouts]
        if len(found) == 1:
            return repeated(found[0], type_, len(self.which))
        return pa.array(found, type_).take(self.which)

    def source(self, row: int) -> tuple[str, str, str]:
        """Return schema, version and position of the source of a message; the version of a truncate is empty."""
        kind, column = self.layouts[self.which[row]].kind, NAMED.index(at.POSITION)
        (position,) = self.cells.values(column, np.array([row]))
        return kind.schema, kind.version or "", text_of(position) or ""


def repeated(value: Any, type_: pa.DataType, count: int) -> Array:
    """Return an array of so many times one value; a text or an empty list in a third of the time that Arrow takes."""
    if isinstance(value, str):
        raw = value.encode()
        return pa.StringArray.from_buffers(count, _offsets(len(raw), count), pa.py_buffer(raw * count))
    if value == []:
        return pa.ListArray.from_buffers(type_, count, [None, _offsets(0, count)], children=[pa.array([], pa.string())])
    return pa.array([value], type_).take(np.zeros(count, np.int64))


def _offsets(length: int, count: int) -> pa.Buffer:
    places: Any = np.arange(count + 1, dtype=np.int32) * length
    return pa.py_buffer(places)
