"""Edits of the versions that are shown, carried to the other versions that are in scope, as one undo step.

A scope of many versions is shown before it is done; what was left is told, and one click away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from metl_gui.core.changes.draft import Edit
from metl_gui.core.counted import number_of
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.unmapped_versions import LikeOthers, plan_like_others
from metl_gui.core.edits.version_scope import LeftElement, ScopePlan, VersionScope, carried, lineage_places
from metl_gui.core.matrix.blocks import BlockKey, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.todo import marks_taken
from metl_gui.core.trees.trees import Tree
from metl_gui.ui.jobs.jobs import CommandResult, Jobs, work_out
from metl_gui.ui.map.conflict import ElementConflict, toggle
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import Selected
from metl_gui.ui.project.text import block_words
from metl_gui.values import Value

MOST_UNASKED = 50
"""An edit that would touch more versions than this is shown before it is done."""

_AT_ONCE = 5_000
"""So many blocks are looked at between two events; more of them are a job."""

_ORDER = (VersionScope.ALL, VersionScope.LATER, VersionScope.THIS)


class Instead(Value):
    """What else one may want once an edit is done: its words, and what it does."""

    words: str
    callback: Callable[[], object]


def result(said: str, instead: Instead | None = None, is_good: bool = True) -> CommandResult:
    """Return what came of a command, with what else one may want."""
    if instead is None:
        return CommandResult(said, is_good=is_good)
    return CommandResult(said, instead.words, instead.callback, is_good)


class ScopedEdit(Value):
    """What is to be done in the versions that are shown and in the others.

    Args:
        document: what it was worked out on.
        edits: of the versions that are shown.
        plan: what they mean in the others.
        title: of the edits together; empty to use that of the first.
        said: what came of it in the versions that are shown, without a full stop; empty for one element.
        instead: what else one may want once it is done.
        scope: the other versions that take part.
        types_too, entity_versions_too: what was chosen along.
        is_done: whether the versions that are shown are so already, so that only the others change.
        only: the blocks of others that take part, ``None`` for all in scope.
        is_range: whether the versions that are shown were named as a range, so that many of them are a scope, too.
    """

    document: Document
    edits: tuple[SetElements, ...]
    plan: ScopePlan
    title: str = ""
    said: str = ""
    instead: Instead | None = None
    scope: VersionScope = VersionScope.ALL
    types_too: bool = False
    entity_versions_too: bool = False
    is_done: bool = False
    only: frozenset[BlockKey] | None = None
    is_range: bool = False

    @property
    def versions(self) -> int:
        """How many versions change."""
        own = () if self.is_done else self.edits
        return len({edit.key[0] for edit in (*own, *self.plan.edits)})

    @property
    def is_wide(self) -> bool:
        """Whether it is shown before it is done."""
        return (self.versions if self.is_range else self.others) > MOST_UNASKED

    @property
    def others(self) -> int:
        """How many other versions change; of the entity where no other one of the schema does."""
        versions = {edit.key[0] for edit in self.plan.edits} - {edit.key[0] for edit in self.edits}
        return len(versions) or len(self.plan.edits)

    @property
    def has_parallel_versions(self) -> bool:
        """Whether the entity keeps other versions that could take part."""
        return self.only is None and has_parallel_versions(self.document, (edit.key[1] for edit in self.edits))

    def edit(self) -> Edit:
        """Return all of it as one edit."""
        title = self.title or self.edits[0].title(self.document)
        if self.others:
            title += f"{'' if self.is_done else ', and'} in {number_of(self.others, 'other version')}"
        edits = self.plan.edits if self.is_done else (*self.edits, *self.plan.edits)
        return edits[0] if len(edits) == 1 and not self.title else CompositeEdit(title, edits)

    def alone(self) -> ScopedEdit:
        """Return the same without other versions."""
        return replace(self, plan=_NOTHING, scope=VersionScope.THIS, entity_versions_too=False, instead=None)

    def chosen(self, document: Document, *, types_too: bool, entity_versions_too: bool) -> ScopedEdit:
        """Return it with other things chosen along, on a document in which it may be done already."""
        plan = carried(
            document,
            self.edits,
            self.scope,
            types_too=types_too,
            entity_versions_too=entity_versions_too,
            only=self.only,
        )
        return replace(self, document=document, plan=plan, types_too=types_too, entity_versions_too=entity_versions_too)

    def rest(self, document: Document) -> ScopedEdit:
        """Return what of it was left, on a document in which it is done."""
        found = self.chosen(document, types_too=False, entity_versions_too=self.entity_versions_too)
        return replace(found, said="", instead=None, is_done=True)

    def on(self, document: Document) -> ScopedEdit:
        """Return the same worked out on another document."""
        return self.chosen(document, types_too=self.types_too, entity_versions_too=self.entity_versions_too)


_NOTHING = ScopePlan()


class ScopedEdits(QObject):
    """Does the edits of one window, with what they mean in the versions that are in scope.

    Args:
        project: what is edited.
        jobs: what works out large plans, ``None`` to wait for them.

    Signals:
        said: a ``CommandResult``.
        asked: a ``ScopedEdit`` of many versions that waits for ``do_planned``.
        left: a ``ScopedEdit`` that was done, of which people want to see what was left.
        switched: another scope was chosen.
    """

    said = Signal(object)
    asked = Signal(object)
    left = Signal(object)
    switched = Signal()

    def __init__(self, project: OpenProject, jobs: Jobs | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project, self._jobs = project, jobs
        self.scope, self.entity_versions_too = VersionScope.ALL, False
        self._places: tuple[Tree | None, int, dict[int, list[int]]] = None, 0, {}

    def choose(self, scope: VersionScope) -> None:
        """Let edits hold for other versions from now on."""
        if scope is not self.scope:
            self.scope = scope
            self.switched.emit()

    def switch(self) -> None:
        """Choose the next scope: all versions, this and later ones, this one."""
        self.choose(_ORDER[(_ORDER.index(self.scope) + 1) % len(_ORDER)])

    def switch_entity_versions(self) -> None:
        """Let edits hold for the other versions of entities that keep several, too, or no more."""
        self.entity_versions_too = not self.entity_versions_too
        self.switched.emit()

    @property
    def words(self) -> str:
        """What edits hold for."""
        return f"{self.scope.value}{' and the other versions of an entity' if self.entity_versions_too else ''}"

    def words_at(self, selected: Selected) -> str:
        """Say which versions an edit of a cell holds for; nothing where its versions are the only ones that have it.

        Where an end is taken it replaces or swaps, which holds for the version that is shown.
        """
        key, element, tree = selected.block, selected.element, self._project.value.extraction
        if key is None or element is None or not self._project.can_edit:
            return ""
        attribute = tree.version(key[0]).attribute(element.p)
        if attribute is None:
            return ""
        schema = tree.schema(tree.schema_of(key[0]))
        # Each step of the pointer asks, and a schema may have 10,000 versions.
        if self._places[:2] != (tree, schema.id):
            self._places = tree, schema.id, lineage_places(tree, schema.id)
        is_taken = isinstance(toggle(self._project.value, key, element), ElementConflict)
        scope = VersionScope.THIS if is_taken else self.scope
        words = _scope_words(self._places[2][attribute.lineage], schema.version_ids.index(key[0]), scope)
        rows = self._other_rows(key[1], element.q) if self.entity_versions_too and not is_taken else 0
        return f"{words or 'this version'}, {rows:,} more of the entity" if rows else words

    def _other_rows(self, entity_version: int, attribute: int) -> int:
        """Return in how many other versions of an entity that keeps several an attribute is."""
        cdm = self._project.value.cdm
        entity, own = cdm.schema(cdm.schema_of(entity_version)), cdm.version(entity_version).attribute(attribute)
        if own is None or entity.setting("policy") != "parallel":
            return 0
        others = (version for version in entity.version_ids if version != entity_version)
        return sum(bool(cdm.members(version, {own.lineage})) for version in others)

    def do(
        self,
        edits: Sequence[SetElements],
        title: str = "",
        said: str = "",
        instead: Instead | None = None,
        scope: VersionScope | None = None,
        *,
        is_range: bool = False,
    ) -> None:
        """Do edits of the versions that are shown, with what they mean in the others.

        Args:
            edits: of one block each.
            title: of the undo step; empty to use that of the only edit.
            said: what is told of them, without a full stop; empty for one element, which is seen.
            instead: what else one may want then.
            scope: the other versions that take part, ``None`` for those that are chosen.
            is_range: whether the versions that are shown were named as a range.
        """
        if not self._may_edit():
            return
        own, document, wide = tuple(edits), self._project.value, scope or self.scope
        rows = self.entity_versions_too and scope is None
        extraction = document.extraction
        reach = sum(len(extraction.schema(extraction.schema_of(edit.key[0])).version_ids) for edit in own)

        def plan() -> ScopedEdit:
            found = carried(document, own, wide, entity_versions_too=rows)
            return ScopedEdit(
                document, own, found, title, said, instead, wide, entity_versions_too=rows, is_range=is_range
            )

        is_large = reach > _AT_ONCE and wide is not VersionScope.THIS
        jobs = self._jobs if is_large else None
        work_out(jobs, "Looking at other versions", plan, self._project.while_open(self._planned))

    def do_and_later(self, edit: SetElements) -> None:
        """Do an edit that answers what came with a version, which holds for later versions as well."""
        self.do((edit,), scope=VersionScope.LATER)

    def apply_to_others(self, key: BlockKey) -> None:
        """Map all other versions as a block is mapped, where their ends are free."""
        document = self._project.value
        block = document.matrix.block(*key)
        if block is None or block.is_null:
            self.said.emit(CommandResult("Choose a block that is mapped first.", is_good=False))
            return
        status = Status.UNCONFIRMED if block.is_unconfirmed else Status.CONFIRMED
        own = (SetElements(key, block.elements, status=status),)
        plan = carried(document, own, VersionScope.ALL)
        title = f"Apply {block_words(document, key)} to all not mapped"
        planned = ScopedEdit(document, own, plan, title, f"{block_words(document, key)} applied", is_done=True)
        if plan.edits:
            self._planned(planned)
        else:
            said = "No other version has a free place for it."
            left = Instead("Show what was left", lambda: self.left.emit(planned)) if plan.left else None
            self.said.emit(result(said, left, is_good=False))

    def map_like_others(self, versions: Sequence[int] | None = None) -> None:
        """Map versions that nobody has decided on as the newest mapped version of their schema is mapped.

        Args:
            versions: their ids, ``None`` for all.
        """
        if not self._may_edit():
            return
        document = self._project.value
        ids = versions if versions is not None else [v for s in document.extraction.schemas() for v in s.version_ids]
        work_out(
            self._jobs if len(ids) > _AT_ONCE else None,
            "Looking at other versions",
            lambda: plan_like_others(document, ids),
            self._project.while_open(lambda found: self._like_others(document, found)),
        )

    def _like_others(self, document: Document, found: LikeOthers) -> None:
        if not found.versions:
            self.said.emit(CommandResult("No version is left that another of its schema shows a mapping for."))
            return
        title, said = "Map like others of the schema", "Mapped like others of the schema"
        self._planned(ScopedEdit(document, found.models, found.plan, title, said, is_done=True, only=found.blocks))

    def do_planned(self, planned: ScopedEdit) -> None:
        """Do what was shown before."""
        document = self._project.value
        if planned.document.state != document.state:  # it was looked at meanwhile
            planned = planned.on(document)
        if not self._may_edit() or not self._project.do(planned.edit()):
            return
        words = f"{told(planned)} {taken_words(document, self._project.value)}".strip()
        if words:
            self.said.emit(result(words, planned.instead or self._instead(planned)))

    def perform(self, edit: Edit) -> bool:
        """Do an edit that has no scope; in a project that is only looked at, say so without a dialog."""
        return self._may_edit() and self._project.do(edit)

    def _planned(self, planned: ScopedEdit) -> None:
        if planned.is_wide:
            self.asked.emit(planned)
        else:
            self.do_planned(planned)

    def _instead(self, planned: ScopedEdit) -> Instead | None:
        if planned.plan.left:
            return Instead("Show what was left", lambda: self.left.emit(planned))
        can_shrink = planned.others and not planned.is_done
        return Instead("Only in this version", lambda: self._only_here(planned)) if can_shrink else None

    def _only_here(self, planned: ScopedEdit) -> None:
        if self._project.undo():
            self.do_planned(planned.alone())

    def _may_edit(self) -> bool:
        workbench = self._project.workbench
        if workbench is not None and not workbench.is_for_editing:
            self.said.emit(CommandResult("This project is open read only: nothing was changed.", is_good=False))
            return False
        return True


def has_parallel_versions(document: Document, entity_versions: Iterable[int]) -> bool:
    """Whether the entity of one of some versions keeps others beside it."""
    cdm = document.cdm
    entities = (cdm.schema(cdm.schema_of(version)) for version in entity_versions)
    return any(one.setting("policy") == "parallel" and len(one.version_ids) > 1 for one in entities)


def taken_words(before: Document, after: Document) -> str:
    """Say which attributes an edit maps although they were marked as never to be mapped; empty for none."""
    taken = marks_taken(before, after)
    if not taken:
        return ""
    (path, mark), count = taken[0], len(taken)
    if count == 1:
        return f"{path} is no longer marked as never to be mapped ({mark.reason})."
    return f"{count:,} attributes are no longer marked as never to be mapped, {path} among them."


def told(planned: ScopedEdit) -> str:
    """Say what came of an edit; nothing where it is one element of one version, which is seen."""
    verb = "Mapped" if any(edit.ones for edit in planned.edits) else "Cleared"
    plan, words = planned.plan, planned.said
    if planned.others:
        versions = number_of(planned.others, "other version")
        if planned.is_done:
            words = f"{words or verb}: {number_of(plan.changed, 'element')} in {versions}"
        else:
            words = f"{words}; {plan.changed:,} more in {versions}" if words else f"{verb} here and in {versions}"
    left = left_words(plan.left)
    if left:
        return f"{words or f'{verb} here'}. {left}"
    return f"{words}." if words else ""


def left_words(left: Collection[LeftElement]) -> str:
    """Say how many elements were left, and why."""
    reasons = Counter(each.reason for each in left)
    versions = len({each.key[0] for each in left})
    if not reasons:
        return ""
    why = ", ".join(f"{count:,} because {reason.value}" for reason, count in reasons.most_common())
    return f"Left in {number_of(versions, 'version')}: {why}."


def _scope_words(places: list[int], own: int, scope: VersionScope) -> str:
    """Say for which versions an edit holds, by the places of those that have the field; nothing of the only one."""
    if len(places) == 1:
        return ""
    if scope is VersionScope.ALL:
        return f"all {len(places):,} versions"
    later = len(places) - places.index(own) - 1 if scope is VersionScope.LATER else 0
    none = "this version, none is later" if scope is VersionScope.LATER else "this version"
    return f"this and {later:,} later" if later else none
