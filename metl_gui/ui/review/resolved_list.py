"""What was settled lately, below the review list: a heading with counts, and a line for each block.

It can be folded to its heading. A line is put into words when it is looked at.
"""

from __future__ import annotations

from operator import attrgetter

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import QHBoxLayout, QLabel, QListView, QVBoxLayout, QWidget

from metl_gui.core.edits.titles import past_tense
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.settled import Resolution, ResolvedBlock
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.text import block_words, clock, version_words
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.labels import fitted
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.rows import (
    RIGHT,
    Index,
    RowDelegate,
    RowRoles,
    RowsModel,
    paint_right_pill,
    paint_words,
    quiet_ink,
)
from metl_gui.ui.widgets.two_line_list import WORDS_ROLE
from metl_gui.values import Value

ROW_PX = 28
_PAD = 14
_GAP = 10


class OneLine(Value):
    """What a row says.

    Args:
        title: the block.
        short: the block without the groups that its schema is in.
        who, when: who settled it, and when.
        pill: how.
    """

    title: str
    short: str
    who: str
    when: str
    pill: str


def line_of(document: Document, settled: ResolvedBlock) -> OneLine:
    """Put a settled block into words."""
    title = block_words(document, settled.key)
    schema = version_words(document, Side.EXTRACTION, settled.key[0]).rpartition(" ")[0]
    _, dot, _ = schema.rpartition(".")
    short = f"…{title[schema.rindex('.') + 1 :]}" if dot else title
    return OneLine(title, short, settled.who, clock(settled.when_ms), settled.how.value)


class ResolvedDelegate(RowDelegate[OneLine]):
    """Paints the block, who and when, and a pill; the block comes first where there is not room for all."""

    kind, role, height_px = OneLine, WORDS_ROLE, ROW_PX

    def paint_row(self, painter: QPainter, box: QRectF, index: Index, row: OneLine, is_selected: bool) -> None:
        """Paint one row."""
        ink = quiet_ink(is_selected)
        pill = paint_right_pill(painter, box.adjusted(0, 0, -_PAD, 0), row.pill, "plain")
        box = QRectF(box.left() + _PAD, box.top(), pill - _GAP - box.left() - _PAD, box.height())
        normal, small = themes.scaled(1.0), themes.small()
        measure, measure_small = QFontMetricsF(normal), QFontMetricsF(small)
        said = f"{row.who}, {row.when}" if row.who else row.when
        tries = [(row.title, said), (row.short, said), (row.title, row.when), (row.short, row.when)]
        sizes = ((t, s, measure.horizontalAdvance(t) + _GAP + measure_small.horizontalAdvance(s)) for t, s in tries)
        title, told = next(((t, s) for t, s, size in sizes if size <= box.width()), (row.short, row.when))
        painter.setFont(small)
        painter.setPen(ink)
        painter.drawText(box, RIGHT, told)
        box.setRight(box.right() - measure_small.horizontalAdvance(told) - _GAP)
        title = fitted(title, measure, box.width())  # the versions stay, else rows of one schema read the same
        paint_words(painter, box, title, normal, ink, elide=Qt.TextElideMode.ElideMiddle)


_MOST_MEASURED = 200
_FEWEST_ROWS = 3
_HEAD_PX = 8


class _ResolvedList(QListView):
    """A list that tells Enter; letters are commands of the page."""

    entered_row = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell Enter; the rest is the list's own."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self.entered_row.emit()
        else:
            super().keyPressEvent(event)

    def keyboardSearch(self, _text: str) -> None:
        """Search nothing: letters are commands."""


class ResolvedStrip(QWidget):
    """The heading with its counts, and the rows.

    Signals:
        chosen: the ``ResolvedBlock`` that somebody looks at.
        map_wanted: the ``ResolvedBlock`` that is to be shown on the Map page.
        folded: whether it is folded now.
    """

    chosen = Signal(object)
    map_wanted = Signal(object)
    folded = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = Document()
        self._all: tuple[ResolvedBlock, ...] = ()
        self._how: Resolution | None = None
        self._is_folded = False
        self._is_quiet = False
        self._words = "Settled today"
        self.heading = KeyButton("", kind="number")
        self.all, self.same = KeyButton("", kind="link"), KeyButton("", kind="link")
        self._joint = QLabel(", of which")
        self._joint.setProperty("kind", "small")
        roles = RowRoles(self._spoken, self._tip, {WORDS_ROLE: self._line}, attrgetter("key"))
        self.model: RowsModel[ResolvedBlock] = RowsModel(roles, self)
        self.view = _ResolvedList()
        self.view.setAccessibleName("Settled blocks")
        self.view.setModel(self.model)
        self.view.setItemDelegate(ResolvedDelegate(self.view))
        self.view.setUniformItemSizes(True)
        self.view.setMouseTracking(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._lay_out()
        self.heading.clicked.connect(self._turn)
        self.all.clicked.connect(self._show_all)
        self.same.clicked.connect(self._show_same)
        self.view.selectionModel().currentChanged.connect(self._current_changed)
        self.view.clicked.connect(self._clicked)
        self.view.doubleClicked.connect(self._entered)
        self.view.entered_row.connect(self._entered)
        self.hide()

    def show_settled(self, document: Document, found: tuple[ResolvedBlock, ...], words: str) -> None:
        """Show what was settled; nothing is drawn where nothing was.

        Args:
            document: where the blocks are.
            found: the newest first.
            words: what it is called, ``Settled today``.
        """
        self._document, self._all, self._words = document, found, words
        if not any(each.how is self._how for each in found):
            self._how = None
        self._fill()
        self.setVisible(bool(found))

    def fold(self, is_folded: bool) -> None:
        """Show the heading only, or the rows too."""
        self._is_folded = is_folded
        self._fill()

    @property
    def is_folded(self) -> bool:
        """Whether only the heading is shown."""
        return self._is_folded

    @property
    def current(self) -> ResolvedBlock | None:
        """What is looked at."""
        return self.model.row_at(self.view.currentIndex())

    def leave(self) -> None:
        """Look at none of them any more."""
        self._is_quiet = True
        self.view.selectionModel().clear()
        self._is_quiet = False

    def go_to(self, key: BlockKey) -> bool:
        """Look at the row of a block; whether there is one."""
        index = self.model.index_of(key)
        if index.isValid():
            self.view.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        return index.isValid()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the scale."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _line(self, settled: ResolvedBlock) -> OneLine:
        return line_of(self._document, settled)

    def _spoken(self, settled: ResolvedBlock) -> str:
        line = self._line(settled)
        return f"{line.title}, {line.pill}, {line.who}, {line.when}"

    def _tip(self, settled: ResolvedBlock) -> str:
        return f"{self._spoken(settled)}\n{past_tense(settled.title)}"

    def _fill(self) -> None:
        shown = tuple(each for each in self._all if self._how in (None, each.how))
        key = self.current.key if self.current is not None else None
        self._is_quiet = True
        self.model.show_rows(shown)
        if key is not None:
            self.go_to(key)
        self._is_quiet = False
        same = sum(each.how is Resolution.SAME for each in self._all)
        self.heading.setText(f"{'▸' if self._is_folded else '▾'}  {self._words}")
        self.heading.setAccessibleName(self._words)
        self.heading.setAccessibleDescription("Folded" if self._is_folded else "Unfolded")
        self.all.setText(f"{len(self._all):,}")
        self.all.setAccessibleName(f"Show all {len(self._all):,} settled blocks")
        self.same.setText(f"{same:,} same")
        self.same.setAccessibleName(f"Show the {same:,} blocks that stayed the same")
        for button, is_on in ((self.all, self._how is None), (self.same, self._how is Resolution.SAME)):
            button.setChecked(is_on and same > 0)
            button.updateGeometry()
        self.same.setVisible(same > 0)
        self._joint.setVisible(same > 0)
        self.view.setVisible(not self._is_folded)
        self._fit()

    def _fit(self) -> None:
        """Be no higher than the rows need."""
        rows, high, frame = self.model.rowCount(), themes.px(ROW_PX), 2 * self.view.frameWidth()
        most = rows * high + frame if rows <= _MOST_MEASURED else themes.NO_LIMIT_PX
        head = self.heading.height() + _HEAD_PX
        self.view.setMinimumHeight(min(rows, _FEWEST_ROWS) * high + frame)
        self.setMaximumHeight(head if self._is_folded else min(head + most, themes.NO_LIMIT_PX))

    def _turn(self) -> None:
        self.fold(not self._is_folded)
        self.folded.emit(self._is_folded)

    def _show_all(self) -> None:
        self._show_only(None)

    def _show_same(self) -> None:
        self._show_only(Resolution.SAME)

    def _show_only(self, how: Resolution | None) -> None:
        self._how = how
        if self._is_folded:
            self._turn()
        else:
            self._fill()

    def _current_changed(self, _current: QModelIndex, _before: QModelIndex) -> None:
        if self.current is not None and not self._is_quiet:
            self.chosen.emit(self.current)

    def _clicked(self, _index: QModelIndex) -> None:
        if self.current is not None:
            self.chosen.emit(self.current)  # also when it was current before something else came to the front

    def _entered(self, _index: QModelIndex | None = None) -> None:
        if self.current is not None:
            self.map_wanted.emit(self.current)

    def _lay_out(self) -> None:
        self.heading.set_height(24)
        row = QHBoxLayout()
        row.setContentsMargins(4, 6, 8, 0)
        row.setSpacing(4)
        row.addWidget(self.heading)
        row.addStretch(1)
        for widget in (self.all, self._joint, self.same):
            row.addWidget(widget)
        for button in (self.all, self.same):
            button.setCheckable(True)
            button.set_height(24)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(row)
        column.addWidget(self.view, 1)
