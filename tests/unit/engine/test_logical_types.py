"""The tables of the page of typed columns: what each row says, the code says, and a real run does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from metl_gui.core.trees.declarations import TYPES
from metl_gui.core.trees.logical_types import DECIMAL, LOGICAL_TYPES
from metl_gui.core.trees.types import read_type
from metl_gui.engine.kernel.plan import BlockPlan, ColumnPlan, EntityPlan, Plan, SchemaPlan, SourceType, VersionPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.sinks.parquet import ParquetSink
from metl_gui.formats.avro_schema import as_connect
from metl_gui.formats.avro_types import read_avro
from tests.helpers import documents

_CELLS = re.compile(r"^\| (.*) \|$", re.MULTILINE)


def cells(title: str) -> list[list[str]]:
    """Return the rows of the table of a section, without its head."""
    text = (documents.PAGES / "reference" / "typed-columns.md").read_text("utf-8")
    section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return [[cell.strip("`") for cell in row.split(" | ")] for row in _CELLS.findall(section)[1:]]


def stored(folder: Path, column: ColumnPlan, value: str, sources: Sequence[SourceType] = ()) -> tuple[str, str]:
    """Map a message with one value into Parquet; return the type of its column and the value, or "refused"."""
    blocks = (BlockPlan("e", "1", (("a", "a"),)),)
    schema = SchemaPlan("shop.public.orders", (VersionPlan("1", "", ("a",), blocks=blocks, is_inferred=True),))
    plan = Plan(1, "", (schema,), entities=(EntityPlan("e", "1", (column,), tuple(sources)),))
    row = f'{{"after":{{"a":{value}}},"source":{{"name":"shop","schema":"public","table":"orders"}},"op":"c"}}'
    sink = ParquetSink(folder, "part", plan)
    refused = sink.append(Kernel(plan).map(Records.of([row.encode()], "f")))
    if refused:
        return "", "refused"
    (part,) = sink.close()
    table = pq.ParquetFile(part).read().flatten()
    return str(table["payload.a"].type), str(table["payload.a"][0].as_py())


@pytest.mark.parametrize("row", cells("Plain types"), ids=lambda row: row[0])
def test_a_plain_type_is_stored_as_its_row_says(tmp_path: Path, row: list[str]) -> None:
    type_, column, example, kept = row
    assert stored(tmp_path, ColumnPlan("a", type_), example) == (column, kept)


def test_every_plain_type_has_a_row_but_null_which_has_no_values() -> None:
    assert {row[0] for row in cells("Plain types")} == set(TYPES) - {"null"}


@pytest.mark.parametrize("row", cells("Logical types"), ids=lambda row: f"{row[0]} on {row[1]}")
def test_a_logical_type_is_stored_as_its_row_says(tmp_path: Path, row: list[str]) -> None:
    name, on, _, column, example, kept = row
    assert stored(tmp_path, ColumnPlan("a", on, name, 2 if name == DECIMAL else None), example) == (column, kept)


def test_the_rows_of_logical_types_are_those_of_the_code() -> None:
    told = [(name, on, means) for name, on, means, *_ in cells("Logical types")]
    assert told == [(one.name, one.on, str(one.says)) for one in LOGICAL_TYPES]


@pytest.mark.parametrize("row", cells("Conversions"), ids=lambda row: " ".join([row[0], "to", row[1], row[3]])[:90])
def test_a_value_of_one_type_becomes_one_of_another_as_its_row_says(tmp_path: Path, row: list[str]) -> None:
    source, target, _, example, kept = row
    told = SourceType("shop.public.orders", "1", "a", *read_type(source), time_zone="Europe/Berlin")
    assert stored(tmp_path, ColumnPlan("a", *read_type(target)), example, [told])[1] == kept


@pytest.mark.parametrize(
    ("avro", "connect"),
    [
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "Decimal"),
        ({"type": "int", "logicalType": "date"}, "Date"),
        ({"type": "int", "logicalType": "time-millis"}, "Time"),
        ({"type": "long", "logicalType": "timestamp-millis"}, "Timestamp"),
    ],
)
def test_what_connect_has_a_name_for_is_imported_under_it(avro: dict[str, object], connect: str) -> None:
    assert as_connect(read_avro(avro))["name"] == f"org.apache.kafka.connect.data.{connect}"
