"""Dims everything on the plane but the block that is looked at, and less the one that it came from."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QPainter, QRegion

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.ui.contrast import faded
from metl_gui.ui.matrix.camera import Camera
from metl_gui.ui.matrix.content import Content
from metl_gui.ui.theme import Theme

_MARGIN_PX = 3
_FAR, _NEAR = 0.66, 0.4


@dataclass(frozen=True)
class Focus:
    """What is looked at.

    Args:
        block: the block that stays bright.
        before: the block that it came from, dimmed a little.
    """

    block: BlockKey
    before: BlockKey | None = None


def box_of_block(content: Content, key: BlockKey) -> tuple[float, float, float, float] | None:
    """Return left, top, right and bottom of a block in units, ``None`` when it is not on the plane."""
    wide, tall = content.columns.span_of_version(key[0]), content.rows.span_of_version(key[1])
    return None if wide is None or tall is None else (wide[0], tall[0], wide[1], tall[1])


def paint_veil(painter: QPainter, content: Content, camera: Camera, focus: Focus, size: QRectF, theme: Theme) -> None:
    """Lay the colour of the panel over a viewport, but not over the block."""
    block = _pixels(content, camera, focus.block)
    before = _pixels(content, camera, focus.before) if focus.before is not None else QRect()
    far = QRegion(size.toAlignedRect()) - QRegion(block) - QRegion(before)
    painter.save()
    painter.setClipRegion(far)
    painter.fillRect(size, faded(theme.panel, _FAR))
    painter.setClipRegion(QRegion(before) - QRegion(block))
    painter.fillRect(size, faded(theme.panel, _NEAR))
    painter.restore()


def _pixels(content: Content, camera: Camera, key: BlockKey) -> QRect:
    box = box_of_block(content, key)
    if box is None:
        return QRect()
    left, top = camera.on_screen(box[0], box[1])
    right, bottom = camera.on_screen(box[2], box[3])
    margin = _MARGIN_PX
    return QRectF(left, top, right - left, bottom - top).adjusted(-margin, -margin, margin, margin).toAlignedRect()
