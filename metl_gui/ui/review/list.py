"""The review list: how far the review is, the filter, version tasks at its head, and the items that wait."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractScrollArea, QHBoxLayout, QLabel, QListView, QProgressBar, QVBoxLayout, QWidget

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.assignees import NOBODY_ASSIGNED, Assignments
from metl_gui.core.review.items import ReviewItem
from metl_gui.core.review.query import ReviewFacts, facts_of, sorted_facts
from metl_gui.ui.elided import Elided
from metl_gui.ui.moments import now_ms
from metl_gui.ui.naming import number_of
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.review.filter_bar import FilterBar
from metl_gui.ui.review.headed import HeadedDelegate
from metl_gui.ui.review.model import ReviewModel, entries_of
from metl_gui.ui.review.settled_strip import SettledStrip
from metl_gui.ui.review.tasks import TaskStrip
from metl_gui.ui.surface import Surface
from metl_gui.workbench.review_progress import ReviewProgress

_PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
_ITEMS_SHARE, _SETTLED_SHARE = 60, 40
_MOST_MEASURED = 40
_NO_END = 16_777_215


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

    def keyboardSearch(self, _text: str) -> None:
        """Search nothing: letters are commands."""


class ReviewList(Surface):
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
        self.settled = SettledStrip()
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
        found = self.model.at(self.view.currentIndex().row())
        return found.item if found is not None else None

    @property
    def current_facts(self) -> ReviewFacts | None:
        """What the current item is asked by."""
        return self.model.at(self.view.currentIndex().row())

    def go_to(self, key: BlockKey) -> bool:
        """Make the item of a block current; tell whether there is one."""
        at = self.model.row_of(key)
        if at is not None:
            self.go_to_row(at)
        return at is not None

    def go_to_row(self, row: int) -> None:
        """Make a row current."""
        if self.model.at(row) is not None:
            index = self.model.index(row)
            self.view.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def next(self) -> None:
        """Go to the next item, after the last one to the first."""
        count = self.model.rowCount()
        start = self.view.currentIndex().row()
        steps = ((start + step) % count for step in range(1, count + 1))
        self.go_to_row(next((row for row in steps if self.model.at(row) is not None), -1))

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
        last = self.model.rowCount() - 1
        start = min(max(row, 0), last)
        near = (*range(start, last + 1), *range(start - 1, -1, -1))
        found = next((at for at in near if self.model.at(at) is not None), None)
        if found is not None:
            self.go_to_row(found)

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
        known = self._facts.get(item.key)
        if known is not None and known.item is item and known.assigned == assigned and not self._records:
            return known
        return facts_of(self._document, item, assigned, records_of)

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
        self.view.setMaximumHeight(high + 2 * self.view.frameWidth() if is_short else _NO_END)
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
        layout.addWidget(self.none)
        layout.addWidget(self.view, _ITEMS_SHARE)
        layout.addLayout(foot)
        layout.addWidget(self.settled, _SETTLED_SHARE)
        layout.addWidget(self._rest, 1)
