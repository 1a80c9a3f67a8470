"""What is shown of a node of a tree: its words, its mark, its pill. Asked for row by row, kept per version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from metl_gui.core.matrix.blocks import Block
from metl_gui.core.search.attribute_facts import AttributeUses
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.core.trees.trees import Tree
from metl_gui.ui.marks import MarkShape
from metl_gui.ui.naming import number_of


@dataclass(frozen=True)
class RowFacts:
    """One row of a tree.

    Args:
        name: its words.
        detail: dim words at the right.
        mark: its mark, ``None`` for what is no attribute.
        pill: words in a pill behind the name, and the pill's kind.
        is_strong: whether the name is bold.
        tip: the tooltip.
    """

    name: str
    detail: str = ""
    mark: MarkShape | None = None
    pill: tuple[str, str] = ("", "plain")
    is_strong: bool = False
    tip: str = ""


@dataclass(frozen=True)
class VersionFacts:
    """What the matrix says of one version's attributes.

    Args:
        mapped: ids of attributes with an element.
        lost: ids of attributes that lost an element (CDM side).
        lost_count: how many lost elements wait in blocks of this version.
        new: ids of attributes that no earlier version had; none in the first version.
    """

    mapped: frozenset[int]
    lost: frozenset[int]
    lost_count: int
    new: frozenset[int]

    def mark_of(self, attribute: Attribute) -> MarkShape:
        """Return the attribute's mark."""
        if attribute.id in self.lost:
            return MarkShape.WAITS if attribute.id in self.mapped else MarkShape.LOST
        if attribute.id in self.mapped:
            return MarkShape.NEW if attribute.id in self.new else MarkShape.MAPPED
        return MarkShape.HOLLOW


def version_facts(
    tree: Tree, side: Side, version: Version, uses: AttributeUses, blocks: Iterable[Block]
) -> VersionFacts:
    """Read one version's facts off the counted matrix and its blocks that wait."""
    lost: set[int] = set()
    count = 0
    for block in blocks:
        for loss in block.open_losses:
            count += 1
            end = version.of_lineage(loss.p_lineage if side is Side.EXTRACTION else loss.q_lineage)
            if end is not None:
                lost.add(end.id)
    ids = [attribute.id for attribute in version.attributes]
    return VersionFacts(
        frozenset(id_ for id_ in ids if uses.mapped[id_]),
        frozenset(lost),
        count,
        frozenset(attribute.id for attribute in tree.new_attributes(version)),
    )


def attribute_row(attribute: Attribute, facts: VersionFacts, side: Side, is_newest: bool) -> RowFacts:
    """Describe an attribute."""
    required = " · required" if side is Side.CDM and not attribute.optional else ""
    is_open = is_newest and attribute.id in facts.new and attribute.id not in facts.mapped
    pill = ("new", "good") if is_open else ("", "plain")
    mark = facts.mark_of(attribute)
    need = "optional" if attribute.optional else "required"
    tip = f"{attribute.path}\n{attribute.type_text}, {need} · {mark.value}"
    if attribute.doc:
        tip += f"\n{attribute.doc}"
    return RowFacts(attribute.path, attribute.type_text + required, mark, pill, tip=tip)


def version_row(version: Version, facts: VersionFacts) -> RowFacts:
    """Describe a version."""
    pill = (f"{facts.lost_count} lost", "review") if facts.lost_count else ("", "plain")
    count = len(version.attributes)
    return RowFacts(
        version.label, str(count), None, pill, tip=f"Version {version.label}, {number_of(count, 'attribute')}"
    )


def schema_row(schema: Schema, name: str, label: str, waiting: int, side: Side) -> RowFacts:
    """Describe a schema or entity."""
    count = len(schema.version_ids)
    detail = f"version {label}" if side is Side.CDM else number_of(count, "version")
    pill = (str(waiting), "review") if waiting else ("", "plain")
    tip = f"{schema.name}\n{number_of(count, 'version')}"
    if schema.aliases:
        tip += f"\nalso called {', '.join(schema.aliases)}"
    return RowFacts(name, detail, None, pill, is_strong=side is Side.CDM, tip=tip)


def group_row(name: str, short: str, count: int, waiting: int, side: Side) -> RowFacts:
    """Describe a group; its short name leaves out what all groups begin with."""
    nouns = ("schema", "schemas") if side is Side.EXTRACTION else ("entity", "entities")
    pill = (f"{waiting:,}", "review") if waiting else ("", "plain")
    detail = f"{count:,} {nouns[count != 1]}"
    return RowFacts(short, detail, None, pill, is_strong=True, tip=name)
