"""Correcting lineages by names: *Same as…* and *Not the same as…*.

Source: docs/reference/commands.md, "metl link"; docs/reference/commands.md, "metl unlink"; docs/architecture/model.md,
"Algorithms" (A3).
"""

from __future__ import annotations

from msgspec.structs import replace

from metl_gui.core.changes.lineages import first_version_with_both
from metl_gui.core.edits.lineages import AttributeKey, JoinLineages, SplitLineage
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.errors import EditError
from metl_gui.workbench.addresses import find_leaf
from metl_gui.workbench.model import edit_effects
from metl_gui.workbench.model.edit_effects import EditOutcome
from metl_gui.workbench.review.rename_refusals import refuse_split
from metl_gui.workbench.session import EditOrigin, Workbench


def link(
    workbench: Workbench,
    one: str,
    other: str,
    side: Side | None = None,
    dry_run: bool = False,
    door: EditOrigin = EditOrigin.COMMAND,
) -> EditOutcome:
    """Say that two attributes of one schema or entity are the same.

    Args:
        workbench: the opened project.
        one, other: each ``SCHEMA.ATTRIBUTE``, with ``@VERSION`` where needed.
        side: the tree of both, where a name is in both trees.
        dry_run: only say what would happen.
        door: where the gesture was made.

    Raises:
        EditError: an attribute is not known, or the rules refuse it.
    """
    document = workbench.document
    first_side, version, attribute = find_leaf(document, one, side)
    other_side, other_version, other_attribute = _other_leaf(document, other, first_side)
    if first_side is not other_side:
        raise EditError(
            f"{one} and {other} are in different trees.",
            hint="Only attributes of one schema or entity can be the same; to send one to the other, map it.",
        )
    edit = JoinLineages(
        first_side, AttributeKey(version.id, attribute.id), AttributeKey(other_version.id, other_attribute.id)
    )
    return replace(edit_effects.do(workbench, edit, dry_run, door), note=join_note(document, edit))


def join_note(document: Document, edit: JoinLineages) -> str:
    """Explain why two attributes stay two although they are called the same; empty where they become one."""
    tree = document.tree(edit.side)
    ends = [(tree.version(leaf.version), leaf.attribute) for leaf in (edit.one, edit.other)]
    one, other = (version.attribute(id_) for version, id_ in ends)
    if one is None or other is None:
        return ""
    meeting = first_version_with_both(tree.versions(ends[0][0].schema_id), one.lineage, other.lineage)
    if meeting is None:
        return ""
    return f"Version {meeting.label} has both, so they stay two attributes; only what was lost comes back."


def unlink(
    workbench: Workbench,
    one: str,
    other: str | None = None,
    side: Side | None = None,
    dry_run: bool = False,
    door: EditOrigin = EditOrigin.COMMAND,
) -> EditOutcome:
    """Say that an attribute is not the same as one of an earlier version, by default the one before it.

    What was refused like this is not proposed as a rename again.

    Raises:
        EditError: an attribute is not known, or they are not known to be the same.
    """
    document = workbench.document
    first_side, version, attribute = find_leaf(document, one, side)
    below = None
    if other is not None:
        _, other_version, other_attribute = find_leaf(document, other, first_side)
        below = other_version, other_attribute
    edit = splitting(document, first_side, (version, attribute), below)
    return split(workbench, edit, dry_run, door)


def split(
    workbench: Workbench, edit: SplitLineage, dry_run: bool = False, door: EditOrigin = EditOrigin.COMMAND
) -> EditOutcome:
    """Split a lineage, and do not propose again what was just told apart.

    Raises:
        EditError: the rules refuse it.
    """
    before = workbench.document
    done = edit_effects.do(workbench, edit, dry_run, door)
    version = before.tree(edit.side).version(edit.leaf.version)
    attribute = version.attribute(edit.leaf.attribute)
    if dry_run or attribute is None:
        return done
    old = older_versions(before, edit.side, version, attribute)[-1][1]
    refuse_split(workbench, edit.side, version, old, attribute)
    return done


def splitting(
    document: Document, side: Side, one: tuple[Version, Attribute], other: tuple[Version, Attribute] | None
) -> SplitLineage:
    """Make the edit that tells an attribute apart from another one of its lineage.

    The cut lies below the later of the two; without another one, below the attribute itself.

    Raises:
        EditError: they are not known to be the same, or stand in one version.
    """
    version, attribute = one
    if other is None:
        return SplitLineage(side, AttributeKey(version.id, attribute.id))
    other_version, other_attribute = other
    if attribute.lineage != other_attribute.lineage or version.schema_id != other_version.schema_id:
        raise EditError(
            f"{attribute.path} is not known to be the same as {other_attribute.path}.",
            hint="There is nothing to tell apart.",
        )
    if version.id == other_version.id:
        raise EditError(
            f"Both name {attribute.path} of version {version.label}.",
            hint="Name the versions, as SCHEMA.ATTRIBUTE@VERSION.",
        )
    ids = document.tree(side).schema(version.schema_id).version_ids
    above, leaf = max((one, other), key=lambda each: ids.index(each[0].id))
    return SplitLineage(side, AttributeKey(above.id, leaf.id))


def _other_leaf(document: Document, text: str, side: Side) -> tuple[Side, Version, Attribute]:
    """Find the second attribute in the tree of the first one, else wherever it is."""
    try:
        return find_leaf(document, text, side)
    except EditError as error:
        try:
            return find_leaf(document, text)
        except EditError:
            raise error from None


def older_versions(
    document: Document, side: Side, version: Version, attribute: Attribute
) -> tuple[tuple[Version, Attribute], ...]:
    """Return the attributes of the same lineage in the versions before, oldest first."""
    versions = document.tree(side).versions(version.schema_id)
    below = versions[: [v.id for v in versions].index(version.id)]
    return tuple((v, a) for v in below if (a := v.of_lineage(attribute.lineage)) is not None)
