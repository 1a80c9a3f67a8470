"""A quiet dock: a title, a few facts at the right, one panel; and what frames panels.

``Surface`` is a panel on a surface of the theme, with the size it would like to have. ``Scrolled`` lets a panel be
shown in less room than it needs. ``FocusRing`` is the ring around a view that paints itself: the style sheet's border
would take pixels from its picture.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QDockWidget, QFrame, QHBoxLayout, QScrollArea, QWidget

from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import Pill
from metl_gui.ui.widgets.plain_text import plain_label


class DockTitle(QWidget):
    """The title line of a dock; dragging it moves the dock, a double click floats it."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = Elided(title, "panelTitle", is_snug=True)
        self.pill = Pill()
        self.pill.hide()
        self.facts = plain_label(kind="panelTitle")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 4)
        row.addWidget(self.title)
        row.addWidget(self.pill)
        row.addStretch(1)
        row.addWidget(self.facts)
        self.row = row
        self.title_comes_first = False
        """Whether the facts give way before the title is cut."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the facts out before the title is cut."""
        super().resizeEvent(event)
        self.fit()

    def fit(self) -> None:
        """Show the facts where there is room for them beside the whole title and the controls."""
        if not self.title_comes_first:
            return
        title = self.title.sizeHint().width()
        inside = self.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        shown = [each for each in inside if each is not self.title and not each.isHidden()]
        if self.facts.isHidden():
            shown.append(self.facts)
        margins = self.row.contentsMargins()
        needed = title + sum(each.sizeHint().width() + self.row.spacing() for each in shown)
        self.facts.setVisible(needed + margins.left() + margins.right() <= self.width())


class Scrolled(QScrollArea):
    """Shows a widget as large as there is room, and scrolls it where there is less than it needs.

    Args:
        panel: what is shown.
        gives_way: ask for no room at all, where otherwise it asks for what the widget needs.
    """

    def __init__(self, panel: QWidget, *, gives_way: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._panel = panel
        self._gives_way = gives_way
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.setSizePolicy(panel.sizePolicy())
        self.setProperty("surface", "clear")
        self.viewport().setAutoFillBackground(False)
        self.setWidget(panel)
        panel.setAutoFillBackground(False)

    def give_way(self, does: bool) -> None:
        """Ask for no room from now on, or again for what the widget needs."""
        self._gives_way = does
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Wish for what the widget wishes for."""
        return self._panel.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Ask for what the widget needs, or for nothing."""
        if self._gives_way:
            return QSize(0, 0)
        return self._panel.minimumSizeHint().expandedTo(self._panel.minimumSize())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow what the widget needs."""
        if event.type() is QEvent.Type.LayoutRequest and watched is self._panel:
            self.updateGeometry()
        return super().eventFilter(watched, event)


class Dock(QDockWidget):
    """A dockable, floatable panel.

    Args:
        name: under which its place is kept.
        title: of its line.
        panel: what it shows.
        scrolls: whether the panel is scrolled where there is little room.
    """

    def __init__(
        self, name: str, title: str, panel: QWidget, parent: QWidget | None = None, *, scrolls: bool = True
    ) -> None:
        super().__init__(title, parent)
        self.setObjectName(name)
        self.line = DockTitle(title)
        self._blank = QWidget(self)
        self.setTitleBarWidget(self.line)
        self._scrolled = Scrolled(panel) if scrolls else None
        self.setWidget(self._scrolled or panel)
        self.setFeatures(
            QDockWidget.DockWidgetFeature.DockWidgetMovable
            | QDockWidget.DockWidgetFeature.DockWidgetFloatable
            | QDockWidget.DockWidgetFeature.DockWidgetClosable
        )

    def give_way(self, does: bool) -> None:
        """Let the panel be scrolled from now on, or again be as large as it needs."""
        if self._scrolled is not None:
            self._scrolled.give_way(does)

    def add_tools(self, tools: QWidget) -> None:
        """Put a panel's few controls into the title line."""
        self.line.row.addWidget(tools)

    def show_line(self, is_shown: bool) -> None:
        """Show the title line, or nothing in its place, which asks for no width."""
        if is_shown:
            self.setTitleBarWidget(self.line)
            self.line.show()
        else:
            self.line.hide()
            self._blank.setFixedHeight(0)
            self.setTitleBarWidget(self._blank)

    def say(self, title: str, facts: str = "", pill: str = "", kind: str = "plain") -> None:
        """Change the title line."""
        self.line.title.setText(title)
        self.line.facts.setText(facts)
        self.line.pill.say(pill, kind)
        self.line.fit()


class Surface(QWidget):
    """A widget whose ground the style sheet paints.

    Args:
        kind: ``panel``, ``bg`` or ``clear``.
        wish: the width and height it asks a dock for, at scale 1.
        share: the largest part of the window's width and height that it asks for.
    """

    def __init__(
        self, kind: str, wish: tuple[int, int], parent: QWidget | None = None, share: tuple[float, float] = (1.0, 1.0)
    ) -> None:
        super().__init__(parent)
        self._wish = QSize(*wish)
        self._share = share
        self.setProperty("surface", kind)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)

    def sizeHint(self) -> QSize:
        """Ask for the size that was wished for."""
        window = self.window().size()
        most = QSize(round(window.width() * self._share[0]), round(window.height() * self._share[1]))
        return (self._wish * themes.scale()).boundedTo(most)


_THICK_PX = 2


class FocusRing(QObject):
    """Shows a ring while a view has the focus: four thin widgets, so that its own pictures are not composed anew.

    Args:
        view: what it is drawn around.
    """

    def __init__(self, view: QWidget) -> None:
        super().__init__(view)
        self._view = view
        self._edges = [_Edge(view) for _ in range(4)]
        view.installEventFilter(self)
        self._place()
        self._show(view.hasFocus())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size and the focus of the view."""
        if event.type() is QEvent.Type.Resize:
            self._place()
        elif event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._show(event.type() is QEvent.Type.FocusIn)
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        box, thick = self._view.rect(), _THICK_PX
        places = (
            QRect(0, 0, box.width(), thick),
            QRect(0, box.height() - thick, box.width(), thick),
            QRect(0, thick, thick, box.height() - 2 * thick),
            QRect(box.width() - thick, thick, thick, box.height() - 2 * thick),
        )
        for edge, place in zip(self._edges, places, strict=True):
            edge.setGeometry(place)

    def _show(self, has_focus: bool) -> None:
        for edge in self._edges:
            edge.setVisible(has_focus)
            edge.raise_()


class _Edge(QWidget):
    """One side of the ring."""

    def __init__(self, view: QWidget) -> None:
        super().__init__(view)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill with the accent."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), themes.current().accent)
        painter.end()
