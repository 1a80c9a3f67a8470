"""Messages of one entity version as columns: where each value stands in the text of the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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
        machine: the module ``column_values``; ``None`` where there is no machine code.
        text: of the batch.
        layouts: of these messages.
        which: of each message, an index into ``layouts``.
        starts, stops: of the values of each column, ``NAMED`` first; both 0 where nothing stands.

    Shape: ``which`` (messages,); ``starts`` and ``stops`` (columns, messages).
    """

    machine: ModuleType | None
    text: NDArray[np.uint8]
    layouts: Sequence[Layout]
    which: Places
    starts: Places
    stops: Places

    @classmethod
    def of(
        cls, machine: ModuleType | None, batch: MappedBatch, alike: Sequence[AlikeMessages], paths: Sequence[str]
    ) -> tuple[MessageColumns, Places]:
        """Find the values of some messages.

        Args:
            machine: see the class.
            batch: all messages.
            alike: some of them, by layout.
            paths: of the payload, a column each.

        Returns:
            The columns, and which messages of the batch they are of, in its order.
        """
        rows = np.sort(np.concatenate([one.rows for one in alike]))
        starts, stops = np.zeros((2, len(NAMED) + len(paths), len(rows)), np.int64)
        which = np.zeros(len(rows), np.int64)
        for number, one in enumerate(alike):
            mine: Any = slice(None) if len(one.rows) == len(rows) else np.searchsorted(rows, one.rows)
            which[mine] = number
            fields = fields_of(one.layout)
            for column, name in enumerate(NAMED):
                starts[column, mine], stops[column, mine] = one.span(fields.named[name])
            for column, path in enumerate(paths, len(NAMED)):
                if path in fields.payload:
                    starts[column, mine], stops[column, mine] = one.span(fields.payload[path])
        # A text as others are, with its quotes.
        starts[NAMED.index(at.POSITION)] -= 1
        stops[NAMED.index(at.POSITION)] += 1
        text = np.frombuffer(batch.text, np.uint8)
        text.flags.writeable = False
        return cls(machine, text, [one.layout for one in alike], which, starts, stops), rows

    def cells(self, column: int) -> Cells:
        """Return the values of a column."""
        return Cells(self.machine, self.text, self.starts[column], self.stops[column])

    def shared(self, value_of: Callable[[Layout], object], type_: pa.DataType) -> Array:
        """Return what all messages of a layout say alike."""
        found: Array = pa.array([value_of(layout) for layout in self.layouts], type_)
        if len(found) == 1 and not pa.types.is_nested(type_):
            return pa.repeat(found[0], len(self.which))
        return found.take(self.which)

    def source(self, row: int) -> tuple[str, str, str]:
        """Return schema, version and position of the source of a message; the version of a truncate is empty."""
        kind, column = self.layouts[self.which[row]].kind, NAMED.index(at.POSITION)
        position = self.text[self.starts[column, row] : self.stops[column, row]].tobytes()
        return kind.schema, kind.version or "", text_of(position) or ""
