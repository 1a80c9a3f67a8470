"""Messages that exist are staged as a mapping run would stage them; what is none is set aside by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.loads.staged_parts import INFINITE_DATES
from metl_gui.engine.kernel.message_records import MessageRecords, Parts
from metl_gui.engine.kernel.plan import SourceType
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.staging.messages import StagedBatch
from metl_gui.engine.staging.sink import StageSink, stage_parts
from metl_gui.formats.canonical_keys import row_key
from tests.helpers.staging_ways import in_both_ways
from tests.unit.engine.test_stage_sink import CONNECT, ORDER, ROW, TRUNCATE, plan_of, record

_PLAN = plan_of(
    sources=[
        SourceType("shop.orders", "1", "money.amount", "bytes", f"{CONNECT}Decimal", 2),
        SourceType("other.orders", "1", "money.amount", "bytes", f"{CONNECT}Decimal", 1),
    ]
)


def message(**changed: Any) -> bytes:
    """A message, some of it changed, or some of its source."""
    source = {
        "schema": "shop.orders",
        "version": "1",
        "position": "shop.orders/3/5",
        "origin": {"lsn": 5},
        "committed_at_ms": 1,
        "snapshot": None,
        "old_key": None,
        "publication": None,
    }
    made: dict[str, Any] = {
        "entity": "order",
        "version": "2",
        "state": 7,
        "op": "c",
        "key": {"id": 1},
        "ts_ms": 2,
        "source": source,
        "payload": {"id": 1},
    }
    for name, value in changed.items():
        (source if name in source and name != "version" else made)[name] = value
    return json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode()


def stage(*texts: bytes, histories: tuple[EntityHistory, ...] = (ORDER,), **asked: Any) -> StagedBatch:
    return in_both_ways(_PLAN, histories, Records.of(list(texts), "m.jsonl"), **asked)


def rows_of(staged: StagedBatch) -> list[dict[str, Any]]:
    return [row for _, table in staged.tables for row in table.to_pylist()]


def reasons(staged: StagedBatch) -> list[tuple[int, str, str]]:
    return [(one.record, one.reason, json.loads(one.text)["detail"]) for one in staged.set_aside]


def test_rows_are_those_of_the_run_that_wrote_the_messages(tmp_path: Path) -> None:
    raws = [
        record(ROW, offset=1),
        record('{"id":2,"money":{"amount":"BNI="},"name":"gone","tags":{"b":[1.50]}}', "u", offset=2),
        record('{"id":3}', "d", offset=3),
        TRUNCATE,
        record(ROW.replace("9007199254740993", "4"), "r", offset=5),
    ]
    kernel = Kernel(_PLAN, publication=3)
    outcome = kernel.map(Records.of(raws, "f"))
    sink = StageSink(tmp_path / "run", "part", _PLAN, [ORDER])
    (tmp_path / "run").mkdir()
    assert sink.append(outcome) == {}
    expected = pq.ParquetFile(sink.close()[0]).read()
    texts = [text for text, entity in zip(outcome.messages(), outcome.sent_to(), strict=True) if entity == "order"]

    (tmp_path / "again").mkdir()
    parts = stage_parts(tmp_path / "again", "part")
    staged = stage(*texts)
    for entity, table in staged.tables:
        parts.hold(entity, table)
    found = pq.ParquetFile(parts.close()[0]).read()
    assert found.schema.equals(expected.schema, check_metadata=True)
    assert found.sort_by("position_offset") == expected.sort_by("position_offset")
    assert (staged.tally.messages_out, staged.tally.by_entity) == (5, {"order": 5})
    assert staged.tally.bytes_in == staged.tally.bytes_out == sum(map(len, texts))


_KEYS = st.dictionaries(
    st.text('ab!" é', max_size=2),
    st.sampled_from([0, 5, -3, 1.5, True, None, "x", 'y"', {"c": 1}]),
    min_size=1,
    max_size=3,
)


@given(st.lists(_KEYS, min_size=1, max_size=8))
def test_rows_of_any_keys_are_told_apart_by_their_canonical_text(keys: list[dict[str, Any]]) -> None:
    texts = [json.dumps(json.loads(message(key=one)), separators=(",", ":"), ensure_ascii=False) for one in keys]
    found = [row["row_key"] for row in rows_of(stage(*(text.encode() for text in texts)))]
    assert found == [row_key(json.dumps(one, ensure_ascii=False).encode()) for one in keys]


_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "id": st.integers(-(10**38), 10**38) | st.sampled_from([1.5, "1", True]),
    "money": st.fixed_dictionaries(
        {"amount": st.sampled_from(["BNI=", "!", 1.25, 1.255, -0.0, 10**40]) | st.integers()}
    ),
    "rate": st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.just("x"),
    "weight": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**18), 10**18),
    "is_paid": st.booleans() | st.just(1),
    "day": st.integers(-800_000, 3_000_000) | st.sampled_from([*INFINITE_DATES, "2026-01-01"]),
    "at": st.fixed_dictionaries(
        {
            "local": st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(0, 10**13),
            "zoned": st.sampled_from(
                ["infinity", "-infinity", "2026-11-22T01:02:03Z", "2026-11-22", "0001-01-01T00:00:00Z"]
            ),
        }
    ),
    "tags": st.lists(st.integers(), max_size=2) | st.just({"b": "é"}),
    "name": st.sampled_from(["x", "gone", "é\\n", "", 5]),
    "picture": st.sampled_from(["AAEC", "!", 5]),
}


@given(
    st.lists(
        st.tuples(
            st.fixed_dictionaries({}, optional={name: st.none() | value for name, value in _VALUES.items()}),
            st.sampled_from("crud"),
            st.sampled_from(["1634052484000", "null", "253402300800000"]),
        ),
        max_size=8,
    )
)
def test_whatever_rows_hold_messages_become_the_rows_of_the_run_that_wrote_them(
    changes: list[tuple[dict[str, Any], str, str]],
) -> None:
    raws = [
        record(json.dumps({"id": 1} | row), op, offset).replace(b"1634052484000", time.encode())
        for offset, (row, op, time) in enumerate(changes)
    ]
    outcome = Kernel(_PLAN).map(Records.of(raws, "f"))
    held: list[pa.Table] = []
    sink = StageSink(Path(), "part", _PLAN, [ORDER])
    sink._parts.hold = lambda key, table: held.append(table)  # type: ignore[method-assign]  # noqa: ARG005  # nothing is written
    refused = sink.append(outcome)
    ours = [at for at, entity in enumerate(outcome.sent_to()) if entity == "order"]
    staged = stage(*(outcome.message(at) for at in ours))
    # A record is refused whole, a message alone; of a record each message here is refused or none.
    assert {int(outcome.records[ours[one.record]]) for one in staged.set_aside} == set(refused)
    details = {int(outcome.records[ours[at]]): detail for at, _, detail in reasons(staged)}
    assert all(details[row] == refusal.detail for row, refusal in refused.items())
    kept = [pa.concat_tables(tables) if tables else None for tables in (held, [table for _, table in staged.tables])]
    if kept[0] is None or kept[1] is None:
        assert kept == [None, None]
        return
    order: list[tuple[str, Literal["ascending", "descending"]]]
    order = [("position_offset", "ascending"), ("op", "descending")]
    assert kept[0].sort_by(order).equals(kept[1].sort_by(order))


def test_texts_are_decimals_of_the_scale_of_their_source() -> None:
    texts = [
        message(schema=schema, payload={"id": 1, "money": {"amount": "BNI="}})
        for schema in ("shop.orders", "other.orders", "shop.orders")
    ]
    assert [str(row["amount"]) for row in rows_of(stage(*texts))] == ["12.34", "123.40", "12.34"]


def test_what_is_unchanged_is_absent_whatever_the_payload_says() -> None:
    (row,) = rows_of(stage(message(payload={"id": 1, "name": "x"}, unchanged=["name", "no.such"])))
    assert row["name"] is None
    assert "name" in row["absent"]
    assert "id" not in row["absent"]


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (b"", "Input data was truncated"),
        (b"[]", "Expected `object`, got `array`"),
        (b"{", "Input data was truncated"),
        (b'{"entity":"order"}', "Object missing required field"),
        (b'{"entity":"\xff"}', "byte 11 is not UTF-8"),
        (b'{"entity":' + b"[" * 70 + b"]" * 70 + b"}", "nested deeper than 64"),
        (message(op="m"), "Invalid enum value 'm'"),
        (message(entity="nobody"), "no entity is called nobody"),
        (message(version="9"), "no version is called order@9"),
        (message(key=[1]), "its key is no object"),
        (message(old_key="x"), "its old_key is no object"),
        (message(payload=[1]), "its payload is no object of its attributes"),
        (message(payload={"id": 1, "money": 5}), "its payload is no object of its attributes"),
        (message(publication=-1), "Expected `int` >= 0"),
        (message(state=1 << 63), "Expected `int` <= 9223372036854775807"),
        (message(snapshot="first"), "Expected `bool | null`, got `str`"),
    ],
)
def test_what_is_no_message_of_the_state_is_set_aside_alone(text: bytes, detail: str) -> None:
    staged = stage(message(), text, message())
    assert [(record, reason) for record, reason, _ in reasons(staged)] == [(1, "malformed")]
    assert detail in reasons(staged)[0][2]
    assert len(rows_of(staged)) == 2
    assert (staged.tally.read, staged.tally.mapped, staged.tally.set_aside) == (3, 2, 1)


def test_a_version_of_an_entity_is_named_by_all_but_truncates() -> None:
    staged = stage(*(message(op=op, version=None, key=None, payload={}) for op in ("t", "u")))
    assert [row["op"] for row in rows_of(staged)] == ["t"]
    assert reasons(staged) == [(1, "malformed", "no canonical message: it names no version of its entity")]


@pytest.mark.parametrize(
    ("changed", "attribute"),
    [
        ({"payload": {"id": 1.5}}, "id"),
        ({"payload": {"id": 1, "money": {"amount": 1.005}}}, "money.amount"),
        ({"payload": {"id": 1, "name": 5}}, "name"),
        ({"committed_at_ms": "yesterday"}, "source.committed_at_ms"),
        ({"ts_ms": 10**18}, "ts_ms"),
    ],
)
def test_a_value_that_does_not_fit_sets_its_message_aside_and_names_the_attribute(
    changed: dict[str, Any], attribute: str
) -> None:
    staged = stage(message(), message(**changed), message(key={"id": 3}))
    assert [(record, reason) for record, reason, _ in reasons(staged)] == [(1, "type_mismatch")]
    assert reasons(staged)[0][2].startswith(f"order@2 {attribute} takes ")
    assert [row["row_key"] for row in rows_of(staged)] == ['{"id":1}', '{"id":3}']
    row = json.loads(staged.set_aside[0].text)
    assert (row["schema"], row["version"], row["state"]) == ("shop.orders", "1", 7)
    assert row["position"].startswith("m.jsonl@")
    assert row["raw"].encode() == message(**changed)


def test_messages_of_entities_without_a_history_are_counted_and_left() -> None:
    staged = stage(message(entity="other", version="1", payload={"number": "x"}), message())
    assert (staged.tally.by_skip, staged.tally.by_entity) == ({"other_entity": 1}, {"order": 1})


def test_the_publication_that_is_missing_is_the_state_in_tests_and_0_in_production() -> None:
    texts = message(), message(publication=4)
    assert [row["publication"] for row in rows_of(stage(*texts))] == [7, 4]
    assert [row["publication"] for row in rows_of(stage(*texts, is_production=True))] == [0, 4]


def test_messages_of_before_end_with_the_origin() -> None:
    made = json.loads(message())
    made["source"] = {name: made["source"][name] for name in ("schema", "version", "position", "origin")}
    (row,) = rows_of(stage(json.dumps(made).encode()))
    assert (row["committed_at"], row["snapshot"], row["old_key"], row["publication"]) == (None, None, None, 7)


def test_records_of_topics_are_messages_and_tombstones() -> None:
    parts = Parts([("out.order", 0)] * 2, [7, 8], [1, 1], [b'{"id":1}'] * 2, [b"[]"] * 2, [message(), None])
    staged = in_both_ways(_PLAN, (ORDER,), MessageRecords.of(parts))
    assert (staged.tally.mapped, staged.tally.by_skip) == (1, {"tombstone": 1})


def test_a_message_of_which_only_the_beginning_is_there_is_set_aside() -> None:
    records = Records.of([message()[:20], message()], "m.jsonl", sizes=[5000, len(message())])
    staged = in_both_ways(_PLAN, (ORDER,), records)
    assert [(one.record, one.reason) for one in staged.set_aside] == [(0, "too_large")]
    assert staged.tally.mapped == 1


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.sampled_from(["id", "a"]), below, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*json.loads(message()), *json.loads(message())["source"]]), _JSON))
def test_no_message_stops_those_beside_it(changed: dict[str, Any]) -> None:
    try:
        text = message(**changed)
    except UnicodeEncodeError:
        return
    staged = stage(message(), text, message())
    assert staged.tally.read == 3
    assert staged.tally.mapped >= 2
    assert sum(table.num_rows for _, table in staged.tables) == staged.tally.mapped
    assert msgspec.json.decode(b"[%b]" % b",".join(one.text for one in staged.set_aside)) is not None
    assert all(isinstance(table, pa.Table) for _, table in staged.tables)
