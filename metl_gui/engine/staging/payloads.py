"""Payloads of messages as columns of a history, and what each of them does not carry.

A payload is read at once into an object with a member for each attribute, whose values stay unread; then the values of
an attribute are read as a column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from operator import attrgetter, is_not
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import Raw
from numpy.typing import NDArray

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.engine.kernel.message_layout import Nested, tree_of
from metl_gui.engine.kernel.message_records import distinct
from metl_gui.engine.kernel.plan import EntityPlan
from metl_gui.engine.sinks.columns import TypedColumn
from metl_gui.engine.sinks.readers import Reader
from metl_gui.engine.sinks.typed_rows import Misfit, read_each, refusal
from metl_gui.engine.staging.columns import history_columns
from metl_gui.engine.staging.rows import ABSENT, absent_columns
from metl_gui.formats.json_text import NULL

Array: TypeAlias = "pa.Array[Any]"
_MISSING = Raw(NULL)
"""Stands for a member that a payload does not have."""

_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class Payloads(NamedTuple):
    """The payloads of messages.

    Args:
        texts: objects of JSON.
        unchanged: paths that keep the value that they had.
        sources: schema and version that each message is from.
    """

    texts: Sequence[Raw]
    unchanged: Sequence[Sequence[str]]
    sources: Sequence[tuple[str, str]]

    def chosen(self, rows: Sequence[int]) -> Payloads:
        """Return some of them."""
        if len(rows) == len(self.texts):
            return self
        texts, unchanged, sources = self
        return Payloads([texts[row] for row in rows], [unchanged[row] for row in rows], [sources[row] for row in rows])


class PayloadColumns(NamedTuple):
    """Payloads, read.

    Args:
        rows: which of them could be read.
        columns: of these, by name.
        absent: names of the columns that each of these does not carry.
        misfits: why some of these do not fit.
    """

    rows: Sequence[int]
    columns: dict[str, Array]
    absent: Array
    misfits: dict[int, str]


class PayloadReader:
    """Reads the payloads of one entity version.

    Args:
        plan: its attributes.
        history: of its entity.
    """

    def __init__(self, plan: EntityPlan, history: EntityHistory) -> None:
        self.plan = plan
        self.history = history
        found = history_columns(plan, history)
        self.names = [kept.name for kept, _ in found]
        self.columns = [column for _, column in found]
        self._number_of = {column.path: number for number, column in enumerate(self.columns)}
        fields: dict[int, str] = {}
        kind = _struct_of(tree_of([column.path for column in self.columns]), "", fields)
        self._all = msgspec.json.Decoder(list[kind]).decode  # type: ignore[valid-type]  # made just now
        self._one: Callable[[bytes], Any] = msgspec.json.Decoder(kind).decode
        self._getters = [attrgetter(fields[number]) for number in range(len(self.columns))]

    def read(self, payloads: Payloads) -> PayloadColumns:
        """Read payloads; those that are no objects of these attributes are left out."""
        rows, found = self._decoded(payloads.texts)
        payloads = payloads.chosen(rows)
        values = [list(map(getter, found)) for getter in self._getters]
        is_carried = np.empty((len(self.columns), len(rows)), np.bool_)
        for number, column in enumerate(values):
            is_carried[number] = list(map(is_not, column, repeat(_MISSING)))
        for row, paths in enumerate(payloads.unchanged if any(payloads.unchanged) else ()):
            for path in paths:
                at = self._number_of.get(path)
                if at is not None:
                    is_carried[at, row] = False
                    values[at][row] = _MISSING
        columns, misfits = self._columns(values, payloads.sources)
        return PayloadColumns(rows, columns, self._absent(is_carried), misfits)

    def _decoded(self, texts: Sequence[Raw]) -> tuple[Sequence[int], list[Any]]:
        """Return which payloads can be read, and these."""
        try:
            return range(len(texts)), self._all(b"[%b]" % b",".join(texts))
        except _UNREADABLE:
            rows, found = [], []
            for row, one in enumerate(texts):
                try:
                    found.append(self._one(one))
                except _UNREADABLE:
                    continue
                rows.append(row)
            return rows, found

    def _columns(
        self, values: Sequence[list[Raw]], from_sources: Sequence[tuple[str, str]]
    ) -> tuple[dict[str, Array], dict[int, str]]:
        columns: dict[str, Array] = {}
        misfits: dict[int, str] = {}
        sources, source_of = distinct(from_sources)
        for name, column, found in zip(self.names, self.columns, values, strict=True):
            array, wrong = _read_column(column, found, sources, source_of)
            columns[name] = array.cast(column.type)
            for misfit in wrong:
                misfits.setdefault(misfit.at, refusal(self.plan, column, misfit))
        return columns, misfits

    def _absent(self, is_carried: NDArray[np.bool_]) -> Array:
        """Return what each message does not carry; few messages of a version differ in it."""
        paths = [column.path for column in self.columns]
        if is_carried.all():
            everything = absent_columns(self.history, self.plan.version, paths)
            return pa.array([everything], ABSENT).take(np.zeros(is_carried.shape[1], np.int64))
        packed = np.ascontiguousarray(np.packbits(is_carried, axis=0).T)
        patterns, which = distinct(packed.view(f"V{packed.shape[1]}").ravel().tolist())
        lists = [
            absent_columns(
                self.history, self.plan.version, [path for path, bit in zip(paths, bits, strict=False) if bit]
            )
            for bits in (np.unpackbits(np.frombuffer(pattern, np.uint8)).tolist() for pattern in patterns)
        ]
        return pa.array(lists, ABSENT).take(which)


def _read_column(
    column: TypedColumn, values: list[Raw], sources: Sequence[tuple[str, str]], source_of: NDArray[np.int64]
) -> tuple[Array, list[Misfit]]:
    """Read the values of one column, those of each source as that source declares them.

    Args:
        column: the column.
        values: one a message.
        sources, source_of: schemas and versions, and which of them each message is from.
    """
    by_read: dict[Reader, list[int]] = {}
    for number, source in enumerate(sources):
        by_read.setdefault(column.by_source.get(source, column.read), []).append(number)
    if len(by_read) == 1:
        return read_each(next(iter(by_read)), list(values))
    arrays: list[Array] = [pa.array([], column.type)]
    misfits: list[Misfit] = []
    order: list[int] = []
    for read, numbers in by_read.items():
        rows = np.flatnonzero(np.isin(source_of, numbers)).tolist()
        array, wrong = read_each(read, [values[row] for row in rows])
        arrays.append(array.cast(column.type))
        misfits.extend(one._replace(at=rows[one.at]) for one in wrong)
        order.extend(rows)
    return pa.concat_arrays(arrays).take(pa.array(np.argsort(order), pa.int64())), misfits


def _struct_of(tree: Nested, prefix: str, fields: dict[int, str]) -> type[msgspec.Struct]:
    """Make a struct for objects of one form, with each value unread; note the member of each path in ``fields``."""
    members: list[tuple[str, Any, Any]] = []
    names: dict[str, str] = {}
    for at, (name, below) in enumerate(tree.items()):
        member = f"f{at}"
        names[member] = name
        if isinstance(below, int):
            fields[below] = prefix + member
            members.append((member, Raw, _MISSING))
        else:
            kind = _struct_of(below, f"{prefix}{member}.", fields)
            members.append((member, kind, kind()))
    return msgspec.defstruct("Payload", members, rename=names, frozen=True, gc=False)
