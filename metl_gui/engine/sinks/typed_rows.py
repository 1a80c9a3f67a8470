"""Messages of one entity version as a table, and which of them do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace
from numpy.typing import NDArray

from metl_gui.engine.kernel.message_fields import AlikeMessages, Places
from metl_gui.engine.kernel.message_layout import Layout, Nested, tree_of
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import EntityPlan
from metl_gui.engine.sinks import readers
from metl_gui.engine.sinks.cells import Cells
from metl_gui.engine.sinks.columns import BARE_DIGITS, TypedColumn, column, digits_column
from metl_gui.engine.sinks.decimal_texts import decimal_texts
from metl_gui.engine.sinks.local_times import LocalTimeError
from metl_gui.engine.sinks.machine_code import MACHINE
from metl_gui.engine.sinks.message_columns import NAMED, MessageColumns
from metl_gui.engine.sinks.readers import Reader, joined
from metl_gui.engine.sinks.sink import RejectedRecord
from metl_gui.formats.json_text import NULL

Array: TypeAlias = "pa.Array[Any]"
_SHOWN = 200
_QUOTE = ord('"')
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
        refused: why some of them do not fit; these are in it without the values that do not.
    """

    found: MessageColumns
    numbers: Places
    named: list[Array]
    leaves: list[Array]
    refused: dict[int, RejectedRecord]


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
        found, numbers, named, leaves, refused = self.read(batch, alike)
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
        if self.digits:
            made["digits"] = _struct(tree_of([one.path for one in self.digits.values()]), self._digits(found, leaves))
        return pa.table(made), numbers, refused

    def _absent(self, layout: Layout) -> list[str]:
        return [path for path in self.paths if path not in layout.paths.payload]

    def _digits(self, found: MessageColumns, leaves: Sequence[Array]) -> list[Array]:
        """Read numbers as they were written, null where their columns say the same."""
        stops = found.stops.copy()
        for at, wanted in self.digits.items():
            row = at + len(NAMED)
            is_bare = np.array([_reader_for(wanted, layout) is BARE_DIGITS for layout in found.layouts])
            starts = found.starts[row]
            is_text = is_bare[found.which] & (found.text[starts] == _QUOTE)
            stops[row, is_text] = starts[is_text]
        bare = replace(found, stops=stops)
        made = []
        for at, wanted in self.digits.items():
            # What fits no number is refused already.
            texts = self._leaf(wanted, bare, at + len(NAMED), {})
            if isinstance(leaves[at].type, pa.Decimal128Type) and texts.null_count < len(texts):
                texts = _other_texts(texts, leaves[at])
            made.append(texts)
        return made

    def read(self, batch: MappedBatch, alike: Sequence[AlikeMessages]) -> ReadMessages:
        """Read messages into columns.

        Args:
            batch: all messages.
            alike: some of them, by layout.
        """
        machine = MACHINE.after(sum(len(one.rows) for one in alike))
        found, numbers = MessageColumns.of(machine, batch, alike, self.paths)
        refused: dict[int, RejectedRecord] = {}
        leaves = [self._leaf(one, found, at, refused) for at, one in enumerate(self.columns, len(NAMED))]
        named = [self._read(one, one.read, found, at, None, refused) for at, one in enumerate(self.named)]
        return ReadMessages(found, numbers, named, leaves, refused)

    def _leaf(
        self, wanted: TypedColumn, found: MessageColumns, number: int, refused: dict[int, RejectedRecord]
    ) -> Array:
        """Read a column of the payload, the values of each source as that source declares them."""
        by_read: dict[Reader, list[int]] = {}
        for at, layout in enumerate(found.layouts):
            by_read.setdefault(_reader_for(wanted, layout), []).append(at)
        if len(by_read) == 1:
            array = self._read(wanted, next(iter(by_read)), found, number, None, refused)
            return array if array.type == wanted.type else array.cast(wanted.type)
        order = [np.flatnonzero(np.isin(found.which, layouts)) for layouts in by_read.values()]
        arrays = [
            self._read(wanted, read, found, number, rows, refused).cast(wanted.type)
            for read, rows in zip(by_read, order, strict=True)
        ]
        return pa.concat_arrays(arrays).take(np.argsort(np.concatenate(order)))

    def _read(
        self,
        wanted: TypedColumn,
        read: Reader,
        found: MessageColumns,
        number: int,
        rows: Places | None,
        refused: dict[int, RejectedRecord],
    ) -> Array:
        """Read the common values of some rows at once, and those that are left as an array of JSON."""
        cells = found.cells(number)
        if rows is None:
            rows = np.arange(len(cells.starts))
        else:
            cells = cells.of(rows)
        array, left = _common(read, cells)
        if array is not None and left is None:
            return array
        at_left = np.arange(len(rows)) if left is None else np.flatnonzero(left)
        values = cells.of(at_left).values()
        part = self._read_all(wanted, read, values, found, rows[at_left], refused)
        if array is None:
            return part
        places = np.arange(len(array))
        places[at_left] = len(array) + np.arange(len(at_left))
        return pa.concat_arrays([array, part.cast(array.type)]).take(places)

    def _read_all(
        self,
        wanted: TypedColumn,
        read: Reader,
        values: list[bytes],
        found: MessageColumns,
        rows: Places,
        refused: dict[int, RejectedRecord],
    ) -> Array:
        """Read values one by one; those that do not fit become null."""
        array, misfits = read_each(read, values)
        for misfit in misfits:
            row = int(rows[misfit.at])
            if row not in refused:
                refused[row] = RejectedRecord(*found.source(row), refusal(self.plan, wanted, misfit))
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


def _common(read: Reader, cells: Cells) -> tuple[Array | None, NDArray[np.bool_] | None]:
    """Take the common values; nothing where one of them does not fit, which is then found out one by one."""
    if read.common is None or cells.machine is None:
        return None, None
    try:
        return read.common(cells)
    except _MISFITS:
        return None, None


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


def _reader_for(wanted: TypedColumn, layout: Layout) -> Reader:
    """Return how the values of a column are read in messages of a layout."""
    return wanted.by_source.get((layout.kind.schema, layout.kind.version or ""), wanted.read)


def _other_texts(texts: Array, decimals: Array) -> Array:
    """Return the texts of decimals that are not what their column writes."""
    equal: Any = pc.equal
    is_same = equal(texts, decimal_texts(decimals))
    made: Array = pc.if_else(is_same, pa.scalar(None, pa.string()), texts)
    return made


def _struct(tree: Nested, leaves: Sequence[Array]) -> Array:
    arrays = [leaves[below] if isinstance(below, int) else _struct(below, leaves) for below in tree.values()]
    return pa.StructArray.from_arrays(arrays, list(tree))
