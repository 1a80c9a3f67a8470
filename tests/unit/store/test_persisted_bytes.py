"""A project file holds what earlier versions wrote, and reads it: its JSON, its packed rows, its tables as a whole.

The statements that make the tables are held against those of every version by ``test_shape``.
"""

from __future__ import annotations

import importlib
import pkgutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import metl_gui.core
import metl_gui.store
from metl_gui.core.changes.draft import ChangeSet, EditContext
from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.warehouse import SetModel
from metl_gui.core.project.comments import CommentSubject, Spot
from metl_gui.core.project.refusals import RefusedRename, RefusedSuggestion
from metl_gui.core.project.sample_profiles import AttributeProfile, SchemaProfile
from metl_gui.core.project.version_tasks import ValueProfile, VersionTask, Waiting
from metl_gui.core.project.writer_schemas import WriterSchema
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Column, Dates, Dimension, Model
from metl_gui.store import tables
from metl_gui.store.creation import make_file
from metl_gui.store.edit_log import COMMAND, DOORS, WINDOW
from metl_gui.store.project_file import ProjectFile
from metl_gui.store.rows import packed_rows
from metl_gui.store.rows.packed_changes import LogFilter, pack_change, unpack_change
from tests.helpers.persisted import classes_in, filled, rows
from tests.unit.engine.persisted import EVENTS
from tests.unit.store.contents import parts
from tests.unit.store.editing import Editing
from tests.unit.store.persisted import COLUMNS

_WHO = EditContext("ada", 1_700_000_000_000)
MODEL = Model(
    name="small",
    tables=(
        Dimension(name="payment", entity="payment", columns=(Column(name="value", path="value", history=2),)),
        Dates(name="date", first="2026-01-01", last="2026-12-31"),
    ),
)
_OF_ONE_FILE = {("project", "id"), ("project", "created_ms")}
"""Columns that no two files have in common."""

_RAW_DEFLATE = -15
_DEFLATED = {
    ("edits", "change"): _RAW_DEFLATE,
    ("pending_versions", "declarations"): zlib.MAX_WBITS,
    ("included_samples", "samples"): zlib.MAX_WBITS,
    ("wire_schemas", "text"): zlib.MAX_WBITS,
}
"""Columns that hold text deflated, with the window that says how."""


def _deflated(text: bytes, bits: int) -> bytes:
    packing = zlib.compressobj(wbits=bits)
    return packing.compress(text) + packing.flush()


def _told(table: str, column: str, value: object) -> object:
    if (table, column) in _OF_ONE_FILE:
        return "..."
    if not isinstance(value, bytes):
        return value
    bits = _DEFLATED.get((table, column))
    return value.hex() if bits is None else zlib.decompress(value, bits).decode()


def _untold(table: str, column: str, kind: str, value: Any) -> object:
    bits = _DEFLATED.get((table, column))
    if kind != "BLOB" or value is None:
        return value
    return bytes.fromhex(value) if bits is None else _deflated(value.encode(), bits)


def contents(path: Path) -> dict[str, list[dict[str, object]]]:
    """Read every row of a file, what is deflated as text and what is packed in digits."""
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
        known = [name for (name,) in names if not name.startswith("sqlite_")]
        return {name: found for name in known if (found := _rows_of(connection, name))}


def _rows_of(connection: sqlite3.Connection, table: str) -> list[dict[str, object]]:
    found = connection.execute(f"SELECT * FROM {table}")
    columns = [column for column, *_ in found.description]
    listed = sorted(found, key=lambda row: [str(value) for value in row[:3]])
    return [{column: _told(table, column, value) for column, value in zip(columns, row, strict=True)} for row in listed]


def write(path: Path, found: Mapping[str, list[dict[str, object]]]) -> None:
    """Make a file of rows as ``contents`` tells them."""
    make_file(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, listed in found.items():
            kinds = {row[1]: row[2] for row in connection.execute(f"PRAGMA table_info({table})")}
            connection.execute(f"DELETE FROM {table}")
            for row in listed:
                values = [_untold(table, column, kinds[column], value) for column, value in row.items()]
                if table == "project":
                    values[:2] = ["01234567-89ab-cdef-0123-456789abcdef", 1]
                places = ", ".join("?" * len(values))
                connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", values)


def fill(path: Path) -> None:
    """Make a project with something in every table but the lease, which nobody holds afterwards."""
    declared = VersionDeclaration("fx.rates", (AttributeDeclaration("rate", "number", "decimal", 2, False),), "1")
    with ProjectFile.create(path, "ada") as project:
        editing = Editing(project)
        editing.small_world()
        editing.door = COMMAND
        editing.do(SetSettings(Side.EXTRACTION, 1, (("replica_identity", "full"),)))
        editing.do(ConfirmBlock(editing.key("fx.payments@1:payment@1"), "As agreed."))
        editing.door = WINDOW
        editing.schema("fx.payments", "3", "id:int64", "sum=amount")
        editing.undo_newest()
        editing.do(SetModel(MODEL))
        kept = project.kept
        kept.refused_renames.add([RefusedRename(Side.EXTRACTION, 1, "legacy", "note", 3, 4)], _WHO)
        kept.refused_suggestions.add([RefusedSuggestion(1, 2, 1, 3, "amount", "value")], _WHO)
        kept.comments.add(CommentSubject(Spot(1, 1, 1, 1), Spot(1, 1, 2, 2)), "Why this?", _WHO)
        kept.assignments.assign([(1, 1, 2)], "bob", _WHO)
        kept.states.publish(4, "first", _WHO)
        kept.states.add_export(4, _WHO.when_ms)
        kept.pending_imports.begin(Side.CDM, COMMAND, [declared], _WHO)
        task = VersionTask(
            0, "fx.rates", "1", declared, (ValueProfile("rate", 0.5, ("9.99",)),),
            (Waiting("/errors", "run-1", "test", "/in", 7),), _WHO.when_ms,
        )  # fmt: skip
        kept.version_tasks.collect([task], _WHO)
        kept.writer_schemas.keep([WriterSchema("7", "avro", '"string"', "fx.rates", "ab")], _WHO)
        kept.settings.put({"second_person_confirms": "yes"})
        profile = AttributeProfile("rate", (("number", 2),), 0.5, ("9.99",), 4, 4, 2)
        kept.samples.put_profiles([SchemaProfile(1, 4, _WHO.when_ms, (profile,))])
        kept.samples.include(1, b'{"when_ms":1,"raw":"{}"}\n', _WHO)
        project.kept.runs.add({"run_id": "run-1", "state": 4}, [{"event": "RunStopped"}], {"run_id": "run-1"}, None, 5)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_has_the_bytes_that_it_had_before(name: str) -> None:
    assert msgspec.json.encode(filled(COLUMNS[name])).decode() == rows("columns")[name]


@pytest.mark.parametrize("name", COLUMNS)
def test_the_bytes_of_before_are_read_as_what_they_were(name: str) -> None:
    assert msgspec.json.decode(rows("columns")[name], type=COLUMNS[name]) == filled(COLUMNS[name])


def test_every_row_of_the_case_file_is_held_against_a_value() -> None:
    assert list(rows("columns")) == list(COLUMNS)


def decoders() -> Iterator[tuple[str, Any]]:
    """Every decoder that a module of store or core keeps, by its name there, with the type that it reads."""
    for package in (metl_gui.store, metl_gui.core):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                decoder = getattr(value, "__self__", value)
                if isinstance(decoder, msgspec.json.Decoder):
                    yield f"{found.name}.{name}", decoder.type


def test_whatever_the_store_decodes_has_a_row() -> None:
    known = classes_in(*COLUMNS.values(), *EVENTS.values())
    read = dict(decoders())
    assert len(read) >= 10
    assert {name: left for name, kind in read.items() if (left := classes_in(kind) - known)} == {}


def test_a_change_is_packed_and_unpacked_as_before() -> None:
    text = rows("columns")["a change of the log"].encode()
    assert zlib.decompress(pack_change(filled(ChangeSet)), _RAW_DEFLATE) == text
    assert unpack_change(_deflated(text, _RAW_DEFLATE)) == filled(ChangeSet)


def test_a_change_without_models_is_packed_as_before_there_were_any() -> None:
    text = rows("columns")["a change of the log"]
    before = (text[: text.index(',"models":')] + "}").encode()
    change = replace(filled(ChangeSet), models=())
    assert zlib.decompress(pack_change(change), _RAW_DEFLATE) == before
    assert unpack_change(_deflated(before, _RAW_DEFLATE)) == change


def test_a_change_of_before_is_found_by_what_it_touched_and_by_nothing_else() -> None:
    text = rows("columns")["a change of the log"].encode()
    change = filled(ChangeSet)
    (block,), (version,) = change.blocks, change.versions
    assert version.before is not None
    assert LogFilter(keys=frozenset({block.key})).may_be_in(text)
    assert LogFilter(schema=(Side.EXTRACTION, version.before.schema_id)).may_be_in(text)
    assert LogFilter(versions=frozenset({(Side.EXTRACTION, block.key[0])})).may_be_in(text)
    assert LogFilter(model="text 1").may_be_in(text)
    assert not LogFilter(frozenset({(1, 2)}), (Side.CDM, 1), frozenset({(Side.CDM, 1)})).may_be_in(text)


_LAYOUT: Mapping[str, Callable[[], object]] = {
    "version of the tables": lambda: tables.VERSION,
    "record of a block": lambda: [kind for _, kind, *_ in packed_rows.RECORD.descr],
    "codes of statuses": lambda: [status.value for status in packed_rows.STATUSES],
    "codes of verdicts": lambda: [verdict.value for verdict in packed_rows.VERDICTS],
    "flag of an unconfirmed block": lambda: packed_rows.UNCONFIRMED,
    "numbers of an attribute": lambda: packed_rows.FIELDS,
    "doors": lambda: list(DOORS),
}


@pytest.mark.parametrize("name", _LAYOUT)
def test_the_layout_of_packed_rows_is_what_it_was_before(name: str) -> None:
    assert _LAYOUT[name]() == rows("project_layout")[name]


def test_a_project_with_something_of_everything_has_the_rows_that_it_had_before(tmp_path: Path) -> None:
    fill(tmp_path / "p.metl")
    found = contents(tmp_path / "p.metl")
    assert found == rows("project")
    with closing(sqlite3.connect(tmp_path / "p.metl")) as connection:
        there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert there - found.keys() == {"lease", "sqlite_sequence"}


def test_the_rows_of_before_are_read_as_the_project_that_they_were(tmp_path: Path) -> None:
    fill(tmp_path / "now.metl")
    write(tmp_path / "before.metl", rows("project"))
    told = []
    for name in ("now", "before"):
        with ProjectFile.open(tmp_path / f"{name}.metl", for_editing=False) as project:
            states = [parts(project.document(edit.state)) for edit in project.history()]
            kept = project.kept
            imports = [kept.pending_imports.versions(each.id) for each in kept.pending_imports.all()]
            told.append(
                (
                    project.history(),
                    states,
                    kept.data.read(),
                    imports,
                    kept.states.exported(),
                    kept.states.publication(),
                )
            )
            assert project.kept.runs.events("run-1") == [{"event": "RunStopped"}]
    assert told[0] == told[1]
