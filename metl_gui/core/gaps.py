"""Gaps: what nothing feeds, what feeds nothing, and what is sent to blocks that were given up.

Codes: ``cdm.required-without-source``, ``cdm.never-fed``, ``extraction.never-mapped``,
``extraction.unmapped-for-versions``, ``mapping.retired-receives``.
Cost: linear in the newest versions of both trees and in the blocks; older versions are looked at only where the newest
one has unmapped attributes. Source: ux.md §8.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

from metl_gui.core.blocks import BlockKey, Status
from metl_gui.core.document import Document
from metl_gui.core.nodes import Attribute, Schema, Side, Version
from metl_gui.core.problems import Problem, Severity

Seen: TypeAlias = AbstractSet[tuple[str, str]]
"""Schema names and version labels of messages that runs have met."""

VERSIONS = 3
"""An attribute that was unmapped for so many versions is a gap."""

NEVER_FED = "cdm.never-fed"
REQUIRED = "cdm.required-without-source"
NEVER_MAPPED = "extraction.never-mapped"
UNMAPPED = "extraction.unmapped-for-versions"
RETIRED = "mapping.retired-receives"
CODES = (REQUIRED, NEVER_FED, RETIRED, NEVER_MAPPED, UNMAPPED)
"""In the order in which people want to see them."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One gap, and where it is.

    Args:
        problem: the gap in words.
        side, version: the version it is seen in.
        attribute: the attribute's id, 0 where it is about the whole version.
        block: the block it is about.
        path: of the attribute.
        count: for how many versions it is open.
    """

    problem: Problem
    side: Side
    version: int
    attribute: int = 0
    block: BlockKey | None = None
    path: str = ""
    count: int = 0


def gaps(document: Document, seen: Seen = frozenset(), least_versions: int = VERSIONS) -> Iterator[Gap]:
    """Find every gap: those of the canonical model, of retired blocks, then of the extraction schemas.

    Args:
        document: the state to look at.
        seen: what runs have met, as far as that is known.
        least_versions: how long an attribute must have been unmapped.
    """
    for entity in document.cdm.schemas():
        yield from _of_entity(document, entity)
    if seen:
        yield from _of_retired(document, seen)
    for schema in document.extraction.schemas():
        yield from _of_schema(document, schema, least_versions)


def problems_of(found: Iterator[Gap]) -> Iterator[Problem]:
    """Write gaps as problems; the unmapped attributes of one schema are one of them."""
    together: dict[str, list[Gap]] = {}
    for gap in found:
        if gap.problem.code == UNMAPPED:
            together.setdefault(gap.problem.place, []).append(gap)
        else:
            yield gap.problem
    for place, listed in together.items():
        yield Problem(Severity.NOTE, UNMAPPED, place, _unmapped_words(listed), listed[0].problem.hint)


def _unmapped_words(listed: list[Gap]) -> str:
    if len(listed) == 1:
        return listed[0].problem.message
    named = ", ".join(f"{gap.path} ({gap.count})" for gap in listed[:5])
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    least = min(gap.count for gap in listed)
    return f"{len(listed)} attributes have been unmapped for {least} versions or more: {named}{more}."


def _of_entity(document: Document, entity: Schema) -> Iterator[Gap]:
    newest = document.cdm.newest(entity.id)
    if newest is None:
        return
    fed = {e.q for block in document.matrix.row_set(newest.id) for e in block.elements}
    place = f"{entity.name}@{newest.label}"
    if not fed:
        message = f"No schema feeds {entity.name}."
        problem = Problem(Severity.WARNING, NEVER_FED, place, message, "Map a schema to it, or remove it.")
        yield Gap(problem, Side.CDM, newest.id)
        return
    for attribute in newest.attributes:
        if not attribute.optional and attribute.id not in fed:
            message = f"{attribute.path} is required and has no source."
            hint = "Map an attribute to it, or make it optional."
            problem = Problem(Severity.WARNING, REQUIRED, place, message, hint)
            yield Gap(problem, Side.CDM, newest.id, attribute.id, path=attribute.path)


def _of_retired(document: Document, seen: Seen) -> Iterator[Gap]:
    for name, label in sorted(seen):
        schema = document.extraction.named(name)
        version = document.extraction.labelled(schema.id, label) if schema is not None else None
        if schema is None or version is None:
            continue
        for block in document.matrix.column_set(version.id):
            if block.status is not Status.RETIRED:
                continue
            entity_version = document.cdm.version(block.entity_version)
            entity = document.cdm.schema(entity_version.schema_id)
            place = f"{schema.name}@{version.label}:{entity.name}@{entity_version.label}"
            message = (
                f"{schema.name} version {version.label} still sends data, and its block to {entity.name} is retired."
            )
            hint = "Map it again, or let its owner know that nobody takes it."
            problem = Problem(Severity.WARNING, RETIRED, place, message, hint, (version.label,))
            yield Gap(problem, Side.EXTRACTION, version.id, block=block.key)


def _of_schema(document: Document, schema: Schema, least_versions: int) -> Iterator[Gap]:
    ids = schema.version_ids
    newest = document.extraction.newest(schema.id)
    if newest is None:
        return
    place = f"{schema.name}@{newest.label}"
    if not any(_mapped(document, id_) for id_ in reversed(ids)):
        if any(document.matrix.column_keys(id_) for id_ in ids):
            return  # its blocks are retired or wait for review: somebody has decided, or will
        message = f"Nothing of {schema.name} is mapped."
        hint = "Map it to an entity, or remove it."
        yield Gap(Problem(Severity.NOTE, NEVER_MAPPED, place, message, hint), Side.EXTRACTION, newest.id)
        return
    if len(ids) < least_versions:
        return
    mapped = _mapped(document, newest.id)
    open_ = [a for a in newest.attributes if a.id not in mapped]
    for attribute, count in _unmapped_for(document, ids, open_):
        if count >= least_versions:
            message = f"{attribute.path} has been unmapped for {count} versions."
            hint = "Map it where somebody needs it; what nobody needs may stay unmapped."
            problem = Problem(Severity.NOTE, UNMAPPED, place, message, hint)
            yield Gap(problem, Side.EXTRACTION, newest.id, attribute.id, None, attribute.path, count)


def _mapped(document: Document, version_id: int) -> set[int]:
    return {e.p for block in document.matrix.column_set(version_id) for e in block.elements}


def _unmapped_for(document: Document, ids: tuple[int, ...], open_: list[Attribute]) -> list[tuple[Attribute, int]]:
    """Count for each attribute of the newest version for how many versions up to it nothing of it was mapped."""
    counts = {attribute.lineage: 1 for attribute in open_}
    going_on = set(counts)
    for id_ in reversed(ids[:-1]):
        if not going_on:
            break
        version = document.extraction.version(id_)
        mapped = _mapped(document, id_)
        going_on = {lineage for lineage in going_on if _is_open(version, lineage, mapped)}
        for lineage in going_on:
            counts[lineage] += 1
    return [(attribute, counts[attribute.lineage]) for attribute in open_]


def _is_open(version: Version, lineage: int, mapped: set[int]) -> bool:
    attribute = version.of_lineage(lineage)
    return attribute is not None and attribute.id not in mapped
