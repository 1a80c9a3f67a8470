"""What typed sinks make of values of another type, a row a pair; the columns themselves: engine/test_type_verdicts."""

from __future__ import annotations

import pytest

from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.type_verdicts import TypeVerdict, type_verdict
from metl_gui.core.trees.types import read_type

LOSSLESS, REINTERPRETED, MAY_REFUSE = TypeVerdict
TIME, DATA, CONNECT = "io.debezium.time.", "io.debezium.data.", "org.apache.kafka.connect.data."

PAIRS = [
    # the same
    ("string", "string", LOSSLESS),
    ("bytes/my.Own", "bytes/my.Own", LOSSLESS),
    (f"int32/{TIME}Date", f"int32/{TIME}Date", LOSSLESS),
    (f"bytes/{CONNECT}Decimal(2)", f"bytes/{CONNECT}Decimal(2)", LOSSLESS),
    # numbers
    ("int32", "int64", LOSSLESS),
    ("int32", "double", LOSSLESS),
    ("int64", "integer", LOSSLESS),
    ("int64", "number", LOSSLESS),
    ("float", "double", LOSSLESS),
    ("integer/int32", "int32", LOSSLESS),
    ("int64", "int32", MAY_REFUSE),
    ("int64", "double", MAY_REFUSE),
    ("int32", "float", MAY_REFUSE),
    ("integer", "int64", MAY_REFUSE),
    ("number", "integer", MAY_REFUSE),
    ("number", "double", MAY_REFUSE),
    ("double", "float", MAY_REFUSE),
    ("string", "number", MAY_REFUSE),
    ("boolean", "integer", MAY_REFUSE),
    # decimals
    (f"bytes/{CONNECT}Decimal(2)", "number", REINTERPRETED),
    (f"struct/{DATA}VariableScaleDecimal", "number", REINTERPRETED),
    (f"bytes/{CONNECT}Decimal(0)", "integer", REINTERPRETED),
    (f"bytes/{CONNECT}Decimal(2)", f"bytes/{CONNECT}Decimal(4)", REINTERPRETED),
    (f"bytes/{CONNECT}Decimal(2)", f"struct/{DATA}VariableScaleDecimal", REINTERPRETED),
    ("int64", f"bytes/{CONNECT}Decimal(2)", REINTERPRETED),
    (f"bytes/{CONNECT}Decimal(2)", "any", LOSSLESS),
    (f"bytes/{CONNECT}Decimal(2)", "integer", MAY_REFUSE),
    (f"bytes/{CONNECT}Decimal(2)", "double", MAY_REFUSE),
    (f"bytes/{CONNECT}Decimal(2)", "string", MAY_REFUSE),
    (f"bytes/{CONNECT}Decimal", "number", MAY_REFUSE),
    (f"bytes/{CONNECT}Decimal(4)", f"bytes/{CONNECT}Decimal(2)", MAY_REFUSE),
    (f"bytes/{CONNECT}Decimal(2)", f"bytes/{CONNECT}Decimal(30)", MAY_REFUSE),
    (f"struct/{DATA}VariableScaleDecimal", f"bytes/{CONNECT}Decimal(2)", MAY_REFUSE),
    ("double", f"bytes/{CONNECT}Decimal(2)", MAY_REFUSE),
    # dates and times
    (f"int32/{TIME}Date", "date", REINTERPRETED),
    ("date", f"int32/{CONNECT}Date", REINTERPRETED),
    (f"int32/{TIME}Date", f"int32/{CONNECT}Date", LOSSLESS),
    (f"string/{TIME}IsoDate", "date", LOSSLESS),
    (f"string/{TIME}ZonedTimestamp", "date-time", LOSSLESS),
    ("int64/timestamp-micros", "date-time", REINTERPRETED),
    (f"int64/{CONNECT}Timestamp", "date-time", REINTERPRETED),
    (f"int64/{TIME}Timestamp", f"int64/{TIME}MicroTimestamp", REINTERPRETED),
    (f"int64/{TIME}NanoTimestamp", "int64/local-timestamp-nanos", LOSSLESS),
    (f"int64/{TIME}MicroTimestamp", f"int64/{TIME}Timestamp", MAY_REFUSE),
    (f"int64/{TIME}MicroTimestamp", "date-time", MAY_REFUSE),
    (f"string/{TIME}IsoTimestamp", "date-time", MAY_REFUSE),
    ("date-time", f"int64/{CONNECT}Timestamp", MAY_REFUSE),
    (f"int32/{TIME}Date", "date-time", MAY_REFUSE),
    (f"int32/{TIME}Time", f"int64/{TIME}MicroTime", MAY_REFUSE),
    ("string", "date", MAY_REFUSE),
    ("int32", "date", MAY_REFUSE),
    ("int32", f"int32/{CONNECT}Date", REINTERPRETED),
    (f"int32/{TIME}Date", "integer", REINTERPRETED),
    (f"int64/{TIME}MicroTimestamp", "int32", MAY_REFUSE),
    # texts and bytes
    ("uuid", "string", LOSSLESS),
    ("string", "string/email", LOSSLESS),
    ("date-time", "string", LOSSLESS),
    (f"string/{DATA}Uuid", f"string/{DATA}Json", REINTERPRETED),
    ("bytes", "string", REINTERPRETED),
    ("string", "bytes", MAY_REFUSE),
    ("int64", "string", MAY_REFUSE),
    # whatever comes
    ("union", "string", MAY_REFUSE),
    ("string", "union", LOSSLESS),
    ("string", "array", REINTERPRETED),
    ("struct", "struct", LOSSLESS),
    ("unknown", "int64", LOSSLESS),
    ("null", "date", LOSSLESS),
]


@pytest.mark.parametrize(("source", "target", "verdict"), PAIRS, ids=lambda each: getattr(each, "name", each))
def test_the_verdict_of_a_pair_of_types(source: str, target: str, verdict: TypeVerdict) -> None:
    one, other = (
        Attribute(1, "x", type_, 1, logical, scale) for type_, logical, scale in map(read_type, (source, target))
    )
    assert type_verdict(one, other) is verdict
