"""A message before mapping beside what it became: what belongs together, pointed at and followed by mouse and keys."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.titles import past_tense
from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.records import MappedRecord, SentMessage, SetAsideRecord
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.mapping.plan_compiler import compile_plan
from metl_gui.ui.messages.json_layout import indented, members_of
from metl_gui.ui.messages.pairs import BETWEEN, RecordLink, links_between, pair_of
from metl_gui.ui.messages.view import MessageSides, MessageText
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.history.blame import blame
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import run_folder
from tests.qt.conftest import activate
from tests.qt.matrix_hand import select
from tests.qt.recorded_runs import keep_recorded

ORDERS = "fx.payments.orders"

_TEXTS = st.text(max_size=8)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=12,
)


def paths_in(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield (*path, name), part
            yield from paths_in(part, (*path, name))


@given(_JSON, st.booleans())
def test_every_member_is_found_where_it_stands_whatever_the_layout(value: object, is_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii)
    for shown in (text, indented(text)):
        found = members_of(shown)
        assert set(found) == {path for path, _ in paths_in(value)}
        for path, part in paths_in(value):
            member = found[path]
            assert json.loads(shown[member.value : member.stop]) == part
            assert json.loads(f"{{{shown[member.start : member.stop]}}}") == {path[-1]: part}


@given(_JSON)
def test_laying_out_changes_white_space_between_values_only(value: object) -> None:
    assert json.loads(indented(json.dumps(value))) == value


@given(st.text(alphabet='{}[]:,"\\ a1', max_size=30))
def test_members_of_what_is_no_json_lie_within_it(text: str) -> None:
    for member in members_of(text).values():
        assert 0 <= member.start <= member.value <= member.stop <= len(text)


def sent(document: Document, payload: dict[str, object], op: str = "u", **more: object) -> bytes:
    head = {"entity": "payment", "version": "2.0.0", "state": document.state, "op": op, **more}
    return json.dumps(head | {"source": {"schema": ORDERS, "version": "4"}, "payload": payload}).encode()


def elements_of(document: Document) -> dict[str, str]:
    """Return the CDM paths by the paths of the schema that they come from."""
    schema, entity = document.extraction.named(ORDERS), document.cdm.named("payment")
    assert schema is not None
    assert entity is not None
    v, w = document.extraction.labelled(schema.id, "4"), document.cdm.labelled(entity.id, "2.0.0")
    assert v is not None
    assert w is not None
    block = document.matrix.block(v.id, w.id)
    assert block is not None
    targets = {a.id: a.path for a in w.attributes}
    return {a.path: targets[e.q] for a in v.attributes for e in block.elements if e.p == a.id}


def ends(link: RecordLink, before: str, after: str) -> tuple[str, str]:
    return before[link.before.start : link.before.stop], after[link.after.start : link.after.stop]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda row: row,
        lambda row: {"op": "u", "before": {"amount": 0.5}, "after": row},
        lambda row: {"schema": {"fields": []}, "payload": {"op": "u", "before": None, "after": row}},
        lambda row: {"topic": ORDERS, "value": {"after": row}},
    ],
)
def test_a_mapped_value_is_linked_in_every_kind_of_envelope(window: Window, wrap: object) -> None:
    document = window.project.value
    assert elements_of(document)["amount"] == "amount"
    before = indented(json.dumps(wrap({"amount": 12.5, "free": 1})))  # type: ignore[operator]
    after = indented(sent(document, {"amount": 12.5}).decode())
    (link,) = links_between(document, before, [after])
    assert ends(link, before, after) == ('"amount": 12.5', '"amount": 12.5')
    assert link.words == f"{ORDERS} 4 amount → payment 2.0.0 amount"


def test_values_that_differ_are_not_linked_and_those_of_a_delete_come_from_before(window: Window) -> None:
    document = window.project.value
    before = '{"op": "d", "before": {"amount": 3}, "after": null}'
    assert len(links_between(document, before, [sent(document, {"amount": 3}, "d").decode()])) == 1
    assert links_between(document, before, [sent(document, {"amount": 4}, "d").decode()]) == ()


def test_the_second_message_of_a_record_is_linked_at_its_own_place(window: Window) -> None:
    document = window.project.value
    one = sent(document, {"amount": 3}).decode()
    links = links_between(document, '{"amount": 3}', [one, one])
    text = one + BETWEEN + one
    assert [ends(link, '{"amount": 3}', text)[1] for link in links] == ['"amount": 3', '"amount": 3']
    assert links[0].after.start != links[1].after.start


@pytest.fixture
def sides(window: Window, qtbot: QtBot) -> Iterator[MessageSides]:
    made = MessageSides()
    qtbot.addWidget(made)
    made.resize(900, 320)
    document = window.project.value
    before = indented('{"amount": 12.5, "free": 1}')
    after = indented(sent(document, {"amount": 12.5}).decode())
    made.show_texts(before, after, links_between(document, before, [after]))
    made.show()
    made.activateWindow()
    assert QTest.qWaitForWindowActive(made)
    yield made
    made.close()


def spot(text: MessageText, position: int) -> QPoint:
    cursor = QTextCursor(text.document())
    cursor.setPosition(position)
    return text.cursorRect(cursor).center() + QPoint(3, 0)


def move(text: MessageText, position: int) -> None:
    window, at = text.window(), spot(text, position)
    QTest.mouseMove(window.windowHandle(), text.viewport().mapTo(window, at))


def test_pointing_at_one_side_brightens_the_partner_and_names_both(sides: MessageSides, qtbot: QtBot) -> None:
    link = sides.links[0]
    move(sides.before, link.before.start + 2)
    qtbot.waitUntil(lambda: sides.after.bright == (link.after,))
    assert "→ payment" in sides.said.text()
    move(sides.after, link.after.start + 2)
    qtbot.waitUntil(lambda: sides.before.bright == (link.before,))
    move(sides.before, sides.before.toPlainText().index("free"))
    qtbot.waitUntil(lambda: sides.after.bright == ())


def test_a_click_on_a_marked_part_asks_for_its_cell_and_one_beside_it_for_nothing(sides: MessageSides) -> None:
    asked: list[RecordLink] = []
    sides.cell_wanted.connect(asked.append)
    link = sides.links[0]
    text = sides.before
    QTest.mouseClick(text.viewport(), Qt.MouseButton.LeftButton, pos=spot(text, text.toPlainText().index("free") + 1))
    QTest.mouseClick(text.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(400, 200))
    assert asked == []
    QTest.mouseClick(text.viewport(), Qt.MouseButton.LeftButton, pos=spot(text, link.before.start + 2))
    assert asked == [link]


def test_the_keyboard_reaches_a_marked_part_and_enter_asks_for_its_cell(sides: MessageSides) -> None:
    asked: list[RecordLink] = []
    sides.cell_wanted.connect(asked.append)
    sides.before.setFocus()
    for _ in range(sides.links[0].before.start + 1):
        QTest.keyClick(sides.before, Qt.Key.Key_Right)
    assert sides.after.bright == (sides.links[0].after,)
    QTest.keyClick(sides.before, Qt.Key.Key_Return)
    assert asked == [sides.links[0]]
    QTest.keyClick(sides.before, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is sides.after


def test_a_record_says_where_it_came_from_and_what_its_messages_are(window: Window) -> None:
    document = window.project.value
    message = sent(document, {"amount": 3}, "u").replace(
        b'"version": "4"', b'"version": "4", "origin": {"lsn": 26110432}'
    )
    record = MappedRecord("orders.jsonl@0", (SentMessage("payment", msgspec.Raw(message)),), raw='{"amount": 3}')
    pair = pair_of(record, document)
    assert pair.place == f"{ORDERS} 4 · update · lsn 26110432 · orders.jsonl@0"
    assert pair.after_title == f"payment 2.0.0 · state {document.state}"


def test_a_set_aside_record_says_in_words_why_and_shows_its_text_laid_out_or_as_it_came(window: Window) -> None:
    record = SetAsideRecord("no_key", "the row has no id", 4, ORDERS, "4", "orders.jsonl@7", raw='{"a":1.50}')
    pair = pair_of(record, window.project.value)
    assert "nothing in it says which" in pair.after
    assert "the row has no id" in pair.after
    assert pair.before == '{\n  "a": 1.50\n}'
    assert pair_of(record, window.project.value, is_raw=True).before == '{"a":1.50}'


def test_a_plan_maps_what_is_linked(window: Window) -> None:
    """The test's own message is one that the kernel would make: the plan has the same element."""
    plan = compile_plan(window.project.value)
    blocks = [b for s in plan.schemas if s.name == ORDERS for v in s.versions if v.label == "4" for b in v.blocks]
    assert ("amount", "amount") in [target for b in blocks if b.entity == "payment" for target in b.targets]


def test_a_panel_in_the_window_leads_from_a_marked_part_to_its_cell(window: Window) -> None:
    activate(window)
    window.show_page(2)
    panel = window.run_page.messages
    document = window.project.value
    message = sent(document, {"amount": 12.5})
    panel.records = [MappedRecord("f@0", (SentMessage("payment", msgspec.Raw(message)),), raw='{"amount": 12.5}')]
    panel.refresh()
    link = panel.sides.links[0]
    text = panel.before
    QTest.mouseClick(text.viewport(), Qt.MouseButton.LeftButton, pos=spot(text, link.before.start + 2))
    assert window.stack.currentWidget() is window.map
    assert window.selection.current.block == link.block
    assert window.selection.current.element == link.element


def test_pointing_at_a_part_of_a_message_names_who_mapped_it_when_and_by_what(window: Window) -> None:
    activate(window)
    window.show_page(2)
    panel = window.run_page.messages
    document = window.project.value
    message = sent(document, {"amount": 12.5})
    panel.records = [MappedRecord("f@0", (SentMessage("payment", msgspec.Raw(message)),), raw='{"amount": 12.5}')]
    panel.refresh()
    link = panel.sides.links[0]
    workbench = window.project.workbench
    assert workbench is not None
    origin = blame(workbench, link.block, link.element)[0].origin
    assert origin is not None
    QTest.mouseMove(panel.after.viewport(), spot(panel.after, link.after.start + 2))
    said = panel.sides.said.text()
    assert f"mapped by {origin.who}" in said
    assert f"state {origin.state:,}: {past_tense(origin.title)}" in said


def test_who_mapped_a_part_is_told_as_of_the_state_that_made_the_message(window: Window) -> None:
    document = window.project.value
    before = sent(document, {"amount": 12.5})
    window.show_page(2)
    panel = window.run_page.messages
    panel.records = [MappedRecord("f@0", (SentMessage("payment", msgspec.Raw(before)),), raw='{"amount": 12.5}')]
    panel.refresh()
    link = panel.sides.links[0]
    window.project.do(SetElements(link.block, zeros=(link.element,)))
    window.project.do(SetElements(link.block, ones=(link.element,), comment="set again"))
    words = window.run_page.decisions.words
    assert "set again" in words(link.block, link.element)
    assert "set again" not in words(link.block, link.element, link.state)
    assert link.state == document.state


def misfit() -> SetAsideRecord:
    """Return a record whose amount is no decimal."""
    detail = 'payment@2.0.0 amount takes a decimal with 2 places, and not "secret"'
    return SetAsideRecord("type_mismatch", detail, 4, ORDERS, "4", "orders.jsonl@7", raw='{"amount": "secret"}')


def test_a_value_that_does_not_fit_leads_to_the_cell_that_mapped_it(window: Window) -> None:
    window.show_page(2)
    panel = window.run_page.messages
    panel.records = [misfit()]
    panel.refresh()
    assert "secret" in panel.after.toPlainText()
    QTest.mouseClick(panel.lead, Qt.MouseButton.LeftButton)
    assert window.stack.currentWidget() is window.map
    element = window.selection.current.element
    block = window.project.value.matrix.block(*(window.selection.current.block or (0, 0)))
    assert block is not None
    assert element in block.elements


def test_a_value_that_does_not_fit_names_its_cell_and_who_mapped_it(window: Window) -> None:
    window.show_page(2)
    panel = window.run_page.messages
    panel.records = [misfit()]
    panel.refresh()
    said = panel.sides.said.text()
    assert "fx.payments.orders 4 amount → payment 2.0.0 amount, mapped by" in said
    assert "secret" not in said


def test_a_record_that_two_versions_fit_leads_to_the_cells_in_which_they_differ(window: Window) -> None:
    detail = "the versions 3, 4 fit; 4 maps amount to payment@2.0.0 amount, and 3 does not"
    window.show_page(2)
    panel = window.run_page.messages
    panel.records = [SetAsideRecord("ambiguous_version", detail, 4, ORDERS, None, "orders.jsonl@7", raw="{}")]
    panel.refresh()
    QTest.mouseClick(panel.lead, Qt.MouseButton.LeftButton)
    assert window.stack.currentWidget() is window.map
    tree = window.project.value.extraction
    versions = []
    for _ in range(2):
        block = window.selection.current.block
        assert block is not None
        versions.append(tree.version(block[0]).label)
        assert window.notice.words.text() == "Version 4 maps amount to amount, version 3 does not."
        window.notice.action.click()
    assert versions == ["3", "4"]


def test_a_value_that_does_not_fit_is_not_told_where_its_column_is_masked(window: Window) -> None:
    document = window.project.value
    schema = document.extraction.named(ORDERS)
    assert schema is not None
    version = document.extraction.labelled(schema.id, "4")
    assert version is not None
    amount = version.at_path("amount")
    assert amount is not None
    window.selection.choose(Selected(place_of_version(document, Side.EXTRACTION, version.id, amount.id)))
    window.owners.mask()
    pair = pair_of(misfit(), window.project.value)
    assert "secret" not in pair.before + pair.after
    assert "takes a decimal with 2 places" in pair.after


def test_a_cell_leads_to_the_messages_of_the_last_run_that_used_it_with_its_part_marked(window: Window) -> None:
    workbench, document = window.project.workbench, window.project.value
    assert workbench is not None
    records = [
        MappedRecord(f"f@{at}", (SentMessage("payment", msgspec.Raw(sent(document, {"amount": amount}))),), raw=raw)
        for at, (amount, raw) in enumerate([(None, '{"amount": null}'), (12.5, '{"amount": 12.5}')])
    ]
    for run_id in ("used-it", "used-nothing"):
        keep_recorded(workbench, run_id)
        samples = run_folder(workbench.project_id, run_id) / "samples"
        samples.mkdir(parents=True)
        kept = records if run_id == "used-it" else records[:1]
        (samples / "part-0.jsonl").write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in kept))
    path = workbench.path
    window.projects.close()
    window.show_project(Workbench.open(path))
    link = links_between(document, '{"amount": 12.5}', [sent(document, {"amount": 12.5}).decode()])[0]
    select(window, link.block, link.element)
    activate(window)
    window.map.matrix.setFocus()
    held = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(window.map.matrix, Qt.Key.Key_M, held)
    page = window.run_page
    assert (window.page, page.run_id) == (2, "used-it")
    assert [each.place for each in page.messages.records if isinstance(each, MappedRecord)] == ["f@1"]
    assert [page.messages.after.toPlainText()[each.start : each.stop] for each in page.messages.after.bright] == [
        '"amount": 12.5'
    ]
    assert page.messages.everything.isVisible()
    QTest.mouseClick(page.messages.everything, Qt.MouseButton.LeftButton)
    assert len(page.messages.records) == 2
