"""A tree with its search box, joined to the window's selection.

``Funnel`` is the button beside the box that applies the filter to the matrix too. ``CollapsedStrip`` is what is left of
a tree while it is folded: a narrow strip with its name, which unfolds it.
"""

from __future__ import annotations

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QHBoxLayout,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStyleOptionToolButton,
    QToolButton,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.search.filters import FilterResult
from metl_gui.core.search.query import Query, TermKind, parse
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.project.block_lists import Note
from metl_gui.ui.project.document import DocumentChange, OpenProject
from metl_gui.ui.project.notes import NOTHING, NodeNotes, NodeValues
from metl_gui.ui.project.selection import NodeRef, Selected, Selection
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.trees.chosen_rows import rows_of
from metl_gui.ui.trees.model import FACTS_ROLE, TreeModel
from metl_gui.ui.trees.node import RowFacts, node_menu, tip_of
from metl_gui.ui.trees.view import TreeView
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.hint_line import HintLine
from metl_gui.ui.widgets.plain_text import plain_label, plain_tip

_SHAPE = ((-5.5, -5.0), (5.5, -5.0), (1.2, 0.6), (1.2, 5.0), (-1.2, 3.8), (-1.2, 0.6))


class Funnel(QToolButton):
    """A funnel: hollow while it does nothing, filled while the matrix is filtered."""

    def __init__(self, what: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        self.setAutoRaise(True)
        self.setAccessibleName(f"Filter the matrix by {what} too")
        self.setToolTip("Show only what passes in the matrix too")

    def sizeHint(self) -> QSize:
        """A square as high as a box."""
        return QSize(themes.px(26), themes.px(26))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the funnel."""
        theme, scale = themes.current(), themes.scale()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        if self.underMouse() or self.hasFocus():
            painter.setPen(QPen(theme.accent if self.hasFocus() else theme.line, 2 if self.hasFocus() else 1))
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 4, 4)
        colour = theme.accent if self.isChecked() else theme.dim
        if not option.state & QStyle.StateFlag.State_Enabled:
            colour = theme.faint
        centre = QPointF(self.rect().center()) + QPointF(0.5, 0.5)
        painter.setPen(QPen(colour, 1.4 * scale, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.setBrush(colour if self.isChecked() else Qt.BrushStyle.NoBrush)
        painter.drawPolygon(QPolygonF([centre + QPointF(x, y) * scale for x, y in _SHAPE]))
        painter.end()


STRIP_PX = 34


class CollapsedStrip(QAbstractButton):
    """A button as high as the panel, its words turned by a quarter.

    Args:
        words: the name of the panel.
        is_left: whether the panel lies at the left edge of the window.
    """

    def __init__(self, words: str, is_left: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.facts = ""
        self._is_left = is_left
        self.setText(words)
        self.setAccessibleName(f"Unfold the {words.lower()} tree")
        self.setToolTip(f"Show the {words.lower()} tree")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def say(self, facts: str) -> None:
        """Show other facts behind the name."""
        self.facts = facts
        self.update()

    def sizeHint(self) -> QSize:
        """Narrow."""
        return QSize(themes.px(STRIP_PX), 200)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint an arrow, and the words from top to bottom."""
        theme, option = themes.current(), QStyleOptionButton()
        option.initFrom(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(self.rect(), theme.band)
        if self.hasFocus():
            painter.setPen(QPen(theme.accent, 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(2, 2, -2, -2), 4, 4)
        painter.setPen(QPen(theme.text, 1.4))
        x, y, sign = self.width() / 2, 16.0, 1 if self._is_left else -1
        for shift in (-2.5, 2.5):
            painter.drawPolyline([QPointF(x + sign * (shift - 2), y - 4), QPointF(x + sign * (shift + 2), y)])
            painter.drawPolyline([QPointF(x + sign * (shift + 2), y), QPointF(x + sign * (shift - 2), y + 4)])
        painter.translate(self.width() / 2, 34)
        painter.rotate(90)
        painter.setFont(themes.small(bold=True))
        painter.setPen(theme.text)
        painter.drawText(_baseline(painter), self.text())
        painter.translate(QFontMetricsF(painter.font()).horizontalAdvance(self.text()) + 10, 0)
        painter.setFont(themes.small())
        painter.setPen(theme.dim)
        painter.drawText(_baseline(painter), self.facts)
        painter.end()


def _baseline(painter: QPainter) -> QPointF:
    """Return where text starts that is to lie on the middle line."""
    metrics = QFontMetricsF(painter.font())
    return QPointF(0, (metrics.ascent() - metrics.descent()) / 2)


_FILTER_DELAY_MS = 60
_WIDTHS = {Side.EXTRACTION: 296, Side.CDM: 284}
FILTER_HELP = """Words must stand in a path or a name; "quoted words" stay together; -word leaves out.
type:int  a type
is:open  is:ignored  is:unmapped  is:mapped  is:review  is:new  is:required  is:key  is:masked  is:commented
changed:new  changed:removed  changed:type  since the version before
in:orders  only in schemas or entities of that name"""
_LEAST_PX = 150
_ROWS_OPENED = 200
"""So many rows are opened by themselves: Qt lays out every open row, which costs seconds when they are a million."""


class TreePanel(Surface):
    """One of the two trees.

    Signals:
        counted: ("shown" count, whole count) of schemas after opening, edits and filters.
        narrowed: the ``FilterResult`` that the matrix is to show too, ``None`` for everything.
        dropped: (``Dragged``, ``Place``) of fields of the other tree and the node they were dropped on.
        unfold_wanted: the strip that stands for the folded panel was pressed.
    """

    counted = Signal(object)
    narrowed = Signal(object)
    dropped = Signal(object)
    unfold_wanted = Signal()

    def __init__(self, side: Side, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("panel", (_WIDTHS[side], 600), parent, share=(0.2, 1.0))
        self.side = side
        self._project = project
        self._selection = selection
        self._is_following = False
        self._open: set[int] = set()
        """Internal ids of rows that are open, also while a state is shown that lacks them."""
        self._narrowed: FilterResult | None = None
        self.model = TreeModel(side, self)
        name = "Extraction tree" if side is Side.EXTRACTION else "Canonical model tree"
        self.box = HintLine("Filter   is:unmapped   type:")
        self.box.setToolTip(FILTER_HELP)
        self.box.setAccessibleName(f"Filter the {name.lower()}")
        self.box.setClearButtonEnabled(True)
        self.funnel = Funnel("the extraction tree" if side is Side.EXTRACTION else "the canonical model tree")
        self._query = Query()
        self.note = plain_label(kind="small")
        self.note.setWordWrap(True)
        self.note.hide()
        self.view = TreeView(side, name, self.model)
        self.view.rows.is_implied = self._is_implied
        self._notes = NodeNotes(project, side)
        self._values = NodeValues(project, side)
        self._shows_values = False
        self.view.rows.note_of = self._note_of
        self.view.rows.value_of = self._value_of
        self.strip = CollapsedStrip(
            "Extraction" if side is Side.EXTRACTION else "Canonical model", side is Side.EXTRACTION
        )
        self.strip.hide()
        self._timer = pause(self, _FILTER_DELAY_MS, self._filter)
        self._lay_out()
        self._let_grow()
        self._connect()

    def _connect(self) -> None:
        project, selection = self._project, self._selection
        self.model.ask_comments_of(project.comments)
        self.model.filled.connect(self._filled)
        self.model.followed.connect(self._followed)
        project.commented.connect(self._commented)
        project.samples_changed.connect(self.view.viewport().update)
        self.funnel.toggled.connect(self._narrow)
        self.box.textChanged.connect(self._wait_for_letters)
        for taker in (self.box, self.view):
            taker.installEventFilter(self)
        self.view.selectionModel().selectionChanged.connect(self._chosen)
        self.view.expanded.connect(self._opened_row)
        self.view.collapsed.connect(self._closed_row)
        self.model.rowsInserted.connect(self._open_again)
        self.view.dropped.connect(self.dropped)
        self.view.menu_wanted.connect(self._show_menu)
        self.view.tip_wanted.connect(self._show_tip)
        self.strip.clicked.connect(self.unfold_wanted)
        project.opened.connect(self._opened)
        project.changed.connect(self._changed)
        selection.changed.connect(self._show_selected)

    def rename(self, place: NodeRef) -> bool:
        """Begin to write another name into the row of an entity or attribute; whether it can have one."""
        index = self.model.index_of(place)
        if self.model.place(index) != place or not index.flags() & Qt.ItemFlag.ItemIsEditable:
            return False
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self.view.scrollTo(index)
        self.view.edit(index)
        return True

    def close_all(self) -> None:
        """Close every row."""
        self.view.collapseAll()
        self._open = set()

    @property
    def top_row(self) -> int:
        """The number of the row at the top of what is in sight, among those that are open."""
        height = self.view.sizeHintForRow(0)
        return self.view.verticalScrollBar().value() // height if height > 0 else 0

    def scroll_to_row(self, number: int) -> None:
        """Scroll until a row stands at the top, as far as there are rows below it."""
        self.view.doItemsLayout()
        self.view.verticalScrollBar().setValue(number * max(self.view.sizeHintForRow(0), 0))

    def is_filtered_by(self, text: str) -> bool:
        """Whether the tree shows what passes a filter, with nothing typed since."""
        return self.box.text() == text and not self._timer.isActive() and self._query == parse(text)

    def filter_now(self, text: str) -> None:
        """Filter without waiting for more letters."""
        self.box.setText(text)
        self._timer.stop()
        self._filter()

    def show_values(self, is_on: bool) -> None:
        """Show sample values beside names where there is room, or not."""
        self._shows_values = is_on
        self.view.viewport().update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Esc in the box or the tree clears the filter, where there is one."""
        keys = (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride)
        if event.type() not in keys or not isinstance(event, QKeyEvent) or event.key() != Qt.Key.Key_Escape:
            return super().eventFilter(watched, event)
        if not self.box.text():
            return super().eventFilter(watched, event)
        if event.type() is QEvent.Type.KeyPress:
            self.filter_now("")
        event.accept()
        return True

    @property
    def is_folded(self) -> bool:
        """Whether only the strip is left."""
        return not self.strip.isHidden()

    def fold(self, is_folded: bool) -> None:
        """Leave only a strip of the panel, or show it again."""
        self.strip.setVisible(is_folded)
        self._body.setVisible(not is_folded)
        self.setFixedWidth(themes.px(STRIP_PX)) if is_folded else self._let_grow()

    def lend_body(self) -> QWidget:
        """Give what the folded panel hides to a place where it is shown meanwhile."""
        self._body.show()
        return self._body

    def take_body_back(self) -> None:
        """Hide again what was lent."""
        self._body.setVisible(not self.is_folded)
        self._outer.addWidget(self._body, 1)

    def dress(self) -> None:
        """Take the sizes of the scale."""
        if not self.is_folded:
            self._let_grow()
        if self.is_folded:  # as it may be just now: growing takes room, for want of which the page folds it
            self.setFixedWidth(themes.px(STRIP_PX))

    def _let_grow(self) -> None:
        self.setMinimumWidth(themes.px(_LEAST_PX))
        self.setMaximumWidth(themes.NO_LIMIT_PX)

    def _lay_out(self) -> None:
        self._body = QWidget()
        self._body.setProperty("surface", "clear")
        layout = QVBoxLayout(self._body)
        layout.setContentsMargins(10, 2, 10, 0)
        layout.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(2)
        row.addWidget(self.box, 1)
        row.addWidget(self.funnel)
        layout.addLayout(row)
        layout.addWidget(self.note)
        layout.addWidget(self.view, 1)
        outer = self._outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self.strip)
        outer.addWidget(self._body, 1)

    def _wait_for_letters(self, _text: str) -> None:
        self._timer.start()

    def _opened(self, _workbench: object) -> None:
        self._begin_anew()
        self.model.show_document(self._project.value)
        if self.model.is_being_read:
            whole = len(self._project.value.tree(self.side).schemas())
            self.counted.emit((whole, whole))
            self.note.setText("Reading…")
            self.note.show()

    def _begin_anew(self) -> None:
        """Filter nothing: what was asked of one project means nothing in another, whose matrix begins whole too."""
        self.box.clear()
        self._timer.stop()
        self._query, self._narrowed = Query(), None
        self._open = set()
        self.view.rows.sought = ()
        was_told = self.funnel.blockSignals(True)
        self.funnel.setChecked(False)
        self.funnel.blockSignals(was_told)
        self.model.filter(self._query)

    def _changed(self, changed: DocumentChange) -> None:
        self._is_following = True  # a row that goes hands its place on, which is nobody's choice
        try:
            has_other_rows = self.model.follow(changed)
        finally:
            self._is_following = False
        if has_other_rows:
            self._tell()
            self._narrow()

    def _followed(self) -> None:
        self._show_selected(self._selection.current)
        self._tell()
        self._narrow()

    def _commented(self) -> None:
        if "commented" in self._query.values(TermKind.IS):
            self._filter()
        self.view.viewport().update()

    def _filter(self) -> None:
        self._query = parse(self.box.text())
        self.view.rows.sought = self._query.values(TermKind.WORD)
        self.model.filter(self._query, self.box.text())

    def _filled(self) -> None:
        self._open_first()
        if self._query.is_empty:
            self._show_selected(self._selection.current)
        self._tell()
        self.note.setText(f"Not understood: {', '.join(self._query.unknown)}")
        self.note.setVisible(bool(self._query.unknown))
        if not self._query.unknown and not self.model.rowCount():
            self.note.setText("Nothing passes this filter.")
            self.note.setVisible(not self._query.is_empty)
        self._narrow()

    def _narrow(self) -> None:
        """Tell the matrix what passes while the funnel is on, and everything once it is off."""
        passing = self.model.passing() if self.funnel.isChecked() else None
        is_same = passing.lets_pass_as(self._narrowed) if passing is not None else self._narrowed is None
        if not is_same:
            self._narrowed = passing
            self.narrowed.emit(passing)

    def _open_first(self) -> None:
        if not self._query.is_empty:
            rows = self.model.first_open(_ROWS_OPENED)
        elif self.side is Side.EXTRACTION:
            rows = self.model.first_open(_ROWS_OPENED, depth=1)
        else:
            rows = [self.model.index(0, 0), self.model.index(1, 0)]
        for index in rows:
            self.view.expand(index)
        if self._query.is_empty:
            self._open_again(QModelIndex(), 0, self.model.rowCount() - 1)

    def _opened_row(self, index: QModelIndex) -> None:
        if self._query.is_empty:
            self._open.add(index.internalId())

    def _closed_row(self, index: QModelIndex) -> None:
        if self._query.is_empty:
            self._open.discard(index.internalId())

    def _open_again(self, parent: QModelIndex, first: int, last: int) -> None:
        """Open rows that came back as they were, and what lies below them: another state lacked them."""
        if not self._query.is_empty or not self._open:
            return
        for row, node in enumerate(self.model.nodes(parent, first, last), first):
            if node in self._open:
                index = self.model.index(row, 0, parent)
                self.view.expand(index)
                self._open_again(index, 0, self.model.rowCount(index) - 1)

    def _tell(self) -> None:
        shown, whole = self.model.shown_count
        self.strip.say(f"{whole:,}")
        self.counted.emit((shown, whole))

    def _chosen(self, *_what: object) -> None:
        if self._is_following or self.model.is_following:
            return
        places = self.view.chosen()
        if not places:
            return
        current = self.model.place(self.view.currentIndex())
        if current not in places:
            current = places[-1]
        self._selection.choose(self._selection.current.with_places(self.side, places, current))

    def _show_selected(self, selected: Selected) -> None:
        self.view.viewport().update()  # chosen cells imply other rows now
        place, places = selected.on(self.side), selected.all_on(self.side)
        if places == self.view.chosen() and place == self.model.place(self.view.currentIndex()):
            return
        self._is_following = True
        try:
            self._go_to(place, places)
        finally:
            self._is_following = False

    def _go_to(self, place: NodeRef | None, places: tuple[NodeRef, ...]) -> None:
        chooser, flags = self.view.selectionModel(), QItemSelectionModel.SelectionFlag
        if place is None:
            chooser.clear()
            return
        index = self.model.index_of(place)
        if not index.isValid():
            return
        if len(places) > 1:
            chooser.select(rows_of(self.model, places), flags.ClearAndSelect)
            chooser.setCurrentIndex(index, flags.Select)
        else:
            chooser.setCurrentIndex(index, flags.ClearAndSelect)
        self.view.scrollTo(index, QAbstractItemView.ScrollHint.EnsureVisible)

    def _is_implied(self, index: QModelIndex | QPersistentModelIndex) -> bool:
        if self._selection.current.cells is None:
            return False
        place = self.model.place(index)
        return place is not None and self._selection.implies(self.side, place)

    def _note_of(self, index: QModelIndex | QPersistentModelIndex) -> Note:
        place = self.model.place(index)
        return self._notes.of(place) if place is not None else NOTHING

    def _value_of(self, index: QModelIndex | QPersistentModelIndex) -> str:
        place = self.model.place(index) if self._shows_values else None
        return self._values.beside(place) if place is not None else ""

    def _show_menu(self, at: QPoint) -> None:
        place = self.model.place(self.view.currentIndex())
        self._selection.turn_to(self.side)
        menu = node_menu(self, self.side, place) if place is not None else None
        if menu is not None:
            menu.popup(at)

    def _show_tip(self, wanted: tuple[NodeRef, QPoint]) -> None:
        place, at = wanted
        facts = self.model.index_of(place).data(FACTS_ROLE)
        state = facts.mark.value if isinstance(facts, RowFacts) and facts.mark is not None else ""
        state = self.model.progress_words(place.schema) if place.version is None else state
        note, values = self._notes.of(place), self._values.tip(place)
        QToolTip.showText(at, plain_tip(tip_of(self._project.value, self.side, place, note, state, values)), self.view)
