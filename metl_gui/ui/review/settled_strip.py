"""Below the review list: what was settled lately, folded to its heading where somebody wants it so."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QListView, QVBoxLayout, QWidget

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.settled import Settled, Settlement
from metl_gui.ui import theme as themes
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.review.settled_model import ROW_PX, SettledDelegate, SettledModel

_MOST_MEASURED = 200
_FEWEST_ROWS = 3
_HEAD_PX = 8
_NO_END = 16_777_215


class _List(QListView):
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


class SettledStrip(QWidget):
    """The heading with its counts, and the rows.

    Signals:
        chosen: the ``Settled`` that somebody looks at.
        map_wanted: the ``Settled`` that is to be shown on the Map page.
        folded: whether it is folded now.
    """

    chosen = Signal(object)
    map_wanted = Signal(object)
    folded = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = Document()
        self._all: tuple[Settled, ...] = ()
        self._how: Settlement | None = None
        self._is_folded = False
        self._is_quiet = False
        self._words = "Settled today"
        self.heading = KeyButton("", kind="number")
        self.all, self.same = KeyButton("", kind="link"), KeyButton("", kind="link")
        self._joint = QLabel(", of which")
        self._joint.setProperty("kind", "small")
        self.model = SettledModel(self)
        self.view = _List()
        self.view.setAccessibleName("Settled blocks")
        self.view.setModel(self.model)
        self.view.setItemDelegate(SettledDelegate(self.view))
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

    def show_settled(self, document: Document, found: tuple[Settled, ...], words: str) -> None:
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
    def current(self) -> Settled | None:
        """What is looked at."""
        return self.model.at(self.view.currentIndex().row())

    def leave(self) -> None:
        """Look at none of them any more."""
        self._is_quiet = True
        self.view.selectionModel().clear()
        self._is_quiet = False

    def go_to(self, key: BlockKey) -> bool:
        """Look at the row of a block; whether there is one."""
        at = self.model.row_of(key)
        if at is not None:
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.view.selectionModel().setCurrentIndex(self.model.index(at), flags)
        return at is not None

    def changeEvent(self, event: QEvent) -> None:
        """Follow the scale."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fill(self) -> None:
        shown = tuple(each for each in self._all if self._how in (None, each.how))
        key = self.current.key if self.current is not None else None
        self._is_quiet = True
        self.model.show(self._document, shown)
        if key is not None:
            self.go_to(key)
        self._is_quiet = False
        same = sum(each.how is Settlement.SAME for each in self._all)
        self.heading.setText(f"{'▸' if self._is_folded else '▾'}  {self._words}")
        self.heading.setAccessibleName(self._words)
        self.heading.setAccessibleDescription("Folded" if self._is_folded else "Unfolded")
        self.all.setText(f"{len(self._all):,}")
        self.all.setAccessibleName(f"Show all {len(self._all):,} settled blocks")
        self.same.setText(f"{same:,} same")
        self.same.setAccessibleName(f"Show the {same:,} blocks that stayed the same")
        for button, is_on in ((self.all, self._how is None), (self.same, self._how is Settlement.SAME)):
            button.setChecked(is_on and same > 0)
            button.updateGeometry()
        self.same.setVisible(same > 0)
        self._joint.setVisible(same > 0)
        self.view.setVisible(not self._is_folded)
        self._fit()

    def _fit(self) -> None:
        """Be no higher than the rows need."""
        rows, high, frame = self.model.rowCount(), themes.px(ROW_PX), 2 * self.view.frameWidth()
        most = rows * high + frame if rows <= _MOST_MEASURED else _NO_END
        head = self.heading.height() + _HEAD_PX
        self.view.setMinimumHeight(min(rows, _FEWEST_ROWS) * high + frame)
        self.setMaximumHeight(head if self._is_folded else min(head + most, _NO_END))

    def _turn(self) -> None:
        self.fold(not self._is_folded)
        self.folded.emit(self._is_folded)

    def _show_all(self) -> None:
        self._show_only(None)

    def _show_same(self) -> None:
        self._show_only(Settlement.SAME)

    def _show_only(self, how: Settlement | None) -> None:
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
