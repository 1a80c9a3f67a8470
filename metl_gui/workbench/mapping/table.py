"""The mapping table into the matrix: every conflict named with its line, nothing written while one is left.

Source: docs/reference/mapping-csv.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, cast

from metl_gui.core.changes.draft import Edit, perform
from metl_gui.core.counted import number_of
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status, conflicts
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.partition import largest_permutation
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.project.table_columns import TableColumns
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.errors import EditError
from metl_gui.registry.tables.foreign_table import read_columns
from metl_gui.registry.tables.mapping_table import MappingRow, MappingTable, read_table
from metl_gui.values import Value
from metl_gui.workbench.addresses import (
    BlockName,
    ElementName,
    element_name,
    find_attribute,
    find_schema,
    find_version,
    known_block_name,
)
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.mapping.version_ranges import NO_RANGES, RangedRow, RowVersions, plan_ranges, versions_meant
from metl_gui.workbench.session import EditOrigin, Workbench

_STEP_ROWS = 1000


class MapMode(StrEnum):
    """What the rows of a table do to the blocks they name."""

    ADD = "add"
    REPLACE = "replace"
    UNSET = "unset"


class ColumnTable(Value):
    """A table of another shape, and which of its columns is what."""

    path: Path
    columns: TableColumns


class RowConflict(JsonResult):
    """A line that cannot be followed, and why.

    Args:
        line: counted from 1; 0 when no single line is at fault.
        reason: in words.
        clash: whether it breaks the 1:1 rule only, so that taking the largest 1:1 part of its block would do.
    """

    line: int
    reason: str
    clash: bool = False


class LeftLine(JsonResult):
    """An element that a range of versions names and that was left, and why.

    Args:
        line: counted from 1.
        block: its block.
        reason: in words.
    """

    line: int
    block: BlockName
    reason: str

    @property
    def words(self) -> str:
        """It in one line."""
        return f"{self.line}: {self.block}: {self.reason}"


class MapResult(Value):
    """What a mapping table did.

    Args:
        state: the state afterwards; the old one when nothing was written.
        set: elements that changed: set, or cleared because ``--unset`` lists or ``--replace`` does not list them.
        unchanged: elements that were so already.
        conflicts: what must be mended first; nothing was written while there is one.
        dropped: lines left out because the largest 1:1 part of their block was taken.
        left: elements of ranges of versions that were not set: an end is taken, the block is retired, or types differ.
        is_dry_run: whether this only says what would happen.
    """

    state: int
    set: int
    unchanged: int
    conflicts: tuple[RowConflict, ...] = ()
    dropped: tuple[RowConflict, ...] = ()
    left: tuple[LeftLine, ...] = ()
    is_dry_run: bool = False

    @property
    def has_clashes(self) -> bool:
        """Whether some lines break the 1:1 rule."""
        return any(conflict.clash for conflict in self.conflicts)

    @property
    def is_written(self) -> bool:
        """Whether the project holds now what the table says."""
        return not (self.conflicts or self.is_dry_run)

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl map``."""
        return {
            "state": self.state,
            "set": self.set,
            "unchanged": self.unchanged,
            "conflicts": [conflict.as_json() for conflict in self.conflicts],
            "dropped": [conflict.as_json() for conflict in self.dropped],
            "left": [left.as_json() for left in self.left],
            "dry_run": self.is_dry_run,
        }


class MapPlan(Value):
    """The edits that a table asks for, worked out against one document."""

    edits: tuple[SetElements, ...]
    changed: int
    unchanged: int
    conflicts: tuple[RowConflict, ...]
    dropped: tuple[RowConflict, ...]
    left: tuple[LeftLine, ...] = ()


_BLOCK_NAMES = itemgetter(1, 2, 4, 5)
"""Of a row: names and versions of schema and entity."""


def _refused(look_up: Callable[[Sequence[MappingRow]], None], rows: Sequence[MappingRow]) -> list[RowConflict]:
    """Look up rows of one block together, and each by itself where one is refused."""
    try:
        look_up(rows)
    except EditError as error:
        if len(rows) == 1:
            return [RowConflict(rows[0].line, str(error))]
        return [conflict for row in rows for conflict in _refused(look_up, (row,))]
    return []


def _refused_of(
    table: Sequence[MappingRow], look_up: Callable[[Sequence[MappingRow]], None], watch: Watch
) -> list[RowConflict]:
    """Look up the rows of a table, those of one block together wherever they stand, and return what is refused."""
    blocks: dict[tuple[str, ...], list[MappingRow]] = defaultdict(list)
    for row in table:
        blocks[_BLOCK_NAMES(row)].append(row)
    refused: list[RowConflict] = []
    done = told = 0
    for rows in blocks.values():
        if done >= told:
            watch.step("Looking up the names", done, len(table))
            told = done + _STEP_ROWS
        done += len(rows)
        refused += _refused(look_up, rows)
    return refused


@dataclass(slots=True)
class _Wishes:
    """What the rows of one block ask for, with their ends found.

    Args:
        rows, elements: of each line.
        statuses: that are asked for; ``None`` of a row that leaves it open.
    """

    rows: list[MappingRow]
    elements: list[Element]
    statuses: set[Status | None]

    def add(self, other: _Wishes) -> None:
        """Take up further rows, behind those that are there."""
        self.rows += other.rows
        self.elements += other.elements
        self.statuses |= other.statuses

    def sort(self) -> None:
        """Put the rows in the order of their lines, which they have not where they name the block in several ways."""
        lines = list(map(_LINE, self.rows))
        if lines != sorted(lines):
            order = sorted(range(len(lines)), key=lines.__getitem__)
            self.rows, self.elements = [self.rows[at] for at in order], [self.elements[at] for at in order]

    @property
    def comment(self) -> str:
        """The first comment, empty where there is none."""
        return next((text for text in map(_COMMENT, self.rows) if text and text.strip()), "")

    def first_lines(self) -> dict[Element, int]:
        """Return the first line of each element, in order."""
        found = dict(zip(self.elements, map(_LINE, self.rows), strict=True))
        if len(found) < len(self.elements):
            found |= zip(reversed(self.elements), map(_LINE, reversed(self.rows)), strict=True)
        return found


def import_mapping(
    workbench: Workbench,
    path: Path | ColumnTable,
    mode: MapMode = MapMode.ADD,
    take_proposal: bool = False,
    all_versions: bool = False,
    dry_run: bool = False,
    door: EditOrigin = EditOrigin.COMMAND,
    watch: Watch = UNWATCHED,
) -> MapResult:
    """Set or clear the elements that a mapping CSV or workbook lists, as one state and one undo step.

    Args:
        workbench: the opened project.
        path: the CSV file, or a workbook of the export ``xlsx``; a table of another shape with what its columns are.
        mode: add the elements, make the named blocks equal to the table, or clear the elements.
        take_proposal: where a block would not be 1:1, keep its largest 1:1 part and say which lines were left out.
        all_versions: every line holds for all versions of its schema; not with ``MapMode.REPLACE``.
        dry_run: only say what would happen.
        door: where the gesture was made.
        watch: progress and cancel.

    Returns:
        Counts, and every conflict with its line; with a conflict nothing was written.

    Raises:
        SchemaError: the file cannot be read as a mapping table at all.
        ProjectError: the project cannot be written.
    """
    columns = path.columns if isinstance(path, ColumnTable) else None
    path = path.path if isinstance(path, ColumnTable) else path
    watch.step(f"Reading {path.name}")
    table = read_table(path) if columns is None else read_columns(path, columns)
    plan = plan_mapping(workbench.document, table, mode, take_proposal, all_versions, watch)
    if plan.conflicts or dry_run or not plan.edits:
        if not plan.conflicts and plan.edits:
            perform(workbench.document, _edit(plan, mode, path))
        return MapResult(
            workbench.document.state,
            0 if plan.conflicts else plan.changed,
            plan.unchanged,
            plan.conflicts,
            plan.dropped,
            plan.left,
            dry_run,
        )
    watch.step(f"Writing {plan.changed} elements")
    workbench.do(_edit(plan, mode, path), door=door)
    return MapResult(workbench.document.state, plan.changed, plan.unchanged, (), plan.dropped, plan.left)


def plan_mapping(
    document: Document,
    table: MappingTable,
    mode: MapMode,
    take_proposal: bool = False,
    all_versions: bool = False,
    watch: Watch = UNWATCHED,
) -> MapPlan:
    """Work out what a table asks for, without writing anything.

    Lines that name a version are worked out first. Ranges of versions take what these leave, the earlier line first.

    Cost: proportional to the rows, the versions in their ranges, and the blocks they name.
    """
    conflicts = [RowConflict(problem.line, f"{problem.reason}.") for problem in table.problems]
    wishes: dict[BlockKey, _Wishes] = {}
    ranged: list[RangedRow] = []
    names = _NameLookup(document)

    def look_up(rows: Sequence[MappingRow]) -> None:
        label = rows[0].schema_version.strip()
        versions = versions_meant(document, rows[0].schema, label, all_versions)
        if versions is None:
            key, wished = _find(names, rows)
            if key in wishes:
                wishes[key].add(wished)
            else:
                wishes[key] = wished
        elif mode is MapMode.REPLACE:
            raise EditError("A range of versions cannot replace blocks.", hint="Name each version, or add them.")
        else:
            ranged.extend([_ranged(names, row, versions) for row in rows])

    conflicts += _refused_of(table.rows, look_up, watch)
    for wished in wishes.values():
        wished.sort()
    ranged.sort(key=attrgetter("line"))
    not_newest = {w: _not_newest(document, w) for w in {w for _, w in wishes}}
    drafts = [
        _plan_block(document, key, wished, mode, take_proposal, not_newest[key[1]]) for key, wished in wishes.items()
    ]
    for draft in drafts:
        conflicts += draft.conflicts
    edits = {edit.key: edit for draft in drafts for edit in draft.edits}
    rest = NO_RANGES
    if ranged and not conflicts:
        rest = plan_ranges(document, ranged, edits, is_set=mode is not MapMode.UNSET)
    edits |= {edit.key: edit for edit in rest.edits}
    return MapPlan(
        _newest_first(document, edits),
        sum(draft.changed for draft in drafts) + rest.changed,
        sum(draft.unchanged for draft in drafts) + rest.unchanged,
        tuple(sorted(conflicts, key=lambda conflict: (conflict.line, conflict.reason))),
        tuple(sorted((each for draft in drafts for each in draft.dropped), key=lambda conflict: conflict.line)),
        tuple(LeftLine(line, known_block_name(document, key), reason) for line, key, reason in rest.left),
    )


def _newest_first(document: Document, edits: Mapping[BlockKey, SetElements]) -> tuple[SetElements, ...]:
    """Sort edits by the versions of their blocks, whatever order their lines had.

    What an older version maps answers the same loss of newer ones where their ends are free, so these go first.
    """
    places: list[dict[int, int]] = []
    for at, tree in enumerate((document.extraction, document.cdm)):
        schemas = {tree.schema_of(id_) for id_ in {key[at] for key in edits}}
        places.append({id_: place for one in schemas for place, id_ in enumerate(tree.schema(one).version_ids)})
    columns, rows = places
    return tuple(edits[key] for key in sorted(edits, key=lambda key: (-columns[key[0]], -rows[key[1]], key)))


def _edit(plan: MapPlan, mode: MapMode, path: Path) -> Edit:
    if not plan.changed:
        return CompositeEdit(f"Take statuses and comments from {path.name}", plan.edits)
    verb = {MapMode.ADD: "Map", MapMode.REPLACE: "Replace blocks with", MapMode.UNSET: "Unmap"}[mode]
    return CompositeEdit(f"{verb} {number_of(plan.changed, 'element')} from {path.name}", plan.edits)


class _NamedVersion:
    """A version that a table names, with its attributes by path."""

    def __init__(self, schema: Schema, version: Version) -> None:
        self._schema, self._version = schema, version
        self.id = version.id
        self._by_path = {attribute.path: attribute for attribute in reversed(version.attributes)}
        self._ids = {path: attribute.id for path, attribute in self._by_path.items()}

    def attribute(self, path: str) -> Attribute:
        """Return an attribute.

        Raises:
            EditError: there is none.
        """
        return self._by_path.get(path) or find_attribute(self._version, self._schema.name, path)

    def ids(self, paths: Iterable[str]) -> list[int]:
        """Return the ids of attributes.

        Raises:
            EditError: one is not there, the first of them.
        """
        wanted = tuple(paths)
        found = list(map(self._ids.get, wanted))
        return [self.attribute(path).id for path in wanted] if None in found else cast("list[int]", found)


class _NameLookup:
    """What a table names, each version looked up once."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._known: dict[Side, dict[tuple[str, str], _NamedVersion]] = {side: {} for side in Side}
        self._labels: dict[tuple[Side, int], dict[str, Version]] = {}

    def version(self, side: Side, name: str, label: str) -> _NamedVersion:
        """Return a version, the newest one where no label says which.

        Raises:
            EditError: there is none.
        """
        known = self._known[side]
        found = known.get((name, label))
        if found is None:
            schema = find_schema(self.document, side, name)
            newest = self.document.tree(side).newest(schema.id) if not label else None
            version = newest or self._labelled(side, schema, label)
            found = known[name, label] = _NamedVersion(schema, version)
        return found

    def elements(self, rows: Sequence[MappingRow]) -> tuple[BlockKey, list[Element]]:
        """Return the block that some rows name, and the element of each.

        Raises:
            EditError: one of their names is not there; of a single row the first of the line.
        """
        first = rows[0]
        version = self.version(Side.EXTRACTION, first.schema, first.schema_version)
        ps = version.ids(map(_SOURCE, rows))
        entity_version = self.version(Side.CDM, first.entity, first.entity_version)
        qs = entity_version.ids(map(_TARGET, rows))
        return (version.id, entity_version.id), list(Element.many(qs, ps))

    def _labelled(self, side: Side, schema: Schema, label: str) -> Version:
        """Return a version by its label; of two that have it the older one, as ``find_version`` does.

        Raises:
            EditError: there is none.
        """
        tree, known = self.document.tree(side), self._labels.get((side, schema.id))
        if known is None:
            versions = reversed(tree.versions(schema.id))
            known = self._labels[side, schema.id] = {each: version for version in versions for each in version.labels}
        return known.get(label) or find_version(self.document, side, schema, label)


def _ranged(names: _NameLookup, row: MappingRow, versions: RowVersions) -> RangedRow:
    """Look up a row that holds for several versions.

    Raises:
        EditError: its entity or attribute is not there, or no version in range has its path.
    """
    entity_version = names.version(Side.CDM, row.entity, row.entity_version)
    target = entity_version.attribute(row.cdm_attribute)
    old_policy = _not_newest(names.document, entity_version.id)
    if old_policy:
        raise EditError(old_policy)
    source = versions.attribute_at(row.attribute)
    is_unconfirmed = _wished_status(row.status) is Status.UNCONFIRMED
    return RangedRow(row.line, versions.ids, source, entity_version.id, target, is_unconfirmed, versions.of)


_LINE, _SOURCE, _TARGET, _STATUS, _COMMENT = map(itemgetter, (0, 3, 6, 7, 8))


def _find(names: _NameLookup, rows: Sequence[MappingRow]) -> tuple[BlockKey, _Wishes]:
    """Look up rows that name one block.

    Raises:
        EditError: a name or a status of one of them is not there.
    """
    key, elements = names.elements(rows)
    statuses = {_wished_status(text) for text in set(map(_STATUS, rows))}
    return key, _Wishes(list(rows), elements, statuses)


def _wished_status(status: str) -> Status | None:
    text = status.strip().lower() if status else ""
    if text and text not in list(Status):
        raise EditError(f"There is no status {status!r}.", hint=f"Statuses are {', '.join(Status)}.")
    # A block that waited for review elsewhere has not been decided on here: it comes in unconfirmed.
    return None if not text else Status.CONFIRMED if text == Status.CONFIRMED else Status.UNCONFIRMED


def _plan_block(
    document: Document, key: BlockKey, wished: _Wishes, mode: MapMode, take_proposal: bool, not_newest: str
) -> MapPlan:
    """Work out what rows ask of one block.

    Args:
        document: where it is.
        key: the block.
        wished: what the rows ask for.
        mode: what they do.
        take_proposal: keep the largest 1:1 part.
        not_newest: why its entity version takes nothing; empty where it does.
    """
    before = document.matrix.block(*key) or Block(*key)
    lines = wished.first_lines()
    if mode is MapMode.UNSET:
        zeros = tuple(sorted(set(before.elements).intersection(lines)))
        edits = (SetElements(key, zeros=zeros),) if zeros else ()
        return MapPlan(edits, len(zeros), len(lines) - len(zeros), (), ())
    if not_newest:
        return MapPlan((), 0, 0, tuple(RowConflict(row.line, not_newest) for row in wished.rows), ())
    if before.is_null and not conflicts(alone := tuple(sorted(lines))):
        edit = _edit_of_block(before, wished, alone, ())
        return MapPlan((edit,) if edit else (), len(alone), 0, (), ())
    kept_before = () if mode is MapMode.REPLACE else before.elements
    known = set(before.elements)
    whole = largest_permutation({*kept_before, *lines})
    clashes = _clashes(document, before, lines, kept_before) if whole.outside else ()
    if clashes and not take_proposal:
        return MapPlan((), 0, 0, clashes, ())
    after = set(whole.kept)
    ones = tuple(sorted(after - known))
    zeros = tuple(sorted(known - after))
    dropped = _dropped(document, before, lines, whole.outside)
    unchanged = len(known.intersection(lines).intersection(after))
    edit = _edit_of_block(before, wished, ones, zeros)
    return MapPlan((edit,) if edit else (), len(ones) + len(zeros), unchanged, (), dropped)


def _edit_of_block(
    before: Block, wished: _Wishes, ones: tuple[Element, ...], zeros: tuple[Element, ...]
) -> SetElements | None:
    """Make the edit of one block; rows that change no element may still confirm it or bring a comment."""
    statuses, comment = wished.statuses, wished.comment
    status = Status.UNCONFIRMED if Status.UNCONFIRMED in statuses else Status.CONFIRMED
    confirms = before.status is Status.UNCONFIRMED and statuses == {Status.CONFIRMED}
    if ones or zeros or confirms:
        return SetElements(before.key, ones, zeros, status, comment)
    return (
        SetElements(before.key, status=before.status, comment=comment) if comment not in ("", before.comment) else None
    )


def _not_newest(document: Document, entity_version_id: int) -> str:
    entity_version = document.cdm.version(entity_version_id)
    entity = document.cdm.schema(entity_version.schema_id)
    if entity.setting("policy") == "parallel" or entity.version_ids[-1] == entity_version.id:
        return ""
    newest = document.cdm.version(entity.version_ids[-1])
    return f"{entity.name} version {entity_version.label} is not the newest one. Map to version {newest.label}."


def _clashes(
    document: Document, before: Block, lines: dict[Element, int], kept_before: tuple[Element, ...]
) -> tuple[RowConflict, ...]:
    """Name every line that shares an end with another line or with an element that is there."""
    block = known_block_name(document, before.key)
    everything = {element: f"line {line}" for element, line in lines.items()}
    everything.update({element: "the project" for element in kept_before if element not in lines})
    by_end: dict[tuple[int, int], list[Element]] = defaultdict(list)
    for element in everything:
        by_end[0, element.q].append(element)
        by_end[1, element.p].append(element)
    found: list[RowConflict] = []
    for element, line in lines.items():
        others = {o: True for o in (*by_end[0, element.q], *by_end[1, element.p]) if o != element}
        if others:
            named = "; ".join(f"{_pair(element_name(document, before, o))} ({everything[o]})" for o in others)
            own = _pair(element_name(document, before, element))
            reason = f"{own} shares an end with {named} in {block}. Within a block each attribute is used once."
            found.append(RowConflict(line, reason, clash=True))
    return tuple(found)


def _dropped(
    document: Document, before: Block, lines: dict[Element, int], outside: tuple[Element, ...]
) -> tuple[RowConflict, ...]:
    if not outside:
        return ()
    block = known_block_name(document, before.key)
    return tuple(
        RowConflict(
            lines.get(element, 0),
            f"{_pair(element_name(document, before, element))} lies outside the largest 1:1 part of {block}.",
        )
        for element in outside
    )


def _pair(name: ElementName) -> str:
    return f"{name.from_path} to {name.to_path}"
