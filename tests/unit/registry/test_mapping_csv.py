from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.trees.paths import escape
from metl_gui.errors import SchemaError
from metl_gui.registry.tables import mapping_table
from metl_gui.registry.tables.mapping_table import MappingTable

HEADER = "schema,schema_version,attribute,entity,entity_version,cdm_attribute"
ROW = "fx.orders,1,address.city,payment,2.0.0,city"


def table(tmp_path: Path, content: bytes | str) -> mapping_table.MappingTable:
    path = tmp_path / "mapping.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return mapping_table.read_csv(path)


@pytest.mark.parametrize(
    "form", ["plain", "bom", "semicolon", "sep line", "windows", "upper header", "no last line end"]
)
def test_what_spreadsheets_write_is_one_table(tmp_path: Path, form: str) -> None:
    text = f"{HEADER}\n{ROW}\n"
    written = {
        "plain": text,
        "bom": "\ufeff" + text,
        "semicolon": text.replace(",", ";"),
        "sep line": "sep=;\r\n" + text.replace(",", ";"),
        "windows": text.replace("\n", "\r\n"),
        "upper header": text.replace("schema,", "Schema, ", 1),
        "no last line end": text.rstrip("\n"),
    }[form]
    found = table(tmp_path, written)
    line = 3 if form == "sep line" else 2
    assert found.rows == (mapping_table.MappingRow(line, "fx.orders", "1", "address.city", "payment", "2.0.0", "city"),)
    assert found.problems == ()


def test_columns_may_stand_in_any_order_and_unknown_ones_are_left_alone(tmp_path: Path) -> None:
    text = "comment,cdm_attribute,owner,schema,schema_version,attribute,entity,entity_version,status\n"
    found = table(tmp_path, text + '"two\nlines, said",c,me,s,1,a,e,2,confirmed\n\n,c,me,s,1,b,e,2,\n')
    assert [(row.line, row.attribute, row.status, row.comment) for row in found.rows] == [
        (2, "a", "confirmed", "two\nlines, said"),
        (5, "b", "", ""),
    ]


def test_lines_that_are_no_element_are_told_by_their_number(tmp_path: Path) -> None:
    rows = [ROW, "s,1,a,e,2", "s,1,,e,2,", "s,1,a\\x,e,2,c", ROW, "s,1,a,e,2,c,d"]
    found = table(tmp_path, "\n".join([HEADER, *rows]))
    assert [row.line for row in found.rows] == [2, 6]
    assert [(problem.line, problem.reason.split(":")[0]) for problem in found.problems] == [
        (3, "the line has 5 fields, the header 6"),
        (4, "attribute, cdm_attribute is empty"),
        (5, "attribute is not a path"),
        (7, "the line has 7 fields, the header 6"),
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "nothing in its first line"),
        (b"schema,version\n", "no column schema_version"),
        (f"{HEADER},schema\n".encode(), "column schema twice"),
        (f"{HEADER}\n".encode() + b"s,1,\xff,e,2,c\n", "Line 2 .* is not UTF-8"),
        (f"{HEADER}\ns,1,\0,e,2,c\n".encode(), "Line 2 .* holds NUL"),
        (HEADER.encode("utf-16"), "Line 1 .* is not UTF-8"),
        (f'{HEADER}\n{ROW}\ns,1,"a'.encode(), "no table from line 3"),
        (f'{HEADER}\ns,1,"a"b,e,2,c\n'.encode(), "no table from line 2"),
        (f"{HEADER}\ns,1,{'a' * 140_000},e,2,c\n".encode(), "no table from line 2"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused_with_the_place(tmp_path: Path, content: bytes, sentence: str) -> None:
    with pytest.raises(SchemaError, match=sentence):
        table(tmp_path, content)


def test_a_line_of_200_megabytes_is_refused_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "mapping.csv"
    with path.open("wb") as file:
        file.write(f"{HEADER}\n{ROW}\n".encode())
        file.truncate(200 * 2**20)
    with pytest.raises(SchemaError, match=r"Line 3 .* is too long"):
        mapping_table.read_csv(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.csv", tmp_path):
        with pytest.raises(SchemaError, match="cannot be read"):
            mapping_table.read_csv(path)


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=20)


ROWS = st.lists(st.tuples(CELL, CELL, CELL.map(escape), CELL, CELL, CELL.map(escape)), min_size=1, max_size=5)


@given(written=ROWS)
def test_what_a_csv_writer_wrote_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, written: list[tuple[str, ...]]
) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([HEADER.split(","), *written])
    found = table(tmp_path_factory.mktemp("csv"), text.getvalue())
    names = HEADER.split(",")
    assert [tuple(getattr(row, name) for name in names) for row in found.rows] == written
    assert not found.problems


_ODD_TEXTS = st.text(st.sampled_from('ab,;\t"\\\r\n\0\ufeff\ud800 é'), max_size=6)
_LINES = st.lists(st.lists(st.one_of(st.sampled_from(["a", "b.c", "é"]), _ODD_TEXTS), min_size=5, max_size=8))


@given(
    st.sampled_from([HEADER, f"{HEADER},status,comment", f"x,{HEADER}", f"{HEADER},x,x", f"{HEADER},safe_cells"]),
    st.lists(st.lists(st.sampled_from(["a", "b.c", "é", " "]), min_size=6, max_size=8), max_size=4),
    _LINES,
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
)
def test_a_table_that_is_read_at_once_says_what_it_says_line_by_line(
    header: str, plain: list[list[str]], odd: list[list[str]], separator: str, end: str
) -> None:
    count = header.count(",") + 1
    rows = [(row * 2)[:count] for row in plain] + odd[: len(odd) // 2]
    text = end.join([header.replace(",", separator), *(separator.join(row) for row in rows)]) + end

    def outcome(read: Callable[[], MappingTable]) -> MappingTable | str:
        try:
            return read()
        except SchemaError as error:
            return str(error)

    line_by_line = outcome(
        lambda: mapping_table._table(Path("The clipboard"), io.BytesIO(text.encode("utf-8", "replace")))
    )
    assert outcome(lambda: mapping_table.read_text(text)) == line_by_line
