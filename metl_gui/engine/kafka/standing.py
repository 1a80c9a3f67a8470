"""How many rows stand in a topic of the sink, counted as every consumer that keeps rows should count them.

A message with a lower source position never stands in the place of one with a higher one, and what a delete took away
stands no more (contract.md §5). Positions of one key are of one partition, so that their offsets tell the order.
"""

from __future__ import annotations

from typing import Any

import msgspec

from metl_gui.engine.kafka.consuming import RangeReader, Wanted
from metl_gui.engine.kafka.listing import Lister
from metl_gui.engine.kafka.servers import KafkaServers, parse_address


class _Source(msgspec.Struct, gc=False):
    position: str


class _Sent(msgspec.Struct, gc=False):
    op: str
    source: _Source
    key: Any = None


_sent = msgspec.json.Decoder(_Sent).decode


def rows_standing(servers: KafkaServers, address: str) -> int:
    """Count the rows that messages of one entity leave.

    Args:
        servers: where the topic is.
        address: its address.

    Raises:
        RunError: the servers do not answer or refuse.
    """
    newest: dict[bytes, tuple[int, bool]] = {}
    listed = Lister(servers, parse_address(address), is_strict=False).listed()
    wanted = [Wanted(one.topic, one.partition, one.begin, one.end) for one in listed]
    for batch in RangeReader(servers, wanted).batches():
        for message in batch:
            value = message.value()
            if value is None:
                continue
            sent = _sent(value)
            key, offset = msgspec.json.encode(sent.key), int(sent.source.position.rpartition("/")[2])
            if offset >= newest.get(key, (-1, False))[0]:
                newest[key] = offset, sent.op != "d"
    return sum(stands for _, stands in newest.values())
