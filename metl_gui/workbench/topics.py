"""Topics as a person looks at them before a run: which there are, what lies in one, which are missing.

The client of Kafka is loaded when it is needed first. Whatever is shown of messages has its masked values hidden.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from metl_gui.core.document import Document
from metl_gui.engine.kafka.servers import KafkaAddress, is_kafka, parse_address
from metl_gui.errors import RunError
from metl_gui.workbench.masking import UNREADABLE, Masks
from metl_gui.workbench.profiles import kafka_servers
from metl_gui.workbench.progress import Watch
from metl_gui.workbench.running import RunRequest, prepare_run
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from confluent_kafka import Message

    from metl_gui.engine.kafka.topics import TopicPlan

_INTERNAL = ("__consumer_offsets", "__transaction_state", "_schemas")
_SHOWN = 20
_LONGEST = 4_000
_PATIENCE_SECONDS = 8.0
_FRAMED_BYTES = 5


class TopicThere(msgspec.Struct, frozen=True):
    """A topic that there is."""

    name: str
    partitions: int


class ShownMessage(msgspec.Struct, frozen=True):
    """One message for people to look at.

    Args:
        position: ``topic/partition/offset``.
        time_ms: when the servers say it came, 0 where they do not.
        key, value: as text; empty for none.
        kind: ``text``, ``binary``, or ``tombstone`` for one without a value.
    """

    position: str
    time_ms: int
    key: str
    value: str
    kind: str


class TopicLook(msgspec.Struct, frozen=True):
    """What lies in a topic.

    Args:
        topic: its name.
        partitions: how many it has.
        offsets: how many offsets lie between their beginnings and ends; some may be holes.
        messages: the newest, newest first.
    """

    topic: str
    partitions: int
    offsets: int
    messages: tuple[ShownMessage, ...] = ()


def topics_there(servers: str) -> tuple[TopicThere, ...]:
    """List the topics of servers, by name, without Kafka's own.

    Args:
        servers: ``kafka://host:port`` or ``kafka://@profile``.

    Raises:
        RunError: the servers do not answer or refuse, or there is no such profile.
    """
    from metl_gui.engine.kafka.clients import ANSWER_SECONDS, Said, admin, in_words

    known, said = kafka_servers(servers), Said()
    with in_words(known, said):
        found = admin(known, said).list_topics(timeout=ANSWER_SECONDS).topics
    names = (name for name, topic in found.items() if topic.error is None and name not in _INTERNAL)
    return tuple(TopicThere(name, len(found[name].partitions)) for name in sorted(names))


def look_into(servers: str, topic: str, document: Document, watch: Watch) -> TopicLook:
    """Look at the newest messages of a topic; nothing is committed, nobody notices.

    Args:
        servers: as of ``topics_there``.
        topic: which.
        document: what is masked in it is hidden in every message.
        watch: cancel.

    Raises:
        RunError: as of ``topics_there``.
    """
    from metl_gui.engine.kafka.consuming import RangeReader, Wanted
    from metl_gui.engine.kafka.listing import Lister

    known = kafka_servers(servers)
    listed = Lister(known, KafkaAddress(topics=(topic,))).listed()
    watch.step(f"Looking into {topic}")
    each = -(-_SHOWN // max(len(listed), 1))
    wanted = [Wanted(topic, one.partition, max(one.begin, one.end - each), one.end) for one in listed]
    messages: list[Message] = []
    for batch in RangeReader(known, wanted, _PATIENCE_SECONDS).batches():
        messages += batch
        watch.step(f"Looking into {topic}", len(messages))
    messages.sort(key=_time_of, reverse=True)
    masks = Masks(document, None)
    shown = tuple(_shown(message, masks) for message in messages[:_SHOWN])
    return TopicLook(topic, len(listed), sum(one.end - one.begin for one in listed), shown)


def topics_wanted(workbench: Workbench, request: RunRequest) -> tuple[TopicPlan, ...]:
    """Say which topics a run would write to that are not there yet, and how they would be made.

    Raises:
        UserError: the run cannot be prepared, or servers do not answer or refuse.
    """
    from metl_gui.engine.kafka.checks import refuse_loop, topics_to_make

    spec = prepare_run(workbench, request)
    refuse_loop(spec)
    return topics_to_make(spec)


def make_topics(request: RunRequest, plans: Sequence[TopicPlan]) -> int:
    """Make the topics of a run that were shown before, and return how many.

    Raises:
        RunError: the servers do not answer or refuse.
    """
    from metl_gui.engine.kafka.topics import create_topics

    errors = parse_address(request.errors).topics if is_kafka(request.errors) else ()
    for place, is_errors in ((request.sink, False), (request.errors, True)):
        wanted = [plan for plan in plans if (plan.name in errors) is is_errors]
        if wanted:
            create_topics(kafka_servers(place), wanted)
    return len(plans)


def pattern_fits(pattern: str, names: Sequence[str]) -> list[str]:
    """Return the names that a pattern fits whole, as a run reads them.

    Raises:
        RunError: it is no regular expression.
    """
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise RunError("The pattern is no regular expression.", f"{error}.", "Write it like shop\\..*") from error
    return [name for name in names if compiled.fullmatch(name)]


def _time_of(message: Message) -> tuple[int, int]:
    kind, milliseconds = message.timestamp()
    return (milliseconds if kind else 0), message.offset() or 0


def _shown(message: Message, masks: Masks) -> ShownMessage:
    value, key = message.value(), message.key()
    position = f"{message.topic()}/{message.partition()}/{message.offset()}"
    text, kind = _read(value, masks) if value is not None else ("", "tombstone")
    return ShownMessage(position, _time_of(message)[0], _read(key, masks)[0] if key is not None else "", text, kind)


def _read(raw: bytes | str, masks: Masks) -> tuple[str, str]:
    """Return bytes as people read them, and their kind."""
    raw = raw.encode() if isinstance(raw, str) else raw
    if raw[:1] == b"\0" and len(raw) > _FRAMED_BYTES:
        number = int.from_bytes(raw[1:_FRAMED_BYTES], "big")
        return f"{len(raw):,} bytes, framed: schema {number:,} of the registry", "binary"
    hidden = masks.incoming(raw)
    if hidden is None:
        return UNREADABLE, "text"
    try:
        return hidden.decode()[:_LONGEST], "text"
    except UnicodeDecodeError:
        return f"{len(raw):,} bytes: {raw[:32].hex(' ')}", "binary"
