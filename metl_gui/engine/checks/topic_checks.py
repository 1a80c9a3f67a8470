"""What can be refused of topics before a run starts, in plain sentences, each with a way out.

Servers that do not answer, topics that are not there, rights that are lacking, and runs that would read what they
write. Rights are as the servers tell them; servers without access control tell of none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaException, TopicCollection

from metl_gui.core.runs.kafka import (
    ENTITY,
    KafkaAddress,
    KafkaServers,
    TopicPlan,
    is_kafka,
    parse_address,
    parse_start,
)
from metl_gui.core.runs.run_spec import Role, RunSpec
from metl_gui.engine.checks.destinations import entities_of
from metl_gui.engine.kafka.clients import ANSWER_SECONDS
from metl_gui.engine.kafka.offsets import Lister, start_offsets
from metl_gui.engine.kafka.topic_messages import topic_of
from metl_gui.engine.kafka.topics import ERRORS, MESSAGES, missing_topics, why_of
from metl_gui.errors import RunError

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

_NAMED = 3


def check_topics(spec: RunSpec, *, is_resumed: bool = False) -> None:
    """Check whether a run could start as far as it is in Kafka; nothing is made.

    Args:
        spec: the run.
        is_resumed: it goes on with a stream, which may outlive topics that it read.

    Raises:
        RunError: see above.
    """
    refuse_loop(spec)
    source, sink, errors = (spec.servers_of(role) for role in ("source", "sink", "errors"))
    if source is not None:
        _check_source(spec, source, is_resumed=is_resumed)
    for plan in topics_to_create(spec):
        servers = errors if plan.why == why_of(ERRORS) else sink
        raise RunError(
            f"Topic {plan.name} is not there.",
            f"{servers.shown if servers else ''} does not have it; it is for {plan.why}.",
            "Make it, or run again with --create-topics: it shows what it makes.",
        )
    if sink is not None:
        _check_rights(Lister(sink, KafkaAddress()).admin, sink, sink_topics(spec), "WRITE")
    if errors is not None:
        _check_rights(Lister(errors, KafkaAddress()).admin, errors, parse_address(spec.sink.errors).topics, "WRITE")


def topics_to_create(spec: RunSpec) -> tuple[TopicPlan, ...]:
    """Return which topics a run writes to are not there yet, and how they would be made.

    Raises:
        RunError: servers do not answer or refuse.
    """
    sink, errors = spec.servers_of("sink"), spec.servers_of("errors")
    found: tuple[TopicPlan, ...] = ()
    if sink is not None:
        found += missing_topics(sink, sink_topics(spec), MESSAGES)
    if errors is not None:
        found += missing_topics(errors, parse_address(spec.sink.errors).topics, ERRORS)
    return found


def sink_topics(spec: RunSpec) -> tuple[str, ...]:
    """Return the topics that the messages of a run go into; none where the sink is no topic."""
    if not is_kafka(spec.sink.address):
        return ()
    topic = _one_topic(spec, "sink")
    if not spec.mapping.plan or ENTITY not in topic:
        return () if ENTITY in topic else (topic,)
    return tuple(sorted({topic_of(topic, entity) for entity in entities_of(spec.mapping.plan)}))


def refuse_loop(spec: RunSpec) -> None:
    """Refuse a run that would read what it writes, or mix what it sends with what it sets aside; asks no server.

    Raises:
        RunError: the error names the topic.
    """
    for role in ("sink", "errors"):
        if is_kafka(spec.address_of(role)):
            _one_topic(spec, role)
    topics = sink_topics(spec)
    if is_kafka(spec.sink.errors):
        errors = parse_address(spec.sink.errors).topics
        if _is_same(spec, "sink", "errors") and errors[0] in topics:
            raise RunError(
                "Messages and set-aside records need different topics.",
                f"{errors[0]} would take both.",
                "Name another topic with --errors, such as metl.errors.",
            )
        if spec.source.replay is None:
            _refuse_reading(spec, "errors", errors)
    if is_kafka(spec.sink.address):
        _refuse_reading(spec, "sink", topics)


def _refuse_reading(spec: RunSpec, role: Role, written: Sequence[str]) -> None:
    if not is_kafka(spec.source.address) or not _is_same(spec, "source", role):
        return
    address = parse_address(spec.source.address)
    read = [topic for topic in written if topic in address.topics or _fits(address, topic)]
    if not read:
        return
    what = "messages" if role == "sink" else "records that are set aside"
    how = "the pattern of the source fits it" if address.pattern else "the source names it"
    raise RunError(
        f"The run would read what it writes to topic {read[0]}.",
        f"Its {what} go there, and {how}: what is written would come round again and again.",
        "Narrow the pattern of the source, or write to topics that it does not fit."
        if address.pattern
        else f"Name other topics with {'--sink' if role == 'sink' else '--errors'}.",
    )


def _fits(address: KafkaAddress, topic: str) -> bool:
    return bool(address.pattern) and re.fullmatch(address.pattern, topic) is not None


def _is_same(spec: RunSpec, one: Role, other: Role) -> bool:
    """Whether two places of a run are on the same servers, as far as their names tell."""
    mine, theirs = spec.servers_of(one), spec.servers_of(other)
    if mine is None or theirs is None:
        return False
    return bool(_hosts(mine) & _hosts(theirs))


def _hosts(servers: KafkaServers) -> frozenset[str]:
    return frozenset(host.strip().lower().replace("localhost:", "127.0.0.1:") for host in servers.bootstrap.split(","))


def _one_topic(spec: RunSpec, role: Role) -> str:
    """Return the topic that a run writes to.

    Raises:
        RunError: the address names none, several, or a pattern.
    """
    address = parse_address(spec.address_of(role))
    what = "messages" if role == "sink" else "set-aside records"
    if len(address.topics) != 1:
        raise RunError(
            f"Where {what} go is one topic.",
            f"{spec.address_of(role)} names {'a pattern' if address.pattern else len(address.topics) or 'none'}.",
            f"Write it like kafka://host:port/metl.{ENTITY if role == 'sink' else 'errors'}",
        )
    if role == "errors" and ENTITY in address.topics[0]:
        raise RunError("An error topic is one for all entities.", hint="Write it like kafka://host:port/metl.errors")
    return address.topics[0]


def _check_source(spec: RunSpec, servers: KafkaServers, *, is_resumed: bool) -> None:
    address = parse_address(spec.source.address)
    if not address.topics and not address.pattern:
        raise RunError(
            "The source names no topic.",
            f"{spec.source.address} is only where the servers are.",
            "Add topics, as in kafka://host:port/shop.public.orders, or a pattern: kafka://host:port/^shop\\..*",
        )
    start = parse_start(spec.source.start)
    lister = Lister(servers, address, is_strict=not (spec.source.follow and (address.pattern or is_resumed)))
    partitions = lister.listed()
    _check_rights(lister.admin, servers, {one.topic for one in partitions}, "READ")
    if start.kind == "offsets" and spec.source.replay is None:
        start_offsets(lister, partitions, start)


def _check_rights(client: AdminClient, servers: KafkaServers, topics: Iterable[str], right: str) -> None:
    """Ask what this user may do with topics.

    Raises:
        RunError: a right is lacking; the error names the topics.
    """
    names = sorted(topics)
    if not names:
        return
    lacking = [name for name, rights in _rights(client, names).items() if rights and right not in rights]
    if not lacking:
        return
    verb = "read" if right == "READ" else "write to"
    more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
    raise RunError(
        f"You may not {verb} topic {lacking[0]}.",
        f"{servers.shown} gives this user no right to {verb} {', '.join(lacking[:_NAMED])}{more}.",
        f"Ask whoever runs the servers for the right {right.title()}, or name a profile of another user.",
    )


def _rights(client: AdminClient, names: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return what may be done with each topic; nothing for those of which the servers do not say."""
    try:
        futures = client.describe_topics(
            TopicCollection(list(names)), include_authorized_operations=True, request_timeout=ANSWER_SECONDS
        )
    except (KafkaException, ValueError):
        return {}
    return {name: _told(future) for name, future in futures.items()}


def _told(future: Any) -> frozenset[str]:
    try:
        operations = future.result().authorized_operations
    except (KafkaException, ValueError):
        return frozenset()
    return frozenset(operation.name for operation in operations or ())
