"""Up to where a source that is followed has been read into a target, as the target itself keeps it."""

from __future__ import annotations

import msgspec


class ReadProgress(msgspec.Struct, frozen=True):
    """How far a source is in a target.

    Args:
        source: its address.
        after: the load that got so far; empty where none did.
        places: what is known of each file, by name, or of each partition, as ``topic/partition``; JSON.
    """

    source: str
    after: str = ""
    places: dict[str, str] = {}
