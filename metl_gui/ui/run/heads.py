"""What an outgoing message says of itself before its payload."""

from __future__ import annotations

import msgspec


class Source(msgspec.Struct, frozen=True):
    """Where a message came from; ``origin`` is what the connector says of its place in the log."""

    schema: str = ""
    version: str = ""
    origin: dict[str, msgspec.Raw] | None = None


class Head(msgspec.Struct, frozen=True):
    """The members of a message that say what it is. Source: contract.md §5."""

    entity: str = ""
    version: str | None = None
    state: int = 0
    op: str = ""
    source: Source = Source()


_HEAD = msgspec.json.Decoder(Head)


def head_of(message: bytes | str) -> Head:
    """Read the head of a message; an empty one where it cannot be read."""
    try:
        return _HEAD.decode(message)
    except (msgspec.MsgspecError, UnicodeError):
        return Head()
