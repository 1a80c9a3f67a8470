"""Schemas and versions into the project, with the automated update for each added version.

One state per version, all of one call in one undo group, the versions of each schema in their order. What the project
has already is left alone.

``ImportRecord`` keeps in the project what a bulk import is about to add, until it has ended. So one that was killed or
stopped has a list of what it still has to add: ``resume`` goes on with it, ``forget`` drops it.

Source: docs/reference/commands.md, "metl import"; docs/architecture/model.md, "States, publishing, being out of step"
(bulk imports).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from metl_gui.core.changes.draft import Edit, Transition
from metl_gui.core.edits.settings import AddAlias
from metl_gui.core.edits.versions import AddVersion, AttachLabel, NoteKey
from metl_gui.core.matrix.blocks import Verdict
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, TaskRunner, Watch, run_inline
from metl_gui.core.project.pending_imports import PendingImport, Remainder
from metl_gui.core.project.reader_result import ReaderResult, SkippedSource, merge
from metl_gui.core.project.source_formats import parse_format
from metl_gui.core.review.items import review_items
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration, fingerprint
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.errors import EditError, UserError
from metl_gui.formats.connect_schema import without_added
from metl_gui.registry.files import sources as folders
from metl_gui.registry.messages.schema_inference import have_same_paths
from metl_gui.workbench.importing.remote_sources import EVERYTHING, ImportFilter, is_remote, read_remote, read_topics
from metl_gui.workbench.importing.source_names import alias_edits, continued, traced
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.session import EditGroup, EditOrigin, Workbench


class ImportRecord:
    """One bulk import, and the undo group of its edits.

    Args:
        workbench: the opened project.
        group: the edits of the import.
        id: of the record in the project; ``None`` for an import of one version, which is whole or not at all anyway.
        is_noted: the group stands in the record.
    """

    def __init__(self, workbench: Workbench, group: EditGroup, id_: int | None, is_noted: bool = False) -> None:
        self.group = group
        self._workbench = workbench
        self._id = id_
        self._is_noted = is_noted

    @classmethod
    def begin(
        cls, workbench: Workbench, side: Side, declarations: Sequence[VersionDeclaration], door: EditOrigin
    ) -> Self:
        """Write down what an import is about to add."""
        several = len(declarations) > 1
        id_ = workbench.kept.pending_imports.begin(side, door, declarations, workbench.stamp()) if several else None
        return cls(workbench, workbench.new_group(door), id_)

    @classmethod
    def again(cls, workbench: Workbench, began: PendingImport) -> Self:
        """Resume an import: in its undo group, unless something else was done since."""
        newest = workbench.log(1)
        joins = began.group is not None and bool(newest) and newest[0].group == began.group
        group = EditGroup(EditOrigin(began.door), began.group if joins else None)
        return cls(workbench, group, began.id, is_noted=joins)

    def note_group(self) -> None:
        """Write down the undo group as soon as there is one."""
        if self._id is not None and not self._is_noted and self.group.id is not None:
            self._workbench.kept.pending_imports.note_group(self._id, self.group.id)
            self._is_noted = True

    def end(self) -> None:
        """Forget the record; the import has done all it could."""
        if self._id is not None:
            self._workbench.kept.pending_imports.end(self._id)


_MANY_ADDED = 50
"""After so many new versions, what was added is put into the columns, which are quicker to show."""


class Renaming(JsonResult):
    """An attribute that has another name than in the version before, as the source says."""

    before: str
    after: str


class AddedVersion(JsonResult):
    """A version that the project did not have.

    Args:
        tree: ``extraction`` or ``cdm``.
        name: schema or entity.
        version: its label.
        attributes: how many it has.
        source: where it came from.
        renamed: attributes that the source itself calls the same under another name.
    """

    tree: str
    name: str
    version: str
    attributes: int
    source: str
    renamed: tuple[Renaming, ...] = ()


class UnchangedVersion(JsonResult):
    """A version whose content the project has already."""

    name: str
    version: str
    source: str


class ImportResult(JsonResult):
    """What an import did.

    Args:
        state: the state afterwards.
        added: versions that are new, in the order in which they were added.
        unchanged: versions that were there.
        refused: sources, or parts of them, that were not imported, and why.
        blocks: by verdict, the blocks that the automated update made; under ``first`` the versions that are the
            first of their schema or entity and so had nothing to copy.
        needs_review: decisions that wait afterwards.
        writer_schemas: how many registry ids are known by which binary messages are read.
    """

    state: int
    added: tuple[AddedVersion, ...]
    unchanged: tuple[UnchangedVersion, ...]
    refused: tuple[SkippedSource, ...]
    blocks: dict[str, int]
    needs_review: int
    writer_schemas: int = 0

    @property
    def is_all_refused(self) -> bool:
        """Whether there was nothing to import but what was refused."""
        return bool(self.refused) and not self.added and not self.unchanged


@dataclass(slots=True)
class _ImportProgress:
    added: list[AddedVersion] = field(default_factory=list)
    unchanged: list[UnchangedVersion] = field(default_factory=list)
    refused: list[SkippedSource] = field(default_factory=list)
    verdicts: Counter[Verdict] = field(default_factory=Counter)


def import_sources(
    workbench: Workbench,
    side: Side,
    sources: Sequence[str | Path],
    format_name: str = "auto",
    door: EditOrigin = EditOrigin.COMMAND,
    watch: Watch = UNWATCHED,
    aside: TaskRunner = run_inline,
    choice: ImportFilter = EVERYTHING,
) -> ImportResult:
    """Read files, folders and patterns, registries and databases, and add the versions in them.

    Args:
        workbench: the opened project.
        side: the tree they belong to.
        sources: files, folders and patterns; addresses and profiles (``@NAME``) of registries and databases.
        format_name: how to read files; ``auto`` looks into each.
        door: where the gesture was made.
        watch: progress and cancel; a cancelled import keeps what it added.
        aside: where the reading is done; a window has a process for it.
        choice: what is wanted of registries and databases.

    Raises:
        SchemaError: there is no such format.
        ProjectError: the project cannot be written.
    """
    reading = aside(partial(read_sources, tuple(sources), format_name, choice=choice), watch)
    return add_reading(workbench, side, reading, door, watch)


def read_sources(
    sources: Sequence[str | Path], format_name: str, watch: Watch = UNWATCHED, choice: ImportFilter = EVERYTHING
) -> ReaderResult:
    """Read files, folders, patterns, topics and what is elsewhere; touches no project, so another process can do it.

    Order: as sources are named, what is elsewhere first; a registry's versions as it has them.

    Raises:
        SchemaError: there is no such format.
    """
    format_ = parse_format(format_name)
    readings = [read_remote(str(source), choice, watch) for source in sources if is_remote(source)]
    readings += [read_topics(str(source), format_, watch) for source in sources if is_kafka(str(source))]
    files = [source for source in sources if not is_remote(source) and not is_kafka(str(source))]
    if files or not readings:
        entering = partial(_tell, watch)
        readings.append(folders.read(files, format_, entering, choice.prefix))
    return readings[0] if len(readings) == 1 else merge(readings)


def _tell(watch: Watch, path: Path) -> None:
    watch.step(f"Reading {'/'.join(path.parts[-2:])}")


def add_reading(
    workbench: Workbench,
    side: Side,
    reading: ReaderResult,
    door: EditOrigin = EditOrigin.COMMAND,
    watch: Watch = UNWATCHED,
) -> ImportResult:
    """Add versions that a reader has declared.

    Each version is refused or added on its own; the ones after it go on. What is left to do is kept with the project,
    so that an import which was killed or stopped can go on (``resume``).
    """
    if reading.wire and side is Side.EXTRACTION:
        workbench.kept.writer_schemas.keep(reading.wire, workbench.stamp())
    reading = traced(workbench.document.tree(side), continued(workbench.document.tree(side), reading))
    new = tuple(d for d in reading.declarations if known_version(workbench.document, side, d) is None)
    return add_recorded(workbench, side, reading, ImportRecord.begin(workbench, side, new, door), watch)


def is_new(workbench: Workbench, side: Side, reading: ReaderResult) -> bool:
    """Return whether adding a reading would change anything: a version, a label, a key or a registry id."""
    document = workbench.document
    declared = reading.declarations
    if reading.has_counted_labels:
        declared = tuple(with_free_label(document, side, declaration) for declaration in declared)
    if any(edits_for(document, side, declaration) for declaration in declared):
        return True
    if side is not Side.EXTRACTION or not reading.wire:
        return False
    known = {(one.id, one.schema) for one in workbench.kept.writer_schemas.all()}
    return any((one.id, one.schema) not in known for one in reading.wire)


def add_recorded(
    workbench: Workbench, side: Side, reading: ReaderResult, record: ImportRecord, watch: Watch = UNWATCHED
) -> ImportResult:
    """Add versions under a record that was begun."""
    progress = _ImportProgress(refused=list(reading.refused))
    total = len(reading.declarations)
    for done, declaration in enumerate(reading.declarations):
        watch.step(f"Adding {declaration.name} {declaration.label or ''}".rstrip(), done, total)
        try:
            is_counted = reading.has_counted_labels
            own = with_free_label(workbench.document, side, declaration) if is_counted else declaration
            _add(workbench, side, own, record.group, progress)
        except EditError as error:
            progress.refused.append(SkippedSource(declaration.source or declaration.name, str(error)))
        record.note_group()
    for alias in alias_edits(workbench.document.tree(side), side, reading):
        workbench.do(alias, group=record.group)
    record.end()
    _forget_done(workbench)
    if len(progress.added) > _MANY_ADDED:
        workbench.merge_overlay()
    if total:
        watch.tell("Done", total, total)
    return ImportResult(
        workbench.document.state,
        tuple(progress.added),
        tuple(progress.unchanged),
        tuple(progress.refused),
        {verdict.value: progress.verdicts[verdict] for verdict in Verdict},
        len(review_items(workbench.document)),
        len({one.id for one in reading.wire if one.is_of_registry}) if side is Side.EXTRACTION else 0,
    )


def remainders(workbench: Workbench) -> tuple[Remainder, ...]:
    """Return what interrupted imports have not added, the oldest import first; those that miss nothing are left out.

    Versions are added in their order, so one that is missing before the last one that is there was refused or removed.

    Cost: linear in the versions of these imports; nothing while there are none.
    """
    found = []
    for began in workbench.kept.pending_imports.all():
        versions = workbench.kept.pending_imports.versions(began.id)
        there = (known_version(workbench.document, began.side, version) is not None for version in versions)
        last = max((at for at, is_there in enumerate(there) if is_there), default=-1)
        if versions[last + 1 :]:
            found.append(Remainder(began, versions[last + 1 :]))
    return tuple(found)


def with_free_label(document: Document, side: Side, declaration: VersionDeclaration) -> VersionDeclaration:
    """Take the label off a version where the project calls another content by it; it will get the next free one."""
    tree = document.tree(side)
    schema = tree.named(declaration.name)
    holder = tree.labelled(schema.id, declaration.label) if schema is not None and declaration.label else None
    is_other = holder is not None and holder.fingerprint != declaration.fingerprint
    return replace(declaration, label=None) if is_other else declaration


def edits_for(document: Document, side: Side, declaration: VersionDeclaration) -> tuple[Edit, ...]:
    """Return the edits that bring a declared version in; for a version that is known, what is new of it."""
    known = known_version(document, side, declaration)
    if known is None:
        return (AddVersion(side, declaration),)
    edits: list[Edit] = []
    if declaration.label is not None and declaration.label not in known.labels:
        edits.append(AttachLabel(side, known.id, declaration.label))
    tree = document.tree(side)
    edits += [AddAlias(side, known.schema_id, alias) for alias in declaration.aliases if tree.named(alias) is None]
    if declaration.key is not None and known.key is None:
        edits.append(NoteKey(side, known.id, declaration.key))
    return tuple(edits)


def added_ids(document: Document, result: ImportResult) -> tuple[int, ...]:
    """Return the ids of the versions of schemas that an import added and that are still there."""
    tree, found = document.extraction, []
    for added in result.added:
        schema = tree.named(added.name) if added.tree == Side.EXTRACTION.value else None
        version = tree.labelled(schema.id, added.version) if schema is not None else None
        if version is not None:
            found.append(version.id)
    return tuple(found)


def added_version(transition: Transition, side: Side, source: str) -> AddedVersion | None:
    """Return which version an edit added, ``None`` when it added none."""
    version = next((c.after for c in transition.change.versions if c.side is side and c.before is None), None)
    if version is None:
        return None
    tree = transition.after.tree(side)
    name, before = tree.schema(version.schema_id).name, tree.previous(version)
    there = {a.lineage: a.path for a in before.attributes} if before is not None else {}
    renamed = [Renaming(there[a.lineage], a.path) for a in version.attributes if there.get(a.lineage, a.path) != a.path]
    return AddedVersion(side.value, name, version.label, len(version.attributes), source, tuple(renamed))


def unchanged_version(document: Document, side: Side, declaration: VersionDeclaration) -> UnchangedVersion:
    """Name the version that a declaration is known as."""
    known = known_version(document, side, declaration)
    return UnchangedVersion(declaration.name, known.label if known else "", declaration.source)


def _add(
    workbench: Workbench, side: Side, declaration: VersionDeclaration, group: EditGroup, progress: _ImportProgress
) -> None:
    found: AddedVersion | None = None
    for edit in edits_for(workbench.document, side, declaration):
        transition = workbench.do(edit, group=group)
        found = added_version(transition, side, declaration.source) or found
        if found is not None:
            progress.verdicts.update(new_verdicts(transition))
    if found is not None:
        progress.added.append(found)
    else:
        progress.unchanged.append(unchanged_version(workbench.document, side, declaration))


def _forget_done(workbench: Workbench) -> None:
    """Forget interrupted imports whose versions have come in another way."""
    pending = workbench.kept.pending_imports.all()
    missing = {left.began.id for left in remainders(workbench)} if pending else set()
    for began in pending:
        if began.id not in missing:
            workbench.kept.pending_imports.end(began.id)


def known_version(document: Document, side: Side, declaration: VersionDeclaration) -> Version | None:
    """Find the version of the project that has the same content, by name or alias and fingerprint.

    Types that were read off data say less than declared ones and change with the data, so for an inferred version the
    newest one with the same paths is the same. A version of the same label is the same, too, where it has nothing but
    what the flattening transform adds beside the content: older readers took that for columns.
    """
    tree = document.tree(side)
    schema = tree.named(declaration.name)
    if schema is None:
        return None
    print_ = declaration.fingerprint
    versions = list(tree.versions(schema.id))
    same = next((version for version in versions if version.fingerprint == print_), None)
    if same is None and declaration.inferred:
        paths = ((version, {attribute.path for attribute in version.attributes}) for version in reversed(versions))
        same = next((version for version, own in paths if have_same_paths(own, declaration.attributes)), None)
    if same is None and declaration.label and side is Side.EXTRACTION:
        labelled = tree.labelled(schema.id, declaration.label)
        same = labelled if labelled is not None and _print_without_added(labelled) == print_ else None
    return same


def _print_without_added(version: Version) -> str:
    own = (AttributeDeclaration(a.path, a.type, a.logical, a.scale, a.optional) for a in version.attributes)
    return fingerprint(without_added(own))


def new_verdicts(transition: Transition) -> Iterable[Verdict]:
    """Yield the verdict of every block that a transition made, and ``first`` for a first version."""
    for change in transition.change.versions:
        if change.before is None and change.after is not None:
            tree = transition.after.tree(change.side)
            if len(tree.schema(change.after.schema_id).version_ids) == 1:
                yield Verdict.FIRST
    for block in transition.change.blocks:
        if block.before is None and block.after is not None:
            yield block.after.verdict


def resume(workbench: Workbench, watch: Watch = UNWATCHED) -> ImportResult:
    """Resume every interrupted import.

    Returns:
        What was added now, as one result.

    Raises:
        UserError: there is none.
        RunCancelled: it was stopped; what is left then stays to be done.
    """
    results = [
        add_recorded(
            workbench,
            left.began.side,
            ReaderResult(left.declarations),
            ImportRecord.again(workbench, left.began),
            watch,
        )
        for left in remainders(workbench)
    ]
    if not results:
        raise UserError("No import was interrupted.", hint="There is nothing to go on with.")
    return ImportResult(
        results[-1].state,
        tuple(version for result in results for version in result.added),
        tuple(version for result in results for version in result.unchanged),
        tuple(refusal for result in results for refusal in result.refused),
        {verdict: sum(result.blocks[verdict] for result in results) for verdict in results[-1].blocks},
        results[-1].needs_review,
    )


def forget(workbench: Workbench) -> int:
    """Forget what interrupted imports still had to do; what they added stays.

    Returns:
        How many versions will not be added.
    """
    left = remainders(workbench)
    for began in workbench.kept.pending_imports.all():
        workbench.kept.pending_imports.end(began.id)
    return sum(len(each.declarations) for each in left)


def words(left: Remainder) -> str:
    """Describe what an interrupted import still has to do."""
    count, total = len(left.declarations), left.began.total
    who = f" by {left.began.who}" if left.began.who else ""
    first = left.declarations[0]
    label = f" version {first.label}" if first.label else ""
    begun = f"An import of {total:,} versions{who} was interrupted"
    return f"{begun}: {count:,} of them still to be added, from {first.name}{label} on."
