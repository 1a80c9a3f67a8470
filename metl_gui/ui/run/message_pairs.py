"""What is shown of one record: where it stands, the record, what became of it, and what belongs together in both."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from metl_gui.core.matrix.document import Document
from metl_gui.engine.results import MappedRecord, SetAsideRecord, first_results, first_set_aside, newest_result
from metl_gui.ui.run.heads import Head, head_of
from metl_gui.ui.run.indent import indented
from metl_gui.ui.run.linked import BETWEEN, Link, links_between
from metl_gui.ui.run.misfit import without_value
from metl_gui.ui.run.reasons import reason_words
from metl_gui.workbench.masking import UNREADABLE, Masks, schema_of

SHOWN = 200
"""So many records are at hand at a time."""
_LONGEST = 20_000
KeptRecord: TypeAlias = MappedRecord | SetAsideRecord
_OPS = {"c": "create", "r": "snapshot", "u": "update", "d": "delete", "t": "truncate"}


@dataclass(frozen=True)
class Wanted:
    """Which records of a run are looked at.

    Args:
        folder: the run folder.
        errors: its error store, if there is one.
        is_set_aside: what was set aside, not what was mapped.
        reason: set aside for this; all when empty.
        entity: mapped to this; all when empty.
    """

    folder: Path | None = None
    errors: Path | None = None
    is_set_aside: bool = False
    reason: str = ""
    entity: str = ""


@dataclass(frozen=True)
class MessagePair:
    """What is shown at one time: a place, the record, what became of it, and what belongs together in both texts."""

    place: str
    before: str
    after_title: str
    after: str
    links: tuple[Link, ...] = ()


def records_of(wanted: Wanted) -> list[KeptRecord]:
    """Read the first records that a run kept to look at; none where they are gone."""
    if wanted.is_set_aside:
        errors = wanted.errors
        return list(first_set_aside(errors, SHOWN, wanted.reason)) if errors is not None and errors.is_dir() else []
    return list(first_results(wanted.folder / "samples", SHOWN, wanted.entity)) if wanted.folder is not None else []


def newest_of(folder: Path) -> MappedRecord | None:
    """Read the record that a run kept last, wherever in its folder it keeps them until it is over."""
    places = [*folder.glob(".samples*"), folder / "samples"]
    return next((record for place in places if (record := newest_result(place)) is not None), None)


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
    before = _shown(incoming, is_raw)[1] if incoming is not None else UNREADABLE
    return MessagePair(record.position or "", before, f"set aside · {record.reason}", "\n".join(lines))


def _origin(heads: list[Head]) -> str:
    """Say where a record came from: its schema and version, what happened to its row, and its number in the log."""
    head = heads[0] if heads else Head()
    if not head.source.schema:
        return ""
    origin = head.source.origin or {}
    lsn = bytes(origin["lsn"]).decode("utf-8", "replace") if "lsn" in origin else ""
    parts = f"{head.source.schema} {head.source.version}", _OPS.get(head.op, head.op), f"lsn {lsn}" if lsn else ""
    return " · ".join(part for part in parts if part)


def _titles(record: MappedRecord, heads: list[Head]) -> str:
    """Name the entities and versions of the messages, and the state that made them."""
    pairs = zip(record.outgoing, heads, strict=True)
    names = dict.fromkeys(f"{sent.entity} {head.version or ''}".strip() for sent, head in pairs)
    state = f" · state {heads[0].state:,}" if heads and heads[0].state else ""
    return ", ".join(names) + state
