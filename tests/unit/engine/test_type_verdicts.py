"""Verdicts on types against the columns themselves: every type into every other, with the ends of what each holds."""

from __future__ import annotations

import base64

import pytest

from metl_gui.core.trees.declarations import TYPES
from metl_gui.core.trees.logical_types import (
    DECIMAL,
    DECIMALS,
    LOGICAL_TYPES,
    VARIABLE_SCALE_DECIMAL,
    LogicalType,
    Meaning,
    time_type,
)
from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.type_verdicts import TypeVerdict, type_verdict
from metl_gui.core.trees.types import type_name
from metl_gui.engine.kernel.plan import ColumnPlan, SourceType
from metl_gui.engine.sinks.columns import TypedColumn, column

_A_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}
_UNBOUNDED = {"integer": 17, "number": 15}
"""Types without bounds, and how many digits their columns hold of any source."""

_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "integer": 64}


def attribute(type_: str, logical: str = "", scale: int | None = None) -> Attribute:
    return Attribute(1, "a", type_, 1, logical, scale)


KINDS = [
    *(attribute(type_) for type_ in TYPES if type_ not in ("null", "unknown")),
    *(attribute(one.on, one.name) for one in LOGICAL_TYPES if one.name != DECIMAL),
    *(attribute("bytes", DECIMAL, scale) for scale in (None, -1, 0, 2, 4, 19, 20, 38, 40)),
    *(attribute("int64", f"io.debezium.time.{name}") for name in ("Date", "Time", "Year")),
    attribute("integer", "int32"),
    attribute("number", "double"),
    attribute("string", "email"),
    attribute("string", "io.debezium.data.Json"),
    attribute("bytes", "my.Own"),
]


def values(kind: Attribute, target: Attribute) -> list[str]:
    """Return values of a type: the least, the greatest, and those that others have no room for.

    What is of a time stays in the years 1 to 9999 where the target is one too. Left out are values that a column of an
    unbounded type refuses whatever their source.
    """
    if kind.logical == DECIMAL:
        return decimals(kind.scale, _UNBOUNDED.get(target.type, 38))
    if kind.logical == VARIABLE_SCALE_DECIMAL:
        unscaled = 10**6 + 1 if target.type == "number" else 10**24 + 1
        return [f'{{"scale":{scale},"value":"{_base64(unscaled)}"}}' for scale in (0, 3, 30)]
    time = time_type(kind.type, kind.logical)
    if time is not None and (time_type(target.type, target.logical) is not None or not time.counts):
        return times(time) or plain_values(kind, target)
    return plain_values(kind, target)


def decimals(scale: int | None, digits: int) -> list[str]:
    """Return decimals as bytes and as numbers, with up to 19 digits before the point; bytes of no scale have none."""
    if scale is None:
        return ["12", f'"{_base64(1234)}"']
    return [f'"{_base64(unscaled)}"' for unscaled in (-1, 10 ** min(19 + scale, digits) - 1)] + ["0"]


def times(time: LogicalType) -> list[str]:
    """Return times of all years, and one that Berlin skips; nothing for what is none of a calendar."""
    if time.says not in (Meaning.DATE, Meaning.INSTANT, Meaning.LOCAL_TIME):
        return []
    if time.counts == "days":
        return ["-719162", "0", "2932896"]
    if time.says is Meaning.DATE:
        return ['"0001-01-01"', '"9999-12-31"']
    if not time.counts:
        zone = "Z" if time.says is Meaning.INSTANT else ""
        return [f'"{text}{zone}"' for text in ("0001-01-01T00:00:00", "2026-03-29T02:30:00.000001")]
    first, last = (-9_000_000_000, 9_000_000_000) if time.counts == "ns" else (-62_135_596_800, 253_402_300_799)
    return [str(second * _A_SECOND[time.counts] + 1) for second in (first, 1_774_751_400, last)]


def plain_values(kind: Attribute, target: Attribute) -> list[str]:
    plain = kind.logical if kind.logical in ("int32", "double") else kind.type
    is_decimal = target.logical in DECIMALS
    match plain:
        case "int8" | "int16" | "int32" | "int64" | "integer":
            half = 2 ** (min(_BITS[plain], 53 if target.type == "number" else 64) - 1)
            beyond = [str(2**63)] if plain == "integer" and not is_decimal and target.type not in _UNBOUNDED else []
            return [str(-half), "0", str(half - 1), *beyond]
        case "float":
            return ["0.1", "3.4e38", '"NaN"']
        case "double":
            return ["0.1", "1.7976931348623157e308", '"NaN"']
        case "number":
            return ["0.1", '"NaN"', *(["0.12345678901234567890"] if target.type != "number" else [])]
        case "boolean":
            return ["true", "false"]
        case "bytes":
            return ['"AAE="', '""']
        case "string":
            return ['"x"', '"12"', '""']
        case "array":
            return ["[1]", "[]"]
        case "struct" | "map":
            return ['{"a":1}']
        case _:
            return ["1.5", '"x"', "[]", "true"]


def _base64(unscaled: int) -> str:
    return base64.b64encode(unscaled.to_bytes(16, "big", signed=True)).decode()


def is_refused(read: TypedColumn, value: str) -> bool:
    try:
        read.by_source.get(("s", "1"), read.read)(f"[{value}]".encode())
    except (ValueError, OverflowError):
        return True
    return False


def refused(source: Attribute, target: Attribute) -> list[str]:
    """Return the values of a type that the column of another refuses."""
    plan = ColumnPlan("a", target.type, target.logical, target.scale)
    told = SourceType("s", "1", "a", source.type, source.logical, source.scale, time_zone="Europe/Berlin")
    read = column(plan, (told,))
    return [value for value in values(source, target) if is_refused(read, value)]


@pytest.mark.parametrize("target", KINDS, ids=type_name)
def test_a_column_refuses_values_of_a_type_just_where_the_verdict_says_so(target: Attribute) -> None:
    told = {type_name(source): type_verdict(source, target) is TypeVerdict.MAY_REFUSE for source in KINDS}
    assert {type_name(source): bool(refused(source, target)) for source in KINDS} == told
