"""The small picture that follows the pointer while fields are dragged: the first one's name, and how many more."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen, QPixmap

from metl_gui.core.matrix.document import Document
from metl_gui.ui import theme as themes
from metl_gui.ui.dragging import Dragged
from metl_gui.ui.marks import MarkShape, paint_mark
from metl_gui.ui.pill import paint_pill, pill_width

_WIDEST, _HEIGHT = 260.0, 26


def drag_words(document: Document, dragged: Dragged) -> tuple[str, str]:
    """Return the name of the first field and, for several, their number."""
    first = dragged.attributes[0]
    version = document.tree(dragged.side).find_version(first.version or 0)
    attribute = version.attribute(first.attribute or 0) if version is not None else None
    count = len(dragged.attributes)
    return attribute.path if attribute is not None else "", f"{count:,} fields" if count > 1 else ""


def drag_picture(document: Document, dragged: Dragged, ratio: float) -> QPixmap:
    """Paint the picture for a screen of some pixel ratio."""
    theme, font = themes.current(), themes.scaled(1.0)
    name, count = drag_words(document, dragged)
    more = pill_width(count) + 8 if count else 0.0
    name = QFontMetricsF(font).elidedText(name, Qt.TextElideMode.ElideMiddle, _WIDEST - 40 - more)
    width = themes.text_width(name, font) + 36 + more
    picture = QPixmap(round(width * ratio), round(_HEIGHT * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.accent, 1.2))
    painter.setBrush(theme.panel)
    painter.drawRoundedRect(QRectF(0.6, 0.6, width - 1.2, _HEIGHT - 1.2), 5, 5)
    paint_mark(painter, QRectF(10, _HEIGHT / 2 - 4.5, 9, 9), MarkShape.MAPPED, theme)
    painter.setFont(font)
    painter.setPen(theme.text)
    box = QRectF(26, 0, width - 26, _HEIGHT)
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)
    if count:
        at = QRectF(width - pill_width(count) - 8, 0, pill_width(count), _HEIGHT)
        paint_pill(painter, at, count, "accent")
    painter.end()
    return picture
