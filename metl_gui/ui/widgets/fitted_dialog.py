"""A dialog that is never larger than the screen: what has no room in it is scrolled, its buttons too."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.dock import Scrolled

LEAST_PX = (600, 352)
"""Every dialog can be made as small as this: a screen of 640 x 400 without what surrounds a window."""


class FittedDialog(QDialog):
    """A dialog whose layout is put into a scroll area as soon as it asks for more than the smallest screen has."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scrolled: Scrolled | None = None
        self._wish = QSize()
        self._refitting = pause(self, 0, self._fit)
        self.installEventFilter(self)

    def setVisible(self, visible: bool) -> None:
        """Fit the dialog before it is seen."""
        if visible and not self.isVisible():
            self._fit()
            if not self.testAttribute(Qt.WidgetAttribute.WA_Resized):
                self.resize(self._whole())  # Qt's own way cuts words that take more than two thirds of the screen
                self.setAttribute(Qt.WidgetAttribute.WA_Resized, False)
        super().setVisible(visible)
        if visible:
            self._bound()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fit it again when it asks for more."""
        if watched is self and event.type() is QEvent.Type.LayoutRequest and self.isVisible():
            self._refitting.start()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        layout = self.layout()
        if layout is None:
            return
        least, needed = QSize(*LEAST_PX), layout.totalMinimumSize().expandedTo(self.minimumSize())
        if layout.hasHeightForWidth():
            width = self.width() if self.isVisible() else self._whole().width()
            needed = needed.expandedTo(QSize(0, layout.totalMinimumHeightForWidth(width)))
        if self._scrolled is None and (needed.width() > least.width() or needed.height() > least.height()):
            self._wish = self.minimumSize()
            self._wrap()
        self._bound()

    def _whole(self) -> QSize:
        """Return how large it is with all its words in sight."""
        size, layout = self.sizeHint().expandedTo(self.minimumSize()), self.layout()
        if layout is not None and layout.hasHeightForWidth():
            size.setHeight(max(size.height(), layout.totalHeightForWidth(size.width())))
        return size

    def _wrap(self) -> None:
        layout = self.layout()
        focus = self.focusWidget()
        before = self.size()
        inner = QWidget()
        if layout is not None:
            inner.setLayout(layout)
        self._scrolled = Scrolled(inner, gives_way=True)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._scrolled)
        self._scrolled.show()
        self.setMinimumSize(0, 0)
        self.setMaximumSize(themes.NO_LIMIT_PX, themes.NO_LIMIT_PX)
        wished = self._wish.expandedTo(inner.minimumSizeHint())
        has_size = self.isVisible() or self.testAttribute(Qt.WidgetAttribute.WA_Resized)
        self.resize((before if has_size else self.sizeHint()).expandedTo(wished))
        if focus is not None:
            focus.setFocus()

    def _bound(self) -> None:
        """Keep it within the screen."""
        room = self.screen().availableSize() - QSize(0, self.frameGeometry().height() - self.height())
        if self.width() > room.width() or self.height() > room.height():
            self.setMinimumSize(self.minimumSize().boundedTo(room))
            self.resize(self.size().boundedTo(room))
