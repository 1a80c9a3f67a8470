"""The rows of the panel of suggestions: what, why, and how sure, as a bar with its number.

A row is a candidate of a block, a suggestion of some block of the project, an entity that a schema may feed, or what
was refused; ``SuggestionView`` is the list with the keys that answer.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import QListView

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import RefusedSuggestion
from metl_gui.core.suggest.block import Candidate
from metl_gui.core.suggest.entities import EntityRank
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.text import path_of, version_words
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.rows import RIGHT, Index, RowDelegate, RowRoles, paint_words, quiet_ink
from metl_gui.values import Value
from metl_gui.workbench.mapping.suggestions import Suggestion, refusal_words


class SuggestionRow(Value):
    """One row.

    Args:
        title, facts: what is read.
        score: 0 to 1, ``None`` where there is none.
        candidate, entity, refusal, suggestion: what it stands for, one of the four.
    """

    title: str
    facts: str
    score: float | None = None
    candidate: Candidate | None = None
    entity: EntityRank | None = None
    refusal: RefusedSuggestion | None = None
    suggestion: Suggestion | None = None

    @property
    def spoken(self) -> str:
        """What a screen reader says."""
        what = "refused" if self.refusal is not None else "suggested"
        score = "" if self.score is None else f", {self.score:.2f}"
        return f"{self.title}, {what}{score}, {self.facts}"


def candidate_row(document: Document, key: BlockKey, candidate: Candidate) -> SuggestionRow:
    """Put a candidate into words: ``payer_id from customer_ref``."""
    target = path_of(document, Side.CDM, key[1], candidate.element.q)
    source = path_of(document, Side.EXTRACTION, key[0], candidate.element.p)
    return SuggestionRow(f"{target} from {source}", candidate.reason, candidate.score, candidate=candidate)


def entity_row(document: Document, rank: EntityRank) -> SuggestionRow:
    """Put an entity that a schema may feed into words."""
    alike = f"{number_of(rank.alike, 'attribute')} alike"
    facts = f"fed by this schema already, {alike}" if rank.is_fed else alike
    return SuggestionRow(version_words(document, Side.CDM, rank.entity_version), facts, rank.score, entity=rank)


def suggestion_row(suggestion: Suggestion) -> SuggestionRow:
    """Put a suggestion of some block into words, the block before the reason."""
    block, names = suggestion.block, suggestion.names
    facts = f"{block.schema} {block.version} → {block.entity} · {suggestion.reason}"
    return SuggestionRow(f"{names.to_path} from {names.from_path}", facts, suggestion.score, suggestion=suggestion)


def refusal_row(document: Document, refusal: RefusedSuggestion) -> SuggestionRow:
    """Put a refusal into words."""
    return SuggestionRow(*refusal_words(document, refusal), refusal=refusal)


def _spoken(row: SuggestionRow) -> str:
    return row.spoken


def _tip(row: SuggestionRow) -> str:
    return f"{row.title}\n{row.facts}"


SUGGESTION_ROLES = RowRoles(_spoken, _tip, {int(Qt.ItemDataRole.AccessibleTextRole): _spoken})
ROW_PX = 46
_BAR_PX = 36


class SuggestionDelegate(RowDelegate[SuggestionRow]):
    """Paints rows of suggestions."""

    kind, height_px, is_ruled = SuggestionRow, ROW_PX, True

    def paint_row(self, painter: QPainter, box: QRectF, index: Index, row: SuggestionRow, is_selected: bool) -> None:
        """Paint two lines, the score in both."""
        theme, px = themes.current(), themes.px
        left, right = box.left() + px(12), box.right() - px(12)
        first = QRectF(left, box.top() + px(4), right - left, px(20))
        second = QRectF(left, box.top() + px(23), right - left, px(18))
        if row.score is not None:
            first.setRight(_paint_number(painter, first, row.score) - px(8))
            second.setLeft(_paint_bar(painter, second, row.score) + px(8))
        middle = Qt.TextElideMode.ElideMiddle
        paint_words(painter, first, row.title, themes.scaled(1.0), theme.text, elide=middle)
        paint_words(painter, second, row.facts, themes.small(), quiet_ink(is_selected))


def _paint_number(painter: QPainter, line: QRectF, score: float) -> float:
    """Paint the number at the right end of a line and return where it begins."""
    painter.setFont(themes.mono())
    painter.setPen(themes.current().text)
    painter.drawText(line, RIGHT, f"{score:.2f}")
    return line.right() - QFontMetricsF(painter.font()).horizontalAdvance("0.00")


def _paint_bar(painter: QPainter, line: QRectF, score: float) -> float:
    """Paint the score as a bar at the left end of a line and return where it ends."""
    theme, width, height = themes.current(), themes.px(_BAR_PX), themes.px(5)
    trough = QRectF(line.left(), line.center().y() - height / 2, width, height)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.line)
    painter.drawRoundedRect(trough, height / 2, height / 2)
    painter.setBrush(theme.good)
    painter.drawRoundedRect(trough.adjusted(0, 0, -width * (1 - score), 0), height / 2, height / 2)
    return trough.right()


class SuggestionView(QListView):
    """A list in which Enter takes and Delete refuses.

    Signals:
        pressed_key: the ``Qt.Key``.
    """

    pressed_key = Signal(object)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Stand on no row while none is chosen; Qt would go to the first one."""
        super().focusInEvent(event)
        if not self.selectionModel().hasSelection():
            self.selectionModel().clearCurrentIndex()

    def event(self, event: QEvent) -> bool:
        """Keep the list's own keys from the actions of the window: Delete clears elements elsewhere."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_own(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tell Enter, Delete and Esc; the rest is the list's own."""
        if _is_own(event):
            self.pressed_key.emit(Qt.Key(event.key()))
        else:
            super().keyPressEvent(event)


def _is_own(event: QKeyEvent) -> bool:
    keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Delete, Qt.Key.Key_Escape)
    return Qt.Key(event.key()) in keys and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
