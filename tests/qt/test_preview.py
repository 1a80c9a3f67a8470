"""The preview beside the block editor, by keys and mouse: it follows edits, selection and samples, and hides masks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QByteArray, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from metl_gui.core.edits.entities import ChangeEntity
from metl_gui.core.edits.settings import MaskAttribute
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.preview.samples import PasteDialog
from metl_gui.ui.preview.text import ValueSpan
from metl_gui.ui.project.notes import NodeValues
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version
from metl_gui.ui.review.card import cards_of
from metl_gui.ui.run.cell_messages import CellMessages
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ChoiceRow, Chooser
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.samples.cache import SampleCache
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import activate
from tests.qt.held_jobs import HeldJobs

ORDERS = "fx.payments.orders"
HUSHED = "Quite-Hushed-7"


def row(**other: object) -> dict[str, object]:
    """A row of the version that waits."""
    found: dict[str, object] = {"id": 4711, "customer_ref": "C-1017", "amount": 62.67, "currency": "CHF"}
    found |= {"created_at": "2025-01-25T05:40:05Z", "memo": None, "state": "paid", "settled": False}
    return found | {"risk_score": 438, "channel": "web"} | other


def message(op: str = "c", **other: object) -> str:
    return json.dumps({"topic": ORDERS, "value": {"before": None, "after": row(**other), "op": op}})


def keep(window: Window, folder: Path, *messages: str) -> None:
    path = folder / "messages.jsonl"
    path.write_text("\n".join(messages))
    window.preview.keep(str(path))


def key_of(window: Window) -> BlockKey:
    document = window.project.value
    schema, entity = document.extraction.named(ORDERS), document.cdm.named("payment")
    assert schema is not None
    assert entity is not None
    return schema.version_ids[-1], entity.version_ids[-1]


def stand_on(window: Window, source: str = "", target: str = "") -> None:
    document, key = window.project.value, key_of(window)
    p = document.extraction.version(key[0]).at_path(source)
    q = document.cdm.version(key[1]).at_path(target)
    places = (
        place_of_version(document, Side.EXTRACTION, key[0], p.id if p else None),
        place_of_version(document, Side.CDM, key[1], q.id if q else None),
    )
    window.selection.choose(Selected(*places))


def text(window: Window) -> str:
    return window.preview.panel.text.laid.text.replace("\N{NO-BREAK SPACE}", " ")


def count(window: Window) -> int:
    return len(window.preview.panel.samples)


def spot(window: Window, side: Side, value: str) -> ValueSpan:
    return next(each for each in window.preview.panel.text.laid.spots if each.side is side and each.value == value)


def press(window: Window, keys: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(QApplication.focusWidget() or window, keys, held)
    QApplication.processEvents()


@pytest.fixture
def previewed(window: Window, tmp_path: Path) -> Window:
    """A window whose schema of orders has three samples, with a block of it selected."""
    activate(window)
    window.show_page(0)
    keep(window, tmp_path, message(), message("u", id=4712, memo="again"), message("u", id=4713))
    stand_on(window)
    return window


def test_a_cell_that_is_cleared_by_key_is_gone_from_the_preview_and_undo_brings_it_back(previewed: Window) -> None:
    assert '"payment_id": 4711' in text(previewed)
    before = text(previewed).partition("state ")[0]
    stand_on(previewed, "id", "payment_id")
    previewed.map.matrix.setFocus()
    press(previewed, Qt.Key.Key_Space)
    assert '"payment_id"' not in text(previewed).partition("out · ledger_entry")[0].partition("out")[2]
    press(previewed, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert '"payment_id": 4711' in text(previewed)
    assert text(previewed).partition("state ")[0] == before


def test_in_a_layout_kept_before_there_was_a_preview_it_has_its_share_of_the_room(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    first = make_window()
    first.show_project(Workbench.open(sample.project))
    QApplication.processEvents()
    width = first.preview.dock.width()
    name, other = (name.encode("utf-16-be") for name in ("previewDock", "anotherDock"))
    first.settings.save_layout("mapPage", QByteArray(bytes(first.map.saveState().data()).replace(name, other)))
    window = make_window()
    window.show_project(Workbench.open(sample.project, False))
    QApplication.processEvents()
    assert window.preview.dock.isVisible()
    assert window.preview.dock.width() == width


def test_what_waits_in_the_block_is_said_below_its_message(previewed: Window) -> None:
    shown = text(previewed)
    assert shown.index("out · payment") < shown.index("payer_id waits for review") < shown.index("out · ledger_entry")
    assert "production holds it back until then" in shown


def test_the_value_of_the_selected_cell_is_marked_on_both_sides(previewed: Window) -> None:
    stand_on(previewed, "amount", "amount")
    marked = previewed.preview.panel.text.chosen_spots
    assert [(each.side, each.value) for each in marked] == [(Side.EXTRACTION, "62.67"), (Side.CDM, "62.67")]
    assert len(previewed.preview.panel.text.extraSelections()) == 2


def test_a_click_on_a_value_selects_its_attribute_and_where_it_goes(previewed: Window) -> None:
    shown, wanted = previewed.preview.panel.text, spot(previewed, Side.EXTRACTION, '"CHF"')
    cursor = QTextCursor(shown.document())
    cursor.setPosition(wanted.member.value + 2)
    at = shown.cursorRect(cursor).center() + QPoint(1, 0)
    QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=at)
    source, target = previewed.selection.current.source, previewed.selection.current.target
    assert source is not None
    assert source.attribute == wanted.attribute
    assert len(wanted.partners) == 2, "payments and the ledger have it"
    assert target is not None


def test_a_value_of_the_preview_names_the_cell_and_who_mapped_it_when_pointed_at(previewed: Window) -> None:
    panel = previewed.preview.panel
    value = next(each for each in panel.text.laid.spots if each.side is Side.CDM)
    cursor = QTextCursor(panel.text.document())
    cursor.setPosition(value.member.start + 1)
    cursor.movePosition(QTextCursor.MoveOperation.Left)
    panel.text.setFocus()
    panel.text.setTextCursor(cursor)
    press(previewed, Qt.Key.Key_Right)
    assert " → " in panel.text.toolTip()
    assert "mapped by" in panel.text.toolTip()
    panel.text.lit.emit(None)
    assert panel.text.toolTip() == ""


def test_enter_on_a_value_selects_its_attribute(previewed: Window) -> None:
    shown, wanted = previewed.preview.panel.text, spot(previewed, Side.CDM, "4711")
    previewed.actions_table["preview"].trigger()
    assert QApplication.focusWidget() is shown
    cursor = shown.textCursor()
    cursor.setPosition(wanted.member.start + 1)
    shown.setTextCursor(cursor)
    press(previewed, Qt.Key.Key_Return)
    target, source = previewed.selection.current.target, previewed.selection.current.source
    assert target == place_of_version(previewed.project.value, Side.CDM, wanted.version, wanted.attribute)
    assert source is not None
    assert wanted.partners == {(source.version, source.attribute)}


def test_keys_and_buttons_step_through_the_samples_and_round(previewed: Window) -> None:
    tools = previewed.preview.panel.tools
    assert tools.count.text().endswith("1 of 3")
    seen = [text(previewed)]
    for _ in range(2):
        press(previewed, Qt.Key.Key_Period, Qt.KeyboardModifier.AltModifier)
        seen.append(text(previewed))
    assert len(set(seen)) == 3
    QTest.mouseClick(tools.forward, Qt.MouseButton.LeftButton)
    assert text(previewed) == seen[0]
    QTest.mouseClick(tools.back, Qt.MouseButton.LeftButton)
    assert tools.count.text().endswith("3 of 3")


def test_a_sample_is_chosen_from_the_list_by_its_operation_and_values(previewed: Window) -> None:
    QTest.mouseClick(previewed.preview.panel.tools.count, Qt.MouseButton.LeftButton)
    chooser = next(each for each in previewed.findChildren(Chooser) if each.isVisible())
    chooser.box.setText("update 4713")
    QTest.keyClick(chooser.box, Qt.Key.Key_Return)
    QApplication.processEvents()
    assert '"payment_id": 4713' in text(previewed)
    assert "update" in text(previewed).splitlines()[0]


def test_the_block_editor_says_the_values_of_the_message_that_is_shown(previewed: Window) -> None:
    lists = previewed.map.block.lists
    document, key = previewed.project.value, key_of(previewed)
    amount = document.extraction.version(key[0]).at_path("amount")
    end = document.cdm.version(key[1]).at_path("amount")
    assert amount is not None
    assert end is not None
    assert lists.left.rows.values[amount.id] == "62.67"
    assert lists.right.rows.values[end.id] == "62.67"
    previewed.actions_table["sample_values"].trigger()
    assert lists.left.rows.values == {}
    tip = lists.left.rows.index_of(amount.id).data(Qt.ItemDataRole.ToolTipRole)
    assert "values: 62.67" in tip


def test_tooltips_tell_how_many_samples_have_a_value_and_nothing_of_masked_ones(previewed: Window) -> None:
    key = key_of(previewed)
    tips: list[Callable[[], str]] = []
    for side, version_id in zip(Side, key, strict=True):
        version = previewed.project.value.tree(side).version(version_id)
        amount = version.at_path("amount")
        assert amount is not None
        place = NodeRef(version.schema_id, version_id, amount.id)
        tips.append(partial(NodeValues(previewed.project, side).tip, place))
        first, second = tips[-1]().splitlines()
        assert first.startswith("values: ")
        assert re.fullmatch(r"\d+ samples: 100 % filled, \d+ different(, mostly .+)?", second)
    source = previewed.project.value.extraction.version(key[0]).at_path("amount")
    assert source is not None
    assert previewed.project.do(MaskAttribute(Side.EXTRACTION, key[0], source.id))
    assert [tip() for tip in tips] == ["", ""]


def test_a_pasted_message_that_is_none_says_why_and_cannot_be_used(previewed: Window) -> None:
    QGuiApplication.clipboard().setText('{"op":"c","after":{"id":1')
    dialog = opened(previewed)
    assert "It is no text that may be accepted" in dialog.verdict.text()
    assert not dialog.use.isEnabled()
    dialog.reject()


def test_a_pasted_message_becomes_a_sample_and_is_shown(previewed: Window) -> None:
    QGuiApplication.clipboard().setText(message(id=9999))
    dialog = opened(previewed)
    assert "Becomes 2 messages." in dialog.verdict.text()
    QTest.mouseClick(dialog.use, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert '"payment_id": 9999' in text(previewed)
    assert previewed.preview.panel.tools.count.text().endswith("of 4")


def test_a_pasted_message_of_no_schema_is_shown_with_its_reason_and_not_kept(previewed: Window) -> None:
    QGuiApplication.clipboard().setText('{"topic":"nobody","value":{"id":1}}')
    dialog = opened(previewed)
    QTest.mouseClick(dialog.use, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert "Would be set aside. Its schema is not in the project" in text(previewed)
    assert previewed.preview.panel.told == "pasted message"
    assert len(previewed.preview.panel.samples) == 3
    QTest.mouseClick(previewed.preview.panel.tools.forward, Qt.MouseButton.LeftButton)
    assert "nobody" not in text(previewed)
    assert previewed.preview.panel.told == ""


def opened(window: Window) -> PasteDialog:
    window.actions_table["paste_message"].trigger()
    return next(each for each in window.findChildren(PasteDialog) if each.isVisible())


def test_the_answer_of_pasting_stands_in_front_of_cancel_as_in_other_dialogs(window: Window) -> None:
    dialog = opened(window)
    assert dialog.use.x() < dialog.cancel.x()
    dialog.reject()


def test_without_samples_it_says_how_to_get_some(window: Window) -> None:
    window.show_page(0)
    stand_on(window)
    panel = window.preview.panel
    assert panel.preview is None
    assert panel._words.text() == f"No samples of {ORDERS} yet: run a test (F5) or drop a message file."
    assert panel.run_button.isVisible()
    assert not window.actions_table["next_sample"].isEnabled()


def test_an_entity_alone_shows_a_message_that_feeds_it(previewed: Window) -> None:
    entity = previewed.project.value.cdm.named("payment")
    assert entity is not None
    previewed.selection.choose(Selected(target=NodeRef(entity.id)))
    assert "in · fx.payments.orders 5" in text(previewed)


@pytest.mark.parametrize("target", ["", "amount"])
def test_a_new_version_of_the_selected_entity_keeps_its_samples(previewed: Window, target: str) -> None:
    stand_on(previewed, target=target)
    previewed.selection.choose(Selected(target=previewed.selection.current.target))
    before, old = count(previewed), key_of(previewed)[1]
    assert before > 0
    tree = previewed.project.value.cdm
    declared = tuple(
        AttributeDeclaration(a.path, a.type, equivalent_to=(a.path,)) for a in tree.version(old).attributes
    )
    more = (*declared, AttributeDeclaration("fresh", "string"))
    assert previewed.project.do(ChangeEntity(tree.schema_of(old), more))
    assert key_of(previewed)[1] != old
    assert previewed.selection.current.target is not None
    assert previewed.selection.current.target.version == old
    assert count(previewed) == before
    assert "62.67" in text(previewed)


def test_a_version_without_samples_shows_one_of_another_version_and_says_so(previewed: Window) -> None:
    schema = previewed.project.value.extraction.named(ORDERS)
    assert schema is not None
    first = place_of_version(previewed.project.value, Side.EXTRACTION, schema.version_ids[0])
    previewed.selection.choose(Selected(source=first))
    assert "this one is of version 5" in text(previewed)


def test_forgetting_asks_first_and_leaves_an_empty_preview(previewed: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    answers = iter(["cancel", "forget"])

    def answer(title: str, *_: object) -> str:
        asked.append(title)
        return next(answers)

    monkeypatch.setattr(dialogs, "ask", answer)
    previewed.actions_table["forget_samples"].trigger()
    assert count(previewed) == 3
    previewed.actions_table["forget_samples"].trigger()
    assert asked == ["Forget the samples?"] * 2
    assert count(previewed) == 0
    assert text(previewed) == ""
    assert previewed.map.block.lists.left.rows.values == {}


def test_including_says_plainly_who_can_read_the_samples_then(
    previewed: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def include(title: str, words: str, *_: object) -> str:
        asked.append(f"{title} {words}")
        return "include"

    monkeypatch.setattr(dialogs, "ask", include)
    action = previewed.actions_table["include_samples"]
    action.trigger()
    workbench = previewed.project.workbench
    assert workbench is not None
    assert workbench.kept.samples.included() == {key_schema(previewed)}
    assert "Whoever is given the project file can read these messages" in asked[0]
    assert previewed.preview.is_included
    action.trigger()
    assert workbench.kept.samples.included() == frozenset()
    assert len(asked) == 1


def key_schema(window: Window) -> int:
    return window.project.value.extraction.schema_of(key_of(window)[0])


# masks


def masked(window: Window, path: str) -> None:
    document, key = window.project.value, key_of(window)
    attribute = document.extraction.version(key[0]).at_path(path)
    assert attribute is not None
    assert window.project.do(MaskAttribute(Side.EXTRACTION, key[0], attribute.id))


def told(window: Window) -> list[str]:
    """Everything that the window says of values, in words."""
    document, key, panel = window.project.value, key_of(window), window.preview.panel
    found = [text(window), panel.told, panel.tools.count.accessibleName(), panel.text.toPlainText()]
    panel.tools.whole.setChecked(True)
    found.append(text(window))
    panel.tools.whole.setChecked(False)
    for view in (window.map.block.lists.left, window.map.block.lists.right):
        found += [*view.rows.values.values(), *view.rows.tips.values()]
        for at in range(view.rows.rowCount()):
            for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
                found.append(str(view.rows.index(at).data(role)))
    for side, tree, version in zip(Side, (window.map.sources, window.map.targets), key, strict=True):
        for attribute in document.tree(side).version(version).attributes:
            place = place_of_version(document, side, version, attribute.id)
            found += [tree._values.tip(place), tree._values.beside(place)]
    chooser = window.preview.choose()
    assert chooser is not None
    found += [f"{c.words.title} {c.words.facts}" for c in chooser.model.rows if isinstance(c, ChoiceRow)]
    chooser.reject()
    window.suggest.suggestions.want(True)
    found += [each.reason for each in window.suggest.suggestions.found.candidates]
    block = document.matrix.block(*key)
    assert block is not None
    values = window.project.rename_values(key_schema(window))
    found += [facts.reason for facts in cards_of(document, block, block.open_losses, values=values)]
    return found


def test_masked_values_are_in_no_words_of_the_window_and_all_others_are(previewed: Window, tmp_path: Path) -> None:
    keep(previewed, tmp_path, message(memo=HUSHED), message("u", id=4715, memo=HUSHED + "b"))
    assert any(HUSHED in words for words in told(previewed))
    masked(previewed, "memo")
    assert [words for words in told(previewed) if HUSHED in words] == []
    assert any("62.67" in words for words in told(previewed))


def test_no_pixel_of_the_window_depends_on_a_masked_value(previewed: Window, tmp_path: Path) -> None:
    masked(previewed, "memo")
    pictures = []
    for memo in ("A", "quite another and a longer one"):
        SampleCache(previewed.project.workbench.project_id if previewed.project.workbench else "").forget()
        keep(previewed, tmp_path, message(memo=memo))
        previewed.notice.hide()
        stand_on(previewed, "memo", "memo")
        QApplication.processEvents()
        pictures.append(previewed.grab().toImage())
    assert pictures[0] == pictures[1]
    assert "•••" in text(previewed)


def test_what_is_masked_while_it_is_shown_is_hidden_at_once_and_undo_shows_it_again(previewed: Window) -> None:
    assert "C-1017" in text(previewed)
    masked(previewed, "customer_ref")
    assert "C-1017" not in text(previewed)
    previewed.project.undo()
    assert "C-1017" in text(previewed)


def test_a_cell_that_no_run_used_leads_to_a_sample_that_does(previewed: Window) -> None:
    value = next(each for each in previewed.preview.panel.text.laid.spots if each.side is Side.EXTRACTION)
    (w, q), *_ = sorted(value.partners)
    document = previewed.project.value
    previewed.selection.choose(
        Selected(
            place_of_version(document, Side.EXTRACTION, value.version, value.attribute),
            place_of_version(document, Side.CDM, w, q),
        )
    )
    previewed.preview.dock.hide()
    previewed.actions_table["cell_messages"].trigger()
    assert previewed.preview.dock.isVisible()
    assert previewed.preview.panel.sample is not None
    assert previewed.preview.panel.sample.version == value.version


def test_messages_of_a_cell_are_not_shown_in_the_project_that_was_opened_meanwhile(previewed: Window) -> None:
    jobs = HeldJobs()
    leads = CellMessages(replace(previewed.context, jobs=jobs), previewed.run_page, previewed.preview)
    value = next(each for each in previewed.preview.panel.text.laid.spots if each.side is Side.EXTRACTION)
    document, ((w, q), *_) = previewed.project.value, sorted(value.partners)
    previewed.selection.choose(
        Selected(
            place_of_version(document, Side.EXTRACTION, value.version, value.attribute),
            place_of_version(document, Side.CDM, w, q),
        )
    )
    leads.show()
    previewed.project.opened.emit(previewed.project.workbench)
    previewed.preview.dock.hide()
    shown = previewed.notice.words.text()
    jobs.release()
    assert not previewed.preview.dock.isVisible()
    assert previewed.notice.words.text() == shown


def test_a_cell_that_nothing_used_says_how_to_get_messages(window: Window) -> None:
    document = window.project.value
    block = next(block for block in document.matrix.blocks() if block.elements)
    window.selection.choose(
        Selected(
            place_of_version(document, Side.EXTRACTION, block.version, block.elements[0].p),
            place_of_version(document, Side.CDM, block.entity_version, block.elements[0].q),
        )
    )
    window.actions_table["cell_messages"].trigger()
    assert "Run a test" in window.notice.words.text()
