"""Canonical messages, read from their text; their objects stay unread.

Source: docs/reference/message.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress, repeat
from operator import add
from typing import Annotated, Literal, TypeAlias, cast

import msgspec
import numpy as np
from msgspec import Meta, Raw
from numpy.typing import NDArray

from metl_gui.engine.kernel.message_records import MessageRecords, RecordBatch
from metl_gui.errors import RecordError
from metl_gui.formats.json_text import DEPTH_LIMIT, NULL, check, malformed
from metl_gui.values import Value

_Number: TypeAlias = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
_NULL = Raw(NULL)


class CanonicalSource(msgspec.Struct, frozen=True, gc=False):
    """What a message says of its source; messages of 0.1 end with the origin."""

    schema: str
    version: str | None = None
    position: str | None = None
    origin: Raw = _NULL
    committed_at_ms: Raw = _NULL
    snapshot: bool | None = None
    old_key: Raw = _NULL
    publication: _Number | None = None


class CanonicalMessage(msgspec.Struct, frozen=True, gc=False):
    """A message, its objects unread."""

    entity: str
    version: str | None
    state: _Number
    op: Literal["c", "r", "u", "d", "t"]
    source: CanonicalSource
    key: Raw = _NULL
    ts_ms: Raw = _NULL
    payload: Raw = Raw(b"{}")
    unchanged: tuple[str, ...] = ()


_message = msgspec.json.Decoder(CanonicalMessage).decode
_lines = msgspec.json.Decoder(CanonicalMessage).decode_lines
_FEW = 16
"""So many texts are read one by one."""

_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class BatchMessages(Value):
    """Messages of a batch, and which records they were.

    Args:
        records, messages: one for each.
        others: records that are no message, with the reason; ``None`` for one without a value.
    """

    records: Sequence[int]
    messages: Sequence[CanonicalMessage]
    others: Mapping[int, RecordError | None] = msgspec.field(default_factory=dict)

    def chosen(self, is_chosen: NDArray[np.bool_]) -> BatchMessages:
        """Return some of the messages."""
        return BatchMessages(list(compress(self.records, is_chosen)), list(compress(self.messages, is_chosen)))


def read_batch(records: RecordBatch) -> BatchMessages:
    """Read the messages of a batch."""
    values = [records.value(at) for at in range(len(records))] if isinstance(records, MessageRecords) else [*records]
    others: dict[int, RecordError | None] = {at: None for at, value in enumerate(values) if value is None}
    for at in np.flatnonzero(records.is_cut).tolist():
        others[at] = RecordError("too_large", f"the record has {records.size(at)} bytes")
    rows = [at for at in range(len(values)) if at not in others] if others else range(len(values))
    read = _read([values[at] or b"" for at in rows])
    if not any(isinstance(one, RecordError) for one in read):
        return BatchMessages(rows, cast("Sequence[CanonicalMessage]", read), others)
    kept = [(at, one) for at, one in zip(rows, read, strict=True) if isinstance(one, CanonicalMessage)]
    others |= {at: one for at, one in zip(rows, read, strict=True) if isinstance(one, RecordError)}
    return BatchMessages([at for at, _ in kept], [one for _, one in kept], others)


def _read(texts: Sequence[bytes]) -> Sequence[CanonicalMessage | RecordError]:
    """Read many messages in one call; around those that cannot be read, ever fewer."""
    if len(texts) <= _FEW:
        return [read_one(text) for text in texts]
    found = _read_at_once(texts)
    if found is not None:
        return found
    middle = len(texts) // 2
    return [*_read(texts[:middle]), *_read(texts[middle:])]


def _read_at_once(texts: Sequence[bytes]) -> list[CanonicalMessage] | None:
    """Read texts as lines; ``None`` where one of them may be none by itself.

    What ends an object, a line feed, and what begins one stand behind one another in no JSON value. So where each text
    is in braces, and there are as many values as texts, each text is one value.
    """
    if not all(text[:1] == b"{" and text[-1:] == b"}" for text in texts):
        return None
    lines = b"\n".join(texts)
    objects, arrays = (map(bytes.count, texts, repeat(mark)) for mark in (b"{", b"["))
    if max(map(add, objects, arrays)) > DEPTH_LIMIT:
        return None
    try:
        if not lines.isascii():
            lines.decode()
        found = _lines(lines)
    except _UNREADABLE:
        return None
    return found if len(found) == len(texts) else None


def read_one(text: bytes) -> CanonicalMessage | RecordError:
    """Read a message, or say why it is none."""
    try:
        check(text)
        return _message(text)
    except RecordError as error:
        return error
    except _UNREADABLE as error:
        return malformed(f"no canonical message: {error}")
