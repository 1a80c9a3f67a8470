"""Messages of one entity version as a table, and which of them do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import Raw
from numpy.typing import NDArray

from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import EntityPlan
from metl_gui.engine.sinks import patterns as at
from metl_gui.engine.sinks import readers
from metl_gui.engine.sinks.cells import Cells
from metl_gui.engine.sinks.columns import Column, column
from metl_gui.engine.sinks.cut_rows import CutRows, Places, by_source, cut
from metl_gui.engine.sinks.local_times import LocalTimeError
from metl_gui.engine.sinks.machine_code import MACHINE
from metl_gui.engine.sinks.patterns import Patterns
from metl_gui.engine.sinks.readers import Reader
from metl_gui.engine.sinks.rows import Rows, joined
from metl_gui.engine.sinks.sink import RejectedRecord

Array: TypeAlias = "pa.Array[Any]"
_NULL = Raw(b"null")
_SHOWN = 200
_MISFITS = (ValueError, OverflowError)
"""What readers raise; msgspec's and Arrow's own errors of values are among them."""

_PLAIN: dict[str, pa.DataType] = {"entity": pa.string(), "state": pa.int64(), "op": pa.string()}
_READ = {"key": readers.json_texts, "ts_ms": readers.whole_numbers(pa.int64(), pa.int64())}
_UNCHANGED = pa.list_(pa.string())
_SOURCE_TEXTS = ("schema", "version", "position")
_SOURCE_VALUES: dict[str, pa.DataType] = {
    "committed_at_ms": pa.int64(),
    "snapshot": pa.bool_(),
    "publication": pa.int64(),
}
_SOURCE = [*_SOURCE_TEXTS, "origin", "committed_at_ms", "snapshot", "old_key", "publication"]
"""What came later stands behind what was there, so that readers of earlier tables go on."""

_TEXT = Column("", pa.string(), "text", readers.texts, {})
_COMMITTED = Column(
    "source.committed_at_ms", pa.int64(), "whole numbers of 64 bits", readers.whole_numbers(pa.int64(), pa.int64()), {}
)
_paths = msgspec.json.Decoder(list[list[str] | None]).decode


class TypedRows:
    """Makes tables of the messages of one entity version.

    Args:
        plan: its columns.
    """

    def __init__(self, plan: EntityPlan) -> None:
        self.plan = plan
        self.columns = {one.path: column(one, plan.sources) for one in plan.columns}
        self.rows = Rows(list(self.columns))
        self.patterns = Patterns(self.rows.tree, {path: number for number, path in enumerate(self.columns)})

    def table(self, outcome: MappedBatch, numbers: Places) -> tuple[pa.Table, dict[int, RejectedRecord]]:
        """Read messages into a table; those that do not fit are in it without the values that do not.

        Args:
            outcome: the batch.
            numbers: which messages of it.

        Returns:
            The table, and why which rows do not fit.
        """
        machine = MACHINE.after(len(numbers))
        if machine is not None:
            starts, stops = outcome.starts[numbers], outcome.stops[numbers]
            cut_rows = cut(machine, self.patterns, self.rows, outcome.text, starts, stops)
            if cut_rows is not None:
                return self._of_cut(cut_rows)
        return self._of_lines(outcome.text if len(numbers) == len(outcome) else _lines(outcome, numbers))

    def _of_lines(self, lines: bytes | memoryview) -> tuple[pa.Table, dict[int, RejectedRecord]]:
        messages = self.rows.read(lines)
        refused: dict[int, RejectedRecord] = {}
        leaves = {path: self._leaf(one, messages, refused) for path, one in self.columns.items()}
        made: dict[str, Array] = {
            name: pa.array(list(map(attrgetter(name), messages)), type_) for name, type_ in _PLAIN.items()
        }
        for name, read in _READ.items():
            wanted = Column(name, pa.null(), "whole numbers of 64 bits", read, {})
            made[name] = self._read(wanted, read, list(map(attrgetter(name), messages)), messages, refused)
        made["source"] = _source(messages)
        if leaves:
            made["payload"] = _struct(self.rows.tree, leaves)
        made["unchanged"] = pa.array([one.unchanged for one in messages], _UNCHANGED)
        made["replayed"] = pa.array([one.replayed for one in messages], pa.bool_())
        return pa.table(made), refused

    def _of_cut(self, found: CutRows) -> tuple[pa.Table, dict[int, RejectedRecord]]:
        """Make the same table of values that machine code has cut out."""
        refused: dict[int, RejectedRecord] = {}
        op, schema, version, position = (
            self._read_cells(_TEXT, readers.texts, found.cells(number), found.messages, refused)
            for number in (at.OP, at.SCHEMA, at.VERSION, at.POSITION)
        )
        sources = list(by_source(schema, version))
        leaves = {
            path: self._cut_leaf(one, found, number, sources, refused)
            for number, (path, one) in enumerate(self.columns.items(), at.FIRST_LEAF)
        }
        made: dict[str, Array] = {name: found.of_pattern(name, _PLAIN[name]) for name in ("entity", "state")}
        made["op"] = op
        for (name, read), number in zip(_READ.items(), (at.KEY, at.TS_MS), strict=True):
            wanted = Column(name, pa.null(), "whole numbers of 64 bits", read, {})
            made[name] = self._read_cells(wanted, read, found.cells(number), found.messages, refused)
        origin, old_key = (found.cells(number).json().array for number in (at.ORIGIN, at.OLD_KEY))
        committed = self._read_cells(
            _COMMITTED, _COMMITTED.read, found.cells(at.COMMITTED_AT_MS), found.messages, refused
        )
        snapshot, publication = (found.of_pattern(name, _SOURCE_VALUES[name]) for name in ("snapshot", "publication"))
        parts = [schema, version, position, origin, committed, snapshot, old_key, publication]
        made["source"] = pa.StructArray.from_arrays(parts, _SOURCE)
        if leaves:
            made["payload"] = _struct(self.rows.tree, leaves)
        made["unchanged"] = _lists(found.cells(at.UNCHANGED))
        made["replayed"] = found.of_pattern("is_replayed", pa.bool_())
        return pa.table(made), refused

    def _cut_leaf(
        self,
        wanted: Column,
        found: CutRows,
        number: int,
        sources: Sequence[tuple[tuple[str, str], Places]],
        refused: dict[int, RejectedRecord],
    ) -> Array:
        cells = found.cells(number)
        if not wanted.by_source:
            return self._read_cells(wanted, wanted.read, cells, found.messages, refused)
        by_read: dict[Reader, list[Places]] = {}
        for source, rows in sources:
            by_read.setdefault(wanted.by_source.get(source, wanted.read), []).append(rows)
        arrays: list[Array] = []
        order = [np.sort(np.concatenate(parts)) for parts in by_read.values()]
        for read, rows in zip(by_read, order, strict=True):
            wrong: dict[int, RejectedRecord] = {}
            messages = _Some(found.messages, rows)
            arrays.append(self._read_cells(wanted, read, cells.of(rows), messages, wrong).cast(wanted.type))
            for row, refusal in wrong.items():
                refused.setdefault(int(rows[row]), refusal)
        return pa.concat_arrays(arrays).take(np.argsort(np.concatenate(order)))

    def _read_cells(
        self, wanted: Column, read: Reader, cells: Cells, messages: Sequence[Any], refused: dict[int, RejectedRecord]
    ) -> Array:
        """Read the common values at once, and those that are left as an array of JSON."""
        array, left = _common(read, cells)
        if array is not None and left is None:
            return array
        rows = np.arange(len(cells.starts)) if left is None else np.flatnonzero(left)
        wrong: dict[int, RejectedRecord] = {}
        part = self._read(wanted, read, cells.of(rows).values(), _Some(messages, rows), wrong)
        for row, refusal in wrong.items():
            refused.setdefault(int(rows[row]), refusal)
        if array is None:
            return part
        places = np.arange(len(array))
        places[rows] = len(array) + np.arange(len(rows))
        return pa.concat_arrays([array, part]).take(places)

    def _leaf(self, wanted: Column, messages: Sequence[Any], refused: dict[int, RejectedRecord]) -> Array:
        values = self.rows.values(messages, wanted.path)
        if not wanted.by_source:
            return self._read(wanted, wanted.read, values, messages, refused)
        by_read: dict[Reader, list[int]] = {}
        for row, message in enumerate(messages):
            read = wanted.by_source.get((message.source.schema, message.source.version), wanted.read)
            by_read.setdefault(read, []).append(row)
        arrays: list[Array] = []
        order: list[int] = []
        for read, rows in by_read.items():
            wrong: dict[int, RejectedRecord] = {}
            part = self._read(wanted, read, [values[row] for row in rows], [messages[row] for row in rows], wrong)
            for row, refusal in wrong.items():
                refused.setdefault(rows[row], refusal)
            arrays.append(part.cast(wanted.type))
            order += rows
        return pa.concat_arrays(arrays).take(np.argsort(order))

    def _read(
        self,
        wanted: Column,
        read: Reader,
        values: list[Any],
        messages: Sequence[Any],
        refused: dict[int, RejectedRecord],
    ) -> Array:
        try:
            return read(joined(values))
        except _MISFITS:
            for row, error in _misfits(read, values, 0, len(values)):
                refused.setdefault(row, self._refusal(wanted, values[row], messages[row], error))
                values[row] = _NULL
            return read(joined(values))

    def _refusal(self, wanted: Column, value: Raw, message: Any, error: Exception) -> RejectedRecord:
        shown = bytes(value)[: _SHOWN + 1].decode(errors="replace")
        shown = f"{shown[:_SHOWN]}..." if len(shown) > _SHOWN else shown
        place = f"{self.plan.entity}@{self.plan.version}"
        detail = f"{place} {wanted.path} takes {wanted.wants}, and not {shown}"
        if isinstance(error, LocalTimeError):
            detail = f"{detail}: {error}"
        source = message.source
        return RejectedRecord(source.schema, source.version or "", source.position, detail)


class _Some(Sequence[Any]):
    """Some messages of others, looked at only when one is asked for."""

    def __init__(self, messages: Sequence[Any], rows: Places) -> None:
        self._messages, self._rows = messages, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, row: Any) -> Any:
        return self._messages[int(self._rows[row])]


def _common(read: Reader, cells: Cells) -> tuple[Array | None, NDArray[np.bool_] | None]:
    """Take the common values; nothing where one of them does not fit, which is then found out one by one."""
    if read.common is None:
        return None, None
    try:
        return read.common(cells)
    except _MISFITS:
        return None, None


def _lines(outcome: MappedBatch, numbers: Places) -> bytes:
    """Return some messages, each with its line feed."""
    text = outcome.text
    ends = zip(outcome.starts[numbers].tolist(), (outcome.stops[numbers] + 1).tolist(), strict=True)
    return b"".join([text[start:end] for start, end in ends])


def _lists(cells: Cells) -> Array:
    """Read lists of paths, which few messages have."""
    if not cells.stops.any():
        return pa.array([[]], _UNCHANGED).take(np.zeros(len(cells.stops), np.int64))
    return pa.array([one or [] for one in _paths(joined(cells.values()))], _UNCHANGED)


def _misfits(read: Reader, values: list[Any], start: int, stop: int) -> Iterator[tuple[int, Exception]]:
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


def _source(messages: Sequence[Any]) -> Array:
    sources = [message.source for message in messages]
    types = dict.fromkeys(_SOURCE_TEXTS, pa.string()) | _SOURCE_VALUES
    parts: dict[str, Array] = {
        name: pa.array(list(map(attrgetter(name), sources)), type_) for name, type_ in types.items()
    }
    for name in ("origin", "old_key"):
        parts[name] = readers.json_texts(joined(list(map(attrgetter(name), sources))))
    return pa.StructArray.from_arrays([parts[name] for name in _SOURCE], _SOURCE)


def _struct(tree: Any, leaves: dict[str, Array]) -> Array:
    arrays = [_struct(below, leaves) if isinstance(below, dict) else leaves[below] for below in tree.values()]
    return pa.StructArray.from_arrays(arrays, list(tree))
