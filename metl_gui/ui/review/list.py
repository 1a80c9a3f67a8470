"""The review list: how far the review is, the filter, at its head cards of what is no block, and items that wait.

Items stand below the names that they have in common; a row is put into words when it is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TypeAlias

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QContextMenuEvent, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractScrollArea, QHBoxLayout, QLabel, QListView, QProgressBar, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.assignees import NOBODY_ASSIGNED, Assignments
from metl_gui.core.review.feeders import LastSources
from metl_gui.core.review.items import ReviewItem
from metl_gui.core.review.query import Grouping, ReviewFacts, facts_of, group_of, sorted_facts
from metl_gui.ui.project.text import ago, block_words, now_ms
from metl_gui.ui.review.attribute_cards import LostAttributeStrip, NewAttributeStrip
from metl_gui.ui.review.filter_bar import FilterBar
from metl_gui.ui.review.rebuild_cards import RebuildStrip
from metl_gui.ui.review.resolved_list import ResolvedStrip
from metl_gui.ui.review.time_zones import TimeZoneStrip
from metl_gui.ui.review.version_tasks import TaskStrip
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.trees.node import actions_menu
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import VERDICT_KINDS, KeyButton
from metl_gui.ui.widgets.rows import HeadedModel, Heading, RowRoles
from metl_gui.ui.widgets.two_line_list import WORDS_ROLE, HeadedDelegate, TwoLines
from metl_gui.workbench.review.progress import ReviewProgress

Entry: TypeAlias = ReviewFacts | Heading

_FEW = 40
"""So many rows go one by one, so that the view stays where it is; more are a new list."""


def entries_of(facts: list[ReviewFacts], grouping: Grouping) -> list[Entry]:
    """Put a heading above each group of items, unless there is one group only or groups have hardly one item each."""
    groups = [(name, list(members)) for name, members in groupby(facts, key=lambda one: group_of(one, grouping))]
    has_later = any(is_later for (is_later, _), _ in groups)
    if 2 * len(groups) > len(facts) + 1 and grouping is not Grouping.NONE:
        return entries_of(facts, Grouping.NONE)
    if len(groups) < 2 and not has_later:
        return list(facts)
    entries: list[Entry] = []
    for (is_later, name), members in groups:
        lost = sum(len(one.item.losses) for one in members)
        words = f"Later: {name}" if is_later and name else name or ("Later" if is_later else "Now")
        entries.append(Heading(words, f"{len(members):,} · {lost:,} lost"))
        entries += members
    return entries


def row_words(document: Document, facts: ReviewFacts) -> TwoLines:
    """Say what the row of an item says."""
    item = facts.item
    parts = [f"{len(item.losses):,} lost"] if item.losses else []
    parts += [_starved_words(facts.starved)] if facts.starved else []
    counts = ((len(item.new_attributes), "new attribute"), (len(item.type_changes), "type change"))
    parts += [number_of(count, what) for count, what in counts if count]
    parts += [f"and {number_of(len(item.chain), 'later version')}"] if item.chain else []
    parts += [number_of(facts.records, "record")] if facts.records else []
    parts += [f"for {facts.assigned}"] if facts.assigned else []
    parts += ["postponed"] if item.block.postponed else []
    parts += [ago(item.block.when_ms)] if item.block.when_ms else []
    kind = VERDICT_KINDS.get(facts.verdict, "plain")
    title = block_words(document, item.key)
    return TwoLines(title, " · ".join(parts), facts.verdict, kind, _short(title, facts))


def _starved_words(starved: tuple[str, ...]) -> str:
    first, *more = starved
    if not more:
        return f"mandatory {first} loses its last source"
    return f"mandatory {first} and {len(more):,} more lose their last source"


def _short(title: str, facts: ReviewFacts) -> str:
    """Leave out the groups that a schema is in; its own name tells it from others."""
    last = facts.schema.rpartition(".")[2]
    return f"…{title[len(facts.schema) - len(last) :]}" if last != facts.schema else ""


class ReviewModel(HeadedModel[ReviewFacts]):
    """The rows that pass the filter."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(RowRoles(self._spoken, others={WORDS_ROLE: self._said}, key=_key), parent)
        self._document = Document()
        self._words: dict[BlockKey, tuple[ReviewFacts, TwoLines]] = {}  # of this document only

    @property
    def items(self) -> list[ReviewFacts]:
        """The items among the rows."""
        return [entry for entry in self.rows if isinstance(entry, ReviewFacts)]

    def show_entries(self, document: Document, entries: list[Entry]) -> None:
        """Show other rows: those that are gone go, the rest is looked at again."""
        if document is not self._document:
            self._document, self._words = document, {}
        names = [_name(entry) for entry in entries]
        wanted = set(names)
        gone = [at for at, entry in enumerate(self.rows) if _name(entry) not in wanted]
        if len(gone) <= _FEW:
            for at in reversed(gone):
                self.remove_row(at)
        if [_name(entry) for entry in self.rows] == names:
            self.change_rows(entries)
            return
        self._words = {}
        self.reset_rows(entries)

    def _spoken(self, facts: ReviewFacts) -> str:
        words = self._said(facts)
        return f"{words.title}, {words.pill}, {words.facts}"

    def _said(self, facts: ReviewFacts) -> TwoLines:
        known = self._words.get(facts.item.key)
        if known is None or known[0] != facts:
            words = row_words(self._document, facts)
            known = self._words[facts.item.key] = facts, words
        return known[1]


def _key(facts: ReviewFacts) -> BlockKey:
    return facts.item.key


def _name(entry: Entry) -> object:
    return entry.words if isinstance(entry, Heading) else _key(entry)


_PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
_ITEMS_SHARE, _SETTLED_SHARE = 60, 40
_MOST_MEASURED = 40


_MENU = (("confirm", "retire", "later", "assign_item"), ("review_in_matrix", "why", "copy_link"))


class _List(QListView):
    """A list whose letters are commands of the page, not a search.

    Signals:
        entered: Enter was pressed, on either place of the keyboard.
    """

    entered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.is_left = False  # no row is current, because something else is looked at

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Make no row current by the keyboard's coming alone while something else is looked at."""
        if self.is_left:
            QAbstractScrollArea.focusInEvent(self, event)
            self.viewport().update()
        else:
            super().focusInEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell Enter; the rest is the list's own."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() in _PLAIN:
            self.entered.emit()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show what can be done with the current item."""
        menu = actions_menu(self, _MENU) if self.currentIndex().isValid() else None
        if menu is not None:
            at = event.globalPos()
            if event.reason() is QContextMenuEvent.Reason.Keyboard:
                at = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft())
            menu.setAccessibleName("Waiting for a decision")
            menu.popup(at)

    def keyboardSearch(self, _text: str) -> None:
        """Search nothing: letters are commands."""


class ReviewListPanel(Surface):
    """The list with all that stands around it.

    Signals:
        chosen: the ``ReviewItem`` that is current now, or ``None``.
        counted: how many items are shown.
    """

    chosen = Signal(object)
    counted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", (420, 600), parent, share=(0.3, 1.0))
        self._document = Document()
        self._sources = LastSources(self._document)
        self._items: tuple[ReviewItem, ...] = ()
        self._assigned: Assignments = NOBODY_ASSIGNED
        self._records: Mapping[int, int] = {}
        self._facts: dict[BlockKey, ReviewFacts] = {}
        self._is_refreshing = False
        self.model = ReviewModel(self)
        self.progress_words = Elided(kind="small")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setRange(0, 1000)
        self.progress.setAccessibleName("How far the review is")
        self.filter = FilterBar()
        self.box = self.filter.box
        self.tasks = TaskStrip()
        self.zones = TimeZoneStrip()
        self.new_attributes, self.lost_attributes = NewAttributeStrip(), LostAttributeStrip()
        self.rebuilds = RebuildStrip()
        self.view = _List()
        self.view.setAccessibleName("Waiting for a decision")
        self.view.setModel(self.model)
        self.view.setItemDelegate(HeadedDelegate(self.view))
        self.view.setMouseTracking(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.none = QLabel("Nothing that waits is like that.")
        self.none.setProperty("kind", "dim")
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.none.setContentsMargins(0, 24, 0, 24)
        self.none.hide()
        self.bulk = KeyButton("", kind="link")
        self.bulk.setAccessibleDescription("Confirm, assign or put off all items that are shown")
        self.settled = ResolvedStrip()
        self._rest = QWidget()
        self._lay_out()
        self._rest.hide()
        self.settled.installEventFilter(self)
        self.filter.changed.connect(self._filter_changed)
        self.view.selectionModel().currentChanged.connect(self._current_changed)

    def show_items(
        self,
        document: Document,
        items: tuple[ReviewItem, ...],
        assigned: Assignments = NOBODY_ASSIGNED,
        records: Mapping[int, int] | None = None,
    ) -> None:
        """Show what waits; the current item stays current while it waits, else the one in its place.

        Args:
            document: where they are.
            items: what waits.
            assigned: who is to decide on what.
            records: records of the newest run by schema version id.
        """
        at = self.view.currentIndex().row()
        current = self.current
        self._is_refreshing = True  # rows go one by one, and those that are left are not to be looked at meanwhile
        if document is not self._document:
            self._sources = LastSources(document)
        self._document, self._items = document, items
        self._assigned, self._records = assigned, records or {}
        self._filter()
        self._go_on(current, at)
        self._is_refreshing = False
        self.chosen.emit(self.current)

    def show_progress(self, progress: ReviewProgress) -> None:
        """Show how far the review is."""
        self.progress.setVisible(progress.blocks > 0)
        self.progress_words.setVisible(progress.blocks > 0)
        self.progress_words.setText(progress.words())
        self.progress.setValue(int(1000 * progress.share))
        self.progress.setAccessibleDescription(progress.words())

    @property
    def current(self) -> ReviewItem | None:
        """The item that is current."""
        found = self.current_facts
        return found.item if found is not None else None

    @property
    def current_facts(self) -> ReviewFacts | None:
        """What the current item is asked by."""
        return self.model.row_at(self.view.currentIndex())

    def go_to(self, key: BlockKey) -> bool:
        """Make the item of a block current; tell whether there is one."""
        at = self.model.row_of(key)
        if at is not None:
            self.go_to_row(at)
        return at is not None

    def go_to_row(self, row: int) -> None:
        """Make a row current."""
        index = self.model.index(row)
        if self.model.row_at(index) is not None:
            self.view.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def next(self) -> None:
        """Go to the next item, after the last one to the first."""
        rows, current = [*self.model.places.values()], self.view.currentIndex().row()
        self.go_to_row(next((row for row in rows if row > current), rows[0] if rows else -1))

    @property
    def is_left(self) -> bool:
        """Whether no item is looked at, because something else is."""
        return self.view.is_left

    def leave(self) -> None:
        """Look at no item until one is chosen."""
        self.view.is_left = True
        self.view.selectionModel().clear()

    def come_back(self, key: BlockKey) -> None:
        """Look at an item again: that of a block, else the first."""
        self.view.is_left = False
        if not self.go_to(key):
            self._go_near(0)

    def _go_on(self, current: ReviewItem | None, row: int) -> None:
        """Stay at an item while it waits, else go to the one in a place; nowhere while something else is looked at."""
        if not self.is_left and (current is None or not self.go_to(current.key)):
            self._go_near(row)

    def _go_near(self, row: int) -> None:
        """Make the item in a place current, or the one before it."""
        rows = [*self.model.places.values()]
        self.go_to_row(next((at for at in rows if at >= row), rows[-1] if rows else -1))

    def _filter(self) -> None:
        now, query = now_ms(), self.filter.query
        known: dict[BlockKey, ReviewFacts] = {}
        for item in self._items:
            known[item.key] = self._fact(item)
        self._facts = known
        passed = [one for one in known.values() if query.passes(one, now)]
        ranked = sorted_facts(passed, self.filter.order, self.filter.grouping)
        entries = entries_of(ranked, self.filter.grouping)
        self.view.setUniformItemSizes(len(entries) == len(ranked))  # asked row by row, thousands of sizes take a while
        self.model.show_entries(self._document, entries)
        self.none.setVisible(not passed and bool(self._items))
        self._say_bulk(len(passed))
        self._fit()
        self.counted.emit(len(passed))

    def _fact(self, item: ReviewItem) -> ReviewFacts:
        """Name what an item is asked by, as it is known already where nothing of it changed."""
        assigned = self._assigned.of(self._document, item)
        records_of = (lambda id_: self._records.get(id_, 0)) if self._records else None
        starved = self._sources.lost_by(item)
        known = self._facts.get(item.key)
        is_same = known is not None and (known.item is item, known.assigned, known.starved) == (True, assigned, starved)
        if known is not None and is_same and not self._records:
            return known
        return facts_of(self._document, item, assigned, records_of, starved)

    def _filter_changed(self) -> None:
        current = self.current
        self._is_refreshing = True
        self._filter()
        self._go_on(current, 0)
        self._is_refreshing = False
        self.chosen.emit(self.current)
        shown = len(self.model.items)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.box, f"{number_of(shown, 'decision')} shown"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the list be no higher than its rows while what was settled stands below it."""
        if watched is self.settled and event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        is_followed, rows = not self.settled.isHidden(), self.model.rowCount()
        is_short = is_followed and rows <= _MOST_MEASURED
        high = sum(self.view.sizeHintForRow(row) for row in range(rows)) if is_short else 0
        self.view.setMaximumHeight(high + 2 * self.view.frameWidth() if is_short else themes.NO_LIMIT_PX)
        self._rest.setVisible(is_followed)

    def _say_bulk(self, shown: int) -> None:
        self.bulk.setText(f"All {shown:,} that are shown…" if shown != 1 else "The one that is shown…")
        self.bulk.setVisible(shown > 0)
        self.bulk.updateGeometry()

    def _current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        self.view.is_left = self.is_left and not current.isValid()
        if not self._is_refreshing:
            self.chosen.emit(self.current)

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 2, 0, 0)
        layout.setSpacing(8)
        head = QVBoxLayout()
        head.setContentsMargins(12, 0, 12, 0)
        head.setSpacing(4)
        head.addWidget(self.progress)
        head.addWidget(self.progress_words)
        foot = QHBoxLayout()
        foot.setContentsMargins(0, 0, 12, 6)
        foot.addWidget(self.bulk)
        foot.addStretch(1)
        layout.addLayout(head)
        layout.addWidget(self.filter)
        layout.addWidget(self.tasks)
        for strip in (self.zones, self.new_attributes, self.lost_attributes, self.rebuilds):
            layout.addWidget(strip)
        layout.addWidget(self.none)
        layout.addWidget(self.view, _ITEMS_SHARE)
        layout.addLayout(foot)
        layout.addWidget(self.settled, _SETTLED_SHARE)
        layout.addWidget(self._rest, 1)
