"""Both lists of a block with the lines between them: every edit of the block starts here, by mouse or keyboard."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollBar, QWidget

from metl_gui.core.matrix.blocks import Element, Status
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.block.attribute_list import AttributeList
from metl_gui.ui.block.lines import ROW_PX, Canvas, Drawn, RowLink, RubberBand, Stub, VisibleRows
from metl_gui.ui.project.block_lists import BlockLists, ListOrder, ListRow, arranged
from metl_gui.ui.theming import theme as themes

_EDGE_PX = 20


class TwoLists(QWidget):
    """The lists and the canvas between them; it wishes for edits and does none.

    Signals:
        picked: (``Side``, attribute id) of the row that became current by hand.
        set_wanted: an ``Element`` that is not set yet.
        clear_wanted: an ``Element`` that is set.
        dropped: (``Side``, attribute id, ``Dragged``) of fields of the other tree dropped on a row.
        menu_wanted: (``Side``, position on the screen) for a menu of the current row.
        everything_wanted: a row is asked for that the filter hides.
    """

    picked = Signal(object)
    set_wanted = Signal(object)
    clear_wanted = Signal(object)
    dropped = Signal(object)
    menu_wanted = Signal(object)
    everything_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lists = BlockLists((0, 0))
        self._links: tuple[RowLink, ...] = ()
        self._paths: dict[Side, dict[int, str]] = {}
        self._status: Status | None = None
        self._order, self._text = ListOrder.SOURCE, ""
        self._from: tuple[Side, int] | None = None
        self._pointer: QPoint | None = None
        self.left, self.right = AttributeList(Side.EXTRACTION), AttributeList(Side.CDM)
        self.canvas = Canvas(self._sights)
        self._build()
        for one in (self.left, self.right):
            one.stood_on.connect(self._stood)
            one.pulled.connect(self._pulled)
            one.let_go.connect(self._let_go)
            one.key.connect(self._key)
            one.dropped.connect(self.dropped)
            one.menu_wanted.connect(self.menu_wanted)
            one.verticalScrollBar().valueChanged.connect(self.canvas.update)
        self.canvas.picked.connect(self._picked_link)
        self.canvas.followed.connect(self._follow)

    # what is shown

    def show_lists(self, lists: BlockLists, links: tuple[RowLink, ...], status: Status | None) -> None:
        """Show a block with its elements and suggestions; a line that is being drawn to another one is given up."""
        if lists.key != self.lists.key:
            self.abandon()
        self.lists, self._links, self._status = lists, links, status
        self._paths = {side: {row.id: row.attribute.path for row in lists.on(side)} for side in Side}
        self._fill()

    def arrange(self, order: ListOrder, text: str) -> None:
        """List the rows that a text finds, in an order."""
        self._order, self._text = order, text
        self._fill()

    @property
    def shown(self) -> tuple[int, int]:
        """How many rows of either list the filter lets through."""
        return len(self.left.rows.rows), len(self.right.rows.rows)

    def choose(self, left: int | None, right: int | None) -> None:
        """Put the cursors on the selected attributes, one on each side."""
        self.left.stand_on(left)
        self.right.stand_on(right)
        self._draw()

    def focus_side(self, side: Side) -> None:
        """Put the keyboard on one of the lists, on its first row when it has no cursor yet."""
        view = self._view(side)
        view.setFocus(Qt.FocusReason.OtherFocusReason)
        if view.current is None and view.rows.rows:
            view.setCurrentIndex(view.rows.index(0))

    @property
    def pair(self) -> Element | None:
        """The element between the two current rows, set or not."""
        left, right = self.left.current, self.right.current
        return Element(right.id, left.id) if left is not None and right is not None else None

    def room_between(self, element: Element) -> QRect | None:
        """Return the box that both rows of an element and the canvas between them span, ``None`` out of sight."""
        left, right = self._sights()
        heights = [y for y in (left.y(element.p), right.y(element.q)) if y is not None and 0 <= y <= self.height()]
        if len(heights) < 2:
            return None
        half = themes.px(ROW_PX) // 2
        box = self.canvas.geometry()
        return QRect(box.left(), round(min(heights)) - half, box.width(), round(max(heights) - min(heights)) + 2 * half)

    @property
    def is_connecting(self) -> bool:
        """Whether a line is being drawn."""
        return self._from is not None

    def abandon(self) -> bool:
        """Give up the line that is being drawn; tell whether there was one."""
        was = self._from is not None
        self._from = self._pointer = None
        self.left.abandon()
        self.right.abandon()
        self._draw()
        return was

    def _build(self) -> None:
        self.left.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        own = self.left.verticalScrollBar()
        self._bar = QScrollBar(Qt.Orientation.Vertical)  # outside, where it parts no row from its line
        own.rangeChanged.connect(self._fit_bar)
        own.valueChanged.connect(self._bar.setValue)
        self._bar.valueChanged.connect(own.setValue)
        self._bar.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self._bar)
        row.addWidget(self.left, 5)
        row.addWidget(self.canvas, 4)
        row.addWidget(self.right, 5)
        self.setTabOrder(self.left, self.right)

    def _fit_bar(self, low: int, high: int) -> None:
        self._bar.setRange(low, high)
        self._bar.setPageStep(self.left.verticalScrollBar().pageStep())
        self._bar.setSingleStep(self.left.verticalScrollBar().singleStep())
        self._bar.setVisible(high > low)

    def _fill(self) -> None:
        for view in (self.left, self.right):
            bar, current = view.verticalScrollBar(), view.current
            seen = bar.value()
            if view.rows.show(arranged(self.lists, view.side, self._order, self._text), self._status):
                view.doItemsLayout()
                bar.setValue(seen)
            view.stand_on(current.id if current is not None else None)
        self._draw()

    def _draw(self) -> None:
        left, right = self.left.current, self.right.current
        current = (left.id if left is not None else None, right.id if right is not None else None)
        end = self._end()
        wanted = self._wanted(end)
        taken = frozenset(self._taken(wanted)) if wanted is not None else frozenset()
        self.canvas.show_drawn(Drawn(self._links, self._paths, current, taken, self._rubber(end, taken)))

    def _sights(self) -> tuple[VisibleRows, VisibleRows]:
        return self._sight(self.left), self._sight(self.right)

    @staticmethod
    def _sight(view: AttributeList) -> VisibleRows:
        """Tell what is in sight of a list; its frame lies above the first row."""
        seen = view.viewport()
        return VisibleRows(
            view.rows.places, view.verticalScrollBar().value() - seen.y(), seen.height(), themes.px(ROW_PX)
        )

    # the line that is being drawn

    def _end(self) -> ListRow | None:
        """Return the row of the other list at which the line ends now."""
        if self._from is None:
            return None
        other = self._other(self._from[0])
        return other.row_under(self._pointer) if self._pointer is not None else other.current

    def _wanted(self, end: ListRow | None) -> Element | None:
        if self._from is None or end is None:
            return None
        side, id_ = self._from
        return Element(end.id, id_) if side is Side.EXTRACTION else Element(id_, end.id)

    def _taken(self, wanted: Element) -> list[Element]:
        return [e for e in self.lists.elements if e != wanted and (e.q == wanted.q or e.p == wanted.p)]

    def _rubber(self, end: ListRow | None, taken: frozenset[Element]) -> RubberBand | None:
        if self._from is None:
            return None
        side, id_ = self._from
        sights = dict(zip((Side.EXTRACTION, Side.CDM), self._sights(), strict=True))
        start = sights[side].y(id_)
        other = Side.CDM if side is Side.EXTRACTION else Side.EXTRACTION
        y = sights[other].y(end.id) if end is not None else None
        if start is None or (y is None and self._pointer is None):
            return None
        far = float(self.canvas.width()) if side is Side.EXTRACTION else 0.0
        point = QPointF(far, y) if y is not None else self._loose_end()
        words = ", ".join(sorted(self._taken_words(e) for e in taken))
        return RubberBand(side, start, point, words)

    def _loose_end(self) -> QPointF:
        inside = self.canvas.mapFromGlobal(self._pointer or QPoint())
        return QPointF(min(max(inside.x(), 0), self.canvas.width()), min(max(inside.y(), 0), self.canvas.height()))

    def _taken_words(self, element: Element) -> str:
        paths = self.canvas.drawn.paths
        return f"taken: {paths[Side.EXTRACTION].get(element.p, '')} → {paths[Side.CDM].get(element.q, '')}"

    def _pulled(self, pulled: tuple[Side, QPoint]) -> None:
        side, at = pulled
        row = self._view(side).current
        if row is not None:
            self._from, self._pointer = (side, row.id), at
            self._scroll_at_edge(self._other(side), at)
            self._draw()

    def _let_go(self, at: QPoint) -> None:
        self._pointer = at
        wanted = self._wanted(self._end())
        self.abandon()
        self._want(wanted)

    def _want(self, wanted: Element | None) -> None:
        if wanted is not None and wanted not in self.lists.elements:
            self.set_wanted.emit(wanted)

    @staticmethod
    def _scroll_at_edge(view: AttributeList, at: QPoint) -> None:
        """Scroll a list while the pointer is held at its upper or lower edge."""
        inside, bar = view.viewport().mapFromGlobal(at), view.verticalScrollBar()
        if inside.y() < _EDGE_PX:
            bar.setValue(bar.value() - bar.singleStep())
        elif inside.y() > view.viewport().height() - _EDGE_PX:
            bar.setValue(bar.value() + bar.singleStep())

    # what was pressed

    def _stood(self, place: tuple[Side, int]) -> None:
        self._draw()
        rubber = self.canvas.drawn.rubber
        if rubber is not None and rubber.words:
            _announce(self, rubber.words)
        self.picked.emit(place)

    def _key(self, pressed: tuple[Side, str]) -> None:
        side, key = pressed
        view, other = self._view(side), self._other(side)
        if key in ("left", "right"):
            self.focus_side(Side.EXTRACTION if key == "left" else Side.CDM)
        elif key == "enter":
            self._begin_or_end(view, other)
        elif key == "space" and self.pair is not None:
            (self.clear_wanted if self.pair in self.lists.elements else self.set_wanted).emit(self.pair)
        elif key == "delete":
            self._clear(view)
        elif key == "escape" and self.abandon():
            self.focus_side(other.side)

    def _begin_or_end(self, view: AttributeList, other: AttributeList) -> None:
        row = view.current
        if row is None:
            return
        if self._from is not None and self._from[0] is other.side:
            wanted = self._wanted(row)
            self.abandon()
            self._want(wanted)
        else:
            self._from, self._pointer = (view.side, row.id), None
            self.focus_side(other.side)
            self._draw()
            _announce(
                self, f"A line begins at {row.attribute.path}: choose its other end, Enter maps, Escape leaves it"
            )

    def _clear(self, view: AttributeList) -> None:
        """Clear the element of both cursors or, where that is none, of the cursor in the list."""
        element, row = self.pair, view.current
        if element not in self.lists.elements and row is not None and row.partner is not None:
            own, partner = row.id, row.partner.id
            element = Element(partner, own) if view.side is Side.EXTRACTION else Element(own, partner)
        if element is not None and element in self.lists.elements:
            self.clear_wanted.emit(element)

    def _picked_link(self, link: RowLink) -> None:
        self.left.stand_on(link.element.p)
        self.right.stand_on(link.element.q)
        self.left.setFocus(Qt.FocusReason.MouseFocusReason)
        self._draw()
        self.picked.emit((Side.EXTRACTION, link.element.p))
        self.picked.emit((Side.CDM, link.element.q))

    def _follow(self, stub: Stub) -> None:
        element = stub.link.element
        view, id_ = (self.right, element.q) if stub.is_left else (self.left, element.p)
        if id_ not in view.rows.places:
            self.everything_wanted.emit()
        view.scrollTo(view.rows.index_of(id_), view.ScrollHint.PositionAtCenter)

    def _view(self, side: Side) -> AttributeList:
        return self.left if side is Side.EXTRACTION else self.right

    def _other(self, side: Side) -> AttributeList:
        return self.right if side is Side.EXTRACTION else self.left


def _announce(owner: QWidget, words: str) -> None:
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(owner, words))
