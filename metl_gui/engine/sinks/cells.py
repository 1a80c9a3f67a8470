"""Values of columns as places in the text of a batch, and the common ones of them as arrays.

What is taken here is taken exactly as ``readers`` would; everything else is marked as left and goes to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metl_gui.engine.kernel.compiled.layout import PADDING
from metl_gui.engine.sinks.value_forms import DECIMAL, TRUTH, WHOLE, ValueForm
from metl_gui.values import Value

Array: TypeAlias = "pa.Array[Any]"


class Taken(NamedTuple):
    """Values of which some may be left.

    Args:
        array: the values, null where they are left.
        left: which are left; ``None`` for none.
    """

    array: Array
    left: NDArray[np.bool_] | None


class Cells(Value, eq=False):
    """Values of some columns.

    Args:
        text: the batch.
        places: where each value begins and ends; one that is missing has length 0.

    Shape: ``places`` (2, columns, rows).
    """

    text: NDArray[np.uint8]
    places: NDArray[np.int64]

    def of(self, column: int, rows: NDArray[np.int64]) -> Cells:
        """Return some values of one column."""
        return Cells(self.text, np.ascontiguousarray(self.places[:, column : column + 1, rows]))

    def values(self, column: int, rows: NDArray[np.int64]) -> list[bytes]:
        """Return some values of one column one by one."""
        text = self.text.data
        starts, stops = self.places[:, column, rows].tolist()
        return [bytes(text[start:stop]) or b"null" for start, stop in zip(starts, stops, strict=True)]

    def taken(self, machine: ModuleType, asked: Sequence[tuple[int, ValueForm]]) -> list[Taken]:
        """Return the common values of columns.

        Args:
            machine: the module ``column_values``.
            asked: columns and what is made of each.
        """
        return _Reading(self, asked, machine).taken()


class _Reading:
    """Columns while they are read: their arguments of ``column_values.read_columns``.

    Args:
        cells: the values.
        asked: columns and what is made of each.
        machine: the module ``column_values``.
    """

    def __init__(self, cells: Cells, asked: Sequence[tuple[int, ValueForm]], machine: ModuleType) -> None:
        self.cells, self.machine = cells, machine
        self.forms = [form for _, form in asked]
        rows = self.rows = cells.places.shape[2]
        places = {"numbers": 0, "truths": 0, "texts": 0}
        jobs, gathered = [], []
        for column, form in asked:
            kind = "truths" if form.kind == TRUTH else "numbers" if form.kind in {WHOLE, DECIMAL} else "texts"
            jobs.append((form.kind, form.scale, form.has_texts, column, places[kind]))
            places[kind] += 2 if form.kind == DECIMAL else 1
            if kind == "texts":
                gathered.append(column)
        self.jobs = np.array(jobs, np.int64).reshape(-1, 5)
        self.masks = np.empty((2, len(asked), rows), np.bool_)
        self.numbers = np.empty(places["numbers"] * rows, np.int64)
        self.truths = np.empty(places["truths"] * rows, np.bool_)
        self.offsets = np.empty((places["texts"], rows + 1), np.int32)
        self.offsets[:, 0] = 0
        starts, stops = cells.places.sum(axis=2)
        # What is copied a vector at a time may reach so far behind its end.
        sizes = (stops - starts)[gathered] + PADDING
        self.begins = np.cumsum(sizes) - sizes
        self.target = np.empty(int(sizes.sum()), np.uint8)

    def taken(self) -> list[Taken]:
        """Read the values."""
        text = self.cells.text
        addresses = np.array([text.ctypes.data, *(self.begins + self.target.ctypes.data)], np.int64)
        self.machine.allow_text(text, self.target)
        lefts = self.machine.read_columns(
            addresses,
            self.cells.places,
            self.jobs,
            self.offsets,
            self.numbers,
            self.truths,
            self.masks,
            np.zeros(1, np.int64),
        )
        present, left = self.masks
        is_whole: list[bool] = [bool(one.all()) for one in present]
        is_left: list[bool] = [bool(lefts) and bool(one.any()) for one in left]
        masks = np.packbits(present, axis=1, bitorder="little")
        found = []
        for job, (form, slot) in enumerate(zip(self.forms, self.jobs[:, 4].tolist(), strict=True)):
            buffers = [None if is_whole[job] else _buffer(masks[job]), *self._buffers(form.kind, slot)]
            array: Array = pa.Array.from_buffers(form.type, self.rows, buffers)
            found.append(Taken(array, left[job] if is_left[job] else None))
        return found

    def _buffers(self, kind: int, slot: int) -> list[pa.Buffer]:
        first, rows = slot * self.rows, self.rows
        if kind in {WHOLE, DECIMAL}:
            return [_buffer(self.numbers[first : first + (2 if kind == DECIMAL else 1) * rows])]
        if kind == TRUTH:
            return [_buffer(np.packbits(self.truths[first : first + rows], bitorder="little"))]
        begin, size = int(self.begins[slot]), int(self.offsets[slot, -1])
        return [_buffer(self.offsets[slot]), _buffer(self.target[begin : begin + size])]


def _buffer(array: Any) -> pa.Buffer:
    return pa.py_buffer(array)
