"""What differs between two states, as rows under the schema, entity or pair of both that they are about; no Qt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from metl_gui.core.differences.document_difference import BlockDifference, Difference, TreeDifference
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.project_data import BesideDifference
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.naming import number_of
from metl_gui.ui.selection import Place, Selected, place_of_version, still_there

CAME, WENT, OTHER = "+", "\N{MINUS SIGN}", "~"
"""The signs of what came, what went, and what is another one; shape first, colour second."""


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One thing that differs.

    Args:
        sign: ``CAME``, ``WENT`` or ``OTHER``.
        what: in words.
        where: the versions that it is about.
        key: the block that it is about, if it is about one.
        element: the cell.
        tree: what differs in a tree.
    """

    sign: str
    what: str
    where: str
    key: BlockKey | None = None
    element: Element | None = None
    tree: TreeDifference | None = None

    @property
    def leads_somewhere(self) -> bool:
        """Whether it is about a place that can be selected."""
        return self.key is not None or self.tree is not None


@dataclass(frozen=True, slots=True)
class DifferenceGroup:
    """What differs of one schema, entity, or pair of both.

    Args:
        name: of it.
        facts: how much, in few words.
        rows: in the order of versions.
    """

    name: str
    facts: str
    rows: tuple[DifferenceRow, ...]


def groups_of(
    difference: Difference, before: Document, after: Document, is_one_project: bool = True
) -> tuple[DifferenceGroup, ...]:
    """Put a difference into groups: trees, blocks by schema and entity, then what lies beside the states by kind.

    Args:
        difference: of two documents.
        before, after: these.
        is_one_project: both are states of one project; else rows lead to what the one after has.
    """
    trees: dict[tuple[Side, str], list[DifferenceRow]] = {}
    for tree in difference.trees:
        trees.setdefault((tree.side, tree.name), []).append(_tree_row(tree))
    blocks: dict[tuple[str, str], list[DifferenceRow]] = {}
    for block in difference.blocks:
        blocks.setdefault((block.schema, block.entity), []).extend(_block_rows(block, before, after, is_one_project))
    found = [
        DifferenceGroup(name, "schema" if side is Side.EXTRACTION else "entity", tuple(rows))
        for (side, name), rows in trees.items()
    ]
    found += [
        DifferenceGroup(f"{schema} → {entity}", _counts(rows), tuple(rows)) for (schema, entity), rows in blocks.items()
    ]
    for kind, things in groupby(difference.beside, key=lambda told: told.kind):
        rows = [DifferenceRow(_sign(told), told.words(), told.place) for told in things]
        found.append(DifferenceGroup(f"beside the states: {kind}", number_of(len(rows), "change"), tuple(rows)))
    return tuple(found)


def summary(difference: Difference) -> str:
    """Say how much differs, in one line."""
    if difference.is_empty:
        return "Nothing differs."
    parts = [f"{number_of(difference.added, 'element')} came"] if difference.added else []
    parts += [f"{number_of(difference.removed, 'element')} went"] if difference.removed else []
    silent = sum(not (block.added or block.removed) for block in difference.blocks)
    parts += [f"{number_of(silent, 'block')} with another status"] if silent else []
    parts += [f"{number_of(len(difference.trees), 'change')} in the trees"] if difference.trees else []
    parts += [f"{number_of(len(difference.beside), 'change')} beside the states"] if difference.beside else []
    return ", ".join(parts)


def as_text(title: str, groups: Iterable[DifferenceGroup]) -> str:
    """Return a difference as plain text, for messages and tickets."""
    lines = [title]
    for group in groups:
        lines += ["", f"{group.name} ({group.facts})"]
        lines += [f"  {row.sign} {row.what}" + (f"  [{row.where}]" if row.where else "") for row in group.rows]
    return "\n".join(lines) + "\n"


def selected_of(document: Document, row: DifferenceRow) -> Selected:
    """Return what of a row the shown document has, to select it."""
    if row.key is not None:
        v, w = row.key
        source = target = None
        if document.extraction.find_version(v) is not None:
            source = place_of_version(document, Side.EXTRACTION, v, row.element.p if row.element else None)
        if document.cdm.find_version(w) is not None:
            target = place_of_version(document, Side.CDM, w, row.element.q if row.element else None)
        return still_there(document, Selected(source, target))
    tree = row.tree
    schema = document.tree(tree.side).named(tree.name) if tree is not None else None
    if tree is None or schema is None:
        return Selected()
    version = document.tree(tree.side).labelled(schema.id, tree.version) if tree.version else None
    attribute = version.at_path(tree.path) if version is not None and tree.path else None
    place = Place(schema.id, version.id if version else None, attribute.id if attribute else None)
    return Selected().with_place(tree.side, place)


def _sign(told: TreeDifference | BesideDifference) -> str:
    return CAME if told.is_gain else WENT if told.is_loss else OTHER


def _tree_row(tree: TreeDifference) -> DifferenceRow:
    is_said = not tree.version or f"version {tree.version}" in tree.words()
    return DifferenceRow(_sign(tree), tree.words(), "" if is_said else f"version {tree.version}", tree=tree)


def _block_rows(
    block: BlockDifference, before: Document, after: Document, is_one_project: bool
) -> Iterator[DifferenceRow]:
    where = f"{block.version} → {block.entity_version}"
    key = block.after or (block.before if is_one_project else None)
    if block.previous and not block.removed:
        carried = len(block.added) - len(block.gained)
        words = f"{number_of(carried, 'element')} carried over from version {block.previous}"
        yield DifferenceRow(CAME, words, where, key)
        added = set(block.gained)
        yield from (DifferenceRow(WENT, f"lost: {a} → {b}", where, key) for a, b in block.lost)
    else:
        added = set(block.added)
    for sign, pairs, elements, at, holder in (
        (WENT, block.removed, block.removed_elements, block.before, before),
        (CAME, block.added, block.added_elements, block.after, after),
    ):
        is_there = is_one_project or holder is after
        by_pair = _cells(holder, at, elements) if is_there else {}
        yield from (
            DifferenceRow(sign, f"{a} → {b}", where, at if is_there else key, by_pair.get((a, b)))
            for a, b in pairs
            if sign is WENT or (a, b) in added
        )
    if block.moved_from:
        yield DifferenceRow(OTHER, f"stands against version {block.entity_version}, not {block.moved_from}", where, key)
    if block.status_before is not block.status_after and block.status_before is not None:
        now = block.status_after.value if block.status_after is not None else "gone"
        yield DifferenceRow(OTHER, f"{block.status_before.value}, now {now}", where, key)
    elif block.waiting_before != block.waiting_after:
        yield DifferenceRow(OTHER, _waiting_words(block), where, key)


def _waiting_words(block: BlockDifference) -> str:
    if block.waiting_after > block.waiting_before:
        verb = "waits" if block.waiting_after == 1 else "wait"
        return f"{number_of(block.waiting_after, 'lost element')} {verb} for an answer"
    left = f", {block.waiting_after} still open" if block.waiting_after else ""
    return f"{number_of(block.waiting_before - block.waiting_after, 'lost element')} answered{left}"


def _cells(document: Document, key: BlockKey | None, elements: tuple[Element, ...]) -> dict[tuple[str, str], Element]:
    """Return elements of a block by their paths."""
    if key is None:
        return {}
    columns = {a.id: a.path for a in document.extraction.version(key[0]).attributes}
    rows = {a.id: a.path for a in document.cdm.version(key[1]).attributes}
    return {(columns[e.p], rows[e.q]): e for e in elements}


def _counts(rows: list[DifferenceRow]) -> str:
    counts = {sign: sum(row.sign == sign and row.element is not None for row in rows) for sign in (CAME, WENT)}
    words = " ".join(f"{sign}{count}" for sign, count in counts.items() if count)
    return words or number_of(len(rows), "change")
