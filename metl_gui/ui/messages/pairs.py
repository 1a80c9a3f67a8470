"""What is shown of one record: where it stands, its text, what became of it, what belongs together in both.

Which parts of a record and of the messages that it became belong together follows from the elements of the matrix. A
part is linked only where both texts show it and show the same value: what was mapped by another state than the one at
hand, or laid out otherwise on purpose (a masked or truncated text), is left alone. The head of an outgoing message is
what it says of itself before its payload.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.records import MappedRecord, SetAsideRecord
from metl_gui.core.trees import paths
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.ui.messages.json_layout import Member, MemberPath, indented, members_of
from metl_gui.ui.messages.set_aside import reason_words, without_value
from metl_gui.ui.project.text import path_of, version_words
from metl_gui.values import Value
from metl_gui.workbench.links.link import PlaceKind
from metl_gui.workbench.links.places import cell_of_place
from metl_gui.workbench.links.set_aside import mending_place, reason_title
from metl_gui.workbench.masked_messages import UNREADABLE, Masks, schema_of
from metl_gui.workbench.runs.set_aside_records import set_aside_records
from metl_gui.workbench.samples.cell_messages import CellUse, records_using
from metl_gui.workbench.samples.run_records import first_results


class ShownSource(msgspec.Struct, frozen=True):
    """Where a message came from; ``origin`` is what the connector says of its place in the log."""

    schema: str = ""
    version: str = ""
    origin: dict[str, msgspec.Raw] | None = None


class MessageHead(msgspec.Struct, frozen=True):
    """The members of a message that say what it is. Source: docs/reference/message.md."""

    entity: str = ""
    version: str | None = None
    state: int = 0
    op: str = ""
    source: ShownSource = ShownSource()


_HEAD = msgspec.json.Decoder(MessageHead)


def head_of(message: bytes | str) -> MessageHead:
    """Read the head of a message; an empty one where it cannot be read."""
    try:
        return _HEAD.decode(message)
    except (msgspec.MsgspecError, UnicodeError):
        return MessageHead()


_WRAPPED: tuple[MemberPath, ...] = ((), ("value",), ("message",), ("data",))
_SCHEMAD: tuple[MemberPath, ...] = ((), ("payload",))
_ROWS: tuple[MemberPath, ...] = (("after",), ("before",), ())
BETWEEN = "\n\n"
"""What stands between two messages in one text."""


class RecordLink(Value):
    """A value before mapping and where it went.

    Args:
        before, after: the member in either text, name and value.
        block, element: the cell of the matrix that mapped it.
        words: both ends, for people: ``fx.orders 4 amount → payment 2 amount``.
        is_payload: it went into the payload, not into the key.
        state: the state that made the message, 0 where it names none.
    """

    before: Member
    after: Member
    block: BlockKey
    element: Element
    words: str
    is_payload: bool = True
    state: int = 0


def links_between(document: Document, before: str, after: Sequence[str]) -> tuple[RecordLink, ...]:
    """Link a record with the messages that it became.

    Args:
        document: whose elements say what goes where.
        before: the record as it is shown.
        after: its messages as they are shown, which stand in one text with ``BETWEEN`` between them.

    Order: by message, then as the elements of the block.
    """
    shown = _Shown(before, members_of(before))
    found: list[RecordLink] = []
    begin = 0
    for text in after:
        of_text = _links(document, shown, _Shown(text, members_of(text)))
        found.extend(replace(link, after=_moved(link.after, begin)) for link in of_text)
        begin += len(text) + len(BETWEEN)
    return tuple(found)


class _Shown(Value):
    """A text and what stands in it."""

    text: str
    members: Mapping[MemberPath, Member]

    def value(self, member: Member) -> str:
        """Return a value; an object or an array without white space, which differs by depth."""
        value = self.text[member.value : member.stop]
        return "".join(value.split()) if value[:1] in "{[" else value


def _links(document: Document, incoming: _Shown, outgoing: _Shown) -> Iterator[RecordLink]:
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
                is_payload = place[0] == "payload"
                yield RecordLink(before, after, block.key, element, " → ".join(names), is_payload, head.state)


def _block_of(document: Document, head: MessageHead) -> tuple[Version, Version, Block] | None:
    schema, entity = document.extraction.named(head.source.schema), document.cdm.named(head.entity)
    if schema is None or entity is None or head.version is None:
        return None
    version = document.extraction.labelled(schema.id, head.source.version)
    entity_version = document.cdm.labelled(entity.id, head.version)
    if version is None or entity_version is None:
        return None
    block = document.matrix.block(version.id, entity_version.id)
    return (version, entity_version, block) if block is not None else None


def _row_of(ways: Sequence[MemberPath], incoming: Mapping[MemberPath, Member], op: str) -> MemberPath | None:
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


SHOWN = 200
"""So many records are at hand at a time."""
_LONGEST = 20_000
KeptRecord: TypeAlias = MappedRecord | SetAsideRecord
_OPS = {"c": "create", "r": "snapshot", "u": "update", "d": "delete", "t": "truncate"}


class RecordRequest(Value):
    """Which records of a run are looked at.

    Args:
        folder: the run folder.
        errors: the folder of its error store, or the address of its error topic; empty for none.
        is_set_aside: what was set aside, not what was mapped.
        reason: set aside for this; all when empty.
        entity: mapped to this; all when empty.
        place: of what lay here; all when empty.
        use: mapped by this cell; all when ``None``.
    """

    folder: Path | None = None
    errors: str = ""
    is_set_aside: bool = False
    reason: str = ""
    entity: str = ""
    place: str = ""
    use: CellUse | None = None

    @property
    def is_part(self) -> bool:
        """Whether there may be more than is asked for."""
        return bool(self.reason or self.entity or self.place or self.use)


class MessagePair(Value):
    """What is shown at one time: a place, the record, what became of it, and what belongs together in both texts."""

    place: str
    before: str
    after_title: str
    after: str
    links: tuple[RecordLink, ...] = ()


def records_of(wanted: RecordRequest) -> list[KeptRecord]:
    """Read some records that a run kept to look at; none where they are gone.

    Raises:
        RunError: they lie in a topic that cannot be read.
    """
    if wanted.is_set_aside:
        return list(set_aside_records(wanted.errors, SHOWN, wanted.reason, wanted.place))
    if wanted.use is not None and wanted.folder is not None:
        return list(records_using(wanted.folder / "samples", wanted.use, SHOWN))
    return (
        list(first_results(wanted.folder / "samples", SHOWN, wanted.entity, wanted.place))
        if wanted.folder is not None
        else []
    )


def pair_of(record: KeptRecord, document: Document, is_raw: bool = False) -> MessagePair:
    """Lay a record out beside what became of it, without the values that the document masks.

    Args:
        record: what a run kept.
        document: its masks hold, its elements say what belongs together.
        is_raw: show the whole record as it came, not its message laid out.
    """
    return (
        _mapped(record, document, is_raw)
        if isinstance(record, MappedRecord)
        else _set_aside(record, document, is_raw=is_raw)
    )


def readable(raw: bytes) -> str:
    """Return a record as text, indented when it is one JSON value, with digits and order as they came."""
    text = _text(raw)
    if len(raw) > _LONGEST:
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return indented(text)


def unwrapped(raw: bytes) -> tuple[str, bytes]:
    """Return topic and key of a record that wraps its message as text, and the message; else the record itself."""
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return "", raw
    if not isinstance(record, dict) or not isinstance(record.get("value"), str):
        return "", raw
    parts = [str(record[name]) for name in ("topic", "key") if isinstance(record.get(name), str)]
    return " · ".join(parts), record["value"].encode("utf-8", "surrogatepass")


def _text(raw: bytes) -> str:
    text = raw[:_LONGEST].decode("utf-8", "backslashreplace")
    return f"{text}\n… {len(raw) - _LONGEST:,} more bytes" if len(raw) > _LONGEST else text


def _shown(incoming: bytes, is_raw: bool) -> tuple[str, str]:
    """Return what stands beside a record, and the record."""
    if is_raw:
        return "", _text(incoming)
    where, value = unwrapped(incoming)
    return where, readable(value)


def _mapped(record: MappedRecord, document: Document, is_raw: bool) -> MessagePair:
    heads = [head_of(bytes(sent.message)) for sent in record.outgoing]
    masks = Masks(document, schema_of(record.outgoing[0].message) if record.outgoing else None)
    sent = [masks.outgoing(each.entity, bytes(each.message)) for each in record.outgoing]
    after = [readable(text) if text is not None else UNREADABLE for text in sent]
    incoming = masks.incoming(record.incoming)
    where, before = _shown(incoming, is_raw) if incoming is not None else ("", UNREADABLE)
    place = " · ".join(dict.fromkeys(part for part in (_origin(heads), record.place, where) if part))
    return MessagePair(
        place, before, _titles(record, heads), BETWEEN.join(after), links_between(document, before, after)
    )


def _set_aside(record: SetAsideRecord, document: Document, is_raw: bool) -> MessagePair:
    incoming = Masks(document, record.schema).incoming(record.incoming)
    # What a record says of a value that does not fit says the value too.
    detail = record.detail if incoming == record.incoming else without_value(record.detail)
    lines = [reason_words(record.reason), detail or "No further detail.", ""]
    lines.append(f"schema {record.schema or 'unknown'}, version {record.version or 'unknown'}, state {record.state:,}")
    lines.append(f"reports call it {record.reason}")
    before = _shown(incoming, is_raw)[1] if incoming is not None else UNREADABLE
    return MessagePair(record.position or "", before, f"set aside · {reason_title(record.reason)}", "\n".join(lines))


def about_of(document: Document, record: SetAsideRecord) -> RecordLink | str:
    """Return the cell that set a record aside, as far as it is mapped; else what is to be done about the record."""
    found = mending_place(document, record)
    for place in found.places:
        if place.kind is PlaceKind.CELL:
            (v, w), element = cell_of_place(document, place)
            block = document.matrix.block(v, w)
            if block is not None and element in block.elements:
                ends = ((Side.EXTRACTION, v, element.p), (Side.CDM, w, element.q))
                names = (f"{version_words(document, *end[:2])} {path_of(document, *end)}" for end in ends)
                return RecordLink(_NOWHERE, _NOWHERE, (v, w), element, " → ".join(names))
    return found.words


_NOWHERE = Member(0, 0, 0)


def _origin(heads: list[MessageHead]) -> str:
    """Say where a record came from: its schema and version, what happened to its row, and its number in the log."""
    head = heads[0] if heads else MessageHead()
    if not head.source.schema:
        return ""
    origin = head.source.origin or {}
    lsn = bytes(origin["lsn"]).decode("utf-8", "replace") if "lsn" in origin else ""
    parts = f"{head.source.schema} {head.source.version}", _OPS.get(head.op, head.op), f"lsn {lsn}" if lsn else ""
    return " · ".join(part for part in parts if part)


def _titles(record: MappedRecord, heads: list[MessageHead]) -> str:
    """Name the entities and versions of the messages, and the state that made them."""
    pairs = zip(record.outgoing, heads, strict=True)
    names = dict.fromkeys(f"{sent.entity} {head.version or ''}".strip() for sent, head in pairs)
    state = f" · state {heads[0].state:,}" if heads and heads[0].state else ""
    return ", ".join(names) + state
