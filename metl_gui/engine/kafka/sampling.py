"""The first records of topics, as files of records hold them: a tree can be set up from them before any is mapped."""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.engine.kafka.consuming import RangeReader, Wanted
from metl_gui.engine.kafka.listing import Lister
from metl_gui.engine.kafka.records import records_of
from metl_gui.engine.kafka.servers import KafkaAddress, KafkaServers


def first_records(servers: KafkaServers, topics: Sequence[str], count: int) -> list[bytes]:
    """Read the first records of topics; nothing is committed, nobody notices.

    Args:
        servers: where the topics are.
        topics: their names; one that is not there yet has no records.
        count: how many of each partition at most.

    Returns:
        Each record as one line of JSON without its end.

    Raises:
        RunError: the servers do not answer or refuse.
    """
    listed = Lister(servers, KafkaAddress(topics=tuple(topics)), is_strict=False).listed()
    wanted = [Wanted(one.topic, one.partition, one.begin, min(one.begin + count, one.end)) for one in listed]
    lines: list[bytes] = []
    for batch in RangeReader(servers, wanted).batches():
        records = records_of(batch)
        places = zip(records.starts.tolist(), records.stops.tolist(), strict=True)
        lines += [bytes(records.buffer[start:stop]) for start, stop in places]
    return lines
