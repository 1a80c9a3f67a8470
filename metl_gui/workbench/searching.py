"""Questions to the matrix, by names: what feeds this, what does this feed, how did it change.

Source: contract.md §1 (``metl search``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from metl_gui.core.matrix.document import Document
from metl_gui.core.search.lineage_search import Found, forward_search, reverse_search, version_progress
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.addresses import (
    BlockName,
    ElementName,
    element_name,
    find_place,
    find_schema,
    known_block_name,
)
from metl_gui.workbench.documents import Written


@dataclass(frozen=True, slots=True)
class Answer(Written):
    """One element that answers a search."""

    block: BlockName
    element: ElementName
    status: str


@dataclass(frozen=True, slots=True)
class Answers(Written):
    """Everything that answers a search."""

    results: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class VersionStep(Written):
    """One block of a version progression."""

    version: str
    entity: str
    entity_version: str
    elements: int
    change: str


@dataclass(frozen=True, slots=True)
class VersionProgression(Written):
    """How the mapping of a schema changed from version to version."""

    schema: str
    versions: tuple[VersionStep, ...]


def reverse(document: Document, place: str) -> Answers:
    """Find everything that feeds ``ENTITY`` or ``ENTITY.ATTRIBUTE``, in every version of every schema.

    Raises:
        EditError: there is no such entity or attribute.
    """
    entity, path = find_place(document, Side.CDM, place)
    return _answers(document, reverse_search(document, entity.id, path))


def forward(document: Document, place: str) -> Answers:
    """Find everything that ``SCHEMA`` or ``SCHEMA.ATTRIBUTE`` feeds.

    Raises:
        EditError: there is no such schema or attribute.
    """
    schema, path = find_place(document, Side.EXTRACTION, place)
    return _answers(document, forward_search(document, schema.id, path))


def versions(document: Document, name: str) -> VersionProgression:
    """Tell how the mapping of a schema changed from version to version, entity by entity.

    Raises:
        EditError: there is no such schema.
    """
    schema = find_schema(document, Side.EXTRACTION, name)
    steps: list[VersionStep] = []
    for step in version_progress(document, schema.id):
        block = known_block_name(document, step.key)
        steps.append(VersionStep(block.version, block.entity, block.entity_version, step.elements, step.change.value))
    return VersionProgression(schema.name, tuple(steps))


def _answers(document: Document, found: Iterable[Found]) -> Answers:
    return Answers(
        tuple(
            Answer(
                known_block_name(document, each.block.key),
                element_name(document, each.block, each.element),
                each.block.status.value,
            )
            for each in found
        )
    )
