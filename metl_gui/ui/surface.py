"""A panel on a surface of the theme, with the size it would like to have."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QWidget

from metl_gui.ui import theme as themes


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
