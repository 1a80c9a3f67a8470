"""The rows of one list of a block: the Qt model, the delegate, and what is said of attributes and blocks.

A row has a mark, the name, what is new, and the type dim at the right.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from operator import attrgetter

from PySide6.QtCore import QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.core.matrix.blocks import Block, Status
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.type_verdicts import TypeVerdict
from metl_gui.ui.block.lines import ROW_PX
from metl_gui.ui.project.block_lists import ListRow
from metl_gui.ui.project.text import verdict_words
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.marks import MarkShape, paint_bubble, paint_mark, paint_verdict
from metl_gui.ui.widgets.pill import paint_pill, pill_width
from metl_gui.ui.widgets.rows import LEFT, RIGHT, Index, RowDelegate, RowRoles, RowsModel


def row_words(row: ListRow, side: Side, joint: str, values: str = "") -> str:
    """Say everything of an attribute, for its tooltip and for screen readers.

    Args:
        row: the attribute.
        side: of which list.
        joint: what stands between two parts.
        values: a line on its sample values.
    """
    attribute = row.attribute
    need = "optional" if attribute.optional else "required"
    key = ", part of the key" if row.is_key else ""
    parts = [attribute.path, f"{attribute.type_text}, {need}{key}{', new in this version' if row.is_new else ''}"]
    if row.partner is not None:
        joined = "goes to" if side is Side.EXTRACTION else "comes from"
        parts.append(
            ", ".join(filter(None, (f"{joined} {row.partner.path}", row.refused or verdict_words(row.verdict))))
        )
    else:
        parts.append(f"not mapped: {row.lost}" if row.lost else "not mapped")
    if row.note.is_masked:
        parts.append("masked: its values are not shown")
    parts += [text for text in (row.note.ignored, values, attribute.doc, row.note.comment) if text]
    return joint.join(parts)


def detail_words(row: ListRow, side: Side, value: str = "") -> str:
    """Say the few words that stand behind a name: a sample value where one is shown, and the type."""
    parts = [*(["lost"] if row.lost else []), *([value] if value and not row.note.is_masked else [])]
    parts.append(row.attribute.type_text)
    parts += ["key"] if row.is_key else []
    parts += ["required"] if side is Side.CDM and not row.attribute.optional else []
    parts += ["masked"] if row.note.is_masked else []
    parts += ["ignored"] if row.note.ignored else []
    return " · ".join(parts)


def status_words(block: Block | None) -> tuple[str, str, str]:
    """Say what state a block is in.

    Returns:
        A pill, its kind, and who set the state when.
    """
    if block is None:
        return "not mapped", "plain", ""
    who = stamp_words(block.who, block.when_ms)
    if block.status is Status.RETIRED:
        return "retired", "plain", who
    if block.open_losses or block.waits:
        return block.verdict.value, "bad" if block.verdict.value == "emptied" else "review", who
    return block.status.value, "accent" if block.status is Status.CONFIRMED else "plain", who


def stamp_words(who: str, when_ms: int) -> str:
    """Say who and when, in local time."""
    if not when_ms:
        return who
    when = datetime.fromtimestamp(when_ms / 1000).astimezone()
    return f"{who}, {when:%Y-%m-%d %H:%M}" if who else f"{when:%Y-%m-%d %H:%M}"


def note_words(block: Block | None, is_newest: bool, comment: str = "") -> str:
    """Say what one must know before editing a block; without that, the newest comment on it; empty for nothing."""
    if block is not None and block.status is Status.RETIRED:
        count = len(block.retired)
        gone = f" Its {_elements(count)} went with that decision." if count else ""
        back = "Mapping an attribute brings it back." if is_newest else ""
        return f"Retired: this schema feeds this entity no more.{gone} {back}".strip()
    if not is_newest:
        return "Not the newest version of the entity: its elements cannot be changed."
    if block is not None and block.open_losses:
        lost = ", ".join(loss.to_path for loss in block.open_losses)
        return f"Lost and not decided on: {lost}."
    if block is not None and block.waits:
        return "Waits for a person, although nothing was lost."
    said = comment or (block.comment if block is not None else "")
    return f"“{said}”" if said else ""


def _elements(count: int) -> str:
    return "one element" if count == 1 else f"{count:,} elements"


class ListModel(RowsModel[ListRow]):
    """The attributes of one side of a block.

    Args:
        side: which one.
    """

    def __init__(self, side: Side, parent: QObject | None = None) -> None:
        spoken = {int(Qt.ItemDataRole.AccessibleTextRole): partial(self._words, ", ")}
        super().__init__(RowRoles(_path, partial(self._words, "\n"), spoken, attrgetter("id")), parent)
        self.side = side
        self.status: Status | None = None
        self.values: Mapping[int, str] = {}
        self.tips: Mapping[int, str] = {}

    def show_values(self, values: Mapping[int, str], tips: Mapping[int, str]) -> None:
        """Say other sample values of the attributes.

        Args:
            values: what stands beside the names, by attribute id; empty where values are not shown.
            tips: a line for the tooltip of each.
        """
        self.values, self.tips = values, tips
        self.change_rows(self.rows)

    def show(self, rows: tuple[ListRow, ...], status: Status | None) -> bool:
        """Show other rows; where they are the same attributes, only what is said of them changes.

        Returns:
            Whether they are others, which have to be laid out.
        """
        self.status = status
        if [row.id for row in rows] == [row.id for row in self.rows]:
            self.change_rows(rows)
            return False
        self.reset_rows(rows)
        return True

    def _words(self, joint: str, row: ListRow) -> str:
        return row_words(row, self.side, joint, self.tips.get(row.id, "") if not row.note.is_masked else "")


def _path(row: ListRow) -> str:
    return row.attribute.path


_GAP = 2.0


class AttributeDelegate(RowDelegate[ListRow]):
    """Paints rows from their ``ListRow``, as high as the lines reckon with.

    ``below`` is the row on which dragged fields would be dropped, -1 for none.

    Args:
        side: which list it paints.
    """

    kind, height_px = ListRow, ROW_PX

    def __init__(self, side: Side, parent: QStyledItemDelegate | None = None) -> None:
        super().__init__(parent)
        self._side = side
        self.below = -1

    def paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, row: ListRow) -> None:
        """Paint the frame of a row."""
        _paint_ground(painter, _inside(QRectF(option.rect)), row, option, index.row() == self.below)

    def paint_row(self, painter: QPainter, box: QRectF, index: Index, row: ListRow, is_selected: bool) -> None:
        """Paint the mark and the words."""
        model, box, size = index.model(), _inside(box), themes.px(9)
        if not isinstance(model, ListModel):
            return
        mark = QRectF(box.left() + size, box.center().y() - size / 2, size, size)
        paint_mark(painter, mark, mark_of(row, model.status), themes.current())
        paint_verdict(painter, mark, TypeVerdict.MAY_REFUSE if row.refused else row.verdict, themes.current())
        detail = detail_words(row, self._side, model.values.get(row.id, ""))
        _paint_words(painter, box.adjusted(3 * size, 0, -8, 0), row, detail, is_selected)


def _inside(box: QRectF) -> QRectF:
    return box.adjusted(0.5, _GAP, -0.5, -_GAP)


def mark_of(row: ListRow, status: Status | None) -> MarkShape:
    """Return the mark of an attribute in a block of some status."""
    if row.lost:
        return MarkShape.LOST
    if row.partner is None:
        return MarkShape.IGNORED if row.note.ignored else MarkShape.HOLLOW
    if status is Status.UNCONFIRMED:
        return MarkShape.UNCONFIRMED
    return MarkShape.NEW if row.is_new else MarkShape.MAPPED


def _paint_ground(painter: QPainter, box: QRectF, row: ListRow, option: QStyleOptionViewItem, is_below: bool) -> None:
    theme = themes.current()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.band)
    if row.lost:
        pen = QPen(theme.review_outline[0], 1.3, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([2.6, 2.0])
        painter.setPen(pen)
        painter.setBrush(theme.reviewbg)
    if is_below:
        painter.setPen(QPen(theme.accent, 2))
    elif option.state & QStyle.StateFlag.State_Selected:
        painter.setBrush(theme.sel)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme.accent, 2))
            box = box.adjusted(0.5, 0.5, -0.5, -0.5)
    elif option.state & QStyle.StateFlag.State_MouseOver and not row.lost:
        painter.setPen(QPen(theme.accent, 1))
    painter.drawRoundedRect(box, 4, 4)


def _paint_words(painter: QPainter, box: QRectF, row: ListRow, told: str, is_selected: bool) -> None:
    theme = themes.current()
    name_font, detail_font = themes.scaled(1.0), themes.scaled(0.88)
    metrics, small = QFontMetricsF(name_font), QFontMetricsF(detail_font)
    shows_new = row.is_new and row.partner is None and not row.lost
    pill = pill_width("new") + 6 if shows_new else 0.0
    bubble = 16.0 if row.note.comment else 0.0
    path = row.attribute.path
    wish = metrics.horizontalAdvance(path)
    room = max(0.0, box.width() - min(wish, box.width() * 0.66) - pill - bubble - 10)
    detail = small.elidedText(told, Qt.TextElideMode.ElideRight, room) if room >= 24 else ""
    taken = small.horizontalAdvance(detail) + 8 if detail else 0.0
    name = metrics.elidedText(path, Qt.TextElideMode.ElideMiddle, box.width() - taken - pill - bubble)
    painter.setFont(name_font)
    painter.setPen(theme.text if is_selected or not row.lost else theme.review)
    painter.drawText(box, LEFT, name)
    at = box.left() + metrics.horizontalAdvance(name) + 7
    if shows_new:
        paint_pill(painter, QRectF(at, box.top() + 2, pill - 6, box.height() - 4), "new", "good")
        at += pill
    if row.note.comment:
        paint_bubble(painter, QPointF(at, box.center().y()), theme)
    painter.setFont(detail_font)
    painter.setPen(theme.text if is_selected or row.lost else theme.dim)
    painter.drawText(box, RIGHT, detail)
