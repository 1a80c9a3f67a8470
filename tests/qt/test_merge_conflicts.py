"""What a merge could not settle, decided on the Review page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from metl_gui.core.matrix.blocks import Status
from metl_gui.store.creation import copy_file
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.comparison.merge import merge_files
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import activate
from tests.unit.workbench.conftest import fill, write_table


@pytest.fixture
def merged(make_window: Callable[[], Window], tmp_path: Path) -> Window:
    """Return a window on a project into which another was merged that feeds one target from elsewhere."""
    base, ours, theirs = (tmp_path / f"{name}.metl" for name in ("base", "ours", "theirs"))
    with Workbench.create(base) as workbench:
        fill(workbench)
    for path, source in ((ours, "legacy"), (theirs, "amount")):
        copy_file(base, path)
        with Workbench.open(path) as workbench:
            import_mapping(workbench, write_table(tmp_path, f"fx.pay.orders,1,{source},payment,1,amount"))
    merge_files(base, ours, theirs)
    made = make_window()
    made.show_project(Workbench.open(ours))
    made.show_page(1)
    activate(made)
    return made


def fed(window: Window) -> tuple[Status, dict[str, str]]:
    """Return the status of the only block, and what feeds what in it."""
    (block,) = window.project.value.matrix.blocks()
    document = window.project.value
    columns = {a.id: a.path for a in document.extraction.version(block.version).attributes}
    rows = {a.id: a.path for a in document.cdm.version(block.entity_version).attributes}
    return block.status, {rows[q]: columns[p] for q, p in block.elements}


def test_a_conflict_is_a_card_that_says_both_sides(merged: Window) -> None:
    (card,) = merged.review.cards
    assert card.facts.title == "amount"
    assert "theirs maps amount to amount, ours maps legacy to amount; ours was kept" in card.facts.reason
    assert card.rename_button.text() == "Map it again"
    assert fed(merged) == (Status.NEEDS_REVIEW, {"amount": "legacy"})


def test_enter_takes_theirs_in_place_of_ours_and_undo_brings_the_conflict_back(merged: Window) -> None:
    (card,) = merged.review.cards
    merged.review.detail.go_to_card(card)
    QTest.keyClick(card, Qt.Key.Key_Return)
    assert fed(merged) == (Status.CONFIRMED, {"amount": "amount"})
    merged.project.undo()
    assert fed(merged) == (Status.NEEDS_REVIEW, {"amount": "legacy"})


def test_confirming_the_loss_keeps_ours(merged: Window) -> None:
    (card,) = merged.review.cards
    merged.review.detail.go_to_card(card)
    QTest.keyClick(card, Qt.Key.Key_G)
    assert fed(merged) == (Status.CONFIRMED, {"amount": "legacy"})
