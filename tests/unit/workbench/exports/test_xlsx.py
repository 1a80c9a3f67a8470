"""The mapping as a workbook, out and in again."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metl_gui.core.changes.draft import EditContext, perform
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED
from metl_gui.core.project.comments import Comment, block_subject
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.paths import escape
from metl_gui.errors import EditError, SchemaError
from metl_gui.registry.tables import workbook as sheets
from metl_gui.registry.tables.mapping_table import SHEET, read_workbook
from metl_gui.workbench.exports import xlsx
from metl_gui.workbench.exports.files import export, export_published
from metl_gui.workbench.exports.format_spec import Choices
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.exports.xlsx import workbook
from metl_gui.workbench.mapping.table import MapMode, import_mapping, plan_mapping
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.session import Workbench
from tests.helpers.odd_names import HOSTILE, odd_names
from tests.unit.workbench.conftest import declare, fill

WHOLE = Choices(include_unconfirmed=True)


def made(paths: list[str], name: str, label: str) -> tuple[Document, Document]:
    """Make a document with one schema and one entity of those attributes, mapped one to one, and one without a map."""
    attributes = tuple(AttributeDeclaration(escape(path), "string") for path in paths)
    trees = Document()
    for side in Side:
        trees = perform(trees, AddVersion(side, VersionDeclaration(name, attributes, label))).after
    return trees, trees


def mapped(trees: Document, status: Status, comment: str) -> Document:
    (version,), (entity_version,) = (list(trees.tree(side).all_versions()) for side in Side)
    ones = tuple(Element(q.id, p.id) for q, p in zip(entity_version.attributes, version.attributes, strict=True))
    edit = SetElements((version.id, entity_version.id), ones, status=status, comment=comment)
    return perform(trees, edit, EditContext("tess", 1_000)).after


def told(document: Document) -> list[tuple[object, ...]]:
    return [(b.key, sorted(b.elements), b.status, b.comment) for b in document.matrix.blocks()]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    paths=st.lists(odd_names, min_size=1, max_size=4, unique=True),
    name=odd_names,
    label=odd_names,
    status=st.sampled_from([Status.CONFIRMED, Status.UNCONFIRMED]),
    comment=st.one_of(odd_names, st.just("")),
)
def test_what_goes_out_as_a_workbook_comes_in_again_unchanged(
    tmp_path: Path, paths: list[str], name: str, label: str, status: Status, comment: str
) -> None:
    trees, _ = made(paths, name, label)
    before = mapped(trees, status, comment if comment.strip() else "")
    path = tmp_path / "mapping.xlsx"
    workbook(before, WHOLE, UNWATCHED, path)
    plan = plan_mapping(trees, read_workbook(path), MapMode.ADD, take_proposal=False)
    assert plan.conflicts == ()
    assert told(perform(trees, CompositeEdit("", plan.edits), EditContext("tess", 1_000)).after) == told(before)


@pytest.mark.parametrize("name", HOSTILE)
def test_every_name_that_broke_some_program_is_a_text_of_its_cell_and_never_a_formula(
    tmp_path: Path, name: str
) -> None:
    trees, _ = made([name], name, "1")
    path = tmp_path / "mapping.xlsx"
    workbook(mapped(trees, Status.CONFIRMED, name), WHOLE, UNWATCHED, path)
    book = openpyxl.load_workbook(path)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert {cell.data_type for cell in cells} <= {"s", "n"}
    assert [row.attribute for row in read_workbook(path).rows] == [escape(name)]


def test_what_a_person_changes_in_the_sheet_is_what_the_project_gets(mapped: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "mapping.xlsx"
    export(mapped.document, EXPORTS["xlsx"], path)
    book = openpyxl.load_workbook(path)
    sheet = book[SHEET]
    titles = [cell.value for cell in sheet[1]]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
    (amount,) = (at for at, row in enumerate(rows, 2) if (row[2], row[3], row[5]) == ("amount", "refund", "amount"))
    sheet.delete_rows(amount)
    sheet.cell(2, titles.index("comment") + 1).value = "as finance wants it"
    book.save(path)
    done = import_mapping(mapped, path, MapMode.REPLACE)
    assert (done.set, done.conflicts) == (1, ())
    blocks = {mapped.document.cdm.version(b.entity_version).schema_id: b for b in mapped.document.matrix.blocks()}
    assert [len(block.elements) for _, block in sorted(blocks.items())] == [4, 1]
    assert "as finance wants it" in {block.comment for block in blocks.values()}


def test_a_conflict_names_the_row_of_the_sheet_as_the_spreadsheet_counts_it(mapped: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "mapping.xlsx"
    export(mapped.document, EXPORTS["xlsx"], path)
    book = openpyxl.load_workbook(path)
    book[SHEET]["C3"] = "gone"
    book[SHEET]["F5"] = "=A1"
    book.save(path)
    done = import_mapping(mapped, path)
    assert [conflict.line for conflict in done.conflicts] == [3, 5]
    assert "has no attribute 'gone'" in done.conflicts[0].reason
    assert "formula" in done.conflicts[1].reason


def test_a_date_that_a_spreadsheet_made_of_a_name_is_a_conflict_and_never_another_name(
    mapped: Workbench, tmp_path: Path
) -> None:
    path = tmp_path / "mapping.xlsx"
    export(mapped.document, EXPORTS["xlsx"], path)
    book = openpyxl.load_workbook(path)
    book[SHEET]["B2"], book[SHEET]["B3"] = datetime(2026, 1, 10), True  # noqa: DTZ001 - cells have no zones
    book.save(path)
    reasons = {conflict.line: conflict.reason for conflict in import_mapping(mapped, path).conflicts}
    assert "holds a date" in reasons[2]
    assert "has no version 'TRUE'" in reasons[3]


def test_blocks_under_review_keep_their_rows_losses_and_words_and_come_back_without_a_change(
    mapped: Workbench, tmp_path: Path
) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id")))
    path = tmp_path / "mapping.xlsx"
    done = export(mapped.document, EXPORTS["xlsx"], path)
    assert any("need review" in said for said in done.says)
    book = openpyxl.load_workbook(path)
    losses = [[cell.value for cell in row] for row in book["Open losses"].iter_rows(min_row=2)]
    assert ["fx.pay.orders", "2", "payment", "1", "amount", "amount"] in [row[:6] for row in losses]
    production = {(row[1].value, row[5].value) for row in book["Blocks"].iter_rows(min_row=2)}
    assert production == {("1", "maps it"), ("2", "sets its messages aside")}
    again = import_mapping(mapped, path, MapMode.REPLACE)
    assert (again.set, again.conflicts, again.state) == (0, (), mapped.document.state)
    with Workbench.create(tmp_path / "other.metl") as other:
        fill(other)
        other.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id")))
        import_mapping(other, path)
        document = other.document
        statuses = {document.extraction.version(b.version).label: b.status for b in document.matrix.blocks()}
    assert statuses == {"1": Status.CONFIRMED, "2": Status.UNCONFIRMED}


def test_what_people_said_stands_in_a_sheet_of_its_own(mapped: Workbench, tmp_path: Path) -> None:
    block = next(iter(mapped.document.matrix.blocks()))
    mapped.add_comment(block_subject(mapped.document, block.key), "ask finance; =1+1")
    publish(mapped)
    path = tmp_path / "mapping.xlsx"
    export_published(mapped, EXPORTS["xlsx"], path)
    rows = [[cell.value for cell in row] for row in openpyxl.load_workbook(path)["Comments"].iter_rows(min_row=2)]
    assert [row[1:3] for row in rows] == [["ask finance; =1+1", "tess"]]
    assert rows[0][0] == "fx.pay.orders@1 → payment@1"


def test_a_comment_longer_than_a_cell_comes_back_whole_unless_somebody_changed_its_cell(
    mapped: Workbench, tmp_path: Path
) -> None:
    block = next(iter(mapped.document.matrix.blocks()))
    long_text = "why; " * 9_000 + "\x01" * 9_000 + "so"
    mapped.do(SetElements(block.key, status=block.status, comment=long_text))
    path = tmp_path / "mapping.xlsx"
    export(mapped.document, EXPORTS["xlsx"], path)
    assert long_text in {row.comment for row in read_workbook(path).rows}
    book = openpyxl.load_workbook(path)
    for row in book[SHEET].iter_rows(min_row=2):
        row[7].value = f"changed {row[7].value or ''}"
    book.save(path)
    assert all(row.comment.startswith("changed ") for row in read_workbook(path).rows)
    assert long_text not in {row.comment for row in read_workbook(path).rows}


def test_a_workbook_without_the_sheet_is_refused_by_its_name(tmp_path: Path) -> None:
    openpyxl.Workbook().save(tmp_path / "other.xlsx")
    with pytest.raises(SchemaError, match=r"other\.xlsx has no sheet 'Mapping'"):
        read_workbook(tmp_path / "other.xlsx")


def test_comments_of_nodes_that_are_gone_are_told_as_such(mapped: Workbench, tmp_path: Path) -> None:
    subject = block_subject(mapped.document, next(iter(mapped.document.matrix.blocks())).key)
    path = tmp_path / "mapping.xlsx"
    workbook(Document(), Choices(comments=(Comment(1, subject, "old", "tess", 0),)), UNWATCHED, path)
    assert [cell.value for cell in openpyxl.load_workbook(path)["Comments"][2]][:2] == ["(gone) → (gone)", "old"]


def test_two_exports_of_one_state_are_the_same_bytes(mapped: Workbench, tmp_path: Path) -> None:
    publish(mapped)
    for name in "ab":
        export_published(mapped, EXPORTS["xlsx"], tmp_path / f"{name}.xlsx")
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_what_people_type_into_the_names_stays_the_text_they_typed(mapped: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "mapping.xlsx"
    export(mapped.document, EXPORTS["xlsx"], path)
    sheet = openpyxl.load_workbook(path)[SHEET]
    assert {cell.number_format for row in sheet.iter_rows(max_col=6, min_row=2) for cell in row} == {"@"}
    assert {sheet.column_dimensions[letter].number_format for letter in "ABCDEF"} == {"@"}


def test_gaps_stand_in_the_workbook_with_what_can_be_done(workbench: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "mapping.xlsx"
    export(workbench.document, EXPORTS["xlsx"], path)
    sheet = openpyxl.load_workbook(path)["Gaps"]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
    assert "payment" in {str(row[0]).partition("@")[0] for row in rows}
    assert all(row[2] and row[3] for row in rows)


def test_a_workbook_that_could_not_be_read_back_is_refused_and_not_written(
    mapped: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "MAX_UNPACKED_BYTES", 20_000)
    with pytest.raises(EditError, match="too much for one workbook"):
        export(mapped.document, EXPORTS["xlsx"], tmp_path / "mapping.xlsx")
    monkeypatch.undo()
    monkeypatch.setattr(xlsx, "MAX_ROWS", 6)
    with pytest.raises(EditError, match="may have 5 elements"):
        export(mapped.document, EXPORTS["xlsx"], tmp_path / "mapping.xlsx")
    assert list(tmp_path.glob("*mapping.xlsx*")) == []


def test_a_sheet_for_people_that_is_too_long_ends_and_says_so(
    mapped: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapped.do(AddVersion(Side.CDM, declare("wide", "1", *(f"c{at}" for at in range(9)))))
    monkeypatch.setattr(xlsx, "MAX_ROWS", 9)
    done = export(mapped.document, EXPORTS["xlsx"], tmp_path / "mapping.xlsx")
    assert "The sheet Canonical model ends after 8 rows; there are more." in done.says
