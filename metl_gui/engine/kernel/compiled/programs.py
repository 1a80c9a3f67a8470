"""Turn the messages that the reference makes of a traced record into a program: fixed text, and slots between.

Fixed text comes from a layout, that is from the plan and names; a value of a record gets into none of it: what is no
slot must be one of the few words that the key of the program tells apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.tables import Tables
from metl_gui.engine.kernel.compiled.traced_record import slot_of
from metl_gui.engine.kernel.message_layout import Layout
from metl_gui.engine.kernel.outcomes import BatchOutput, Sent
from metl_gui.formats.json_text import NULL

_TIMES = 3
_SNAPSHOTS = frozenset({b"true", b"false"})
"""Whether a snapshot read the row: the key of a program tells."""


class Unsteady(Exception):
    """A message of which no program can be made."""


class Sending(NamedTuple):
    """What the reference made of a traced record.

    Args:
        sent: its messages.
        version: name of its version, empty for a truncate, which has none.
        times: slots that its time may come from, the best first.
        committed: the slot of the time of its commit, below 0 for none.
        forms: what stands for an unavailable value.
        wants_key: it is left when all values of its key are null.
        is_event: it is a CloudEvent, whose time of the commit is text.
    """

    sent: Sequence[Sent]
    version: str
    times: list[int]
    committed: int
    forms: frozenset[bytes]
    wants_key: bool
    is_event: bool


def program_of(sending: Sending, tables: Tables, output: BatchOutput) -> list[int]:
    """Return the program that sends these messages.

    Args:
        sending: the messages.
        tables: keep the fixed text.
        output: gives the numbers of entities and layouts.

    Raises:
        Unsteady: a message holds a value that is neither in a slot nor told by the key of the program.
    """
    forms = tables.forms(sending.forms)
    times, committed = [*sending.times, *[-1] * _TIMES][:_TIMES], sending.committed
    if sending.is_event and committed >= 0:
        times[0] = committed = at.COMMITTED
    version = tables.counter("version", sending.version) if sending.version else -1
    code = [at.SEND, version, forms, len(sending.sent), *times, committed]
    for sent in sending.sent:
        code += _output(sent, sending, tables, output)
    _mark_alike(code, len(sending.sent))
    return code


def _mark_alike(code: list[int], outputs: int) -> None:
    """Mark the outputs that have the same text before their payloads as the first, from the first slot to the last."""
    place, first = at.P_OUTPUTS // at.WORD, list[int]()
    width, pieces = at.PIECE_BYTES // at.WORD, at.O_PIECES // at.WORD
    for number in range(outputs):
        before = code[place + at.O_BEFORE // at.WORD]
        start = place + pieces
        mine = code[start : start + before * width][:-2]
        first = first if number else mine
        code[place + at.O_IS_ALIKE // at.WORD] = int(mine == first)
        place = start + code[place + at.O_PIECE_COUNT // at.WORD] * width


def _output(sent: Sent, sending: Sending, tables: Tables, output: BatchOutput) -> list[int]:
    kind, paths, order = sent.layout.kind, sent.layout.paths, sent.layout.order
    by_number = dict(zip(order, sent.values, strict=True))
    slots = {number: slot_of(value) for number, value in by_number.items()}
    time = len(paths.key)
    if [slots[time]] != (sending.times or [-1])[:1]:
        raise Unsteady
    if sending.times:
        slots[time] = at.TIME
    if sending.is_event and slots[paths.committed] >= 0:
        slots[paths.committed] = at.COMMITTED
    words = {number: by_number[number] for number, slot in slots.items() if slot < 0}
    if any(word != NULL and (word not in _SNAPSHOTS or number != paths.snapshot) for number, word in words.items()):
        raise Unsteady
    layout = Layout.of(kind, paths, words)
    first = paths.payload_start
    written = []
    for number, text in zip(layout.order, layout.fixed[1:], strict=True):
        counter = at.IN_KEY if number < time else at.ELSEWHERE
        if number >= first:
            named = sent.block.entity, sent.block.entity_version, paths.payload[number - first]
            counter = tables.counter("filled", *named)
        written += [slots[number], counter, tables.fixed(text), len(text)]
    counters = written[1 :: at.PIECE_BYTES // at.WORD]
    before = sum(counter < 0 for counter in counters)
    unreviewed = tables.counter("unreviewed", sent.block.entity) if sent.block.is_unreviewed else -1
    is_image = kind.op in ("c", "r") and not paths.unchanged and not sent.block.is_unfiltered
    head = layout.fixed[0]
    return [
        0, sum(map(len, layout.fixed)), is_image, sending.wants_key, output.entity_number(sent.block.entity),
        output.layout_number(layout), unreviewed, tables.sent_counter(counters[before:]), before, 0,
        tables.fixed(head), len(head), len(counters), *written,
    ]  # fmt: skip
