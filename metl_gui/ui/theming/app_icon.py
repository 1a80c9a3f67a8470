"""The program's own icon: four cells of a matrix, of which those on the diagonal are mapped.

Title bars, dialogs, the task bar and the tray show it; it is painted, so that no picture has to be found.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap

_SIZES_PX = (16, 24, 32, 48, 64, 128)
_GROUND, _CELL, _MAPPED = QColor("#1B2129"), QColor("#4B5665"), QColor("#6BA4E8")


def app_icon() -> QIcon:
    """Paint the icon in all sizes that desktops ask for."""
    icon = QIcon()
    for size in _SIZES_PX:
        icon.addPixmap(_painted(size))
    return icon


def _painted(size: int) -> QPixmap:
    picture = QPixmap(size, size)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_GROUND)
    painter.drawRoundedRect(QRectF(0, 0, size, size), size * 0.2, size * 0.2)
    edge, cell = size * 0.2, size * 0.26
    for row in range(2):
        for column in range(2):
            painter.setBrush(_MAPPED if row == column else _CELL)
            box = QRectF(edge + column * (cell + size * 0.08), edge + row * (cell + size * 0.08), cell, cell)
            painter.drawRoundedRect(box, size * 0.05, size * 0.05)
    painter.end()
    return picture
