"""The panel of suggestions, its dock on the Map page, and the ghosts in matrix and block editor.

The panel has what is suggested for the block, the current attribute or the whole project, and what was refused.
"""

from __future__ import annotations

from enum import IntEnum

from PySide6.QtCore import QItemSelectionModel, QObject, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.ui.jobs.jobs import CommandResult, Jobs
from metl_gui.ui.map.page import MapPage
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import Selection
from metl_gui.ui.suggest.acceptance_dialog import AcceptanceDialog
from metl_gui.ui.suggest.project_list import ProjectSuggestionList
from metl_gui.ui.suggest.project_suggestions import ProjectSuggestions
from metl_gui.ui.suggest.rows import (
    SUGGESTION_ROLES,
    SuggestionDelegate,
    SuggestionRow,
    SuggestionView,
    candidate_row,
    entity_row,
    refusal_row,
)
from metl_gui.ui.suggest.suggestions import LEAST_GHOST, LEAST_OF_ALL, SelectionSuggestions
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.dialogs import show_about
from metl_gui.ui.widgets.dock import Dock, Surface
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.rows import RowsModel
from metl_gui.workbench.mapping.acceptance import Acceptance
from metl_gui.workbench.mapping.suggestions import Suggestion

_LONGEST_NAME, _NARROWEST = 24, 284
_LIST, _EMPTY, _PROJECT = range(3)
_PROJECT_SHARE = 0.65
"""Of the height of the page, for the list over the whole project."""
_SHORT_PX, _SHORT_SHARE = 760, 0.8
"""In pages lower than this the panel takes that share of the height, so that more than a few rows are in sight."""


class PanelSection(IntEnum):
    """What the list shows."""

    BLOCK = 0
    ATTRIBUTE = 1
    PROJECT = 2
    REFUSED = 3


class SuggestionPanel(Surface):
    """Lists suggestions and takes answers.

    Signals:
        told: title and facts for its dock.
        left: Esc was pressed in the list.
    """

    told = Signal(object)
    left = Signal()

    def __init__(
        self,
        project: OpenProject,
        suggestions: SelectionSuggestions,
        everywhere: ProjectSuggestions,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("panel", (300, 440), parent, share=(0.3, 0.55))
        self.setMinimumWidth(_NARROWEST)  # so that it keeps its width whichever buttons stand below
        self._project = project
        self._suggestions = suggestions
        self._everywhere = everywhere
        self._is_refreshing = False
        self.model = RowsModel(SUGGESTION_ROLES, self)
        self.parts = [KeyButton(words, kind="segment") for words in ("Block", "Attribute", "All", "Refused")]
        self._group = QButtonGroup(self)
        self.view = SuggestionView()
        self.empty = QLabel()
        self.stack = QStackedWidget()
        self.everything = ProjectSuggestionList(project, everywhere)
        self.accept = KeyButton("Accept", "Enter", "primary")
        self.refuse = KeyButton("Refuse", "Del")
        self.accept_all = KeyButton("")
        self._build()
        self._group.idClicked.connect(self._show_part)
        self.view.selectionModel().selectionChanged.connect(self._chosen)  # a click moves the cursor before it
        self.view.pressed_key.connect(self._pressed)
        self.view.doubleClicked.connect(self._take)
        self.accept.clicked.connect(self._take)
        self.refuse.clicked.connect(self._refuse)
        self.accept_all.clicked.connect(self._accept_all)
        suggestions.changed.connect(self.refresh)
        self.everything.view.pressed_key.connect(self._pressed)
        self.everything.view.doubleClicked.connect(self._take)
        self.everything.shown.connect(self._tell)

    @property
    def part(self) -> PanelSection:
        """What the list shows."""
        return PanelSection(self._group.checkedId())

    @property
    def current(self) -> SuggestionRow | None:
        """The row that is chosen; the focus alone chooses none."""
        if self.part is PanelSection.PROJECT:
            return self.everything.current
        chosen = self.view.selectionModel().selectedIndexes()
        return self.model.row_at(chosen[0]) if chosen else None

    def show_part(self, part: PanelSection) -> None:
        """Show something else."""
        self.parts[part].setChecked(True)
        self.refresh()

    def take_focus(self) -> None:
        """Put the keyboard on the list; nothing else is chosen by that."""
        view = self.everything.view if self.part is PanelSection.PROJECT else self.view
        at_hand = self.parts[self.part] if view.isHidden() else view
        at_hand.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to look for suggestions."""
        super().showEvent(event)
        self._suggestions.want(True)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """Look no more; a window that is only minimised keeps what it shows."""
        super().hideEvent(event)
        if not event.spontaneous():
            self._suggestions.want(False)
            self._everywhere.want(False)

    def refresh(self) -> None:
        """Show what is suggested now."""
        if not self.isVisible():
            self.model.show_rows(())
            return
        is_project = self.part is PanelSection.PROJECT
        self.stack.setCurrentIndex(_PROJECT if is_project else self.stack.currentIndex())
        self._everywhere.want(is_project)
        if is_project:
            self.everything.refresh()
            return
        rows = self._rows()
        at = self.view.currentIndex().row()
        self._is_refreshing = True
        try:
            self.model.show_rows(rows)
            self._stand(at)
        finally:
            self._is_refreshing = False
        self._tell()

    # what is listed

    def _rows(self) -> tuple[SuggestionRow, ...]:
        document, found, key = self._project.value, self._suggestions.found, self._suggestions.found.key
        if self.part is PanelSection.REFUSED:
            return tuple(refusal_row(document, refusal) for refusal in self._suggestions.refused)
        if key is None:
            return tuple(entity_row(document, rank) for rank in found.entities)
        current = self._suggestions.current
        listed = self._suggestions.of_attribute if self.part is PanelSection.ATTRIBUTE else self._suggestions.best
        if self.part is PanelSection.BLOCK and current is not None and current not in listed:
            listed = (current, *listed)  # what Enter accepts is always in sight
        return tuple(candidate_row(document, key, candidate) for candidate in listed)

    def _stand(self, at: int) -> None:
        """Stand on the current candidate, or else where the list stood."""
        current, flags = self._suggestions.current, QItemSelectionModel.SelectionFlag.ClearAndSelect
        found = next(
            (i for i, row in enumerate(self.model.rows) if row.candidate is not None and row.candidate == current), None
        )
        if found is None and self.part is PanelSection.REFUSED and self.model.rows:
            found = min(max(at, 0), len(self.model.rows) - 1)
        if found is None:
            self.view.selectionModel().clear()
        else:
            self.view.selectionModel().setCurrentIndex(self.model.index(found), flags)

    def _tell(self) -> None:
        rows, suggestions = self.model.rows, self._suggestions
        is_refused, can_edit = self.part is PanelSection.REFUSED, self._can_edit
        refused = len(suggestions.refused)
        self.parts[PanelSection.REFUSED].setText(f"Refused {refused:,}" if refused else "Refused")
        self.parts[PanelSection.REFUSED].updateGeometry()
        if self.part is not PanelSection.PROJECT:
            self.stack.setCurrentIndex(_LIST if rows else _EMPTY)
        self.empty.setText("" if rows else self._why_empty())
        current = self.current
        is_entity = any(row.entity is not None for row in rows)
        self.accept.setText("Restore" if is_refused else "Look at it" if is_entity else "Accept")
        self.accept.setEnabled(current is not None and (can_edit or is_entity))
        self._offer_key(not self._is_unlikely)
        self.refuse.setVisible(not is_refused)
        is_answerable = current is not None and (current.candidate or current.suggestion) is not None
        self.refuse.setEnabled(is_answerable and can_edit)
        sure = len(suggestions.sure)
        self.accept_all.setText(f"Accept {f'all {sure:,}' if sure > 1 else 'the one'} above {LEAST_OF_ALL:.2f}")
        self.accept_all.setVisible(self.part in (PanelSection.BLOCK, PanelSection.ATTRIBUTE) and sure > 0)
        self.accept_all.setEnabled(can_edit)
        self.accept_all.updateGeometry()
        self.told.emit(("Suggestions", self._facts()))

    def _facts(self) -> str:
        count = len(self.model.rows)
        if self.part is PanelSection.PROJECT:
            return self.everything.facts
        if self.part is PanelSection.REFUSED:
            return f"{count:,} refused" if count else ""
        if self._suggestions.found.version is None:
            return ""
        if self._suggestions.found.key is None:
            return f"{count:,} entit{'y' if count == 1 else 'ies'} alike"
        name = self._suggestions.attribute_words if self.part is PanelSection.ATTRIBUTE else ""
        return f"for {name}" if name and len(name) <= _LONGEST_NAME else f"{count:,} suggested"

    def _why_empty(self) -> str:
        found = self._suggestions.found
        if self.part is PanelSection.REFUSED:
            return "Nothing was refused. What you refuse is not suggested again, in any version, and stands here."
        if found.version is None:
            return "Select a schema version, or a block, to see what it may be mapped to."
        if found.key is None:
            return "No entity is like this schema."
        name = self._suggestions.attribute_words
        if self.part is PanelSection.ATTRIBUTE:
            return f"Nothing that is free looks like {name}." if name else "Select an attribute that is not mapped."
        return "Nothing that is free in this block looks alike."

    @property
    def _can_edit(self) -> bool:
        return self._project.can_edit

    # what people do

    def _show_part(self, _id: int) -> None:
        self.refresh()

    def _chosen(self, *_what: object) -> None:
        if self._is_refreshing:
            return
        row = self.current
        if row is not None and row.candidate is not None:
            self._suggestions.go_to(row.candidate)
        else:
            self._tell()

    def _pressed(self, key: Qt.Key) -> None:
        if key is Qt.Key.Key_Escape:
            self.left.emit()
        elif key is Qt.Key.Key_Delete:
            self.refuse.click()
        elif not self._is_unlikely:
            self.accept.click()

    def _offer_key(self, is_offered: bool) -> None:
        """Make the button that accepts the default one with a key, or a plain one."""
        self.accept.key = "Enter" if is_offered else ""
        self.accept.setProperty("kind", "primary" if is_offered else "")
        self.accept.style().unpolish(self.accept)
        self.accept.style().polish(self.accept)
        self.accept.updateGeometry()

    @property
    def _is_unlikely(self) -> bool:
        """Whether what is chosen was folded away: then no key accepts it, only the button."""
        row = self.current
        return row is not None and row.suggestion is not None and row.suggestion.score < LEAST_GHOST

    def _take(self, _what: object = None) -> None:
        row, suggestions = self.current, self._suggestions
        if row is None or not self.accept.isEnabled():
            return
        if row.candidate is not None:
            suggestions.accept(row.candidate)
        elif row.refusal is not None:
            suggestions.restore(row.refusal)
        elif row.entity is not None:
            suggestions.look_at(row.entity)
        elif row.suggestion is not None:
            suggestions.accept_in(row.suggestion.key, row.suggestion.element)

    def _accept_all(self) -> None:
        self._suggestions.accept_all()
        self.take_focus()

    def _refuse(self) -> None:
        row = self.current
        if row is not None and row.candidate is not None:
            self._suggestions.refuse(row.candidate)
        elif row is not None and row.suggestion is not None:
            self._suggestions.refuse_in(row.suggestion.key, row.suggestion.element)

    def _build(self) -> None:
        for at, button in enumerate(self.parts):
            button.setCheckable(True)
            button.setProperty("edge", ("first", "middle", "middle", "last")[at])
            button.set_height(24)
            self._group.addButton(button, at)
        self.parts[PanelSection.BLOCK].setChecked(True)
        self.view.setModel(self.model)
        self.view.setItemDelegate(SuggestionDelegate(self.view))
        self.view.setAccessibleName("Suggestions")
        self.view.setMouseTracking(True)
        self.view.setUniformItemSizes(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.empty.setProperty("kind", "dim")
        self.empty.setWordWrap(True)
        self.empty.setMargin(12)
        self.empty.setTextFormat(Qt.TextFormat.PlainText)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.stack.addWidget(self.view)
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.everything)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 2, 0, 10)
        layout.setSpacing(8)
        layout.addLayout(_row(*self.parts, spacing=0))
        layout.addWidget(self.stack, 1)
        layout.addLayout(_row(self.accept, self.refuse, spacing=8))
        layout.addLayout(_row(self.accept_all, spacing=8))


def _row(*buttons: QWidget, spacing: int) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setContentsMargins(12, 0, 12, 0)
    row.setSpacing(spacing)
    for button in buttons:
        row.addWidget(button)
    row.addStretch(1)
    return row


class SuggestionController(QObject):
    """Joins suggestions with the page.

    Signals:
        said: a ``CommandResult``.

    Args:
        page: gets the dock, below the CDM tree.
        jobs: where suggestions of large blocks are worked out.
    """

    said = Signal(object)

    def __init__(self, page: MapPage, project: OpenProject, selection: Selection, jobs: Jobs) -> None:
        super().__init__(page)
        self._page, self._project = page, project
        self.suggestions = SelectionSuggestions(project, selection, page.edits, jobs, self)
        self.everywhere = ProjectSuggestions(project, selection, self.suggestions, jobs, self)
        self.panel = SuggestionPanel(project, self.suggestions, self.everywhere)
        self.dock = Dock("suggestionDock", "Suggestions", self.panel)
        page.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
        page.splitDockWidget(page.target_dock, self.dock, Qt.Orientation.Vertical)
        self.dock.hide()
        self.suggestions.ghosts_changed.connect(page.matrix.show_ghosts)
        self.suggestions.ghosts_changed.connect(page.block.show_ghosts)
        self.suggestions.moved.connect(page.matrix.announce)
        self.suggestions.said.connect(self.said)
        self.suggestions.asked.connect(self.look_at_all)
        page.matrix.ghost_accepted.connect(self.suggestions.accept_ghost)
        page.matrix.ghosts_dismissed.connect(self.dismiss)
        self.panel.told.connect(self._tell)
        self.panel.left.connect(self._leave)
        self.panel.everything.accepting.connect(self.look_at_all)

    def show(self) -> None:
        """Show the panel with the keyboard on it."""
        is_opening = self.dock.isHidden()
        self.dock.show()
        self.dock.raise_()
        if is_opening and not self.dock.isFloating():
            wish = self.panel.sizeHint().height()
            if self._page.height() < themes.px(_SHORT_PX):
                wish = max(wish, round(_SHORT_SHARE * self._page.height()))
            self._page.resizeDocks([self.dock], [wish], Qt.Orientation.Vertical)
        self.panel.take_focus()

    def show_refused(self) -> None:
        """Show what was refused."""
        self.show()
        self.panel.show_part(PanelSection.REFUSED)

    def show_project(self) -> None:
        """Show the suggestions of the whole project, with the keyboard on the list."""
        self.show()
        self.panel.show_part(PanelSection.PROJECT)
        if not self.dock.isFloating():
            high = round(_PROJECT_SHARE * self._page.height())
            self._page.resizeDocks([self.dock], [max(high, self.dock.height())], Qt.Orientation.Vertical)
        self.panel.take_focus()

    def look_at_all(self, chosen: tuple[Suggestion, ...], least: float = LEAST_OF_ALL) -> AcceptanceDialog | None:
        """Let people look at what accepting suggestions of many blocks would do, and do it.

        Args:
            chosen: the suggestions.
            least: all of them are scored so or more.
        """
        if self._project.workbench is None or not chosen:
            return None
        which, edits = f"above {least:.2f}", self._page.edits
        dialog = AcceptanceDialog(self._project, self._project.workbench, chosen, which, edits, self._page)
        dialog.wanted.connect(self._accept_all)
        show_about(self._project, dialog)
        return dialog

    def _accept_all(self, plan: Acceptance) -> None:
        if self._project.do(plan.edit):
            count, blocks = number_of(len(plan.accepted), "suggestion"), number_of(plan.blocks, "block")
            more = f", and {number_of(plan.carried, 'element')} in other versions" if plan.carried else ""
            self.said.emit(CommandResult(f"{count} accepted in {blocks}{more}.", "Undo", self._project.undo))
            self.panel.take_focus()

    def dismiss(self) -> None:
        """Take the ghosts away; without the panel nothing is looked for until somebody asks again."""
        if self.panel.isVisible():
            self.suggestions.dismiss()
        else:
            self.suggestions.want(False)

    def _leave(self) -> None:
        self._page.matrix.setFocus(Qt.FocusReason.OtherFocusReason)

    def _tell(self, told: tuple[str, str]) -> None:
        self.dock.say(*told)
