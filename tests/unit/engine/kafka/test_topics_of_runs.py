"""What can be said of topics without a broker: where runs begin, how batches are shared out, which runs are refused."""

from __future__ import annotations

import socket

import msgspec
import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME, Message
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.runs.kafka import LOAD_TOPICS, REPLAY_TOPICS, KafkaServers, parse_start
from metl_gui.core.runs.limits import LIMIT_BYTES
from metl_gui.core.runs.run_spec import ReplayOrder, RunSpec
from metl_gui.engine.checks.topic_checks import check_topics, refuse_loop, sink_topics
from metl_gui.engine.kafka import offsets
from metl_gui.engine.kafka.consumer import OffsetRange
from metl_gui.engine.kafka.topic_messages import set_aside_message
from metl_gui.engine.kafka.topic_orders import WaitingRecords
from metl_gui.engine.kernel.outcomes import SetAside, error_row
from metl_gui.engine.lanes.coordination.records import topic_of
from metl_gui.engine.lanes.order import lane_topic
from metl_gui.engine.sources.topic_records import SetAsideMessage, messages_of
from metl_gui.engine.sources.topic_source import ErrorTopicSource, TopicSource, cut_partitions
from metl_gui.engine.streaming.topic_planner import shared_out
from metl_gui.engine.tasks.error_topic import newest
from metl_gui.errors import RecordError, RunError
from tests.helpers.event_files import order_plan
from tests.helpers.run_specs import run_spec

_RANGES = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=12)


def wanted_of(ranges: list[tuple[int, int]]) -> list[OffsetRange]:
    return [OffsetRange("t", number, start, start + length) for number, (start, length) in enumerate(ranges)]


def spec_of(source: str = "", sink: str = "noop", errors: str = "", host: str = "h:1") -> RunSpec:
    topics = [place for place in (source, sink, errors) if place.startswith("kafka://")]
    servers = tuple(KafkaServers(bootstrap=host) for _ in topics)
    return run_spec(
        run_id="r", plan=order_plan(), source=source, sink=sink, errors=errors, folder="/run", servers=servers
    )


@given(_RANGES, st.integers(1, 10**6))
def test_a_batch_takes_from_every_partition_and_no_more_than_its_room(ranges: list[tuple[int, int]], room: int) -> None:
    wanted = [one for one in wanted_of(ranges) if one.start < one.stop]
    shares = shared_out(wanted, room)
    lengths = [one.stop - one.start for one in shares]
    assert all(length >= 1 for length in lengths)
    assert [one.start for one in shares] == [one.start for one in wanted]
    assert all(share.stop <= one.stop for share, one in zip(shares, wanted, strict=True))
    assert sum(lengths) == min(sum(one.stop - one.start for one in wanted), max(room, len(wanted)))


@given(_RANGES, st.integers(0, 8), st.booleans())
def test_tasks_read_every_offset_once_and_a_partition_at_one_place_each(
    ranges: list[tuple[int, int]], cores: int, is_ordered: bool
) -> None:
    files, tasks = cut_partitions(wanted_of(ranges), cores, is_ordered=is_ordered)
    parts = [(files[part.file].name, part.start, part.stop) for task in tasks for part in task]
    for number, (start, length) in enumerate(ranges):
        own = [(begin, end) for name, begin, end in parts if name == f"t/{number}"]
        assert [begin for begin, _ in own] == ([start, *(end for _, end in own[:-1])] if length else [])
        assert not own or own[-1][1] == start + length
        assert not is_ordered or len(own) <= 1
    assert all(len({part.file for part in task}) == len(task) for task in tasks)
    assert cores or len(tasks) == 1


def test_a_start_is_read_as_people_write_it() -> None:
    assert parse_start("").kind == "earliest"
    assert parse_start(" Latest ").kind == "latest"
    assert parse_start("1970-01-01T00:00:01Z").time_ms == parse_start("1970-01-01T00:00:01").time_ms == 1000
    assert parse_start("a.b/0/7, a.b/1/9").offsets == {("a.b", 0): 7, ("a.b", 1): 9}
    for wrong in ("yesterday", "a/b", "a/0/7,b", "a/0/-1"):
        with pytest.raises(RunError):
            parse_start(wrong)


@pytest.mark.parametrize("text", ["1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00+01:00", "0001-01-01"])
def test_a_start_before_kafka_counts_times_is_refused(text: str) -> None:
    assert parse_start("1970-01-01T00:00:00Z").time_ms == 0
    with pytest.raises(RunError, match="before 1970") as refused:
        parse_start(text)
    assert "earliest" in refused.value.hint


@pytest.mark.parametrize(
    ("source", "sink", "errors", "said"),
    [
        ("kafka://h:1/a,b", "kafka://h:1/b", "", "would read what it writes to topic b"),
        ("kafka://h:1/^metl\\..*", "kafka://h:1/metl.{entity}", "", "would read what it writes to topic metl.order"),
        ("kafka://h:1/^.*", "noop", "kafka://h:1/aside", "would read what it writes to topic aside"),
        ("kafka://h:1/a", "kafka://h:1/out", "kafka://h:1/out", "need different topics"),
        ("kafka://h:1/a", "kafka://h:1/x,y", "", "one topic"),
        ("kafka://h:1/a", "kafka://h:1/^x", "", "one topic"),
        ("kafka://h:1/a", "noop", "kafka://h:1/e.{entity}", "one for all entities"),
    ],
)
def test_a_run_that_would_read_what_it_writes_or_mix_it_is_refused_before_anybody_is_asked(
    source: str, sink: str, errors: str, said: str
) -> None:
    with pytest.raises(RunError, match=said) as refused:
        refuse_loop(spec_of(source, sink, errors))
    assert refused.value.hint


def test_topics_of_the_same_name_on_other_servers_and_patterns_beside_the_sink_are_no_loop() -> None:
    refuse_loop(spec_of("kafka://h:1/^shop\\..*", "kafka://h:1/metl.{entity}", "kafka://h:1/metl.errors"))
    apart = spec_of("kafka://h:1/a", "kafka://h:2/a")
    servers = (KafkaServers(bootstrap="h:1"), KafkaServers(bootstrap="h:2"))
    refuse_loop(msgspec.structs.replace(apart, servers=servers))


def test_the_topics_of_a_sink_are_those_of_the_entities_that_are_mapped_to() -> None:
    assert sink_topics(spec_of(sink="kafka://h:1/metl.{entity}.v1")) == ("metl.order.v1", "metl.remark.v1")
    assert sink_topics(spec_of(sink="kafka://h:1/all")) == ("all",)
    assert sink_topics(spec_of(sink="noop")) == ()


def test_servers_that_do_not_answer_are_named_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offsets, "ANSWER_SECONDS", 1.0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(RunError, match="do not answer") as refused:
            check_topics(spec_of(f"kafka://{host}/a", host=host))
    assert host in refused.value.text
    assert "metl profile add" in refused.value.hint


def set_aside(headers: list[tuple[str, str | bytes | None]], reason: str = "malformed") -> Message:
    """Make what an error topic holds of a record."""
    own = Message(
        topic="shop.t", key=b"\xff", value=b"v", headers=headers, timestamp=(TIMESTAMP_CREATE_TIME, 1_700_000_000_000)
    )
    text = error_row(RecordError(reason, "why"), 7, ("s", "1", "shop.t/2/9"), b"v")
    made = set_aside_message("errors", SetAside(0, reason, text), own)
    told: list[tuple[str, str | bytes | None]] = [
        (name, value.encode() if isinstance(value, str) else value) for name, value in made.headers
    ]
    return Message(topic="errors", partition=1, offset=40, key=made.key, value=made.value, headers=told)


@pytest.mark.parametrize(
    "headers", [[], [("trace", b"\x00")], [("metl.reason", b"fake"), ("metl.position", b"other/0/1")]]
)
def test_a_record_comes_back_from_an_error_topic_as_it_was_whatever_its_own_headers_say(
    headers: list[tuple[str, str | bytes | None]],
) -> None:
    found = SetAsideMessage.of(set_aside(headers))
    assert (found.topic, found.partition, found.offset, found.time) == ("shop.t", 2, 9, 1_700_000_000_000)
    assert (found.key, found.value, found.headers, found.reason) == (b"\xff", b"v", headers, "malformed")


@pytest.mark.parametrize("position", ["t/0/" + "9" * 20, "t/0/" + "9" * 5_000, "t/4294967296/1", "t/0/\u0663"])
def test_a_place_that_no_topic_has_makes_a_record_one_of_the_error_topic_itself(position: str) -> None:
    headers = [("metl.reason", b"malformed"), ("metl.timestamp", b"9" * 20), ("metl.position", position.encode())]
    message = Message(topic="errors", partition=1, offset=40, value=b"v", headers=[*headers])
    found = SetAsideMessage.of(message)
    assert (found.topic, found.partition, found.offset, found.time) == ("errors", 1, 40, -1)
    assert messages_of([found]).offsets.tolist() == [40]
    assert found.message().offset() == 40


def test_a_place_that_no_file_has_is_a_name_as_it_stands() -> None:
    headers = [("metl.reason", b"malformed"), ("metl.form", b"record"), ("metl.position", b"f@" + b"9" * 20)]
    found = SetAsideMessage.of(Message(topic="errors", partition=1, offset=40, value=b"v", headers=[*headers]))
    assert (found.is_record, found.topic, found.offset) == (True, "f@" + "9" * 20, 0)


@pytest.mark.parametrize(
    ("waiting", "is_meant"),
    [
        (WaitingRecords(), True),
        (WaitingRecords(("malformed",)), True),
        (WaitingRecords(("unknown_version",)), False),
        (WaitingRecords(behind={"errors/1": {"": 40}}), True),
        (WaitingRecords(behind={"errors/1": {"": 41}}), False),
        (WaitingRecords(behind={"errors/1": {"malformed": 41}}), False),
        (WaitingRecords(behind={"errors/1": {"unknown_version": 99}}), True),
        (WaitingRecords(behind={"errors/0": {"": 99}}), True),
        (WaitingRecords(behind={"errors/1": {"": 99}}, is_again=True), True),
    ],
)
def test_a_replay_reads_what_lies_behind_neither_all_replays_nor_those_of_its_reason(
    waiting: WaitingRecords, is_meant: bool
) -> None:
    assert SetAsideMessage.of(set_aside([])).is_meant(waiting) is is_meant


@pytest.mark.parametrize(
    ("marks", "start", "is_meant"),
    [
        ({}, 0, True),
        ({"": 99}, 0, True),
        ({"malformed": 99}, 0, True),
        ({"": 99, "too_large": 30}, 30, True),
        ({"": 99, "too_large": 41}, 41, False),
    ],
)
def test_what_was_too_large_waits_until_a_replay_has_read_it_however_far_others_are(
    monkeypatch: pytest.MonkeyPatch, marks: dict[str, int], start: int, is_meant: bool
) -> None:
    large = SetAsideMessage.of(set_aside([], "too_large"))
    for reasons, limit in ((("too_large",), LIMIT_BYTES), ((), 2 * LIMIT_BYTES)):
        replay = error_source(monkeypatch, reasons, limit, marks)
        assert [one.start for one in replay.wanted] == [start]
        waiting = replay.topics.waiting
        assert waiting is not None
        assert large.is_meant(waiting) is is_meant


@pytest.mark.parametrize(
    ("reasons", "limit", "marked"),
    [
        ((), LIMIT_BYTES, {"": 100}),
        ((), 2 * LIMIT_BYTES, {"": 100, "too_large": 100}),
        (("malformed",), LIMIT_BYTES, {"malformed": 100}),
        (("too_large",), LIMIT_BYTES, {"too_large": 100}),
    ],
)
def test_a_replay_marks_what_it_has_read_and_nothing_that_it_left_out(
    monkeypatch: pytest.MonkeyPatch, reasons: tuple[str, ...], limit: int, marked: dict[str, int]
) -> None:
    replay, found = error_source(monkeypatch, reasons, limit, {}, is_marked=True), dict[str, int]()
    monkeypatch.setattr(replay, "_commit", lambda reason, offsets: found.update({reason: offsets[0].offset}))
    replay.after_commit()
    assert found == marked


def error_source(
    monkeypatch: pytest.MonkeyPatch,
    reasons: tuple[str, ...],
    limit: int,
    marks: dict[str, int],
    *,
    is_marked: bool = False,
) -> ErrorTopicSource:
    """Return a replay of an error topic with 100 records in its partition 1, of which earlier ones have left marks."""

    def listed(source: TopicSource, _spec: RunSpec) -> None:
        source.servers, source.notes = KafkaServers(bootstrap="127.0.0.1:1"), ()
        source.wanted = [OffsetRange("errors", 1, 0, 100)]

    def committed(_self: ErrorTopicSource, reason: str, _places: object) -> dict[str, int]:
        return {"errors/1": marks[reason]} if reason in marks else {}

    monkeypatch.setattr(TopicSource, "__init__", listed)
    monkeypatch.setattr(ErrorTopicSource, "_known_reasons", lambda _self: sorted(marks))
    monkeypatch.setattr(ErrorTopicSource, "_committed", committed)
    spec = run_spec(source="kafka://127.0.0.1:1/errors", max_record_bytes=limit)
    source = msgspec.structs.replace(spec.source, replay=ReplayOrder(reasons=reasons))
    return ErrorTopicSource(msgspec.structs.replace(spec, source=source), is_marked=is_marked)


def test_what_nobody_set_aside_is_no_record_of_an_error_topic() -> None:
    stranger = Message(topic="errors", partition=0, offset=1, value=b"v", headers=[("metl.state", b"7")])
    assert not SetAsideMessage.of(stranger).is_meant(WaitingRecords())


def test_the_newest_records_of_an_error_topic_are_found_in_whatever_partition_they_lie() -> None:
    def lying(partition: int, offset: int, when: int, reason: str) -> Message:
        told = {"metl.reason": reason, "metl.position": f"t/{partition}/{offset}"}
        headers: list[tuple[str, str | bytes | None]] = [(name, value.encode()) for name, value in told.items()]
        stamp = (TIMESTAMP_CREATE_TIME, when)
        return Message(topic="errors", partition=partition, offset=offset, value=b"v", headers=headers, timestamp=stamp)

    stranger = Message(topic="errors", partition=0, offset=9, value=b"v", timestamp=(TIMESTAMP_CREATE_TIME, 99))
    messages = [
        *(lying(0, at, 50 + at, "malformed") for at in range(3)),
        stranger,
        *(lying(1, at, 40, "type_mismatch") for at in range(2)),
    ]
    assert [one.position for one in newest(messages, 4)] == ["t/0/2", "t/0/1", "t/0/0", "t/1/1"]
    assert [one.position for one in newest(messages, 4, "type_mismatch")] == ["t/1/1", "t/1/0"]
    assert [one.position for one in newest(messages, 4, place="t/0/1")] == ["t/0/1"]
    assert not newest(messages, 4, "malformed", "t/1/0")


def test_a_pattern_fits_no_topic_by_which_lanes_agree_and_talk_and_every_other_whole() -> None:
    names = (f"{LOAD_TOPICS}orders", f"{REPLAY_TOPICS}production.metl.errors")
    own = (lane_topic("metl-r"), topic_of("5f0a8136-e2d9-443f-aa32-e94254a82945"), *names)
    others = {"metl.state", "metl.order.state", "metl.errors", "metl.laneway", "shop.public.orders"}
    assert offsets.fitting(".*", [*own, *others, "__consumer_offsets", "_schemas"]) == others
    assert offsets.fitting("shop", others) == set()
