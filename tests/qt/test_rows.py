"""The model of all lists: what stays when other rows come, and what a heading answers."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QListView

from metl_gui.ui.widgets.rows import HEADING_ROLE, ROW_ROLE, HeadedModel, Heading, RowRoles, RowsModel, below_headings

ROLES = RowRoles[str](str.upper, str.title, {ROW_ROLE + 1: len}, key=str.lower)


def asked_by_qt(model: QAbstractItemModel) -> QAbstractItemModelTester:
    return QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)


@pytest.mark.usefixtures("qapp")
def test_a_row_answers_each_role_by_its_description() -> None:
    model = RowsModel(ROLES)
    model.show_rows(["ab", "<b>"])
    index = model.index(0)
    asked = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, ROW_ROLE, ROW_ROLE + 1, ROW_ROLE + 2)
    assert [model.data(index, role) for role in asked] == ["AB", "Ab", "ab", 2, None]
    assert "&lt;" in model.data(model.index(1), Qt.ItemDataRole.ToolTipRole)
    assert (model.row_of("ab"), model.row_of("c")) == (0, None)
    assert not model.index_of("c").isValid()


@pytest.mark.parametrize(
    ("shown", "selected"),
    [(["x", "A", "b", "y", "z"], "A"), (["a", "b"], "a"), (["a", "x", "b"], ""), (["b", "a"], ""), ([], "")],
)
def test_rows_that_grow_keep_what_is_selected_and_other_rows_select_nothing(
    qapp: QApplication, shown: list[str], selected: str
) -> None:
    model, view = RowsModel(ROLES), QListView()
    tester = asked_by_qt(model)
    view.setModel(model)
    model.show_rows(["a", "b"])
    view.setCurrentIndex(model.index(0))
    model.grow_rows(shown)
    assert list(model.rows) == shown
    assert "".join(model.rows[index.row()] for index in view.selectionModel().selectedIndexes()) == selected
    del tester, qapp


@pytest.mark.usefixtures("qapp")
def test_a_heading_stands_above_each_section_and_cannot_be_chosen() -> None:
    model = HeadedModel(ROLES)
    tester = asked_by_qt(model)
    rows = below_headings(["", "ab", "ac", "b"], lambda row: row[:1])
    model.show_rows(rows)
    assert model.rows == ("", Heading("a"), "ab", "ac", Heading("b"), "b")
    heading = model.index(1)
    assert (heading.data(), heading.data(HEADING_ROLE), heading.data(ROW_ROLE)) == ("a", Heading("a"), None)
    assert (heading.flags(), model.row_at(heading)) == (Qt.ItemFlag.NoItemFlags, None)
    assert model.row_at(model.index(2)) == "ab"
    del tester
