"""Hostile messages in Avro: machine code and the reference make the same of them, and of each value alone.

``python -m tests.fuzz.avro_messages SECONDS [--checked]`` goes on until the time is over and prints what it found.

Drawn are schemas of rows, envelopes, keys and anything else; ids that several schemas have, that nobody has, and that
headers name; every framing; bytes that their schema wrote, and such with a few of them changed.
"""

from __future__ import annotations

import json
import os
import sys
import time
from random import Random
from typing import Any, NamedTuple, TypeAlias

from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_NOT_AVAILABLE, Message

from metl_gui.core.project.writer_schemas import AVRO, FRAMINGS, JSON, of_content, of_global, of_rabin
from metl_gui.engine.kafka.records import records_of
from metl_gui.engine.kernel.avro_values import AvroReader
from metl_gui.engine.kernel.message_records import MessageRecords, RecordBatch
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan, WriterSchemaPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.kernel.wire_format import WireDecoder, half_of_avro
from metl_gui.errors import RecordError
from metl_gui.formats.avro_types import rabin_fingerprint, read_avro
from metl_gui.formats.record_wrapper import SINGLE_OBJECT
from tests.fuzz.avro_schemas import Drawer, Encoder, Schema

_COLUMNS = ("id", "name", "total", "note", "state", "at")
_TOPICS = ("shop.public.t0", "shop.public.t1", "__debezium-heartbeat.shop")
_SOURCE = {
    "type": "record",
    "name": "Source",
    "fields": [{"name": name, "type": ["null", "string"]} for name in ("db", "schema", "table", "name")]
    + [{"name": "lsn", "type": ["null", "long"]}, {"name": "ts_ms", "type": "long"}]
    + [{"name": "snapshot", "type": ["null", "string"]}],
}

Headers: TypeAlias = "list[tuple[str, str | bytes | None]]"


class World(NamedTuple):
    """A plan, and what writes for it.

    Args:
        plan: the plan.
        values, keys: id and writer schema of what may write values and keys.
        topics: of each of them.
    """

    plan: Plan
    values: list[tuple[int, Schema]]
    keys: list[tuple[int, Schema]]
    topics: list[str]


def draw_world(dice: Random) -> World:
    """Draw schemas with their versions, and the writer schemas of values and keys."""
    wire: list[WriterSchemaPlan] = []
    values: list[tuple[int, Schema]] = []
    keys: list[tuple[int, Schema]] = []
    topics: list[str] = []
    schemas = []
    for topic in _TOPICS[:2]:
        versions = []
        for number in range(dice.randrange(1, 4)):
            names = _COLUMNS[: dice.randrange(2, len(_COLUMNS) + 1)]
            drawer = Drawer(dice)
            written = _value_schema(dice, drawer, names)
            versions.append(_version(dice, str(number + 1), names, written))
            # Now and then an id has several schemas.
            id_ = len(values) + 1 if dice.random() < 0.9 else dice.randrange(1, 6)
            values.append((id_, written))
            topics.append(topic)
            label = str(number + 1) if dice.random() < 0.7 else ""
            wire.append(WriterSchemaPlan(_called(dice, id_, written), AVRO, json.dumps(written), topic, label))
            key = dice.choice(
                ({"type": "record", "name": "Key", "fields": [{"name": "id", "type": "long"}]}, drawer.type())
            )
            keys.append((id_ + 100, key))
            wire.append(WriterSchemaPlan(_called(dice, id_ + 100, key), AVRO, json.dumps(key), topic))
        schemas.append(
            SchemaPlan(
                topic, tuple(versions), framing=dice.choice(("",) * 6 + FRAMINGS), has_full_images=dice.random() < 0.3
            )
        )
    wire.append(WriterSchemaPlan("11", JSON, "", _TOPICS[0]))
    wire.append(WriterSchemaPlan("12", AVRO, dice.choice(("{", '"nothing"', '{"type":"record"}')), _TOPICS[0]))
    dice.shuffle(wire)
    plan = Plan(
        17, "0" * 64, tuple(schemas), wire=tuple(wire), framing=dice.choice((*FRAMINGS[:4], "auto", "confluent"))
    )
    return World(plan, values, keys, topics)


def _value_schema(dice: Random, drawer: Drawer, names: tuple[str, ...]) -> Schema:
    drawn = dice.random()
    row = drawer.row(names)
    if drawn < 0.1:
        return drawer.type()
    if drawn < 0.3:
        flat = [{"name": "__deleted", "type": "string"}, {"name": "__op", "type": ["null", "string"]}]
        return row | {"fields": [*row["fields"], *dice.sample(flat, dice.randrange(3))]}
    fields = [
        {"name": "before", "type": ["null", row]},
        {"name": "after", "type": ["null", "Value"]},
        {"name": "source", "type": _SOURCE},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"]},
    ]
    envelope: Schema = {"type": "record", "name": "Envelope", "fields": fields}
    return ["null", envelope] if drawn > 0.9 else envelope


def _version(dice: Random, label: str, names: tuple[str, ...], written: Schema) -> VersionPlan:
    half = half_of_avro(read_avro(written))
    blocks = tuple(
        BlockPlan(f"entity_{number}", "1", tuple((name, f"{name}_{number}") for name in names))
        for number in range(dice.randrange(1, 3))
    )
    print_ = dice.choice((half.fingerprint, half.flattened_fingerprint, f"print {label}"))
    return VersionPlan(
        label, print_, names, names[:1], dice.choice((names[:1], (), None)), blocks, is_inferred=dice.random() < 0.3
    )


def _called(dice: Random, id_: int, schema: Schema) -> str:
    named = str(id_), of_content(id_), of_global(id_), of_rabin(rabin_fingerprint(read_avro(schema)))
    return str(id_) if dice.random() < 0.8 else dice.choice(named)


def messages_of(dice: Random, world: World, count: int) -> list[Message]:
    """Draw messages."""
    return [_message(dice, world, offset) for offset in range(count)]


def _message(dice: Random, world: World, offset: int) -> Message:
    headers: Headers = [("trace", b"1")] if dice.random() < 0.15 else []
    if dice.random() < 0.05:
        headers.append(("__debezium.oldkey", dice.choice((b'{"id":1}', b"\0\0\0\0\1ab", None))))
    number = dice.randrange(len(world.values))
    value = _framed(dice, world, number, headers, "value")
    key = _framed(dice, world, number, headers if dice.random() < 0.7 else [], "key")
    return Message(
        topic=world.topics[number] if dice.random() < 0.9 else dice.choice(_TOPICS),
        partition=dice.choice((0, 1, 11)),
        offset=dice.choice((offset, offset, 10 ** dice.randrange(19))),
        key=dice.choice((None, b'{"id":5}', b"text", b'"', b"\0\0\0", key, key, key, key)),
        value=dice.choice((None, b'{"op":"c","after":{"id":1,"name":"x"}}', *[value] * 12)),
        headers=headers,
        timestamp=(
            dice.choice((TIMESTAMP_CREATE_TIME, TIMESTAMP_NOT_AVAILABLE)),
            dice.choice((0, 5, 1_634_052_484_031)),
        ),
    )


def _framed(dice: Random, world: World, number: int, headers: Headers, part: str) -> bytes:
    """Draw a value or key; headers get what names its schema, if there is anything in them already."""
    id_, schema = (world.values if part == "value" else world.keys)[number]
    body = Encoder(dice, schema).encoded()
    if dice.random() < 0.15:
        body = _broken(dice, body)
    if dice.random() < 0.05:
        id_ = dice.choice((11, 12, 77, 2**31))
        body = dice.choice((body, b'{"id":1,"name":"a"}'))
    if headers:
        name, written = f"__{part}_schema_id", dice.choice((str(id_).encode(), b"\0" + id_.to_bytes(4, "big")))
        apicurio = f"apicurio.{part}.{dice.choice(('contentId', 'globalId'))}", id_.to_bytes(8, "big")
        headers.append(dice.choice(((name, written), apicurio)))
        return body
    drawn = dice.random()
    if drawn < 0.9:
        is_long = (world.plan.framing == "apicurio8") != (dice.random() < 0.1)
        return b"\0" + id_.to_bytes(8 if is_long else 4, "big") + body
    return SINGLE_OBJECT + rabin_fingerprint(read_avro(schema)).to_bytes(8, "little") + body


def _broken(dice: Random, body: bytes) -> bytes:
    at = dice.randrange(len(body) + 1)
    more = dice.choice((b"", b"\0", b"\xff" * 10, b"\x80" * 12, dice.randbytes(3), b"\xfe\xff\xff\xff\x0f", b"\x01"))
    return dice.choice(
        (body[:at], body + more, body[:at] + more + body[at:], body[:at] + more + body[at + len(more) :])
    )


class Played(NamedTuple):
    """What a round came to: records, those that machine code mapped, and what differed."""

    records: int
    hits: int
    found: list[str]


def play(seed: str, count: int = 300, batches: int = 3) -> Played:
    """Play one round."""
    from tests.fuzz.kernels import Pair, Setting

    dice = Random(seed)
    world = draw_world(dice)
    pair = Pair(Setting(world.plan, dice.choice(("test", "production")), False, dice.choice((0, 0, 1, 2))))
    records = 0
    for _ in range(batches):
        batch = _batch(dice, messages_of(dice, world, dice.choice((1, count, count))))
        records += len(batch)
        found = pair.differ(batch)
        if found:
            return Played(records, pair.hits, [f"{seed}: {one}" for one in found])
    return Played(records, pair.hits, [])


def _batch(dice: Random, messages: list[Message]) -> RecordBatch:
    """Return messages as records, or as lines that hold their wrappers; some with only the first bytes."""
    choices: dict[str, Any] = {"limit_bytes": 400} if dice.random() < 0.1 else {}
    if dice.random() < 0.1:
        choices["topic"] = _TOPICS[0]
    records: RecordBatch = records_of(messages, **choices)
    if dice.random() < 0.4:
        records = Records.of(list(records), "f", sizes=[records.size(number) for number in range(len(records))])
    return records.first(len(records) // 2) if dice.random() < 0.1 else records


def differing_values(seed: str, count: int = 200) -> tuple[int, list[str]]:
    """Write values of one schema by machine code; return how many are as the reference writes them, and the others."""
    from metl_gui.engine.kernel.compiled.avro.records import Unframer

    dice = Random(seed)
    schema = Drawer(dice).row(_COLUMNS[: dice.randrange(1, 5)])
    encoder = Encoder(dice, schema)
    drawn = [encoder.encoded() for _ in range(count)]
    bodies = [_broken(dice, body) if dice.random() < 0.3 else body for body in drawn]
    made = [Message(topic="t", partition=0, offset=at, value=b"\0\0\0\0\1" + one) for at, one in enumerate(bodies)]
    records = records_of(made)
    wire = WireDecoder(
        Plan(1, "", (), wire=(WriterSchemaPlan("1", AVRO, json.dumps(schema), "t"),), framing="confluent")
    )
    reader, same, found = AvroReader(read_avro(schema)), 0, []
    written = Unframer(wire).of(records)
    assert isinstance(written, MessageRecords)
    for number, body in enumerate(bodies):
        after = written.value(number) or b""
        if after == records.value(number):
            continue
        try:
            wanted = reader.read(body)
        except RecordError as error:
            wanted = str(error).encode()
        is_same = after.endswith(b',"payload":' + wanted + b"}")
        same += is_same
        if not is_same:
            found.append(f"{seed}: {body!r} gives {after!r}, not {wanted!r}")
    return same, found


def main() -> int:
    """Play until the time is over."""
    if "--checked" in sys.argv:
        os.environ["METL_KERNEL_CHECKED"] = "1"
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    until, rounds, records, hits = time.monotonic() + seconds, 0, 0, 0
    while time.monotonic() < until:
        played = play(f"avro {time.time_ns()}")
        rounds, records, hits = rounds + 1, records + played.records, hits + played.hits
        found = [*played.found, *differing_values(f"avro {time.time_ns()}")[1]]
        if found:
            sys.stdout.write("\n".join(found[:5]) + "\n")
            return 1
    sys.stdout.write(f"{rounds} rounds, {records} records, {hits} by machine code, without a difference\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
