"""Which known schema another name most likely continues: the one with the same columns, and then the nearest name.

Source: dmm.md §2 (aliases, table renames).
"""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.core.document import Document
from metl_gui.core.nodes import Schema
from metl_gui.core.version_tasks import overlap

LEAST_SCORE = 0.5
MOST_COMPARED = 2_000
"""Among more schemas, only those with the nearest names have their columns compared."""

_BY_NAME = 200
_SHARE_OF_NAME = 0.25


@dataclass(frozen=True, slots=True)
class SimilarSchema:
    """A known schema and how alike it is, 0 to 1."""

    name: str
    score: float


def similar_schema(document: Document, name: str, paths: frozenset[str]) -> SimilarSchema | None:
    """Find the schema that a name with certain columns continues, ``None`` when none is alike enough.

    Args:
        document: the state to look at.
        name: what no schema answers to.
        paths: of the attributes seen under it.
    """
    from rapidfuzz import fuzz

    best: SimilarSchema | None = None
    for schema in _candidates(document, name):
        newest = document.extraction.newest(schema.id)
        shared = overlap(newest, paths) if newest is not None else 0.0
        if shared < LEAST_SCORE:
            continue
        score = (1 - _SHARE_OF_NAME) * shared + _SHARE_OF_NAME * fuzz.ratio(name, schema.name) / 100
        if best is None or score > best.score:
            best = SimilarSchema(schema.name, round(score, 2))
    return best


def _candidates(document: Document, name: str) -> list[Schema]:
    schemas = list(document.extraction.schemas())
    if len(schemas) <= MOST_COMPARED:
        return schemas
    from rapidfuzz import process

    found = process.extract(name, [schema.name for schema in schemas], limit=_BY_NAME)
    return [schemas[at] for _, _, at in found]
