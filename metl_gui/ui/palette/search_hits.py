"""What search everywhere finds: nodes of both trees, blocks in review, comments and actions, group by group."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comments, CommentSubject, Spot
from metl_gui.core.review.items import ReviewItem
from metl_gui.core.search.node_search import FoundNode, FoundNodes, find_attributes, find_schemas
from metl_gui.core.search.query import TermKind, parse
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.tree_columns import columns_of
from metl_gui.ui.palette.dialog import PaletteEntry, found
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version, selected_block
from metl_gui.ui.project.text import block_words
from metl_gui.values import Value
from metl_gui.workbench.model.comments import place_of

_MOST = 6
_MOST_OTHERS = 4
_LOOKED_AT = 2_000


class Hit(Value):
    """One line.

    Args:
        group: heading under which it stands.
        words: what was found.
        where: where it lies.
        selected: what choosing it selects; ``None`` for what is no place.
        page: the page it is shown on.
        does: what choosing it does instead.
        filters: the tree to be filtered by the same words: the line that stands for all that is not listed.
    """

    group: str
    words: str
    where: str = ""
    selected: Selected | None = None
    page: int = 0
    does: Callable[[], object] | None = None
    filters: Side | None = None


class SearchScope(Value):
    """Where it is searched.

    Args:
        document: the trees.
        comments: what people said.
        review: what waits for a decision.
        actions: what can be done.
    """

    document: Document
    comments: Comments
    review: Sequence[ReviewItem]
    actions: Sequence[PaletteEntry]


def hits(grounds: SearchScope, text: str) -> list[Hit]:
    """Find everything that a text may mean, the likeliest of each kind first."""
    words = parse(text).values(TermKind.WORD)
    if not words:
        return []
    lines: list[Hit] = []
    for side in Side:
        lines += _nodes(grounds.document, side, words)
    lines += _reviews(grounds, words)
    lines += _comments(grounds, " ".join(words))
    return lines + _actions(grounds, words)


def _actions(grounds: SearchScope, words: Sequence[str]) -> list[Hit]:
    """Find actions that have the words themselves; scattered letters are a matter of the palette."""
    fitting = [e for e in grounds.actions if all(word in f"{e.words} {e.where}".lower() for word in words)]
    return [
        Hit("Actions", entry.words, "  ".join(part for part in (entry.where, entry.keys) if part), does=entry.does)
        for entry in found(fitting, " ".join(words), ())[:_MOST_OTHERS]
    ]


def _nodes(document: Document, side: Side, words: Sequence[str]) -> list[Hit]:
    columns = columns_of(document.tree(side))
    is_source = side is Side.EXTRACTION
    schemas, attributes = find_schemas(columns, words, _MOST), find_attributes(columns, words, _MOST)
    named = ("Schemas", "Attributes") if is_source else ("Entities", "CDM attributes")
    lines = [_schema_hit(document, side, named[0], node) for node in schemas.nodes]
    lines += _more(side, named[0], schemas)
    lines += [_attribute_hit(document, side, named[1], node) for node in attributes.nodes]
    return lines + _more(side, named[1], attributes)


def _schema_hit(document: Document, side: Side, group: str, node: FoundNode) -> Hit:
    schema = document.tree(side).schema(node.schema_id)
    count = len(schema.version_ids)
    also = f"also {', '.join(schema.aliases)}  ·  " if schema.aliases else ""
    where = f"{also}{number_of(count, 'version')}"
    return Hit(group, schema.name, where, Selected().with_place(side, NodeRef(schema.id)))


def _attribute_hit(document: Document, side: Side, group: str, node: FoundNode) -> Hit:
    tree = document.tree(side)
    version, schema = tree.version(node.version_id), tree.schema(node.schema_id)
    attribute = version.attribute(node.attribute_id)
    is_gone = schema.version_ids[-1] != version.id
    where = f"{schema.name} {version.label}{', gone in the newest version' if is_gone else ''}"
    place = place_of_version(document, side, version.id, node.attribute_id)
    return Hit(group, attribute.path if attribute is not None else "", where, Selected().with_place(side, place))


def _more(side: Side, group: str, nodes: FoundNodes) -> list[Hit]:
    more = nodes.count - len(nodes.nodes)
    tree = "extraction tree" if side is Side.EXTRACTION else "canonical model tree"
    return [Hit(group, f"{more:,} more", f"filter the {tree}", filters=side)] if more > 0 else []


def _reviews(grounds: SearchScope, words: Sequence[str]) -> list[Hit]:
    lines: list[Hit] = []
    for item in grounds.review[:_LOOKED_AT]:
        lost = ", ".join(loss.from_path for loss in item.losses)
        place = block_words(grounds.document, item.key)
        if all(word in f"{place} {lost}".lower() for word in words):
            where = f"lost {lost}" if lost else "waits for a decision"
            lines.append(Hit("Decisions", place, where, _block(grounds.document, item), page=1))
            if len(lines) == _MOST_OTHERS:
                break
    return lines


def _block(document: Document, item: ReviewItem) -> Selected:
    return selected_block(document, item.key)


def _comments(grounds: SearchScope, text: str) -> list[Hit]:
    lines = []
    for comment, _ in zip(grounds.comments.containing(text), range(_MOST_OTHERS), strict=False):
        where = f"{place_of(grounds.document, comment.subject)}  ·  {comment.who}"
        lines.append(Hit("Comments", comment.text.replace("\n", " "), where, _subject(comment.subject)))
    return lines


def _subject(subject: CommentSubject) -> Selected:
    return Selected(_place(subject.source), _place(subject.target))


def _place(spot: Spot | None) -> NodeRef | None:
    return NodeRef(spot.schema, spot.version or None, spot.attribute or None) if spot is not None else None
