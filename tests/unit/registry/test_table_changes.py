"""Schema change events among messages: what they say of the versions that follow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.project.reader_result import ReaderResult, SchemaSuccession
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.errors import RecordError
from metl_gui.formats.record_kind import RecordKind
from metl_gui.registry.messages import connect_json
from metl_gui.registry.messages.change_records import RecordReader
from tests.helpers.shared import shared

PREFIX = "srv"


def row(table: str, *columns: str, schemas: bool = True) -> dict[str, Any]:
    """Make a message of a row with the columns; the text after a colon is the type."""
    typed = [column.partition(":") for column in columns]
    values = {name: 1 if type_.startswith("int") else "x" for name, _, type_ in typed}
    source = {"connector": "mysql", "name": PREFIX, "db": "inv", "table": table}
    payload = {"before": None, "after": values, "source": source, "op": "c", "ts_ms": 1}
    value: dict[str, Any] = payload
    if schemas:
        fields = [{"field": name, "type": type_ or "string", "optional": True} for name, _, type_ in typed]
        struct = {"type": "struct", "fields": fields, "name": f"{PREFIX}.inv.{table}.Value", "optional": True}
        listed = [{**struct, "field": "before"}, {**struct, "field": "after"}, {"field": "op", "type": "string"}]
        name = f"{PREFIX}.inv.{table}.Envelope"
        value = {"schema": {"type": "struct", "fields": listed, "name": name, "version": 2}, "payload": payload}
    return {"topic": f"{PREFIX}.inv.{table}", "value": json.dumps(value)}


def ddl(text: str, changes: Sequence[Any] = (), connector: str = "mysql") -> dict[str, Any]:
    source = {"connector": connector, "name": PREFIX, "db": "inv", "table": "customers"}
    value = {"source": source, "ts_ms": 1, "databaseName": "inv", "schemaName": None, "ddl": text}
    return {"topic": PREFIX, "value": json.dumps({**value, "tableChanges": list(changes)})}


def read(tmp_path: Path, *files: Sequence[Any]) -> ReaderResult:
    paths = [tmp_path / f"{at}.jsonl" for at in range(len(files))]
    for path, records in zip(paths, files, strict=True):
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return connect_json.read(paths)


def equivalents(version: VersionDeclaration) -> dict[str, tuple[str, ...]]:
    return {a.path: a.equivalent_to for a in version.attributes if a.equivalent_to}


@pytest.mark.parametrize("schemas", [True, False])
def test_the_version_with_the_new_name_says_what_it_was_called(tmp_path: Path, schemas: bool) -> None:
    one, two = row("customers", "id", "email", schemas=schemas), row("customers", "id", "mail", schemas=schemas)
    found = read(tmp_path, [one, ddl("ALTER TABLE customers CHANGE email mail varchar(80)"), two])
    assert [equivalents(version) for version in found.declarations] == [{}, {"mail": ("email",)}]


def test_events_in_a_file_of_their_own_count_wherever_it_stands(tmp_path: Path) -> None:
    event = ddl("ALTER TABLE inv.customers RENAME COLUMN email TO mail")
    rows = [row("customers", "id", "email"), row("customers", "id", "mail")]
    for files in ([[event], rows], [rows, [event]]):
        assert equivalents(read(tmp_path, *files).declarations[1]) == {"mail": ("email",)}


def test_two_renames_between_two_versions_lead_back_to_the_first_name(tmp_path: Path) -> None:
    statements = [ddl(f"ALTER TABLE customers RENAME COLUMN {a} TO {b}") for a, b in (("a", "b"), ("b", "c"))]
    found = read(tmp_path, [row("customers", "id", "a"), *statements, row("customers", "id", "c")])
    assert equivalents(found.declarations[1])["c"][-1] == "a"


def test_a_version_in_which_both_names_stand_is_told_nothing(tmp_path: Path) -> None:
    event = ddl("ALTER TABLE customers RENAME COLUMN email TO mail")
    found = read(tmp_path, [row("customers", "email"), event, row("customers", "email", "mail")])
    assert [equivalents(version) for version in found.declarations] == [{}, {}]


def test_what_had_the_new_name_before_is_told_nothing_again(tmp_path: Path) -> None:
    event = ddl("ALTER TABLE customers RENAME COLUMN email TO mail")
    found = read(tmp_path, [row("customers", "email"), event, row("customers", "mail"), row("customers", "mail", "x")])
    assert [equivalents(version) for version in found.declarations] == [{}, {"mail": ("email",)}, {}]


def test_a_lone_new_version_names_the_old_column_in_every_case_it_may_have(tmp_path: Path) -> None:
    event = ddl("alter table customers rename column Email to mail", connector="oracle")
    (version,) = read(tmp_path, [event, row("customers", "ID", "MAIL")]).declarations
    assert equivalents(version) == {"MAIL": ("Email", "EMAIL", "email")}


def test_columns_of_another_table_are_left_alone(tmp_path: Path) -> None:
    event = ddl("ALTER TABLE orders RENAME COLUMN email TO mail")
    found = read(tmp_path, [row("customers", "email"), event, row("customers", "mail")])
    assert [equivalents(version) for version in found.declarations] == [{}, {}]


def test_a_renamed_table_continues_the_one_it_was(tmp_path: Path) -> None:
    found = read(
        tmp_path, [row("customers", "id"), ddl("RENAME TABLE customers TO clients"), row("clients", "id", "x")]
    )
    (one,) = found.continuations
    assert (one.name, one.of[0]) == ("srv.inv.clients", "srv.inv.customers")


def test_the_swap_of_an_online_schema_change_continues_nothing_that_is_still_there(tmp_path: Path) -> None:
    swap = ddl("RENAME TABLE customers TO _customers_old, _customers_new TO customers")
    found = read(tmp_path, [row("customers", "id"), swap, row("customers", "id", "x")])
    assert found.continuations == (SchemaSuccession("srv.inv.customers", ("srv.inv._customers_new",)),)


def test_the_key_of_a_table_is_taken_from_its_event_where_no_message_says_it(tmp_path: Path) -> None:
    table = {"primaryKeyColumnNames": ["ID"], "columns": []}
    event = ddl("ALTER TABLE customers ADD x int", [{"type": "ALTER", "id": '"inv"."customers"', "table": table}])
    assert [version.key for version in read(tmp_path, [row("customers", "id", "x"), event]).declarations] == [("id",)]


@pytest.mark.parametrize(
    "change",
    [{}, {"ddl": 5}, {"tableChanges": {}}, {"tableChanges": [1, {"id": 2, "table": {"primaryKeyColumnNames": "id"}}]}],
)
def test_an_event_that_is_not_as_documented_says_nothing(tmp_path: Path, change: dict[str, Any]) -> None:
    event = {"topic": PREFIX, "value": json.dumps({"databaseName": "inv", "ddl": None, "source": 7, **change})}
    found = read(tmp_path, [event, row("customers", "id")])
    assert [version.key for version in found.declarations] == [None]
    assert not found.refused


def test_the_samples_hold_schema_changes_and_none_renames_anything() -> None:
    reader = RecordReader()
    kinds = []
    for line in shared("debezium-samples", "docs-samples.jsonl").read_text(encoding="utf-8").splitlines():
        with suppress(RecordError):  # schemas, and messages that nothing names
            found = reader.read(json.dumps(json.loads(line)["message"]).encode())
            kinds += [found] if isinstance(found, RecordKind) else []
    assert len(reader.changes) == kinds.count(RecordKind.SCHEMA_CHANGE) == 6
    assert [change.renamed for change in reader.changes] == [()] * 6
    keys = {table[-1]: key for change in reader.changes for table, key in change.keys}
    assert keys == {"CUSTOMERS": ("ID",), "customers": ("id",)}
