"""Topics as a person looks at them before a run: which there are, what lies in one, which are missing.

The client of Kafka is loaded when it is needed first. Whatever is shown of messages has its masked values hidden.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.runs.kafka import is_kafka, parse_address
from metl_gui.engine.checks.destinations import refuse_shared_places
from metl_gui.errors import RunError
from metl_gui.workbench.masked_messages import UNREADABLE, Masks
from metl_gui.workbench.profiles.saved_profiles import kafka_servers
from metl_gui.workbench.runs.mapping_run import RunRequest, prepare_run
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.core.runs.kafka import TopicPlan
    from metl_gui.engine.kafka.inspection import SeenMessage

_SHOWN = 20
_LONGEST = 4_000
_FRAMED_BYTES = 5


class TopicInfo(msgspec.Struct, frozen=True):
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


class TopicContents(msgspec.Struct, frozen=True):
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


def list_topics(servers: str) -> tuple[TopicInfo, ...]:
    """List the topics of servers, by name, without Kafka's own.

    Args:
        servers: ``kafka://host:port`` or ``kafka://@profile``.

    Raises:
        RunError: the servers do not answer or refuse, or there is no such profile.
    """
    from metl_gui.engine.kafka.inspection import partition_counts

    return tuple(TopicInfo(name, many) for name, many in partition_counts(kafka_servers(servers)).items())


def look_into(servers: str, topic: str, document: Document, watch: Watch) -> TopicContents:
    """Inspect the newest messages of a topic; nothing is committed, nobody notices.

    Args:
        servers: as of ``list_topics``.
        topic: which.
        document: what is masked in it is hidden in every message.
        watch: cancel.

    Raises:
        RunError: as of ``list_topics``.
    """
    from metl_gui.engine.kafka.inspection import newest_messages

    known, masks = kafka_servers(servers), Masks(document, None)
    found = newest_messages(known, topic, _SHOWN, lambda read: watch.step(f"Looking into {topic}", read))
    return TopicContents(topic, found.partitions, found.offsets, tuple(_shown(each, masks) for each in found.messages))


def topics_wanted(workbench: Workbench, request: RunRequest) -> tuple[TopicPlan, ...]:
    """Return which topics a run would write to that are not there yet, and how they would be made.

    Raises:
        UserError: the run cannot be prepared, or servers do not answer or refuse.
    """
    from metl_gui.engine.checks.topic_checks import refuse_loop, topics_to_create

    spec = prepare_run(workbench, request)
    refuse_loop(spec)
    refuse_shared_places(spec)
    return topics_to_create(spec)


def make_topics(request: RunRequest, plans: Sequence[TopicPlan]) -> int:
    """Make the topics of a run that were shown before, and return how many.

    Raises:
        RunError: the servers do not answer or refuse.
    """
    from metl_gui.engine.kafka.topics import create_topics

    sink = request.sink
    errors = parse_address(sink.errors).topics if is_kafka(sink.errors) else ()
    for place, is_errors in ((sink.address, False), (sink.errors, True)):
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


def _shown(seen: SeenMessage, masks: Masks) -> ShownMessage:
    text, kind = _read(seen.value, masks) if seen.value is not None else ("", "tombstone")
    key = _read(seen.key, masks)[0] if seen.key is not None else ""
    return ShownMessage(seen.position, seen.time_ms, key, text, kind)


def _read(raw: bytes, masks: Masks) -> tuple[str, str]:
    """Return bytes as people read them, and their kind."""
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
