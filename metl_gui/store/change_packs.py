"""Changes of the log as bytes: JSON, compressed, which makes a usual edit a fifth of its size."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

import msgspec

from metl_gui.core.blocks import BlockKey
from metl_gui.core.draft import Change
from metl_gui.core.nodes import Side

_LEVEL = 6
_RAW = -15
"""Bits of the window, negative for a stream without header and checksum: the file has its own."""

_KEYS = re.compile(rb'"key":\[(\d+),(\d+)\]')
_decoder = msgspec.json.Decoder(Change)


def pack_change(change: Change) -> bytes:
    """Write a change as bytes."""
    return _packed(msgspec.json.encode(change))


def packed_text(text: str) -> bytes:
    """Compress a change that was written as JSON."""
    return _packed(text.encode("utf-8", "surrogatepass"))


def unpack_change(pack: bytes) -> Change:
    """Read a change back.

    Raises:
        ValueError: it is damaged.
    """
    return _decoder.decode(_unpacked(pack))


@dataclass(frozen=True, slots=True)
class Touched:
    """What of a project is looked for in the log.

    Args:
        keys: blocks.
        schema: a schema or entity, for its versions.
        versions: versions, for all blocks of each.
    """

    keys: frozenset[BlockKey] = frozenset()
    schema: tuple[Side, int] | None = None
    versions: frozenset[tuple[Side, int]] = frozenset()

    def may_be_in(self, pack: bytes) -> bool:
        """Whether a change may touch it; much cheaper than reading the change, and never wrong about a no."""
        text = _unpacked(pack)
        if self.schema is not None and b'"schema_id":%d,' % self.schema[1] in text:
            return True
        if not self.keys and not self.versions:
            return False
        return any(self._holds(int(v), int(w)) for v, w in _KEYS.findall(text))

    def _holds(self, v: int, w: int) -> bool:
        return (v, w) in self.keys or (Side.EXTRACTION, v) in self.versions or (Side.CDM, w) in self.versions


def _packed(text: bytes) -> bytes:
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    return compressor.compress(text) + compressor.flush()


def _unpacked(pack: bytes) -> bytes:
    try:
        return zlib.decompress(pack, _RAW)
    except zlib.error as error:
        raise ValueError(f"a change of the log cannot be read: {error}") from error
