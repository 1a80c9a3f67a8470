"""A quiet dock: a title, a few facts at the right, one panel."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QWidget

from metl_gui.ui.elided import Elided
from metl_gui.ui.pill import Pill
from metl_gui.ui.plain import plain_label


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


class Dock(QDockWidget):
    """A dockable, floatable panel."""

    def __init__(self, name: str, title: str, panel: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.setObjectName(name)
        self.line = DockTitle(title)
        self._blank = QWidget(self)
        self.setTitleBarWidget(self.line)
        self.setWidget(panel)
        self.setFeatures(
            QDockWidget.DockWidgetFeature.DockWidgetMovable
            | QDockWidget.DockWidgetFeature.DockWidgetFloatable
            | QDockWidget.DockWidgetFeature.DockWidgetClosable
        )

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
