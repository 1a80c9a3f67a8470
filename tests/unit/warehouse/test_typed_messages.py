"""Messages in Parquet and the same messages in JSON make the same tables, in every database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.core.warehouse_model import Column
from metl_gui.engine.kernel.plan import BlockPlan, ColumnPlan, EntityPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sinks.parquet import ParquetSink
from metl_gui.engine.sources.typed_files import TypedFileSource, list_typed, read_typed
from metl_gui.engine.staging.messages import MessageStager, StagedBatch
from metl_gui.engine.staging.sink import stage_parts, staged_parts
from metl_gui.engine.staging.typed_messages import TypedStager
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import PERSON, dimension_rows, model_of, person_dimension

_COLUMNS = (
    ColumnPlan("id", "int64"),
    ColumnPlan("city", "string"),
    ColumnPlan("mood", "string"),
    ColumnPlan("nick", "string"),
    ColumnPlan("since", "string", "io.debezium.time.ZonedTimestamp"),
)


def _schema(name: str, *left_out: str) -> SchemaPlan:
    paths = tuple(one.path for one in _COLUMNS)
    block = BlockPlan("person", "1", tuple((path, path) for path in paths if path not in left_out))
    version = VersionPlan("1", "", paths, key=("id",), blocks=(block,), is_inferred=True)
    return SchemaPlan(name, (version,), placeholder="gone")


PLAN = Plan(
    7, "abc", (_schema("hr.people"), _schema("web.people", "mood")), entities=(EntityPlan("person", "1", _COLUMNS),)
)


def change(at: int, op: str, after: dict[str, object] | None, before: int = 0, schema: str = "hr.people") -> bytes:
    """A change of a person, the one with a key before."""
    value = {
        "before": {"id": before} if before else None,
        "after": after,
        "source": {"connector": "postgresql", "lsn": at, "ts_ms": 1_795_000_000_000 + at * 1000, "snapshot": "false"},
        "op": op,
        "ts_ms": 1_795_000_000_000 + at * 1000,
    }
    return json.dumps({"topic": schema, "partition": 0, "offset": at, "value": value}).encode()


KIEL = {"city": "Kiel", "mood": "x", "nick": "k", "since": "2026-01-01T00:00:00Z"}
CHANGES = [
    change(1, "c", {"id": 1, **KIEL}),
    change(2, "c", {"id": 2, **KIEL}, schema="web.people"),
    change(3, "u", {"id": 1, **KIEL, "city": "gone", "mood": None}),
    change(4, "u", {"id": 9, **KIEL, "city": "Ulm"}, before=1),
    change(5, "c", {"id": 3, **KIEL, "nick": None}),
    change(6, "d", None, before=3),
    change(7, "c", {"id": 3, **KIEL, "city": "Bonn"}),
    change(8, "t", None, schema="web.people"),
    change(9, "u", {"id": 2, **KIEL, "city": "Jena"}, schema="web.people"),
]


def _parts(folder: Path, staged: Sequence[StagedBatch]) -> tuple[StagedPart, ...]:
    folder.mkdir()
    parts = stage_parts(folder, "part")
    for one in staged:
        assert one.set_aside == []
        for entity, table in one.tables:
            parts.hold(entity, table)
    parts.close()
    return staged_parts(folder)


def _both_ways(folder: Path) -> dict[str, tuple[StagedPart, ...]]:
    """Stage what one run wrote, from its messages in JSON and in Parquet."""
    outcome = Kernel(PLAN).map(Records.of(CHANGES, "f"))
    (folder / "typed").mkdir()
    sink = ParquetSink(folder / "typed", "part", PLAN)
    assert sink.append(outcome) == {}
    sink.close()
    files, tasks = TypedFileSource(list_typed(str(folder / "typed")), PLAN).cut(None, 1)
    stager = TypedStager(PLAN, (PERSON,))
    typed = [stager.stage(batch)[0] for task in tasks for batch in read_typed(files, task, PLAN)]
    lines = MessageStager(PLAN, (PERSON,)).stage(Records.of(outcome.messages(), "m.jsonl"))
    return {"parquet": _parts(folder / "from parquet", typed), "json": _parts(folder / "from json", [lines])}


def test_the_tables_are_those_of_the_messages_in_json_and_the_other_form_changes_nothing(
    new_target: NewTarget, tmp_path: Path
) -> None:
    columns = (Column(name="city", path="city", history=2), Column(name="mood", path="mood"))
    _, shapes = model_of(person_dimension(columns=columns))
    owner = Owner(project="w", mode="test")
    both, rows, reports = _both_ways(tmp_path), {}, dict[str, LoadReport]()
    for kind, other in (("json", "parquet"), ("parquet", "json")):
        target = new_target(tmp_path)
        reports[kind] = load_parts(target, shapes, both[kind], "first", owner)
        rows[kind] = dimension_rows(target)
        again = load_parts(target, shapes, both[other], "again", owner)
        assert (again.appended, again.repeated) == (0, reports[kind].appended)
        assert (again.keys.changed, again.ambiguous_order) == (0, {})
        assert dimension_rows(target) == rows[kind]
    assert rows["parquet"] == rows["json"]
    assert len(rows["json"]) > 4
    assert reports["parquet"] == reports["json"]
