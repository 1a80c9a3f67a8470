"""Gaps: what nothing feeds, what feeds nothing, and what is sent to blocks that were given up.

What is never to be mapped is no gap.
Codes: ``cdm.required-without-source``, ``cdm.never-fed``, ``extraction.never-mapped``,
``extraction.unmapped-for-versions``, ``mapping.retired-receives``.
Cost: elements are counted as columns; then a look at each newest version, and objects are made only of versions that
have unmapped attributes. Source: docs/guide/mapping.md, "Own the model".
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import TypeAlias

import numpy as np

from metl_gui.core.matrix.blocks import BlockKey, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.attribute_facts import Flags, MappedAttributes
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.trees.nodes import Attribute, Schema, Side
from metl_gui.values import Value

Seen: TypeAlias = AbstractSet[tuple[str, str]]
"""Schema names and version labels of messages that runs have met."""

VERSIONS = 3
"""An attribute that was unmapped for so many versions is a gap."""

_FEW = 5
"""So many are named where many are told as one."""

NEVER_FED = "cdm.never-fed"
REQUIRED = "cdm.required-without-source"
NEVER_MAPPED = "extraction.never-mapped"
UNMAPPED = "extraction.unmapped-for-versions"
RETIRED = "mapping.retired-receives"


class Gap(Value):
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
    fed = MappedAttributes.of(document, Side.CDM)
    for entity in document.cdm.schemas():
        yield from _of_entity(document, entity, fed)
    if seen:
        yield from _of_retired(document, seen)
    mapped = MappedAttributes.of(document, Side.EXTRACTION)
    for schema in document.extraction.schemas():
        yield from _of_schema(document, schema, least_versions, mapped)


def problems_of(found: Iterator[Gap]) -> Iterator[Problem]:
    """Write gaps as problems; the unmapped attributes of one schema are one of them, many unmapped schemas too."""
    together: dict[str, list[Gap]] = {}
    unmapped: list[Problem] = []
    for gap in found:
        if gap.problem.code == UNMAPPED:
            together.setdefault(gap.problem.place, []).append(gap)
        elif gap.problem.code == NEVER_MAPPED:
            unmapped.append(gap.problem)
        else:
            yield gap.problem
    for place, listed in together.items():
        yield Problem(Severity.NOTE, UNMAPPED, place, _unmapped_words(listed), listed[0].problem.hint)
    if len(unmapped) <= _FEW:
        yield from unmapped
    else:
        named = ", ".join(problem.place for problem in unmapped[:_FEW])
        message = f"{len(unmapped):,} schemas are not mapped at all: {named} and {len(unmapped) - _FEW:,} more."
        yield Problem(Severity.NOTE, NEVER_MAPPED, unmapped[0].place, message, unmapped[0].hint)


def _unmapped_words(listed: list[Gap]) -> str:
    if len(listed) == 1:
        return listed[0].problem.message
    named = ", ".join(f"{gap.path} ({gap.count})" for gap in listed[:_FEW])
    more = f" and {len(listed) - _FEW} more" if len(listed) > _FEW else ""
    least = min(gap.count for gap in listed)
    return f"{len(listed)} attributes have been unmapped for {least} versions or more: {named}{more}."


def _of_entity(document: Document, entity: Schema, fed: MappedAttributes) -> Iterator[Gap]:
    if not entity.version_ids:
        return
    id_ = entity.version_ids[-1]
    flags, never = fed.mapped(entity.id, id_), fed.never(entity.id, id_)
    if (flags | never).all() and len(flags):
        return
    newest = document.cdm.version(id_)
    place = f"{entity.name}@{newest.label}"
    if not flags.any():
        message = f"No schema feeds {entity.name}."
        problem = Problem(Severity.WARNING, NEVER_FED, place, message, "Map a schema to it, or remove it.")
        yield Gap(problem, Side.CDM, newest.id)
        return
    for attribute, is_fed in zip(newest.attributes, (flags | never).tolist(), strict=True):
        if not attribute.optional and not is_fed:
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


def _of_schema(document: Document, schema: Schema, least_versions: int, mapped: MappedAttributes) -> Iterator[Gap]:
    ids = schema.version_ids
    flags = mapped.mapped(schema.id, ids[-1]) if ids else np.ones(1, np.bool_)
    is_done: Flags = flags | mapped.never(schema.id, ids[-1]) if ids else flags
    if is_done.all() and len(flags):
        return
    newest = document.extraction.version(ids[-1])
    place = f"{schema.name}@{newest.label}"
    if not flags.any() and not any(mapped.mapped(schema.id, id_).any() for id_ in reversed(ids)):
        if any(document.matrix.column_keys(id_) for id_ in ids):
            return  # its blocks are retired or wait for review: somebody has decided, or will
        message = f"Nothing of {schema.name} is mapped."
        hint = "Map it to an entity, or remove it."
        yield Gap(Problem(Severity.NOTE, NEVER_MAPPED, place, message, hint), Side.EXTRACTION, newest.id)
        return
    if len(ids) < least_versions:
        return
    open_ = [a for a, is_mapped in zip(newest.attributes, is_done.tolist(), strict=True) if not is_mapped]
    for attribute, count in _unmapped_for(document, ids, open_, mapped):
        if count >= least_versions:
            message = f"{attribute.path} has been unmapped for {count} versions."
            hint = "Map it where somebody needs it; what nobody needs may stay unmapped."
            problem = Problem(Severity.NOTE, UNMAPPED, place, message, hint)
            yield Gap(problem, Side.EXTRACTION, newest.id, attribute.id, None, attribute.path, count)


def _unmapped_for(
    document: Document, ids: tuple[int, ...], open_: list[Attribute], mapped: MappedAttributes
) -> list[tuple[Attribute, int]]:
    """Count for each attribute of the newest version for how many versions up to it nothing of it was mapped."""
    counts = {attribute.lineage: 1 for attribute in open_}
    going_on = set(counts)
    for id_ in reversed(ids[:-1]):
        if not going_on:
            break
        version = document.extraction.version(id_)
        there = {a.lineage for a in version.attributes if not mapped.counts[a.id]}
        going_on &= there
        for lineage in going_on:
            counts[lineage] += 1
    return [(attribute, counts[attribute.lineage]) for attribute in open_]
