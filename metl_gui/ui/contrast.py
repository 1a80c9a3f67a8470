"""Contrast of colours and mixtures of them.

Source: WCAG 2.2, relative luminance and contrast ratio.
"""

from __future__ import annotations

from PySide6.QtGui import QColor


def luminance(colour: QColor) -> float:
    """Return the relative luminance, 0 (black) to 1 (white)."""
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: QColor, other: QColor) -> float:
    """Return the contrast ratio, 1 (none) to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def mixed(under: QColor, over: QColor, share: float) -> QColor:
    """Lay a share of one colour over another."""
    parts = (
        u + (o - u) * share
        for u, o in zip(
            (under.redF(), under.greenF(), under.blueF()), (over.redF(), over.greenF(), over.blueF()), strict=True
        )
    )
    return QColor.fromRgbF(*parts)


def faded(colour: QColor, alpha: float) -> QColor:
    """Return the colour with an opacity of 0 to 1."""
    result = QColor(colour)
    result.setAlphaF(alpha)
    return result
