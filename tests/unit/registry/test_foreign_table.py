"""Tables of another shape: their heads, their lines by what their columns are, and what is refused."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from metl_gui.core.project.table_columns import TableColumns, TableHead, guess_columns
from metl_gui.errors import SchemaError
from metl_gui.registry.tables.foreign_table import read_columns, read_head
from metl_gui.registry.tables.mapping_table import LineProblem, MappingRow

TITLES = ("Source Table", "Source Field", "Type", "Target Entity", "Target Field", "Comment")
LINES = (
    ("fx.orders", "id ", "int", "payment", "payment_id", "as it is"),
    ("fx.orders", "memo", "text", "", "", "not mapped"),
    ("fx.orders", "amount", "dec", "payment", "amount", ""),
)
COLUMNS = TableColumns("Source Table", "", "Source Field", "Target Entity", "", "Target Field")


def csv_of(folder: Path, *lines: tuple[str, ...], separator: str = ",") -> Path:
    path = folder / "theirs.csv"
    path.write_text("".join(separator.join(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(params=[",", ";", "workbook"])
def theirs(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param != "workbook":
        return csv_of(tmp_path, TITLES, *LINES, separator=request.param)
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for line in (TITLES, *LINES):
        sheet.append(line)
    book.create_sheet("Notes")
    book.save(tmp_path / "theirs.xlsx")
    return tmp_path / "theirs.xlsx"


def test_the_head_has_titles_and_first_rows_and_is_not_taken_for_a_mapping_table(theirs: Path) -> None:
    head = read_head(theirs)
    assert (head.titles, head.is_mapping) == (TITLES, False)
    assert head.column("Source Field") == ("id", "memo", "amount")
    assert head.column("nowhere") == ()


def test_lines_are_elements_of_all_versions_and_those_that_map_nothing_are_left_alone(theirs: Path) -> None:
    found = read_columns(theirs, COLUMNS)
    assert found.rows == (
        MappingRow(2, "fx.orders", "*", "id", "payment", "", "payment_id", comment="as it is"),
        MappingRow(4, "fx.orders", "*", "amount", "payment", "", "amount"),
    )
    assert found.problems == ()


def test_columns_of_versions_are_read_where_there_are_some(tmp_path: Path) -> None:
    path = csv_of(tmp_path, ("s", "v", "a", "e", "w", "c"), ("fx", "3", "id", "be", "2.0", "key"), ("fx", "3", "x"))
    found = read_columns(path, TableColumns(*"svaewc"))
    assert found.rows == (MappingRow(2, "fx", "3", "id", "be", "2.0", "key"),)
    assert found.problems == (LineProblem(3, "the line has 3 fields, the header 6"),)


def test_a_line_that_lacks_a_version_which_the_table_has_is_told(tmp_path: Path) -> None:
    path = csv_of(tmp_path, ("s", "v", "a", "e", "w", "c"), ("fx", "", "id", "be", "", "key"))
    assert read_columns(path, TableColumns(*"svaewc")).problems == (
        LineProblem(2, "schema_version, entity_version is empty"),
    )


def test_only_cells_of_named_columns_and_comments_are_asked_for_values(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(("s", "a", "e", "c", "Comment", "Sum"))
    sheet.append(("fx", "id", "be", "key", "", "=1+1"))
    sheet.append(("fx", "=1+1", "be", "key", "", ""))
    sheet.append(("fx", "id", "be", "key", "#N/A", ""))
    book.save(tmp_path / "theirs.xlsx")
    found = read_columns(tmp_path / "theirs.xlsx", TableColumns("s", "", "a", "e", "", "c"))
    assert found.rows == (MappingRow(2, "fx", "*", "id", "be", "", "key"),)
    assert found.problems == (
        LineProblem(3, "a holds a formula; type the value itself"),
        LineProblem(4, "Comment holds the error #N/A"),
    )


def test_the_columns_of_a_mapping_table_are_known_in_any_case(tmp_path: Path) -> None:
    own = ("Schema", "schema_version", "attribute", "entity", "entity_version", "cdm_attribute", "owner")
    assert read_head(csv_of(tmp_path, own)).is_mapping


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (TableColumns("s", "", "a", "e"), "is named for cdm_attribute"),
        (TableColumns("s", "", "a", "e", "", "a"), "The column a cannot hold two things"),
        (TableColumns("s", "", "a", "e", "", "cc"), "has no column cc"),
        (TableColumns("s", "", "a", "e", "", "twice"), "has the column twice twice"),
    ],
)
def test_columns_that_are_not_there_or_not_enough_are_refused(
    tmp_path: Path, columns: TableColumns, sentence: str
) -> None:
    path = csv_of(tmp_path, ("s", "a", "e", "c", "twice", "twice"), ("fx", "id", "be", "key", "", ""))
    with pytest.raises(SchemaError, match=sentence):
        read_columns(path, columns)


def test_a_title_that_stands_twice_cannot_be_chosen(tmp_path: Path) -> None:
    assert read_head(csv_of(tmp_path, ("name", "a", "name"), ("1", "2", "3"))) == TableHead(("a",), (("2",),))


def test_a_table_that_would_do_but_for_two_columns_of_one_title_says_so(tmp_path: Path) -> None:
    path = csv_of(tmp_path, ("System", "Field", "Target", "Field"), ("fx", "id", "be", "key"))
    with pytest.raises(SchemaError, match=r"has the column Field twice.*Give each column a title"):
        read_head(path)


@pytest.mark.parametrize("content", [b"", b'a,"b', b"\xff\xfe", b"a,b\n1,\0\n"])
def test_what_is_no_table_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(SchemaError):
        read_head(tmp_path / "x.csv")


# the guess


def test_clear_titles_are_enough() -> None:
    head = TableHead(TITLES, LINES)
    assert guess_columns(head, {}) == COLUMNS


@pytest.mark.parametrize(
    ("titles", "guessed"),
    [
        (("src_table", "src_col", "tgt_table", "tgt_col"), ("src_table", "src_col", "tgt_table", "tgt_col")),
        (("TargetCol", "ToTable", "SourceColumn", "Topic"), ("Topic", "SourceColumn", "ToTable", "TargetCol")),
        (("from", "to", "owner", "note"), ("", "from", "", "to")),
    ],
)
def test_titles_are_read_in_the_words_of_others(titles: tuple[str, ...], guessed: tuple[str, ...]) -> None:
    found = guess_columns(TableHead(titles, ()), {})
    assert (found.schema, found.attribute, found.entity, found.cdm_attribute) == guessed


def test_what_the_project_has_says_more_than_titles() -> None:
    head = TableHead(("A", "Entity", "Target", "D"), (("id", "fx.orders", "payment_id", "payment"),))
    known = {
        "schema": {"fx.orders"},
        "attribute": {"id", "amount"},
        "entity": {"payment"},
        "cdm_attribute": {"payment_id"},
    }
    assert guess_columns(head, known) == TableColumns("Entity", "", "A", "D", "", "Target")


def test_a_column_that_nothing_points_to_is_left_alone() -> None:
    assert guess_columns(TableHead(("x", "y"), (("1", "2"),)), {"schema": {"fx"}}) == TableColumns()
