"""Dropped and pasted files: read, never applied; the sheet says what they are; hostile ones end in a reason."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import RunCancelled
from metl_gui.ui.drop.controller import files_in
from metl_gui.ui.drop.dry_run import DryRunSheet
from metl_gui.ui.drop.sheet import Act, DropOffer, DropSheet
from metl_gui.ui.importing.column_dialog import ColumnDialog
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.importing import dropped_files
from metl_gui.workbench.importing.schema_import import add_reading, import_sources
from metl_gui.workbench.session import Workbench
from tests.qt.conftest import activate, end
from tests.unit.workbench.test_resuming import MANY, stop_after


def drop(window: Window, *paths: Path, at: QPoint | None = None) -> DropSheet:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    spot = window.rect().center() if at is None else at
    entered = QDragEnterEvent(spot, Qt.DropAction.CopyAction, data, buttons, keys)
    QApplication.sendEvent(window, entered)
    assert entered.isAccepted()
    QApplication.sendEvent(window, QDropEvent(QPointF(spot), Qt.DropAction.CopyAction, data, buttons, keys))
    return sheet_of(window)


def sheet_of(window: Window) -> DropSheet:
    found = [sheet for sheet in window.findChildren(DropSheet) if sheet.isVisible()]
    assert len(found) == 1
    return found[0]


def press(sheet: DropSheet, act: Act) -> DropOffer:
    offer, button = next((offer, button) for offer, button in sheet.buttons if offer.act is act)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    return offer


@pytest.fixture
def opened(make_window: Callable[[], Window], sample: SampleFolder) -> Window:
    made = make_window()
    made.show_project(Workbench.open(sample.project))
    return made


def texts(sheet: DropSheet) -> str:
    return "\n".join(label.text() for label in sheet.findChildren(QLabel))


def test_a_dropped_schema_changes_nothing_until_its_button_is_pressed(opened: Window, tmp_path: Path) -> None:
    state = opened.project.value.state
    new = tmp_path / "fx.new.json"
    new.write_text('{"title": "fx.new", "type": "object", "properties": {"id": {"type": "integer"}}}')
    sheet = drop(opened, new)
    numbers = "1 version of 1 schema in 1 file. 1 version is new to the extraction tree, 1 schema by name too: fx.new"
    assert numbers in texts(sheet)
    assert opened.project.value.state == state
    sheet.cancel.click()
    QApplication.processEvents()
    assert opened.project.value.state == state
    press(drop(opened, new), Act.ADD_EXTRACTION)
    assert opened.project.value.state > state
    assert "1 version added" in opened.notice.words.text()


def test_files_dropped_on_a_tree_go_into_that_tree(opened: Window, tmp_path: Path) -> None:
    (tmp_path / "fx.new.json").write_text('{"title": "fx.new", "type": "object", "properties": {"id": {}}}')
    tree = opened.map.targets
    sheet = drop(opened, tmp_path / "fx.new.json", at=tree.mapTo(opened, tree.rect().center()))
    assert "new to the canonical model" in texts(sheet)
    offer, _ = sheet.buttons[0]
    assert offer.act is Act.ADD_CDM


def test_messages_tell_of_which_schemas_they_are_and_can_be_tried(opened: Window, sample: SampleFolder) -> None:
    sheet = drop(opened, sample.waiting)
    assert "1 version is new to the extraction tree: fx.payments.orders" in texts(sheet)
    state = opened.project.value.state
    press(sheet, Act.TRY_MESSAGES)
    assert "would need a decision" in trial_of(opened).heading.text()
    assert opened.project.value.state == state


def trial_of(window: Window) -> DryRunSheet:
    found = [sheet for sheet in window.findChildren(DryRunSheet) if sheet.isVisible()]
    assert len(found) == 1
    return found[0]


def lost_customer(folder: Path) -> Path:
    """A version of the sample's orders that has lost nearly everything."""
    path = folder / "fx.payments.orders" / "6.json"
    path.parent.mkdir()
    path.write_text('{"title": "fx.payments.orders", "type": "object", "properties": {"id": {"type": "integer"}}}')
    return path


def test_only_try_names_what_would_be_lost_and_adds_nothing_until_asked(opened: Window, tmp_path: Path) -> None:
    state = opened.project.value.state
    press(drop(opened, lost_customer(tmp_path)), Act.ONLY_TRY)
    sheet = trial_of(opened)
    assert "would need a decision" in sheet.heading.text()
    assert opened.project.value.state == state
    shown = [words.title for words, _ in sheet.model.rows]
    assert any("fx.payments.orders 6" in title for title in shown)
    assert sheet.view.currentIndex().row() == 0
    QTest.keyClick(sheet.view, Qt.Key.Key_End)
    assert "reference payer of the table payment, warehouse model fx" in sheet.details.text()
    for _ in sheet._trial.warehouse:
        QTest.keyClick(sheet.view, Qt.Key.Key_Up)
    assert "would be lost: " in sheet.details.text()
    sheet.copy.click()
    copied = QGuiApplication.clipboard().text()
    assert sheet.heading.text() in copied
    assert "would be lost: " in copied
    sheet.add.click()
    QApplication.processEvents()
    assert opened.project.value.state == state + 1
    assert "1 version added" in opened.notice.words.text()


def test_only_try_of_what_is_known_offers_nothing_to_add(opened: Window, sample: SampleFolder) -> None:
    press(drop(opened, sample.canonical_model), Act.ONLY_TRY)
    sheet = trial_of(opened)
    assert sheet.heading.text() == "The project has all of these versions already"
    assert not sheet.add.isEnabled()
    assert sheet.cancel.hasFocus()


def test_a_project_open_read_only_lets_one_try_but_not_add(
    make_window: Callable[[], Window], sample: SampleFolder, tmp_path: Path
) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project, for_editing=False))
    press(drop(window, lost_customer(tmp_path)), Act.ONLY_TRY)
    sheet = trial_of(window)
    assert sheet.model.rows
    assert not sheet.add.isEnabled()


@pytest.fixture
def interrupted(make_window: Callable[[], Window], tmp_path: Path) -> Window:
    """A window that opens a project whose import was stopped."""
    with Workbench.create(tmp_path / "p.metl") as workbench, pytest.raises(RunCancelled):
        add_reading(workbench, Side.EXTRACTION, ReaderResult(MANY), watch=stop_after(100))
    made = make_window()
    made.show_project(Workbench.open(tmp_path / "p.metl"))
    return made


def test_an_interrupted_import_is_told_on_opening_and_goes_on_by_one_press(interrupted: Window) -> None:
    assert "150 of them still to be added, from s2 version 15 on" in interrupted.notice.words.text()
    interrupted.notice.action.click()
    QApplication.processEvents()
    assert interrupted.project.value.state == 250
    assert not interrupted.actions_table["resume_import"].isEnabled()
    assert "150 versions added" in interrupted.notice.words.text()


def test_an_interrupted_import_that_was_forgotten_is_not_told_again(
    interrupted: Window, make_window: Callable[[], Window], tmp_path: Path
) -> None:
    interrupted.actions_table["forget_import"].trigger()
    assert interrupted.notice.words.text() == "150 versions of the interrupted import will not be added."
    interrupted.commands.close_project()
    again = make_window()
    again.show_project(Workbench.open(tmp_path / "p.metl"))
    assert not again.notice.isVisible()
    assert not again.actions_table["resume_import"].isEnabled()


def test_schemas_that_messages_carry_are_added_by_their_button(opened: Window, sample: SampleFolder) -> None:
    press(drop(opened, sample.waiting), Act.ADD_FROM_MESSAGES)
    assert "1 version added. 2 decisions wait." in opened.notice.words.text()


def test_schemas_are_offered_for_the_tree_that_knows_their_names_first(opened: Window, sample: SampleFolder) -> None:
    sheet = drop(opened, sample.canonical_model)
    assert sheet.buttons[0][0].act is Act.ADD_CDM
    assert "The canonical model has all of them already." in texts(sheet)


def test_a_dropped_project_is_opened_by_its_button(make_window: Callable[[], Window], sample: SampleFolder) -> None:
    window = make_window()
    press(drop(window, sample.project), Act.OPEN)
    assert window.project.workbench is not None
    assert window.project.workbench.path == sample.project


def test_a_dropped_mapping_table_says_its_numbers_and_adds_its_elements(
    make_window: Callable[[], Window], sample: SampleFolder, tmp_path: Path
) -> None:
    window = make_window()
    workbench = Workbench.create(tmp_path / "new.metl")
    window.show_project(workbench)
    window.imports.import_schemas(Side.CDM, [sample.canonical_model])
    window.imports.import_schemas(Side.EXTRACTION, [sample.schemas])
    sheet = drop(window, sample.mapping)
    rows = len(sample.mapping.read_text("utf-8").splitlines()) - 1
    assert f"{rows:,} elements in mapping.csv" in texts(sheet)
    press(sheet, Act.ADD_TABLE)
    assert window.project.value.matrix.ones == rows


def columns_asked(window: Window) -> ColumnDialog:
    found = [dialog for dialog in window.findChildren(ColumnDialog) if dialog.isVisible()]
    assert len(found) == 1
    return found[0]


THEIRS = """\
From table;From field;To entity;To field;To version;Owner
fx.customers.person;vip;customer;notes;2.0.0;me
fx.customers.person;address_lines;customer;address.lines;2.0.0;me
"""


def test_a_dropped_table_of_another_shape_asks_which_column_is_what_and_then_goes_on_as_usual(
    opened: Window, tmp_path: Path
) -> None:
    (tmp_path / "theirs.csv").write_text(THEIRS)
    sheet = drop(opened, tmp_path / "theirs.csv")
    assert "6 columns in theirs.csv: From table, From field, To entity, To field, To version, Owner." in texts(sheet)
    ones = opened.project.value.matrix.ones
    press(sheet, Act.ADD_TABLE)
    dialog = columns_asked(opened)
    chosen = [box.currentText() for box in dialog.boxes.values()]
    assert chosen == ["From table", "All versions", "From field", "To entity", "To version", "To field"]
    read = [dialog.model.index(0, column).data() for column in range(6)]
    assert read == ["fx.customers.person", "all", "vip", "customer", "2.0.0", "notes"]
    assert opened.project.value.matrix.ones == ones
    QTest.mouseClick(dialog.do, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert opened.notice.words.text().startswith("1 element set.")  # of the other line the types differ
    assert opened.project.value.matrix.ones > ones
    opened.project.undo()
    assert opened.project.value.matrix.ones == ones


def test_columns_that_were_not_guessed_are_chosen_by_key_before_anything_can_be_added(
    opened: Window, tmp_path: Path
) -> None:
    state = opened.project.value.state
    (tmp_path / "odd.csv").write_text("a,b,c,d\nfx.customers.person,vip,customer,somewhere\n")
    press(drop(opened, tmp_path / "odd.csv"), Act.ADD_TABLE)
    dialog = columns_asked(opened)
    assert [dialog.boxes[name].currentText() for name in ("schema", "attribute", "entity")] == ["a", "b", "c"]
    assert not dialog.do.isEnabled()
    assert dialog.why_not.text() == "Choose the column of: attribute of the entity."
    QTest.keyClick(dialog.boxes["cdm_attribute"], Qt.Key.Key_C)
    assert dialog.why_not.text() == "“c” is chosen twice."
    QTest.keyClick(dialog.boxes["cdm_attribute"], Qt.Key.Key_Down)
    assert dialog.why_not.text() == ""
    assert dialog.do.isEnabled()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    QApplication.processEvents()
    assert opened.project.value.state == state


def test_dropped_messages_are_kept_as_samples_and_are_what_a_run_reads(opened: Window, sample: SampleFolder) -> None:
    opened.run_page.setup.source.clear()
    sheet = drop(opened, sample.messages)
    assert "8 files" in texts(sheet)
    press(sheet, Act.USE)
    assert opened.stack.currentWidget() is opened.map
    assert opened.run_page.setup.source.text() == str(sample.messages)
    shelf, schema = opened.project.samples, opened.project.value.extraction.named("fx.payments.orders")
    assert shelf is not None
    assert schema is not None
    kept = shelf.of(opened.project.value, schema.id)
    assert {each.version for each in kept} - {None} <= set(schema.version_ids)
    assert None in {each.version for each in kept}, "messages of the version that waits are samples too"
    assert {each.op for each in kept} == {"c", "r", "u", "d"}


def test_without_a_project_schemas_cannot_be_added_and_the_sheet_says_why(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    sheet = drop(make_window(), sample.canonical_model, sample.messages)
    assert [button.isEnabled() for _, button in sheet.buttons] == [False] * 7
    assert "Open or make a project first" in texts(sheet)


def test_to_a_project_that_is_read_only_nothing_can_be_added(
    make_window: Callable[[], Window], sample: SampleFolder
) -> None:
    window = make_window()
    window.show_project(Workbench.open(sample.project, for_editing=False))
    sheet = drop(window, sample.canonical_model)
    assert not sheet.buttons[0][1].isEnabled()
    assert "The project is open read only." in texts(sheet)


def make_hostile(folder: Path) -> dict[str, Path]:
    files = {
        "empty.json": b"",
        "zeros.json": bytes(4096),
        "deep.json": b"[" * 200_000,
        "utf16.json": '{"a": 1}'.encode("utf-16"),
        "no project.metl": b"SQLite format 3\x00" + bytes(200),
        "short.metl": b"SQLite for",
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "table.csv": b"a,b,c\n1,2\n",
        "quotes.csv": b'schema,"' + b"x" * 2_000_000,
        "schema.avsc": b'{"type": "record", "name": "x", "fields": []}',
        "cut.json": b'{"type": "object", "properties": {"a": ',
    }
    paths = {}
    for name, content in files.items():
        paths[name] = folder / name
        paths[name].write_bytes(content)
    paths["pipe.json"] = folder / "pipe.json"
    os.mkfifo(paths["pipe.json"])
    paths["loop.json"] = folder / "loop.json"
    paths["loop.json"].symlink_to(paths["loop.json"])
    paths["gone.json"] = folder / "gone.json"
    return paths


def test_every_hostile_file_ends_in_a_reason(opened: Window, tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    state = opened.project.value.state
    for name, path in make_hostile(folder).items():
        sheet = drop(opened, path)
        assert sheet.buttons == [], name
        reason = sheet.refused.text()
        assert name in reason, name
        assert len(reason) > len(name) + 10, name
        assert reason.count(".") >= 2, reason
        QTest.keyClick(sheet, Qt.Key.Key_Escape)
        QApplication.processEvents()
    assert opened.project.value.state == state


def test_a_folder_of_hostile_files_lists_some_and_counts_the_others(opened: Window, tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    make_hostile(folder)
    sheet = drop(opened, folder)
    assert sheet.buttons == []
    assert sheet.refused.text().splitlines()[-1].startswith("and ")


def test_a_folder_with_too_many_files_is_refused_before_it_is_read(
    opened: Window, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dropped_files, "MOST_FILES", 3)
    told: list[str] = []
    monkeypatch.setattr(dialogs, "tell", lambda error, _parent: told.append(str(error)))
    for number in range(5):
        (tmp_path / f"{number}.json").write_text("{}")
    opened.drops.look_at([tmp_path])
    assert "holds more than 3 files" in told[0]


def test_paths_that_were_copied_are_looked_at_and_other_text_is_not(opened: Window, sample: SampleFolder) -> None:
    activate(opened)
    clipboard = QGuiApplication.clipboard()
    clipboard.setText(f'"{sample.canonical_model}"\n{sample.mapping}\n')
    control = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    QTest.keyClick(opened, Qt.Key.Key_V, control)
    assert {offer.act for offer, _ in sheet_of(opened).buttons} == {
        Act.ADD_EXTRACTION,
        Act.ADD_CDM,
        Act.ONLY_TRY,
        Act.ADD_TABLE,
    }
    data = QMimeData()
    data.setText("schema,attribute\nnot a path")
    assert files_in(data) == []
    for text in ("\x00/etc", "~nobody-of-this-name/fx.metl", "~\x00"):
        data.setText(text)
        assert files_in(data) == []


def test_files_that_are_dropped_on_matrix_or_trees_come_to_the_window(opened: Window, sample: SampleFolder) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(sample.mapping))])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    for view in (opened.map.matrix, opened.map.sources.view, opened.map.targets.view):
        at = view.viewport().rect().center()
        event = QDragEnterEvent(at, Qt.DropAction.CopyAction, data, buttons, keys)
        QApplication.sendEvent(view.viewport(), event)
        assert event.isAccepted(), view
        drop_event = QDropEvent(QPointF(at), Qt.DropAction.CopyAction, data, buttons, keys)
        QApplication.sendEvent(view.viewport(), drop_event)
        sheet_of(opened).reject()
        QApplication.processEvents()


def test_a_file_whose_name_is_no_text_is_refused_with_a_name_that_can_be_shown(opened: Window, tmp_path: Path) -> None:
    folder = tmp_path / "names"
    folder.mkdir()
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.json"))).write_text("{}")
    sheet = drop(opened, folder)
    assert "Its name is not UTF-8." in sheet.refused.text()
    assert sheet.refused.text().encode("utf-8")


def test_files_are_looked_at_in_the_worker_process(
    dressed: QApplication, sample: SampleFolder, tmp_path: Path, qtbot: QtBot
) -> None:
    window = Window(QSettings(str(tmp_path / "v.ini"), QSettings.Format.IniFormat), Jobs(), warms_up=False)
    assert dressed.styleSheet()
    window.show()
    window.drops.look_at([sample.canonical_model, sample.mapping, sample.project, tmp_path / "gone"])
    qtbot.waitUntil(lambda: window.findChildren(DropSheet) != [])
    sheet = window.findChildren(DropSheet)[0]
    acts = [offer.act for offer, _ in sheet.buttons]
    assert acts == [Act.OPEN, Act.ADD_EXTRACTION, Act.ADD_CDM, Act.ONLY_TRY, Act.ADD_TABLE]
    sheet.reject()
    end(window)


def test_what_is_dragged_without_files_is_not_taken(opened: Window) -> None:
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/schema.json")])
    event = QDragEnterEvent(
        opened.rect().center(),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(opened, event)
    assert not event.isAccepted()


def test_of_two_drops_in_quick_succession_only_the_second_is_shown(
    dressed: QApplication, sample: SampleFolder, tmp_path: Path, qtbot: QtBot
) -> None:
    window = Window(QSettings(str(tmp_path / "view.ini"), QSettings.Format.IniFormat), Jobs(), warms_up=False)
    window.show()
    window.show_project(Workbench.open(sample.project))
    for name in ("fx.first", "fx.second"):
        (tmp_path / f"{name}.json").write_text(f'{{"title": "{name}", "type": "object", "properties": {{"id": {{}}}}}}')
        window.drops.look_at([tmp_path / f"{name}.json"])
    qtbot.waitUntil(lambda: not window.jobs.running)
    press(sheet_of(window), Act.ADD_EXTRACTION)
    qtbot.waitUntil(lambda: window.project.value.extraction.named("fx.second") is not None)
    assert window.project.value.extraction.named("fx.first") is None
    end(window)
    assert dressed.styleSheet()


def version_file(folder: Path, label: str, *names: str) -> Path:
    """Write a version of the schema ``s``."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{label}.json"
    properties = {name: {"type": "string"} for name in (*names, f"of{label}")}
    path.write_text(json.dumps({"$id": f"/s/{label}", "title": "s", "type": "object", "properties": properties}))
    return path


@pytest.fixture
def mapped_newer(make_window: Callable[[], Window], tmp_path: Path) -> Window:
    """A window on a project in which version 3.0.0 of ``s`` is mapped, and no other is there."""
    workbench = Workbench.create(tmp_path / "p.metl")
    import_sources(workbench, Side.EXTRACTION, [version_file(tmp_path / "s", "3.0.0", "a", "b")])
    import_sources(workbench, Side.CDM, [version_file(tmp_path / "be", "1.0.0", "a", "b")])
    (v,), (w,) = (workbench.document.tree(side).schemas()[0].version_ids for side in Side)
    sources, targets = workbench.document.extraction.version(v), workbench.document.cdm.version(w)
    ones = tuple(Element(targets.attributes[n].id, sources.attributes[n].id) for n in (0, 1))
    workbench.do(SetElements((v, w), ones))
    made = make_window()
    made.show_project(workbench)
    return made


def test_older_versions_that_arrive_can_be_mapped_as_the_newer_one_is_by_one_press(
    mapped_newer: Window, tmp_path: Path
) -> None:
    for label, names in (("1.0.0", ("a",)), ("2.0.0", ("a", "b"))):
        version_file(tmp_path / "older", label, *names)
    press(drop(mapped_newer, tmp_path / "older"), Act.ADD_EXTRACTION)
    told = mapped_newer.notice
    assert "2 versions added. 2 can be mapped as another version of the schema is." in told.words.text()
    assert mapped_newer.project.value.matrix.ones == 2
    told.action.click()
    QApplication.processEvents()
    assert mapped_newer.project.value.matrix.ones == 5
    assert told.words.text() == "Mapped like others of the schema: 3 elements in 2 other versions."
    mapped_newer.project.undo()
    assert mapped_newer.project.value.matrix.ones == 2
    mapped_newer.actions_table["map_like_others"].trigger()
    assert mapped_newer.project.value.matrix.ones == 5
    mapped_newer.actions_table["map_like_others"].trigger()
    assert told.words.text() == "No version is left that another of its schema shows a mapping for."


def test_an_import_of_many_that_nothing_is_mapped_of_leads_to_their_suggestions(
    make_window: Callable[[], Window], tmp_path: Path
) -> None:
    window = make_window()
    window.show_project(Workbench.create(tmp_path / "p.metl"))
    for label in ("1.0.0", "2.0.0"):
        version_file(tmp_path / "s", label, "customer_id")
    press(drop(window, tmp_path / "s"), Act.ADD_EXTRACTION)
    assert not window.notice.action.isVisible()  # there is nothing yet to map to
    press(drop(window, version_file(tmp_path / "be", "1.0.0", "customer_id")), Act.ADD_CDM)
    assert window.notice.words.text() == "1 version added."
    window.notice.action.click()
    QApplication.processEvents()
    listed = window.suggest.panel.everything.listed
    assert ("customer_id", "customer_id") in [(each.names.from_path, each.names.to_path) for each in listed]
