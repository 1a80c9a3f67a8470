"""Changes of the log as bytes: JSON, compressed, which makes a usual edit a fifth of its size."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import msgspec

from metl_gui.core.changes.draft import ChangeSet
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.store.rows.decompression import TIMES, Unpacking
from metl_gui.values import Value

_LEVEL = 5
"""Of 10^4 elements it leaves as little as 6, in half the time."""

_RAW = -15
"""Bits of the window, negative for a stream without header and checksum: the file has its own."""

_KEYS = re.compile(rb'"key":\[(\d+),(\d+)\]')
_WRITTEN_EVER = tuple(name for name in Schema.__struct_fields__ if name != "ignored")
_decoder = msgspec.json.Decoder(ChangeSet)


def pack_change(change: ChangeSet) -> bytes:
    """Write a change as bytes."""
    written = _of_mapping(change) | ({"models": change.models} if change.models else {})
    return _packed(msgspec.json.encode(written))


def packed_text(text: str) -> bytes:
    """Compress a change that was written as JSON."""
    return _packed(text.encode("utf-8", "surrogatepass"))


def opener() -> Callable[[bytes], bytes]:
    """Return what inflates the changes that one reading meets; together they have one bound.

    It raises ``ValueError`` where one is damaged, or they grow beyond all measure.
    """
    return partial(Unpacking("a change of the log").unpacked, bits=_RAW)


def read_change(text: bytes) -> ChangeSet:
    """Read a change that was inflated.

    Raises:
        msgspec.MsgspecError: it is none.
    """
    return _decoder.decode(text)


def unpack_changes(packs: Iterable[bytes]) -> Iterator[ChangeSet]:
    """Read changes back, each when it is asked for.

    Raises:
        ValueError: one is damaged, or they grow beyond all measure.
    """
    return map(read_change, map(opener(), packs))


def unpack_change(pack: bytes) -> ChangeSet:
    """Read one change back.

    Raises:
        ValueError: it is damaged, or grows beyond all measure.
    """
    return next(unpack_changes((pack,)))


class LogFilter(Value):
    """What of a project is looked for in the log.

    Args:
        keys: blocks.
        schema: a schema or entity, for its versions and for what is said of it.
        versions: versions, for all blocks of each.
        model: a warehouse model, by its name.
    """

    keys: frozenset[BlockKey] = frozenset()
    schema: tuple[Side, int] | None = None
    versions: frozenset[tuple[Side, int]] = frozenset()
    model: str = ""

    def may_be_in(self, text: bytes) -> bool:
        """Whether an inflated change may touch it; much cheaper than reading it, and never wrong about a no."""
        if self.schema is not None:
            side, id_ = self.schema
            if b'"schema_id":%d,' % id_ in text or b'"side":"%s","id":%d,' % (side.value.encode(), id_) in text:
                return True
        if self.model and b'"models":[' in text:
            return True
        if not self.keys and not self.versions:
            return False
        return any(self._holds(int(v), int(w)) for v, w in _KEYS.findall(text))

    def _holds(self, v: int, w: int) -> bool:
        return (v, w) in self.keys or (Side.EXTRACTION, v) in self.versions or (Side.CDM, w) in self.versions


def _of_mapping(change: ChangeSet) -> dict[str, object]:
    """Return the members of a change without models: nearly all are about the mapping, and written as ever."""
    return {"schemas": _schemas(change), "versions": change.versions, "blocks": change.blocks}


def _schemas(change: ChangeSet) -> list[dict[str, object]]:
    """Write schemas and entities as ever where nothing of them was said never to be mapped."""
    return [
        {"side": each.side, "id": each.id, "before": _schema(each.before), "after": _schema(each.after)}
        for each in change.schemas
    ]


def _schema(schema: Schema | None) -> Schema | dict[str, object] | None:
    if schema is None or schema.ignored:
        return schema
    return {name: getattr(schema, name) for name in _WRITTEN_EVER}


def _packed(text: bytes) -> bytes:
    packed = _deflated(text, zlib.Z_DEFAULT_STRATEGY)
    # One comment on every block repeats itself beyond what is unpacked again: letters alone shrink eightfold at most.
    return packed if len(text) <= TIMES * len(packed) else _deflated(text, zlib.Z_HUFFMAN_ONLY)


def _deflated(text: bytes, strategy: int) -> bytes:
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, zlib.DEF_MEM_LEVEL, strategy)
    return compressor.compress(text) + compressor.flush()
