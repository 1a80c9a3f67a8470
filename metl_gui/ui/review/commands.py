"""What the Review page does beside single answers: assign, add versions, decide on all shown, answer sheets.

What is shown can be written to an answer sheet and sent out. Of a sheet that is read, a dialog shows what it would do,
row by row, before anything is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QListView, QMenu, QVBoxLayout, QWidget

from metl_gui.core.changes.draft import Edit
from metl_gui.core.counted import number_of
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.review import ConfirmBlock, Postpone
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.titles import past_tense
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.project.time_zones import NO_ZONE, TIME_ZONE
from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.core.review.items import ReviewItem
from metl_gui.core.review.missing_time_zones import MissingTimeZone
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import UserError
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.project.text import block_words
from metl_gui.ui.review.attribute_answers import AttributeAnswers
from metl_gui.ui.review.new_attributes import NewAttributeController
from metl_gui.ui.review.page import ReviewPage
from metl_gui.ui.review.resolved import ResolvedController
from metl_gui.ui.review.version_tasks import TaskSheet
from metl_gui.ui.settings_dialogs.schema_dialog import SchemaSettingsDialog
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import CHOICE_ROLES, ChoiceRow, Chooser, by_section
from metl_gui.ui.widgets.dialogs import show_about
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.rows import HeadedModel
from metl_gui.ui.widgets.two_line_list import HeadedDelegate, TwoLines
from metl_gui.workbench.importing.schema_import import ImportResult
from metl_gui.workbench.importing.version_tasks import accept_task, dismiss_task, entry_of, sample_records
from metl_gui.workbench.review.answer_sheet import (
    AnswerSheetResult,
    AnswerSheetSummary,
    TakenRow,
    read_answers,
    take_answers,
    write_sheet,
)
from metl_gui.workbench.review.assignments import assign_items, known_people, wanted_in
from metl_gui.workbench.session import EditOrigin

_SIZE_PX = (680, 480)


class AnswersDialog(FittedDialog):
    """Lists the rows that are not clear, those that are taken, and those that were decided meanwhile.

    Args:
        taken: what the sheet would do.
        can_edit: whether it may be done.

    Signals:
        wanted: the path of the sheet whose answers are to be taken; by then this is hidden.
    """

    wanted = Signal(object)

    def __init__(self, taken: AnswerSheetResult, can_edit: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Answers")
        self._path = taken.path
        does_something = bool(taken.answered) or bool(taken.assigned)
        title = plain_label(f"{taken.path.name}: {_counts(taken)}", "heading")
        title.setWordWrap(True)
        self.model = HeadedModel(CHOICE_ROLES, self)
        choices = [
            *_rows(taken.unclear, "Not clear: nothing is done for these", "not clear", "review"),
            *_rows(taken.answered, "Will be done, as one step that can be undone", "", "plain"),
            *_rows(taken.ignored, "Decided meanwhile: left as they are", "ignored", "plain"),
        ]
        self.model.show_rows(by_section(choices))
        self.view = QListView()
        self.view.setAccessibleName("Rows of the answer sheet")
        self.view.setModel(self.model)
        self.view.setItemDelegate(HeadedDelegate(self.view))
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        nothing = plain_label("No row of it has an answer.", "dim")
        nothing.setVisible(not self.model.rows)
        self.take = KeyButton(f"Take {number_of(len(taken.answered), 'answer')}", "", "primary")
        if not taken.answered and taken.assigned:
            self.take.setText(f"Assign {number_of(taken.assigned, 'item')}")
        self.take.setEnabled(can_edit and does_something)
        self.take.setDefault(does_something)
        self.take.clicked.connect(self._take)
        self.cancel = KeyButton("Cancel" if does_something else "Close", "Esc")
        self.cancel.setAutoDefault(not does_something)
        self.cancel.clicked.connect(self.reject)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.take)
        foot.addWidget(self.cancel)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 14)
        layout.setSpacing(10)
        layout.addWidget(title)
        layout.addWidget(nothing)
        layout.addWidget(self.view, 1)
        layout.addLayout(foot)
        self.view.setVisible(bool(self.model.rows))
        width, height = (themes.px(size) for size in _SIZE_PX)
        self.resize(width, height if self.model.rows else self.sizeHint().height())

    def _take(self) -> None:
        self.accept()
        self.wanted.emit(self._path)


def _counts(taken: AnswerSheetResult) -> str:
    parts = [number_of(len(taken.answered), "answer")]
    parts += [f"{number_of(len(taken.unclear), 'row')} not clear"] if taken.unclear else []
    parts += [f"{number_of(len(taken.ignored), 'row')} decided meanwhile"] if taken.ignored else []
    parts += [f"{number_of(taken.assigned, 'item')} assigned anew"] if taken.assigned else []
    parts += [f"{number_of(taken.empty, 'row')} left empty"] if taken.empty else []
    return ", ".join(parts)


def _rows(rows: tuple[TakenRow, ...], section: str, pill: str, kind: str) -> list[ChoiceRow]:
    return [ChoiceRow(TwoLines(row.words, f"Row {row.number}", pill, kind), row, section) for row in rows]


_WORKBOOKS = "Workbook (*.xlsx)"
_NOBODY = "Nobody"


class ReviewCommands:
    """The commands of one Review page.

    Args:
        page: the Review page.

    Attributes:
        replay_of: returns what maps the records of a version task again, ``None`` where nothing can; set by who knows.
    """

    replay_of: Callable[[VersionTask], Callable[[], None] | None]

    def __init__(self, context: AppContext, page: ReviewPage) -> None:
        self._context, self._page, self._project = context, page, context.project
        self.replay_of = lambda _task: None
        self._looking = NewestJob(context.jobs, context.window)
        self._page.tell = context.notify
        self.offering = NewAttributeController(context, page)
        self.settling = ResolvedController(context, page)
        self.attributes = AttributeAnswers(context, page)
        self._page.detail.assign_wanted.connect(self.assign)
        self._page.list.bulk.clicked.connect(self.open_bulk)
        self._page.list.tasks.add_wanted.connect(self.add_version)
        self._page.list.tasks.dismiss_wanted.connect(self.dismiss)
        self._page.list.tasks.look_wanted.connect(self.look_at)
        self._page.list.zones.zone_wanted.connect(self.ask_zone)
        self._page.list.zones.none_wanted.connect(self.state_no_zone)

    def show_first(self, keys: Iterable[BlockKey]) -> bool:
        """Show the page at the first of some blocks that waits, and return whether one does."""
        self._context.navigate.show_page(PAGES.index("Review"))
        return any(self._page.list.go_to(key) for key in keys)

    def follow_run(self, is_busy: bool) -> None:
        """Show the versions that a run found, once it has ended."""
        if not is_busy and self._page.isVisible():
            self._page.refresh()

    # who is to decide

    def assign(self) -> Chooser | None:
        """Ask who is to decide on the item in front."""
        item = self._page.item
        if item is None:
            return None
        return self._ask_who(f"Who decides on {block_words(self._project.value, item.key)}?", (item,))

    def assign_shown(self) -> Chooser | None:
        """Ask who is to decide on all items that are shown."""
        items = self._shown()
        return self._ask_who(f"Who decides on {number_of(len(items), 'item')}?", items) if items else None

    def _ask_who(self, title: str, items: tuple[ReviewItem, ...]) -> Chooser | None:
        workbench = self._project.workbench
        if workbench is None or not self._project.can_edit:
            return None
        names = known_people(workbench)
        choices = [ChoiceRow(TwoLines(name, "you" if name == workbench.who else ""), name) for name in names]
        choices.append(ChoiceRow(TwoLines(_NOBODY, "take it away again"), ""))
        chooser = Chooser(title, choices, self._page, typed="Assign to {}")
        chooser.chosen.connect(partial(self._assign, items))
        show_about(self._project, chooser)
        return chooser

    def _assign(self, items: tuple[ReviewItem, ...], name: object) -> None:
        workbench = self._project.workbench
        if workbench is None or not isinstance(name, str):
            return
        try:
            count = assign_items(workbench, items, name)
        except UserError as error:
            dialogs.tell(error, self._context.window)
            return
        self._page.refresh()
        whose = f"assigned to {name}" if name else "assigned to nobody"
        self._context.notify(f"{number_of(count, 'item')} {whose}.")

    # versions that nobody knows

    def add_version(self, task: VersionTask) -> None:
        """Add the version that messages showed, and run the automated update."""
        workbench = self._project.workbench
        if workbench is None or self._project.refuses_now():
            return
        continues = self._continued(task)
        if continues is None:
            return

        def done(outcome: JobOutcome[ImportResult]) -> None:
            self._project.catch_up()
            self._page.refresh()
            if outcome.error is not None:
                dialogs.tell(outcome.error, self._context.window)
            elif outcome.value is not None:
                waiting = outcome.value.needs_review
                more = f" {waiting:,} decision{' waits' if waiting == 1 else 's wait'}." if waiting else ""
                records = f"{number_of(task.records, 'record')} can be replayed once it is mapped."
                again = self.replay_of(task)
                self._context.notify(
                    f"A version of {continues or task.schema} was added.{more} {records}",
                    "Replay them" if again is not None else "",
                    again,
                )

        self._context.writer.start(
            "Adding a version", lambda _watch: accept_task(workbench, task.id, EditOrigin.WINDOW, continues), done
        )

    def look_at(self, task: VersionTask) -> None:
        """Show the attributes of an unknown version and some of its records, without masked values."""
        workbench, document = self._project.workbench, self._project.newest
        if workbench is None:
            return

        def done(outcome: JobOutcome[tuple[str, ...]]) -> None:
            if self._project.workbench is not workbench:
                return
            sheet = TaskSheet(document, task, outcome.value or (), self._project.can_edit, self._context.window)
            sheet.add_wanted.connect(self._add_soon)
            show_about(self._project, sheet)

        self._looking.start("Reading records", lambda _watch: sample_records(workbench, task), done)

    def _add_soon(self, task: VersionTask) -> None:
        """Add a version once its sheet is gone."""
        QTimer.singleShot(0, self._context.window, partial(self.add_version, task))

    def _continued(self, task: VersionTask) -> str | None:
        """Ask whether a name that nobody knows is a known schema under a new name; ``None`` to do nothing.

        Returns:
            The schema that it continues, empty for a schema of its own.
        """
        similar = entry_of(self._project.value, task).continues
        if similar is None:
            return ""
        answers = [("continues", f"It continues {similar.name}"), ("new", "It is a new schema"), ("cancel", "Cancel")]
        text = f"Its columns are nearly those of {similar.name}: the table may have been renamed."
        answer = dialogs.ask(f"What is {task.schema}?", text, answers, self._context.window)
        return {"continues": similar.name, "new": ""}.get(answer)

    def dismiss(self, task: VersionTask) -> None:
        """Take a version task off the list; its records stay set aside."""
        workbench = self._project.workbench
        if workbench is None:
            return
        try:
            dismiss_task(workbench, task.id)
        except UserError as error:
            dialogs.tell(error, self._context.window)
            return
        self._page.refresh()
        self._context.notify(f"The version of {task.schema} is not asked about again; its records stay set aside.")

    # schemas without a time zone

    def ask_zone(self, missing: MissingTimeZone) -> SchemaSettingsDialog:
        """Show the settings of a schema, at its time zone."""
        ids = (missing.schema_id,)
        dialog = SchemaSettingsDialog(self._project, self._context.jobs, Side.EXTRACTION, ids, self._context.window)
        dialog.wanted.connect(self._project.do)
        show_about(self._project, dialog)
        dialog.go_to(TIME_ZONE)
        return dialog

    def state_no_zone(self, missing: MissingTimeZone) -> None:
        """Say that the local times of a schema hold in no one zone, so that nobody is asked again."""
        if self._project.do(SetSettings(Side.EXTRACTION, missing.schema_id, ((TIME_ZONE, NO_ZONE),))):
            said = (
                f"{missing.schema} is not asked for a time zone again; typed columns of instants do not take its times."
            )
            self._context.notify(said, "Undo", self._project.undo)

    # all that are shown

    def bulk_menu(self) -> QMenu:
        """Build the menu of what can be done with all items that are shown."""
        menu = QMenu(self._page)
        count = f"{len(self._shown()):,}"
        for words, does in (
            (f"Confirm all {count}…", self.confirm_shown),
            (f"Assign all {count}…", self.assign_shown),
            (f"Put all {count} off", self.postpone_shown),
            (f"Send all {count} out as an answer sheet…", self.ask_and_send),
        ):
            action = menu.addAction(words)
            action.triggered.connect(does)
            is_asking = does == self.ask_and_send and self._project.looks_back is None
            action.setEnabled(self._project.can_edit or is_asking)
        return menu

    def open_bulk(self) -> None:
        """Show that menu."""
        menu, button = self.bulk_menu(), self._page.list.bulk
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(button.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def confirm_shown(self) -> None:
        """Confirm every item that is shown, as one undo step, after naming how many and what stays empty."""
        items = self._shown()
        if not items:
            return
        limits = self._page.list.filter.query.words()
        lost = sum(len(item.losses) for item in items)
        later = sum(len(item.chain) for item in items)
        blocks = number_of(len(items), "block")
        text = f"{number_of(lost, 'lost element')} will stay empty"
        text += f", in {number_of(later, 'later version')} too." if later else "."
        text += f"\nThey are the ones that are shown: {limits}." if limits else "\nNothing is filtered: these are all."
        answers = [("confirm", f"Confirm {blocks}"), ("cancel", "Cancel")]
        if dialogs.ask(f"Confirm {blocks}?", text, answers, self._context.window) == "confirm":
            name = f"Confirm all {len(items):,} blocks{f' that are {limits}' if limits else ''}"
            self._do_all(name, [ConfirmBlock(item.key) for item in items])

    def postpone_shown(self) -> None:
        """Put every item that is shown off, as one undo step; those that are put off already stay as they are."""
        shown = self._shown()
        items = [item for item in shown if not item.block.postponed]
        if items:
            self._do_all(f"Decide later on {number_of(len(items), 'block')}", [Postpone(item.key) for item in items])
        elif shown:
            self._context.notify("Everything that is shown is put off already.", is_good=False)

    def _do_all(self, name: str, edits: list[Edit]) -> None:
        """Do many edits in a job, as one undo step."""
        workbench = self._project.workbench
        if workbench is None or not edits:
            return
        edit = edits[0] if len(edits) == 1 else CompositeEdit(name, tuple(edits))

        def done(outcome: JobOutcome[object]) -> None:
            self._project.catch_up()
            if outcome.error is not None:
                dialogs.tell(outcome.error, self._context.window)
            elif outcome.value is not None:
                self._context.notify(f"{past_tense(name)}.", "Undo", self._project.undo)

        self._context.writer.start(name, lambda _watch: workbench.do(edit, EditOrigin.WINDOW), done)

    def _shown(self) -> tuple[ReviewItem, ...]:
        return tuple(facts.item for facts in self._page.list.model.items)

    # answer sheets

    def ask_and_send(self) -> None:
        """Ask for a file and write the items that are shown to it, to be sent out."""
        workbench = self._project.workbench
        if workbench is None:
            return
        start = str(workbench.path.with_name(f"{workbench.path.stem}-open.xlsx"))
        name, _ = QFileDialog.getSaveFileName(self._context.window, "Answer sheet of what waits", start, _WORKBOOKS)
        if name:
            path = Path(name)
            self.send(path if path.suffix.lower() == ".xlsx" else path.with_name(f"{path.name}.xlsx"))

    def send(self, path: Path) -> None:
        """Write the items that are shown to a workbook."""
        workbench = self._project.workbench
        if workbench is None:
            return
        query, order = self._page.list.filter.query, self._page.list.filter.order

        def done(outcome: JobOutcome[AnswerSheetSummary]) -> None:
            if outcome.error is not None:
                dialogs.tell(outcome.error, self._context.window)
            elif outcome.value is not None:
                made = outcome.value
                left = f"; {number_of(made.left_out, 'item')} that lost nothing left out" if made.left_out else ""
                said = f"{made.path.name} asks about {number_of(made.rows, 'lost element')}{left}."
                self._context.notify(f"{said} Send it out, then drop it on this window.")

        self._context.jobs.start(
            "Writing the answer sheet",
            lambda watch: write_sheet(workbench, path, wanted_in(workbench, query, order), watch),
            done,
        )

    def ask_and_read(self) -> None:
        """Ask for an answer sheet and read it."""
        workbench = self._project.workbench
        if workbench is not None:
            folder = str(workbench.path.parent)
            name, _ = QFileDialog.getOpenFileName(self._context.window, "Answer sheet to read", folder, _WORKBOOKS)
            if name:
                self.read(Path(name))

    def read(self, path: Path) -> None:
        """Read an answer sheet and show what it would do, before anything is done."""
        workbench = self._project.workbench
        if workbench is None:
            return

        def done(outcome: JobOutcome[AnswerSheetResult]) -> None:
            if outcome.error is not None:
                dialogs.tell(outcome.error, self._context.window)
            elif outcome.value is not None and self._project.workbench is workbench:
                self.show_answers(outcome.value)

        self._context.jobs.start("Reading the answers", lambda watch: read_answers(workbench, path, watch), done)

    def show_answers(self, taken: AnswerSheetResult) -> AnswersDialog:
        """Show what an answer sheet would do."""
        dialog = AnswersDialog(taken, self._project.can_edit, self._context.window)
        dialog.wanted.connect(self._take)
        show_about(self._project, dialog)
        return dialog

    def _take(self, path: Path) -> None:
        workbench = self._project.workbench
        if workbench is None:
            return

        def done(outcome: JobOutcome[AnswerSheetResult]) -> None:
            self._project.catch_up()
            self._page.refresh()
            if outcome.error is not None:
                dialogs.tell(outcome.error, self._context.window)
            elif outcome.value is not None:
                taken = outcome.value
                words = f"{number_of(len(taken.answered), 'answer')} taken from {path.name}"
                words += f", {number_of(len(taken.unclear), 'row')} not clear" if taken.unclear else ""
                can_undo = self._project.undo if taken.title else None
                self._context.notify(f"{words}.", "Undo" if can_undo else "", can_undo, is_good=not taken.unclear)

        self._context.writer.start(
            "Taking the answers", lambda watch: take_answers(workbench, path, EditOrigin.WINDOW, watch), done
        )
