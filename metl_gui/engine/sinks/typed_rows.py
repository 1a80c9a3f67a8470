"""Messages of one entity version as a table, and which of them do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from metl_gui.engine.kernel.message_fields import AlikeMessages, Places
from metl_gui.engine.kernel.message_layout import Layout, Nested, tree_of
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import EntityPlan
from metl_gui.engine.sinks import readers
from metl_gui.engine.sinks.cells import Taken
from metl_gui.engine.sinks.column_code import MACHINE
from metl_gui.engine.sinks.columns import TypedColumn, column, digits_column
from metl_gui.engine.sinks.local_times import LocalTimeError
from metl_gui.engine.sinks.message_columns import NAMED, MessageColumns
from metl_gui.engine.sinks.readers import Reader, joined
from metl_gui.engine.sinks.sink import RejectedRecord
from metl_gui.formats.json_text import NULL

Array: TypeAlias = "pa.Array[Any]"
_SHOWN = 200
_MISFITS = (ValueError, OverflowError)
"""What readers raise; msgspec's and Arrow's own errors of values are among them."""

PATHS = pa.list_(pa.string())
_SOURCE = ["schema", "version", "position", "origin", "committed_at_ms", "snapshot", "old_key", "publication"]
"""What came later stands behind what was there, so that readers of earlier tables go on."""

_WHOLE = readers.whole_numbers(pa.int64(), pa.int64())
NAMED_COLUMNS = tuple(
    TypedColumn(name, pa.null(), wants, read, {})
    for name, wants, read in (
        ("key", "any JSON", readers.json_texts),
        ("ts_ms", "whole numbers of 64 bits", _WHOLE),
        ("source.position", "text", readers.texts),
        ("source.origin", "any JSON", readers.json_texts),
        ("source.committed_at_ms", "whole numbers of 64 bits", _WHOLE),
        ("source.snapshot", "true and false", readers.truths),
        ("source.old_key", "any JSON", readers.json_texts),
    )
)
"""How the columns of ``message_columns.NAMED`` are read."""


class ReadMessages(NamedTuple):
    """Messages of one entity version, read.

    Args:
        found: where their values stand.
        numbers: which message of the batch each is.
        named: what ``message_columns.NAMED`` lists.
        leaves: the columns of the payload.
        digits: numbers as they were written, null where their columns say the same.
        refused: why some of them do not fit; these are in it without the values that do not.
    """

    found: MessageColumns
    numbers: Places
    named: list[Array]
    leaves: list[Array]
    digits: list[Array]
    refused: dict[int, RejectedRecord]


class _Part(NamedTuple):
    """Values of one column that one reader reads.

    Args:
        wanted: the column.
        number: of the column in the messages.
        read: the reader.
        rows: which messages; ``None`` for all.
    """

    wanted: TypedColumn
    number: int
    read: Reader
    rows: Places | None = None


class TypedRows:
    """Makes tables of the messages of one entity version.

    Args:
        plan: its columns.
        columns: how they are stored; as typed columns where nothing else is said.
        named: how what ``message_columns.NAMED`` lists is read.
    """

    def __init__(
        self,
        plan: EntityPlan,
        columns: Sequence[TypedColumn] | None = None,
        named: Sequence[TypedColumn] = NAMED_COLUMNS,
    ) -> None:
        self.plan = plan
        self.columns = [column(one, plan.sources) for one in plan.columns] if columns is None else columns
        self.named = named
        self.paths = [one.path for one in self.columns]
        asked = zip(plan.columns, self.columns, strict=True) if columns is None else ()
        digits = ((at, digits_column(one, kept.type, plan.sources)) for at, (one, kept) in enumerate(asked))
        self.digits = {at: wanted for at, wanted in digits if wanted is not None}
        self.tree = tree_of(self.paths)
        self.digits_tree = tree_of([one.path for one in self.digits.values()])

    def table(
        self, batch: MappedBatch, alike: Sequence[AlikeMessages]
    ) -> tuple[pa.Table, Places, dict[int, RejectedRecord]]:
        """Read messages into a table; those that do not fit are in it without the values that do not.

        Args:
            batch: all messages.
            alike: some of them, by layout.

        Returns:
            The table, which message of the batch each row is, and why which rows do not fit.
        """
        found, numbers, named, leaves, digits, refused = self.read(batch, alike)
        key, ts_ms, position, origin, committed, snapshot, old_key = named
        made: dict[str, Array] = {
            "entity": found.shared(lambda layout: layout.kind.entity, pa.string()),
            "state": found.shared(lambda layout: layout.kind.state, pa.int64()),
            "op": found.shared(lambda layout: layout.kind.op, pa.string()),
            "key": key,
            "ts_ms": ts_ms,
        }
        schema = found.shared(lambda layout: layout.kind.schema, pa.string())
        version = found.shared(lambda layout: layout.kind.version, pa.string())
        publication = found.shared(lambda layout: layout.kind.publication, pa.int64())
        parts = [schema, version, position, origin, committed, snapshot, old_key, publication]
        made["source"] = pa.StructArray.from_arrays(parts, _SOURCE)
        if leaves:
            made["payload"] = _struct(self.tree, leaves)
        made["unchanged"] = found.shared(lambda layout: list(layout.paths.unchanged), PATHS)
        made["replayed"] = found.shared(lambda layout: layout.kind.is_replay, pa.bool_())
        # What came later stands behind what was there.
        made["absent"] = found.shared(self._absent, PATHS)
        if digits:
            made["digits"] = _struct(self.digits_tree, digits)
        return pa.table(made), numbers, refused

    def _absent(self, layout: Layout) -> list[str]:
        return [path for path in self.paths if path not in layout.paths.payload]

    def read(self, batch: MappedBatch, alike: Sequence[AlikeMessages]) -> ReadMessages:
        """Read messages into columns.

        Args:
            batch: all messages.
            alike: some of them, by layout.
        """
        found, numbers = MessageColumns.of(batch, alike, self.paths)
        leaves = [_parts(wanted, found, at) for at, wanted in enumerate(self.columns, len(NAMED))]
        digits = [_parts(wanted, found, len(NAMED) + at) for at, wanted in self.digits.items()]
        named = [[_Part(wanted, at, wanted.read)] for at, wanted in enumerate(self.named)]
        parts = [part for some in (*leaves, *digits, *named) for part in some]
        reading = _ColumnReading(self.plan, found, MACHINE.after(len(numbers)), parts)
        refused: dict[int, RejectedRecord] = {}
        return ReadMessages(
            found=found,
            numbers=numbers,
            leaves=[reading.column(some, refused) for some in leaves],
            named=[reading.column(some, refused) for some in named],
            # What of these fits no number is refused already.
            digits=[reading.column(some, {}) for some in digits],
            refused=refused,
        )


def _parts(wanted: TypedColumn, found: MessageColumns, number: int) -> list[_Part]:
    """Return the values of a column of the payload, those of each source as that source declares them."""
    by_read: dict[Reader, list[int]] = {}
    for at, layout in enumerate(found.layouts):
        read = wanted.by_source.get((layout.kind.schema, layout.kind.version or ""), wanted.read)
        by_read.setdefault(read, []).append(at)
    if len(by_read) == 1:
        return [_Part(wanted, number, read) for read in by_read]
    return [
        _Part(wanted, number, read, np.flatnonzero(np.isin(found.which, layouts))) for read, layouts in by_read.items()
    ]


class _ColumnReading:
    """Reads columns of messages; the common values of those that one reader reads in one pass over the messages.

    Args:
        plan: of the messages.
        found: the messages.
        machine: the module ``column_values``; ``None`` where there is none.
        parts: of all columns.
    """

    def __init__(
        self, plan: EntityPlan, found: MessageColumns, machine: ModuleType | None, parts: Sequence[_Part]
    ) -> None:
        self.plan = plan
        self.found = found
        self.machine = machine
        self._taken: dict[tuple[int, Reader], Taken] = {}
        if machine is not None:
            asked = {
                (part.number, part.read): (part.number, part.read.form)
                for part in parts
                if part.rows is None and part.read.form is not None
            }
            self._taken = dict(zip(asked, found.cells.taken(machine, list(asked.values())), strict=True))

    def column(self, parts: Sequence[_Part], refused: dict[int, RejectedRecord]) -> Array:
        """Return a column; why values do not fit is added to ``refused`` by message."""
        arrays = [self._read(part, refused) for part in parts]
        type_ = parts[0].wanted.type
        if type_ != pa.null():
            arrays = [array if array.type == type_ else array.cast(type_) for array in arrays]
        if len(parts) == 1:
            return arrays[0]
        order = [part.rows for part in parts if part.rows is not None]
        return pa.concat_arrays(arrays).take(np.argsort(np.concatenate(order)))

    def _read(self, part: _Part, refused: dict[int, RejectedRecord]) -> Array:
        """Return the common values, with those that are left read as an array of JSON."""
        taken = self._common(part)
        if taken is None:
            return self._read_all(part, self._rows(part), refused)
        if taken.left is None:
            return taken.array
        rows = self._rows(part)
        at_left = np.flatnonzero(taken.left)
        others = self._read_all(part, rows[at_left], refused)
        places = np.arange(len(rows))
        places[at_left] = len(rows) + np.arange(len(at_left))
        return pa.concat_arrays([taken.array, others.cast(taken.array.type)]).take(places)

    def _rows(self, part: _Part) -> Places:
        return np.arange(len(self.found.which)) if part.rows is None else part.rows

    def _common(self, part: _Part) -> Taken | None:
        """Return the common values; nothing where one of them does not fit, which is then found out one by one."""
        if part.read.form is None or self.machine is None:
            return None
        if part.rows is None:
            found = self._taken[part.number, part.read]
        else:
            (found,) = self.found.cells.of(part.number, part.rows).taken(self.machine, [(0, part.read.form)])
        try:
            return Taken(part.read.common(found.array), found.left)
        except _MISFITS:
            return None

    def _read_all(self, part: _Part, rows: Places, refused: dict[int, RejectedRecord]) -> Array:
        """Read values one by one; those that do not fit become null."""
        array, misfits = read_each(part.read, self.found.cells.values(part.number, rows))
        for misfit in misfits:
            row = int(rows[misfit.at])
            if row not in refused:
                refused[row] = RejectedRecord(*self.found.source(row), refusal(self.plan, part.wanted, misfit))
        return array


class Misfit(NamedTuple):
    """A value that its column does not take.

    Args:
        at: its place among the values.
        value: the value.
        error: why.
    """

    at: int
    value: bytes
    error: Exception


def read_each(read: Reader, values: list[bytes]) -> tuple[Array, list[Misfit]]:
    """Read values; those that do not fit become null.

    Args:
        read: the reader.
        values: JSON values; those that do not fit are replaced in it.

    Returns:
        The array, and what does not fit.
    """
    try:
        return read(joined(values)), []
    except _MISFITS:
        found = [Misfit(at, bytes(values[at]), error) for at, error in _misfits(read, values, 0, len(values))]
        for misfit in found:
            values[misfit.at] = NULL
        return read(joined(values)), found


def refusal(plan: EntityPlan, wanted: TypedColumn, misfit: Misfit) -> str:
    """Say which attribute takes what, and which value it does not take."""
    shown = misfit.value[: _SHOWN + 1].decode(errors="replace")
    shown = f"{shown[:_SHOWN]}..." if len(shown) > _SHOWN else shown
    detail = f"{plan.entity}@{plan.version} {wanted.path} takes {wanted.wants}, and not {shown}"
    return f"{detail}: {misfit.error}" if isinstance(misfit.error, LocalTimeError) else detail


def _misfits(read: Reader, values: list[bytes], start: int, stop: int) -> Iterator[tuple[int, Exception]]:
    """Find the values that do not fit, and why, by halving; where few do not, few are read again."""
    try:
        read(joined(values[start:stop]))
    except _MISFITS as error:
        if stop - start == 1:
            yield start, error
            return
        middle = (start + stop) // 2
        yield from _misfits(read, values, start, middle)
        yield from _misfits(read, values, middle, stop)


def _struct(tree: Nested, leaves: Sequence[Array]) -> Array:
    arrays = [leaves[below] if isinstance(below, int) else _struct(below, leaves) for below in tree.values()]
    return pa.StructArray.from_arrays(arrays, list(tree))
