"""What files are, without a window: kinds, numbers, what a tree knows already, which source a run would read."""

from __future__ import annotations

import json
from pathlib import Path

import fastavro
import pytest

from metl_gui.core.progress import Watch
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import RunCancelled, SchemaError
from metl_gui.workbench.exports.files import export
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.importing import dropped_files
from metl_gui.workbench.importing.dropped_files import Novelty, UnreadTable, likely_side, novelty, recognize
from metl_gui.workbench.importing.schema_import import add_reading
from metl_gui.workbench.session import Workbench


def schema(folder: Path, name: str, *columns: str) -> Path:
    path = folder / f"{name}.{len(columns)}.json"
    path.write_text(
        json.dumps({"title": name, "type": "object", "properties": {column: {"type": "string"} for column in columns}})
    )
    return path


def messages(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text('{"before": null, "after": {"id": 1}, "op": "c", "source": {"db": "x", "table": "t"}}\n')
    return path


def test_a_folder_is_sorted_into_kinds(tmp_path: Path) -> None:
    schema(tmp_path, "fx.a", "id")
    messages(tmp_path, "a.jsonl")
    Workbench.create(tmp_path / "p.metl").close()
    (tmp_path / "m.csv").write_text(
        "schema,schema_version,attribute,entity,entity_version,cdm_attribute\nfx.a,1,id,a,1,id\nfx.a,1\n"
    )
    (tmp_path / "notes.bin").write_bytes(b"\x00\x01")
    found = recognize([tmp_path])
    assert found.projects == (tmp_path / "p.metl",)
    assert [declaration.name for declaration in found.schemas.declarations] == ["fx.a"]
    assert [(table.rows, table.problems) for table in found.tables] == [(1, 1)]
    assert found.messages == (tmp_path / "a.jsonl",)
    assert [Path(refused.source).name for refused in found.refused] == ["notes.bin"]


@pytest.mark.parametrize(
    ("dropped", "source"),
    [(["cdc/a.jsonl"], "cdc/a.jsonl"), (["cdc"], "cdc"), (["cdc/a.jsonl", "cdc/b.jsonl"], "cdc"), (["."], ".")],
)
def test_a_run_reads_the_one_file_or_the_folder_of_all(tmp_path: Path, dropped: list[str], source: str) -> None:
    messages(tmp_path / "cdc", "a.jsonl")
    messages(tmp_path / "cdc", "b.jsonl")
    assert recognize([tmp_path / name for name in dropped]).message_source == str(tmp_path / source)


def test_an_avro_data_file_is_a_schema_and_messages_too(tmp_path: Path) -> None:
    record = {"type": "record", "name": "shop.Order", "fields": [{"name": "id", "type": "long"}]}
    (tmp_path / "order.avsc").write_text(json.dumps(record))
    with (tmp_path / "data.avro").open("wb") as file:
        fastavro.writer(file, record, [{"id": 1}])
    found = recognize([tmp_path])
    assert [declaration.name for declaration in found.schemas.declarations] == ["shop.Order"] * 2
    assert found.schemas.wire
    assert found.messages == (tmp_path / "data.avro",)
    assert not found.refused


def test_what_a_tree_knows_is_told_from_what_is_new(tmp_path: Path) -> None:
    known = [schema(tmp_path, "fx.a", "id"), schema(tmp_path, "fx.b", "id")]
    with Workbench.create(tmp_path / "p.metl") as workbench:
        add_reading(workbench, Side.CDM, recognize(known).schemas)
        more = [*known, schema(tmp_path, "fx.a", "id", "name"), schema(tmp_path, "fx.c", "id")]
        reading = recognize(more).schemas
        in_cdm, in_extraction = (novelty(reading, workbench.document, side) for side in (Side.CDM, Side.EXTRACTION))
        assert in_cdm == Novelty(3, 1, 4, 2, (("fx.a", ("",)), ("fx.c", ("",))))
        assert in_extraction == Novelty(3, 3, 4, 4, (("fx.a", ("", "")), ("fx.b", ("",)), ("fx.c", ("",))))
        assert likely_side(reading, workbench.document) is Side.CDM


def test_a_version_that_repeats_one_before_it_among_the_files_is_not_new_twice(tmp_path: Path) -> None:
    files = [schema(tmp_path, "fx.a", "id"), schema(tmp_path, "fx.a", "id"), schema(tmp_path, "fx.a", "id", "name")]
    reading = recognize(files).schemas
    with Workbench.create(tmp_path / "p.metl") as workbench:
        told = novelty(reading, workbench.document, Side.EXTRACTION)
        added = add_reading(workbench, Side.EXTRACTION, reading)
    assert told.new_versions == len(added.added) == 2


def test_versions_that_messages_show_are_as_new_as_an_import_finds_them(tmp_path: Path) -> None:
    """Types read off data change with it: the same columns are the same version."""
    rows = [{"id": 1}, {"id": "one"}, {"id": 1, "name": "a"}]
    files = [tmp_path / f"{at}.jsonl" for at in range(len(rows))]
    for path, row in zip(files, rows, strict=True):
        place = {"connector": "postgresql", "name": "x", "schema": "public", "table": "t"}
        envelope = {"before": None, "after": row, "op": "c", "source": place}
        path.write_text(json.dumps(envelope) + "\n")
    first = recognize(files[:1]).message_schemas
    both = recognize(files[1:]).message_schemas
    assert first is not None
    assert both is not None
    assert all(one.inferred for one in (*first.declarations, *both.declarations))
    with Workbench.create(tmp_path / "p.metl") as workbench:
        add_reading(workbench, Side.EXTRACTION, first)
        told = novelty(both, workbench.document, Side.EXTRACTION)
        assert both.declarations[0].fingerprint != first.declarations[0].fingerprint
        assert (told.versions, told.new_versions) == (2, 1)
        assert len(add_reading(workbench, Side.EXTRACTION, both).added) == 1
        assert novelty(both, workbench.document, Side.EXTRACTION).new_versions == 0


def test_schemas_that_no_tree_knows_belong_to_the_extraction_tree(tmp_path: Path) -> None:
    with Workbench.create(tmp_path / "p.metl") as workbench:
        assert likely_side(recognize([schema(tmp_path, "fx.a", "id")]).schemas, workbench.document) is Side.EXTRACTION


def test_too_many_files_are_refused_before_any_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dropped_files, "MOST_FILES", 2)
    for number in range(3):
        (tmp_path / f"{number}.json").write_bytes(b"\xff")
    with pytest.raises(SchemaError, match="holds more than 2 files"):
        recognize([tmp_path])


def test_looking_can_be_stopped(tmp_path: Path) -> None:
    schema(tmp_path, "fx.a", "id")
    with pytest.raises(RunCancelled):
        recognize([tmp_path], Watch(is_cancelled=lambda: True))


def test_a_project_without_its_suffix_is_one_and_a_file_with_it_may_be_none(tmp_path: Path) -> None:
    Workbench.create(tmp_path / "p.metl").close()
    (tmp_path / "p.metl").rename(tmp_path / "copy")
    (tmp_path / "text.metl").write_text("hello")
    found = recognize([tmp_path])
    assert found.projects == (tmp_path / "copy",)
    assert "is not a METL project file" in found.refused[0].reason


def test_a_workbook_of_a_mapping_is_told_from_one_of_answers(mapped: Workbench, tmp_path: Path) -> None:
    export(mapped.document, EXPORTS["xlsx"], tmp_path / "mapping.xlsx")
    found = recognize([tmp_path / "mapping.xlsx"])
    assert [(table.path.name, table.rows, table.problems) for table in found.tables] == [("mapping.xlsx", 6, 0)]
    assert (found.sheets, found.refused) == ((), ())


def test_a_table_of_another_shape_is_told_with_its_titles(tmp_path: Path) -> None:
    (tmp_path / "theirs.csv").write_text("table,field,entity,target\nfx.a,id,a,id\n")
    (tmp_path / "numbers.csv").write_text("a,b,c\n1,2,3\n")
    found = recognize([tmp_path])
    assert found.unread_tables == (UnreadTable(tmp_path / "theirs.csv", ("table", "field", "entity", "target")),)
    assert [Path(refused.source).name for refused in found.refused] == ["numbers.csv"]
