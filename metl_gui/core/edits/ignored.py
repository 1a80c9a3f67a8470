"""Edits that mark attributes as never to be mapped, and take that back."""

from __future__ import annotations

from metl_gui.core.changes.draft import Draft
from metl_gui.core.changes.ignored import blocks_of, elements_of, mapped_among, put_marks
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import accept_chains
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import IgnoredAttribute, Side
from metl_gui.core.trees.trees import ReadableTree
from metl_gui.errors import EditError
from metl_gui.values import Value

LONGEST_REASON = 1_000
"""Letters of a reason."""
_MOST_NAMED = 5


class IgnoreAttributes(Value):
    """Mark attributes of one schema or entity as never to be mapped, in any version, with a reason.

    Lost elements of theirs that wait for a decision are accepted with it.

    Args:
        side, schema_id: of which schema or entity.
        lineages: of the attributes.
        reason: why.
        unmaps: elements that any version maps are cleared; without it such an attribute is refused.
    """

    side: Side
    schema_id: int
    lineages: tuple[int, ...]
    reason: str
    unmaps: bool = False

    def title(self, document: Document) -> str:
        """Name the attributes, or count them, and the elements that go."""
        name = document.tree(self.side).schema(self.schema_id).name
        asked = frozenset(self.lineages)
        blocks = blocks_of(document, self.side, self.schema_id) if self.unmaps else ()
        gone = sum(len(elements_of(document, self.side, block, asked)) for block in blocks)
        clearing = f", clearing {gone} element{'' if gone == 1 else 's'}" if gone else ""
        what = _named(document.tree(self.side), self.schema_id, self.lineages)
        return f"Never map {what} of {name}{clearing}"

    def apply(self, draft: Draft) -> None:
        """Mark them.

        Raises:
            EditError: no or too long a reason, an attribute is gone, or is mapped and nobody said that it shall not be.
        """
        reason = checked_reason(self.reason)
        schema = draft.schema(self.side, self.schema_id)
        tree = draft.tree(self.side)
        asked = frozenset(self.lineages)
        if tree.newest_of_lineages(schema.id, asked).keys() != asked:
            raise EditError("An attribute is not in the trees any more.", hint="Look at the newest state first.")
        mapped = mapped_among(draft, self.side, schema.id, asked)
        if mapped and not self.unmaps:
            names = _named(tree, schema.id, tuple(x for x in self.lineages if x in mapped))
            verb, its, leave = (
                ("is", "its", "it as it is") if len(mapped) == 1 else ("are", "their", "them as they are")
            )
            raise EditError(
                f"{names} of {schema.name} {verb} mapped.",
                "What is mapped cannot be marked as never to be mapped.",
                f"To clear {its} mapping too, say --unmap. Or leave {leave}.",
            )
        for block in blocks_of(draft, self.side, schema.id):
            zeros = tuple(elements_of(draft, self.side, block, asked))
            if zeros:
                SetElements(block.key, zeros=zeros).apply(draft)
        for block in blocks_of(draft, self.side, schema.id):
            lineage = 1 if self.side is Side.EXTRACTION else 0
            chains = {loss.chain for loss in block.open_losses if loss.lineages[lineage] in asked}
            if chains:
                accept_chains(draft, block, chains, set())
        marks = {each.lineage: each for each in draft.schema(self.side, schema.id).ignored}
        stamp = draft.stamp
        for lineage in self.lineages:
            if lineage not in marks or marks[lineage].reason != reason:
                marks[lineage] = IgnoredAttribute(lineage, reason, stamp.who, stamp.when_ms)
        put_marks(draft, self.side, schema.id, marks.values())


class RecallAttributes(Value):
    """Say that attributes marked as never to be mapped are open again."""

    side: Side
    schema_id: int
    lineages: tuple[int, ...]

    def title(self, document: Document) -> str:
        """Name the attributes, or count them."""
        tree = document.tree(self.side)
        name = tree.schema(self.schema_id).name
        return f"Let {_named(tree, self.schema_id, self.lineages)} of {name} be mapped again"

    def apply(self, draft: Draft) -> None:
        """Take the marks away.

        Raises:
            EditError: one of them is not marked.
        """
        schema = draft.schema(self.side, self.schema_id)
        asked, marked = frozenset(self.lineages), schema.ignored_lineages
        open_ = tuple(lineage for lineage in self.lineages if lineage not in marked)
        if open_:
            names = _named(draft.tree(self.side), schema.id, open_)
            raise EditError(
                f"{names} of {schema.name} {'is' if len(open_) == 1 else 'are'} not marked as never to be mapped.",
                hint="Look at the list of what is to do for those that are.",
            )
        put_marks(draft, self.side, schema.id, (x for x in schema.ignored if x.lineage not in asked))


def checked_reason(text: str) -> str:
    """Return a reason without white space around it.

    Raises:
        EditError: it says nothing, or is too long.
    """
    reason = " ".join(text.split())
    if not reason:
        raise EditError("A reason is missing.", hint="Write in a few words why it is never to be mapped.")
    if len(reason) > LONGEST_REASON:
        title = f"The reason has {len(reason):,} letters, more than {LONGEST_REASON:,}."
        raise EditError(title, hint="Say it in fewer words, and write a comment for the rest.")
    return reason


def _named(tree: ReadableTree, schema_id: int, lineages: tuple[int, ...]) -> str:
    if len(lineages) > _MOST_NAMED:
        return f"{len(lineages)} attributes"
    found = tree.newest_of_lineages(schema_id, lineages)
    return ", ".join(found[lineage].path if lineage in found else "?" for lineage in lineages)
