"""Queries for databases: whatever names are in them, they say one block each, and only what production sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlglot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.paths import escape
from metl_gui.errors import UserError
from metl_gui.workbench.exports.files import export
from metl_gui.workbench.exports.format_spec import Choices
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.exports.sql import LONGEST_NAMES
from metl_gui.workbench.mapping.table import MapMode, import_mapping
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import set_settings
from tests.helpers.odd_documents import one_to_one
from tests.helpers.odd_names import HOSTILE, odd_names
from tests.unit.workbench.conftest import declare, write_table

WAYS = [(dialect, "rows") for dialect in LONGEST_NAMES] + [
    (dialect, "debezium") for dialect in ("postgres", "spark", "databricks")
]
TEXTS = [name for name in HOSTILE if "\ud800" not in name]


def statements(path: Path) -> Iterator[tuple[dict[str, str], str]]:
    """Yield what the comment of each block says, with its query, which is empty for one that is left out."""
    for part in path.read_bytes().decode().split("\n-- metl ")[1:]:
        line, _, query = part.partition("\n")
        yield json.loads(line), query.strip()


@pytest.mark.parametrize(("dialect", "source"), WAYS)
def test_hostile_names_stay_inside_their_quotes_in_every_dialect(dialect: str, source: str, tmp_path: Path) -> None:
    texts = [name for name in TEXTS if dialect != "bigquery" or not set(name) & set('!"$()*,./;?@[\\]^`{}~\n\r\t')]
    path, document = tmp_path / "q.sql", one_to_one(texts)
    options = {"dialect": dialect, "source": source, "tables": "topic"}
    done = export(document, EXPORTS["sql"], path, Choices(options=options))
    first = path.read_bytes()
    export(document, EXPORTS["sql"], path, Choices(options=options))
    assert path.read_bytes() == first
    assert not any(sentence.startswith("Left out") for sentence in done.says)
    ((told, query),) = statements(path)
    assert (told["schema"], told["version"]) == (escape(texts[0]), texts[0])
    (parsed,) = (each for each in sqlglot.parse(query, read=dialect) if each is not None)
    tables = {table.name for table in parsed.find_all(exp.Table)}
    assert escape(texts[0]) in tables
    if source == "rows":
        assert {column.name for column in parsed.find_all(exp.Column)} == set(texts)
    else:
        assert {literal.this for literal in parsed.find_all(exp.Literal)} >= set(texts)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(odd_names, min_size=1, max_size=4, unique=True),
    way=st.sampled_from(WAYS),
)
def test_every_block_is_a_query_that_reads_back_or_is_left_out_by_name(
    tmp_path: Path, names: list[str], way: tuple[str, str]
) -> None:
    path = tmp_path / "q.sql"
    choices = Choices(options={"dialect": way[0], "source": way[1]})
    done = export(one_to_one(names), EXPORTS["sql"], path, choices)
    ((told, query),) = statements(path)
    if "left_out" in told:
        assert not query
        assert told["left_out"] in done.says[-1]
        assert way[0] == "bigquery" or any("\ud800" <= letter <= "\udfff" for name in names for letter in name)
    else:
        (parsed,) = (each for each in sqlglot.parse(query, read=way[0]) if each is not None)
        assert isinstance(parsed, exp.Select)
        aliases = [each.alias.casefold() for each in parsed.selects]
        assert len(aliases) == len(set(aliases)) == len(names) + (2 if way[1] == "debezium" else 0)


def test_no_block_of_a_version_is_there_while_one_of_them_waits_for_a_review(mapped: Workbench, tmp_path: Path) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id", "amount", "new")))
    path = tmp_path / "q.sql"
    done = export(mapped.document, EXPORTS["sql"], path)
    held = {(told["entity"], told["version"]) for told, query in statements(path) if not query}
    assert held == {("payment", "2"), ("refund", "2")}
    reasons = [sentence for sentence in done.says if "waits for a review" in sentence]
    assert len(reasons) == 2
    assert any("another block of its version" in sentence for sentence in reasons)
    set_settings(mapped, "fx.pay.orders", ["meanwhile=map what is left"])
    export(mapped.document, EXPORTS["sql"], path)
    assert all(query for _, query in statements(path))


def test_rows_of_a_version_are_told_from_those_of_others_by_the_columns_in_which_they_differ(
    mapped: Workbench, tmp_path: Path
) -> None:
    columns = ("id", "customer_id", "amount", "legacy", "extra")
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", *columns)))
    path, choices = tmp_path / "q.sql", Choices(options={"source": "debezium"})
    export(mapped.document, EXPORTS["sql"], path, choices)
    why = {told["left_out"] for told, query in statements(path) if told["version"] == "1" and not query}
    assert why == {"its rows are read as those of version 2, which they fit too"}
    table = write_table(tmp_path, "fx.pay.orders,2,id,refund,1,refund_id", name="next.csv")
    import_mapping(mapped, table, MapMode.REPLACE)
    export(mapped.document, EXPORTS["sql"], path, choices)
    queries = {(told["version"], told["entity"]): (query, told.get("left_out", "")) for told, query in statements(path)}
    assert queries["1", "refund"] == ("", "its rows cannot be told from those of version 2")
    assert "names && ARRAY['extra']" in queries["2", "refund"][0]


def test_masked_attributes_are_counted_and_stay_readable_as_in_production(mapped: Workbench, tmp_path: Path) -> None:
    set_settings(mapped, "fx.pay.orders", ["mask=amount"])
    done = export(mapped.document, EXPORTS["sql"], tmp_path / "q.sql")
    (said,) = (sentence for sentence in done.says if "masked" in sentence)
    assert said.startswith(
        "2 mapped attributes are masked for people in the window. Production outputs hold the values"
    )


def test_messages_are_refused_in_dialects_that_nobody_has_tried(mapped: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "q.sql"
    with pytest.raises(UserError, match="not read in the dialect mysql"):
        export(mapped.document, EXPORTS["sql"], path, Choices(options={"dialect": "mysql", "source": "debezium"}))
    assert list(tmp_path.glob("*q.sql*")) == []
