"""Hostile messages of Kafka: whatever their bytes are, each stays one record with its own place, key and value.

``python -m tests.fuzz.kafka_messages SECONDS`` goes on until the time is over and prints what it found; with
``METL_KERNEL_CHECKED=1`` in the environment machine code proves every access.

Two witnesses: the wrapper of a message taken apart gives back the bytes of the message; and both kernels make of the
columns of a batch what the reference makes of the wrappers, machine code within its bounds.
"""

from __future__ import annotations

import contextlib
import sys
import time
from random import Random

from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from metl_gui.engine.kafka.records import headers_json, records_of
from metl_gui.engine.kernel.compiled.memory import violations
from metl_gui.engine.kernel.message_records import MessageRecords
from metl_gui.engine.kernel.outcomes import BatchOutput, MappedBatch
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.errors import RecordError
from metl_gui.formats.record_wrapper import Wrapped, unwrap
from tests.fuzz.differences import differences
from tests.fuzz.mutations import mutate
from tests.fuzz.plans import draw_world
from tests.fuzz.records import Writer
from tests.fuzz.samples import samples, world_of_samples

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


def messages_of(dice: Random, pool: list[Wrapped], names: list[str], count: int) -> list[Message]:
    """Draw messages: records as they came, their parts, mutated, and contents that want to be more than a value."""
    topics = [dice.choice((*names, *names, "a", "x-1_2")) for _ in range(3)]
    contents = [one for wrapped in pool for one in (wrapped.value, wrapped.key) if one is not None]
    return [_message(dice, pool, contents, dice.choice(topics), offset) for offset in range(count)]


def _message(dice: Random, pool: list[Wrapped], contents: list[bytes], topic: str, offset: int) -> Message:
    found = dice.choice(pool)
    topic = found.topic or topic
    key, value = found.key, found.value
    if dice.random() < 0.3:
        key = _content(dice, contents)
    if dice.random() < 0.3:
        value = _content(dice, contents)
    kind = dice.choice((TIMESTAMP_CREATE_TIME, TIMESTAMP_CREATE_TIME, TIMESTAMP_NOT_AVAILABLE))
    return Message(
        topic=topic,
        partition=dice.choice((0, 1, 11)),
        offset=dice.choice((offset, offset, 10 ** dice.randrange(19), 2**62)),
        key=key,
        value=value,
        headers=[
            (
                dice.choice(("a", "__value_schema_id", "é", "__debezium.oldkey")),
                dice.choice((None, b"", b"1", b"\1" * 17, b'"}', b'{"id":1}')),
            )
        ]
        * dice.choice((0, 0, 0, 0, 1, 2)),
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


def faults(messages: list[Message], plan: Plan) -> list[str]:
    """Return what is wrong with the records of messages."""
    records = records_of(messages)
    found = [fault for number, message in enumerate(messages) for fault in _faults_of(message, records, number)]
    expected = expected_outcome(plan, records)
    reference = Kernel(plan, choice="reference")
    found += [f"reference: {one}" for one in differences(reference.map(records), expected)]
    compiled = Kernel(plan, choice="compiled", patience=0)
    for _ in range(3):
        found += [f"compiled: {one}" for one in differences(compiled.map(records), expected)]
    outside, address, size = violations()
    return [*found, f"{size} bytes at {address:#x} are outside of what is allowed"] if outside else found


def _faults_of(message: Message, records: MessageRecords, number: int) -> list[str]:
    raw, place = records.raw(number), records.position(number)
    wrapped = unwrap(raw)
    seen = wrapped.value, wrapped.key, wrapped.topic, wrapped.position, wrapped.headers
    position = f"{message.topic()}/{message.partition()}/{message.offset()}"
    wanted = message.value(), message.key(), message.topic(), position, headers_json(message.headers())
    return [f"{raw!r} gives {seen}, not {wanted}"] if seen != wanted or place != position else []


def expected_outcome(plan: Plan, records: MessageRecords) -> MappedBatch:
    """Map the wrappers of messages by the reference, as lines of a file."""
    reference = Kernel(plan, choice="reference").reference
    gathering, lines = BatchOutput(), Records.of(list(records), "")
    gathering.begin(len(lines))
    for number in range(len(lines)):
        reference.map_record(lines, number, gathering)
    return gathering.outcome(records.bytes_in, 0)


def play(seed: str, count: int = 400) -> list[str]:
    """Play one round and return what is wrong."""
    dice = Random(seed)
    world, raws = (world_of_samples(), list(samples())) if dice.random() < 0.1 else (draw_world(dice), [])
    writer = Writer(dice, world)
    pool: list[Wrapped] = []
    while len(pool) < _POOL:
        raw = dice.choice(raws) if raws else writer.record()
        if dice.random() < 0.2:
            pool.append(Wrapped(raw))
        with contextlib.suppress(RecordError):
            pool.append(unwrap(raw))
    if dice.random() < 0.5:
        # Many of a few kinds, so that what was learned matters.
        pool = dice.sample(pool, 5)
    return faults(messages_of(dice, pool, [one.name for one in world.plan.schemas], count), world.plan)


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
