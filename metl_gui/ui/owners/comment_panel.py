"""Comments on what is selected: read, written and removed beside the states of the project.

``subjects_of`` lists what of a selection can be commented on, and what it is called.
"""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comment, CommentSubject, block_subject, element_subject, node_subject
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import UserError
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.selection import NodeRef, Selected, Selection, still_there
from metl_gui.ui.project.text import block_words
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import has_link, linked, plain_label


def subjects_of(
    document: Document, selected: Selected, side: Side | None = None
) -> tuple[tuple[str, CommentSubject], ...]:
    """List the words and subjects of a selection, the most special first.

    Args:
        document: what is shown.
        selected: what is selected.
        side: the tree whose node comes first, where only that one was chosen just now.
    """
    selected = still_there(document, selected)
    nodes = {each: _of_node(document, each, place) for each in Side if (place := selected.on(each)) is not None}
    pairs = _of_block(document, selected)
    first = nodes.pop(side, []) if side is not None else []
    return (*first, *pairs, *(pair for found in nodes.values() for pair in found))


def _of_block(document: Document, selected: Selected) -> list[tuple[str, CommentSubject]]:
    key, element = selected.block, selected.element
    if key is None:
        return []
    found: list[tuple[str, CommentSubject]] = []
    if element is not None:
        source = document.extraction.version(key[0]).attribute(element.p)
        target = document.cdm.version(key[1]).attribute(element.q)
        if source is not None and target is not None:
            found.append((f"{source.path} → {target.path}", element_subject(document, key, element)))
    return [*found, (block_words(document, key), block_subject(document, key))]


def _of_node(document: Document, side: Side, place: NodeRef) -> list[tuple[str, CommentSubject]]:
    name = document.tree(side).schema(place.schema).name
    found: list[tuple[str, CommentSubject]] = []
    version = document.tree(side).find_version(place.version) if place.version is not None else None
    attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
    if version is not None and attribute is not None:
        subject = node_subject(document, side, place.schema, version.id, attribute.id)
        found.append((f"{attribute.path} of {name}", subject))
    return [*found, (name, node_subject(document, side, place.schema))]


_DATE = "%d %b %Y, %H:%M"


class CommentPanel(Surface):
    """Follows the selection; what the comments are about can be chosen among what is selected.

    Signals:
        told: a ``str``, how many comments there are on what is shown.
        link_wanted: the text of a link in a comment that was clicked.
    """

    told = Signal(object)
    link_wanted = Signal(object)

    def __init__(self, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("panel", (284, 290), parent, share=(0.2, 0.4))
        self._project, self._selection = project, selection
        self._last = Selected()
        self._subjects: tuple[tuple[str, CommentSubject], ...] = ()
        self._written: dict[CommentSubject, str] = {}  # about what is not in front
        self._written_about: CommentSubject | None = None
        self._project_id = ""
        self.about = ThemedComboBox()
        self.about.setAccessibleName("What the comments are about")
        self.about.setSizeAdjustPolicy(ThemedComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.text = CommentText()
        self.text.setPlaceholderText("Write a comment…")
        self.text.setAccessibleName("New comment")
        self.text.setTabChangesFocus(True)
        self.add = KeyButton("Add comment", "Ctrl+Enter", "primary")
        self.empty = QLabel("Select a schema, an attribute or a cell to see what was said of it.")
        self.empty.setProperty("kind", "dim")
        self.empty.setWordWrap(True)
        self.cards: list[CommentCard] = []
        self._build()
        self.about.currentIndexChanged.connect(self.refresh)
        self.text.textChanged.connect(self._enable)
        self.add.clicked.connect(self.write)
        selection.changed.connect(self._selected)
        project.opened.connect(self._opened)
        PanelUpdater(project, self, self._changed)
        project.commented.connect(self.refresh)
        self._fill(Selected(), Side.EXTRACTION)

    @property
    def subject(self) -> CommentSubject | None:
        """What the comments are about."""
        at = self.about.currentIndex()
        return self._subjects[at][1] if 0 <= at < len(self._subjects) else None

    def write(self) -> None:
        """Keep what was written."""
        workbench, subject, text = self._project.workbench, self.subject, self.text.toPlainText().strip()
        if workbench is None or subject is None or not text:
            return
        try:
            workbench.add_comment(subject, text)
        except UserError as error:
            self._project.refused.emit(error)
            return
        self.text.clear()
        self._project.read_comments_again()

    def take_focus(self) -> None:
        """Give the keyboard to the new comment."""
        self.text.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def refresh(self) -> None:
        """Show what was said of the subject."""
        subject = self.subject
        self._change_text(subject)
        found = self._project.comments().of(subject) if subject is not None else ()
        for card in self.cards:
            card.setParent(None)
            card.deleteLater()
        self.cards = [CommentCard(comment) for comment in found]
        for at, card in enumerate(self.cards):
            card.removed.connect(self._remove)
            card.link_wanted.connect(self.link_wanted)
            self._list.insertWidget(at, card)
        nothing = "Nobody has said anything of it yet." if subject is not None else _NOTHING
        self.empty.setText(nothing)
        self.empty.setVisible(not self.cards)
        self.told.emit(str(len(found)) if found else "")
        self._enable()

    def _change_text(self, subject: CommentSubject | None) -> None:
        """Put what is written about one thing aside, and bring what was written about another."""
        before, self._written_about = self._written_about, subject
        if before == subject:
            return
        if before is not None and self.text.toPlainText():
            self._written[before] = self.text.toPlainText()
        self.text.setPlainText(self._written.pop(subject, "") if subject is not None else "")

    def _remove(self, comment: Comment) -> None:
        workbench = self._project.workbench
        if workbench is None:
            return
        try:
            workbench.kept.comments.remove(comment.id)
        except UserError as error:
            self._project.refused.emit(error)
            return
        self._project.read_comments_again()

    def _enable(self) -> None:
        workbench = self._project.workbench
        can_write = workbench is not None and workbench.is_for_editing and self.subject is not None
        self.text.setEnabled(can_write)
        self.about.setEnabled(bool(self._subjects))
        self.add.setEnabled(can_write and bool(self.text.toPlainText().strip()))
        for card in self.cards:
            card.remove.setEnabled(can_write)

    def _opened(self, _workbench: object) -> None:
        workbench = self._project.workbench
        if workbench is not None and workbench.project_id != self._project_id:
            self._project_id = workbench.project_id
            self._written.clear()
            self._written_about = None
            self.text.clear()
        self._fill(Selected(), Side.EXTRACTION)

    def _changed(self) -> None:
        self._fill(self._selection.current, None, kept=self.subject)

    def _selected(self, selected: Selected) -> None:
        before, self._last = self._last, selected
        sides = [side for side in Side if before.on(side) != selected.on(side)]
        self._fill(selected, sides[0] if len(sides) == 1 else None)

    def _fill(self, selected: Selected, side: Side | None, kept: CommentSubject | None = None) -> None:
        """Offer what is selected; where only one side changed, its node comes first.

        Args:
            selected: what is selected.
            side: the side that changed, ``None`` for both or neither.
            kept: what was shown and is to stay, where it is still offered; by its words, where a newer state names it
                in another way.
        """
        words = self.about.currentText()
        self._subjects = subjects_of(self._project.value, selected, side)
        self.about.blockSignals(True)
        self.about.clear()
        self.about.addItems([words for words, _ in self._subjects])
        at = 0
        if kept is not None:
            same = (at for at, (_, subject) in enumerate(self._subjects) if subject == kept)
            at = next(same, self.about.findText(words))
        self.about.setCurrentIndex(max(at, 0) if self._subjects else -1)
        self.about.blockSignals(False)
        if kept is not None and at >= 0 and self._written_about is not None:
            self._written_about = self.subject  # the same, as a newer state names it
        self.refresh()

    def _build(self) -> None:
        inner = Surface("panel", (200, 100))
        self._list = QVBoxLayout(inner)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(6)
        self._list.addWidget(self.empty)
        self._list.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(inner)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.add)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 2, 12, 10)
        layout.setSpacing(6)
        layout.addWidget(self.about)
        layout.addWidget(scroll, 1)
        layout.addWidget(self.text)
        layout.addLayout(foot)
        self.text.setMaximumHeight(70)
        self.text.written.connect(self.write)


class CommentText(QPlainTextEdit):
    """Where a comment is written; Ctrl+Enter ends it, whatever the window does with that key.

    Signals:
        written: the comment is to be kept.
    """

    written = Signal()

    def event(self, event: QEvent) -> bool:
        """Keep Ctrl+Enter from the window's own actions."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _ends(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """End the comment, or write."""
        if _ends(event):
            self.written.emit()
        else:
            super().keyPressEvent(event)


def _ends(event: QKeyEvent) -> bool:
    is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    return is_enter and bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)


class CommentCard(QFrame):
    """One comment with who and when.

    Signals:
        removed: the ``Comment`` that is to go.
        link_wanted: the text of a link that was clicked.
    """

    removed = Signal(object)
    link_wanted = Signal(object)

    def __init__(self, comment: Comment, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.comment = comment
        self.setProperty("surface", "card")
        when = datetime.fromtimestamp(comment.when_ms / 1000).astimezone().strftime(_DATE)
        head = QLabel(f"{comment.who} · {when}")
        head.setProperty("kind", "small")
        head.setTextFormat(Qt.TextFormat.PlainText)
        words = plain_label(comment.text)
        words.setWordWrap(True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if has_link(comment.text):
            words.setTextFormat(Qt.TextFormat.RichText)
            words.setText(linked(comment.text))
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
            words.linkActivated.connect(self.link_wanted.emit)
        self.remove = KeyButton("Remove", kind="link")
        self.remove.set_height(20)
        self.remove.setAccessibleName(f"Remove the comment of {comment.who}")
        self.remove.clicked.connect(self._remove)
        row = QHBoxLayout()
        row.addWidget(head, 1)
        row.addWidget(self.remove)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 6, 10, 8)
        layout.setSpacing(2)
        layout.addLayout(row)
        layout.addWidget(words)

    def _remove(self) -> None:
        self.removed.emit(self.comment)


_NOTHING = "Select a schema, an attribute or a cell to see what was said of it."
