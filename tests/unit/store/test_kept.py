"""What a project file keeps is merged or named: no table, column or field of an export without a rule of the merge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.matrix_export import MERGED_FIELDS
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.store.creation import make_file
from metl_gui.store.repositories.project_data import MERGE_RULES, VIEWS
from metl_gui.store.sqlite.connection import connect
from metl_gui.workbench.comparison.merge import merge_files
from metl_gui.workbench.session import Workbench
from tests.unit.workbench.conftest import fill
from tests.unit.workbench.test_merging import change, write

_WITH_EVERYTHING = VersionDeclaration(
    "fx.pay.rates", (AttributeDeclaration("rate", "number", "decimal", 2, optional=False),), "1", key=("rate",)
)


def columns(path: Path) -> dict[str, frozenset[str]]:
    """The columns of every table of a file, views apart, as SQLite tells them."""
    connection = connect(path)
    try:
        names = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        ).fetchall()
        return {
            name: frozenset(row[1] for row in connection.execute(f"PRAGMA table_info({name})")) for (name,) in names
        }
    finally:
        connection.close()


def test_every_table_and_column_of_a_project_file_is_known_to_a_rule_of_the_merge(tmp_path: Path) -> None:
    make_file(tmp_path / "new.metl")
    assert columns(tmp_path / "new.metl") == {table: rule.columns for table, rule in MERGE_RULES.items()}


def test_what_is_no_table_holds_nothing_of_its_own(tmp_path: Path) -> None:
    make_file(tmp_path / "new.metl")
    connection = connect(tmp_path / "new.metl")
    kinds = connection.execute("SELECT type, name FROM sqlite_schema WHERE type NOT IN ('table', 'index')").fetchall()
    connection.close()
    assert kinds == [("view", name) for name in VIEWS]


def test_what_stays_as_ours_has_it_says_why() -> None:
    assert [table for table, rule in MERGE_RULES.items() if bool(rule.ours) != bool(rule.why)] == []
    assert [table for table, rule in MERGE_RULES.items() if set(rule.merged.split()) & set(rule.ours.split())] == []
    assert [t for t, rule in MERGE_RULES.items() if not set(rule.told.split()) <= set(rule.ours.split())] == []


def fields(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every member in JSON with where it stands; the two trees are one place, names that people gave are none."""
    if isinstance(value, list):
        for each in value:
            yield from fields(each, path)
    elif isinstance(value, dict) and path not in ("settings.schemas", "settings.entities", "warehouse_models"):
        for name, each in value.items():
            yield path, name
            yield from fields(each, "trees.*" if path == "trees" else f"{path}.{name}".lstrip("."))


def test_every_field_of_an_export_is_known_to_a_rule_of_the_merge(tmp_path: Path) -> None:
    exports = []
    for name, source in (("base", ""), ("ours", "amount"), ("theirs", "legacy")):
        path = tmp_path / f"{name}.metl"
        with Workbench.create(path, "tess") as workbench:
            fill(workbench)
            workbench.do(AddVersion(Side.EXTRACTION, _WITH_EVERYTHING))
        if source:
            change(path, amount=source, payment_id="id")
        exports.append(write(path, f"{name}.json"))
    merge_files(exports[0], exports[1], exports[2])
    known = {(at, name) for at, rules in MERGED_FIELDS.items() for names in rules for name in names.split()}
    found = set(fields(json.loads(exports[1].read_text())))
    assert found - known == set()
    assert {("blocks.conflicts", "reason"), ("trees.*.versions.attributes", "scale")} <= found
