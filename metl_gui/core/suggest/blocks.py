"""The suggestions of many blocks: which blocks are worth a look, and what all of them may want, as one list.

Of a schema and an entity the newest versions are looked at. Of all pairs of these only those are scored that
``EntityIndex`` finds alike, so that the cost grows with the schemas and what they share with entities, not with
schemas times entities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.project.refusals import NONE_REFUSED, RefusedSuggestions
from metl_gui.core.suggest.block import suggest_block
from metl_gui.core.suggest.entities import EntityIndex
from metl_gui.core.suggest.feeds import Feeds
from metl_gui.core.suggest.values import ValueEvidence
from metl_gui.values import Value

_ENTITIES_OF_ONE, _ENTITIES_OF_MANY = 5, 3
_LEAST_ENTITY = 0.3
_LEAST_SCORE = 0.01

ValuesAlike: TypeAlias = Callable[[BlockKey], Mapping[Element, ValueEvidence]]
"""Tells how much alike the values of the attributes of a block are, 0 to 1, where samples of both are at hand."""


def no_values(_key: BlockKey) -> Mapping[Element, ValueEvidence]:
    """Return that nothing is known of the values of a block."""
    return {}


class SuggestionScope(Value):
    """The versions whose blocks are looked at.

    Args:
        versions: ids of versions of schemas; ``None`` for the newest of each.
        entity_versions: ids of newest versions of entities; ``None`` for those of all.
    """

    versions: tuple[int, ...] | None = None
    entity_versions: tuple[int, ...] | None = None


EVERYTHING = SuggestionScope()


class BlockCandidate(Value):
    """An element that some block may want.

    Args:
        key: (v, w).
        element: the pair of attributes.
        score: how likely it is right and the schema feeds the entity, 0 to 1.
        reason: why, in words.
        is_best: whether it belongs to the best 1:1 set of its block.
    """

    key: BlockKey
    element: Element
    score: float
    reason: str
    is_best: bool


def candidates_by_block(
    document: Document,
    scope: SuggestionScope = EVERYTHING,
    refusals: RefusedSuggestions = NONE_REFUSED,
    values: ValuesAlike = no_values,
    watch: Watch = UNWATCHED,
) -> Iterator[tuple[BlockCandidate, ...]]:
    """Yield what each block in scope may want, best first; blocks by schema name, then the likeliest entity first.

    Args:
        document: the state.
        scope: of which versions.
        refusals: what people said is not so.
        values: how much alike values are.
        watch: progress and cancel, a step for each schema.

    Cost: of 366 schemas and 120 entities about a second; the candidates take a few megabytes.

    Raises:
        RunCancelled: somebody asked to stop.
    """
    for key, share in likely_blocks(document, scope, watch):
        found = suggest_block(document, key, refusals, values(key))
        yield tuple(
            BlockCandidate(key, each.element, score, each.reason, each.is_best)
            for each in found
            if (score := round(each.score * share, 3)) >= _LEAST_SCORE
        )


def suggest_blocks(
    document: Document,
    scope: SuggestionScope = EVERYTHING,
    refusals: RefusedSuggestions = NONE_REFUSED,
    values: ValuesAlike = no_values,
    watch: Watch = UNWATCHED,
) -> tuple[BlockCandidate, ...]:
    """List what all blocks in scope may want, as ``candidates_by_block`` does.

    Order: best score first, those of a best 1:1 set before others; then as the blocks come.
    """
    found = [each for block in candidates_by_block(document, scope, refusals, values, watch) for each in block]
    return tuple(sorted(found, key=lambda each: (-each.score, not each.is_best)))


def likely_blocks(
    document: Document, scope: SuggestionScope = EVERYTHING, watch: Watch = UNWATCHED
) -> Iterator[tuple[BlockKey, float]]:
    """Yield the blocks that are worth a look, each with how likely the schema feeds the entity.

    One version and one entity are always looked at. Else each schema is compared with all entities, also where some
    are asked for only, so that it does not seem likely to feed one of these for want of a better one.

    Raises:
        RunCancelled: somebody asked to stop.
    """
    versions = _newest(document) if scope.versions is None else scope.versions
    wanted = scope.entity_versions
    if scope.versions is not None and wanted is not None and len(versions) == len(wanted) == 1:
        yield (versions[0], wanted[0]), 1.0
        return
    index, feeds = EntityIndex(document), Feeds.of(document)
    limit = _ENTITIES_OF_ONE if scope.versions is not None and len(versions) == 1 else _ENTITIES_OF_MANY
    chosen = None if wanted is None else frozenset(wanted)
    for done, version in enumerate(versions):
        watch.step("Looking for suggestions", done, len(versions))
        for rank in index.rank(document, document.extraction.version(version), limit, feeds):
            is_wanted = chosen is None or rank.entity_version in chosen
            if is_wanted and (rank.is_fed or rank.score >= _LEAST_ENTITY):
                yield (version, rank.entity_version), rank.score


def _newest(document: Document) -> tuple[int, ...]:
    schemas = sorted(document.extraction.schemas(), key=lambda schema: schema.name)
    return tuple(schema.version_ids[-1] for schema in schemas if schema.version_ids)
