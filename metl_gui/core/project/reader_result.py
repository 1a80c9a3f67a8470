"""What a reader hands over: declarations in order, and what it refused and why."""

from __future__ import annotations

from collections.abc import Iterable

from metl_gui.core.project.writer_schemas import WriterSchema
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.schema_names import label_order
from metl_gui.values import Value


class SkippedSource(Value):
    """One source, or a part of it, that was not imported.

    Args:
        source: the file, with the part of it when only a part was refused.
        reason: why and what to do about it, as sentences for people.
    """

    source: str
    reason: str


class SchemaSuccession(Value):
    """A schema that goes on under another name, as its source says.

    Args:
        name: its new name.
        of: what it may be known as.
        is_same: the source does not say so, older readers called it otherwise: it goes on only what has a version of
            the same content.
    """

    name: str
    of: tuple[str, ...]
    is_same: bool = False


class ReaderResult(Value):
    """Everything read from some sources.

    Args:
        declarations: versions; those of one name stand in version order.
        refused: what could not be read.
        continuations: schemas that got another name, in order.
        wire: writer schemas that messages are read by, with their registry ids.
        has_counted_labels: labels only count the versions of their source. Where the project calls another content by
            one, the version takes the next free one instead of being refused.
    """

    declarations: tuple[VersionDeclaration, ...] = ()
    refused: tuple[SkippedSource, ...] = ()
    continuations: tuple[SchemaSuccession, ...] = ()
    wire: tuple[WriterSchema, ...] = ()
    has_counted_labels: bool = False


def merge(readings: Iterable[ReaderResult]) -> ReaderResult:
    """Put readings together and sort the versions of each name by their labels."""
    declarations: list[VersionDeclaration] = []
    refused: list[SkippedSource] = []
    continuations: list[SchemaSuccession] = []
    wire: list[WriterSchema] = []
    has_counted_labels = False
    for reading in readings:
        has_counted_labels = has_counted_labels or reading.has_counted_labels
        declarations.extend(reading.declarations)
        refused.extend(reading.refused)
        continuations.extend(reading.continuations)
        wire.extend(reading.wire)
    return ReaderResult(
        order_versions(declarations), tuple(refused), tuple(continuations), tuple(wire), has_counted_labels
    )


def order_versions(declarations: Iterable[VersionDeclaration]) -> tuple[VersionDeclaration, ...]:
    """Gather the versions of each name and sort them by label.

    Order: names as they first appear. Versions without a label keep their place in the order of appearance, behind the
    labelled ones, because nothing says where between them they belong.
    """
    by_name: dict[str, list[VersionDeclaration]] = {}
    for declaration in declarations:
        by_name.setdefault(declaration.name, []).append(declaration)
    ordered: list[VersionDeclaration] = []
    for versions in by_name.values():
        labelled = [version for version in versions if version.label is not None]
        ordered.extend(sorted(labelled, key=lambda version: label_order(version.label or "")))
        ordered.extend(version for version in versions if version.label is None)
    return tuple(ordered)
