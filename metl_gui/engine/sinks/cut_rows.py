"""Messages of one entity version cut into values by machine code, while they fit patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.sinks import patterns as at
from metl_gui.engine.sinks.cells import Cells
from metl_gui.engine.sinks.machine_code import MACHINE
from metl_gui.engine.sinks.patterns import Patterns
from metl_gui.engine.sinks.rows import Rows

Array: TypeAlias = "pa.Array[Any]"
Places: TypeAlias = "NDArray[np.int64]"
_MOST_BYTES = 1 << 31
"""Arrow counts the bytes of texts in 32 bits."""


@dataclass(frozen=True, slots=True)
class CutRows:
    """The values of some messages.

    Args:
        machine: the module ``cutting``.
        text: the batch.
        starts, stops: of values, by column and row.
        fixed: what each message says alike with all of its pattern.
        which: the pattern of each message.
        messages: the messages, taken apart one by one when asked for.
    """

    machine: ModuleType
    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    fixed: Sequence[at.Fixed]
    which: Places
    messages: Sequence[Any]

    def cells(self, column: int) -> Cells:
        """Return the values of a column."""
        return Cells(self.machine, self.text, self.starts[column], self.stops[column])

    def of_pattern(self, name: str, type_: pa.DataType) -> Array:
        """Return a member that all messages of a pattern share."""
        found: Array = pa.array([getattr(one, name) for one in self.fixed], type_)
        return found.take(self.which)


def cut(
    machine: ModuleType, patterns: Patterns, rows: Rows, text: memoryview, starts: Places, stops: Places
) -> CutRows | None:
    """Cut messages into values; ``None`` where one of them fits no pattern and none can be made of it.

    Args:
        machine: the module ``cutting``.
        patterns: of their entity version; grow.
        rows: takes the messages apart that somebody asks for.
        text, starts, stops: the messages.
    """
    if len(text) >= _MOST_BYTES:
        return None
    letters = frozen(text)
    columns = at.FIRST_LEAF + len(rows.paths)
    values = np.zeros((2, columns, len(starts)), np.int64)
    which = np.zeros(len(starts), np.int64)
    while True:
        unfit = 0
        if patterns.fixed:
            learned = patterns.text, patterns.ends, patterns.firsts, patterns.columns
            unfit = machine.cut(letters, starts, stops, *map(frozen, learned), values[0], values[1], which)
        if unfit < 0:
            messages = _Messages(rows, text, starts, stops)
            return CutRows(machine, letters, values[0], values[1], patterns.fixed, which, messages)
        if not patterns.learn(bytes(text[starts[unfit] : stops[unfit]])):
            return None
        # What was noted of rows may stand in columns that another pattern does not fill.
        values[:] = 0


def begin_with(outcome: MappedBatch, numbers: Places, head: bytes) -> NDArray[np.bool_]:
    """Say which of some messages of a batch begin with a text."""
    starts, stops = outcome.starts[numbers], outcome.stops[numbers]
    machine = MACHINE.after(0)
    if machine is not None:
        found: NDArray[np.bool_] = machine.begin_with(frozen(outcome.text), starts, stops, frozen(memoryview(head)))
        return found
    letters = np.frombuffer(outcome.text, np.uint8)
    at_each = starts[:, None] + np.arange(len(head))
    begins = letters[np.minimum(at_each, len(letters) - 1)]
    is_same: NDArray[np.bool_] = begins == np.frombuffer(head, np.uint8)
    return np.asarray(is_same.all(axis=1))


def frozen(what: Any) -> Any:
    """Return an array that cannot be written to: machine code is made for one kind of arrays only."""
    found = np.frombuffer(what, np.uint8) if isinstance(what, memoryview) else what.view()
    found.flags.writeable = False
    return found


class _Messages(Sequence[Any]):
    def __init__(self, rows: Rows, text: memoryview, starts: Places, stops: Places) -> None:
        self._rows, self._text, self._starts, self._stops = rows, text, starts, stops

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, row: Any) -> Any:
        return self._rows.read(self._text[self._starts[row] : self._stops[row]])[0]


def by_source(schemas: Array, versions: Array) -> Iterator[tuple[tuple[str, str], Places]]:
    """Yield the schema and version of each source, and the rows that have it.

    Args:
        schemas, versions: texts; null is as good as an empty version, which none has.
    """
    schema, version = _numbered(schemas), _numbered(versions)
    codes = schema.numbers * len(version.names) + version.numbers
    for code in np.unique(codes).tolist():
        at_schema, at_version = divmod(code, len(version.names))
        yield (schema.names[at_schema], version.names[at_version]), np.flatnonzero(codes == code)


class _Numbered(NamedTuple):
    names: list[str]
    numbers: Places


def _numbered(texts: Array) -> _Numbered:
    found: Any = texts.fill_null("").dictionary_encode()
    return _Numbered(found.dictionary.to_pylist(), found.indices.to_numpy().astype(np.int64))
