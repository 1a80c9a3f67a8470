"""The legend below the plane: the signs that are on the screen, each with its words, and the scale of the overlay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from metl_gui.core.trees.type_verdicts import TypeVerdict
from metl_gui.ui.matrix.painting import paint_context
from metl_gui.ui.matrix.painting.axis_gaps import notch_pen
from metl_gui.ui.matrix.painting.ignored_lines import ignored_pen
from metl_gui.ui.matrix.painting.paint_context import Overlay, Sign, Tinting
from metl_gui.ui.matrix.painting.shapes import HatchPainter
from metl_gui.ui.matrix.painting.text_layout import TextAlignment, TextPainter
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.marks import MarkShape, paint_cross, paint_mark, paint_verdict
from metl_gui.ui.theming.theme import Theme, mixed

_HEIGHT_PX = 26
_SIGN_PX = 12.0
NO_WORDS: Mapping[Sign, str] = {}


_Paint: TypeAlias = Callable[[QPainter, QRectF, Theme], None]


def legend_px() -> float:
    """Height of the legend at the current scale."""
    return float(themes.px(_HEIGHT_PX))


def paint_legend(
    painter: QPainter,
    size: QRectF,
    theme: Theme,
    signs: frozenset[Sign] = frozenset(),
    chosen: Tinting = paint_context.NO_TINTING,
    people: tuple[str, ...] = ("",),
    *,
    words: Mapping[Sign, str] = NO_WORDS,
    is_vector: bool = False,
) -> list[tuple[QRectF, Sign]]:
    """Paint the entries from left to right, as many as fit.

    Args:
        painter, size, theme: where and how.
        signs: what is on the screen.
        chosen, people: the overlay and whom it names.
        words: what is said of some signs in place of their own words.
        is_vector: write words as words, for files that keep them.

    Returns:
        Where the entry of every sign stands.
    """
    letters = TextPainter(painter, painter.device().devicePixelRatioF(), is_vector=is_vector)
    placed: list[tuple[QRectF, Sign]] = []
    x = size.left() + 6.0
    for entry in _entries(signs, chosen, theme, people):
        said = words.get(entry.sign, entry.words) if entry.sign is not None else entry.words
        width = 20 + letters.plain.width(said) + 16
        if x + width > size.right():
            break
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        entry.paint(painter, QRectF(x, size.center().y() - _SIGN_PX / 2, _SIGN_PX, _SIGN_PX), theme)
        letters.write(said, QRectF(x + 18, size.top(), width, size.height()), theme.dim, TextAlignment.LEFT)
        if entry.sign is not None:
            placed.append((QRectF(x - 4, size.top(), width - 8, size.height()), entry.sign))
        x += width
    return placed


class _Entry(NamedTuple):
    """A sign or a step of the overlay's scale, with its words."""

    words: str
    paint: _Paint
    sign: Sign | None = None


def _entries(signs: frozenset[Sign], chosen: Tinting, theme: Theme, people: tuple[str, ...]) -> Iterator[_Entry]:
    if chosen.overlay is not Overlay.NONE:
        for step in paint_context.scale_of(chosen, theme, people):
            is_told = not step.short or step.short in step.words
            yield _Entry(step.words if is_told else f"{step.words} ({step.short})", _swatch(step))
    said = {Sign.REVIEW} if chosen.overlay is Overlay.STATUS else set()
    for sign in Sign:
        if sign in signs - said:
            yield _Entry(sign.value, _PAINTS[sign], sign)


def _swatch(step: paint_context.ColourStep) -> _Paint:
    def paint(painter: QPainter, box: QRectF, theme: Theme) -> None:
        painter.setPen(QPen(theme.dim, 1))
        painter.setBrush(step.colour)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)

    return paint


def _mark(shape: MarkShape) -> _Paint:
    return lambda painter, box, theme: paint_mark(painter, box, shape, theme)


def _paint_review(painter: QPainter, box: QRectF, theme: Theme) -> None:
    painter.setPen(QPen(*theme.review_outline))
    painter.setBrush(theme.reviewbg)
    painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 2, 2)


def _paint_gone(painter: QPainter, box: QRectF, theme: Theme) -> None:
    pen = QPen(theme.review_outline[0], 1.6, Qt.PenStyle.CustomDashLine)
    pen.setDashPattern([2.4, 1.8])
    painter.setPen(pen)
    painter.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()))


def _paint_removed(painter: QPainter, box: QRectF, theme: Theme) -> None:
    strip = box.adjusted(3, 0, -3, 0)
    lines = mixed(theme.reviewbg, theme.review_outline[0], 0.6)
    HatchPainter(painter, painter.device().devicePixelRatioF(), is_vector=True).fill(
        strip, strip, lines, theme.reviewbg
    )


def _paint_conflict(painter: QPainter, box: QRectF, theme: Theme) -> None:
    paint_mark(painter, box, MarkShape.LOST, theme)
    paint_cross(painter, box, theme, theme.review_outline[0])


def _verdict(verdict: TypeVerdict) -> _Paint:
    def paint(painter: QPainter, box: QRectF, theme: Theme) -> None:
        paint_mark(painter, box, MarkShape.MAPPED, theme)
        paint_verdict(painter, box, verdict, theme)

    return paint


def _paint_share(painter: QPainter, box: QRectF, theme: Theme) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    for part, share in ((0.0, 0.1), (1 / 3, 0.5), (2 / 3, 1.0)):
        painter.fillRect(QRectF(box.left() + part * box.width(), box.top(), 4, box.height()), theme.tint(share))


def _paint_density(painter: QPainter, box: QRectF, theme: Theme) -> None:
    for at in range(4):
        colour = mixed(theme.panel, theme.accent, 0.35 + 0.65 * at / 3)
        painter.fillRect(QRectF(box.left() + at * 3, box.bottom() - 3 * (at + 1), 3, 3), colour)


def _paint_added(painter: QPainter, box: QRectF, theme: Theme) -> None:
    painter.fillRect(QRectF(box.left(), box.center().y() - 1.5, box.width(), 3), theme.good)


def _paint_tiny(painter: QPainter, box: QRectF, theme: Theme) -> None:
    painter.fillRect(QRectF(box.center().x(), box.top(), 1, box.height()), theme.accent)


def _paint_ignored(painter: QPainter, box: QRectF, theme: Theme) -> None:
    painter.setPen(ignored_pen(theme))
    painter.drawLine(QPointF(box.left(), box.center().y()), QPointF(box.right(), box.center().y()))


def _paint_hidden(painter: QPainter, box: QRectF, theme: Theme) -> None:
    painter.setPen(notch_pen(theme))
    painter.drawLine(QPointF(box.center().x(), box.top()), QPointF(box.center().x(), box.bottom()))


_PAINTS: dict[Sign, _Paint] = {
    Sign.MAPPED: _mark(MarkShape.MAPPED),
    Sign.UNCONFIRMED: _mark(MarkShape.UNCONFIRMED),
    Sign.SUGGESTED: _mark(MarkShape.SUGGESTED),
    Sign.REVIEW: _paint_review,
    Sign.LOST: _mark(MarkShape.LOST),
    Sign.REMOVED: _paint_removed,
    Sign.CONFLICT: _paint_conflict,
    Sign.MAY_REFUSE: _verdict(TypeVerdict.MAY_REFUSE),
    Sign.REINTERPRETED: _verdict(TypeVerdict.REINTERPRETED),
    Sign.SHARE: _paint_share,
    Sign.DENSITY: _paint_density,
    Sign.ADDED: _paint_added,
    Sign.GONE: _paint_gone,
    Sign.CAME: _mark(MarkShape.ADDED),
    Sign.WENT: _mark(MarkShape.LOST),
    Sign.IGNORED: _paint_ignored,
    Sign.TINY: _paint_tiny,
    Sign.HIDDEN: _paint_hidden,
}
