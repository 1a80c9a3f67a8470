"""What became of a batch of records: messages, fates, what was set aside, and the counts of a report."""

from __future__ import annotations

import base64
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from metl_gui.errors import RecordError
from metl_gui.formats.json_text import NULL, quoted

Filled: TypeAlias = "Counter[tuple[str, str, str]]"
"""Messages in which a mapped attribute is not null, by entity, entity version and CDM path."""


_DETAIL_LETTERS = 2000
"""Details may name what a hostile record is made of; the record itself stands beside them."""


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


@dataclass(slots=True, eq=False)
class Outcome:
    """What became of one batch.

    Args:
        text: all messages one after the other, each with a line feed behind it.
        starts, stops: of each message in the text, without its line feed.
        entities: of each message, an index into ``entity_names``.
        records: of each message, the record of the batch that it was made from.
        fates: of each record, a ``Fate``.
        set_aside: the records in the error store.
        by_skip: records without a row by kind.
        from_unreviewed: messages made by blocks that nobody has confirmed, by entity.
        by_version: records whose version was told, whatever their fate, by ``schema@version``.
        filled: see ``Filled``.
        bytes_in: bytes of the records.
        hits: records that the compiled kernel mapped. The reference mapped the others.

    Shape: ``starts``, ``stops``, ``entities`` and ``records`` (messages,); ``fates`` (records,).
    Order: as the batch.
    """

    text: memoryview
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    entities: NDArray[np.int32]
    records: NDArray[np.int32]
    fates: NDArray[np.int8]
    entity_names: tuple[str, ...]
    set_aside: list[SetAside] = field(default_factory=list)
    by_skip: Counter[str] = field(default_factory=Counter)
    from_unreviewed: Counter[str] = field(default_factory=Counter)
    by_version: Counter[str] = field(default_factory=Counter)
    filled: Filled = field(default_factory=Counter)
    bytes_in: int = 0
    hits: int = 0

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self.starts)

    def message(self, at: int) -> bytes:
        """Return one message."""
        return bytes(self.text[self.starts[at] : self.stops[at]])

    def entity(self, at: int) -> str:
        """Return the entity of one message."""
        return self.entity_names[int(self.entities[at])]

    def messages(self) -> list[bytes]:
        """Return all messages."""
        text = bytes(self.text)
        return [text[start:stop] for start, stop in zip(self.starts.tolist(), self.stops.tolist(), strict=True)]

    def sent_to(self) -> list[str]:
        """Return the entity of each message."""
        return [self.entity_names[entity] for entity in self.entities.tolist()]

    def lines_by_entity(self) -> dict[str, memoryview | bytes]:
        """Return the messages of each entity, each with a line feed behind it, in the order they first came."""
        found, first = np.unique(self.entities, return_index=True)
        if len(found) == 1:
            return {self.entity_names[found[0]]: self.text}
        return {self.entity_names[entity]: self._lines(entity) for entity in found[np.argsort(first)]}

    def _lines(self, entity: int) -> bytes:
        of_it = self.entities == entity
        ends = zip(self.starts[of_it].tolist(), (self.stops[of_it] + 1).tolist(), strict=True)
        text = self.text
        return b"".join([text[start:end] for start, end in ends])

    def counts(self) -> dict[str, int | dict[str, int] | dict[str, dict[str, int]]]:
        """Return the counts under the names that a report uses."""
        fates = np.bincount(self.fates, minlength=len(Fate)).tolist()
        by_entity = np.bincount(self.entities, minlength=len(self.entity_names)).tolist()
        return {
            "read": len(self.fates),
            "mapped": fates[Fate.MAPPED],
            "filtered": fates[Fate.FILTERED],
            "set_aside": fates[Fate.SET_ASIDE],
            "skipped": fates[Fate.SKIPPED],
            "messages_out": len(self),
            "bytes_in": self.bytes_in,
            "bytes_out": len(self.text) - len(self),
            "from_unreviewed": dict(self.from_unreviewed),
            "by_entity": {name: count for name, count in zip(self.entity_names, by_entity, strict=True) if count},
            "by_reason": dict(Counter(row.reason for row in self.set_aside)),
            "by_skip": dict(self.by_skip),
            "by_version": dict(self.by_version),
            "by_attribute": self.by_attribute(),
        }

    def by_attribute(self) -> dict[str, dict[str, int]]:
        """Return ``filled`` as reports write it: CDM paths by ``entity@version``."""
        found: dict[str, dict[str, int]] = {}
        for (entity, version, path), count in self.filled.items():
            found.setdefault(f"{entity}@{version}", {})[path] = count
        return found


def error_row(error: RecordError, state: int, place: tuple[str, str, str], raw: bytes) -> bytes:
    """Write one row of the error store.

    Args:
        error: why the record is set aside.
        state: number of the state it was mapped with.
        place: schema name, version label and position; empty where unknown.
        raw: the whole record exactly.
    """
    schema, version, position = (quoted(text) if text else NULL for text in place)
    detail = error.detail if len(error.detail) <= _DETAIL_LETTERS else f"{error.detail[:_DETAIL_LETTERS]}…"
    try:
        content = b'"raw":' + quoted(raw.decode())
    except UnicodeDecodeError:
        content = b'"raw_base64":"' + base64.b64encode(raw) + b'"'
    return b'{"reason":%b,"detail":%b,"state":%d,"schema":%b,"version":%b,"position":%b,%b}' % (
        quoted(error.reason),
        quoted(detail),
        state,
        schema,
        version,
        position,
        content,
    )
