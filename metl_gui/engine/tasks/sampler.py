"""Which records a task keeps beside their messages, for people to look at."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable

import msgspec

from metl_gui.core.runs.records import MappedRecord, SentMessage


class Sampler:
    """Chooses in a task which records are kept beside their messages: the first ones of each entity.

    Args:
        wanted: how many an entity.
    """

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self._taken: Counter[str] = Counter()

    def has_enough(self, entities: Iterable[str]) -> bool:
        """Return whether nothing more is wanted of these entities."""
        return all(self._taken[entity] >= self.wanted for entity in entities)

    def take(self, place: str, raw: bytes, sent: list[tuple[str, bytes]]) -> bytes | None:
        """Return the line to keep of a record and its (entity, message)s, None when there is enough of them."""
        if self.has_enough(entity for entity, _ in sent):
            return None
        self._taken.update(entity for entity, _ in sent)
        outgoing = tuple(SentMessage(entity, msgspec.Raw(text)) for entity, text in sent)
        try:
            return msgspec.json.encode(MappedRecord(place, outgoing, raw=raw.decode()))
        except UnicodeDecodeError:
            return msgspec.json.encode(MappedRecord(place, outgoing, raw_base64=base64.b64encode(raw).decode()))
