"""Columns of PostgreSQL by the modes of the connector; with its defaults the live tests ask the real one."""

from __future__ import annotations

import pytest

from metl_gui.errors import SchemaError
from metl_gui.registry.postgres_types import MODE_SETTINGS, NO_MODIFIER, Modes, array_type, connect_type, modes_of

_MODIFIER = {"numeric": ((10 << 16) | 2) + 4, "time": 6, "timestamp": 3}


@pytest.mark.parametrize(
    ("setting", "value", "native", "expected"),
    [
        ("decimal.handling.mode", "string", "numeric", ("string", "", None)),
        ("decimal.handling.mode", "double", "money", ("double", "", None)),
        ("decimal.handling.mode", "precise", "numeric", ("bytes", "Decimal", 2)),
        ("time.precision.mode", "connect", "timestamp", ("int64", "Timestamp", None)),
        ("time.precision.mode", "isostring", "date", ("string", "IsoDate", None)),
        ("time.precision.mode", "nanoseconds", "timestamp", ("int64", "NanoTimestamp", None)),
        ("time.precision.mode", "microseconds", "timestamp", ("int64", "MicroTimestamp", None)),
        ("time.precision.mode", "adaptive_time_microseconds", "time", ("int64", "MicroTime", None)),
        ("binary.handling.mode", "hex", "bytea", ("string", "", None)),
        ("hstore.handling.mode", "map", "hstore", ("map", "", None)),
        ("interval.handling.mode", "string", "interval", ("string", "Interval", None)),
    ],
)
def test_a_mode_of_the_connector_changes_the_type(
    setting: str, value: str, native: str, expected: tuple[str, str, int | None]
) -> None:
    found = connect_type(native, _MODIFIER.get(native, NO_MODIFIER), modes_of({setting: value, "other": "x"}))
    assert found is not None
    assert (found.type, found.logical.rpartition(".")[2], found.scale) == expected


def test_a_mode_that_debezium_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(SchemaError, match="precise, double, string"):
        modes_of({"decimal.handling.mode": "exact"})
    assert "time.precision.mode" in MODE_SETTINGS


def test_what_the_connector_leaves_out_has_no_type() -> None:
    assert connect_type("line", NO_MODIFIER, Modes()) is None
    assert array_type("money", NO_MODIFIER, Modes()) is None
    assert array_type("", NO_MODIFIER, Modes()) is None
