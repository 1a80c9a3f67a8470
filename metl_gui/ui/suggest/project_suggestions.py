"""The suggestions of the whole project, or of all selected nodes, for the list that shows them.

They are worked out beside the window, anew after each edit while somebody looks.
"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.project.refusals import RefusedSuggestion
from metl_gui.core.suggest.blocks import EVERYTHING, SuggestionScope
from metl_gui.core.suggest.values import ValueEvidence
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import NodeRef, Selected, Selection, place_of_version
from metl_gui.ui.suggest.suggestions import SelectionSuggestions
from metl_gui.workbench.mapping.suggestions import Suggestion, suggest_best


def scope_of(document: Document, selected: Selected) -> SuggestionScope:
    """Return the versions that the selected nodes stand for; a side without any stands for all of it.

    A schema stands for its newest version, and whatever is selected of an entity for the newest of that.
    """
    sides = []
    for side in Side:
        found = (_version(document, side, place) for place in selected.all_on(side))
        ids = tuple(dict.fromkeys(id_ for id_ in found if id_ is not None))
        sides.append(ids or None)
    return SuggestionScope(*sides)


def _version(document: Document, side: Side, place: NodeRef) -> int | None:
    schema = document.tree(side).find_schema(place.schema)
    if schema is None or not schema.version_ids:
        return None
    if side is Side.EXTRACTION and place.version in schema.version_ids:
        return place.version
    return schema.version_ids[-1]


class ProjectSuggestions(QObject):
    """Holds the list while somebody wants it.

    Signals:
        changed: ``found``, ``is_looking`` or ``scope`` are others.

    Args:
        answers: knows what was refused.
        jobs: where the list is worked out.
    """

    changed = Signal()

    def __init__(
        self,
        project: OpenProject,
        selection: Selection,
        answers: SelectionSuggestions,
        jobs: Jobs,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._project, self._selection, self._answers = project, selection, answers
        self._looking = NewestJob(jobs, self)
        self._is_wanted = self._is_moving = False
        self._asked: tuple[Document, SuggestionScope, tuple[RefusedSuggestion, ...]] | None = None
        self._nodes = Selected()
        self.follows_selection = False
        self.is_looking = False
        self.is_stopped = False
        self.found: tuple[Suggestion, ...] = ()
        project.opened.connect(self._look_anew)
        project.changed.connect(self._look)
        answers.changed.connect(self._look)
        project.samples_changed.connect(self._look_anew)
        selection.changed.connect(self._selected)

    @property
    def scope(self) -> SuggestionScope:
        """What is looked at."""
        return scope_of(self._project.value, self._nodes) if self.follows_selection else EVERYTHING

    def want(self, is_wanted: bool) -> None:
        """Begin or end to look."""
        self._is_wanted = is_wanted
        if is_wanted:
            self._look()
        else:
            self._forget()

    def follow_selection(self, follows: bool) -> None:
        """Look at the selected nodes, or at everything."""
        self.follows_selection, self._nodes = follows, self._selection.current
        self._look()

    def go_to(self, suggestion: Suggestion) -> None:
        """Select the cell of a suggestion; what is looked at stays."""
        document, (version, entity_version) = self._project.value, suggestion.key
        if not document.extraction.has_version(version) or not document.cdm.has_version(entity_version):
            return  # it went with an edit, and the list is not worked out anew yet
        source = place_of_version(document, Side.EXTRACTION, version, suggestion.element.p)
        target = place_of_version(document, Side.CDM, entity_version, suggestion.element.q)
        self._is_moving = True
        try:
            self._selection.choose(Selected(source, target))
        finally:
            self._is_moving = False

    def _selected(self, selected: Selected) -> None:
        """Look at other nodes; a cell that the list itself went to is none that somebody chose."""
        if not self._is_moving:
            self._nodes = selected
            self._look()

    def _look_anew(self, _what: object = None) -> None:
        self._asked = None
        self._look()

    def _look(self, _what: object = None) -> None:
        """Work the list out beside the window unless it is there already; until then the one of before is shown."""
        document = self._project.value
        if not self._is_wanted or self._project.workbench is None:
            self._forget()
            return
        scope, refused = self.scope, self._answers.refused
        if self._asked == (document, scope, refused):
            return
        self._asked = document, scope, refused
        shelf, newest = self._project.samples, self._project.newest

        def alike(key: BlockKey) -> Mapping[Element, ValueEvidence]:
            return shelf.alike(document, newest, key) if shelf is not None else {}

        def task(watch: Watch) -> tuple[Suggestion, ...]:
            return suggest_best(document, scope, refused, watch, alike)

        self.is_looking, self.is_stopped = True, False
        self._looking.start("Looking for suggestions", task, self._take)
        self.changed.emit()

    def _take(self, outcome: JobOutcome[tuple[Suggestion, ...]]) -> None:
        self.is_looking, self.is_stopped = False, outcome.is_cancelled
        if outcome.value is not None:
            self.found = outcome.value
        self.changed.emit()

    def _forget(self) -> None:
        if self._asked is not None:
            self._looking.cancel()
            self._asked, self.found, self.is_looking, self.is_stopped = None, (), False, False
            self.changed.emit()
