"""Messages in Parquet are staged as the same messages in JSON are; what is none of them is said or set aside alone."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.dimensional.loads.mask_key import MaskKey
from metl_gui.core.runs.report import check_sums
from metl_gui.core.runs.run_spec import SourceSpec
from metl_gui.engine.kernel.outcomes import MappedBatch, hidden_row
from metl_gui.engine.kernel.plan import BlockPlan, ColumnPlan, Plan, SchemaPlan, SourceType, VersionPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sinks.parquet import ParquetSink
from metl_gui.engine.sources.files import FileRange
from metl_gui.engine.sources.typed_addresses import holds_typed, reads_typed
from metl_gui.engine.sources.typed_files import TypedFileSource, list_typed, read_typed
from metl_gui.engine.staging.decimal_texts import decimal_texts
from metl_gui.engine.staging.messages import MessageStager, StagedBatch
from metl_gui.engine.staging.typed_messages import TypedStager
from metl_gui.engine.staging.typed_values import base64_texts
from metl_gui.errors import RunError
from metl_gui.formats.hidden_values import HIDDEN
from tests.unit.engine.test_message_staging import _VALUES
from tests.unit.engine.test_stage_sink import CONNECT, ORDER, PLANS, ROW, TRUNCATE, plan_of, record

SCALED = [SourceType("shop.orders", "1", "money.amount", "bytes", f"{CONNECT}Decimal", 2)]
PLAN = plan_of(
    [*PLANS, ColumnPlan("ratio", "double"), ColumnPlan("small", "bytes", f"{CONNECT}Decimal", 9)],
    sources=SCALED,
)
MORE = (
    HistoryColumn("ratio", "ratio", "float", {"2": "ratio"}),
    HistoryColumn("small", "small", "decimal(38,9)", {"2": "small"}),
)
OWN = msgspec.structs.replace(ORDER, columns=(*ORDER.columns, *MORE))
AS_TEXT = msgspec.structs.replace(OWN, columns=tuple(msgspec.structs.replace(one, type="text") for one in OWN.columns))
"""As where versions of an entity have each attribute in different types."""

MASKED = msgspec.structs.replace(
    AS_TEXT, hashed=("name", "row_key", "rate", "ratio", "amount", "small", "weight", "tags", "exact", "id", "picture")
)
KEY = MaskKey(b"a key for tests alone, of 32 bytes")


def kept_texts(outcome: MappedBatch, refused: Sequence[int]) -> list[bytes]:
    return [outcome.message(at) for at, record in enumerate(outcome.records.tolist()) if record not in refused]


def write(folder: Path, raws: Sequence[bytes], plan: Plan = PLAN, **asked: Any) -> list[bytes]:
    """Write messages in Parquet, and return them as JSON; records that typed columns refuse are in neither."""
    folder.mkdir(exist_ok=True)
    outcome = Kernel(plan, **asked).map(Records.of(list(raws), "f"))
    sink = ParquetSink(folder, "part-000000-0", plan)
    refused = sink.append(outcome)
    sink.close()
    return kept_texts(outcome, list(refused))


def stage(
    folder: Path, plan: Plan = PLAN, histories: Sequence[EntityHistory] = (OWN,), **asked: Any
) -> list[StagedBatch]:
    """Stage a folder as the tasks of a run do."""
    files, tasks = TypedFileSource(list_typed(str(folder)), plan).cut(None, 2)
    stager = TypedStager(plan, histories, **asked)
    found = [stager.stage(batch)[0] for task in tasks for batch in read_typed(files, task, plan)]
    for one in found:
        check_sums(one.tally)
    return found


def stage_lines(*texts: bytes) -> list[str]:
    """Stage messages in JSON, and return why they are set aside."""
    found = MessageStager(PLAN, (OWN,)).stage(Records.of(texts, "m.jsonl"))
    return [json.loads(row.text)["detail"] for row in found.set_aside]


def table_of(staged: Sequence[StagedBatch]) -> pa.Table | None:
    """Return all rows that were staged, in the order of their places."""
    order: list[tuple[str, Literal["ascending", "descending"]]]
    order = [("position_offset", "ascending"), ("op", "descending"), ("row_key", "ascending")]
    tables = [table for one in staged for _, table in one.tables]
    if not tables:
        return None
    found = pa.concat_tables(tables).sort_by(order)
    for at, field in enumerate(found.schema):
        if pa.types.is_floating(field.type):  # what is no number equals nothing
            found = found.set_column(at, field.name, found.column(at).cast(pa.string()))
    return found


def reasons(staged: Sequence[StagedBatch]) -> list[str]:
    return sorted(row.reason for one in staged for row in one.set_aside)


def check_same(
    folder: Path, raws: Sequence[bytes], history: EntityHistory = OWN, plan: Plan = PLAN, **asked: Any
) -> list[StagedBatch]:
    """Check that messages become the same rows from Parquet as from JSON."""
    texts = write(folder, raws, plan)
    lines = MessageStager(plan, [history], **asked).stage(Records.of(texts, "m.jsonl"))
    found = stage(folder, plan, [history], **asked) if texts else []
    expected = table_of([lines])
    same = table_of(found)
    if expected is None or same is None:
        assert (expected, same) == (None, None) or (same or expected).num_rows == 0  # type: ignore[union-attr]
    else:
        assert same.schema.equals(expected.schema, check_metadata=True)
        assert same.equals(expected)
    assert reasons(found) == reasons([lines])
    for name in ("read", "mapped", "skipped", "set_aside"):
        assert sum(getattr(one.tally, name) for one in found) == getattr(lines.tally, name)
    return found


FULL = ROW.replace("1.500E-400", "1.500")
RAWS = [
    record(FULL, offset=1),
    record('{"id":2,"money":{"amount":"BNI="},"name":"gone","tags":{"b":[1.50]}}', "u", offset=2),
    record('{"id":3}', "d", offset=3),
    TRUNCATE,
    record(FULL.replace("9007199254740993", "4"), "r", offset=5),
    record('{"id":6,"weight":"NaN","ratio":"Infinity","money":{"amount":1.5},"small":1E-8}', offset=6),
]


@pytest.mark.parametrize("history", [OWN, AS_TEXT, MASKED], ids=["own types", "as text", "hashed"])
def test_messages_become_the_same_rows_as_from_json(tmp_path: Path, history: EntityHistory) -> None:
    found = check_same(tmp_path, RAWS, history, mask_key=KEY)
    assert sum(one.tally.mapped for one in found) == 5 + (history is OWN)
    assert sum(one.tally.by_skip.get("other_entity", 0) for one in found) == 6


SCALE_4 = ColumnPlan("money.amount", "bytes", f"{CONNECT}Decimal", 4)
LATER = [
    PLANS[0],
    SCALE_4,
    *(one for one in PLANS[2:] if one.path not in ("rate", "tags")),
    ColumnPlan("rate", "string"),
]
"""Version 3 of the entity has decimals of another scale, a text for a number, and no tags."""


def plan_of_versions() -> Plan:
    """Two schemas that feed two versions of an entity, each with attributes that the other does not map."""
    first, later = plan_of(PLAN.entities[0].columns, SCALED), plan_of(LATER)
    entities = (first.entities[0], msgspec.structs.replace(later.entities[0], version="3"))
    paths = tuple(one.path for one in LATER)
    block = BlockPlan("order", "3", tuple((path, path) for path in paths if path not in ("name", "is_paid")))
    version = VersionPlan("7", "", paths, key=("id",), blocks=(block,), is_inferred=True)
    other = SchemaPlan("other.orders", (version,), placeholder="gone")
    return msgspec.structs.replace(first, schemas=(*first.schemas, other), entities=entities)


VERSIONS = plan_of_versions()
_AT_LATER = {one.path for one in LATER}
OF_VERSIONS = msgspec.structs.replace(
    OWN,
    columns=tuple(
        msgspec.structs.replace(
            one,
            type="text" if one.name in ("amount", "rate") else one.type,
            paths={label: one.path for label in "23" if label == "2" or one.path in _AT_LATER},
        )
        for one in OWN.columns
    ),
    hashed=("name",),
)
_ROWS = st.fixed_dictionaries(
    {"id": st.integers(1, 3) | _VALUES["id"]},
    optional={
        **{name: st.none() | value for name, value in _VALUES.items() if name != "id"},
        "ratio": st.none() | st.floats() | st.sampled_from(["NaN", "Infinity"]),
        "small": st.none() | st.sampled_from(["BNI=", 0.0, 1e-8, 12.5, 3]) | st.integers(-99, 99),
    },
)
_TIMES = st.sampled_from(["1634052484000", "null", "253402300800000"])
_CHANGES = st.tuples(_ROWS, st.sampled_from("crudtk"), _TIMES, st.sampled_from(["shop.orders", "other.orders"]))


def change_of(change: tuple[dict[str, Any], str, str, str], offset: int) -> bytes:
    """Return a change of a row, of the key of one (``k``), or the truncate of all (``t``)."""
    row, op, time, schema = change
    if op == "t":
        made = TRUNCATE.replace(b'"offset":9', f'"offset":{offset}'.encode())
    elif op == "k":
        before = json.dumps(row | {"id": 77})
        made = record(json.dumps(row), "u", offset).replace(b'{"after"', f'{{"before":{before},"after"'.encode())
    else:
        made = record(json.dumps(row), op, offset)
    return made.replace(b"1634052484000", time.encode()).replace(b"shop.orders", schema.encode())


@given(st.lists(_CHANGES, max_size=8), st.sampled_from([OWN, AS_TEXT, MASKED]))
def test_whatever_messages_hold_they_become_the_same_rows_as_from_json(
    changes: list[tuple[dict[str, Any], str, str, str]], history: EntityHistory
) -> None:
    raws = [change_of((*one[:3], "shop.orders"), offset) for offset, one in enumerate(changes)]
    with TemporaryDirectory() as place:
        check_same(Path(place), raws, history, mask_key=KEY)


@given(st.lists(_CHANGES, max_size=8))
def test_messages_of_several_schemas_and_versions_become_the_same_rows_as_from_json(
    changes: list[tuple[dict[str, Any], str, str, str]],
) -> None:
    raws = [change_of(one, offset) for offset, one in enumerate(changes)]
    with TemporaryDirectory() as place:
        check_same(Path(place), raws, OF_VERSIONS, VERSIONS, mask_key=KEY)


def part_of(folder: Path) -> Path:
    return next(folder.glob("order/version=2/*.parquet"))


def test_what_is_absent_is_null_whatever_stands_in_its_column(tmp_path: Path) -> None:
    write(tmp_path, [record(FULL)])
    part = part_of(tmp_path)
    table = pq.ParquetFile(part).read()
    at = table.schema.get_field_index("absent")
    left_out: Any = pa.array([["name", "rate", "no.such"]], pa.list_(pa.string()))
    pq.write_table(table.set_column(at, "absent", left_out), part)
    found = table_of(stage(tmp_path))
    assert found is not None
    (row,) = found.select(["absent", "name", "rate", "id"]).to_pylist()
    assert (row["name"], row["rate"], sorted(row["absent"])) == (None, None, ["name", "rate"])
    assert row["id"] == 9007199254740993


def changed(folder: Path, change: Callable[[pa.Table], pa.Table]) -> Path:
    """Write messages and change them as another program might."""
    write(folder, [record(FULL, offset=1), record(FULL.replace("9007199254740993", "4"), offset=2)])
    part = part_of(folder)
    pq.write_table(change(pq.ParquetFile(part).read()), part)
    return part


def with_column(name: str, values: Any) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.set_column(table.schema.get_field_index(name), name, values)


def in_source(name: str, values: Any) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        source: Any = table["source"].combine_chunks()
        names = [field.name for field in source.type]
        parts = [values if one == name else source.field(one) for one in names]
        return with_column("source", pa.StructArray.from_arrays(parts, names))(table)

    return change


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda table: table.drop_columns(["absent"]), "does not say what its messages leave out"),
        (lambda table: table.drop_columns(["ts_ms"]), "has no column ts_ms"),
        (lambda table: table.drop_columns(["payload"]), "has no column payload"),
        (lambda table: table.drop_columns(["digits"]), "has no column digits.money.amount"),
        (lambda table: table.drop_columns(["op"]), "has other columns"),
        (lambda _: pa.table({"number": [1, 2]}), "has other columns"),
        (with_column("state", pa.array(["7", "7"])), "state is string, and not int64"),
        (with_column("payload", pa.array([{"id": "1"}] * 2)), "payload.id is string, and not int64"),
        (with_column("absent", pa.array(["", ""])), "absent is string, and not list"),
        (with_column("source", pa.array([{"schema": "s"}] * 2)), "has no column source.version"),
        (lambda table: table.append_column("op", table["key"]), "has other columns"),
    ],
)
def test_a_file_that_lacks_something_is_refused_with_the_column_and_the_way_out(
    tmp_path: Path, change: Callable[[pa.Table], pa.Table], text: str
) -> None:
    part = changed(tmp_path, change)
    with pytest.raises(RunError) as caught:
        stage(tmp_path)
    assert str(part) in caught.value.text
    assert text in caught.value.text
    assert "--format parquet" in caught.value.hint
    assert "--format jsonl" in caught.value.hint


def garbled(content: bytes) -> bytes:
    """Change bytes in the middle of the first page, and leave the end as it is."""
    return content[:8] + bytes(one ^ 0x5A for one in content[8:400]) + content[400:]


@pytest.mark.parametrize(
    ("change", "title"),
    [
        (lambda content: content[: len(content) // 2], "cut off or damaged"),
        (lambda content: content[:-1], "cut off or damaged"),
        (lambda _: b"", "no Parquet"),
        (lambda _: b"PAR1", "cut off or damaged"),
        (lambda _: b'{"entity":"order"}\n', "no Parquet"),
        (garbled, "cut off or damaged"),
    ],
)
def test_a_file_that_is_damaged_is_refused_by_its_name(
    tmp_path: Path, change: Callable[[bytes], bytes], title: str
) -> None:
    write(tmp_path, [record(FULL)])
    part = part_of(tmp_path)
    part.write_bytes(change(part.read_bytes()))
    with pytest.raises(RunError, match=title) as caught:
        stage(tmp_path)
    assert str(part) in caught.value.text


def test_text_that_is_none_is_damage(tmp_path: Path) -> None:
    broken: Any = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")]
    )
    changed(tmp_path, in_source("schema", broken))
    with pytest.raises(RunError, match="damaged"):
        stage(tmp_path)


@pytest.mark.parametrize(
    ("change", "reason", "text"),
    [
        (with_column("op", pa.array(["c", "m"])), "malformed", "none of c, r, u, d, t"),
        (with_column("op", pa.array(["c", None])), "malformed", "its op is null"),
        (with_column("state", pa.array([7, -1])), "malformed", "its state is below 0"),
        (with_column("entity", pa.array(["order", "other"])), "malformed", "another entity than its file, order"),
        (with_column("key", pa.array(['{"id":1}', "[1]"])), "malformed", "its key is no object"),
        (with_column("key", pa.array(['{"id":1}', '{"id":'])), "malformed", "no canonical message"),
        (with_column("absent", pa.array([[], None], pa.list_(pa.string()))), "malformed", "what it leaves out"),
        (with_column("ts_ms", pa.array([1, 10**18])), "type_mismatch", "order@2 ts_ms takes times"),
        (in_source("old_key", pa.array([None, "x"])), "malformed", "its old_key is no object"),
        (in_source("publication", pa.array([None, -5])), "malformed", "its publication is below 0"),
        (in_source("schema", pa.array(["shop.orders", None])), "malformed", "its schema is null"),
        (in_source("committed_at_ms", pa.array([1, 1 << 62])), "type_mismatch", "order@2 source.committed_at_ms"),
    ],
)
def test_a_row_that_is_no_message_is_set_aside_alone(
    tmp_path: Path, change: Callable[[pa.Table], pa.Table], reason: str, text: str
) -> None:
    changed(tmp_path, change)
    found = stage(tmp_path)
    (aside,) = (json.loads(row.text) for one in found for row in one.set_aside)
    assert (aside["reason"], aside["state"]) == (reason, 7)
    assert text in aside["detail"]
    assert aside["position"] == "order/version=2/part-000000-0-0.parquet@1"
    raw = json.loads(aside["raw"])
    assert raw["payload"]["name"] == "xé"
    assert raw["key"] in ({"id": 4}, {"id": 1}, None)
    assert stage_lines(aside["raw"].encode())[0].startswith("no canonical message")  # a replay reads no value wrong
    table = table_of(found)
    assert table is not None
    assert table["position_offset"].to_pylist() == [1]


def test_what_is_set_aside_is_hidden_where_it_is_masked_in_keys_and_numbers_as_written_too(tmp_path: Path) -> None:
    old_key = pa.array([None, '{"id":4}'])
    changed(tmp_path, lambda table: in_source("old_key", old_key)(with_column("op", pa.array(["c", "m"]))(table)))
    files, tasks = TypedFileSource(list_typed(str(tmp_path)), PLAN).cut(None, 1)
    names = frozenset({("id",), ("rate",), ("source", "old_key", "id")})
    (hidden,) = (
        json.loads(json.loads(hidden_row(row, records.raw(row.record), names).text)["raw"])
        for batch in read_typed(files, tasks[0], PLAN)
        for staged, records in [TypedStager(PLAN, (OWN,)).stage(batch)]
        for row in staged.set_aside
    )
    assert (hidden["key"], hidden["source"]["old_key"]) == ({"id": HIDDEN}, {"id": HIDDEN})
    assert (hidden["payload"]["id"], hidden["payload"]["rate"], hidden["digits"]["rate"]) == (HIDDEN,) * 3
    assert hidden["payload"]["name"] == "xé"


def test_a_time_of_no_calendar_sets_its_message_aside_and_names_the_attribute(tmp_path: Path) -> None:
    write(tmp_path, [record('{"id":1,"day":2932897}'), record('{"id":2,"day":5}')])
    (aside,) = (json.loads(row.text) for one in stage(tmp_path) for row in one.set_aside)
    assert aside["detail"].startswith("order@2 day takes dates of the years 1 to 9999, and not 2932897")


@pytest.mark.parametrize(
    ("names", "text"),
    [((b"nobody", b"2"), "no entity is called nobody"), ((b"order", b"9"), "no version is called order@9")],
)
def test_messages_of_what_the_state_does_not_know_are_set_aside(
    tmp_path: Path, names: tuple[bytes, bytes], text: str
) -> None:
    metadata = dict(zip((b"metl.entity", b"metl.entity_version"), names, strict=True))
    changed(tmp_path, lambda table: table.replace_schema_metadata(metadata))
    details = [json.loads(row.text)["detail"] for one in stage(tmp_path) for row in one.set_aside]
    assert details == [text] * 2


def test_what_another_program_wrote_anew_is_known_by_its_folders(tmp_path: Path) -> None:
    def rewritten(table: pa.Table) -> pa.Table:
        longer = table.set_column(0, "entity", table["entity"].cast(pa.large_string()))
        return longer.replace_schema_metadata(None)

    part = changed(tmp_path, rewritten)
    found = table_of(stage(tmp_path))
    assert found is not None
    assert found.num_rows == 2
    alone = tmp_path / "alone.parquet"
    part.rename(alone)
    with pytest.raises(RunError, match="not known whose messages"):
        stage(alone)


def test_row_groups_are_cut_into_tasks_and_each_row_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metl_gui.engine.sources.typed_files.range_bytes", lambda *_: 1)
    raws = [record(f'{{"id":{number},"name":"x"}}', offset=number) for number in range(100)]
    write(tmp_path, raws)
    part = part_of(tmp_path)
    pq.write_table(pq.ParquetFile(part).read(), part, row_group_size=7)
    files, tasks = TypedFileSource(list_typed(str(tmp_path / "order")), PLAN).cut(None, 2)
    assert len(tasks) == 15
    assert all(sum(piece.stop - piece.start for piece in task) > 0 for task in tasks)
    stager = TypedStager(PLAN, (OWN,))
    tables = [stager.stage(batch)[0] for task in tasks for batch in read_typed(files, task, PLAN)]
    found = table_of(tables)
    assert found is not None
    assert found["position_offset"].to_pylist() == list(range(100))
    assert {one.tally.bytes_in > 0 for one in tables} == {True}
    few = read_typed(files, [FileRange(0, 0, files[0].size_bytes)], PLAN, limit=10)
    assert sum(one.rows.num_rows for one in few) == 10


@given(st.lists(st.none() | st.binary(max_size=9)))
def test_bytes_are_written_in_base64(values: list[bytes | None]) -> None:
    found = base64_texts(pa.array([b"before", *values], pa.binary()).slice(1))
    assert found.to_pylist() == [None if one is None else b64encode(one).decode() for one in values]


@given(st.integers(0, 20), st.lists(st.none() | st.integers(-(10**27), 10**27)))
def test_decimals_are_written_with_all_digits_of_their_scale(scale: int, numbers: list[int | None]) -> None:
    values = [None if one is None else Decimal(one).scaleb(-scale) for one in numbers]
    found = decimal_texts(pa.array(values, pa.decimal128(38, scale)))
    assert found.to_pylist() == [None if one is None else format(one, "f") for one in values]


def test_messages_in_parquet_are_told_from_lines_by_their_files(tmp_path: Path) -> None:
    write(tmp_path, [record(FULL)])
    part, place = part_of(tmp_path), tmp_path / "order"
    assert holds_typed(str(place))
    assert holds_typed(str(part))
    assert holds_typed(str(place / "*" / "*.parquet"))
    unnamed = part.rename(part.with_suffix(".part"))
    assert holds_typed(str(unnamed))
    assert not holds_typed(str(place))
    assert not holds_typed(str(tmp_path / "nothing"))
    assert not holds_typed("kafka://broker/order")
    unnamed.rename(part)
    (place / "part.jsonl").write_text("{}\n")
    assert not holds_typed(str(place))
    spec = SourceSpec(address=str(part))
    assert not reads_typed(spec)
    assert reads_typed(msgspec.structs.replace(spec, holds="messages"))


def test_a_file_that_is_another_one_at_the_end_of_a_run_fails_it(tmp_path: Path) -> None:
    write(tmp_path, [record(FULL)])
    source = TypedFileSource(list_typed(str(tmp_path)), PLAN)
    files, _ = source.cut(None, 2)
    assert source.problems(files) == ()
    part = part_of(tmp_path)
    pq.write_table(pa.concat_tables([pq.ParquetFile(part).read()] * 2), part, row_group_size=1)
    with pytest.raises(RunError, match="changed during the run") as caught:
        source.problems(files)
    assert str(part) in caught.value.text
