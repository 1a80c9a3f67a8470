"""Messages of one entity version as a table, and which of them do not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from msgspec import Raw

from metl_gui.engine.kernel.plan import EntityPlan
from metl_gui.engine.sinks import readers
from metl_gui.engine.sinks.columns import Column, Read, column
from metl_gui.engine.sinks.rows import Rows, joined
from metl_gui.engine.sinks.sink import Refusal

Array: TypeAlias = "pa.Array[Any]"
_NULL = Raw(b"null")
_SHOWN = 200
_MISFITS = (ValueError, OverflowError)
"""What readers raise; msgspec's and Arrow's own errors of values are among them."""

_PLAIN: dict[str, pa.DataType] = {"entity": pa.string(), "state": pa.int64(), "op": pa.string()}
_READ = {"key": readers.json_texts, "ts_ms": readers.whole_numbers(pa.int64(), pa.int64())}


class TypedRows:
    """Makes tables of the messages of one entity version.

    Args:
        plan: its columns.
    """

    def __init__(self, plan: EntityPlan) -> None:
        self.plan = plan
        self.columns = {one.path: column(one, plan.sources) for one in plan.columns}
        self.rows = Rows(list(self.columns))

    def table(self, lines: bytes | memoryview) -> tuple[pa.Table, dict[int, Refusal]]:
        """Read messages into a table; those that do not fit are in it without the values that do not.

        Args:
            lines: the messages.

        Returns:
            The table, and why which rows do not fit.
        """
        messages = self.rows.read(lines)
        refused: dict[int, Refusal] = {}
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
        made["unchanged"] = pa.array([one.unchanged for one in messages], pa.list_(pa.string()))
        made["replayed"] = pa.array([one.replayed for one in messages], pa.bool_())
        return pa.table(made), refused

    def _leaf(self, wanted: Column, messages: Sequence[Any], refused: dict[int, Refusal]) -> Array:
        values = self.rows.values(messages, wanted.path)
        if not wanted.by_source:
            return self._read(wanted, wanted.read, values, messages, refused)
        by_read: dict[Read, list[int]] = {}
        for row, message in enumerate(messages):
            read = wanted.by_source.get((message.source.schema, message.source.version), wanted.read)
            by_read.setdefault(read, []).append(row)
        arrays: list[Array] = []
        order: list[int] = []
        for read, at in by_read.items():
            wrong: dict[int, Refusal] = {}
            part = self._read(wanted, read, [values[row] for row in at], [messages[row] for row in at], wrong)
            for row, refusal in wrong.items():
                refused.setdefault(at[row], refusal)
            arrays.append(part.cast(wanted.type))
            order += at
        return pa.concat_arrays(arrays).take(np.argsort(order))

    def _read(
        self, wanted: Column, read: Read, values: list[Raw], messages: Sequence[Any], refused: dict[int, Refusal]
    ) -> Array:
        try:
            return read(joined(values))
        except _MISFITS:
            for row in _misfits(read, values, 0, len(values)):
                refused.setdefault(row, self._refusal(wanted, values[row], messages[row]))
                values[row] = _NULL
            return read(joined(values))

    def _refusal(self, wanted: Column, value: Raw, message: Any) -> Refusal:
        shown = bytes(value)[: _SHOWN + 1].decode(errors="replace")
        shown = f"{shown[:_SHOWN]}..." if len(shown) > _SHOWN else shown
        place = f"{self.plan.entity}@{self.plan.version}"
        detail = f"{place} {wanted.path} takes {wanted.wants}, and not {shown}"
        source = message.source
        return Refusal(source.schema, source.version or "", source.position, detail)


def _misfits(read: Read, values: list[Raw], start: int, stop: int) -> Iterator[int]:
    """Find the values that do not fit by halving; where few do not, few are read again."""
    try:
        read(joined(values[start:stop]))
    except _MISFITS:
        if stop - start == 1:
            yield start
            return
        middle = (start + stop) // 2
        yield from _misfits(read, values, start, middle)
        yield from _misfits(read, values, middle, stop)


def _source(messages: Sequence[Any]) -> Array:
    sources = [message.source for message in messages]
    texts = [pa.array(list(map(attrgetter(name), sources)), pa.string()) for name in ("schema", "version", "position")]
    origin = readers.json_texts(joined([source.origin for source in sources]))
    return pa.StructArray.from_arrays([*texts, origin], ["schema", "version", "position", "origin"])


def _struct(tree: Any, leaves: dict[str, Array]) -> Array:
    arrays = [_struct(below, leaves) if isinstance(below, dict) else leaves[below] for below in tree.values()]
    return pa.StructArray.from_arrays(arrays, list(tree))
