"""Masked values are hashed before they are written: the same hash for the same value, however it is mapped."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.loads.mask_key import MaskKey
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.staging.messages import MessageStager
from metl_gui.engine.staging.sink import StageSink
from metl_gui.errors import BugError
from tests.unit.engine.test_message_staging import message
from tests.unit.engine.test_stage_sink import ORDER, ROW, plan_of, record

KEY = MaskKey.of(b"a secret for tests")
MASKED = {"id", "name", "is_paid"}


def hashing() -> EntityHistory:
    """Return the history of orders with some columns hashed, of whatever type."""
    columns = tuple(
        HistoryColumn(c.name, c.path, "text" if c.name in MASKED else c.type, c.paths) for c in ORDER.columns
    )
    return msgspec.structs.replace(ORDER, columns=columns, hashed=("row_key", *sorted(MASKED)))


def test_what_a_run_maps_and_what_messages_say_have_the_same_hashes(tmp_path: Path) -> None:
    plan = plan_of()
    outcome = Kernel(plan).map(Records.of([record(ROW)], "f"))
    sink = StageSink(tmp_path, "part", plan, [hashing()], mask_key=KEY)
    assert sink.append(outcome) == {}
    (path,) = sink.close()
    (mapped,) = pq.ParquetFile(path).read().to_pylist()
    text = next(t for t, e in zip(outcome.messages(), outcome.sent_to(), strict=True) if e == "order")
    (_, table), *_ = MessageStager(plan, [hashing()], mask_key=KEY).stage(Records.of([text], "m")).tables
    (read,) = table.to_pylist()
    for row in (mapped, read):
        assert row["row_key"] == KEY.hashed('{"id":9007199254740993}')
        assert row["id"] == KEY.hashed("9007199254740993")
        assert (row["name"], row["is_paid"]) == (KEY.hashed("xé"), KEY.hashed("true"))
    written = Path(path).read_bytes()
    assert b"9007199254740993" not in written
    assert "xé".encode() not in written


def test_null_stays_null_and_a_number_is_what_its_text_is() -> None:
    texts = [
        message(payload={"id": 5, "name": None}, old_key={"id": 4}),
        message(payload={"id": 5, "name": "5"}, key={"id": "5"}),
    ]
    staged = MessageStager(plan_of(), [hashing()], mask_key=KEY).stage(Records.of(texts, "m"))
    first, second = staged.tables[0][1].to_pylist()
    assert first["name"] is None
    assert second["name"] == first["id"] == KEY.hashed("5")
    assert (first["old_key"], second["old_key"]) == (KEY.hashed('{"id":4}'), None)
    assert second["row_key"] != first["row_key"]
    assert "name" not in first["absent"]


@pytest.mark.parametrize(
    ("column", "spellings", "canonical"),
    [
        ("rate", ["1.0", "1.00", "1", "10e-1", "1E+0"], "1"),
        ("rate", ["1.500E-400"], "15E-401"),
        ("amount", ["12.50", "12.5", '"BOI="'], "12.5"),
        ("exact", ["12.3450", '{"scale":3,"value":"MDk="}'], "12.345"),
        ("weight", ["0.1", "0.10", "1e-1", "0.1000000000000000055511151231257827"], "0.1"),
        ("weight", ["1e16", "10000000000000000"], "10000000000000000"),
        ("tags", ['[1, {"b":2.0,"a":"x"}]', '[1.0,{"a":"x","b":2}]'], '[1,{"a":"x","b":2}]'),
        ("name", ['"1.0"'], "1.0"),
        ("name", ['"1.00"'], "1.00"),
    ],
)
def test_equal_values_have_one_hash_however_they_are_spelled(
    column: str, spellings: list[str], canonical: str, tmp_path: Path
) -> None:
    columns = tuple(msgspec.structs.replace(c, type="text") if c.name == column else c for c in ORDER.columns)
    history = msgspec.structs.replace(ORDER, columns=columns, hashed=("row_key", column))
    row = '{"money":{"amount":VALUE}}' if column == "amount" else f'{{"{column}":VALUE}}'
    rows = [row.replace("VALUE", one) for one in spellings]
    sink = StageSink(tmp_path, "part", plan_of(), [history], mask_key=KEY)
    assert sink.append(Kernel(plan_of()).map(Records.of([record(row) for row in rows], "f"))) == {}
    (staged,) = sink.close()
    assert pq.ParquetFile(staged).read()[column].to_pylist() == [KEY.hashed(canonical)] * len(spellings)
    texts = [message(payload="row").replace(b'"row"', row.encode()) for row in rows]
    found = MessageStager(plan_of(), [history], mask_key=KEY).stage(Records.of(texts, "m")).tables[0][1]
    assert found[column].to_pylist() == [KEY.hashed(canonical)] * len(spellings)


def test_nothing_is_staged_plain_for_want_of_a_key() -> None:
    with pytest.raises(BugError, match="under which key"):
        MessageStager(plan_of(), [hashing()]).stage(Records.of([message()], "m"))


def test_a_hash_is_that_of_the_standard_and_a_fingerprint_the_hash_of_no_value() -> None:
    key = hmac.digest(b"a secret for tests", b"masked values of a warehouse", hashlib.sha256)
    assert KEY.hashed("é") == hmac.digest(key, "=é".encode(), hashlib.sha256).hex()
    assert KEY.fingerprint == hmac.digest(key, b"fingerprint", hashlib.sha256).hex() != KEY.hashed("fingerprint")
    assert MaskKey.of(b"another").hashed("é") != KEY.hashed("é")
