"""Renames that a source states: columns keep their elements, and a table under another name keeps its blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.project.reader_result import ReaderResult, SchemaSuccession
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.registry.messages import connect_json
from metl_gui.workbench.addresses import element_names, find_block
from metl_gui.workbench.importing.dry_run import try_reading
from metl_gui.workbench.importing.schema_import import add_reading, import_sources
from metl_gui.workbench.session import EditOrigin, Workbench
from tests.unit.registry.test_table_changes import ddl, row


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workbench]:
    """Customers with two mapped columns, imported from messages."""
    with Workbench.create(tmp_path / "shop.metl") as opened:
        first = written(tmp_path / "first.jsonl", [row("customers", "id:int32", "email")])
        import_sources(opened, Side.EXTRACTION, [first])
        target = tuple(AttributeDeclaration(path, type_) for path, type_ in (("number", "int32"), ("mail", "string")))
        opened.do(AddVersion(Side.CDM, VersionDeclaration("person", target, "1")), EditOrigin.COMMAND)
        key = find_block(opened.document, "srv.inv.customers@1:person@1")
        sources = opened.document.extraction.version(key[0]).attributes
        targets = opened.document.cdm.version(key[1]).attributes
        ones = tuple(Element(q.id, p.id) for q, p in zip(targets, sources, strict=True))
        opened.do(SetElements(key, ones), EditOrigin.COMMAND)
        yield opened


def written(path: Path, records: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def elements(workbench: Workbench, block: str) -> set[tuple[str, str]]:
    found = workbench.document.matrix.block(*find_block(workbench.document, block))
    assert found is not None
    return {(name.from_path, name.to_path) for name in element_names(workbench.document, found)}


def test_a_renamed_column_keeps_its_element_and_nobody_is_asked(shop: Workbench, tmp_path: Path) -> None:
    event = ddl("ALTER TABLE customers CHANGE email mail_address varchar(80)")
    records = [event, row("customers", "id:int32", "mail_address")]
    result = import_sources(shop, Side.EXTRACTION, [written(tmp_path / "next.jsonl", records)])
    assert [added["renamed"] for added in result.as_json()["added"]] == [[{"before": "email", "after": "mail_address"}]]
    assert elements(shop, "srv.inv.customers@2:person@1") == {("id", "number"), ("mail_address", "mail")}
    assert review_items(shop.document) == ()


def test_the_same_messages_without_the_event_ask(shop: Workbench, tmp_path: Path) -> None:
    import_sources(
        shop, Side.EXTRACTION, [written(tmp_path / "next.jsonl", [row("customers", "id:int32", "mail_address")])]
    )
    assert elements(shop, "srv.inv.customers@2:person@1") == {("id", "number")}
    assert len(review_items(shop.document)) == 1


def test_a_renamed_table_goes_on_as_the_next_version_with_both_names(shop: Workbench, tmp_path: Path) -> None:
    records = [ddl("RENAME TABLE customers TO clients"), row("clients", "id:int32", "email", "phone")]
    result = import_sources(shop, Side.EXTRACTION, [written(tmp_path / "next.jsonl", records)])
    assert [(added.name, added.version) for added in result.added] == [("srv.inv.customers", "2")]
    schema = shop.document.extraction.named("srv.inv.clients")
    assert schema is not None
    assert schema.name == "srv.inv.customers"
    assert elements(shop, "srv.inv.customers@2:person@1") == {("id", "number"), ("email", "mail")}


def test_a_table_renamed_twice_in_one_import_goes_on_as_the_first(shop: Workbench, tmp_path: Path) -> None:
    events = [ddl("RENAME TABLE customers TO clients"), ddl("RENAME TABLE clients TO people")]
    import_sources(
        shop, Side.EXTRACTION, [written(tmp_path / "next.jsonl", [*events, row("people", "id:int32", "email", "x")])]
    )
    assert {schema.name for schema in shop.document.extraction.schemas()} == {"srv.inv.customers"}
    assert elements(shop, "srv.inv.people@2:person@1") == {("id", "number"), ("email", "mail")}


def test_a_renamed_table_without_messages_yet_answers_to_its_new_name(shop: Workbench, tmp_path: Path) -> None:
    before = shop.document.state
    import_sources(shop, Side.EXTRACTION, [written(tmp_path / "e.jsonl", [ddl("RENAME TABLE customers TO clients")])])
    schema = shop.document.extraction.named("srv.inv.clients")
    assert schema is not None
    assert schema.name == "srv.inv.customers"
    assert shop.document.state == before + 1
    shop.undo((EditOrigin.COMMAND,), EditOrigin.COMMAND)
    assert shop.document.extraction.named("srv.inv.clients") is None


def test_a_name_that_the_project_knows_as_another_schema_stays_that(shop: Workbench, tmp_path: Path) -> None:
    import_sources(shop, Side.EXTRACTION, [written(tmp_path / "own.jsonl", [row("clients", "vat")])])
    records = [ddl("RENAME TABLE customers TO clients"), row("clients", "vat", "name")]
    import_sources(shop, Side.EXTRACTION, [written(tmp_path / "next.jsonl", records)])
    assert {schema.name for schema in shop.document.extraction.schemas()} == {"srv.inv.customers", "srv.inv.clients"}


def test_a_dry_run_follows_a_renamed_table_too(shop: Workbench, tmp_path: Path) -> None:
    records = [ddl("RENAME TABLE customers TO clients"), row("clients", "id:int32")]
    reading = connect_json.read([written(tmp_path / "next.jsonl", records)])
    trial = try_reading(shop.document, Side.EXTRACTION, reading)
    assert [str(hurt.entry.block) for hurt in trial.blocks] == ["srv.inv.customers@2:person@1"]


def test_a_name_that_two_tables_got_one_after_the_other_is_given_to_the_first_alone(shop: Workbench) -> None:
    shop.do(AddVersion(Side.EXTRACTION, VersionDeclaration("orders", (AttributeDeclaration("n", "int32"),), "1")))
    stated = tuple(SchemaSuccession("archive", (name,)) for name in ("srv.inv.customers", "orders"))
    result = add_reading(shop, Side.EXTRACTION, ReaderResult((), continuations=stated))
    assert result.refused == ()
    found = shop.document.extraction.named("archive")
    assert found is not None
    assert found.name == "srv.inv.customers"
