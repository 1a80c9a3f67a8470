"""Records of a run: what becomes of each, and those that are kept for people to look at."""

from __future__ import annotations

import base64
from enum import IntEnum

import msgspec


class RecordOutcome(IntEnum):
    """Every record ends in exactly one of these."""

    MAPPED = 0
    FILTERED = 1
    SET_ASIDE = 2
    SKIPPED = 3


class SentMessage(msgspec.Struct, frozen=True):
    """One outgoing message, exactly as it was sent."""

    entity: str
    message: msgspec.Raw


class MappedRecord(msgspec.Struct, frozen=True):
    """A record and everything it became.

    Args:
        place: ``file@offset``.
        raw, raw_base64: the record's exact bytes, as text where it is text.
    """

    place: str
    outgoing: tuple[SentMessage, ...]
    raw: str | None = None
    raw_base64: str | None = None

    @property
    def incoming(self) -> bytes:
        """The record's exact bytes."""
        return _bytes(self.raw, self.raw_base64)


class SetAsideRecord(msgspec.Struct, frozen=True):
    """One line of the error store."""

    reason: str
    detail: str = ""
    state: int = 0
    schema: str | None = None
    version: str | None = None
    position: str | None = None
    raw: str | None = None
    raw_base64: str | None = None

    @property
    def incoming(self) -> bytes:
        """The record's exact bytes."""
        return _bytes(self.raw, self.raw_base64)


def _bytes(raw: str | None, raw_base64: str | None) -> bytes:
    return base64.b64decode(raw_base64) if raw_base64 is not None else (raw or "").encode()
