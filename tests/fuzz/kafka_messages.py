"""Hostile messages of Kafka: whatever their bytes are, each stays one record with its own place, key and value.

``python -m tests.fuzz.kafka_messages SECONDS`` goes on until the time is over and prints what it found.

Three witnesses: machine code and Python write the same wrapper; a wrapper taken apart gives back the bytes of the
message; and both kernels make of the wrapper what the reference makes of the parts of the message.
"""

from __future__ import annotations

import sys
import time
from random import Random

from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from metl_gui.engine.kafka.machine_code import MACHINE
from metl_gui.engine.kafka.records import headers_json, is_whole, records_of
from metl_gui.engine.kernel.outcomes import BatchOutput, MappedBatch, error_row
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.kernel.reference import RecordContext
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.errors import RecordError
from metl_gui.formats.record_wrapper import Wrapped, unwrap
from tests.fuzz.differences import differences
from tests.fuzz.mutations import mutate
from tests.fuzz.plans import draw_world
from tests.fuzz.records import Writer

_POOL = 60
_TIME_MS = 1_634_052_484_031
_HOSTILE = (
    b'1},"topic":"x"', b'null,"value":{"a":1}', b'{"a":1},"topic":"x","b":{}', b'{"a":1}}', b"{}", b"{", b"}", b"",
    b'"', b'\\"', b'"}', b"null", b"nul", b"l}", b"17", b"-", b"[1]", b'"text"', b"\0\0\0\0\1ab",
    b"\xc3\x01abcdefgh", b"\xff",
    b" {}", b"{} ", b"\t", b"caf\xc3", b"\xa9", b'{"a":"\\ud800"}', b'{"topic":"t","value":{"op":"c"}}', "é".encode(),
    b'{"x":' * 62 + b"1" + b"}" * 62, b'{"x":' * 63 + b"1" + b"}" * 63, b'{"x":' * 64 + b"1" + b"}" * 64,
    b'{"x":' * 70 + b"1" + b"}" * 70, b'{"a":1,"a":2}', b'{"a":tru', b"e}", b'{"a":1', b"\x7f", b"\xe2\x80\xa8",
)  # fmt: skip


def messages_of(dice: Random, pool: list[bytes], count: int) -> list[Message]:
    """Draw messages: the parts of records, mutated, and contents that want to be more than a value."""
    topics = [dice.choice(("shop.public.t0", "a", "x-1_2")) for _ in range(3)]
    return [_message(dice, pool, dice.choice(topics), offset) for offset in range(count)]


def _message(dice: Random, pool: list[bytes], topic: str, offset: int) -> Message:
    kind = dice.choice((TIMESTAMP_CREATE_TIME, TIMESTAMP_CREATE_TIME, TIMESTAMP_NOT_AVAILABLE))
    return Message(
        topic=topic,
        partition=dice.choice((0, 1, 11)),
        offset=dice.choice((offset, offset, 10 ** dice.randrange(19), 2**62)),
        key=_content(dice, pool),
        value=_content(dice, pool),
        headers=[
            (
                dice.choice(("a", "__value_schema_id", "é", "__debezium.oldkey")),
                dice.choice((None, b"", b"1", b"\1" * 17, b'"}', b'{"id":1}')),
            )
        ]
        * dice.choice((0, 0, 1, 2)),
        timestamp=(kind, dice.choice((_TIME_MS, 0, 5))),
    )


def _content(dice: Random, pool: list[bytes]) -> bytes | None:
    drawn = dice.random()
    if drawn < 0.1:
        return None
    if drawn < 0.3:
        return dice.choice(_HOSTILE)
    raw = dice.choice(pool)
    return mutate(dice, raw, pool) if drawn < 0.7 else raw


def written(messages: list[Message], *, by_machine: bool) -> Records:
    """Write messages as records, by machine code or in Python."""
    machine = MACHINE
    before = machine.worth, machine.loaded
    machine.worth, machine.loaded = (0, machine.loaded) if by_machine else (None, None)
    try:
        return records_of(messages)
    finally:
        machine.worth, machine.loaded = before[0], machine.loaded or before[1]


def faults(messages: list[Message], plan: Plan) -> list[str]:
    """Return what is wrong with the records of messages."""
    ours, other = written(messages, by_machine=True), written(messages, by_machine=False)
    found = [
        f"{mine!r} by machine code, {his!r} by Python" for mine, his in zip(ours, other, strict=True) if mine != his
    ]
    for number, message in enumerate(messages):
        found += _faults_of(message, ours.raw(number), ours.position(number))
    expected = expected_outcome(plan, messages, ours)
    for choice in ("reference", "compiled"):
        kernel = Kernel(plan, choice=choice, patience=0)
        kernel.map(ours)
        found += [f"{choice}: {one}" for one in differences(kernel.map(ours), expected)]
    return found


def _faults_of(message: Message, raw: bytes, place: str) -> list[str]:
    wrapped = unwrap(raw)
    seen = wrapped.value, wrapped.key, wrapped.topic, wrapped.position, wrapped.headers
    position = f"{message.topic()}/{message.partition()}/{message.offset()}"
    wanted = message.value(), message.key(), message.topic(), position, headers_json(message.headers())
    return [f"{raw!r} gives {seen}, not {wanted}"] if seen != wanted or place != position else []


def expected_outcome(plan: Plan, messages: list[Message], records: Records) -> MappedBatch:
    """Map the parts of messages by the reference, with no wrapper between."""
    reference = Kernel(plan, choice="reference").reference
    gathering = BatchOutput()
    gathering.begin(len(messages))
    for number, message in enumerate(messages):
        found = RecordContext(records.position(number))
        try:
            reference.map_wrapped(_wrapped(message), found, gathering)
        except RecordError as error:
            where = found.schema, found.version, found.position
            gathering.put_aside(error, error_row(error, plan.state, where, records.raw(number)))
    return gathering.outcome(records.bytes_in, 0)


def _wrapped(message: Message) -> Wrapped:
    kind, milliseconds = message.timestamp()
    value = message.value()
    return Wrapped(
        value=value,
        key=message.key(),
        topic=message.topic() or "",
        position=f"{message.topic()}/{message.partition()}/{message.offset()}",
        timestamp=b"%d" % milliseconds if kind else b"null",
        headers=headers_json(message.headers()),
        is_checked=value is not None and is_whole(value),
    )


def play(seed: str, count: int = 400) -> list[str]:
    """Play one round and return what is wrong."""
    dice = Random(seed)
    world = draw_world(dice)
    writer = Writer(dice, world)
    pool: list[bytes] = []
    while len(pool) < _POOL:
        raw = writer.record()
        try:
            wrapped = unwrap(raw)
        except RecordError:
            pool.append(raw)
            continue
        pool += [one for one in (raw, wrapped.value, wrapped.key) if one is not None]
    return faults(messages_of(dice, pool, count), world.plan)


def main() -> int:
    """Play until the time is over."""
    until = time.monotonic() + float(sys.argv[1]) if len(sys.argv) > 1 else time.monotonic() + 60
    rounds = 0
    while time.monotonic() < until:
        found = play(f"kafka {time.time_ns()}")
        rounds += 1
        if found:
            sys.stdout.write("\n".join(found[:5]) + "\n")
            return 1
    sys.stdout.write(f"{rounds} rounds without a fault\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
