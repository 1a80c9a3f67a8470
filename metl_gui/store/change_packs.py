"""Changes of the log as bytes: JSON, compressed, which makes a usual edit a fifth of its size."""

from __future__ import annotations

import zlib

import msgspec

from metl_gui.core.blocks import BlockKey
from metl_gui.core.draft import Change

_LEVEL = 6
_RAW = -15
"""Bits of the window, negative for a stream without header and checksum: the file has its own."""

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


def may_touch(pack: bytes, keys: tuple[BlockKey, ...]) -> bool:
    """Whether a change may touch one of some blocks; much cheaper than reading it, and never wrong about a no."""
    text = _unpacked(pack)
    return any(b'"key":[%d,%d]' % key in text for key in keys)


def _packed(text: bytes) -> bytes:
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
    return compressor.compress(text) + compressor.flush()


def _unpacked(pack: bytes) -> bytes:
    try:
        return zlib.decompress(pack, _RAW)
    except zlib.error as error:
        raise ValueError(f"a change of the log cannot be read: {error}") from error
