"""Messages in Avro through machine code: what it makes of them is what the reference makes of them."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from random import Random
from typing import Any, TypeAlias

import fastavro
import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME, Message

from metl_gui.core.project.writer_schemas import AVRO, of_content, of_global, of_rabin
from metl_gui.engine.kafka.records import records_of
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.kernel.message_records import RecordBatch
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan, WriterSchemaPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.formats.avro_types import rabin_fingerprint, read_avro
from metl_gui.formats.record_wrapper import SINGLE_OBJECT
from tests.fuzz.avro_messages import differing_values, play
from tests.fuzz.kernels import Pair, Setting

pytestmark = pytest.mark.skipif(not build.is_possible(), reason="numba is not installed")

TOPIC = "shop.public.orders"
KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "long"}]}
PRINT = rabin_fingerprint(read_avro(KEY)).to_bytes(8, "little")
COUNT = 40

Headers: TypeAlias = "list[tuple[str, str | bytes | None]]"


def envelope(*columns: str) -> dict[str, Any]:
    fields = [{"name": "id", "type": "long"}, *({"name": name, "type": ["null", "double"]} for name in columns)]
    row = {"type": "record", "name": "Value", "fields": fields}
    return {
        "type": "record",
        "name": "Envelope",
        "fields": [
            {"name": "before", "type": ["null", row]},
            {"name": "after", "type": ["null", "Value"]},
            {"name": "op", "type": "string"},
        ],
    }


def encoded(schema: Any, value: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    return stream.getvalue()


def plan(framing: str, *ids: str, versions: int = 1) -> Plan:
    names = [("id", *(f"c{number}" for number in range(version + 1))) for version in range(versions)]
    made = tuple(
        VersionPlan(str(number), "", of, of[:1], of[:1], (BlockPlan("order", "1", tuple((n, f"{n}_") for n in of)),))
        for number, of in enumerate(names)
    )
    wire = [
        WriterSchemaPlan(id_, AVRO, json.dumps(envelope(*of[1:])), TOPIC, str(number))
        for number, (id_, of) in enumerate(zip(ids, names, strict=False))
    ]
    key = WriterSchemaPlan(of_rabin(rabin_fingerprint(read_avro(KEY))), AVRO, json.dumps(KEY), TOPIC)
    return Plan(17, "0" * 64, (SchemaPlan(TOPIC, made),), wire=(*wire, key), framing=framing)


def messages(frame: bytes, numbers: list[float], headers: Headers | None = None) -> list[Message]:
    body = [{"before": None, "after": {"id": at, "c0": number}, "op": "u"} for at, number in enumerate(numbers)]
    return [
        Message(
            topic=TOPIC, partition=1, offset=at, timestamp=(TIMESTAMP_CREATE_TIME, 5), headers=headers or [],
            key=SINGLE_OBJECT + PRINT + encoded(KEY, {"id": at}), value=frame + encoded(envelope("c0"), one),
        )
        for at, one in enumerate(body)
    ]  # fmt: skip


def mapped(plan_: Plan, *batches: RecordBatch) -> list[int]:
    """Map batches by both kernels; return how many records machine code mapped of each."""
    pair, hits = Pair(Setting(plan_, "production")), [0]
    for records in batches:
        assert pair.differ(records) == []
        hits.append(pair.hits)
    assert pair.reference.map(batches[-1]).counts()["mapped"] == len(batches[-1])
    return [after - before for before, after in pairwise(hits)]


@pytest.mark.parametrize(
    ("framing", "id_", "frame", "headers"),
    [
        ("confluent", "7", b"\0\0\0\0\7", []),
        ("apicurio4", of_content(7), b"\0\0\0\0\7", []),
        ("apicurio8", of_global(7), b"\0\0\0\0\0\0\0\0\7", []),
        ("auto", "7", b"\0\0\0\0\7", []),
        ("auto", of_global(7), b"\0\0\0\0\0\0\0\0\7", []),
        ("auto", of_content(7), b"", [("apicurio.value.contentId", (7).to_bytes(8, "big"))]),
        ("none", "7", b"", [("__value_schema_id", b"7")]),
    ],
)
@pytest.mark.parametrize("is_of_kafka", [True, False])
def test_machine_code_maps_every_message_in_each_framing(
    framing: str, id_: str, frame: bytes, headers: Headers, is_of_kafka: bool
) -> None:
    records: RecordBatch = records_of(messages(frame, [1.5] * COUNT, headers))
    if not is_of_kafka:
        records = Records.of(list(records), "f")
    assert mapped(plan(framing, id_), records, records)[1] == COUNT


def test_numbers_that_only_python_writes_are_in_messages_of_machine_code() -> None:
    numbers = [1 / 3, 1e300, 5e-324, float("inf"), -0.0, 0.1 + 0.2, 4140.02, 1e7, 123456.7]
    records = records_of(messages(b"\0\0\0\0\7", numbers))
    assert mapped(plan("confluent", "7"), records, records)[1] == len(numbers)


def test_rows_of_two_schemas_with_the_same_columns_keep_the_versions_that_their_ids_are_attached_to() -> None:
    both = plan("confluent", "7", "8", versions=2)
    first = envelope("c0")
    wire = (
        WriterSchemaPlan("7", AVRO, json.dumps(first), TOPIC, "0"),
        WriterSchemaPlan("8", AVRO, json.dumps(first | {"name": "Other"}), TOPIC, "1"),
        both.wire[-1],
    )
    both = Plan(17, "0" * 64, both.schemas, wire=wire, framing="confluent")
    mixed = [
        one
        for pair in zip(messages(b"\0\0\0\0\7", [1.5] * COUNT), messages(b"\0\0\0\0\x08", [1.5] * COUNT), strict=True)
        for one in pair
    ]
    records = records_of(mixed)
    assert mapped(both, records, records)[1] == 2 * COUNT
    pair = Pair(Setting(both, "production"))
    assert pair.differ(records) == []
    assert pair.compiled.map(records).by_version == {f"{TOPIC}@0": COUNT, f"{TOPIC}@1": COUNT}


def test_a_batch_of_text_and_avro_and_broken_avro_keeps_its_order() -> None:
    whole = messages(b"\0\0\0\0\7", [1.5] * COUNT)
    broken = [
        Message(topic=TOPIC, partition=1, offset=at, key=one.key(), value=(one.value() or b"")[: 5 + at % 4])
        for at, one in enumerate(whole)
    ]
    text = [
        Message(topic=TOPIC, partition=1, offset=at, key=None, value=b'{"op":"c","after":{"id":%d,"c0":1.5}}' % at)
        for at in range(COUNT)
    ]
    dice = Random(5)
    pair = Pair(Setting(plan("confluent", "7"), "production"))
    for _ in range(3):
        drawn = [dice.choice(dice.choice((whole, broken, text))) for _ in range(3 * COUNT)]
        assert pair.differ(records_of(drawn)) == []
    assert pair.hits > 3 * COUNT


@pytest.mark.parametrize("number", range(12))
def test_both_kernels_make_the_same_of_a_round_of_hostile_avro(number: int) -> None:
    assert play(f"suite:{number}").found == []


def test_what_machine_code_writes_of_values_is_what_the_reference_writes_of_them() -> None:
    written = 0
    for number in range(60):
        same, found = differing_values(f"suite:{number}")
        assert found == []
        written += same
    assert written > 2_000, "most schemas have a program, and most of their bytes are whole"
