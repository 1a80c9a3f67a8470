"""Read the values of one column off JSON into an array: in compiled code for what is common, one by one for the rest.

Every reader takes a JSON array as text, in which null and nothing else stands for no value, and raises ``ValueError``
or ``OverflowError`` when one of the values does not fit. Where there is machine code, a reader first takes the common
values in a *form*, see ``value_forms``; the array has only those that are left. It decides on each value by itself, so
both ways give the same. Source of the forms: docs/reference/cdc.md, "Types".
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from decimal import Context, Decimal, InvalidOperation
from functools import cache
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw

from metl_gui.engine.sinks.local_times import LocalTimeError, check_zone, instants
from metl_gui.engine.sinks.value_forms import (
    AS_DIGITS,
    AS_JSON,
    AS_TEXT,
    DECIMAL,
    DIGITS,
    NO_SCALE,
    OTHER_DIGITS,
    SURE_DOUBLES,
    SURE_FLOATS,
    TRUTHS,
    WHOLE_NUMBERS,
    ValueForm,
)
from metl_gui.values import Value

Array: TypeAlias = "pa.Array[Any]"
_Every: TypeAlias = Callable[[bytes], Array]
_Change: TypeAlias = Callable[[Array], Array]
_Special: TypeAlias = Literal["NaN", "Infinity", "-Infinity"]
_raws = msgspec.json.Decoder(list[Raw]).decode
_texts = msgspec.json.Decoder(list[str | None]).decode
_truths = msgspec.json.Decoder(list[bool | None]).decode
_whole = msgspec.json.Decoder(list[int | None]).decode
_bytes = msgspec.json.Decoder(list[bytes | None]).decode
_fractions = msgspec.json.Decoder(list[float | _Special | None]).decode
_text_bytes = msgspec.json.Decoder(bytes).decode
_NULL = b"null"
_DOUBLE_DIGITS, _FLOAT_DIGITS = 17, 9
_LONG_DOUBLE = re.compile(rb"[0-9.]{16}|[eE]-?[0-9]{3}")
_LONG_FLOAT = re.compile(rb"[0-9.]{8}|[eE]")
"""What shorter numbers than these are is never lost."""

_UNNEEDED_ZEROS = r"(\.\d{6})0+([Zz+-]|$)"
_DECIMAL_BYTES = 16
_MOST_SCALE = 10_000
_EXACT = Context(prec=1_000_000)


class Reader(Value, eq=False):
    """Reads the values of one column.

    Args:
        every: reads a JSON array.
        form: the common values; ``None`` where none are taken.
        change: makes what ``every`` does of those; may raise as that does, then nothing is taken.
    """

    every: _Every
    form: ValueForm | None = None
    change: _Change | None = None

    def __call__(self, values: bytes) -> Array:
        """Read a JSON array."""
        return self.every(values)

    def common(self, found: Array) -> Array:
        """Return values that were taken in the form as ``every`` would read them."""
        return found if self.change is None else self.change(found)

    def then(self, change: _Change) -> Reader:
        """Return a reader of the same values whose arrays are changed; ``change`` raises as ``every`` does."""
        return Reader(lambda values: change(self.every(values)), self.form, lambda found: change(self.common(found)))


def joined(values: Sequence[bytes]) -> bytes:
    """Write values as one JSON array."""
    return b"[" + b",".join(values) + b"]"


def _reader(form: ValueForm | None = None, change: _Change | None = None) -> Callable[[_Every], Reader]:
    return lambda every: Reader(every, form, change)


class _Variable(msgspec.Struct, frozen=True):
    """Debezium's ``VariableScaleDecimal``."""

    scale: int
    value: bytes


_variable = msgspec.json.Decoder(_Variable).decode


@_reader(AS_TEXT)
def texts(values: bytes) -> Array:
    """Read texts."""
    return pa.array(_texts(values), pa.string())


@_reader(TRUTHS)
def truths(values: bytes) -> Array:
    """Read true and false."""
    return pa.array(_truths(values), pa.bool_())


@_reader()
def byte_texts(values: bytes) -> Array:
    """Read bytes in base64."""
    return pa.array(_bytes(values), pa.binary())


@_reader(AS_JSON)
def json_texts(values: bytes) -> Array:
    """Keep each value as the JSON that it is."""
    found = [None if raw == _NULL else raw for raw in map(bytes, _raws(values))]
    return pa.array(found, pa.binary()).cast(pa.string())


@_reader()
def nothing(values: bytes) -> Array:
    """Take no value at all: those of this source mean something else than those of the column.

    Raises:
        ValueError: there is one.
    """
    return _nulls(values, ValueError("of another type"))


@cache
def local_times_of_no_zone(schema: str) -> Reader:
    """Make a reader that takes no local time: the schema says nowhere where it holds.

    Args:
        schema: its name.
    """
    way_out = f"metl set PROJECT --schema {shlex.quote(schema)} time_zone=NAME"
    error = LocalTimeError(f"a local time, and {schema} states no time zone ({way_out})")
    return Reader(lambda values: _nulls(values, error))


@cache
def by_form(first: Reader, other: Reader, is_text: bool) -> Reader:
    """Make a reader of texts and of everything else, each by a reader of its own.

    Args:
        first: the reader of what is common.
        other: the other reader.
        is_text: the other one reads the texts.
    """

    def only(found: Sequence[bytes], *, of_other: bool) -> bytes:
        kept = (raw if ((raw[:1] == b'"') is is_text) is of_other else _NULL for raw in found)
        return b"[%b]" % b",".join(kept)

    def every(values: bytes) -> Array:
        found = list(map(bytes, _raws(values)))
        own, others = first(only(found, of_other=False)), other(only(found, of_other=True))
        return others if pa.types.is_null(own.type) else pc.coalesce(own, others.cast(own.type))

    takes_both = is_text and first.form is not None and first.form.has_texts
    return Reader(every, None if takes_both else first.form, first.change)


def _nulls(values: bytes, error: ValueError) -> Array:
    found = _raws(values)
    if any(bytes(raw) != _NULL for raw in found):
        raise error
    return pa.nulls(len(found))


@cache
def instants_of_local_times(counted: pa.DataType | None, zone: str, type_: pa.DataType) -> Reader:
    """Make a reader of local times into a column of instants.

    Args:
        counted: what numbers count; ``None`` for texts.
        zone: where they hold.
        type_: the column; takes what it holds without loss only.

    Raises:
        TaskError: this computer does not know the zone.
    """
    check_zone(zone)
    read = times(pa.timestamp("us")) if counted is None else whole_numbers(counted, counted)
    return read.then(lambda local: instants(local, zone).cast(type_))


@cache
def whole_numbers(counted: pa.DataType, stored: pa.DataType) -> Reader:
    """Make a reader of whole numbers.

    Args:
        counted: what they are, or count.
        stored: what that is stored as: in another unit only where nothing is lost by it.
    """
    is_time = pa.types.is_timestamp(counted)
    integer = pa.int64() if is_time else pa.int32() if counted == pa.date32() else counted

    def as_stored(found: Array) -> Array:
        if integer == stored:
            return found
        return found.cast(counted) if counted == stored else found.cast(counted).cast(stored)

    def common(found: Array) -> Array:
        return as_stored(found if found.type == integer else found.cast(integer))

    return Reader(lambda values: as_stored(pa.array(_whole(values), integer)), WHOLE_NUMBERS, common)


@cache
def from_decimals(read_digits: Reader, text_scale: int | None) -> Reader:
    """Make a reader of decimals into a column of other numbers.

    Args:
        read_digits: reads the digits.
        text_scale: the scale of texts, which are bytes in base64.
    """

    def read(values: bytes) -> Array:
        if b'"' in values:
            values = b"[" + b",".join((one or "null").encode() for one in _all_digits(values, text_scale)) + b"]"
        return read_digits(values)

    return Reader(read, read_digits.form, read_digits.change)


def _as_doubles(found: Array) -> Array:
    return found.cast(pa.float64())


def _as_floats(found: Array) -> Array:
    # By way of 64 bits, as those are that are read one by one.
    return found.cast(pa.float64()).cast(pa.float32())


@_reader(SURE_DOUBLES, _as_doubles)
def fractions(values: bytes) -> Array:
    """Read binary floating point of 64 bits.

    Raises:
        ValueError: one has more digits than that, or is not in its range.
    """
    found = _numbers(values)
    if _LONG_DOUBLE.search(values):
        _refuse_losses(values, found, _DOUBLE_DIGITS)
    return pa.array(found, pa.float64())


@_reader(SURE_FLOATS, _as_floats)
def short_fractions(values: bytes) -> Array:
    """Read binary floating point of 32 bits.

    Raises:
        ValueError: one has more digits than that, or is not in its range.
    """
    found = _numbers(values)
    if _LONG_FLOAT.search(values):
        with np.errstate(over="ignore"):
            shortened = [None if one is None else np.float32(one) for one in found]
        _refuse_losses(values, shortened, _FLOAT_DIGITS)
    return pa.array(found, pa.float32())


def _numbers(values: bytes) -> list[float | None]:
    found = _fractions(values)
    if b'"' not in values:
        return found  # type: ignore[return-value]  # the texts of special values are the only texts
    return [None if one is None else float(one) for one in found]


def _refuse_losses(values: bytes, found: Sequence[float | np.float32 | None], digits: int) -> None:
    for raw, value in zip(map(bytes, _raws(values)), found, strict=True):
        if value is not None and raw[:1] != b'"' and _is_lost(_decimal(raw.decode()), value, digits):
            raise ValueError("digits would be lost")


def _decimal(text: str) -> Decimal:
    """Read a number as it is written.

    Raises:
        ValueError: it is none, or its exponent has more digits than a decimal takes.
    """
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError("no decimal") from error


def _is_lost(written: Decimal, kept: float | np.float32, digits: int) -> bool:
    """Say whether reading a number back gives another one than was written.

    The shortest text of a number is never lost; programs that write longer ones (Java before 19) are believed as far
    as the type tells numbers apart.
    """
    if np.isinf(kept) or (not kept and written):
        return True
    if Decimal(str(kept)) == written or Decimal(float(kept)) == written:
        return False
    return written == written.to_integral_value() or len(written.normalize(_EXACT).as_tuple().digits) > digits


@cache
def times(type_: pa.DataType) -> Reader:
    """Make a reader of dates or times written in ISO 8601."""
    has_zone = getattr(type_, "tz", None) is not None

    def as_times(written: Array) -> Array:
        if not has_zone:
            # Debezium writes a Z behind dates and times of no zone too.
            written = pc.utf8_rtrim(written, "Z")
        try:
            return written.cast(type_)
        except pa.ArrowInvalid:
            return pc.replace_substring_regex(written, _UNNEEDED_ZEROS, r"\1\2").cast(type_)

    return Reader(lambda values: as_times(pa.array(_texts(values), pa.string())), AS_TEXT, as_times)


@cache
def decimals(type_: pa.Decimal128Type[Any, Any], text_scale: int | None) -> Reader:
    """Make a reader of decimals.

    Args:
        type_: what they are stored as.
        text_scale: the scale of texts, which are bytes in base64 then; ``None`` when no text fits.
    """

    def read(values: bytes) -> Array:
        if b'"' not in values:
            return _as_decimals(_bare_digits(values), type_)
        if text_scale == type_.scale and b"{" not in values:
            found = _unscaled(values, type_)
            if found is not None:
                return found
        return _as_decimals(pa.array(_all_digits(values, text_scale), pa.string()), type_)

    return Reader(read, ValueForm(DECIMAL, type_, type_.scale, text_scale == type_.scale))


def _as_decimals(written: Array, type_: pa.Decimal128Type[Any, Any]) -> Array:
    """Read digits as decimals, exactly or not at all.

    Arrow makes zero of a number with 39 places more than the type has, and another one of one with more digits before
    the point than it has room for. So only plain numbers of no more digits reach it.

    Raises:
        ValueError: one does not fit.
    """
    whole = type_.precision - type_.scale
    plain = rf"^-?(0|[0-9]{{1,{whole}}})(\.[0-9]+)?$" if whole else r"^-?0(\.[0-9]+)?$"
    is_short = pc.match_substring_regex(written, rf"^.{{1,{type_.precision}}}$")
    if not pc.all(pc.and_(pc.match_substring_regex(written, plain), is_short)).as_py():
        exact = [None if one is None else _exactly(one, whole, type_.scale) for one in written.to_pylist()]
        written = pa.array(exact, pa.string())
    return written.cast(type_)


def _exactly(text: str, most_whole: int, most_places: int) -> str:
    """Write a number without the zeros at its end and without an exponent.

    Raises:
        ValueError: it is none, or has more digits before or behind the point than there is room for.
    """
    number = _decimal(text)
    if not number.is_finite() or (number and not -_MOST_SCALE <= number.adjusted() <= _MOST_SCALE):
        raise ValueError("no decimal")
    if not number:
        return "0"
    whole, _, places = format(number, "f").partition(".")
    places = places.rstrip("0")
    if len(whole.lstrip("-").lstrip("0")) > most_whole or len(places) > most_places:
        raise ValueError("too many digits")
    return f"{whole}.{places}" if places else whole


@cache
def digits(text_scale: int | None) -> Reader:
    """Make a reader that keeps the digits of decimals as text."""

    def read(values: bytes) -> Array:
        if not any(other in values for other in (b'"', b"{", b"t", b"f")):
            return _bare_digits(values)
        return pa.array(_all_digits(values, text_scale), pa.string())

    return Reader(read, AS_DIGITS)


@cache
def written_digits(stored_scale: int | None, text_scale: int | None) -> Reader:
    """Make a reader of the digits that numbers were written with, as text; null where their column says the same.

    Args:
        stored_scale: of the decimals of the column, which say all digits of their scale; ``None`` for fractions in
            binary floating point, which say none.
        text_scale: the scale of texts, see ``decimals``. Those of the column's own scale it says itself.
    """
    has_own_texts = text_scale == stored_scale
    read_digits = digits(text_scale)

    def read(values: bytes) -> Array:
        if has_own_texts and b'"' in values:
            values = joined([_NULL if raw[:1] == b'"' else raw for raw in map(bytes, _raws(values))])
        found = read_digits(values)
        return found if stored_scale is None else _not_of_scale(found, stored_scale)

    kind, scale = (DIGITS, NO_SCALE) if stored_scale is None else (OTHER_DIGITS, stored_scale)
    return Reader(read, ValueForm(kind, pa.string(), scale, has_own_texts))


def _not_of_scale(written: Array, scale: int) -> Array:
    """Return numbers that are not written as decimals of a scale are, null for the others."""
    places = rf"\.[0-9]{{{scale}}}" if scale else ""
    is_of_scale = pc.match_substring_regex(written, rf"^-?(0|[1-9][0-9]*){places}$")
    is_negative_zero = pc.match_substring_regex(written, r"^-[0.]*$")
    made: Array = pc.if_else(pc.and_not(is_of_scale, is_negative_zero), pa.scalar(None, pa.string()), written)
    return made


def _bare_digits(values: bytes) -> Array:
    """Split an array of numbers and nulls only.

    Raises:
        ValueError: something else is in it.
    """
    if b"[" in values[1:] or b"{" in values:
        raise ValueError("no number")
    found = [None if raw == _NULL else raw for raw in map(bytes.strip, values[1:-1].split(b","))]
    return pa.array(found, pa.binary()).cast(pa.string())


def _unscaled(values: bytes, type_: pa.Decimal128Type[Any, Any]) -> Array | None:
    """Read decimals of the column's own scale that are all bytes in base64; ``None`` when not all of them are."""
    try:
        found = _bytes(values)
    except msgspec.ValidationError:
        return None
    if max((len(one) for one in found if one is not None), default=0) > _DECIMAL_BYTES or b"" in found:
        return None
    filled = b"".join(
        bytes(_DECIMAL_BYTES) if one is None else one[::-1].ljust(_DECIMAL_BYTES, b"\xff" if one[0] >> 7 else b"\0")
        for one in found
    )
    present = pa.array([one is not None for one in found], pa.bool_()).buffers()[1]
    made: Array = pa.Array.from_buffers(type_, len(found), [present, pa.py_buffer(filled)])
    made.validate(full=True)
    return made


def _all_digits(values: bytes, text_scale: int | None) -> list[str | None]:
    return [_digits(bytes(raw), text_scale) for raw in _raws(values)]


def _digits(raw: bytes, text_scale: int | None) -> str | None:
    """Return the digits of a decimal in any of the forms that it has in JSON.

    Raises:
        ValueError: it is none.
    """
    if raw == _NULL:
        return None
    if raw[:1] == b"{":
        found = _variable(raw)
        return _shifted(found.value, found.scale)
    if raw[:1] == b'"':
        if text_scale is None:
            raise ValueError("a text")
        return _shifted(_text_bytes(raw), text_scale)
    if raw[:1] in b"tf[":
        raise ValueError("no number")
    return raw.decode()


def _shifted(unscaled: bytes, scale: int) -> str:
    if not unscaled or abs(scale) > _MOST_SCALE or len(unscaled) > _MOST_SCALE:
        raise ValueError("no decimal")
    return format(Decimal(int.from_bytes(unscaled, "big", signed=True)).scaleb(-scale, _EXACT), "f")
