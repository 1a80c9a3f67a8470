"""Which values and keys of a batch are in the framing of a registry, and by which programs they are read.

How bytes are framed is decided by ``framings`` and ``wire`` as for the reference, once for all that begin alike.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from metl_gui.core.project.writer_schemas import AVRO
from metl_gui.engine.kernel.compiled.avro_programs import Programs, Unfit
from metl_gui.engine.kernel.compiled.stand_ins import StandIns
from metl_gui.engine.kernel.framings import Framed, is_framed, readings
from metl_gui.engine.kernel.wire import Wire
from metl_gui.errors import RecordError
from metl_gui.formats.avro_types import read_avro
from metl_gui.formats.record_wrapper import SINGLE_OBJECT

_MOST_WAYS = 10_000
_NAMED, _SHORT, _LONG, _PRINT = 0, 5, 9, 10
"""How many bytes in front of a body name its schema: none where headers do."""


class Way(NamedTuple):
    """How to read all values that begin alike.

    Args:
        program: of their schema.
        skipped: bytes in front of what the schema wrote.
        stand_in: stands for the schema.
    """

    program: int
    skipped: int
    stand_in: bytes


Found: TypeAlias = Way | Literal["left", "unknown", "plain", "longer"]
"""``left``: the reference looks at it; ``unknown``: nothing resolves its id; ``plain``: it is in no framing;
``longer``: more bytes decide."""


class Ways:
    """How the values and keys of one kernel are read.

    Args:
        wire: decides.
        stand_ins: what stands for schemas.
    """

    def __init__(self, wire: Wire, stand_ins: StandIns) -> None:
        self.wire = wire
        self.stand_ins = stand_ins
        self.programs = Programs()
        self._by_schema: dict[str, int] = {}
        self._ways: dict[tuple[str, str, bytes, bytes], Found] = {}

    def of(self, content: bytes, topic: str, headers: bytes, part: str) -> Found:
        """Return how to read a value or key.

        Args:
            content: the bytes.
            topic: where they come from.
            headers: of the record, empty where they name no schema.
            part: ``value`` or ``key``.
        """
        sizes = (_PRINT,) if content[:1] == SINGLE_OBJECT[:1] else (_SHORT, _LONG)
        for size in (_NAMED, *sizes) if headers else sizes:
            key = part, topic, headers, content[:size]
            found = self._ways.get(key)
            if found is None:
                if len(self._ways) >= _MOST_WAYS:
                    self._ways.clear()
                found = self._ways[key] = self._found(content, topic, headers, part, size)
            if found != "longer":
                return found
        return "left"

    def _found(self, content: bytes, topic: str, headers: bytes, part: str, size: int) -> Found:
        if not is_framed(content, headers):
            return "plain"
        ways = list(readings(content, headers, part, self.wire.framing(topic)))
        is_named = bool(ways) and ways[0].body is content
        if size == _NAMED:
            return self._first(ways, content, topic, size) if is_named else "longer"
        return self._first(ways, content, topic, size)

    def _first(self, ways: Sequence[Framed], content: bytes, topic: str, size: int) -> Found:
        """Return the way of the first reading whose id resolves, of those that so many bytes decide."""
        for framed in ways:
            skipped = len(content) - len(framed.body)
            if skipped > size:
                return "longer"
            id_ = self.wire.known(framed.ids)
            if id_ is not None:
                return self._way(id_, topic, skipped)
        if not ways:
            return "plain"
        # What a file teaches may resolve a fingerprint later, and text may be named by headers that mean another part.
        return "left" if size in (_NAMED, _PRINT) else "unknown"

    def _way(self, id_: str, topic: str, skipped: int) -> Found:
        try:
            schema, common = self.wire.named(id_, topic)
        except RecordError:
            return "left"
        if schema.kind != AVRO:
            return "left"
        if schema.text not in self._by_schema:
            try:
                self._by_schema[schema.text] = 0 if self.programs.is_full else self._program(schema.text)
            except Unfit:
                self._by_schema[schema.text] = 0
        program = self._by_schema[schema.text]
        return Way(program, skipped, self.stand_ins.text(topic, common)) if program else "left"

    def _program(self, text: str) -> int:
        return self.programs.add(read_avro(json.loads(text)))
