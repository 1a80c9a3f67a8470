"""Values of one column as places in the text of a batch, and the common ones of them as arrays.

What is taken here is taken exactly as ``readers`` would; everything else is marked as left and goes to them.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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


class Cells(Value):
    """Values of one column.

    Args:
        machine: the module ``column_values``; ``None`` where there is none, and nothing is taken.
        text: the batch.
        starts, stops: of each value; one that is missing has length 0.
    """

    machine: ModuleType | None
    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]

    def of(self, rows: NDArray[np.int64]) -> Cells:
        """Return the values of some rows."""
        return Cells(self.machine, self.text, self.starts[rows], self.stops[rows])

    def values(self) -> list[bytes]:
        """Return the values one by one."""
        text = self.text.data
        ends = zip(self.starts.tolist(), self.stops.tolist(), strict=True)
        return [bytes(text[start:stop]) or b"null" for start, stop in ends]

    def json(self) -> Taken:
        """Return values as they stand."""
        return self._gathered(self._code.JSON)

    def texts(self) -> Taken:
        """Return texts without escapes."""
        return self._gathered(self._code.TEXT)

    def digits(self) -> Taken:
        """Return numbers as they are written."""
        return self._gathered(self._code.DIGITS)

    def fractions(self) -> Taken:
        """Return numbers as they are written that binary floating point of 64 bits surely holds."""
        return self._gathered(self._code.DOUBLE)

    def short_fractions(self) -> Taken:
        """Return numbers as they are written that binary floating point of 32 bits surely holds."""
        return self._gathered(self._code.FLOAT)

    def _gathered(self, form: int) -> Taken:
        rows = len(self.starts)
        room = int((self.stops - self.starts).sum())
        offsets, target = np.empty(rows + 1, np.int32), self._code.room_for(room)
        self._code.allow_text(self.text, target)
        present, left = self._masks()
        lefts = self._code.gather(self.text, self.starts, self.stops, form, target, offsets, present, left)
        buffers = [_mask(present), _buffer(offsets), _buffer(target)]
        found: Array = pa.Array.from_buffers(pa.string(), rows, buffers)
        return Taken(found, left if lefts else None)

    def whole(self) -> Taken:
        """Return whole numbers of 64 bits."""
        values = np.zeros(len(self.starts), np.int64)
        present, left = self._masks()
        self._code.allow_text(self.text, values)
        lefts = self._code.read_whole(self.text, self.starts, self.stops, values, present, left)
        return Taken(pa.array(values, pa.int64(), mask=~present), left if lefts else None)

    def truths(self) -> Taken:
        """Return true and false."""
        values = np.zeros(len(self.starts), np.bool_)
        present, left = self._masks()
        lefts = self._code.read_truths(self.text, self.starts, self.stops, values, present, left)
        return Taken(pa.array(values, pa.bool_(), mask=~present), left if lefts else None)

    def decimals(self, type_: pa.Decimal128Type[Any, Any], *, takes_bytes: bool) -> Taken:
        """Return decimals.

        Args:
            type_: of the column.
            takes_bytes: texts are bytes in base64 that count in the scale of the column.
        """
        values = np.zeros((len(self.starts), 2), np.int64)
        present, left = self._masks()
        lefts = self._code.read_decimals(
            self.text, self.starts, self.stops, type_.scale, takes_bytes, values, present, left
        )
        found: Array = pa.Array.from_buffers(type_, len(values), [_mask(present), _buffer(values)])
        return Taken(found, left if lefts else None)

    @property
    def _code(self) -> ModuleType:
        if self.machine is None:
            raise ValueError("no machine code takes values here")
        return self.machine

    def _masks(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        return np.zeros(len(self.starts), np.bool_), np.zeros(len(self.starts), np.bool_)


def _mask(present: NDArray[np.bool_]) -> pa.Buffer | None:
    return None if present.all() else _buffer(np.packbits(present, bitorder="little"))


def _buffer(array: Any) -> pa.Buffer:
    return pa.py_buffer(array)
