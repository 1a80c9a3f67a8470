"""Checks of a document: they return every problem found and never raise.

Codes: ``mapping.not-one-to-one``, ``mapping.dangling``, ``mapping.not-newest``, ``mapping.needs-review``,
``mapping.unconfirmed``, ``mapping.type-differs``, ``lineage.twice-in-version``, and those of ``search.gaps``.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from metl_gui.core.matrix.blocks import Block, Status, conflicts
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.gaps import Seen, gaps, problems_of
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.core.trees.types import is_readable


def check(document: Document, seen: Seen = frozenset()) -> tuple[Problem, ...]:
    """Run every check; linear in the document.

    Order: errors first, then by place and code. A note that holds for several versions of a schema stands once.

    Args:
        document: the state to look at.
        seen: schema versions of messages that runs have met (``search.gaps``).
    """
    found = [*_lineages(document), *problems_of(gaps(document, seen)), *_blocks(document)]
    order = list(Severity)
    return tuple(sorted(found, key=lambda p: (order.index(p.severity), p.place, p.code, p.message)))


def _blocks(document: Document) -> Iterator[Problem]:
    """Check the blocks of one schema and entity version after another, oldest first, and join the same notes."""
    same: dict[tuple[int, int, str, str], list[tuple[int, Problem]]] = {}
    for block in document.matrix.blocks():
        for problem in _block(document, block):
            version = document.extraction.find_version(block.version)
            if problem.severity is not Severity.NOTE or version is None:
                yield problem
                continue
            place = document.extraction.schema(version.schema_id).version_ids.index(version.id)
            key = version.schema_id, block.entity_version, problem.code, problem.message
            same.setdefault(key, []).append((place, problem))
    for listed in same.values():
        ordered = sorted(listed, key=lambda each: each[0])
        labels = tuple(label for _, problem in ordered for label in problem.versions)
        newest = ordered[-1][1]
        is_whole = ordered[-1][0] - ordered[0][0] == len(ordered) - 1
        message = f"{newest.message} {_span(labels, is_whole)}" if len(labels) > 1 else newest.message
        yield replace(newest, message=message, versions=labels)


def _span(labels: tuple[str, ...], is_whole: bool) -> str:
    if len(labels) < 4:
        return f"This holds for versions {', '.join(labels[:-1])} and {labels[-1]}."
    ends = f"{labels[0]} to {labels[-1]}"
    return f"This holds for versions {ends}." if is_whole else f"This holds for {len(labels)} versions from {ends}."


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
        lost = f"{count} lost element{' waits' if count == 1 else 's wait'} for a decision."
        message = lost if count else "The block waits for a decision."
        yield Problem(Severity.WARNING, "mapping.needs-review", place, message, "See metl review --list.")
    if block.status is Status.UNCONFIRMED:
        message, labels = "Nobody has confirmed this block.", (version.label,)
        yield Problem(Severity.NOTE, "mapping.unconfirmed", place, message, "Confirm it.", labels)
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
            hint = "Values are passed on unchanged."
            yield Problem(Severity.NOTE, "mapping.type-differs", place, message, hint, (version.label,))


def _as_sent(attribute: Attribute) -> str:
    """Name the plain type too: a Connect Date is a number of days, which its name does not tell."""
    return f"{attribute.type_text} ({attribute.type})" if attribute.logical else attribute.type_text


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
