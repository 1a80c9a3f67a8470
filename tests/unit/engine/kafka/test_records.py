"""Messages of Kafka as records: columns, and wrappers that no value ends and in which nothing of a message is lost."""

from __future__ import annotations

import json

import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME, Message
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.engine.kafka.records import headers_json, records_of
from metl_gui.engine.kernel.compiled.layout import PADDING
from metl_gui.engine.kernel.message_records import MessageRecords, Parts
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.formats.record_wrapper import unwrap
from tests.fuzz.kafka_messages import play
from tests.fuzz.kernels import Pair, Setting

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
_CONTENTS = (
    st.none()
    | st.binary(max_size=60)
    | st.text(alphabet='{}[]",:\\ntrue017 \u00e9', max_size=40).map(str.encode)
    | _JSON.map(lambda value: json.dumps(value).encode())
)


def message(value: bytes | None, key: bytes | None = None, offset: int = 7, **more: object) -> Message:
    """Make a message as a consumer returns it."""
    given_: dict[str, object] = {"timestamp": (TIMESTAMP_CREATE_TIME, 1_634_052_484_031), "headers": [], **more}
    return Message(topic="shop.t", partition=2, offset=offset, key=key, value=value, **given_)  # type: ignore[arg-type]


@given(st.lists(st.tuples(_CONTENTS, _CONTENTS), min_size=1, max_size=8))
def test_every_wrapper_gives_back_the_bytes_of_its_own_message(
    contents: list[tuple[bytes | None, bytes | None]],
) -> None:
    messages = [message(value, key, offset) for offset, (key, value) in enumerate(contents)]
    records = records_of(messages)
    for offset, ((key, value), raw) in enumerate(zip(contents, records, strict=True)):
        for wrapped in (unwrap(raw), records.unwrapped(offset)):
            assert (wrapped.key, wrapped.value, wrapped.position) == (key, value, f"shop.t/2/{offset}")


@pytest.mark.parametrize("round_", range(3))
def test_both_kernels_make_of_messages_what_the_reference_makes_of_their_wrappers(round_: int) -> None:
    assert play(f"kafka {round_}") == []


def test_a_value_that_wants_to_end_its_wrapper_stays_the_text_of_a_value() -> None:
    (raw,) = records_of([message(b'1},"topic":"stolen","value":{"op":"c"}')])
    assert unwrap(raw).topic == "shop.t"
    assert unwrap(raw).value == b'1},"topic":"stolen","value":{"op":"c"}'


def test_an_object_stands_in_its_wrapper_byte_for_byte() -> None:
    value = b'{"sum": 1.50,"big":18446744073709551616,"text":"\\u00e9"}'
    (raw,) = records_of([message(value)])
    assert raw.endswith(b'"value":' + value + b"}")


def test_headers_of_one_name_all_stay_in_order_and_bytes_become_base64() -> None:
    assert headers_json([("a", b"1"), ("a", None), ("b", b"\0\1")]) == b'[["a","1"],["a",null],["b","AAE="]]'


def test_of_a_large_message_the_beginning_and_the_size_are_kept_with_its_position() -> None:
    records = records_of([message(b"{}", offset=1), message(b"x" * 5000, offset=2)], limit_bytes=1000)
    assert records.raw(0).endswith(b'"value":{}}')
    assert len(records.raw(1)) <= 1000 < records.size(1) == len(records.whole(1))
    assert [records.is_whole(number) for number in range(2)] == [True, False]
    assert records.position(1) == "shop.t/2/2"
    assert records.first(1).position(0) == "shop.t/2/1"


def test_the_bytes_of_a_batch_are_those_of_keys_and_values() -> None:
    records = records_of([message(b"12345", b"123"), message(None)])
    assert (records.bytes_in, records.first(1).bytes_in, records.chosen([1]).bytes_in) == (8, 8, 0)


def test_a_limit_is_that_of_the_wrapper_whatever_escapes_the_value_needs() -> None:
    one = message(b" " + b"\\" * 500)
    size = len(records_of([one]).raw(0))
    assert size > 1000
    for limit, is_whole in ((size, True), (size - 1, False)):
        records = records_of([one], limit_bytes=limit)
        assert (records.is_whole(0), records.size(0)) == (is_whole, size)


def test_chosen_messages_keep_what_each_has() -> None:
    messages = [message(b"{}" * number, offset=number, headers=[("n", b"%d" % number)]) for number in range(5)]
    records = records_of(messages)
    chosen: MessageRecords = records.chosen([3, 1])
    assert list(chosen) == [records.raw(3), records.raw(1)]
    assert [chosen.position(number) for number in range(2)] == ["shop.t/2/3", "shop.t/2/1"]


def test_a_topic_that_is_given_stands_in_wrappers_and_not_in_positions_of_the_batch() -> None:
    records = records_of([message(b"{}")], topic="shop.renamed")
    assert unwrap(records.raw(0)).position == records.unwrapped(0).position == "shop.renamed/2/7"
    assert records.position(0) == "shop.t/2/7"


def test_messages_at_no_place_or_offset_are_mapped_alike_by_both_kernels() -> None:
    value = b'{"op":"c","after":{"id":1}}'
    version = VersionPlan("1", "", ("id",), ("id",), ("id",), (BlockPlan("order", "1", (("id", "id"),)),))
    pair = Pair(Setting(Plan(17, "0" * 64, (SchemaPlan("shop.t", (version,)),)), "test"))
    columns = Parts(
        [("shop.t", 0), ("shop.t", -1), ("shop.t", 0), ("", 0)], [1, 2, -1001, 3], [5, -1, 5, 5],
        [None, b"", b"text", b'"'], [b"null"] * 4, [value] * 4,
    )  # fmt: skip
    for _ in range(3):
        assert pair.differ(MessageRecords.of(columns)) == []
    assert pair.hits > 0


def test_as_much_lies_behind_messages_as_machine_code_may_read_there() -> None:
    assert records_of([message(b"{}")]).buffer.endswith(b"{}" + bytes(PADDING))
