"""The Review page: the list left; before, after, cards and the fixed foot right.

While nothing waits, it says what it is for, and where to go from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAction, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.rename_groups import RenameGroup, accepting
from metl_gui.core.edits.review import ConfirmBlock, Postpone, RetireBlock
from metl_gui.core.edits.titles import past_tense
from metl_gui.core.matrix.blocks import BlockKey, Element, Loss
from metl_gui.core.project.refusals import NO_RENAMES_REFUSED, RefusedRename, RefusedRenames
from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.core.review.assignees import NOBODY_ASSIGNED, Assignments
from metl_gui.core.review.items import ReviewItem
from metl_gui.core.review.loss_choices import rename_name
from metl_gui.core.review.missing_time_zones import MissingTimeZone, missing_time_zones
from metl_gui.errors import UserError
from metl_gui.ui.block.sketch import BlockLines
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.selection import Selected, Selection, selected_block
from metl_gui.ui.project.text import block_words
from metl_gui.ui.review.card import AnswerKind, CardAnswer, LossCard, edit_of
from metl_gui.ui.review.detail import ItemDetail
from metl_gui.ui.review.list import ReviewListPanel
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dock import Dock, Scrolled
from metl_gui.ui.widgets.hint_line import HintLine
from metl_gui.ui.widgets.panel_page import PanelPage
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.window_words import in_window
from metl_gui.workbench.importing.version_tasks import version_tasks
from metl_gui.workbench.review.assignments import assignments
from metl_gui.workbench.review.progress import records_by_id, records_by_version, review_progress
from metl_gui.workbench.review.rename_refusals import allow_rename, refuse_rename
from metl_gui.workbench.runs.typed_sinks import has_typed_sink
from metl_gui.workbench.warehouse.attribute_questions import AttributeQuestions

_NOTHING = (
    "Nothing waits for a decision",
    "When a new version of a schema loses mapped attributes, it stands here with a reason for each.",
)
_ONE_WAITS = "Its records are set aside, and none of them is lost. The card at the head of the list adds it."
_MORE_WAIT = "Their records are set aside, and none of them is lost. The cards at the head of the list add them."
_NO_ZONE = (
    "Typed columns of instants cannot take its local times. The card at the head of the list states where they hold."
)
_NO_ZONES = (
    "Typed columns of instants cannot take their local times. The cards at the head of the list state where they hold."
)
_OF_TABLES = "The cards at the head of the list say what tables can make of them; nothing is lost meanwhile."


class NothingWaits(QWidget):
    """Two lines and two ways on.

    Signals:
        wanted: the id of an action.
    """

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.title, self.text = plain_label(_NOTHING[0], "title"), plain_label(_NOTHING[1], "dim")
        self.buttons = {
            "import_schema": KeyButton("Import extraction schemas…"),
            "publish": KeyButton("Publish this state…"),
        }
        self.buttons["import_schema"].clicked.connect(self._import)
        self.buttons["publish"].clicked.connect(self._publish)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        for button in self.buttons.values():
            row.addWidget(button)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        for label in (self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            layout.addWidget(label)
        layout.addSpacing(8)
        layout.addLayout(row)
        layout.addStretch(1)

    def show_keys(self, keys: dict[str, str]) -> None:
        """Show the keys that actions have now, by the actions' ids."""
        for id_, button in self.buttons.items():
            button.key = keys.get(id_, "")
            button.updateGeometry()

    def show_heads(self, versions: int, zones: int, attributes: int) -> None:
        """Say what the cards at the head of the list ask: to add versions, else to state time zones, else of tables."""
        title, text = _NOTHING
        if versions:
            title = f"{number_of(versions, 'version')} {'waits' if versions == 1 else 'wait'} to be added"
            text = _ONE_WAITS if versions == 1 else _MORE_WAIT
        elif zones:
            title = f"{number_of(zones, 'schema')} {'states' if zones == 1 else 'state'} no time zone"
            text = _NO_ZONE if zones == 1 else _NO_ZONES
        elif attributes:
            title, text = f"{number_of(attributes, 'attribute')} of the warehouse came or went", _OF_TABLES
        self.title.setText(title)
        self.text.setText(text)

    def let_edit(self, is_for_editing: bool) -> None:
        """Offer the ways, or none while only reading is possible."""
        for button in self.buttons.values():
            button.setEnabled(is_for_editing)

    def _import(self) -> None:
        self.wanted.emit("import_schema")

    def _publish(self) -> None:
        self.wanted.emit("publish")


_SETTLED = 2

Told = Callable[[str, str, Callable[[], object] | None], object]
"""Says something that does not take the focus: words, words of a button, what the button does."""


_LEAST_PX = (834, 380)
"""Width and height at scale 1 that all panels need beside each other."""


class ReviewPage(PanelPage):
    """One of the four pages.

    Signals:
        seen: the page has come to the front.
        edit_wanted: a ``SetElements`` that answers what came with its version.
    """

    seen = Signal()
    edit_wanted = Signal(object)

    def __init__(self, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("reviewPage", "Decision", _LEAST_PX, parent)
        self._project = project
        self._selection = selection
        self._assigned: Assignments = NOBODY_ASSIGNED
        self._counted: dict[str, int] = {}
        self._has_typed_sink = False
        self._heads, self._attributes = (0, 0), 0
        self.refused: RefusedRenames = NO_RENAMES_REFUSED
        self.tell: Told = lambda *_: None
        self._is_reading = False  # what is read again is no choice of a person: the selection stays
        self._was_selected = False  # while the page was not seen
        self.item: ReviewItem | None = None
        self._comments: dict[BlockKey, str] = {}  # written, and not given to an edit yet
        self._comment_given: tuple[BlockKey | None, str] = (None, "")  # to the edit that was asked for last
        self._project_id = ""
        self.list: ReviewListPanel = ReviewListPanel()
        self.list_dock = Dock("reviewListDock", "Waiting for a decision", self.list)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.list_dock)
        self.detail = ItemDetail()
        self.detail.values_of = project.rename_values
        self._stack = QStackedWidget()
        self.nothing = NothingWaits()
        self._stack.addWidget(self.nothing)
        self._stack.addWidget(self._decide_page())
        self.setCentralWidget(Scrolled(self._stack, gives_way=True))
        self.list.chosen.connect(self._show_item)
        self.list.counted.connect(self._count)
        self.list.view.entered.connect(self._answer_first)
        self.list.filter.people = lambda: self._assigned.names
        self.list.filter.names = self._names
        self.detail.answered.connect(self._answered)
        self.detail.groups.accepted.connect(self._group_accepted)
        self.detail.joined.connect(self._joined)
        self.detail.joined_later.connect(self._joined_later)
        project.opened.connect(self._opened)
        project.looked.connect(self._let_decide)
        project.edited.connect(self._clear_given_comment)
        PanelUpdater(project, self, self._refresh, catches_up=False)
        selection.changed.connect(self._selected)

    @property
    def cards(self) -> list[LossCard]:
        """The cards of the item in front."""
        return self.detail.cards

    @property
    def before(self) -> BlockLines:
        """The block as it was."""
        return self.detail.before

    @property
    def after(self) -> BlockLines:
        """The block as it is."""
        return self.detail.after

    def show_keys(self, keys: dict[str, str]) -> None:
        """Show the keys that actions have now, by the actions' ids."""
        foot = {self.later_button: "later", self.next_button: "next_item", self.confirm_button: "confirm"}
        for button, id_ in foot.items():
            button.key = keys.get(id_, "").replace("Return", "Enter")
            button.updateGeometry()
        self.detail.show_keys(keys)
        self.nothing.show_keys(keys)

    def take_keys(self, actions: Iterable[QAction]) -> None:
        """Let keys of one letter hold at the cards, and at what was settled, as they do in the list."""
        for action in actions:
            self.detail.addAction(action)
            self.list.settled.view.addAction(action)

    def go_to_card(self, key: BlockKey, loss: Loss) -> bool:
        """Bring the card of a lost element to the front, that of the item which decides on it; whether there is one.

        Args:
            key: a block in which it is open, of the item itself or of its chain.
            loss: the lost element.
        """
        for item in self._project.review_items():
            is_of_it = key == item.key or key in item.chain
            if is_of_it and any(each.chain == loss.chain for each in item.losses):
                if not self.list.go_to(item.key):
                    self.list.filter.show_text("")
                    self.list.go_to(item.key)
                card = self.detail.card_of(loss)
                if card is not None:
                    self.detail.go_to_card(card)
                return card is not None
        return False

    def confirm(self) -> None:
        """Confirm the block; with open cards, name what is accepted as lost and ask once."""
        item = self.item
        if item is None:
            return
        if item.losses:
            names = ", ".join(loss.to_path for loss in item.losses)
            later = f"\nThe same holds for {number_of(len(item.chain), 'later version')}." if item.chain else ""
            answers = [("confirm", f"Confirm without {_short(names)}"), ("cancel", "Cancel")]
            title = f"{number_of(len(item.losses), 'lost element')} will stay empty"
            text = f"{block_words(self._project.value, item.key)} will not fill: {names}.{later}"
            if dialogs.ask(title, text, answers, self) != "confirm":
                return
        self._project.do(ConfirmBlock(item.key, self._given_comment()))

    def postpone(self) -> None:
        """Put the block at the end of the list."""
        if self.item is not None:
            key, comment = self.item.key, self._given_comment()
            self.list.next()
            self._project.do(Postpone(key, comment))

    def retire(self) -> None:
        """Say that the schema feeds the entity no more; asks, because elements go."""
        item, document = self.item, self._project.value
        if item is None:
            return
        blocks = (document.matrix.block(*key) for key in (item.key, *item.chain))
        count = sum(len(block.elements) for block in blocks if block is not None)
        later = f", those of {number_of(len(item.chain), 'later version')} too" if item.chain else ""
        text = f"{number_of(count, 'element')} will go{later}; the list stays in the record."
        text += " New versions do not copy them."
        answers = [("retire", "Retire the block"), ("cancel", "Cancel")]
        if dialogs.ask(f"Retire {block_words(document, item.key)}?", text, answers, self) == "retire":
            self._project.do(RetireBlock(item.key, self._given_comment()))

    def answer(self, kind: AnswerKind) -> None:
        """Give an answer on the card in hand, as far as it offers that."""
        card = self.detail.card_in_hand
        if self.item is None or card is None or not self._project.can_edit:
            return
        button = {
            AnswerKind.RENAMED: card.rename_button,
            AnswerKind.NOT_RENAMED: card.refuse_button,
            AnswerKind.ANOTHER: card.another_button,
            AnswerKind.LOST: card.loss_button,
        }[kind]
        if not button.isHidden():
            button.click()

    def refresh(self) -> None:
        """Show everything anew: also who is to decide, what was refused and what was counted, as it is kept now."""
        workbench = self._project.workbench
        try:
            self._assigned = assignments(workbench) if workbench is not None else NOBODY_ASSIGNED
            self.refused = workbench.kept.refused_renames.all() if workbench is not None else NO_RENAMES_REFUSED
            self._counted = records_by_version(workbench) if workbench is not None else {}
            self._has_typed_sink = workbench is not None and has_typed_sink(workbench)
        except UserError as error:
            self.tell(in_window(str(error)), "", None)
        self._is_reading = True
        self._refresh()
        self._is_reading = False

    def show_attributes(self, questions: AttributeQuestions) -> None:
        """Show which attributes came and went since tables of the warehouse were declared."""
        self._attributes = sum(len(one.paths) for one in questions.new) + len(questions.lost)
        self.list.new_attributes.show_cards(questions.new, self._project.can_edit)
        self.list.lost_attributes.show_cards(questions.lost, self._project.can_edit)
        self.nothing.show_heads(*self._heads, self._attributes)

    def showEvent(self, event: QShowEvent) -> None:
        """Show what changed meanwhile, also what runs and commands have left beside the states."""
        super().showEvent(event)
        if not event.spontaneous():
            self.refresh()
            if self._was_selected:
                self._selected(self._selection.current)
            self.seen.emit()

    def add_settled(self, detail: QWidget) -> None:
        """Take what stands in the place of the cards while a settled block is looked at."""
        self._stack.addWidget(detail)

    def show_settled(self, key: BlockKey) -> None:
        """Bring the detail of a settled block to the front; nothing is decided on meanwhile."""
        self.list.leave()
        self._stack.setCurrentIndex(_SETTLED)
        if self.isVisible():
            self._selection.choose(self.selected_of(key))

    @property
    def shows_settled(self) -> bool:
        """Whether the detail of a settled block is in front."""
        return self._stack.currentIndex() == _SETTLED

    def leave_settled(self, key: BlockKey) -> None:
        """Go back to what waits: to a block's own item where it has one."""
        self._stack.setCurrentIndex(0)
        self.list.come_back(key)

    def _decide_page(self) -> QWidget:
        page = QWidget()
        page.setObjectName("page")
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.detail, 1)
        layout.addWidget(self._foot())
        return page

    def _foot(self) -> QFrame:
        foot = self.foot = QFrame()
        foot.setProperty("surface", "foot")
        self.comment = HintLine("Comment for the history   (optional)")
        self.comment.setAccessibleName("Comment for the history")
        self.retire_button = KeyButton("Retire…")
        self.retire_button.setToolTip("This schema feeds this entity no more")
        self.later_button = KeyButton("Later")
        self.next_button = KeyButton("Next")
        self.confirm_button = KeyButton("Confirm the new block", kind="primary")
        self.retire_button.clicked.connect(self.retire)
        self.later_button.clicked.connect(self.postpone)
        self.next_button.clicked.connect(self.list.next)
        self.confirm_button.clicked.connect(self.confirm)
        buttons = (self.retire_button, self.later_button, self.next_button, self.confirm_button)
        self._foot_chain: list[QWidget] = [self.comment, *buttons]
        row = QHBoxLayout(foot)
        row.setContentsMargins(20, 10, 20, 10)
        row.setSpacing(10)
        row.addWidget(self.comment, 1)
        for button in buttons:
            row.addWidget(button)
        return foot

    def _opened(self, _workbench: object) -> None:
        workbench = self._project.workbench
        if workbench is not None and workbench.project_id != self._project_id:
            self._project_id = workbench.project_id
            self._comments.clear()
            self.comment.clear()
        self.list.filter.forget()
        self.refresh()

    def _let_decide(self) -> None:
        """Offer decisions, or none while only reading is possible."""
        can_decide = self._project.can_edit
        self.nothing.let_edit(can_decide)
        for widget in (self.comment, self.retire_button, self.later_button, self.confirm_button):
            widget.setEnabled(can_decide)

    def _refresh(self) -> None:
        self._let_decide()
        if not self.isVisible():  # every step over the states would work out a list that nobody sees
            return
        document, items = self._project.value, self._project.review_items()
        records = records_by_id(document, self._counted)
        self.list.show_progress(review_progress(document, items, records))
        tasks: tuple[VersionTask, ...] = self._tasks()
        zones: tuple[MissingTimeZone, ...] = missing_time_zones(document) if self._has_typed_sink else ()
        self._heads = len(tasks), len(zones)
        self.nothing.show_heads(*self._heads, self._attributes)
        self.list.tasks.show_tasks(tasks, self._project.can_edit)
        self.list.zones.show_cards(zones, self._project.can_edit)
        self.list.show_items(document, items, self._assigned, records)

    def _tasks(self) -> tuple[VersionTask, ...]:
        workbench = self._project.workbench
        try:
            return version_tasks(workbench) if workbench is not None else ()
        except UserError:
            return ()  # the file is not where it was opened; whoever edits is told

    def _count(self, shown: int) -> None:
        whole = len(self._project.review_items())
        self.list_dock.say("Waiting for a decision", f"{whole:,}" if shown == whole else f"{shown:,} of {whole:,}")

    def _show_item(self, item: ReviewItem | None) -> None:
        if not self.isVisible():  # the list may be that of an earlier state, or of another project
            return
        self._change_comment(item)
        self.item = item
        facts = self.list.current_facts
        if facts is not None or not self.list.is_left or not self.shows_settled:
            self._stack.setCurrentIndex(0 if facts is None else 1)
        if item is None or facts is None:
            return
        self.detail.show_item(self._project.value, facts, self.refused, self._project.can_edit)
        chain = [self.list.view, *self.detail.focus_chain(), *self._foot_chain]
        for before, after in pairwise(chain):
            QWidget.setTabOrder(before, after)
        self._show_matrix(item)
        if not self._is_reading:
            self._selection.choose(self.selected_of(item.key))

    def _show_matrix(self, item: ReviewItem) -> None:
        if self.detail.matrix is not None and self.detail.shows_matrix:
            self.detail.matrix.show_item(self._project.value, item)

    def _answered(self, answer: CardAnswer) -> None:
        if self.item is None:
            return
        if answer.kind is AnswerKind.NOT_RENAMED:
            self._refuse(answer)
            return
        words = f"{len(self.item.losses) - 1} of this block still open"
        if self._project.do(edit_of(self._project.value, self.item.block, answer, self._given_comment())):
            title = past_tense(self._project.undo_title or "Done")
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, f"{title}. {words}."))

    def _group_accepted(self, group: RenameGroup) -> None:
        if self.item is not None:
            self._project.do(accepting(self.item.key, group, self._given_comment()))

    def _refuse(self, answer: CardAnswer) -> None:
        """Remember that it is no rename; it lies beside the states, so the way back is offered here."""
        workbench, item = self._project.workbench, self.item
        if workbench is None or item is None:
            return
        name = rename_name(self._project.value, item.block, answer.loss)
        try:
            refused = refuse_rename(workbench, item.key, name, answer.new_path)
        except UserError as error:
            dialogs.tell(error, self)
            return
        self.refresh()
        self._selection.choose(self.selected_of(item.key))
        self._project.read_refused_again()
        self.tell(
            f"{refused.candidate} is not proposed for {refused.lost} again.", "Undo", lambda: self._allow(refused)
        )

    def _allow(self, refused: RefusedRename) -> None:
        workbench = self._project.workbench
        if workbench is not None:
            try:
                allow_rename(workbench, refused)
            except UserError as error:
                dialogs.tell(error, self)
            self.refresh()
            self._project.read_refused_again()

    def _joined(self, element: Element) -> None:
        if self.item is not None:
            self._joined_later((self.item.key, element))

    def _joined_later(self, wanted: tuple[BlockKey, Element]) -> None:
        key, element = wanted
        self.edit_wanted.emit(SetElements(key, (element,), comment=self._given_comment()))

    def _change_comment(self, item: ReviewItem | None) -> None:
        """Put what was written about the item in front aside, and bring what was written about another one."""
        before, after = (each.key if each is not None else None for each in (self.item, item))
        if before == after:
            return
        if before is not None and self.comment.text():
            self._comments[before] = self.comment.text()
        self.comment.setText(self._comments.pop(after, "") if after is not None else "")

    def _given_comment(self) -> str:
        """Return what was written; it stands until an edit is made, as one may be refused or called off."""
        self._comment_given = (self.item.key if self.item is not None else None, self.comment.text())
        return self._comment_given[1].strip()

    def _clear_given_comment(self) -> None:
        key, given = self._comment_given
        self._comment_given = (None, "")
        if not self.isVisible() or key is None or not given:
            return
        if self.item is not None and self.item.key == key and self.comment.text() == given:
            self.comment.clear()
        elif self._comments.get(key) == given:
            del self._comments[key]

    def _answer_first(self) -> None:
        if self.cards:
            self.cards[0].answer_first()

    def _selected(self, selected: Selected) -> None:
        self._was_selected = not self.isVisible()
        if self._was_selected:
            return
        source, target = selected.source, selected.target
        self.after.choose(source.attribute if source else None, target.attribute if target else None)
        if selected.block is not None and (self.item is None or self.item.key != selected.block):
            self.list.go_to(selected.block)

    def selected_of(self, key: BlockKey) -> Selected:
        """Return what is selected when a block is looked at."""
        if self._selection.current.block == key:
            return self._selection.current
        return selected_block(self._project.value, key)

    def _names(self) -> tuple[str, str]:
        facts = self.list.current_facts
        return (facts.schema, facts.entity) if facts is not None else ("", "")


def _short(names: str) -> str:
    return names if len(names) <= 32 else f"{names[:30]}…"
