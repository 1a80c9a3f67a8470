"""Suggestions: for a block, a schema, an entity or all of a project; refusing, restoring.

Names, types, documentation, what was confirmed, and where samples are at hand how much alike values are: never those
of masked attributes.
Source: docs/reference/commands.md, "metl suggest"; docs/guide/mapping.md, "Be helped".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.project.refusals import RefusedSuggestion, RefusedSuggestions
from metl_gui.core.suggest.block import Candidate
from metl_gui.core.suggest.blocks import (
    EVERYTHING,
    BlockCandidate,
    SuggestionScope,
    ValuesAlike,
    candidates_by_block,
    no_values,
    suggest_blocks,
)
from metl_gui.core.trees.nodes import Side
from metl_gui.values import Value
from metl_gui.workbench.addresses import (
    BlockName,
    ElementName,
    element_name,
    find_schema,
    find_version,
    known_block_name,
)
from metl_gui.workbench.json_results import JsonResult


class Suggestion(Value):
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


class SuggestionQuery(Value):
    """What suggestions are asked for; nothing names everything.

    Args:
        schema: name or alias of a schema.
        entity: name of an entity.
        version: label of a version of the schema; by default the newest.
        min_score: only what is scored so or more.
    """

    schema: str | None = None
    entity: str | None = None
    version: str | None = None
    min_score: float = 0.0


ALL = SuggestionQuery()
"""Everything there is to suggest."""


def suggest(
    document: Document,
    asked: SuggestionQuery = ALL,
    refused: Iterable[RefusedSuggestion] = (),
    watch: Watch = UNWATCHED,
    alike: ValuesAlike = no_values,
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
    blocks = candidates_by_block(document, _scope(document, asked), RefusedSuggestions(refused), alike, watch)
    found = [each for block in blocks for each in named_suggestions(document, block) if each.score >= asked.min_score]
    return Suggestions(document.state, tuple(found))


def suggest_best(
    document: Document,
    scope: SuggestionScope = EVERYTHING,
    refused: Iterable[RefusedSuggestion] = (),
    watch: Watch = UNWATCHED,
    alike: ValuesAlike = no_values,
) -> tuple[Suggestion, ...]:
    """List the best 1:1 sets of all blocks in scope, the best score first.

    Args:
        document: the state.
        scope: of which versions.
        refused: what people refused.
        watch: progress and cancel.
        alike: as of ``suggest``.

    Raises:
        RunCancelled: somebody asked to stop.
    """
    found = suggest_blocks(document, scope, RefusedSuggestions(refused), alike, watch)
    return tuple(named_suggestions(document, (each for each in found if each.is_best)))


class SuggestionOrder(StrEnum):
    """What a list of suggestions is sorted by; below that the best score comes first."""

    SCORE = "score"
    SCHEMA = "schema"
    ENTITY = "entity"


class SuggestionFilter(Value):
    """What of a list of suggestions is shown.

    Args:
        words: each stands in the name of the schema, the entity or one of the attributes; in any case of letters.
        status: of the block, as ``block_status`` names it; empty for any.
        min_score: only what is scored so or more.
        order: what it is sorted by.
    """

    words: str = ""
    status: str = ""
    min_score: float = 0.0
    order: SuggestionOrder = SuggestionOrder.SCORE

    def of(self, document: Document, found: Iterable[Suggestion]) -> tuple[Suggestion, ...]:
        """Return the suggestions that are shown, sorted; found ones must come with the best score first."""
        words = self.words.casefold().split()
        kept = [
            each
            for each in found
            if each.score >= self.min_score
            and all(word in _names(each) for word in words)
            and self.status in ("", block_status(document, each.key))
        ]
        if self.order is SuggestionOrder.SCHEMA:
            kept.sort(key=lambda each: (each.block.schema, each.block.entity))
        elif self.order is SuggestionOrder.ENTITY:
            kept.sort(key=lambda each: (each.block.entity, each.block.schema))
        return tuple(kept)


NOT_MAPPED = "not mapped"
"""The status of a block that has no elements and that nobody has decided on."""


def block_status(document: Document, key: BlockKey) -> str:
    """Return the status of a block, ``NOT_MAPPED`` for one that is not there."""
    block = document.matrix.block(*key)
    return NOT_MAPPED if block is None else block.status.value


def _names(suggestion: Suggestion) -> str:
    block, names = suggestion.block, suggestion.names
    return f"{block.schema} {block.entity} {names.from_path} {names.to_path}".casefold()


def named_suggestions(document: Document, candidates: Iterable[BlockCandidate]) -> Iterator[Suggestion]:
    """Name the block and the element of each candidate."""
    blocks: dict[BlockKey, tuple[Block, BlockName]] = {}
    for each in candidates:
        if each.key not in blocks:
            blocks[each.key] = (
                document.matrix.block(*each.key) or Block(*each.key),
                known_block_name(document, each.key),
            )
        block, name = blocks[each.key]
        names = element_name(document, block, each.element)
        yield Suggestion(each.key, each.element, name, names, each.score, each.reason, each.is_best)


def suggestions_of(document: Document, key: BlockKey, candidates: Iterable[Candidate]) -> tuple[Suggestion, ...]:
    """Name candidates of a block."""
    placed = (BlockCandidate(key, each.element, each.score, each.reason, each.is_best) for each in candidates)
    return tuple(named_suggestions(document, placed))


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


def _scope(document: Document, asked: SuggestionQuery) -> SuggestionScope:
    entity = find_schema(document, Side.CDM, asked.entity) if asked.entity is not None else None
    return SuggestionScope(
        None if asked.schema is None else _version(document, asked.schema, asked.version),
        None if entity is None else entity.version_ids[-1:],
    )


def _version(document: Document, name: str, label: str | None) -> tuple[int, ...]:
    schema = find_schema(document, Side.EXTRACTION, name)
    if label is not None:
        return (find_version(document, Side.EXTRACTION, schema, label).id,)
    return schema.version_ids[-1:]
