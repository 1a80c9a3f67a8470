"""Suggestions for the selection, and what people do with them; nothing is set unless a person takes it.

``find`` and what it calls are plain functions, so that they run in a job or at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from PySide6.QtCore import QObject, Signal

from metl_gui.core.counted import number_of
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import BlockKey, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import RefusedSuggestion, RefusedSuggestions
from metl_gui.core.suggest.block import Candidate, suggest_block
from metl_gui.core.suggest.entities import EntityIndex, EntityRank
from metl_gui.core.suggest.values import ValueEvidence
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import UserError
from metl_gui.ui.jobs.jobs import CommandResult, JobOutcome, Jobs
from metl_gui.ui.map.scoped_edits import MOST_UNASKED, ScopedEdits
from metl_gui.ui.matrix.painting.overlay import Ghost
from metl_gui.ui.project.document import DocumentChange, OpenProject
from metl_gui.ui.project.selection import Selected, Selection, block_meant, place_of_version
from metl_gui.ui.project.text import block_words, path_of
from metl_gui.values import Value
from metl_gui.workbench.mapping.acceptance import answers_loss, plan_acceptance
from metl_gui.workbench.mapping.suggestions import refusal_of, suggestions_of
from metl_gui.workbench.session import Workbench

Anchor: TypeAlias = tuple[Side, int]
"""The attribute whose candidates are looked at."""

_LEAST_ENTITY = 0.05
_AT_ONCE = 900
_AT_ONCE_BLOCKS = 60


class FoundSuggestions(Value):
    """What was found for one place of one document.

    Args:
        document: the state.
        key: the block; ``None`` while only a schema version is chosen.
        version: the schema version.
        candidates: of the block.
        entities: that the schema version may feed, while no entity is chosen.
    """

    document: Document | None = None
    key: BlockKey | None = None
    version: int | None = None
    candidates: tuple[Candidate, ...] = ()
    entities: tuple[EntityRank, ...] = ()


def find(
    document: Document,
    place: tuple[BlockKey | None, int],
    refusals: RefusedSuggestions,
    index: EntityIndex | None,
    alike: Callable[[BlockKey], Mapping[Element, ValueEvidence]] | None = None,
) -> tuple[FoundSuggestions, EntityIndex | None]:
    """Find the candidates of a block, or the entities that a schema version may feed.

    Args:
        document: the state.
        place: the block, ``None`` while no entity is chosen, and the schema version.
        refusals: what people refused.
        index: of the entities, where it was made already.
        alike: tells how much alike the values of free attributes of a block are.

    Returns:
        What was found, and the index for the next time.
    """
    key, version = place
    if key is not None:
        values = alike(key) if alike is not None else None
        return FoundSuggestions(document, key, version, suggest_block(document, key, refusals, values)), index
    known = index or EntityIndex(document)
    ranks = known.rank(document, document.extraction.version(version))
    ranks = tuple(rank for rank in ranks if rank.is_fed or rank.score >= _LEAST_ENTITY)
    return FoundSuggestions(document, None, version, entities=ranks), known


def anchor_of(document: Document, key: BlockKey | None, selected: Selected) -> Anchor | None:
    """Return the current attribute of a block that is free: the target's before the source's."""
    if key is None or block_meant(document, selected) != key:
        return None
    block = document.matrix.block(*key)
    elements = block.elements if block is not None else ()
    target, source = selected.target, selected.source
    if target is not None and target.attribute is not None and all(e.q != target.attribute for e in elements):
        return Side.CDM, target.attribute
    if source is not None and source.attribute is not None and all(e.p != source.attribute for e in elements):
        return Side.EXTRACTION, source.attribute
    return None


def is_small(document: Document, key: BlockKey) -> bool:
    """Whether a block is looked at in a few milliseconds."""
    version, entity_version = document.extraction.version(key[0]), document.cdm.version(key[1])
    size = len(version.attributes) * len(entity_version.attributes)
    others = len(document.matrix.row_keys(key[1])) + len(document.extraction.schema(version.schema_id).version_ids)
    return size <= _AT_ONCE and others <= _AT_ONCE_BLOCKS


def place_meant(document: Document, selected: Selected) -> tuple[BlockKey | None, int] | None:
    """Return the block and the schema version that a selection means, ``None`` while no schema is chosen.

    A schema or entity stands for its newest version, as it does in the block editor.
    """
    key, source = block_meant(document, selected), selected.source
    if key is not None:
        return key, key[0]
    schema = document.extraction.find_schema(source.schema) if source is not None else None
    if source is None or schema is None or not schema.version_ids:
        return None
    is_known = source.version is not None and document.extraction.find_version(source.version) is not None
    return None, source.version if is_known and source.version is not None else schema.version_ids[-1]


LEAST_OF_ALL = 0.90
"""What "accept all" takes."""

LEAST_GHOST = 0.30


class SelectionSuggestions(QObject):
    """Follows the selection while somebody wants suggestions.

    Signals:
        changed: ``found``, ``current`` or the refusals are others.
        ghosts_changed: the tuple of ``Ghost`` to show.
        moved: the ``Selected`` cell that cycling went to, for screen readers.
        said: a ``CommandResult``.
        asked: suggestions of many versions, which wait to be looked at before they are accepted.
    """

    changed = Signal()
    ghosts_changed = Signal(object)
    moved = Signal(object)
    said = Signal(object)
    asked = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        selection: Selection,
        edits: ScopedEdits,
        jobs: Jobs,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._project = project
        self._selection = selection
        self._edits = edits
        self._jobs = jobs
        self._is_wanted = False
        self._dismissed: BlockKey | None = None
        self._anchor: Anchor | None = None
        self._is_moving = False
        self._is_warm = False
        self._index: EntityIndex | None = None
        self._asked: tuple[Document, BlockKey | None, int | None] | None = None
        self.found = FoundSuggestions()
        self.current: Candidate | None = None
        self.refused: tuple[RefusedSuggestion, ...] = ()
        self.ghosts: tuple[Ghost, ...] = ()
        project.opened.connect(self._opened)
        project.changed.connect(self._changed)
        project.refusals_changed.connect(self._refused_elsewhere)
        project.samples_changed.connect(self._look_anew)
        selection.changed.connect(self._selected)

    # what is suggested

    @property
    def is_wanted(self) -> bool:
        """Whether somebody looks at suggestions."""
        return self._is_wanted

    def want(self, is_wanted: bool) -> None:
        """Begin or end to follow the selection."""
        self._is_wanted = is_wanted
        if is_wanted:
            self._dismissed = None
            self._look()
        else:
            self._forget()

    @property
    def best(self) -> tuple[Candidate, ...]:
        """The best 1:1 set of the block."""
        return tuple(candidate for candidate in self.found.candidates if candidate.is_best)

    @property
    def sure(self) -> tuple[Candidate, ...]:
        """What "accept all" takes; what answers a lost element is left to its card."""
        key, document = self.found.key, self._project.value
        sure = (candidate for candidate in self.best if candidate.score >= LEAST_OF_ALL)
        return tuple(c for c in sure if key is not None and not answers_loss(document, key, c.element))

    @property
    def of_attribute(self) -> tuple[Candidate, ...]:
        """The candidates of the current attribute, best first; none while no free attribute is current."""
        anchor = self._anchor or self._anchor_of(self._selection.current)
        return self._candidates_of(anchor)

    @property
    def attribute_words(self) -> str:
        """Name the current attribute, empty for none."""
        anchor, key = self._anchor or self._anchor_of(self._selection.current), self.found.key
        if anchor is None or key is None:
            return ""
        return path_of(self._project.value, anchor[0], key[1] if anchor[0] is Side.CDM else key[0], anchor[1])

    # what people do

    def cycle(self, step: int = 1) -> None:
        """Go to the next candidate of the current attribute, or of the block; the first time begins with the best."""
        if not self._is_wanted or self._dismissed is not None:
            self.want(True)
        if self._anchor is None:
            self._anchor = self._anchor_of(self._selection.current)
        listed = self._candidates_of(self._anchor) if self._anchor is not None else self.best
        if not listed:
            self._say_nothing()
            return
        at = listed.index(self.current) + step if self.current in listed else 0
        self.go_to(listed[at % len(listed)])

    def go_to(self, candidate: Candidate) -> None:
        """Make a candidate the current one and select its cell."""
        key = self.found.key
        if key is None:
            return
        self.current = candidate
        self._tell()
        document, element = self._project.value, candidate.element
        cell = Selected(
            place_of_version(document, Side.EXTRACTION, key[0], element.p),
            place_of_version(document, Side.CDM, key[1], element.q),
        )
        self._is_moving = True
        try:
            self._selection.choose(cell)
        finally:
            self._is_moving = False
        self.moved.emit(cell)

    def accept_ghost(self, ghost: Ghost) -> None:
        """Set what a ghost of the matrix stands for."""
        candidate = next((each for each in self.found.candidates if each.element == ghost.element), None)
        if candidate is not None and ghost.key == self.found.key:
            self.accept(candidate)

    def accept(self, candidate: Candidate) -> None:
        """Set a candidate, as one undo step of the person who took it."""
        if self.found.key is not None:
            self.accept_in(self.found.key, candidate.element)

    def accept_in(self, key: BlockKey, element: Element) -> None:
        """Set an element that was suggested for some block, in all versions that are in scope."""
        self._edits.do((SetElements(key, (element,)),))

    def accept_all(self) -> None:
        """Set all that are sure as one undo step; they are unconfirmed, as nobody has looked at each of them.

        Where many versions would change they are looked at first.
        """
        key, sure, document = self.found.key, self.sure, self._project.value
        if key is None or not sure:
            return
        chosen = suggestions_of(document, key, sure)
        which = f"above {LEAST_OF_ALL:.2f} in {block_words(document, key)}"
        scope, rows = self._edits.scope, self._edits.entity_versions_too
        plan = plan_acceptance(document, chosen, which, Status.UNCONFIRMED, scope, entity_versions_too=rows)
        others = {edit.key[0] for edit in plan.edit.edits if isinstance(edit, SetElements)} - {key[0]}
        if len(others) > MOST_UNASKED:
            self.asked.emit(chosen)
        elif plan.accepted and self._project.do(plan.edit):
            more = f", and {number_of(plan.carried, 'element')} in other versions" if plan.carried else ""
            count = number_of(len(plan.accepted), "suggestion")
            self.said.emit(CommandResult(f"{count} accepted{more}, not confirmed yet.", "Undo", self._project.undo))

    def refuse_current(self) -> None:
        """Refuse the current candidate."""
        if self.current is not None:
            self.refuse(self.current)

    def refuse(self, candidate: Candidate) -> None:
        """Remember that a candidate is not so, in any version; it can be restored from the list of refused ones."""
        if self.found.key is not None:
            self.refuse_in(self.found.key, candidate.element)

    def refuse_in(self, key: BlockKey, element: Element) -> None:
        """Remember that an element that was suggested for some block is not so, in any version."""
        refusal = refusal_of(self._project.value, key, element)
        if refusal is None or not self._write(lambda: self._workbench.refuse_suggestions([refusal])):
            return
        words = f"{refusal.to_path} from {refusal.from_path} is not suggested any more."
        self.said.emit(CommandResult(words, "Restore", lambda: self.restore(refusal)))

    def restore(self, refusal: RefusedSuggestion) -> None:
        """Let a refused suggestion be made again."""
        self._write(lambda: self._workbench.kept.refused_suggestions.remove([refusal]))

    def dismiss(self) -> None:
        """Show no ghosts for this block until they are asked for again."""
        self._dismissed = self.found.key
        self.current, self._anchor = None, None
        self._tell()

    def look_at(self, rank: EntityRank) -> None:
        """Select the block of the chosen schema version and an entity that it may feed."""
        current = self._selection.current
        target = place_of_version(self._project.value, Side.CDM, rank.entity_version)
        self._selection.choose(Selected(current.source, target))

    # following

    def _opened(self, _workbench: object) -> None:
        self._index = None
        self._forget()
        self._read_refused()
        self._look()

    def _refused_elsewhere(self) -> None:
        self._read_refused()
        self._look()
        self.changed.emit()

    def _look_anew(self) -> None:
        """Look again: the values of samples speak for other pairs now."""
        self._asked = None
        self._look()

    def _changed(self, changed: DocumentChange) -> None:
        if changed.before.cdm is not changed.after.cdm:
            self._index = None
        self._look()

    def _selected(self, _selected: Selected) -> None:
        if not self._is_moving:
            self._anchor = None
            self.current = self._candidate_at(self._selection.current.element)
            if not self._look():
                self._tell()

    def _look(self) -> bool:
        """Find what is suggested for the selection; tell whether anything had to be looked for."""
        document, current = self._project.value, self._selection.current
        place = place_meant(document, current)
        if not self._is_wanted or self._project.workbench is None or place is None:
            if self.found != FoundSuggestions():
                self._forget()
            return False
        asked = (document, *place)
        if asked == self._asked:
            return False
        self._asked = asked
        key, refusals, index = place[0], RefusedSuggestions(self.refused), self._index
        shelf, newest = self._project.samples, self._project.newest

        def alike(of: BlockKey) -> Mapping[Element, ValueEvidence]:
            return shelf.alike(document, newest, of) if shelf is not None else {}

        def task(_watch: object = None) -> tuple[FoundSuggestions, EntityIndex | None]:
            return find(document, place, refusals, index, alike)

        if self._is_warm and key is not None and is_small(document, key):
            self._take(task())
        else:
            self._jobs.start("Looking for suggestions", task, self._ended)
        return True

    def _ended(self, outcome: JobOutcome[tuple[FoundSuggestions, EntityIndex | None]]) -> None:
        self._is_warm = True
        if outcome.value is not None:
            self._take(outcome.value)

    def _take(self, result: tuple[FoundSuggestions, EntityIndex | None]) -> None:
        found, index = result
        if self._asked != (found.document, found.key, found.version):
            return  # meanwhile something else was asked
        if index is not None and found.document is not None and found.document.cdm is self._project.value.cdm:
            self._index = index
        self.found = found
        if found.key != self._dismissed:
            self._dismissed = None
        self.current = self._candidate_at(self._selection.current.element)
        self._tell()

    def _forget(self) -> None:
        self.found, self.current, self._anchor, self._asked = FoundSuggestions(), None, None, None
        self._tell()

    def _tell(self) -> None:
        ghosts = self._ghosts()
        if ghosts != self.ghosts:
            self.ghosts = ghosts
            self.ghosts_changed.emit(ghosts)
        self.changed.emit()

    def _ghosts(self) -> tuple[Ghost, ...]:
        key = self.found.key
        if key is None or self._dismissed == key:
            return ()
        shown = [each for each in self.best if each.score >= LEAST_GHOST or each == self.current]
        if self.current is not None and self.current not in shown:
            shown.append(self.current)
        return tuple(Ghost(key, c.element, c.score, c.reason, c == self.current) for c in shown)

    # small answers

    def _anchor_of(self, selected: Selected) -> Anchor | None:
        return anchor_of(self._project.value, self.found.key, selected)

    def _candidates_of(self, anchor: Anchor | None) -> tuple[Candidate, ...]:
        if anchor is None:
            return ()
        end = 0 if anchor[0] is Side.CDM else 1
        return tuple(candidate for candidate in self.found.candidates if candidate.element[end] == anchor[1])

    def _candidate_at(self, element: Element | None) -> Candidate | None:
        return next((each for each in self.found.candidates if each.element == element), None)

    def _say_nothing(self) -> None:
        if self._asked is None:
            self.said.emit(
                CommandResult("Select a schema version and an entity version to see suggestions.", is_good=False)
            )
        elif self.found.key is not None:
            name = self.attribute_words
            what = f"Nothing that is free looks like {name}." if name else "Nothing in this block looks alike."
            self.said.emit(CommandResult(what, is_good=False))

    @property
    def _workbench(self) -> Workbench:
        assert self._project.workbench is not None  # noqa: S101 - asked only where ``_write`` has looked
        return self._project.workbench

    def _write(self, write: Callable[[], None]) -> bool:
        if self._project.workbench is None:
            return False
        try:
            write()
        except UserError as error:
            self._project.refused.emit(error)
            return False
        self._read_refused()
        self.current, self._anchor, self._asked = None, None, None
        self._look()
        self.changed.emit()
        return True

    def _read_refused(self) -> None:
        workbench = self._project.workbench
        self.refused = workbench.kept.refused_suggestions.all() if workbench is not None else ()
