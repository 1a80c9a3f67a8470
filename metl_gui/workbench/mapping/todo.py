"""What is to do, by names; and marking attributes as never to be mapped.

Source: docs/reference/commands.md, "metl todo"; docs/reference/commands.md, "metl ignore"; docs/guide/mapping.md,
"What is to do".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from msgspec.structs import replace

from metl_gui.core.changes.draft import Edit
from metl_gui.core.changes.ignored import blocks_of, elements_of
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.ignored import IgnoreAttributes, RecallAttributes
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.project.refusals import RefusedSuggestion
from metl_gui.core.search.todo import AttributeStatus, MappingProgress, ToDo, ToDoItem
from metl_gui.core.suggest.blocks import ValuesAlike, no_values
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.errors import EditError
from metl_gui.values import Value
from metl_gui.workbench.addresses import find_leaf, find_schema
from metl_gui.workbench.history.states import moment
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.mapping.suggestions import Suggestion, suggest_best
from metl_gui.workbench.model import edit_effects
from metl_gui.workbench.model.edit_effects import EditOutcome
from metl_gui.workbench.session import EditOrigin, Workbench

Marked: TypeAlias = tuple[Side, int, int]
"""An attribute in all versions: its tree, schema or entity, and lineage."""

TO_DO = (AttributeStatus.SUGGESTED, AttributeStatus.OPEN)
"""The statuses of what is left to do."""

LEAST_SUGGESTED = 0.5
"""An attribute counts as suggested where a suggestion is as likely right as wrong, or likelier."""


class Suggested(JsonResult):
    """The best suggestion for an attribute: its other end as ``schema.path``, and how likely it is right, 0 to 1."""

    attribute: str
    score: float
    reason: str


class ToDoAttribute(JsonResult):
    """One attribute of the newest version of a schema or entity.

    Args:
        tree, name, version, path: where it is.
        type: as people read it.
        required: whether it is.
        status: see ``AttributeStatus``.
        suggestion: for an open one.
        reason, who, when: of one that is never to be mapped; the moment as ISO 8601 text in UTC.
    """

    tree: Side
    name: str
    version: str
    path: str
    type: str
    required: bool
    status: AttributeStatus
    suggestion: Suggested | None = None
    reason: str = ""
    who: str = ""
    when: str = ""


class SchemaProgress(JsonResult):
    """How far one schema or entity is."""

    tree: Side
    name: str
    progress: MappingProgress


class ToDoList(JsonResult):
    """What is to do in a state.

    Args:
        state: its number.
        extraction, cdm: how far the whole trees are, or what was asked for of them.
        schemas: how far each schema and entity is.
        attributes: those with a status that was asked for.
    """

    state: int
    extraction: MappingProgress
    cdm: MappingProgress
    schemas: tuple[SchemaProgress, ...]
    attributes: tuple[ToDoAttribute, ...]


class ToDoQuery(Value):
    """What is asked for.

    Args:
        names: of schemas and entities; none for all.
        sides: the trees.
        wanted: statuses of attributes to list.
    """

    names: tuple[str, ...] = ()
    sides: tuple[Side, ...] = tuple(Side)
    wanted: tuple[AttributeStatus, ...] = TO_DO


ALL = ToDoQuery()
"""Everything that is to be done."""


def to_do(
    document: Document,
    asked: ToDoQuery = ALL,
    refused: Iterable[RefusedSuggestion] = (),
    watch: Watch = UNWATCHED,
    alike: ValuesAlike = no_values,
) -> ToDoList:
    """List what is to do: both trees, schemas and entities by name, attributes in their order.

    Args:
        document: the state.
        asked: of what.
        refused: suggestions that people refused.
        watch: progress and cancel.
        alike: tells how much alike the values of free attributes of a block are.

    Raises:
        EditError: a name is not known.
        RunCancelled: somebody asked to stop.
    """
    chosen = _chosen(document, asked)
    is_looked_for = bool({AttributeStatus.SUGGESTED, AttributeStatus.OPEN} & set(asked.wanted))
    found = suggest_best(document, refused=refused, watch=watch, alike=alike) if is_looked_for else ()
    best = best_by_attribute(found)
    totals = dict.fromkeys(Side, MappingProgress())
    schemas: list[SchemaProgress] = []
    attributes: list[ToDoAttribute] = []
    for side in asked.sides:
        listed = ToDo.of(document, side)
        suggested = {id_ for of_side, id_ in best if of_side is side}
        for schema in listed.schemas():
            if chosen is not None and (side, schema.id) not in chosen:
                continue
            watch.step("Looking at attributes")
            progress = listed.progress(schema)
            totals[side] += progress
            schemas.append(SchemaProgress(side, schema.name, progress))
            items = listed.items(schema, asked.wanted, suggested)
            attributes += [named_item(document, each, best.get((side, each.attribute.id))) for each in items]
    return ToDoList(document.state, totals[Side.EXTRACTION], totals[Side.CDM], tuple(schemas), tuple(attributes))


def best_by_attribute(found: Iterable[Suggestion]) -> dict[tuple[Side, int], Suggestion]:
    """Return the best suggestion of each attribute that has a likely one; they must come with the best score first."""
    best: dict[tuple[Side, int], Suggestion] = {}
    for each in found:
        if each.score >= LEAST_SUGGESTED:
            best.setdefault((Side.EXTRACTION, each.element.p), each)
            best.setdefault((Side.CDM, each.element.q), each)
    return best


def named_item(document: Document, item: ToDoItem, suggestion: Suggestion | None = None) -> ToDoAttribute:
    """Put an attribute and how it stands into names."""
    tree, mark, attribute = document.tree(item.side), item.mark, item.attribute
    found = ToDoAttribute(
        item.side,
        tree.schema(item.schema_id).name,
        tree.version(item.version_id).label,
        attribute.path,
        attribute.type_text,
        not attribute.optional,
        item.status,
        _suggested(item, suggestion),
    )
    if mark is None:
        return found
    return replace(found, reason=mark.reason, who=mark.who, when=moment(mark.when_ms) if mark.when_ms else "")


def ignoring(marked: Iterable[Marked], reason: str, *, unmaps: bool = False) -> Edit:
    """Make the edit that marks attributes as never to be mapped, as one step.

    Args:
        marked: the attributes.
        reason: why.
        unmaps: what is mapped is cleared; without it that is refused.
    """
    edits = tuple(IgnoreAttributes(*of, lineages, reason, unmaps) for of, lineages in by_schema(marked).items())
    count = sum(len(edit.lineages) for edit in edits)
    return edits[0] if len(edits) == 1 else CompositeEdit(f"Never map {count} attributes", edits)


def recalling(marked: Iterable[Marked]) -> Edit:
    """Make the edit that lets attributes be mapped again, as one step. Arguments as of ``ignoring``."""
    edits = tuple(RecallAttributes(*of, lineages) for of, lineages in by_schema(marked).items())
    count = sum(len(edit.lineages) for edit in edits)
    return edits[0] if len(edits) == 1 else CompositeEdit(f"Let {count} attributes be mapped again", edits)


def mapped_elements(document: Document, marked: Iterable[Marked]) -> int:
    """Count the elements that map some attributes, in all versions: what marking them would clear."""
    count = 0
    for (side, schema_id), lineages in by_schema(marked).items():
        asked = frozenset(lineages)
        count += sum(len(elements_of(document, side, each, asked)) for each in blocks_of(document, side, schema_id))
    return count


class NamedMarks(Value):
    """Attributes to be marked, as commands name them.

    Args:
        names: each ``SCHEMA.ATTRIBUTE``, with ``@VERSION`` where needed.
        side: the tree, where a name is in both.
    """

    names: tuple[str, ...]
    side: Side | None = None

    def found(self, document: Document) -> list[Marked]:
        """Find them.

        Raises:
            EditError: one is not known.
        """
        leaves = (find_leaf(document, name, self.side) for name in self.names)
        return list(dict.fromkeys((side, version.schema_id, leaf.lineage) for side, version, leaf in leaves))


def ignore(
    workbench: Workbench,
    marks: NamedMarks,
    reason: str,
    *,
    unmaps: bool = False,
    dry_run: bool = False,
    door: EditOrigin = EditOrigin.COMMAND,
) -> EditOutcome:
    """Mark attributes as never to be mapped, with a reason.

    Raises:
        EditError: one is not known, or is mapped and nobody said that it shall not be.
    """
    return edit_effects.do(workbench, ignoring(marks.found(workbench.document), reason, unmaps=unmaps), dry_run, door)


def recall(
    workbench: Workbench, marks: NamedMarks, *, dry_run: bool = False, door: EditOrigin = EditOrigin.COMMAND
) -> EditOutcome:
    """Let attributes be mapped again.

    Raises:
        EditError: one is not known, or is not marked.
    """
    return edit_effects.do(workbench, recalling(marks.found(workbench.document)), dry_run, door)


def by_schema(marked: Iterable[Marked]) -> dict[tuple[Side, int], tuple[int, ...]]:
    """Group attributes by their schema or entity, in their order.

    Raises:
        EditError: there is none.
    """
    found: dict[tuple[Side, int], list[int]] = {}
    for side, schema_id, lineage in marked:
        found.setdefault((side, schema_id), []).append(lineage)
    if not found:
        raise EditError("No attribute is named.", hint="Name at least one, as SCHEMA.ATTRIBUTE.")
    return {place: tuple(lineages) for place, lineages in found.items()}


def _chosen(document: Document, asked: ToDoQuery) -> frozenset[tuple[Side, int]] | None:
    """Find the schemas and entities that are named; ``None`` for all."""
    if not asked.names:
        return None
    found: list[tuple[Side, Schema]] = []
    for name in asked.names:
        known = [(side, schema) for side in asked.sides if (schema := document.tree(side).named(name)) is not None]
        found += known or [(asked.sides[0], find_schema(document, asked.sides[0], name))]
    return frozenset((side, schema.id) for side, schema in found)


def _suggested(item: ToDoItem, suggestion: Suggestion | None) -> Suggested | None:
    if suggestion is None or item.status is not AttributeStatus.SUGGESTED:
        return None
    block, names = suggestion.block, suggestion.names
    other = f"{block.entity}.{names.to_path}" if item.side is Side.EXTRACTION else f"{block.schema}.{names.from_path}"
    return Suggested(other, suggestion.score, suggestion.reason)
