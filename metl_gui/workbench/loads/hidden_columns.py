"""What of a target is shown to nobody: values of masked attributes, which a target may hold plain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from metl_gui.core.dimensional.loads.missing_members import MissingMember
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import hidden_targets
from metl_gui.formats.hidden_values import HIDDEN
from metl_gui.warehouse.audit import DIFFERS, Finding
from metl_gui.warehouse.plans.shapes.table_shapes import MemberShape, TableShapes


def hidden_columns(document: Document, shapes: TableShapes, shape: MemberShape) -> frozenset[str]:
    """Return the columns of a history whose values are hidden, in whichever version of the entity."""
    columns = shapes.histories[shape.entity].columns
    labels = {label for one in columns for label in one.paths}
    hidden = {label: hidden_targets(document, shape.entity, label) for label in labels}
    return frozenset(one.name for one in columns if any(path in hidden[at] for at, path in one.paths.items()))


def shown_members(document: Document, shapes: TableShapes, found: Iterable[MissingMember]) -> Iterator[MissingMember]:
    """Yield members that are missing, the masked parts of their keys hidden."""
    for one in found:
        shape = shapes.dimension(one.dimension)
        hidden = hidden_columns(document, shapes, shape)
        key = [HIDDEN if part.source in hidden else value for part, value in zip(shape.key, one.key, strict=True)]
        yield msgspec.structs.replace(one, key=tuple(key))


def shown_findings(document: Document, shapes: TableShapes, found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield what an audit found, without masked keys, and without the rows where a target holds masked values."""
    members = (*shapes.dimensions, *shapes.facts)
    hidden = {one.table: hidden_columns(document, shapes, one) for one in members}
    masked = {one.table for one in members if any(part.source in hidden[one.table] for part in one.key)}
    for one in found:
        shown = () if any(hidden.values()) and one.rule != DIFFERS else one.shown
        yield msgspec.structs.replace(one, shown=shown, keys=() if one.table in masked else one.keys)
