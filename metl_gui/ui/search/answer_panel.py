"""Reverse search and forward search: what feeds this, and where does this go; they follow the selection.

``AnswerBar`` is the line above the answers: a filter box, what was found, a pin.
"""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.search.query import Query, parse
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.timers import GeneratorRunner, pause
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.selection import NodeRef, Selected, Selection, place_of_version
from metl_gui.ui.project.text import schema_name
from metl_gui.ui.search.answers import AnswerGroup, AnswerModel, AnswerRows, count_words, not_understood
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.empty_bar import BarOfRows
from metl_gui.ui.widgets.hint_line import HintLine
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.tree import BranchView

_DELAY_MS = 60


class AnswerBar(QWidget):
    """A filter box and a pin.

    Signals:
        typed: the text to filter by, a little after the last letter.
        unpinned: the panel follows the selection again.
    """

    typed = Signal(object)
    unpinned = Signal()

    def __init__(self, what: str, has_filter: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = HintLine("Filter   words   in:   type:   is:review")
        self.box.setAccessibleName(f"Filter {what}")
        self.box.setClearButtonEnabled(True)
        self.box.setMaximumWidth(420)
        if not has_filter:
            self.box.hide()
        self.note = plain_label(kind="small")
        self.pin = QPushButton("Pin")
        self.pin.setProperty("kind", "quiet")
        self.pin.setCheckable(True)
        self.pin.setToolTip("Keep these answers when something else is selected")
        self.pin.setAccessibleName(f"Pin {what}")
        self._timer = pause(self, _DELAY_MS, self._tell)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.box, 3)
        row.addWidget(self.note)
        row.addStretch(1)
        row.addWidget(self.pin)
        self.box.textChanged.connect(self._wait)
        self.pin.toggled.connect(self._toggled)

    @property
    def is_pinned(self) -> bool:
        """Whether the panel stays as it is."""
        return self.pin.isChecked()

    def _wait(self, _text: str) -> None:
        self._timer.start()

    def _tell(self) -> None:
        self.typed.emit(self.box.text())

    def _toggled(self, is_pinned: bool) -> None:
        self.pin.setText("Pinned" if is_pinned else "Pin")
        if not is_pinned:
            self.unpinned.emit()


_OPENED_ROWS = 300
_WIDTHS = (230, 180, 220, 110)
_NAMES = {Side.CDM: "Reverse search", Side.EXTRACTION: "Forward search"}
_HINTS = {
    Side.CDM: "Select an entity or a CDM attribute to see what feeds it, in every version of every schema.",
    Side.EXTRACTION: "Select a schema or an attribute to see where it goes.",
}


class AnswerPanel(Surface):
    """What lies at the other ends of the selected node of one tree.

    Signals:
        told: title and facts for its dock.

    Args:
        asked: the tree whose selected node is asked for: the CDM tree makes this the reverse search.
    """

    told = Signal(object)

    def __init__(self, asked: Side, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("panel", (760, 260), parent, share=(1.0, 0.4))
        self.asked = asked
        self._project = project
        self._selection = selection
        self._place: NodeRef | None = None
        self._query = Query()
        self._answers = AnswerRows(project.value, asked)
        self._is_choosing = False
        self._steps = GeneratorRunner(self)
        name = _NAMES[asked]
        self.bar = AnswerBar(f"the {name.lower()}")
        self.model = AnswerModel(asked, self)
        self.view = _make_view(name, self.model)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 2, 10, 0)
        layout.setSpacing(6)
        layout.addWidget(self.bar)
        layout.addWidget(self.view, 1)
        self.dress()
        self.bar.typed.connect(self.filter_now)
        self.bar.unpinned.connect(self._follow)
        self._steps.stepped.connect(self._say)
        self._steps.ended.connect(self._fill)
        self.view.selectionModel().currentRowChanged.connect(self._chosen)
        self.view.clicked.connect(self._chosen)
        project.opened.connect(self._opened)
        self._updater = PanelUpdater(project, self, self._changed, when_shown=self._follow)
        selection.changed.connect(self._selected)
        self._updater.schedule()

    def filter_now(self, text: str) -> None:
        """Show only the answers that pass."""
        self._query = parse(text)
        self._fill()

    def ask(self, place: NodeRef | None) -> None:
        """Ask for a node."""
        self._place = place
        self._search()

    def dress(self) -> None:
        """Follow the scale."""
        for at, width in enumerate(_WIDTHS):
            self.view.setColumnWidth(at, themes.px(width))

    # following

    def _opened(self, _workbench: object) -> None:
        self.bar.pin.setChecked(False)
        self.ask(None)

    def _changed(self) -> None:
        tree = self._project.value.tree(self.asked)
        if self._place is not None and tree.find_schema(self._place.schema) is None:
            self._place = None
        self._search()

    def _selected(self, selected: Selected) -> None:
        if not (self._is_choosing or self.bar.is_pinned) and selected.on(self.asked) is not None:
            self.ask(_level(selected.on(self.asked)))

    def _follow(self) -> None:
        place = self._selection.current.on(self.asked)
        if place is not None:
            self._place = _level(place)
        self._changed()  # what is selected may be of a project that was closed

    def _search(self) -> None:
        """Find the answers; they appear at once, a great many of them between two events."""
        if not self.isVisible():
            self._updater.schedule()
            return
        self._answers = AnswerRows(self._project.value, self.asked)
        if self._place is None:
            self._steps.stop()
            self._fill()
            return
        work = self._answers.collect(self._place)
        if next(work, work) is work:
            self._steps.stop()
            self._fill()
        else:
            self._steps.start(work)

    def _fill(self) -> None:
        groups = self._answers.passing(self._query)
        self._is_choosing = True
        try:
            self.model.show_groups(groups)
            self._stand_on(groups)
        finally:
            self._is_choosing = False
        rows = 0
        for at, group in enumerate(groups):
            rows += 1 + len(group.rows)
            if rows > _OPENED_ROWS and at:
                break
            self.view.expand(self.model.index(at, 0))
        self._say()

    def _stand_on(self, groups: list[AnswerGroup]) -> None:
        """Stand on the selected element, or else on the first answer: the view would choose it on getting the focus."""
        selected = self._selection.current
        at = self.model.index(0, 0)
        for row, group in enumerate(groups):
            for below, answer in enumerate(group.rows if selected.element is not None else ()):
                if answer.block.key == selected.block and answer.element == selected.element:
                    at = self.model.index(below, 0, self.model.index(row, 0))
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.view.selectionModel().setCurrentIndex(at, flags)

    def _say(self) -> None:
        groups = self._answers.passing(self._query)
        odd = not_understood(self._query)
        words = f"Not understood here: {', '.join(odd)}" if odd else ""
        if self._place is None:
            words = _HINTS[self.asked]
        elif not groups and not self._steps.is_busy:
            words = "Nothing passes this filter." if self._answers.groups else self._nothing()
        self.bar.note.setText(words)
        self.told.emit((self._title(), count_words(groups, self.asked) if self._place is not None else ""))

    def _nothing(self) -> str:
        return "Nothing feeds it." if self.asked is Side.CDM else "It goes nowhere."

    def _title(self) -> str:
        name = _NAMES[self.asked]
        if self._place is None:
            return name
        document = self._project.value
        words = schema_name(document, self.asked, self._place.schema)
        version = document.tree(self.asked).find_version(self._place.version or 0)
        attribute = version.attribute(self._place.attribute or 0) if version is not None else None
        asked = f"{words}.{attribute.path}" if attribute is not None else words
        verb = "what feeds" if self.asked is Side.CDM else "where it goes:"
        return f"{name} · {verb} {asked}"

    # choosing

    def _chosen(self, current: QModelIndex, _before: QModelIndex | None = None) -> None:
        if self._is_choosing or not current.isValid():
            return
        row, group = self.model.row_of(current), self.model.group_of(current)
        document = self._project.value
        other = Side.EXTRACTION if self.asked is Side.CDM else Side.CDM
        if row is not None:
            (v, w), (q, p) = row.block.key, row.element
            chosen = Selected(
                place_of_version(document, Side.EXTRACTION, v, p), place_of_version(document, Side.CDM, w, q)
            )
        elif group is not None:
            chosen = self._selection.current.with_place(other, NodeRef(group.id))
        else:
            return
        self._is_choosing = True  # what is chosen here must not change what is asked here
        try:
            self._selection.choose(chosen)
        finally:
            self._is_choosing = False


def _level(place: NodeRef | None) -> NodeRef | None:
    """Return what is asked for: an attribute in all its versions, or else the whole schema or entity."""
    if place is None or place.attribute is not None:
        return place
    return NodeRef(place.schema)


def _make_view(name: str, model: AnswerModel) -> QTreeView:
    view = BranchView()
    view.setModel(model)
    BarOfRows(view)
    view.setAccessibleName(f"Answers of the {name.lower()}")
    view.setAllColumnsShowFocus(True)
    view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    return view
