"""The CDM editor: the attributes of an entity as a table, what a new version would do to blocks, and the one button."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QSplitter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.changes.draft import Edit
from metl_gui.core.counted import number_of
from metl_gui.core.edits.entities import AddEntity, ChangeEntity, check_name, declared
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.errors import EditError
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.owners.entity_table import (
    DOC,
    KEY,
    PATH,
    REQUIRED,
    TYPE,
    EntityCellDelegate,
    EntityTable,
    TickDelegate,
    TypeDelegate,
)
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.text import some_lines
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.edit_preview import PreviewPane
from metl_gui.ui.widgets.empty_bar import BarOfRows
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.workbench.model.edit_effects import EditOutcome
from metl_gui.workbench.model.pasted_attributes import read_attributes

_SHOWN = 4
NEW_ENTITY = 0
"""Stands for an entity that is yet to be made."""


class EntityDialog(FittedDialog):
    """Collects changes of one entity; its button makes them one version and one undo step.

    Signals:
        wanted: the ``Edit`` to do.

    Args:
        project: read anew whenever it changes.
        jobs: where the preview is worked out.
        entity: id of the entity to begin with, ``NEW_ENTITY`` for a new one.
        like: name, attributes and key that a new entity begins with.
    """

    wanted = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        jobs: Jobs,
        entity: int = NEW_ENTITY,
        parent: QWidget | None = None,
        like: tuple[str, tuple[AttributeDeclaration, ...], tuple[str, ...]] = ("", (), ()),
    ) -> None:
        super().__init__(parent)
        self._project = project
        self._document = project.value
        self._entity = entity
        self._wants_done = self._is_touched = False
        self._workbench = project.workbench
        self.chooser = ThemedComboBox()
        self.chooser.setAccessibleName("Entity")
        self.chooser.setMinimumWidth(themes.px(220))
        self.name = QLineEdit()
        self.name.setAccessibleName("Name of the new entity")
        self.name.setPlaceholderText("Name, such as payment")
        self.table = EntityTable(self)
        self.view = _table_view(self.table)
        self.preview = PreviewPane(jobs)
        self.do = KeyButton("", "Ctrl+Enter", "primary")
        self.cancel = KeyButton("Cancel", "Esc")
        self.add_button, self.remove_button = KeyButton("Add attribute", "Ins"), KeyButton("Remove", "Ctrl+Del")
        self.paste_button = KeyButton("Paste a list", "Ctrl+V")
        self.paste_button.setToolTip("Names and types from a table, a CSV file or CREATE TABLE, one attribute a line")
        self.hint = plain_label("", "small")
        self.up, self.down = KeyButton("Up", "Alt+↑"), KeyButton("Down", "Alt+↓")
        self._build()
        self._connect()
        self._fill_chooser()
        self._show_entity()
        if like[1]:
            self.name.setText(like[0])
            self.table.paste(-1, like[1], like[2])
            self._is_touched = False
            self._choose(0)

    @property
    def edit(self) -> Edit:
        """The edit that the dialog stands for now.

        Raises:
            EditError: it is none yet.
        """
        attributes = self.table.declared()
        if self._entity == NEW_ENTITY:
            name = self.name.text().strip()
            check_name(name)
            return AddEntity(name, attributes, key=self.table.key or None)
        return ChangeEntity(self._entity, attributes, key=self._key())

    def _key(self) -> tuple[str, ...] | None:
        """Return what is ticked, ``None`` where nothing is and nothing was."""
        newest = self._document.cdm.newest(self._entity)
        return self.table.key or (() if newest is not None and newest.key else None)

    def accept(self) -> None:
        """Do what the dialog says and close; what was not judged yet is judged first, what cannot be done stays."""
        self._end_editing()
        if not self.do.isEnabled():
            self._wants_done = True
            self.preview.work_out()
            return
        try:
            edit = self.edit
        except EditError:
            return
        self.wanted.emit(edit)
        super().accept()

    def reject(self) -> None:
        """Close; what was written is not lost unasked, unless the project it was for is not the one in front now."""
        is_of_project = self._project.workbench is self._workbench
        name = self.name.text().strip() if self._entity == NEW_ENTITY else self.chooser.currentText()
        if not is_of_project or not self._is_touched or self._leaves_changes(name or "the new entity"):
            super().reject()

    def dress(self) -> None:
        """Follow the scale."""
        self.view.verticalHeader().setDefaultSectionSize(themes.px(28))

    def showEvent(self, event: QShowEvent) -> None:
        """Begin with the keyboard where one writes."""
        super().showEvent(event)
        self._take_focus()

    # the table

    def add_attribute(self) -> None:
        """Put a new attribute behind the current one and write its path."""
        self._end_editing()
        row = self.table.add(self._row())
        at = self.table.index(row, PATH)
        self._choose(row)
        self.view.edit(at)

    def paste_list(self) -> None:
        """Put what the clipboard lists behind the current attribute."""
        self._end_editing()
        found = read_attributes(QGuiApplication.clipboard().text())
        row = self._row()
        pasted = self.table.paste(row, found.attributes, found.key)
        if not found.attributes:
            self.hint.setText("The clipboard has no list: one attribute a line, its path and its type.")
            return
        self._choose(row + 1 if pasted else max(row, 0))
        known = len(found.attributes) - pasted + found.left
        words = f"{number_of(pasted, 'attribute')} pasted"
        words += f", {known:,} there already" if known else ""
        words += f". Read as string: {', '.join(some_lines(found.unknown, _SHOWN))}" if found.unknown else "."
        self.hint.setText(words)

    def remove_attribute(self) -> None:
        """Take the current attribute out."""
        self._end_editing()
        row = self._row()
        self.table.remove(row)
        if self.table.rows:
            self._choose(min(row, len(self.table.rows) - 1))

    def move_attribute(self, by: int) -> None:
        """Move the current attribute."""
        self._end_editing()
        row = self._row()
        if row >= 0:
            self._choose(self.table.move(row, by))

    def _choose(self, row: int) -> None:
        current = self.view.currentIndex()
        column = current.column() if current.isValid() else PATH
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.view.selectionModel().setCurrentIndex(self.table.index(row, column), flags)

    def _row(self) -> int:
        return self.view.currentIndex().row()

    def _end_editing(self) -> None:
        """Take what stands in an open cell."""
        if self.view.state() is QAbstractItemView.State.EditingState:
            self.view.setFocus()
            self.view.setCurrentIndex(QModelIndex(self.view.currentIndex()))

    # what it is about

    def _fill_chooser(self) -> None:
        entities = sorted(self._document.cdm.schemas(), key=lambda entity: entity.name)
        for entity in entities:
            self.chooser.addItem(entity.name, entity.id)
        self.chooser.addItem("A new entity…", NEW_ENTITY)
        self.chooser.setCurrentIndex(self.chooser.findData(self._entity))
        self.chooser.currentIndexChanged.connect(self._entity_chosen)

    def _entity_chosen(self, row: int) -> None:
        """Go on with another entity; what was written for this one is not lost unasked."""
        at = self.chooser.findData(self._entity)
        if row == at:
            return
        if self._is_touched and not self._leaves_changes(self.chooser.itemText(at)):
            self.chooser.setCurrentIndex(at)
            return
        self._entity = int(self.chooser.currentData())
        self._show_entity()

    def _leaves_changes(self, name: str) -> bool:
        answers = [("leave", "Leave them"), ("stay", "Stay here")]
        text = "They have not been made yet: nothing of them is kept."
        return dialogs.ask(f"Leave the changes of {name}?", text, answers, self) == "leave"

    def _touched(self) -> None:
        self._is_touched = True
        self._changed()

    def _show_entity(self) -> None:
        newest = self._document.cdm.newest(self._entity) if self._entity != NEW_ENTITY else None
        if newest is None:
            self.table.show_attributes(())
        else:
            self.table.show_attributes(declared(newest), newest.key or ())
        self._is_touched = False
        self.name.setVisible(self._entity == NEW_ENTITY)
        if self.table.rows:
            self._choose(0)
        self._changed()
        self._take_focus()

    def _take_focus(self) -> None:
        (self.name if self._entity == NEW_ENTITY else self.view).setFocus()

    def _changed(self) -> None:
        is_new = self._entity == NEW_ENTITY
        self.setWindowTitle("New entity" if is_new else f"New version of {self.chooser.currentText()}")
        self.do.setText("Add the entity" if is_new else "Make the new version")
        in_place = "Documentation, order and key change in place; everything else makes a new version."
        self.hint.setText("" if is_new else in_place)
        self.do.setEnabled(False)
        if is_new and not self.table.rows and not self.name.text().strip():
            self.preview.ask(None)
            self.preview.words.setText("Give it a name and at least one attribute.")
            return
        self.preview.ask(self._asked)

    def _asked(self) -> tuple[Document, Edit]:
        return self._project.value, self.edit

    def _judged(self, told: EditOutcome | None) -> None:
        self.do.setEnabled(told is not None)
        wants_done, self._wants_done = self._wants_done, False
        if told is not None and self._entity != NEW_ENTITY:
            words = {"New": "Make the new version", "Give": "Change the key"}
            self.do.setText(words.get(told.title.partition(" ")[0], "Change the description"))
        if wants_done and told is not None:
            self.accept()

    def _project_changed(self) -> None:
        """Follow other edits: the table keeps what was written, judged against what is there now."""
        self._document = self._project.value
        if self._entity != NEW_ENTITY and self._document.cdm.find_schema(self._entity) is None:
            super().reject()
        else:
            self._changed()

    # building

    def _build(self) -> None:
        head = QHBoxLayout()
        title = QLabel("Entity")
        title.setProperty("kind", "heading")
        head.addWidget(title)
        head.addWidget(self.chooser)
        head.addWidget(self.name, 1)
        head.addStretch(1)
        tools = QHBoxLayout()
        for button in (self.add_button, self.paste_button, self.remove_button, self.up, self.down):
            button.setAutoDefault(False)
            tools.addWidget(button)
        tools.addStretch(1)
        self.hint.setWordWrap(True)
        top = QWidget()
        upper = QVBoxLayout(top)
        upper.setContentsMargins(0, 0, 0, 10)
        upper.addWidget(self.view, 1)
        upper.addLayout(tools)
        upper.addWidget(self.hint)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(top)
        split.addWidget(self.preview)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setChildrenCollapsible(False)
        split.setHandleWidth(1)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.do)
        foot.addWidget(self.cancel)
        for button in (self.do, self.cancel):
            button.setAutoDefault(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(10)
        layout.addLayout(head)
        layout.addWidget(split, 1)
        layout.addLayout(foot)
        self.dress()
        self.resize(themes.px(860), themes.px(620))

    def _connect(self) -> None:
        self.table.edited.connect(self._touched)
        self.name.textChanged.connect(self._changed)
        self.preview.judged.connect(self._judged)
        self.do.clicked.connect(self.accept)
        self.cancel.clicked.connect(self.reject)
        self.add_button.clicked.connect(self.add_attribute)
        self.paste_button.clicked.connect(self.paste_list)
        self.remove_button.clicked.connect(self.remove_attribute)
        self.up.clicked.connect(self._up)
        self.down.clicked.connect(self._down)
        self._project.changed.connect(self._project_changed)
        for keys, act in (
            ("Ctrl+Return", self.accept),
            ("Ctrl+Enter", self.accept),
            ("Ins", self.add_attribute),
            ("Ctrl+V", self.paste_list),
            ("Ctrl+Del", self.remove_attribute),
            ("Alt+Up", self._up),
            ("Alt+Down", self._down),
        ):
            QShortcut(QKeySequence(keys), self, act)

    def _up(self) -> None:
        self.move_attribute(-1)

    def _down(self) -> None:
        self.move_attribute(1)


def _table_view(table: EntityTable) -> QTableView:
    view = QTableView()
    view.setAccessibleName("Attributes of the entity")
    view.setModel(table)
    BarOfRows(view)
    view.setItemDelegate(EntityCellDelegate(view))
    view.setItemDelegateForColumn(TYPE, TypeDelegate(view))
    for column in (KEY, REQUIRED):
        view.setItemDelegateForColumn(column, TickDelegate(view))
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(
        QAbstractItemView.EditTrigger.DoubleClicked
        | QAbstractItemView.EditTrigger.EditKeyPressed
        | QAbstractItemView.EditTrigger.AnyKeyPressed
        | QAbstractItemView.EditTrigger.SelectedClicked
    )
    view.setTabKeyNavigation(False)
    view.verticalHeader().hide()
    view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    view.setWordWrap(False)
    view.setShowGrid(True)
    header = view.horizontalHeader()
    header.setHighlightSections(False)
    for column, width in ((PATH, 240), (TYPE, 150), (KEY, 60), (REQUIRED, 80)):
        header.resizeSection(column, themes.px(width))
    header.setSectionResizeMode(DOC, QHeaderView.ResizeMode.Stretch)
    return view
