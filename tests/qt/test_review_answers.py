"""Answers on the Review page beyond the first one: by key, from a list, by a drawn line, by an answer sheet."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.entities import declared
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Block, Element, Status
from metl_gui.core.project.version_tasks import ValueProfile, VersionTask, Waiting
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.drop.sheet import Act, DropSheet
from metl_gui.ui.map import scoped_edits
from metl_gui.ui.map.scope_dialog import ScopeDialog
from metl_gui.ui.review.card import LossCard
from metl_gui.ui.review.commands import AnswersDialog
from metl_gui.ui.review.version_tasks import TaskSheet
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets.choice import Chooser
from metl_gui.workbench.session import Workbench
from tests.helpers.waiting_project import build_waiting
from tests.qt.conftest import activate

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def deciding(make_window: Callable[[], Window], tmp_path: Path) -> Window:
    """Return a window with four decisions, at one with a proposal and a loss without any."""
    made = make_window()
    made.show_project(build_waiting(tmp_path / "four.metl", 4))
    made.show_page(1)
    activate(made)
    go_to(made, "payments")
    return made


def go_to(window: Window, service: str) -> None:
    for facts in window.review.list.model.items:
        if service in facts.schema:
            window.review.list.go_to(facts.item.key)
            return
    raise AssertionError(service)


def card(window: Window, title: str) -> LossCard:
    return next(each for each in window.review.cards if each.facts.title == title)


def block(window: Window) -> Block:
    """Return the block in front, as it is now."""
    assert window.review.item is not None
    found = window.project.value.matrix.block(*window.review.item.key)
    assert found is not None
    return found


def fed(window: Window) -> dict[str, str]:
    """Return what feeds what in the block in front."""
    now, document = block(window), window.project.value
    columns = {a.id: a.path for a in document.extraction.version(now.version).attributes}
    rows = {a.id: a.path for a in document.cdm.version(now.entity_version).attributes}
    return {rows[q]: columns[p] for q, p in now.elements}


def chooser_of(window: Window) -> Chooser:
    (found,) = [each for each in window.findChildren(Chooser) if each.isVisible()]
    return found


def answers_of(window: Window) -> AnswersDialog:
    (found,) = [each for each in window.findChildren(AnswersDialog) if each.isVisible()]
    return found


def test_each_answer_has_a_key_that_its_button_shows_and_that_holds_at_the_card(deciding: Window) -> None:
    first = card(deciding, "customer_id")
    shown = [(button.text(), button.key) for button in first._in_order]
    assert shown == [
        ("It was renamed", "Enter"),
        ("Choose another…", "C"),
        ("Confirm the loss", "G"),
        ("Not a rename", "W"),
    ]
    deciding.review.detail.go_to_card(first)
    QTest.keyClick(first, Qt.Key.Key_G)
    assert [each.facts.title for each in deciding.review.cards] == ["legacy_code"]
    assert (
        deciding.project.undo_title == "Confirm the loss of customer_id in fx.payments.table_0000 2 → entity_payments 1"
    )
    deciding.project.undo()
    assert len(deciding.review.cards) == 2
    QTest.keyClick(deciding.review.list.view, Qt.Key.Key_R)
    assert fed(deciding)["customer_id"] == "customer_ref"
    assert deciding.project.undo_title.startswith("Rename customer_id to customer_ref in")


def test_n_and_l_hold_at_the_cards_and_never_in_the_comment(deciding: Window) -> None:
    before = deciding.review.item
    deciding.review.detail.go_to_card(deciding.review.cards[0])
    QTest.keyClick(deciding.review.cards[0], Qt.Key.Key_N)
    assert deciding.review.item is not before
    went_to = deciding.review.item
    deciding.review.comment.setFocus()
    QTest.keyClicks(deciding.review.comment, "nlrcgwam")
    assert deciding.review.comment.text() == "nlrcgwam"
    assert deciding.review.item is went_to
    assert not any(item.block.postponed for item in deciding.project.review_items())


def test_up_and_down_go_from_card_to_card_and_enter_takes_the_answer_of_the_one_in_hand(deciding: Window) -> None:
    first, second = deciding.review.cards
    deciding.review.detail.go_to_card(first)
    QTest.keyClick(first, Qt.Key.Key_Down)
    assert QApplication.focusWidget() is second
    QTest.keyClick(second, Qt.Key.Key_Up)
    assert QApplication.focusWidget() is first
    QTest.keyClick(first, Qt.Key.Key_Down)
    QTest.keyClick(second, Qt.Key.Key_Return)
    assert [each.facts.title for each in deciding.review.cards] == ["customer_id"]


def test_not_a_rename_is_remembered_and_offered_back(deciding: Window) -> None:
    first = card(deciding, "customer_id")
    state = deciding.project.value.state
    QTest.mouseClick(first.refuse_button, LEFT)
    again = card(deciding, "customer_id")
    assert again.facts.proposal is None
    assert again.first is again.loss_button
    assert deciding.project.value.state == state
    assert "customer_ref is not proposed for customer_id again" in deciding.notice.words.text()
    assert not any(link.words for link in deciding.review.after.picture.links)
    QTest.mouseClick(deciding.notice.action, LEFT)
    assert card(deciding, "customer_id").facts.proposal is not None


def test_choose_another_lists_proposed_names_first_and_finds_by_letters(deciding: Window) -> None:
    first = card(deciding, "customer_id")
    QTest.mouseClick(first.another_button, LEFT)
    chooser = chooser_of(deciding)
    titles = [row.words if isinstance(row.words, str) else row.words.title for row in chooser.model.rows]
    assert titles == [
        "Perhaps customer_id is called so now",
        "customer_ref",
        "Not mapped in this block",
        "channel",
    ]
    QTest.keyClicks(chooser.box, "chan")
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    QApplication.processEvents()
    assert fed(deciding)["customer_id"] == "channel"
    assert deciding.project.undo_title == "Map channel to customer_id"


def test_a_proposed_name_that_is_chosen_from_the_list_is_a_rename(deciding: Window) -> None:
    chooser = card(deciding, "customer_id").choose_another()
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    QApplication.processEvents()
    assert deciding.project.undo_title.startswith("Rename customer_id to customer_ref")  # type: ignore[union-attr]


def test_escape_leaves_the_list_of_candidates_without_an_answer(deciding: Window) -> None:
    state = deciding.project.value.state
    chooser = card(deciding, "customer_id").choose_another()
    QTest.keyClick(chooser.box, Qt.Key.Key_Down)
    QTest.keyClick(chooser.box, Qt.Key.Key_Escape)
    QApplication.processEvents()
    assert deciding.project.value.state == state


def test_a_line_drawn_from_a_new_attribute_to_a_lost_one_settles_its_card(deciding: Window) -> None:
    lines = deciding.review.after
    picture = lines.picture
    left = next(at for at, entry in enumerate(picture.left) if entry.words == "channel")
    right = next(at for at, entry in enumerate(picture.right) if entry.words == "legacy_code")
    start, end = (lines._box(at, is_left).center().toPoint() for at, is_left in ((left, True), (right, False)))
    QTest.mousePress(lines, LEFT, pos=start)
    QTest.mouseMove(lines, end)
    QTest.mouseRelease(lines, LEFT, pos=end)
    assert fed(deciding)["legacy_code"] == "channel"
    assert [each.facts.title for each in deciding.review.cards] == ["customer_id"]


def test_a_line_that_ends_on_what_is_mapped_or_nowhere_maps_nothing(deciding: Window) -> None:
    lines, state = deciding.review.after, deciding.project.value.state
    left = next(at for at, entry in enumerate(lines.picture.left) if entry.words == "channel")
    start = lines._box(left, is_left=True).center().toPoint()
    for end in (lines._box(0, is_left=False).center().toPoint(), QPoint(lines.width() // 2, 4)):
        QTest.mousePress(lines, LEFT, pos=start)
        QTest.mouseRelease(lines, LEFT, pos=end)
    assert deciding.project.value.state == state


def test_a_new_attribute_is_mapped_to_what_lost_its_source_first(deciding: Window) -> None:
    fresh = deciding.review.detail.fresh
    button = next(each for each in fresh.buttons if each.accessibleName() == "Map channel…")
    QTest.mouseClick(button, LEFT)
    chooser = chooser_of(deciding)
    titles = [row.words if isinstance(row.words, str) else row.words.title for row in chooser.model.rows]
    assert titles == ["Lost its source", "customer_id", "legacy_code"]
    QTest.keyClicks(chooser.box, "legacy")
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    QApplication.processEvents()
    assert fed(deciding)["legacy_code"] == "channel"


def add_later(deciding: Window) -> tuple[int, Element]:
    """Add a version behind the one to decide on, free ``currency`` in both, and return the version and what it maps."""
    item, document = deciding.review.item, deciding.project.value
    assert item is not None
    own, target = document.extraction.version(item.key[0]), document.cdm.version(item.key[1]).at_path("currency")
    attributes = (*declared(own), AttributeDeclaration("more", "string"))
    name = document.extraction.schema(own.schema_id).name
    deciding.project.do(AddVersion(Side.EXTRACTION, VersionDeclaration(name, attributes, "3")))
    later = deciding.project.value.extraction.schema(own.schema_id).version_ids[-1]
    source = deciding.project.value.extraction.version(later).at_path("channel")
    assert source is not None
    assert target is not None
    for key in (item.key, (later, item.key[1])):
        found = deciding.project.value.matrix.block(*key)
        assert found is not None
        deciding.project.do(SetElements(key, zeros=tuple(each for each in found.elements if each.q == target.id)))
    return later, Element(target.id, source.id)


def map_channel_to_currency(deciding: Window) -> None:
    button = next(each for each in deciding.review.detail.fresh.buttons if each.accessibleName() == "Map channel…")
    QTest.mouseClick(button, LEFT)
    QTest.keyClicks(chooser_of(deciding).box, "currency")
    QTest.keyClick(chooser_of(deciding).box, Qt.Key.Key_Return)
    QApplication.processEvents()


def test_a_new_attribute_is_mapped_in_later_versions_that_have_it_too(deciding: Window) -> None:
    later, element = add_later(deciding)
    assert deciding.review.item is not None
    map_channel_to_currency(deciding)
    assert fed(deciding)["currency"] == "channel"
    there = deciding.project.value.matrix.block(later, deciding.review.item.key[1])
    assert there is not None
    assert element in there.elements
    assert there.status is Status.NEEDS_REVIEW
    assert deciding.notice.words.text() == "Mapped here and in 1 other version."
    deciding.project.undo()
    assert "currency" not in fed(deciding)


def test_a_comment_stands_until_an_edit_is_made_with_it(deciding: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoped_edits, "MOST_UNASKED", 0)
    add_later(deciding)
    item, comment = deciding.review.item, deciding.review.comment
    assert item is not None
    QTest.keyClicks(comment, "as the desk said")
    map_channel_to_currency(deciding)
    (look,) = (each for each in deciding.findChildren(ScopeDialog) if each.isVisible())
    QTest.keyClick(look, Qt.Key.Key_Escape)
    assert "currency" not in fed(deciding)
    assert comment.text() == "as the desk said"
    map_channel_to_currency(deciding)
    (look,) = (each for each in deciding.findChildren(ScopeDialog) if each.isVisible())
    QTest.keyClick(look, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    block = deciding.project.value.matrix.block(*item.key)
    assert block is not None
    assert fed(deciding)["currency"] == "channel"
    assert block.comment == "as the desk said"
    assert comment.text() == ""


def test_mapping_it_in_another_view_takes_its_card_away(deciding: Window) -> None:
    item = deciding.review.item
    assert item is not None
    document = deciding.project.value
    source = document.extraction.version(item.key[0]).at_path("channel")
    target = document.cdm.version(item.key[1]).at_path("legacy_code")
    assert source is not None
    assert target is not None
    deciding.show_page(0)
    shown: list[object] = []
    deciding.review.list.chosen.connect(shown.append)
    deciding.project.do(SetElements(item.key, (Element(target.id, source.id),)))
    assert shown == []  # nobody sees the page
    deciding.show_page(1)
    assert [each.facts.title for each in deciding.review.cards] == ["customer_id"]


def test_a_ghost_leads_to_the_card_that_decides_on_it_even_from_a_later_version(deciding: Window) -> None:
    item = deciding.review.item
    assert item is not None
    paths = ("id", "customer_ref", "amount", "currency", "created_at")
    declared = tuple(AttributeDeclaration(path, "string") for path in paths)
    deciding.project.do(AddVersion(Side.EXTRACTION, VersionDeclaration("fx.payments.table_0000", declared, "3")))
    now = next(each for each in deciding.project.review_items() if each.key == item.key)
    assert len(now.chain) == 1
    loss = next(each for each in now.losses if each.to_path == "legacy_code")
    deciding.review.list.box.setText("schema:rates")
    assert deciding.review.go_to_card(now.chain[0], loss)
    assert deciding.review.item is not None
    assert deciding.review.item.key == item.key
    focus = QApplication.focusWidget()
    assert isinstance(focus, LossCard)
    assert focus.facts.title == "legacy_code"
    assert not deciding.review.go_to_card((1, 1), loss)


def test_who_and_when_and_the_comment_stand_at_the_item(deciding: Window) -> None:
    deciding.review.comment.setText("asked the desk")
    card(deciding, "legacy_code").loss_button.click()
    assert deciding.review.detail._said.text() == "Ada, just now · “asked the desk”"


def test_every_button_says_what_it_is_about_to_screen_readers(deciding: Window) -> None:
    for each in deciding.review.detail.focus_chain():
        name = each.accessibleName() or getattr(each, "text", lambda: "")()
        assert name, each
    assert card(deciding, "customer_id").accessibleName().startswith("customer_id lost: customer_id was removed")


# answer sheets


def drop(window: Window, path: Path) -> DropSheet:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    at, buttons, keys = window.rect().center(), LEFT, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(at, Qt.DropAction.CopyAction, data, buttons, keys))
    QApplication.sendEvent(window, QDropEvent(QPointF(at), Qt.DropAction.CopyAction, data, buttons, keys))
    (sheet,) = [each for each in window.findChildren(DropSheet) if each.isVisible()]
    return sheet


def write_answers(path: Path, *answers: tuple[str, str]) -> None:
    book = openpyxl.load_workbook(path)
    sheet = book["Open decisions"]
    titles = [cell.value for cell in sheet[1]]
    for row, (answer, new_name) in enumerate(answers, 2):
        sheet.cell(row, titles.index("your answer") + 1).value = answer
        sheet.cell(row, titles.index("new name") + 1).value = new_name
    book.save(path)


def send(window: Window, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the menu row and name a file."""
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path.with_suffix("")), ""))
    window.actions_table["send_sheet"].trigger()


def test_a_sheet_is_sent_out_dropped_again_looked_at_and_taken_as_one_step(
    deciding: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "open.xlsx"
    deciding.review.list.box.setText("schema:payments")
    send(deciding, path, monkeypatch)
    assert "open.xlsx asks about 2 lost elements" in deciding.notice.words.text()
    write_answers(path, ("renamed to", "customer_ref"), ("hm", ""))
    state = deciding.project.value.state
    sheet = drop(deciding, path)
    assert "1 answer" not in deciding.notice.words.text()
    assert any("2 answers in 2 rows of open.xlsx" in label.text() for label in sheet.findChildren(QLabel))
    button = next(button for offer, button in sheet.buttons if offer.act is Act.READ_ANSWERS)
    QTest.mouseClick(button, LEFT)
    QApplication.processEvents()
    dialog = answers_of(deciding)
    said = [dialog.model.index(row).data() for row in range(dialog.model.rowCount())]
    assert said[0] == "Not clear: nothing is done for these"
    assert "“hm” is no answer" in said[1]
    assert "customer_id was renamed to customer_ref" in said[3]
    assert deciding.project.value.state == state
    QTest.mouseClick(dialog.take, LEFT)
    QApplication.processEvents()
    assert deciding.project.value.state == state + 1
    assert deciding.project.undo_title == "Take 1 answer from open.xlsx"
    assert "1 answer taken from open.xlsx, 1 row not clear" in deciding.notice.words.text()
    go_to(deciding, "payments")
    assert [each.facts.title for each in deciding.review.cards] == ["legacy_code"]


def test_leaving_the_answers_takes_none(deciding: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "open.xlsx"
    send(deciding, path, monkeypatch)
    write_answers(path, ("not needed any more", ""))
    state = deciding.project.value.state
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    deciding.actions_table["read_sheet"].trigger()
    dialog = answers_of(deciding)
    assert dialog.take.text() == "Take 1 answer"
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    QApplication.processEvents()
    assert deciding.project.value.state == state


def test_a_sheet_without_answers_offers_none(deciding: Window, tmp_path: Path) -> None:
    path = tmp_path / "open.xlsx"
    deciding.review_commands.send(path)
    deciding.review_commands.read(path)
    dialog = answers_of(deciding)
    assert not dialog.take.isEnabled()
    assert dialog.cancel.text() == "Close"


def test_a_workbook_of_something_else_is_refused_in_the_sheet(deciding: Window, tmp_path: Path) -> None:
    path = tmp_path / "budget.xlsx"
    openpyxl.Workbook().save(path)
    sheet = drop(deciding, path)
    words = " ".join(label.text() for label in sheet.findChildren(QLabel))
    assert "budget.xlsx has no sheet 'Open decisions'" in words
    assert sheet.buttons == []


# versions that nobody knows


def test_a_version_task_stands_at_the_head_and_is_added_by_its_button(deciding: Window) -> None:
    workbench: Workbench | None = deciding.project.workbench
    assert workbench is not None
    declared = tuple(AttributeDeclaration(path, "string") for path in ("id", "amount"))
    declaration = VersionDeclaration("fx.payments.table_0000", declared, "9")
    task = VersionTask(0, declaration.name, "9", declaration, waits=(Waiting("e", "r", "test", "s", 1204),))
    workbench.kept.version_tasks.collect([task], workbench.stamp())
    deciding.review.refresh()
    tasks = deciding.review.list.tasks
    assert tasks.isVisible()
    assert "1,204 records wait" in " ".join(label.text() for label in tasks.findChildren(QLabel))
    QTest.mouseClick(tasks.buttons[0], LEFT)
    assert deciding.project.value.extraction.named("fx.payments.table_0000") is not None
    schema = deciding.project.value.extraction.named("fx.payments.table_0000")
    assert schema is not None
    labels = [version.label for version in deciding.project.value.extraction.versions(schema.id)]
    assert labels == ["1", "2", "9"]
    assert not tasks.isVisible()
    assert "A version of fx.payments.table_0000 was added." in deciding.notice.words.text()


def test_a_dismissed_version_task_is_gone_and_adds_nothing(deciding: Window) -> None:
    workbench = deciding.project.workbench
    assert workbench is not None
    declaration = VersionDeclaration("fx.new", (AttributeDeclaration("id", "string"),), "1")
    task = VersionTask(0, "fx.new", "1", declaration, waits=(Waiting("e", "r", "test", "s", 3),))
    workbench.kept.version_tasks.collect([task], workbench.stamp())
    deciding.review.refresh()
    assert deciding.review.nothing.title.text() == "1 version waits to be added"
    state = deciding.project.value.state
    QTest.mouseClick(deciding.review.list.tasks.buttons[2], LEFT)
    assert deciding.review.list.tasks.shown == ()
    assert deciding.review.nothing.title.text() == "Nothing waits for a decision"
    assert deciding.project.value.state == state


def test_a_version_task_is_seen_with_its_attributes_and_records_before_it_is_added(
    deciding: Window, tmp_path: Path
) -> None:
    workbench = deciding.project.workbench
    assert workbench is not None
    name = "fx.payments.table_0000"
    declared = tuple(AttributeDeclaration(path, "string") for path in ("id", "loyalty"))
    declaration = VersionDeclaration(name, declared, inferred=True)
    store = tmp_path / "errors" / "reason=unknown_version"
    store.mkdir(parents=True)
    record = json.dumps({"topic": name, "value": {"id": "7", "loyalty": "gold"}})
    row = {"reason": "unknown_version", "detail": "", "state": 1, "schema": name, "version": None, "raw": record}
    (store / "part-0.jsonl").write_text(json.dumps(row | {"position": "a@0"}) + "\n", encoding="utf-8")
    waits = (Waiting(str(tmp_path / "errors"), "r", "test", "s", 1),)
    samples = (ValueProfile("loyalty", 0.8, ("aaaa",)),)
    workbench.kept.version_tasks.collect([VersionTask(0, name, "x", declaration, samples, waits)], workbench.stamp())
    deciding.review.refresh()
    QTest.mouseClick(deciding.review.list.tasks.buttons[1], LEFT)
    (sheet,) = (each for each in deciding.findChildren(TaskSheet) if each.isVisible())
    assert [words.pill for words, _ in sheet.model.rows] == ["", "new"]
    assert sheet.model.rows[1][0].facts == "string · filled in 80% of the records looked at · like aaaa"
    assert '"loyalty": "gold"' in sheet.records.toPlainText()
    assert "Not there any more, compared with version" in sheet.words.text()
    state = deciding.project.value.state
    QTest.mouseClick(sheet.add, LEFT)
    QApplication.processEvents()
    assert deciding.project.value.state == state + 1


def test_a_card_says_whether_anything_else_feeds_what_was_lost(deciding: Window) -> None:
    assert card(deciding, "legacy_code").facts.reason.endswith("No other schema feeds it.")
    document = deciding.project.value
    other, target = document.extraction.named("fx.rates.table_0001"), document.cdm.named("entity_payments")
    assert other is not None
    assert target is not None
    source, entity = document.extraction.version(other.version_ids[0]), document.cdm.version(target.version_ids[0])
    code, legacy = source.at_path("legacy_code"), entity.at_path("legacy_code")
    assert code is not None
    assert legacy is not None
    deciding.project.do(SetElements((source.id, entity.id), (Element(legacy.id, code.id),)))
    assert card(deciding, "legacy_code").facts.reason.endswith("1 other schema feeds it.")


def test_losing_the_last_source_of_a_required_attribute_is_not_the_first_answer(deciding: Window) -> None:
    facts = card(deciding, "legacy_code").facts
    plain = LossCard(replace(facts, proposal=None))
    last = LossCard(replace(facts, proposal=None, is_last_source=True))
    assert plain.first is plain.loss_button
    assert last.first is last.another_button


def test_a_key_that_somebody_changed_is_the_one_that_the_buttons_show_and_that_answers(deciding: Window) -> None:
    keymap = deciding.actions_table.keymap
    keymap.give("answer_lost", "X")
    keymap.give("later", "P")
    first = card(deciding, "customer_id")
    assert first.loss_button.key == "X"
    assert deciding.review.later_button.key == "P"
    deciding.review.detail.go_to_card(first)
    QTest.keyClick(first, Qt.Key.Key_G)
    assert len(deciding.review.cards) == 2
    QTest.keyClick(first, Qt.Key.Key_X)
    assert [each.facts.title for each in deciding.review.cards] == ["legacy_code"]
    assert card(deciding, "legacy_code").first.key == "Enter"
