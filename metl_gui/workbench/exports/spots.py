"""What a comment is about, in words that hold without the project."""

from __future__ import annotations

from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comment, Spot
from metl_gui.core.trees.nodes import Side


def spot_words(document: Document, comment: Comment) -> str:
    """Return the ends that a comment is about, ``schema@version path → entity@version path``, as far as it has them."""
    ends = ((Side.EXTRACTION, comment.subject.source), (Side.CDM, comment.subject.target))
    return " → ".join(_words(document, side, spot) for side, spot in ends if spot is not None)


def _words(document: Document, side: Side, spot: Spot) -> str:
    schema = document.tree(side).find_schema(spot.schema)
    version = document.tree(side).find_version(spot.version) if spot.version else None
    attribute = version.attribute(spot.attribute) if version is not None and spot.attribute else None
    words = schema.name if schema is not None else "(gone)"
    words += f"@{version.label}" if version is not None else ""
    return words + (f" {attribute.path}" if attribute is not None else "")
