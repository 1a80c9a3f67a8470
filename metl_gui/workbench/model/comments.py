"""Comments by names: on a schema or entity, an attribute, a block, or an element.

Source: docs/reference/commands.md, "metl comment"; docs/reference/project-file.md, "States" (comments are no part of
one).
"""

from __future__ import annotations

from typing import Any

from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comment, Comments, CommentSubject, Spot, block_subject, spot
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.values import Value
from metl_gui.workbench.addresses import find_block, find_leaf
from metl_gui.workbench.history.states import moment
from metl_gui.workbench.session import Workbench


class CommentEntry(Value):
    """One comment.

    Args:
        id: names it.
        place: what it is about, as commands take it; where that is gone, ``""``.
        kind: ``schema``, ``entity``, ``attribute``, ``block`` or ``element``.
        text, who, when: what was said, by whom, and the moment as ISO 8601 text in UTC.
    """

    id: int
    place: str
    kind: str
    text: str
    who: str
    when: str

    def as_json(self) -> dict[str, Any]:
        """Return one comment."""
        return {name: getattr(self, name) for name in ("id", "place", "kind", "text", "who", "when")}


def comments_of(workbench: Workbench) -> Comments:
    """Return the comments of a project, to be asked for nodes and blocks of its current state."""
    return Comments(workbench.document, workbench.kept.comments.all())


def listed(workbench: Workbench, place: str | None = None) -> tuple[CommentEntry, ...]:
    """List the comments of a place, or all of them; the oldest first.

    Raises:
        EditError: there is no such place.
    """
    found = comments_of(workbench)
    chosen = found.all if place is None else found.of(find_subject(workbench.document, place))
    return tuple(entry(workbench.document, comment) for comment in chosen)


def add_comment(workbench: Workbench, place: str, text: str) -> CommentEntry:
    """Write a comment.

    Raises:
        EditError: there is no such place, or nothing is said.
        ProjectLockedError: the project is open read only.
    """
    if not text.strip():
        raise EditError("The comment says nothing.", hint="Write some words, or remove one with --remove NUMBER.")
    subject = find_subject(workbench.document, place)
    id_ = workbench.add_comment(subject, text.strip())
    return next(entry(workbench.document, comment) for comment in workbench.kept.comments.all() if comment.id == id_)


def remove(workbench: Workbench, comment_id: int) -> None:
    """Remove a comment.

    Raises:
        EditError: there is none of that number.
    """
    if not workbench.kept.comments.remove(comment_id):
        raise EditError(f"There is no comment {comment_id}.", hint="See their numbers with: metl comment PROJECT")


def find_subject(document: Document, text: str) -> CommentSubject:
    """Find what a comment is about.

    Args:
        document: the state to look in.
        text: ``SCHEMA``, ``ENTITY``, ``SCHEMA.ATTRIBUTE``, ``schema@version:entity@version``, or for an element the
            two attributes with a colon between.

    Raises:
        EditError: there is no such place.
    """
    if ":" in text:
        try:
            return block_subject(document, find_block(document, text))
        except EditError as error:
            found = _element(document, text)
            if found is None:
                raise error from None
            return found
    failures: list[EditError] = []
    for side in Side:
        try:
            return _node(document, side, text)
        except EditError as error:
            failures.append(error)
    raise min(failures, key=lambda error: error.title.startswith("There is no"))


def entry(document: Document, comment: Comment) -> CommentEntry:
    """Put a comment into names."""
    place = place_of(document, comment.subject)
    return CommentEntry(comment.id, place, comment.subject.kind, comment.text, comment.who, moment(comment.when_ms))


def place_of(document: Document, subject: CommentSubject) -> str:
    """Write what a comment is about as commands take it; empty where it is gone."""
    ends = [(Side.EXTRACTION, subject.source), (Side.CDM, subject.target)]
    is_block = subject.kind == "block"
    names = [_name(document, side, end, is_block) for side, end in ends if end is not None]
    return ":".join(names) if all(names) else ""


def _name(document: Document, side: Side, end: Spot, with_version: bool) -> str:
    schema = document.tree(side).find_schema(end.schema)
    if schema is None:
        return ""
    version = document.tree(side).find_version(end.version) if end.version else None
    if with_version:
        newest = document.tree(side).newest(schema.id)
        shown = version if side is Side.EXTRACTION else version or newest
        return f"{schema.name}@{shown.label}" if shown is not None else ""
    if not end.attribute:
        return schema.name
    attribute = version.attribute(end.attribute) if version is not None else None
    if attribute is not None:
        return f"{schema.name}.{attribute.path}"
    later = (v.of_lineage(end.lineage) for v in reversed(document.tree(side).versions(schema.id)))
    found = next((a for a in later if a is not None), None)
    return f"{schema.name}.{found.path}" if found is not None else ""


def _node(document: Document, side: Side, text: str) -> CommentSubject:
    schema = document.tree(side).named(text)
    if schema is not None:
        end = Spot(schema.id)
    else:
        _, version, attribute = find_leaf(document, text, side)
        end = spot(document, side, version.id, attribute.id)
    return CommentSubject(source=end) if side is Side.EXTRACTION else CommentSubject(target=end)


def _element(document: Document, text: str) -> CommentSubject | None:
    """Find an element by its two attributes.

    Raises:
        EditError: the attributes are named, and one of them is not there or not one attribute.
    """
    reason: EditError | None = None
    for at in (at for at, letter in enumerate(text) if letter == ":"):
        try:
            _, version, attribute = find_leaf(document, text[:at], Side.EXTRACTION)
            _, entity_version, target = find_leaf(document, text[at + 1 :], Side.CDM)
        except EditError as error:
            reason = reason if error.title.startswith("There is no") else error
            continue
        return CommentSubject(
            spot(document, Side.EXTRACTION, version.id, attribute.id),
            spot(document, Side.CDM, entity_version.id, target.id),
        )
    if reason is not None:
        raise reason
    return None
