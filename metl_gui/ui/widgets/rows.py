"""Lists of rows: one model for all of them, and what their delegates have in common.

``RowsModel`` holds rows of one kind and ``HeadedModel`` such rows below headings; what a row answers to Qt is told by
``RowRoles``. ``RowDelegate`` paints the tint behind a row, and leaves its content to ``paint_row``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any, Generic, TypeAlias, TypeVar, cast

import msgspec
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.pill import paint_pill, pill_width
from metl_gui.ui.widgets.plain_text import left_to_right, plain_tip
from metl_gui.values import Value

Index: TypeAlias = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
HEADING_ROLE = ROW_ROLE + 8
LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
_DISPLAY, _TIP = int(Qt.ItemDataRole.DisplayRole), int(Qt.ItemDataRole.ToolTipRole)


class RowRoles(Value, Generic[Row]):
    """What a row answers to Qt; itself it is the answer to ``ROW_ROLE``.

    Args:
        spoken: its text, as it is read aloud.
        tip: what it says when it is pointed at.
        others: its answers to other roles.
        key: what tells it from other rows.
    """

    spoken: Callable[[Row], str]
    tip: Callable[[Row], str] | None = None
    others: Mapping[int, Callable[[Row], Any]] = msgspec.field(default_factory=dict)
    key: Callable[[Row], object] = id


class RowsModel(QAbstractListModel, Generic[Row]):
    """Rows of one kind.

    Args:
        roles: what a row answers.
    """

    def __init__(self, roles: RowRoles[Row], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._roles = roles
        self.rows: tuple[Row, ...] = ()
        self.places: dict[Any, int] = {}

    def show_rows(self, rows: Iterable[Row]) -> None:
        """Show other rows; the same ones stay as they are, with what is selected of them."""
        rows = tuple(rows)
        if rows != self.rows:
            self.reset_rows(rows)

    def grow_rows(self, rows: Iterable[Row]) -> None:
        """Show rows around those of before, which stay where they are; other rows where those are not among them."""
        rows = tuple(rows)
        old, new = [self._roles.key(row) for row in self.rows], [self._roles.key(row) for row in rows]
        above = new.index(old[0]) if old and old[0] in new else -1
        if above < 0 or new[above : above + len(old)] != old:
            self.reset_rows(rows)
            return
        self.insert_rows(0, rows[:above])
        self.insert_rows(len(self.rows), rows[len(self.rows) :])
        self.change_rows(rows)

    def reset_rows(self, rows: Iterable[Row]) -> None:
        """Show other rows, of which none is selected."""
        self.beginResetModel()
        self._keep(tuple(rows))
        self.endResetModel()

    def change_rows(self, rows: Iterable[Row]) -> None:
        """Say other things of the same rows."""
        self._keep(tuple(rows))
        if self.rows:
            self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))

    def insert_rows(self, at: int, rows: tuple[Row, ...]) -> None:
        """Put rows before the one in a place."""
        if rows:
            self.beginInsertRows(QModelIndex(), at, at + len(rows) - 1)
            self._keep(self.rows[:at] + rows + self.rows[at:])
            self.endInsertRows()

    def remove_row(self, at: int) -> None:
        """Take the row out of a place."""
        self.beginRemoveRows(QModelIndex(), at, at)
        self._keep(self.rows[:at] + self.rows[at + 1 :])
        self.endRemoveRows()

    def row_at(self, index: Index) -> Row | None:
        """Return what an index stands for."""
        return self.rows[index.row()] if index.isValid() and index.row() < len(self.rows) else None

    def row_of(self, key: object) -> int | None:
        """Return where the row with a key stands."""
        return self.places.get(key)

    def index_of(self, key: object) -> QModelIndex:
        """Return the index of the row with a key, an invalid one where there is none."""
        return self.index(self.places.get(key, -1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the rows."""
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = _DISPLAY) -> Any:
        """Return what a row answers to a role."""
        row, roles = self.row_at(index), self._roles
        if row is None or role == ROW_ROLE:
            return row
        if role == _DISPLAY:
            return roles.spoken(row)
        if role == _TIP:
            return plain_tip(roles.tip(row)) if roles.tip is not None else None
        return roles.others[role](row) if role in roles.others else None

    def _keep(self, rows: tuple[Row, ...]) -> None:
        self.rows = rows
        self.places = {self._roles.key(row): at for at, row in enumerate(rows) if not isinstance(row, Heading)}


class Heading(Value):
    """A row that only says what the rows below it have in common.

    Args:
        words: what they have in common.
        facts: a few words at the right.
    """

    words: str
    facts: str = ""

    @property
    def spoken(self) -> str:
        """What a screen reader says."""
        return f"{self.words}, {self.facts}" if self.facts else self.words


class HeadedModel(RowsModel[Row | Heading], Generic[Row]):
    """Rows below headings, which cannot be chosen.

    Args:
        roles: what a row answers that is no heading.
    """

    def __init__(self, roles: RowRoles[Row], parent: QObject | None = None) -> None:
        super().__init__(cast("RowRoles[Row | Heading]", roles), parent)  # which headings are not asked for

    def row_at(self, index: Index) -> Row | None:
        """Return what an index stands for; ``None`` for a heading."""
        row = super().row_at(index)
        return None if isinstance(row, Heading) else row

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Only rows can be chosen."""
        return super().flags(index) if self.row_at(index) is not None else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = _DISPLAY) -> Any:
        """Return what a row or a heading answers to a role."""
        heading = super().row_at(index)
        if isinstance(heading, Heading):
            return {HEADING_ROLE: heading, _DISPLAY: heading.spoken}.get(role)
        return super().data(index, role)


def below_headings(rows: Iterable[Row], section_of: Callable[[Row], str]) -> tuple[Row | Heading, ...]:
    """Put a heading above the rows of each section; those of one must stand together, those of none have none."""
    found: list[Row | Heading] = []
    for section, members in groupby(rows, section_of):
        found += [Heading(section)] if section else []
        found += members
    return tuple(found)


class RowDelegate(QStyledItemDelegate, Generic[Row]):
    """Paints rows of one height.

    A special one sets ``kind``, the class of its rows; ``role``, which gives them; ``height_px`` of each at the scale
    of 1; and ``is_ruled``, whether a line stands below each.
    """

    kind: type[Row]
    role = ROW_ROLE
    height_px = 28
    is_ruled = False

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Every row is equally high."""
        return QSize(120, themes.px(self.height_px))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row, or a heading."""
        row, box = index.data(self.role), QRectF(option.rect)
        painter.save()
        if isinstance(row, self.kind):
            self.paint_ground(painter, option, index, row)
            is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
            self.paint_row(painter, box, index, row, is_selected)
        elif isinstance(heading := index.data(HEADING_ROLE), Heading):
            self.paint_heading(painter, box, heading)
        painter.restore()

    def paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, row: Row) -> None:
        """Paint what lies behind a row: the tint of selection and hover, and the line below it."""
        paint_row_background(painter, option)
        if self.is_ruled:
            box = QRectF(option.rect)
            painter.setPen(themes.current().line)
            painter.drawLine(box.bottomLeft(), box.bottomRight())

    def paint_row(self, painter: QPainter, box: QRectF, index: Index, row: Row, is_selected: bool) -> None:
        """Paint the content of a row."""
        raise NotImplementedError

    def paint_heading(self, painter: QPainter, box: QRectF, heading: Heading) -> None:
        """Paint a heading, where the list has any."""


def paint_row_background(painter: QPainter, option: QStyleOptionViewItem) -> None:
    """Paint the tint of selection and hover behind one row of any tree or list."""
    theme, box = themes.current(), QRectF(option.rect)
    if option.state & QStyle.StateFlag.State_Selected:
        painter.fillRect(box, theme.sel)
    elif option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(box, theme.band)


def quiet_ink(is_selected: bool) -> QColor:
    """Return the colour of secondary text of a row."""
    return themes.current().text if is_selected else themes.current().dim


def paint_words(
    painter: QPainter,
    box: QRectF,
    words: str,
    font: QFont,
    ink: QColor,
    side: Qt.AlignmentFlag = LEFT,
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> float:
    """Paint a line of words, cut where the box has no room for them, and return how wide it is, in pixels."""
    painter.setFont(font)
    painter.setPen(ink)
    metrics = QFontMetricsF(painter.font())
    shown = metrics.elidedText(left_to_right(words), elide, box.width())
    painter.drawText(box, side, shown)
    return metrics.horizontalAdvance(shown)


def paint_right_pill(painter: QPainter, box: QRectF, words: str, kind: str) -> float:
    """Paint a pill into the right end of a box and return where it begins."""
    left = box.right() - pill_width(words)
    paint_pill(painter, QRectF(left, box.top(), box.right() - left, box.height()), words, kind)
    return left
