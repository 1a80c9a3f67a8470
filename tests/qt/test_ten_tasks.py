"""Ten tasks of a data owner, each done by mouse and again by keyboard alone, in the real window on real projects."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.shell.window import Window
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.session import Workbench
from tests.helpers.real_project import build_real_project
from tests.helpers.shared import shared
from tests.qt.conftest import activate, end
from tests.qt.keyboard_user import Keyboard
from tests.qt.mouse_user import Mouse
from tests.qt.screen import words_in
from tests.qt.user import CDM, EXTRACTION, User

PERSON = ("customers", "person")
Sit = Callable[[Path | None], User]


@pytest.fixture(params=[Mouse, Keyboard], ids=["mouse", "keyboard"])
def sit(request: pytest.FixtureRequest, dressed: QApplication, tmp_path: Path, qtbot: QtBot) -> Iterator[Sit]:
    """Return what seats a person before a window, on a project or on the start page; again for another session."""
    windows: list[Window] = []

    def seat(project: Path | None = None) -> User:
        while windows:
            end(windows.pop())
        settings = QSettings(str(tmp_path / "view.ini"), QSettings.Format.IniFormat)
        window = Window(settings, Jobs(), warms_up=False)
        windows.append(window)
        window.resize(1600, 1000)
        window.show()
        activate(window)
        user: User = request.param(window, qtbot)
        if project is not None:
            window.projects.open_path(project)
        else:
            window.projects.open_last()
        if project is not None or window.opening.job is not None:
            user.until(lambda: "State" in user.status and not window.jobs.running)
        return user

    assert dressed.styleSheet()
    yield seat
    for window in windows:
        end(window)


@pytest.fixture
def user(sit: Sit, sample: SampleFolder) -> User:
    """Return a person before the sample."""
    return sit(sample.project)


@pytest.fixture(scope="module")
def built_real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project of all real schemas, built once."""
    shared("real-schemas")
    path = tmp_path_factory.mktemp("real") / "real.metl"
    build_real_project(path).close()
    return path


@pytest.fixture
def real_project(built_real: Path, tmp_path: Path) -> Path:
    """Return a copy of it that a test may change."""
    return Path(shutil.copy(built_real, tmp_path / "real.metl"))


def kept(user: User) -> Document:
    """Read the project anew from its file, as the next session will."""
    workbench = user.window.project.workbench
    assert workbench is not None
    with Workbench.open(workbench.path, for_editing=False) as again:
        return again.document


def newest(document: Document, side: Side, name: str) -> Version:
    schema = document.tree(side).named(name)
    assert schema is not None
    version = document.tree(side).newest(schema.id)
    assert version is not None
    return version


def pairs(document: Document, schema: str, entity: str, label: str = "") -> dict[str, str]:
    """Return what feeds the attributes of an entity's newest version from a schema's newest or labelled version."""
    source, target = newest(document, Side.EXTRACTION, schema), newest(document, Side.CDM, entity)
    if label:
        found = document.extraction.labelled(source.schema_id, label)
        assert found is not None
        source = found
    block = document.matrix.block(source.id, target.id)
    columns = {a.id: a.path for a in source.attributes}
    rows = {a.id: a.path for a in target.attributes}
    return {rows[q]: columns[p] for q, p in block.elements} if block is not None else {}


def elements(user: User) -> int:
    """Return how many elements the status bar counts."""
    found = re.search(r"([\d,]+) elements", user.status)
    assert found is not None
    return int(found[1].replace(",", ""))


# 1


def test_from_the_start_page_the_sample_is_opened_and_named_in_title_and_status_bar(sit: Sit) -> None:
    user = sit(None)
    user.press("Open the sample project")
    user.until(lambda: "State" in user.status)
    assert user.window.windowTitle() == "fx.metl · METL Workbench"
    assert "fx" in user.status
    assert "blocks confirmed" in user.status
    assert user.rows(EXTRACTION) == ["accounts", "customers", "ledger", "payments", "rates"]
    assert kept(user).extraction.named("fx.payments.orders") is not None


# 2


def test_a_field_is_found_by_a_part_of_its_name_and_stands_selected_in_tree_and_status_bar(user: User) -> None:
    user.write("Search everywhere", "reason_c")
    user.until(lambda: user.sees("Found everywhere"))
    assert user.rows("Found everywhere")[:2] == ["Attributes", "reason_code, fx.payments.refunds 5"]
    user.take_found("reason_code, fx.payments.refunds 5")
    user.until(lambda: user.current(EXTRACTION) == "reason_code")
    assert "fx.payments.refunds 5 reason_code" in user.status
    assert not user.sees("Found everywhere")
    assert user.undo_words == "Nothing to undo"


# 3


def test_a_cell_is_mapped_undone_and_redone_and_button_status_bar_and_file_say_so(user: User) -> None:
    before = pairs(kept(user), "fx.customers.person", "customer")
    user.choose(EXTRACTION, (*PERSON, "7"))
    user.choose(CDM, ("customer",))
    user.do("View", "Fit the selection")
    user.stand_on("fx.customers.person 7 address_lines", "customer 2.0.0 address.lines")
    count = elements(user)
    user.set_cell()
    assert user.undo_words == "Undo map address_lines to address.lines"
    assert elements(user) == count + 1
    assert user.can("Undo map address_lines")
    mapped = {**before, "address.lines": "address_lines"}
    assert pairs(kept(user), "fx.customers.person", "customer") == mapped
    user.undo()
    assert pairs(kept(user), "fx.customers.person", "customer") == before
    assert elements(user) == count
    assert user.entry("Edit", "Redo") == "Redo “Map address_lines to address.lines”"
    user.redo()
    assert pairs(kept(user), "fx.customers.person", "customer") == mapped
    assert elements(user) == count + 1


# 4


def test_several_fields_chosen_in_both_trees_are_mapped_by_name_in_one_undo_step(user: User) -> None:
    refunds = ("payments", "refunds", "5")
    user.choose(EXTRACTION, *((*refunds, name) for name in ("amount", "created_at", "currency")))
    user.choose(CDM, *(("payment", name) for name in ("amount", "currency", "status")))
    assert "3 left · 3 right selected" in user.status
    user.do("Mapping", "Map what is chosen by name")
    assert "2 mapped by name, 1 without a partner; 7 more in 4 other versions." in user.notice
    assert user.undo_words == "Undo map 2 attributes of fx.payments.refunds 5 to payment 2.0.0, and in 4 other versions"
    mapped = {"amount": "amount", "currency": "currency"}
    assert pairs(kept(user), "fx.payments.refunds", "payment") == mapped
    user.undo()
    assert pairs(kept(user), "fx.payments.refunds", "payment") == {}
    assert user.undo_words == "Nothing to undo"
    user.redo()
    assert pairs(kept(user), "fx.payments.refunds", "payment") == mapped


# 5


def test_a_taken_row_asks_and_each_answer_does_what_it_says(user: User) -> None:
    before = pairs(kept(user), "fx.customers.person", "customer")
    user.choose(EXTRACTION, (*PERSON, "7"))
    user.choose(CDM, ("customer",))
    user.do("View", "Fit the selection")
    person, customer = "fx.customers.person 7 ", "customer 2.0.0 "

    user.stand_on(person + "address_lines", customer + "email")
    user.set_cell()
    assert "Taken now: email → email." in words_in(user.find("Taken already", QWidget))
    user.answer("Replace", "R")
    replaced = {**before, "email": "address_lines"}
    assert pairs(kept(user), "fx.customers.person", "customer") == replaced
    assert "address_lines" in user.undo_words

    user.stand_on(person + "given_name", customer + "name.family")
    user.set_cell()
    user.answer("Swap the two", "S")
    swapped = {**replaced, "name.family": "given_name", "name.given": "family_name"}
    assert pairs(kept(user), "fx.customers.person", "customer") == swapped

    user.stand_on(person + "vip", customer + "notes")
    user.set_cell()
    assert user.sees("Taken already")
    user.answer("Leave it", "Esc")
    assert not user.sees("Taken already")
    assert pairs(kept(user), "fx.customers.person", "customer") == swapped
    user.undo()
    user.undo()
    assert pairs(kept(user), "fx.customers.person", "customer") == before


# 6


def test_one_suggestion_is_accepted_and_another_refused_stays_refused_in_the_next_session(
    sit: Sit, sample: SampleFolder
) -> None:
    user = sit(sample.project)
    user.choose(EXTRACTION, ("payments", "refunds", "5"))
    user.choose(CDM, ("payment",))
    user.do("Mapping", "Suggestions")
    user.until(lambda: user.sees("Suggestions") and user.rows("Suggestions"))
    before = user.rows("Suggestions")
    amount = next(row for row in before if row.startswith("amount"))
    currency = next(row for row in before if row.startswith("currency"))
    user.choose("Suggestions", (amount,))
    user.answer("Accept", "Enter")
    assert pairs(kept(user), "fx.payments.refunds", "payment") == {"amount": "amount"}
    assert user.undo_words == "Undo map amount to amount, and in 4 other versions"
    user.choose("Suggestions", (currency,))
    user.answer("Refuse", "Del")
    assert "is not suggested any more" in user.notice
    assert currency not in user.rows("Suggestions")

    user = sit(None)
    user.until(lambda: user.sees("Suggestions") and user.rows("Suggestions"))
    assert not [row for row in user.rows("Suggestions") if row.startswith("currency from currency")]
    assert user.sees("Refused 1")
    user.press("Refused 1")
    assert [row for row in user.rows("Suggestions") if row.startswith("currency")]


# 7


def test_a_block_is_gone_to_edited_left_for_the_next_and_copied_to_another_version(user: User) -> None:
    before = pairs(kept(user), "fx.payments.orders", "payment", "3")
    newer = pairs(kept(user), "fx.payments.orders", "payment", "4")
    user.do("View", "Go", "Go to")
    user.type("fx.payments.orders@3.settled -> payment.channel")
    user.key("Return")
    assert "fx.payments.orders 3 settled → payment 2.0.0 channel" in user.status
    assert user.heard[-1] == "channel from settled, not mapped"
    user.do("Mapping", "Other versions", "Edits hold for this version")
    user.do("Mapping", "Open the block editor")
    user.connect("settled", "channel")
    edited = {**before, "channel": "settled"}
    assert pairs(kept(user), "fx.payments.orders", "payment", "3") == edited
    assert user.undo_words == "Undo map settled to channel"
    assert user.sees("fx.payments.orders 3 → payment 2.0.0")
    user.press("Next block")
    assert not user.sees("fx.payments.orders 3 → payment 2.0.0")
    user.press("Previous block")
    assert user.sees("fx.payments.orders 3 → payment 2.0.0")
    user.copy()
    assert "fx.payments.orders 3 → payment 2.0.0 copied: 9 elements." in user.notice
    user.choose(EXTRACTION, ("payments", "orders", "4"))
    user.paste()
    assert "1 element copied to fx.payments.orders 4 → payment 2.0.0, 8 there already." in user.notice
    assert pairs(kept(user), "fx.payments.orders", "payment", "4") == {**newer, "channel": "settled"}


# 8


def test_a_new_version_of_an_entity_gets_one_more_attribute_which_is_mapped(user: User) -> None:
    before = newest(kept(user), Side.CDM, "customer")
    mapped = pairs(kept(user), "fx.customers.person", "customer")
    user.choose(CDM, ("customer",))
    user.do("Schema", "New version of an entity")
    user.press("Add attribute")
    user.type("postal_address")
    user.key("Return")
    user.until(lambda: user.can("Make the new version"))
    user.press("Make the new version")
    user.until(lambda: not user.sees("Make the new version"))
    after = newest(kept(user), Side.CDM, "customer")
    assert {a.path for a in after.attributes} - {a.path for a in before.attributes} == {"postal_address"}
    assert after.label != before.label
    assert "new version" in user.undo_words.lower()
    user.map_field((*PERSON, "7", "address_lines"), ("customer", "postal_address"))
    assert user.undo_words == "Undo map address_lines to postal_address"
    now = pairs(kept(user), "fx.customers.person", "customer")
    assert now == {**mapped, "postal_address": "address_lines"}


# 9


def test_the_matrix_shows_what_filters_leave_then_all_again_and_a_reverse_search_leads_to_its_finds(
    sit: Sit, real_project: Path
) -> None:
    user = sit(real_project)
    user.write("Filter the extraction tree", "is:unmapped")
    user.until(lambda: "of 366 schemas" in user.docked("Extraction"))
    user.press("Filter the matrix by the extraction tree too")
    user.until(lambda: user.sees("What the matrix hides"))
    hidden = words_in(user.find("What the matrix hides", QWidget))
    assert "of 366 schemas" in hidden
    assert "Nothing is deleted." in hidden
    user.answer("Show everything", "H", at="Matrix")
    user.until(lambda: "Everything is shown for now" in words_in(user.find("What the matrix hides", QWidget)))
    user.press("Filter the matrix by the extraction tree too")
    user.write("Filter the extraction tree", "")
    user.until(lambda: not user.sees("What the matrix hides"))
    user.do("View", "Only what is mapped or waits")
    user.until(lambda: "only what is mapped or waits" in words_in(user.find("What the matrix hides", QWidget)))
    user.answer("Show everything", "H", at="Matrix")
    user.do("View", "Only what is mapped or waits")
    user.until(lambda: not user.sees("What the matrix hides"))

    entity = "com_snowplowanalytics_snowplow_gdpr_1"
    user.write("Filter the canonical model tree", "in:gdpr")
    user.until(lambda: len(user.rows(CDM)) == 1)
    fed = pairs(kept(user), "com.snowplowanalytics.snowplow/gdpr", entity)
    target, source = min(fed.items())
    user.choose(CDM, (entity, target))
    user.do("View", "What feeds this")
    answers = "Answers of the reverse search"
    user.until(lambda: user.rows(answers))
    assert user.rows(answers) == ["com.snowplowanalytics.snowplow/gdpr"]
    user.choose(answers, ("com.snowplowanalytics.snowplow/gdpr", "version 1-0-0"))
    assert f"com.snowplowanalytics.snowplow/gdpr 1-0-0 {source} → {entity} 1 {target}" in user.status


# 10


def test_a_field_is_commented_on_and_masked_and_all_of_it_is_there_again_in_the_next_session(
    sit: Sit, sample: SampleFolder
) -> None:
    user = sit(sample.project)
    user.choose(EXTRACTION, (*PERSON, "7", "notes"))
    user.do("Schema", "Comment")
    user.write("New comment", "ask the treasury desk")
    user.answer("Add comment", "Ctrl+Enter")
    user.do("Schema", "Mask the values")
    assert "mask" in user.undo_words.lower()
    user.choose(CDM, ("refund",))
    user.write("Search everywhere", "treasury")
    user.until(lambda: user.sees("Found everywhere"))
    user.take_found(user.rows("Found everywhere")[1])
    user.until(lambda: "fx.customers.person 7 notes" in user.status)
    user.choose(CDM, ("customer",))
    user.do("View", "Fit the selection")
    user.set_cell_of("fx.customers.person 7 notes", "customer 2.0.0 notes")
    user.window.notice.dismiss.click()
    seen, undo = (user.status, user.picture_of("Matrix")), user.undo_words
    user.do("File", "Quit")

    user = sit(None)
    assert (user.status, user.picture_of("Matrix")) == seen
    assert user.undo_words == undo
    user.undo()
    assert "notes" in pairs(kept(user), "fx.customers.person", "customer")
    assert "mask" in user.undo_words.lower()
    user.undo()
    assert user.undo_words == "Nothing to undo"


# and all panels


def test_every_panel_opens_and_closes_from_the_view_menu(user: User) -> None:
    closed = ["Mapping list", "Reverse search", "Forward search", "Version progression", "To do", "Comments"]
    for panel in (*closed, "Suggestions"):
        assert not user.docked(panel)
        user.do("View", "Panels", panel)
        assert user.docked(panel)
        user.do("View", "Panels", panel)
        assert not user.docked(panel)
    for panel in ("Extraction", "Canonical model", "Block"):
        assert user.docked(panel)
        user.do("View", "Panels", panel)
        assert not user.docked(panel)


# and all lists


def test_a_row_of_every_list_leads_to_what_it_names(user: User) -> None:
    user.do("View", "Mapping list")
    user.until(lambda: user.rows("Mapping list"))
    user.choose("Mapping list", ("fx.accounts.holder",))
    assert "fx.accounts.holder 1 account_id → account 2.0.0 account_id" in user.status
    user.do("View", "To do")
    user.until(lambda: user.rows("To do"))
    user.go_to_row("To do", "lei has been unmapped for 4 versions")
    assert "fx.customers.company 5 lei" in user.status
    user.choose(EXTRACTION, (*PERSON, "7", "email"))
    user.do("View", "Where this goes")
    user.until(lambda: user.rows("Answers of the forward search"))
    user.choose("Answers of the forward search", ("customer", "version 2.0.0, from version 5"))
    assert "fx.customers.person 5 email → customer 2.0.0 email" in user.status
    user.do("View", "How its versions changed")
    user.until(lambda: user.rows("Version progression"))
    user.choose("Version progression", ("8 elements, larger",))
    assert "fx.customers.person 4 → customer 2.0.0" in user.status
    user.do("View", "Go", "Bookmark this place")
    user.type("here")
    user.key("Return")
    user.choose(EXTRACTION, ("rates", "tick"))
    assert "fx.rates.tick" in user.status
    user.do("View", "Go", "Bookmarks", "here")
    assert "fx.customers.person 4 → customer 2.0.0" in user.status
