"""What lies in an error topic, as rows of an error store: for people, and for finding versions nobody has imported."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Final, Literal

from metl_gui.core.runs.kafka import KafkaServers, parse_address
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.core.runs.run_spec import (
    NOOP,
    MappingSpec,
    ReplayOrder,
    RunPolicy,
    RunSpec,
    SinkSpec,
    SourceSpec,
)
from metl_gui.engine.kafka.consumer import OffsetRange, RangeReader
from metl_gui.engine.kafka.offsets import Lister
from metl_gui.engine.kafka.topic_messages import DETAIL, POSITION, SCHEMA, VERSION
from metl_gui.engine.kafka.topic_orders import WaitingRecords
from metl_gui.engine.sources.topic_records import SetAsideMessage, messages_of
from metl_gui.engine.sources.topic_source import ErrorTopicSource

if TYPE_CHECKING:
    from confluent_kafka import Message

MOST_OFFSETS: Final = 20_000
"""So many of a partition are looked at, the newest; an error topic may hold those of years."""


def rows_of_topic(servers: KafkaServers, address: str, reasons: Collection[str]) -> Iterator[SetAsideRecord]:
    """Yield what was set aside for some reasons, each as the record that it was.

    Args:
        servers: where the topic is.
        address: its address.
        reasons: which.

    Order: of each partition as it holds them, the newest ``MOST_OFFSETS``.

    Raises:
        RunError: the servers do not answer or refuse, or the topic is not there.
    """
    for batch in _newest_batches(servers, address):
        # One that is not whole, or that no run of ours wrote, is none of them.
        found = [one for one in map(SetAsideMessage.of, batch) if one.reason in reasons and not one.is_cut]
        for one, raw in zip(found, _whole(found), strict=True):
            yield _row(one, raw)


def newest_of_topic(
    servers: KafkaServers, address: str, count: int, reason: str = "", place: str = ""
) -> list[SetAsideRecord]:
    """Return what was set aside last, each as the record that it was; see ``newest``.

    Args:
        servers: where the topic is.
        address: its address.
        count, reason, place: as of ``newest``.

    Raises:
        RunError: the servers do not answer or refuse, or the topic is not there.
    """
    return newest(chain.from_iterable(_newest_batches(servers, address)), count, reason, place)


def newest(messages: Iterable[Message], count: int, reason: str = "", place: str = "") -> list[SetAsideRecord]:
    """Return the newest messages of an error topic as records, in whatever order its partitions give them.

    Args:
        messages: of the topic.
        count: how many records.
        reason: only those of this reason; of all when empty.
        place: only the record of this position; all when empty.

    Order: the newest first.
    """
    found = (((each.timestamp()[1], each.offset() or 0), SetAsideMessage.of(each)) for each in messages)
    wanted = (
        (when, one)
        for when, one in found
        if one.reason and not one.is_cut and reason in ("", one.reason) and place in ("", one.told.get(POSITION))
    )
    kept = [one for _, one in heapq.nlargest(count, wanted, key=itemgetter(0))]
    return [_row(one, raw) for one, raw in zip(kept, _whole(kept), strict=True)]


def _newest_batches(servers: KafkaServers, address: str) -> Iterator[list[Message]]:
    listed = Lister(servers, parse_address(address)).listed()
    wanted = [OffsetRange(one.topic, one.partition, max(one.begin, one.end - MOST_OFFSETS), one.end) for one in listed]
    yield from RangeReader(servers, wanted).batches()


def what_waits_in_topic(
    servers: KafkaServers, address: str, mode: Literal["test", "production"]
) -> tuple[tuple[str, ...], bool]:
    """Look what a replay would find in an error topic, among its newest records.

    Args:
        servers: where the topic is.
        address: its address.
        mode: of the replay.

    Returns:
        What the records were set aside for, and whether nothing was replayed so far.

    Raises:
        RunError: the servers do not answer or refuse, or the topic is not there.
    """
    spec = RunSpec(
        run_id="",
        source=SourceSpec(address=address, replay=ReplayOrder()),
        sink=SinkSpec(address=NOOP),
        mapping=MappingSpec(),
        policy=RunPolicy(mode=mode),
        servers=(servers,),
    )
    source = ErrorTopicSource(spec)
    waiting = WaitingRecords((), source.behind, is_again=False, is_with_large=False)
    wanted = [one._replace(start=max(one.start, one.stop - MOST_OFFSETS)) for one in source.wanted]
    found = {
        one.reason
        for batch in RangeReader(servers, wanted).batches()
        for one in map(SetAsideMessage.of, batch)
        if one.is_meant(waiting) and not one.is_cut
    }
    return tuple(sorted(found)), bool(found) and not source.behind


def _row(one: SetAsideMessage, raw: bytes) -> SetAsideRecord:
    told = one.told
    return SetAsideRecord(
        reason=one.reason,
        detail=told.get(DETAIL, ""),
        schema=told.get(SCHEMA) or None,
        version=told.get(VERSION) or None,
        position=told.get(POSITION) or None,
        raw=raw.decode("utf-8", "replace"),
    )


def _whole(found: Sequence[SetAsideMessage]) -> Iterator[bytes]:
    """Yield each message as the record that it was."""
    messages = iter(messages_of([one for one in found if not one.is_record]))
    for one in found:
        yield one.value or b"" if one.is_record else next(messages)
