"""*Same as…* and *Not the same as…*: choose, see which blocks change, do it.

``same_choices`` lists what an attribute may be the same as, ``split_choices`` from which version on it may be another
one.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from itertools import pairwise

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from metl_gui.core.changes.draft import Edit
from metl_gui.core.edits.lineages import AttributeKey, JoinLineages, SplitLineage
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.errors import EditError
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.edit_preview import PreviewPane
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.two_line_list import LineModel, TwoLines, line_view
from metl_gui.values import Value
from metl_gui.workbench.model.edit_effects import EditOutcome
from metl_gui.workbench.model.lineages import join_note


class LineageChoice(Value):
    """One possible correction: how it reads, and the edit it is."""

    words: TwoLines
    edit: Edit


def same_choices(document: Document, side: Side, place: NodeRef) -> tuple[LineageChoice, ...]:
    """List the other attributes of the schema or entity, one for each lineage, the likeliest first."""
    found = _attribute(document, side, place)
    if found is None:
        return ()
    version, attribute = found
    versions = document.tree(side).versions(version.schema_id)
    of_lineage: dict[int, list[tuple[Version, Attribute]]] = {}
    for each in versions:
        for other in each.attributes:
            of_lineage.setdefault(other.lineage, []).append((each, other))
    own = {v.id for v, _ in of_lineage.pop(attribute.lineage)}
    ranked: list[tuple[bool, float, str, LineageChoice]] = []
    for members in of_lineage.values():
        last_version, last = members[-1]
        meets = [v for v, _ in members if v.id in own]
        alike = difflib.SequenceMatcher(None, attribute.path.lower(), last.path.lower()).ratio()
        names = list(dict.fromkeys(a.path for _, a in members))
        facts = f"{_labels(members)} · {last.type_text}"
        facts += f" · also called {', '.join(names[:-1])}" if len(names) > 1 else ""
        pill = ("side by side", "plain") if meets else ("", "plain")
        edit = JoinLineages(side, AttributeKey(version.id, attribute.id), AttributeKey(last_version.id, last.id))
        ranked.append((bool(meets), -alike, last.path, LineageChoice(TwoLines(last.path, facts, *pill), edit)))
    return tuple(choice for *_, choice in sorted(ranked, key=lambda each: each[:3]))


def split_choices(document: Document, side: Side, place: NodeRef) -> tuple[LineageChoice, ...]:
    """List the versions from which on the attribute may be another one, its own first."""
    found = _attribute(document, side, place)
    if found is None:
        return ()
    version, attribute = found
    versions = document.tree(side).versions(version.schema_id)
    members = [(v, a) for v in versions if (a := v.of_lineage(attribute.lineage)) is not None]
    choices = []
    for (_, old), (version_from, now) in pairwise(members):
        before, after = (f"{each.path}, {each.type_text}" for each in (old, now))
        facts = f"{after} before and after" if before == after else f"{before} before · {after} from then on"
        words = TwoLines(f"From version {version_from.label} on", facts)
        edit = SplitLineage(side, AttributeKey(version_from.id, now.id))
        choices.append((version_from.id != version.id, LineageChoice(words, edit)))
    return tuple(choice for _, choice in sorted(choices, key=lambda each: each[0]))


def attribute_words(document: Document, side: Side, place: NodeRef) -> str:
    """Name an attribute with its schema and version."""
    found = _attribute(document, side, place)
    if found is None:
        return ""
    version, attribute = found
    name = document.tree(side).schema(version.schema_id).name
    return f"{attribute.path} of {name} version {version.label}"


def _attribute(document: Document, side: Side, place: NodeRef) -> tuple[Version, Attribute] | None:
    version = document.tree(side).find_version(place.version) if place.version is not None else None
    attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
    return (version, attribute) if version is not None and attribute is not None else None


def _labels(members: list[tuple[Version, Attribute]]) -> str:
    labels = [version.label for version, _ in members]
    return f"version {labels[0]}" if len(labels) == 1 else f"versions {labels[0]} to {labels[-1]}"


Chooser = Callable[[Document, Side, NodeRef], tuple[LineageChoice, ...]]


class LineageDialog(FittedDialog):
    """Corrects the lineage of one attribute.

    Signals:
        wanted: the ``Edit`` to do.

    Args:
        project: read anew whenever it changes.
        jobs: where the preview is worked out.
        side, place: the attribute.
        joins: *Same as…*, else *Not the same as…*.
    """

    wanted = Signal(object)

    def __init__(
        self, project: OpenProject, jobs: Jobs, side: Side, place: NodeRef, joins: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._project, self._side, self._place, self._joins = project, side, place, joins
        self._choices: tuple[LineageChoice, ...] = ()
        self.setWindowTitle("Same as…" if joins else "Not the same as…")
        self.heading, self.help = QLabel(), QLabel()
        self.box = QLineEdit()
        self.box.setPlaceholderText("Filter the attributes")
        self.box.setAccessibleName("Filter the attributes")
        self.box.setVisible(joins)
        self.model: LineModel[LineageChoice] = LineModel(self)
        self.view = line_view(self.model, "What it is the same as" if joins else "From which version on")
        self.preview = PreviewPane(jobs)
        self.do = KeyButton("They are the same" if joins else "They are not the same", "Ctrl+Enter", "primary")
        self.cancel = KeyButton("Cancel", "Esc")
        self._build()
        self._connect()
        self._fill()
        self._filter(self.box.text())

    def accept(self) -> None:
        """Do what is chosen and close."""
        choice = self.model.at(self.view.currentIndex())
        if choice is not None and self.do.isEnabled():
            self.wanted.emit(choice.edit)
            super().accept()

    def _fill(self) -> bool:
        """Read what is offered; where the attribute is gone, close, and return that there is nothing."""
        document = self._project.value
        words = attribute_words(document, self._side, self._place)
        if not words:
            self.reject()
            return False
        choices: Chooser = same_choices if self._joins else split_choices
        self._choices = choices(document, self._side, self._place)
        self.heading.setText(f"{words} is {'the same as…' if self._joins else 'another attribute than before…'}")
        empty = "There is no other attribute." if self._joins else "No earlier version has it."
        self.help.setText(_HELP[self._joins] if self._choices else empty)
        return True

    def _followed(self, _changed: object) -> None:
        """Follow other edits: what is chosen stays so, and where it is gone, nothing is."""
        chosen = self.model.at(self.view.currentIndex())
        if not self._fill():
            return
        self._show_choices(self.box.text())
        self._choose(chosen, QModelIndex())

    def _filter(self, text: str) -> None:
        """Show what the letters leave; what is chosen stays so, and where it is not among it, the likeliest is."""
        chosen = self.model.at(self.view.currentIndex())
        self._show_choices(text)
        self._choose(chosen, self.model.index(0, 0) if self.model.rowCount() else QModelIndex())

    def _choose(self, choice: LineageChoice | None, otherwise: QModelIndex) -> None:
        rows = (self.model.index(row, 0) for row in range(self.model.rowCount()))
        at = next((at for at in rows if choice is not None and _edit_at(self.model, at) == choice.edit), otherwise)
        self.view.setCurrentIndex(at)
        self._chosen()

    def _show_choices(self, text: str) -> None:
        wanted = text.casefold().split()
        kept = [
            (choice.words, choice)
            for choice in self._choices
            if all(word in f"{choice.words.title} {choice.words.facts}".casefold() for word in wanted)
        ]
        self.model.show_rows(kept)

    def _chosen(self) -> None:
        self.do.setEnabled(False)
        self.preview.ask(self._asked if self.model.at(self.view.currentIndex()) is not None else None)

    def _asked(self) -> tuple[Document, Edit]:
        choice = self.model.at(self.view.currentIndex())
        if choice is None:
            raise EditError("Nothing is chosen.")
        return self._project.value, choice.edit

    def _judged(self, told: EditOutcome | None) -> None:
        self.do.setEnabled(told is not None)
        choice = self.model.at(self.view.currentIndex())
        if told is not None and choice is not None and isinstance(choice.edit, JoinLineages):
            note = join_note(self._project.value, choice.edit)
            if note:
                self.preview.words.setText(f"{note} {self.preview.words.text()}")

    def _build(self) -> None:
        self.heading.setProperty("kind", "heading")
        self.heading.setTextFormat(Qt.TextFormat.PlainText)
        self.heading.setWordWrap(True)
        self.help.setProperty("kind", "dim")
        self.help.setWordWrap(True)
        lists = QHBoxLayout()
        lists.setSpacing(16)
        left = QVBoxLayout()
        left.addWidget(self.box)
        left.addWidget(self.view, 1)
        lists.addLayout(left, 1)
        lists.addWidget(self.preview, 1)
        dialogs.lay_out(self, (self.heading, self.help), lists, (self.do, self.cancel))
        self.resize(themes.px(820), themes.px(460))

    def _connect(self) -> None:
        self.box.textChanged.connect(self._filter)
        self.view.selectionModel().currentChanged.connect(self._chosen)
        self.view.activated.connect(self.accept)
        self.preview.judged.connect(self._judged)
        self.do.clicked.connect(self.accept)
        self.cancel.clicked.connect(self.reject)
        self._project.changed.connect(self._followed)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, self.accept)


def _edit_at(model: LineModel[LineageChoice], at: QModelIndex) -> Edit | None:
    choice = model.at(at)
    return choice.edit if choice is not None else None


_HELP = {
    True: "Choose what another version calls it. What was lost between the two comes back in every version.",
    False: "Choose the version from which on it is another attribute. Elements that an update carried from before "
    "wait for review then; what was mapped by hand stays.",
}
