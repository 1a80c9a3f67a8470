"""Turn messages that the reference wrote of marks into a program: fixed text, and slots where marks stood."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Raw

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.tables import Tables
from metl_gui.engine.kernel.outcomes import Sent
from metl_gui.formats.json_text import NULL

_NUMBER = re.compile(rb"\d{19,}")
_members = msgspec.json.Decoder(dict[str, Raw]).decode
_TIMES = 3


class Unsteady(Exception):
    """A message of which no program can be made."""


class Sending(NamedTuple):
    """What the reference made of a marked record.

    Args:
        sent: its messages.
        version: name of its version.
        times: slots that its time may come from, the best first.
        committed: the slot of the time of its commit, below 0 for none.
        forms: what stands for an unavailable value.
        wants_key: it is left when all values of its key are null.
    """

    sent: Sequence[Sent]
    version: str
    times: Sequence[int]
    committed: int
    forms: frozenset[bytes]
    wants_key: bool


def program_of(
    sending: Sending, slots: Mapping[bytes, int], wholes: Sequence[bytes], tables: Tables, entity: Callable[[str], int]
) -> list[int]:
    """Return the program that sends these messages.

    Args:
        sending: the messages.
        slots: what marks stand for.
        wholes: objects whose values are marks; none may stand in a message as a whole.
        tables: keep the fixed text.
        entity: gives the number of an entity.

    Raises:
        Unsteady: a message holds more than values in fixed text.
    """
    forms = tables.forms(sending.forms)
    times = [*sending.times, *[-1] * _TIMES][:_TIMES]
    version = tables.counter("version", sending.version)
    code = [at.SEND, version, forms, len(sending.sent), *times, sending.committed]
    for sent in sending.sent:
        if any(whole in sent.text for whole in wholes) or b"{}" in wholes:
            raise Unsteady
        code += _output(sent, sending, slots, tables, entity(sent.block.entity))
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


def _output(sent: Sent, sending: Sending, slots: Mapping[bytes, int], tables: Tables, entity: int) -> list[int]:
    text, parts = sent.text, _parts(sent.text)
    counters = _counters(sent, slots, tables)
    pieces: list[int] = []
    ends: list[int] = []
    for found in _NUMBER.finditer(text):
        slot = slots.get(found[0])
        if slot is None:
            continue
        part = next((name for name, (start, stop) in parts.items() if start <= found.start() < stop), "")
        counter = {"payload": counters.get(found[0], at.ELSEWHERE), "key": at.IN_KEY}.get(part, at.ELSEWHERE)
        if part == "payload" and counter == at.ELSEWHERE:
            raise Unsteady
        if part == "ts_ms":
            if [slot] != list(sending.times[:1]):
                raise Unsteady
            slot = at.TIME
        ends += found.start(), found.end()
        pieces += slot, counter
    fixed = [text[start:stop] for start, stop in zip([0, *ends[1::2]], [*ends[::2], len(text)], strict=True)]
    written = []
    for number, piece in enumerate(fixed[1:]):
        written += [*pieces[2 * number : 2 * number + 2], tables.fixed(piece), len(piece)]
    for path in _constants(sent, slots):
        written += [at.NOTHING, tables.counter("filled", *_named(sent, path)), tables.fixed(b""), 0]
    is_timed = any(slot == at.TIME for slot in pieces[::2])
    if is_timed != bool(sending.times) and b',"op":"t",' not in text:
        raise Unsteady
    marks = written[1 :: at.PIECE_BYTES // at.WORD]
    before = sum(counter < 0 for counter in marks)
    if any(counter < 0 for counter in marks[before:]):
        raise Unsteady
    op = bytes(_members(text)["op"])
    unreviewed = tables.counter("unreviewed", sent.block.entity) if sent.block.is_unreviewed else -1
    is_image = op in (b'"c"', b'"r"')
    return [
        0, sum(map(len, fixed)), is_image, sending.wants_key, entity, unreviewed, tables.sent_counter(marks[before:]),
        before, 0, tables.fixed(fixed[0]), len(fixed[0]), len(marks), *written,
    ]  # fmt: skip


def _parts(text: bytes) -> dict[str, tuple[int, int]]:
    """Return where the value of each member of a message begins and ends; messages have no space between them."""
    parts, place = {}, 0
    for name, raw in _members(text).items():
        start = place + len(name) + 4
        parts[name] = start, start + len(raw)
        place = start + len(raw)
    return parts


def _counters(sent: Sent, slots: Mapping[bytes, int], tables: Tables) -> dict[bytes, int]:
    return {value: tables.counter("filled", *_named(sent, path)) for path, value in sent.members if value in slots}


def _constants(sent: Sent, slots: Mapping[bytes, int]) -> list[str]:
    return [path for path, value in sent.members if value not in slots and value != NULL]


def _named(sent: Sent, path: str) -> tuple[str, str, str]:
    return sent.block.entity, sent.block.entity_version, path
