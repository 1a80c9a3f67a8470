"""Columns of histories: how the values of an attribute get into the type in which its history keeps them.

What is read, and what is refused, is that of typed columns (``columns``), in wider types: whole numbers of any source
as decimals of 38 digits, fractions in 64 bits, times in microseconds, and numbers without bounds as their digits.
Times lie in the years 1 to 9999, or are one of the two that stand for infinite ones
(``core.dimensional.loads.staged_parts``).

Source: docs/reference/warehouse-model.md, "Types".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from math import isinf
from typing import Any, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.loads.staged_parts import INFINITE_DATES, INFINITE_TIMES
from metl_gui.core.trees.logical_types import DECIMAL, DECIMALS, LogicalType, Meaning, time_type
from metl_gui.engine.kernel.plan import ColumnPlan, EntityPlan, SourceType
from metl_gui.engine.sinks import readers
from metl_gui.engine.sinks.columns import INTEGERS, TypedColumn, column_of, read_time
from metl_gui.engine.sinks.readers import Reader
from metl_gui.formats.canonical_keys import canonical_number, row_key
from metl_gui.formats.json_text import NULL

Array: TypeAlias = "pa.Array[Any]"
_WHOLE = pa.decimal128(38, 0)
_DATE, _LOCAL, _INSTANT = pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")
_TYPES: dict[str, tuple[pa.DataType, str]] = {
    "integer": (_WHOLE, "whole numbers of 38 digits"),
    "float": (pa.float64(), "numbers of 64 bits, about 17 digits"),
    "boolean": (pa.bool_(), "true and false"),
    "date": (_DATE, "dates of the years 1 to 9999"),
    "timestamp": (_LOCAL, "local times of the years 1 to 9999 with up to 6 digits of a second"),
    "instant": (_INSTANT, "instants of the years 1 to 9999 with up to 6 digits of a second"),
    "json": (pa.string(), "any JSON"),
}
_TEXT: tuple[pa.DataType, str] = pa.string(), "text, or what can be written as such"
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_OF_MEANING: dict[Meaning, pa.DataType] = {Meaning.DATE: _DATE, Meaning.LOCAL_TIME: _LOCAL, Meaning.INSTANT: _INSTANT}
_CALENDAR_DAYS = -719_162, 2_932_896
"""The first and the last day of the years 1 to 9999, since 1970."""

_DAY_US = 86_400_000_000
_CALENDAR_TIMES = _CALENDAR_DAYS[0] * _DAY_US, (_CALENDAR_DAYS[1] + 1) * _DAY_US - 1
_INFINITIES = {b'"-infinity"': INFINITE_TIMES[0], b'"infinity"': INFINITE_TIMES[1]}
_raws = msgspec.json.Decoder(list[Raw]).decode


def stored_type(type_: str) -> pa.DataType:
    """Return the type of a column in parts.

    Args:
        type_: as histories name it.
    """
    return _stored(type_)[0]


def _stored(type_: str) -> tuple[pa.DataType, str]:
    found = _DECIMAL.fullmatch(type_)
    if found is None:
        return _TYPES.get(type_, _TEXT)
    digits, scale = int(found[1]), int(found[2])
    return pa.decimal128(digits, scale), f"decimals of {digits} digits, {scale} of them after the point"


def columns_of(history: EntityHistory, version: str) -> dict[str, HistoryColumn]:
    """Return the columns of a history by the paths that one version has.

    Args:
        history: of the entity.
        version: its label. One that came after the history was made has those paths that others have, too.
    """
    found = {path: one for one in history.columns for label, path in one.paths.items() if label == version}
    return found or {path: one for one in history.columns for path in (*one.paths.values(), one.path)}


def history_columns(plan: EntityPlan, history: EntityHistory) -> list[tuple[HistoryColumn, TypedColumn]]:
    """Decide how the attributes of an entity version are read into the columns of its history."""
    by_path = columns_of(history, plan.version)
    return [
        (kept, history_column(one, kept.type, plan.sources, is_hashed=kept.name in history.hashed))
        for one in plan.columns
        if (kept := by_path.get(one.path)) is not None
    ]


def history_column(
    plan: ColumnPlan, type_: str, sources: tuple[SourceType, ...] = (), *, is_hashed: bool = False
) -> TypedColumn:
    """Decide how an attribute is read into a column of a history.

    Args:
        plan: the attribute.
        type_: as the history names it.
        sources: the sources of another type, of this and of other attributes.
        is_hashed: texts are to be hashed, so that all spellings of a value are to be one.
    """
    stored, wants = _stored(type_)
    spelled = _spelling(plan) if is_hashed else None

    def reader_of(source: SourceType) -> Reader:
        read = _reader(plan, type_, stored, source)
        return read if spelled is None else _spelled(read, spelled)

    return column_of(plan, sources, stored, wants, reader_of)


def _spelling(plan: ColumnPlan) -> Callable[[str], str] | None:
    """Return what makes one text of all that spell a value of an attribute, ``None`` where there is one alone."""
    if plan.logical in DECIMALS:
        return canonical_number
    if time_type(plan.type, plan.logical) is not None or plan.type in ("string", "bytes", "boolean"):
        return None
    if plan.type in _FRACTIONS:
        return _canonical_fraction
    return canonical_number if plan.type in _NUMBERS else _canonical_json


@cache
def _spelled(read: Reader, spelled: Callable[[str], str]) -> Reader:
    return read.then(lambda found: _in_one_way(found, spelled))


def in_one_spelling(found: Array, plan: ColumnPlan) -> Array:
    """Return texts of an attribute that are to be hashed, all spellings of a value as one."""
    spelled = _spelling(plan)
    return found if spelled is None else _in_one_way(found, spelled)


def _in_one_way(found: Array, spelled: Callable[[str], str]) -> Array:
    # The stubs do not know dictionaries.
    encoded: Any = found.dictionary_encode()
    made: Array = pa.array(map(spelled, encoded.dictionary.to_pylist()), pa.string()).take(encoded.indices)
    return made


def _canonical_fraction(text: str) -> str:
    """Return the one text of a number of 64 bits; one that is beyond these stays as it is."""
    number = float(text)
    return canonical_number(text if isinf(number) else repr(number))


def _canonical_json(text: str) -> str:
    return row_key(text.encode()) or text


def _reader(plan: ColumnPlan, type_: str, stored: pa.DataType, source: SourceType) -> Reader:
    """Return how values of a source are read; the same object for the same way."""
    own = time_type(plan.type, plan.logical)
    if isinstance(stored, pa.Decimal128Type):
        if own is not None:
            return _changed(_time(own, pa.int64(), source), stored)
        return readers.decimals(stored, _text_scale(source))
    match type_:
        case "float" if source.logical in DECIMALS:
            return readers.from_decimals(readers.fractions, source.scale)
        case "float":
            return readers.fractions
        case "boolean":
            return readers.truths
        case "date" | "timestamp" | "instant":
            return _in_calendar(_time(own, stored, source) if own is not None else readers.times(stored))
        case "json":
            return readers.json_texts
        case _:
            return _text_reader(plan, own, source)


def _text_reader(plan: ColumnPlan, own: LogicalType | None, source: SourceType) -> Reader:
    """Return how values become text: digits of numbers, times in ISO 8601, bytes in base64."""
    if own is not None:
        stored = text_type_of_time(own)
        read = _time(own, stored, source)
        return _changed(read if stored == pa.int64() else _in_calendar(read), pa.string())
    if plan.logical in DECIMALS or plan.type in _NUMBERS:
        return readers.digits(_text_scale(source))
    match plan.type:
        case "string":
            return readers.texts
        case "bytes":
            return readers.texts if source.type == "bytes" else readers.nothing
        case "boolean":
            return _changed(readers.truths, pa.string())
        case _:
            return readers.json_texts


def text_type_of_time(own: LogicalType) -> pa.DataType:
    """Return the type of times on their way into a text."""
    return _OF_MEANING[own.says] if own.stored_in else pa.int64()


_FRACTIONS = ("float", "double")
_NUMBERS = frozenset((*INTEGERS, "number", *_FRACTIONS))


def _text_scale(source: SourceType) -> int | None:
    """Return the scale of texts; they are bytes in base64 only where their source says so."""
    return source.scale if source.logical == DECIMAL else None


def _time(own: LogicalType, stored: pa.DataType, source: SourceType) -> Reader:
    other = time_type(source.type, source.logical) or own
    read = read_time(own, other, stored, source)
    return _with_infinities(read) if stored == _INSTANT and not other.counts else read


@cache
def _changed(read: Reader, type_: pa.DataType) -> Reader:
    return read.then(lambda found: found.cast(type_))


@cache
def _in_calendar(read: Reader) -> Reader:
    return read.then(in_calendar)


def in_calendar(found: Array) -> Array:
    """Return dates or times as they are.

    Raises:
        ValueError: one is neither of the years 1 to 9999 nor one that stands for an infinite one.
    """
    is_date = found.type == _DATE
    first, last = _CALENDAR_DAYS if is_date else _CALENDAR_TIMES
    counted: Array = found.cast(pa.int32() if is_date else pa.int64())
    bounds: Any = pc.min_max(counted).as_py()
    if bounds["min"] is None or (bounds["min"] >= first and bounds["max"] <= last):
        return found
    numbers = counted.drop_null().to_numpy()
    beyond = numbers[(numbers < first) | (numbers > last)]
    if not np.isin(beyond, INFINITE_DATES if is_date else INFINITE_TIMES).all():
        raise ValueError("of no calendar")
    return found


@cache
def _with_infinities(read: Reader) -> Reader:
    """Read infinite instants, which PostgreSQL writes as words, as the numbers that stand for them."""

    def every(values: bytes) -> Array:
        if b"infinity" not in values:
            return read(values)
        found = [bytes(raw) for raw in _raws(values)]
        finite = read(readers.joined([NULL if one in _INFINITIES else one for one in found]))
        infinite: Array = pa.array([_INFINITIES.get(one) for one in found], pa.int64())
        return pc.coalesce(infinite.cast(finite.type), finite)

    return Reader(every, read.form, read.change)


def instants_of_ms(found: Array) -> Array:
    """Return milliseconds since 1970 as instants.

    Args:
        found: whole numbers of 64 bits.

    Raises:
        ValueError: one is of no calendar.
    """
    return in_calendar(found.cast(pa.timestamp("ms")).cast(_LOCAL).cast(_INSTANT))


INSTANTS_OF_MS = readers.whole_numbers(pa.int64(), pa.int64()).then(instants_of_ms)
"""Reads milliseconds since 1970."""
