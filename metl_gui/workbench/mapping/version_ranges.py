"""Lines of a mapping table that hold for several versions of their schema.

Source: docs/reference/mapping-csv.md, "Several versions".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.version_scope import WishedElement, as_far_as_free
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Schema, Side
from metl_gui.errors import EditError
from metl_gui.values import Value
from metl_gui.workbench.addresses import find_attribute, find_schema, find_version

EVERY, DOTS = "*", ".."


class RowVersions(Value):
    """Versions that a line holds for.

    Args:
        document: where they are.
        schema: theirs.
        ids: of the versions, oldest first.
        of: the version that says which lineage a path means, ``None`` for the newest that has the path.
    """

    document: Document
    schema: Schema
    ids: tuple[int, ...]
    of: int | None = None

    def attribute_at(self, path: str) -> Attribute:
        """Return the attribute whose lineage a path means.

        Raises:
            EditError: no version has the path, or not the one that is to say it.
        """
        tree = self.document.extraction
        if self.of is not None:
            return find_attribute(tree.version(self.of), self.schema.name, path)
        for id_ in reversed(self.ids):
            found = tree.version(id_).at_path(path)
            if found is not None:
                return found
        return find_attribute(tree.version(self.ids[-1]), self.schema.name, path)


class RangedRow(Value):
    """A line with its ends found.

    Args:
        line: counted from 1.
        versions: ids of the schema's versions, oldest first.
        source: the attribute of one version whose lineage is meant.
        entity_version: id of the entity's version.
        target: the CDM attribute.
        is_unconfirmed: whether it is only set, to be confirmed by somebody.
        own: id of the version that the line names, which comes before all others; ``None`` where it names none.
    """

    line: int
    versions: tuple[int, ...]
    source: Attribute
    entity_version: int
    target: Attribute
    is_unconfirmed: bool
    own: int | None = None


class RangePlan(Value):
    """What lines with ranges of versions do.

    Args:
        edits: one for each block that changes, with what lines that name a version do there.
        changed, unchanged: elements.
        left: line, block and reason of each element that is not set, by line.
    """

    edits: tuple[SetElements, ...]
    changed: int
    unchanged: int
    left: tuple[tuple[int, BlockKey, str], ...]


NO_RANGES = RangePlan((), 0, 0, ())


def may_be_range(label: str) -> bool:
    """Return whether what a line says of the version is written as several are; one may be called so."""
    return label.strip() == EVERY or DOTS in label


def versions_meant(document: Document, schema_name: str, label: str, all_versions: bool) -> RowVersions | None:
    """Return the versions that a line means, ``None`` where it names one.

    Args:
        document: where they are.
        schema_name: of the line.
        label: what its column for the version says; a version that is called so comes first.
        all_versions: a line that names a version holds for all of them.

    Raises:
        EditError: there is no such schema or version, or the range ends before it begins.
    """
    if not all_versions and not may_be_range(label):
        return None
    schema = find_schema(document, Side.EXTRACTION, schema_name)
    ids, named = schema.version_ids, document.extraction.labelled(schema.id, label)
    if named is not None:
        return RowVersions(document, schema, ids, named.id) if all_versions else None
    if label == EVERY:
        return RowVersions(document, schema, ids)
    return RowVersions(document, schema, ids[slice(*_bounds(document, schema, label))])


def plan_ranges(
    document: Document, rows: Sequence[RangedRow], given: Mapping[BlockKey, SetElements], *, is_set: bool
) -> RangePlan:
    """Work out what lines with ranges do beside lines that name a version, the earlier line first.

    Cost: the rows times the versions in their ranges, and the attributes of these once.
    """
    lines: dict[tuple[BlockKey, Element], int] = {}
    plan = as_far_as_free(document, _wished(document, rows, lines, is_set), given)
    left = sorted((lines[one.key, one.element], one.key, one.reason.value) for one in plan.left)
    return RangePlan(plan.edits, plan.changed, plan.already, tuple(left))


def _wished(
    document: Document, rows: Sequence[RangedRow], lines: dict[tuple[BlockKey, Element], int], is_set: bool
) -> Iterator[WishedElement]:
    """Yield the elements that rows mean, and note the line of each."""
    lineages: dict[int, dict[int, Attribute]] = {}
    named = ((row, row.own) for row in rows if row.own is not None)
    rest = ((row, version) for row in rows for version in row.versions if version != row.own)
    for row, version in chain(named, rest):
        if version not in lineages:
            lineages[version] = {a.lineage: a for a in document.extraction.version(version).attributes}
        source = lineages[version].get(row.source.lineage)
        if source is not None:
            key = version, row.entity_version
            one = WishedElement(key, source, row.target, row.source, is_set, row.is_unconfirmed)
            lines.setdefault((one.key, one.element), row.line)
            yield one


def _bounds(document: Document, schema: Schema, text: str) -> tuple[int, int]:
    """Return the first place of a range ``FROM..TO`` and the one behind its last; labels may have dots themselves.

    Raises:
        EditError: an end is no version, or the range ends before it begins.
    """
    tree, ids = document.extraction, schema.version_ids
    cuts = [(text[:at].strip(), text[at + 2 :].strip()) for at in range(len(text)) if text.startswith(DOTS, at)]
    for ends in filter(any, cuts):
        found = [tree.labelled(schema.id, end) if end else None for end in ends]
        if any(end and version is None for end, version in zip(ends, found, strict=True)):
            continue
        first = ids.index(found[0].id) if found[0] is not None else 0
        last = ids.index(found[1].id) if found[1] is not None else len(ids) - 1
        if first > last:
            raise EditError(
                f"The range {text} of {schema.name} ends before it begins.",
                hint=f"Version {ends[1]} is older than {ends[0]}.",
            )
        return first, last + 1
    for end in filter(None, (end.strip() for end in text.split(DOTS, 1))):
        find_version(document, Side.EXTRACTION, schema, end)
    raise EditError(f"{schema.name} has no versions {text!r}.", hint="* stands for all of them.")
