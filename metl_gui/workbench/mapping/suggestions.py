"""Suggestions: for a block, a schema, an entity or all of a project; accepting the best, refusing, restoring.

Names, types, documentation, what was confirmed, and where samples are at hand how much alike values are: never those
of masked attributes.
Source: docs/reference/commands.md, "metl suggest"; docs/guide/mapping.md, "Be helped".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.project.refusals import RefusedSuggestion, RefusedSuggestions
from metl_gui.core.suggest.block import Candidate, suggest_block
from metl_gui.core.suggest.entities import EntityIndex
from metl_gui.core.trees.nodes import Schema, Side, Version
from metl_gui.workbench.addresses import (
    BlockName,
    ElementName,
    element_name,
    find_schema,
    find_version,
    known_block_name,
)
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.session import EditOrigin, Workbench

_ENTITIES_OF_ONE, _ENTITIES_OF_MANY = 5, 3
_LEAST_ENTITY = 0.3
_LEAST_SCORE = 0.01


Alike: TypeAlias = Callable[[BlockKey], Mapping[Element, float]]


def _nothing_alike(_key: BlockKey) -> Mapping[Element, float]:
    return {}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggested element.

    Args:
        key, element: by ids.
        block, names: by names.
        score: how likely it is right, 0 to 1.
        reason: why, in words.
        is_best: whether it belongs to the best 1:1 set of its block.
    """

    key: BlockKey
    element: Element
    block: BlockName
    names: ElementName
    score: float
    reason: str
    is_best: bool

    def as_json(self) -> dict[str, Any]:
        """Return the suggestion as docs/reference/json.md has it."""
        return {
            "block": self.block.as_json(),
            "element": self.names.as_json(),
            "score": self.score,
            "reason": self.reason,
            "best": self.is_best,
        }


@dataclass(frozen=True, slots=True)
class Suggestions(JsonResult):
    """What a document may want.

    Args:
        state: the state afterwards.
        suggestions: best first within each block.
        set: how many of them were set.
        unconfirmed: how many blocks were confirmed before and are not any more, as what was set waits to be looked at.
    """

    state: int
    suggestions: tuple[Suggestion, ...]
    set: int = 0
    unconfirmed: int = 0


@dataclass(frozen=True, slots=True)
class SuggestionQuery:
    """What suggestions are asked for; nothing names everything.

    Args:
        schema: name or alias of a schema.
        entity: name of an entity.
        version: label of a version of the schema; by default the newest.
    """

    schema: str | None = None
    entity: str | None = None
    version: str | None = None


def suggest(
    document: Document,
    asked: SuggestionQuery = SuggestionQuery(),
    refused: Iterable[RefusedSuggestion] = (),
    watch: Watch = UNWATCHED,
    alike: Alike = _nothing_alike,
) -> Suggestions:
    """Rank what is unmapped: where no entity is named, in the entities that each schema is most alike.

    Args:
        document: the state.
        asked: of what.
        refused: what people refused.
        watch: progress and cancel.
        alike: tells how much alike the values of free attributes of a block are.

    Raises:
        EditError: the schema, the version or the entity is not known.
    """
    refusals = RefusedSuggestions(refused)
    found: list[Suggestion] = []
    for key, share in _blocks(document, asked, watch):
        found += suggest_in(document, key, refusals, share, alike)
    return Suggestions(document.state, tuple(found))


def suggest_in(
    document: Document, key: BlockKey, refusals: RefusedSuggestions, share: float = 1.0, alike: Alike = _nothing_alike
) -> Iterator[Suggestion]:
    """Yield the suggestions of one block, best first.

    Args:
        document: the state.
        key: (v, w).
        refusals: what people refused.
        share: how likely the schema feeds the entity at all.
        alike: as of ``suggest``.
    """
    found = suggestions_of(document, key, suggest_block(document, key, refusals, alike(key)), share)
    yield from (each for each in found if each.score >= _LEAST_SCORE)


def suggestions_of(
    document: Document, key: BlockKey, candidates: Iterable[Candidate], share: float = 1.0
) -> tuple[Suggestion, ...]:
    """Name candidates of a block."""
    block, name = document.matrix.block(*key) or Block(*key), known_block_name(document, key)
    return tuple(
        Suggestion(
            key,
            each.element,
            name,
            element_name(document, block, each.element),
            round(each.score * share, 3),
            each.reason,
            each.is_best,
        )
        for each in candidates
    )


def accept_best(
    workbench: Workbench, found: Suggestions, least: float, door: EditOrigin = EditOrigin.COMMAND
) -> Suggestions:
    """Set the best suggestions scored ``least`` or more, as one undo step; their blocks are unconfirmed.

    What would answer a lost element that waits for review is left to a person.

    Raises:
        EditError: the project changed meanwhile so that they cannot be set any more.
    """
    before = workbench.document
    chosen = [
        each
        for each in found.suggestions
        if each.is_best and each.score >= least and not answers_loss(before, each.key, each.element)
    ]
    if not chosen:
        return found
    done = workbench.do(accepting(chosen, f"scored {least:.2f} or more", Status.UNCONFIRMED), door)
    blocks = {each.key for each in chosen}
    confirmed = [key for key in blocks if (block := before.matrix.block(*key)) and block.status is Status.CONFIRMED]
    return Suggestions(done.after.state, found.suggestions, len(chosen), len(confirmed))


def accepting(chosen: Sequence[Suggestion], which: str, status: Status = Status.CONFIRMED) -> CompositeEdit:
    """Make the one edit that sets suggestions of any number of blocks.

    Args:
        chosen: the suggestions, 1:1 within each block.
        which: says which they are, for the title.
        status: what their blocks become; a person's own choice confirms them (docs/architecture/model.md, "States,
            publishing, being out of step").
    """
    ordered = sorted(chosen, key=lambda each: each.key)
    edits = tuple(
        SetElements(key, tuple(each.element for each in group), status=status)
        for key, group in groupby(ordered, key=lambda each: each.key)
    )
    count = f"{len(chosen):,} suggestion{'s' if len(chosen) != 1 else ''}"
    return CompositeEdit(f"Accept {count} {which}", edits)


def answers_loss(document: Document, key: BlockKey, element: Element) -> bool:
    """Return whether setting an element would settle a loss that somebody must decide on."""
    block = document.matrix.block(*key)
    target = document.cdm.version(key[1]).attribute(element.q)
    return (
        block is not None and target is not None and any(loss.q_lineage == target.lineage for loss in block.open_losses)
    )


def refusal_of(document: Document, key: BlockKey, element: Element) -> RefusedSuggestion | None:
    """Return what is refused when an element is; ``None`` when one of its ends is gone."""
    version, entity_version = document.extraction.find_version(key[0]), document.cdm.find_version(key[1])
    source = version.attribute(element.p) if version else None
    target = entity_version.attribute(element.q) if entity_version else None
    if version is None or entity_version is None or source is None or target is None:
        return None
    return RefusedSuggestion(
        version.schema_id, source.lineage, entity_version.schema_id, target.lineage, source.path, target.path
    )


def refusal_words(document: Document, refusal: RefusedSuggestion) -> tuple[str, str]:
    """Name what was refused: the element, and between which schema and entity."""
    schema = document.extraction.find_schema(refusal.schema_id)
    entity = document.cdm.find_schema(refusal.entity_id)
    names = (schema.name if schema else "a schema that is gone", entity.name if entity else "an entity that is gone")
    return f"{refusal.from_path} → {refusal.to_path}", " → ".join(names)


def _blocks(document: Document, asked: SuggestionQuery, watch: Watch) -> Iterator[tuple[BlockKey, float]]:
    """Yield the blocks to look at, with how likely the schema feeds the entity."""
    entity = find_schema(document, Side.CDM, asked.entity) if asked.entity is not None else None
    versions = _versions(document, asked)
    target = document.cdm.newest(entity.id) if entity is not None else None
    if entity is not None and asked.schema is not None:
        if target is not None:
            yield from (((version.id, target.id), 1.0) for version in versions)
        return
    index = EntityIndex(document)
    limit = _ENTITIES_OF_ONE if asked.schema is not None else _ENTITIES_OF_MANY
    for done, version in enumerate(versions):
        watch.step("Looking for suggestions", done, len(versions))
        for rank in index.rank(document, version, limit):
            wanted = target is None or rank.entity_version == target.id
            if wanted and (rank.is_fed or rank.score >= _LEAST_ENTITY):
                yield (version.id, rank.entity_version), rank.score


def _versions(document: Document, asked: SuggestionQuery) -> list[Version]:
    if asked.schema is None:
        schemas: list[Schema] = sorted(document.extraction.schemas(), key=lambda schema: schema.name)
        newest = (document.extraction.newest(schema.id) for schema in schemas)
        return [version for version in newest if version is not None]
    schema = find_schema(document, Side.EXTRACTION, asked.schema)
    if asked.version is not None:
        return [find_version(document, Side.EXTRACTION, schema, asked.version)]
    version = document.extraction.newest(schema.id)
    return [version] if version is not None else []
