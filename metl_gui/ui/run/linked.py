"""Which parts of a record and of the messages that it became belong together, by the elements of the matrix.

A part is linked only where both texts show it and show the same value: what was mapped by another state than the one
at hand, or laid out otherwise on purpose (a masked or truncated text), is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees import paths
from metl_gui.core.trees.nodes import Version
from metl_gui.ui.run.heads import Head, head_of
from metl_gui.ui.run.members import Member, Path, members_of

_WRAPPED: tuple[Path, ...] = ((), ("value",), ("message",), ("data",))
_SCHEMAD: tuple[Path, ...] = ((), ("payload",))
_ROWS: tuple[Path, ...] = (("after",), ("before",), ())
BETWEEN = "\n\n"
"""What stands between two messages in one text."""


@dataclass(frozen=True, slots=True)
class Link:
    """A value before mapping and where it went.

    Args:
        before, after: the member in either text, name and value.
        block, element: the cell of the matrix that mapped it.
        words: both ends, for people: ``fx.orders 4 amount → payment 2 amount``.
        is_payload: it went into the payload, not into the key.
    """

    before: Member
    after: Member
    block: BlockKey
    element: Element
    words: str
    is_payload: bool = True


def links_between(document: Document, before: str, after: Sequence[str]) -> tuple[Link, ...]:
    """Link a record with the messages that it became.

    Args:
        document: whose elements say what goes where.
        before: the record as it is shown.
        after: its messages as they are shown, which stand in one text with ``BETWEEN`` between them.

    Order: by message, then as the elements of the block.
    """
    shown = _Shown(before, members_of(before))
    found: list[Link] = []
    begin = 0
    for text in after:
        of_text = _links(document, shown, _Shown(text, members_of(text)))
        found.extend(replace(link, after=_moved(link.after, begin)) for link in of_text)
        begin += len(text) + len(BETWEEN)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A text and what stands in it."""

    text: str
    members: Mapping[Path, Member]

    def value(self, member: Member) -> str:
        """Return a value; an object or an array without white space, which differs by depth."""
        value = self.text[member.value : member.stop]
        return "".join(value.split()) if value[:1] in "{[" else value


def _links(document: Document, incoming: _Shown, outgoing: _Shown) -> Iterator[Link]:
    head = head_of(outgoing.text)
    ends = _block_of(document, head)
    if ends is None:
        return
    version, entity_version, block = ends
    sources = {each.id: each.path for each in version.attributes}
    targets = {each.id: each.path for each in entity_version.attributes}
    ways = [(e, paths.split(sources[e.p]), targets[e.q]) for e in block.elements if e.p in sources and e.q in targets]
    row = _row_of([way for _, way, _ in ways], incoming.members, head.op)
    if row is None:
        return
    for element, way, target in ways:
        before = incoming.members.get((*row, *way))
        names = (
            f"{head.source.schema} {version.label} {sources[element.p]}",
            f"{head.entity} {entity_version.label} {target}",
        )
        for place in (("payload", *paths.split(target)), ("key", target), ("key", *paths.split(target))):
            after = outgoing.members.get(place)
            if before is not None and after is not None and incoming.value(before) == outgoing.value(after):
                yield Link(before, after, block.key, element, " → ".join(names), place[0] == "payload")


def _block_of(document: Document, head: Head) -> tuple[Version, Version, Block] | None:
    schema, entity = document.extraction.named(head.source.schema), document.cdm.named(head.entity)
    if schema is None or entity is None or head.version is None:
        return None
    version = document.extraction.labelled(schema.id, head.source.version)
    entity_version = document.cdm.labelled(entity.id, head.version)
    if version is None or entity_version is None:
        return None
    block = document.matrix.block(version.id, entity_version.id)
    return (version, entity_version, block) if block is not None else None


def _row_of(ways: Sequence[Path], incoming: Mapping[Path, Member], op: str) -> Path | None:
    """Find the object that is the row: the first place of an envelope at which the record has a mapped attribute."""
    rows = ("before",), *_ROWS
    for wrapper in _WRAPPED:
        for schemad in _SCHEMAD:
            for row in rows if op == "d" else _ROWS:
                place = (*wrapper, *schemad, *row)
                if any((*place, *way) in incoming for way in ways):
                    return place
    return None


def _moved(member: Member, by: int) -> Member:
    return Member(member.start + by, member.value + by, member.stop + by)
