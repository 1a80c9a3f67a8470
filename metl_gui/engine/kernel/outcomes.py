"""What became of a batch of records: messages, statuses, what was set aside, and the counts of a report."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from metl_gui.core.classify import Kind
from metl_gui.core.json_text import NULL, quoted
from metl_gui.errors import RecordError


class Fate(IntEnum):
    """Every record ends in exactly one of these."""

    MAPPED = 0
    FILTERED = 1
    SET_ASIDE = 2
    SKIPPED = 3


class SetAside(NamedTuple):
    """One record in the error store.

    Args:
        record: which record of the batch it is.
        reason: why it was set aside.
        text: its row of the error store as JSON.
    """

    record: int
    reason: str
    text: bytes


@dataclass(slots=True)
class Outcome:
    """What became of one batch.

    Shape: ``messages``, ``entities`` and ``records`` have one entry for each outgoing message: its JSON text, its
    entity, and which record of the batch it was made from. ``fates`` has one entry for each record; ``by_version``
    counts those whose version was told, whatever their fate, by ``schema@version``.
    Order: as the batch.
    """

    messages: list[bytes] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    records: list[int] = field(default_factory=list)
    set_aside: list[SetAside] = field(default_factory=list)
    fates: list[Fate] = field(default_factory=list)
    by_skip: Counter[str] = field(default_factory=Counter)
    from_unreviewed: Counter[str] = field(default_factory=Counter)
    by_version: Counter[str] = field(default_factory=Counter)
    bytes_in: int = 0

    def skip(self, kind: Kind) -> None:
        """Count a record without a row."""
        self.fates.append(Fate.SKIPPED)
        self.by_skip[str(kind)] += 1

    def send(self, sent: Iterable[tuple[str, bytes, bool]]) -> None:
        """Keep the messages of one record: entity, text, and whether nobody has confirmed what made it."""
        record, before = len(self.fates), len(self.messages)
        for entity, text, is_unreviewed in sent:
            self.messages.append(text)
            self.entities.append(entity)
            self.records.append(record)
            if is_unreviewed:
                self.from_unreviewed[entity] += 1
        self.fates.append(Fate.MAPPED if len(self.messages) > before else Fate.FILTERED)

    def put_aside(self, error: RecordError, row: bytes) -> None:
        """Keep a record that cannot be mapped, with its row of the error store."""
        self.set_aside.append(SetAside(len(self.fates), error.reason, row))
        self.fates.append(Fate.SET_ASIDE)

    def counts(self) -> dict[str, int | dict[str, int]]:
        """Return the counts under the names that a report uses."""
        return {
            "read": len(self.fates),
            "mapped": self.fates.count(Fate.MAPPED),
            "filtered": self.fates.count(Fate.FILTERED),
            "set_aside": self.fates.count(Fate.SET_ASIDE),
            "skipped": self.fates.count(Fate.SKIPPED),
            "messages_out": len(self.messages),
            "bytes_in": self.bytes_in,
            "bytes_out": sum(map(len, self.messages)),
            "from_unreviewed": dict(self.from_unreviewed),
            "by_entity": dict(Counter(self.entities)),
            "by_reason": dict(Counter(row.reason for row in self.set_aside)),
            "by_skip": dict(self.by_skip),
            "by_version": dict(self.by_version),
        }


def error_row(error: RecordError, state: int, place: tuple[str, str, str], raw: bytes) -> bytes:
    """Write one row of the error store.

    Args:
        error: why the record is set aside.
        state: number of the state it was mapped with.
        place: schema name, version label and position; empty where unknown.
        raw: the whole record exactly.
    """
    schema, version, position = (quoted(text) if text else NULL for text in place)
    try:
        content = b'"raw":' + quoted(raw.decode())
    except UnicodeDecodeError:
        content = b'"raw_base64":"' + base64.b64encode(raw) + b'"'
    return b'{"reason":%b,"detail":%b,"state":%d,"schema":%b,"version":%b,"position":%b,%b}' % (
        quoted(error.reason),
        quoted(error.detail),
        state,
        schema,
        version,
        position,
        content,
    )
