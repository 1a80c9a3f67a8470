"""Checks of a document: they return every problem found and never raise.

Codes: ``mapping.not-one-to-one``, ``mapping.dangling``, ``mapping.not-newest``, ``mapping.needs-review``,
``mapping.unconfirmed``, ``mapping.type-differs``, ``cdm.required-without-source``, ``cdm.never-fed``,
``lineage.twice-in-version``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from metl_gui.core.blocks import Block, Status, conflicts
from metl_gui.core.compatibility import is_readable
from metl_gui.core.document import Document
from metl_gui.core.nodes import Attribute, Side, Version


class Severity(StrEnum):
    """How bad a problem is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a check found.

    Args:
        severity: see ``Severity``.
        code: dotted code.
        place: block or node, by names.
        message: what is wrong.
        hint: what to do.
    """

    severity: Severity
    code: str
    place: str
    message: str
    hint: str


def check(document: Document) -> tuple[Problem, ...]:
    """Run every check; linear in the document.

    Order: errors first, then by place and code.
    """
    problems = [*_lineages(document), *_entities(document)]
    for block in document.matrix.blocks():
        problems += _block(document, block)
    order = list(Severity)
    return tuple(sorted(problems, key=lambda p: (order.index(p.severity), p.place, p.code, p.message)))


def place_of(document: Document, block: Block) -> str:
    """Name a block as commands take it: ``schema@version:entity@version``."""
    version, entity_version = document.extraction.version(block.version), document.cdm.version(block.entity_version)
    schema = document.extraction.schema(version.schema_id)
    entity = document.cdm.schema(entity_version.schema_id)
    return f"{schema.name}@{version.label}:{entity.name}@{entity_version.label}"


def _block(document: Document, block: Block) -> Iterator[Problem]:
    version = document.extraction.find_version(block.version)
    entity_version = document.cdm.find_version(block.entity_version)
    if version is None or entity_version is None:
        message = "A block stands between versions that are not in the trees."
        yield Problem(Severity.ERROR, "mapping.dangling", str(block.key), message, "Report this; undo the last edits.")
        return
    place = place_of(document, block)
    for element in conflicts(block.elements):
        source, target = version.attribute(element.p), entity_version.attribute(element.q)
        message = f"{source.path if source else '?'} to {target.path if target else '?'} shares an end in its block."
        yield Problem(Severity.ERROR, "mapping.not-one-to-one", place, message, "Clear one of the two.")
    entity = document.cdm.schema(entity_version.schema_id)
    if entity.setting("policy") != "parallel" and entity.version_ids[-1] != entity_version.id and block.elements:
        message = f"The block maps to version {entity_version.label}, which is not the newest of {entity.name}."
        yield Problem(Severity.ERROR, "mapping.not-newest", place, message, "Map to the newest version.")
    if block.status is Status.NEEDS_REVIEW:
        count = len(block.open_losses)
        message = f"{count} lost elements wait for a decision." if count else "The block waits for a decision."
        yield Problem(Severity.WARNING, "mapping.needs-review", place, message, "See metl review --list.")
    if block.status is Status.UNCONFIRMED:
        yield Problem(Severity.NOTE, "mapping.unconfirmed", place, "Nobody has confirmed this block.", "Confirm it.")
    yield from _types(block, version, entity_version, place)


def _types(block: Block, version: Version, entity_version: Version, place: str) -> Iterator[Problem]:
    columns = {a.id: a for a in version.attributes}
    rows = {a.id: a for a in entity_version.attributes}
    for q, p in block.elements:
        source, target = columns.get(p), rows.get(q)
        if source is None or target is None:
            message = "An element's end is not in the versions of its block."
            yield Problem(Severity.ERROR, "mapping.dangling", place, message, "Report this; undo the last edits.")
        elif not is_readable(source, target):
            message = f"{source.path} comes as {_as_sent(source)}, {target.path} is wanted as {target.type_text}."
            yield Problem(Severity.NOTE, "mapping.type-differs", place, message, "Values are passed on unchanged.")


def _as_sent(attribute: Attribute) -> str:
    """Name the plain type too: a Connect Date is a number of days, which its name does not tell."""
    return f"{attribute.type_text} ({attribute.type})" if attribute.logical else attribute.type_text


def _entities(document: Document) -> Iterator[Problem]:
    for entity in document.cdm.schemas():
        newest = document.cdm.newest(entity.id)
        if newest is None:
            continue
        fed = {e.q for block in document.matrix.row_set(newest.id) for e in block.elements}
        place = f"{entity.name}@{newest.label}"
        if not fed:
            message = f"No schema feeds {entity.name}."
            yield Problem(Severity.WARNING, "cdm.never-fed", place, message, "Map a schema to it, or remove it.")
            continue
        for attribute in newest.attributes:
            if not attribute.optional and attribute.id not in fed:
                message = f"{attribute.path} is required and has no source."
                hint = "Map an attribute to it, or make it optional."
                yield Problem(Severity.WARNING, "cdm.required-without-source", place, message, hint)


def _lineages(document: Document) -> Iterator[Problem]:
    for side in Side:
        tree = document.tree(side)
        for version in tree.all_versions():
            lineages = [a.lineage for a in version.attributes]
            if len(set(lineages)) != len(lineages):
                place = f"{tree.schema(version.schema_id).name}@{version.label}"
                message = "Two attributes of one version belong to the same lineage."
                hint = "Split the lineage."
                yield Problem(Severity.ERROR, "lineage.twice-in-version", place, message, hint)
