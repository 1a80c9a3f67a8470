"""Workbooks from outside: what they hold comes as text, what is wrong with them ends in a sentence that says where."""

from __future__ import annotations

import datetime as dt
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from random import Random

import openpyxl
import pytest

from metl_gui.errors import SchemaError
from metl_gui.registry.tables import workbook
from metl_gui.registry.tables.workbook import SheetRow, is_workbook, read_sheet
from metl_gui.workbench.workbook_writer import SheetColumn, SheetPlan, plain_text, workbook_bytes

COLUMNS = ("name", "answer")


def save(path: Path, *rows: tuple[object, ...], title: str = "Rows") -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for row in (COLUMNS, *rows):
        sheet.append(list(row))
    book.save(path)
    return path


def rows_of(path: Path) -> tuple[SheetRow, ...]:
    return read_sheet(path, "Rows", COLUMNS).rows


def test_every_kind_of_value_comes_as_the_text_that_a_person_sees(tmp_path: Path) -> None:
    day, noon = dt.date(2026, 11, 21), dt.datetime(2026, 11, 21, 12, 30)  # noqa: DTZ001 - as in a cell
    found = rows_of(save(tmp_path / "a.xlsx", ("  a ", 7), (day, noon), (1.5, True), (None, None), ("ü", 2.0)))
    texts = [(row.number, *row.cells.values()) for row in found]
    assert texts == [
        (2, "a", "7"),
        (3, "2026-11-21", "2026-11-21 12:30"),
        (4, "1.5", "yes"),
        (6, "ü", "2"),
    ]


def test_formulas_errors_and_merged_cells_are_problems_of_their_cells(tmp_path: Path) -> None:
    path = save(tmp_path / "a.xlsx", ("a", "=1+1"), ("b", "#N/A"), ("c", "x"), ("d", None))
    book = openpyxl.load_workbook(path)
    book["Rows"].merge_cells("B4:B5")
    book.save(path)
    problems = {row.number: row.problems.get("answer", "") for row in rows_of(path)}
    assert "formula" in problems[2]
    assert "#N/A" in problems[3]
    assert "merged" in problems[4]
    assert "B4:B5" in problems[5]


def test_columns_may_be_moved_and_added_but_not_missing_or_doubled(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Rows"
    for row in (("mine", "answer", "name"), ("x", "yes", "a")):
        sheet.append(list(row))
    book.save(tmp_path / "a.xlsx")
    assert rows_of(tmp_path / "a.xlsx")[0].cells == {"mine": "x", "answer": "yes", "name": "a"}
    sheet["A1"] = "name"
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(SchemaError, match="column name twice"):
        rows_of(tmp_path / "a.xlsx")
    sheet["B1"] = "anser"
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(SchemaError, match="no column answer"):
        rows_of(tmp_path / "a.xlsx")


def test_a_workbook_without_the_sheet_names_those_it_has(tmp_path: Path) -> None:
    path = save(tmp_path / "a.xlsx", title="Other")
    with pytest.raises(SchemaError, match=r"no sheet 'Rows'.*It has Other"):
        rows_of(path)


def test_what_is_no_workbook_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "text.xlsx").write_text("name;answer\n")
    (tmp_path / "cut.xlsx").write_bytes(save(tmp_path / "a.xlsx").read_bytes()[:900])
    with zipfile.ZipFile(tmp_path / "zip.xlsx", "w") as packed:
        packed.writestr("hello.txt", "hello")
    for name in ("text", "cut", "zip"):
        with pytest.raises(SchemaError, match=f"{name}.xlsx is no workbook"):
            rows_of(tmp_path / f"{name}.xlsx")
    with pytest.raises(SchemaError):
        rows_of(tmp_path / "missing.xlsx")
    with pytest.raises(SchemaError, match="not a file"):
        rows_of(tmp_path)


def test_whatever_bytes_are_damaged_the_answer_is_a_sentence(tmp_path: Path) -> None:
    raw, random = save(tmp_path / "a.xlsx", ("a", "x"), ("b", 1.5)).read_bytes(), Random(1)
    refused: list[str] = []
    for _ in range(200):
        data = bytearray(raw)
        for _ in range(random.randint(1, 30)):
            data[random.randrange(len(data))] = random.randrange(256)
        (tmp_path / "b.xlsx").write_bytes(data)
        try:
            rows_of(tmp_path / "b.xlsx")
        except SchemaError as error:
            refused.append(error.title)
    assert len(refused) > 100
    assert all("b.xlsx" in title for title in refused)


def test_a_workbook_that_unpacks_to_more_than_any_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmp_path / "a.xlsx")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/media/zeros.bin", bytes(workbook.MAX_UNPACKED_BYTES + 1))
    assert path.stat().st_size < 2**20
    with pytest.raises(SchemaError, match="too large"):
        rows_of(path)
    small = save(tmp_path / "b.xlsx")
    monkeypatch.setattr(workbook, "MAX_FILE_BYTES", 1_000)
    with pytest.raises(SchemaError, match="too large"):
        rows_of(small)


LAUGHS = "".join(f'<!ENTITY b{at} "{f"&b{at - 1};" * 10 if at else "ha"}">' for at in range(10))
DECLARATIONS = {
    "bomb": f"<!DOCTYPE a [{LAUGHS}]>",
    "another file": '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
    "another declaration": '<!DOCTYPE a [<!ENTITY % b SYSTEM "http://127.0.0.1:1/a.dtd"> %b;]>',
}
NOT_READ = {"_rels/.rels", "docProps/app.xml", "xl/theme/theme1.xml"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_no_part_may_declare_entities_in_whatever_encoding(tmp_path: Path, declaration: str, encoding: str) -> None:
    path = save(tmp_path / "a.xlsx", ("a", "x"))
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    refused = set()
    for name, content in parts.items():
        body = content.decode().partition("?>")[2] if content.startswith(b"<?xml") else content.decode()
        declared = "utf-16" if encoding.startswith("utf-16") else encoding
        text = f'<?xml version="1.0" encoding="{declared}"?>{DECLARATIONS[declaration]}{body}'
        with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as packed:
            for other, unchanged in parts.items():
                packed.writestr(other, text.encode(encoding) if other == name else unchanged)
        try:
            assert [row.cells for row in rows_of(tmp_path / "b.xlsx")] == [{"name": "a", "answer": "x"}]
        except SchemaError as error:
            assert "declares entities or refers to other files" in error.text  # noqa: PT017 - one of both
            refused.add(name)
    assert refused == parts.keys() - NOT_READ


def test_a_part_is_unpacked_no_further_than_the_size_that_it_tells(tmp_path: Path) -> None:
    path = save(tmp_path / "a.xlsx", ("a", "x"))
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            with packed.open(name, "w") as part:
                part.write(content)
                for _ in range(256 if name == "xl/styles.xml" else 0):
                    part.write(bytes(2**20))
        for entry in packed.infolist():
            entry.file_size, entry.CRC = len(parts[entry.filename]), zlib.crc32(parts[entry.filename])
    tracemalloc.start()
    try:
        assert [row.cells for row in rows_of(tmp_path / "b.xlsx")] == [{"name": "a", "answer": "x"}]
        assert tracemalloc.get_traced_memory()[1] < 64 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_part_that_is_packed_as_no_workbook_is_is_refused(tmp_path: Path, method: int) -> None:
    with (
        zipfile.ZipFile(save(tmp_path / "a.xlsx")) as packed,
        zipfile.ZipFile(tmp_path / "b.xlsx", "w", method) as other,
    ):
        for name in packed.namelist():
            other.writestr(name, packed.read(name))
    with pytest.raises(SchemaError, match="packed as no workbook is"):
        rows_of(tmp_path / "b.xlsx")


def test_a_cell_far_away_is_told_and_not_walked_to(tmp_path: Path) -> None:
    path = save(tmp_path / "a.xlsx", ("a", "x"))
    book = openpyxl.load_workbook(path)
    book["Rows"].cell(1_048_576, 16_384).value = "far"
    book.save(path)
    with pytest.raises(SchemaError, match=r"row 1,048,576 and column 16,384"):
        rows_of(path)


def test_no_text_that_is_written_becomes_a_formula_and_every_text_comes_back(tmp_path: Path) -> None:
    texts = ("=1+1", "+1", "-1", "@x", '=HYPERLINK("http://x")', "ü", "a\nb", "007", "#N/A", "2026-11-21")
    plan = SheetPlan("Rows", (SheetColumn("name"), SheetColumn("answer")), tuple((text, "x") for text in texts))
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook_bytes((plan,)))
    found = rows_of(path)
    assert [row.cells["name"] for row in found] == list(texts)
    assert not any(row.problems for row in found)
    with zipfile.ZipFile(path) as packed:
        assert b"<f>" not in packed.read("xl/worksheets/sheet1.xml")


def test_what_no_cell_can_hold_is_replaced_or_cut_with_a_sign_of_it() -> None:
    assert plain_text("a\x00b\ud800c") == "a�b�c"
    assert plain_text("x" * 40_000)[-2:] == "x…"
    assert len(plain_text("x" * 40_000)) == 32_767


def test_a_workbook_is_known_by_its_name_and_its_first_bytes(tmp_path: Path) -> None:
    assert is_workbook(save(tmp_path / "a.XLSX"))
    (tmp_path / "b.xlsx").write_text("no")
    assert not is_workbook(tmp_path / "b.xlsx")
    assert not is_workbook(tmp_path / "missing.xlsx")
    assert not is_workbook(tmp_path)


def test_sheets_that_nobody_asked_for_are_not_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.create_sheet("Rows", 0).append(COLUMNS)
    book["Rows"].append(("a", "b"))
    book.save(tmp_path / "whole.xlsx")
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as whole, zipfile.ZipFile(tmp_path / "torn.xlsx", "w") as torn:
        for part in whole.namelist():
            content = whole.read(part)
            torn.writestr(part, content[: len(content) // 2] if part.endswith("sheet2.xml") else content)
    (row,) = rows_of(tmp_path / "torn.xlsx")
    assert row.cells == {"name": "a", "answer": "b"}
