"""The only mutable truth of the window: which project is open, and its current document.

The store commits first, then the value is swapped, which cannot fail; everybody who shows something listens to
``changed`` and reads the new value.

``ReviewIndex`` is the review list of a document, worked out anew only where an edit touched it. Cost: an edit costs the
schemas and entities that it touched, and a pass over the list of items.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from metl_gui.core.changes.draft import ChangeSet, Edit, Transition
from metl_gui.core.differences.changed_parts import changed_blocks, changed_parts
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.node_matches import SameIds
from metl_gui.core.project.comments import Comment, Comments
from metl_gui.core.project.refusals import NO_RENAMES_REFUSED, RefusedRenames
from metl_gui.core.project.value_summaries import ValueCounts
from metl_gui.core.review.items import Group, ReviewItem, group_of, items_of_group, list_place, review_items
from metl_gui.core.suggest.renames import Values as RenameValues
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ReadOnlyStateError, UserError
from metl_gui.values import Value
from metl_gui.workbench.samples.project_samples import ProjectSamples, Values
from metl_gui.workbench.session import EditOrigin, Workbench

T = TypeVar("T")


class ReviewIndex(Value, eq=False):
    """What waits in a document.

    Args:
        document: the document.
        items: what waits, by schema name, version and entity name.
        groups: keys of the items of each schema and entity that wait for each other.
    """

    document: Document
    items: tuple[ReviewItem, ...]
    groups: Mapping[Group, tuple[BlockKey, ...]]

    @classmethod
    def of(cls, document: Document) -> ReviewIndex:
        """Work out what waits, all of it."""
        known = review_items(document)
        groups: dict[Group, list[BlockKey]] = {}
        for item in known:
            groups.setdefault(group_of(document, item.key), []).append(item.key)
        return cls(document, known, {group: tuple(keys) for group, keys in groups.items()})

    def after(self, document: Document, change: ChangeSet) -> ReviewIndex:
        """Return what waits in the next document, whose change from this one is known."""
        sources, targets = (_schemas_of(change, side) for side in Side)
        return self._again(document, self._touched(document, sources, targets, (b.key for b in change.blocks)))

    def _again(self, document: Document, touched: set[Group]) -> ReviewIndex:
        """Work those groups out again that were touched."""
        gone = {key for group in touched for key in self.groups.get(group, ())}
        items = [item for item in self.items if item.key not in gone]
        groups = dict(self.groups)
        for group in touched:
            groups.pop(group, None)
            if document.extraction.find_schema(group[0]) is None or document.cdm.find_schema(group[1]) is None:
                continue
            found = items_of_group(document, *group)
            for item in found:
                insort(items, item, key=partial(list_place, document))
            if found:
                groups[group] = tuple(item.key for item in found)
        return ReviewIndex(document, tuple(items), groups)

    def followed(self, document: Document) -> ReviewIndex:
        """Return what waits in another state of the same project, whatever lies between the two.

        Cost: what was edited since the columns that both share were made; everything, where they share none.
        """
        if not all(self.document.tree(side).base is document.tree(side).base for side in Side):
            return ReviewIndex.of(document)
        blocks = changed_blocks(self.document.matrix, document.matrix)
        if blocks is None:
            return ReviewIndex.of(document)
        parts = changed_parts(replace(self.document, matrix=document.matrix), document, SameIds(document))
        sources, targets = ({id_ for pair in parts.schemas[side] for id_ in pair if id_} for side in Side)
        return self._again(document, self._touched(document, sources, targets, blocks))

    def _touched(
        self, document: Document, sources: set[int], targets: set[int], blocks: Iterable[BlockKey]
    ) -> set[Group]:
        touched = {group for group in self.groups if group[0] in sources or group[1] in targets}
        keys, before = list(blocks), self.document
        touched |= _groups_of(document, keys)
        if before.extraction is not document.extraction or before.cdm is not document.cdm:
            touched |= _groups_of(before, keys)
        return touched


def _groups_of(document: Document, keys: list[BlockKey]) -> set[Group]:
    """Return the groups of the blocks whose ends are there; each version is looked up once."""
    schemas, entities = (
        {id_: tree.schema_of(id_) for id_ in {key[end] for key in keys} if tree.has_version(id_)}
        for end, tree in enumerate((document.extraction, document.cdm))
    )
    return {(schemas[v], entities[w]) for v, w in keys if v in schemas and w in entities}


def _schemas_of(change: ChangeSet, side: Side) -> set[int]:
    """Return the schemas or entities of one side that a change touched, by their own or by a version."""
    nodes = (node for each in change.versions if each.side is side for node in (each.before, each.after))
    return {node.schema_id for node in nodes if node is not None} | {e.id for e in change.schemas if e.side is side}


_READ_ONLY = "The project is open read only."


class DocumentChange(Value, eq=False):
    """Two documents: what was shown, and what is to be shown now.

    Args:
        blocks: keys of the blocks that differ, ``None`` when nobody wrote them down.
    """

    before: Document
    after: Document
    blocks: tuple[BlockKey, ...] | None = None

    @property
    def same_trees(self) -> bool:
        """Whether neither tree changed."""
        return self.before.extraction is self.after.extraction and self.before.cdm is self.after.cdm


class OpenProject(QObject):
    """The project of the window, or none.

    Signals:
        opened: the ``Workbench`` that is open now, or ``None``.
        changed: a ``DocumentChange``.
        edited: the number of the state that an edit made in this window; one that changed nothing makes none.
        refused: a ``MetlError`` that an edit met, or a panel that was shown; nothing was changed.
        commented: comments were written or removed; they are beside the states, so ``changed`` does not tell.
        merged: the same state as a ``Document`` with other columns; nothing that is shown changes.
        looked: another state is looked at, or the newest again, or there is a newer one than before.
        refusals_changed: renames were refused or allowed again; they are beside the states.
        samples_changed: sample messages were kept or forgotten; they are in the user's cache.
    """

    opened = Signal(object)
    changed = Signal(object)
    edited = Signal(object)
    refused = Signal(object)
    commented = Signal()
    merged = Signal(object)
    looked = Signal()
    refusals_changed = Signal()
    samples_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.workbench: Workbench | None = None
        self.value = Document()
        self.samples: ProjectSamples | None = None
        self.looks_back: int | None = None
        self.was_editable = False
        """Whether the project was opened for editing; it is not any more once somebody took it over."""
        self._review: ReviewIndex | None = None
        self._comments: Comments | None = None
        self._refused: tuple[Document, RefusedRenames] | None = None

    def open(self, workbench: Workbench, review: ReviewIndex | None = None) -> None:
        """Show another project; the one before is closed.

        Args:
            workbench: the project.
            review: what waits in it, when somebody has worked that out already.
        """
        self.close()
        self.workbench, self.was_editable = workbench, workbench.is_for_editing
        self.value = workbench.document
        self.samples = ProjectSamples(workbench)
        self._review = review
        self.opened.emit(workbench)

    def close(self) -> None:
        """Close the project, if one is open."""
        if self.workbench is not None:
            workbench, self.workbench, self.samples = self.workbench, None, None
            self.value, self.looks_back, self._review, self._comments = Document(), None, None, None
            self.opened.emit(None)
            workbench.close()

    def do(self, edit: Edit) -> bool:
        """Do an edit; a refusal is told by ``refused``.

        Returns:
            Whether it was done.
        """
        before = self.newest.state
        is_done = self._attempt(lambda workbench: workbench.do(edit, EditOrigin.WINDOW))
        if is_done and self.newest.state != before:
            self.edited.emit(self.value.state)
        return is_done

    def undo(self) -> bool:
        """Take back the newest edit made in a window."""
        return self._attempt(lambda workbench: workbench.undo((EditOrigin.WINDOW,), EditOrigin.WINDOW))

    def redo(self) -> bool:
        """Bring the newest undone edit again."""
        return self._attempt(lambda workbench: workbench.redo((EditOrigin.WINDOW,), EditOrigin.WINDOW))

    @property
    def can_edit(self) -> bool:
        """Whether edits are taken: the project is open for editing, and its newest state is shown."""
        return self.workbench is not None and self.workbench.is_for_editing and self.looks_back is None

    @property
    def folder(self) -> Path:
        """Where file dialogs begin: the folder of the project, the person's own while none is open."""
        return self.workbench.path.parent if self.workbench is not None else Path.home()

    @property
    def newest(self) -> Document:
        """The document of the newest state, whichever is shown: what is masked in it is hidden everywhere."""
        return self.workbench.document if self.workbench is not None else self.value

    @property
    def why_not(self) -> str:
        """Why edits are not taken in an open project, empty where they are."""
        if self.workbench is None or self.can_edit:
            return ""
        return _READ_ONLY if not self.workbench.is_for_editing else "An earlier state is shown: go back to now first."

    def look_at(self, state: int | None, document: Document | None = None) -> None:
        """Show an earlier state, in which nothing can be changed; ``None`` shows the newest again.

        Args:
            state: its number; that of the newest state is the same as ``None``.
            document: its content, where a job has rebuilt it already.

        Raises:
            ProjectError: there is no such state any more.
        """
        workbench = self.workbench
        if workbench is None:
            return
        now = workbench.document
        if state is None or state == now.state:
            state, found = None, now
        else:
            found = document if document is not None else workbench.at_state(state)
        self.looks_back = state
        self._swap(found, changed_blocks(self.value.matrix, found.matrix))
        self.looked.emit()

    def while_open(self, take: Callable[[T], object]) -> Callable[[T], None]:
        """Return what takes an answer about this project, and drops one that comes when another is open, or none."""
        workbench = self.workbench

        def answered(answer: T) -> None:
            if self.workbench is workbench:
                take(answer)

        return answered

    def refuses_now(self) -> bool:
        """Refuse an edit that a job would make, in words, while an earlier state is shown; whether it was refused."""
        if self.looks_back is not None:
            self.refused.emit(looks_back_error(self.looks_back))
        return self.looks_back is not None

    def catch_up(self) -> None:
        """Show what was committed through the workbench by a job; who looks at an earlier state goes on doing so."""
        if self.workbench is not None and self.looks_back is None:
            self._swap(self.workbench.document)
        elif self.workbench is not None:
            self.looked.emit()

    def take_merged(self) -> None:
        """Hold the same state with its overlay merged; nothing that is shown changes."""
        if self.workbench is None:
            return
        merged = self.workbench.document
        if self.looks_back is not None:
            return  # the newest state is taken as it is then when somebody comes back to it
        if merged.state != self.value.state:
            self.catch_up()
            return
        if self._review is not None and self._review.document is self.value:
            self._review = replace(self._review, document=merged)
        self.value = merged
        self.merged.emit(merged)

    @property
    def undo_title(self) -> str | None:
        """What undo takes back; nothing while the file cannot be asked."""
        try:
            return self.workbench.undo_title((EditOrigin.WINDOW,)) if self.workbench is not None else None
        except UserError:
            return None

    @property
    def redo_title(self) -> str | None:
        """What redo brings again; nothing while the file cannot be asked."""
        try:
            return self.workbench.redo_title((EditOrigin.WINDOW,)) if self.workbench is not None else None
        except UserError:
            return None

    def review_items(self) -> tuple[ReviewItem, ...]:
        """What waits for a decision, postponed items last; worked out once for each document."""
        if self._review is None or self._review.document is not self.value:
            known = self._review
            self._review = known.followed(self.value) if known is not None else ReviewIndex.of(self.value)
        return tuple(sorted(self._review.items, key=_is_postponed))

    def comments(self) -> Comments:
        """Return what people said of nodes, elements and blocks; worked out once for each document."""
        known = self._comments
        if known is None or known.document is not self.value:
            known = self._comments = Comments(self.value, self._said(known))
        return known

    def _said(self, known: Comments | None) -> tuple[Comment, ...]:
        """Read all comments; those known so far stay while an earlier state is shown, and while the file is gone."""
        before = known.all if known is not None else ()
        if self.workbench is None:
            return ()
        if known is not None and self.looks_back is not None:
            return before  # the file is not asked for each state of a drag
        try:
            return self.workbench.kept.comments.all()
        except UserError:
            return before

    def read_comments_again(self) -> None:
        """Tell everybody that comments were written or removed."""
        self._comments = None
        self.commented.emit()

    def refused_renames(self) -> RefusedRenames:
        """Return the renames that people refused; read once for each document, none while the file cannot be asked."""
        if self._refused is None or self._refused[0] is not self.value:
            try:
                found = self.workbench.kept.refused_renames.all() if self.workbench is not None else NO_RENAMES_REFUSED
            except UserError:
                found = NO_RENAMES_REFUSED
            self._refused = self.value, found
        return self._refused[1]

    def sample_values(self, side: Side, version_id: int) -> dict[int, Values]:
        """Return values of the attributes of a version by id, the newest first; of none that is masked."""
        if self.samples is None:
            return {}
        ask = self.samples.values if side is Side.EXTRACTION else self.samples.target_values
        return ask(self.value, self.newest, version_id)

    def value_counts(self, side: Side, version_id: int, attribute_id: int) -> ValueCounts | None:
        """Return what the values of an attribute are in the samples; ``None`` for a masked one, or without any."""
        if self.samples is None or not self.samples.schemas:
            return None
        ask = self.samples.counts if side is Side.EXTRACTION else self.samples.target_counts
        return ask(self.value, self.newest, version_id, attribute_id)

    def rename_values(self, schema_id: int) -> RenameValues | None:
        """Return values of all attributes of a schema as evidence for renames, ``None`` without samples."""
        return self.samples.for_renames(self.value, self.newest, schema_id) if self.samples is not None else None

    def read_samples_again(self) -> None:
        """Tell everybody that samples were kept or forgotten."""
        if self.samples is not None:
            self.samples.refresh()
            self.samples_changed.emit()

    def read_refused_again(self) -> None:
        """Tell everybody that renames were refused or allowed again."""
        self._refused = None
        self.refusals_changed.emit()

    def _attempt(self, act: Callable[[Workbench], Transition]) -> bool:
        if self.workbench is None:
            return False
        if self.refuses_now():
            return False
        try:
            done = act(self.workbench)
        except UserError as error:
            self.catch_up()
            self.refused.emit(error)
            return False
        is_next = done.before is self.value and done.after is self.workbench.document
        if is_next and self._review is not None and self._review.document is self.value:
            self._review = self._review.after(done.after, done.change)
        self._swap(self.workbench.document, tuple(c.key for c in done.change.blocks) if is_next else None)
        return True

    def _swap(self, after: Document, blocks: tuple[BlockKey, ...] | None = None) -> None:
        if after is not self.value:
            changed = DocumentChange(self.value, after, blocks)
            self.value = after
            self.changed.emit(changed)


def looks_back_error(state: int) -> ReadOnlyStateError:
    """Say why nothing can be changed while an earlier state is shown."""
    return ReadOnlyStateError(
        f"You look at state {state:,}, in which nothing can be changed.", hint="Go back to now, then do it again."
    )


def _is_postponed(item: ReviewItem) -> bool:
    return item.block.postponed
