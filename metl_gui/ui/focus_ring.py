"""The ring around a view that paints itself: the style sheet's border would take pixels from its picture."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from metl_gui.ui import theme as themes

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
