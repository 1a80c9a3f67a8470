"""Topics that a run writes to: which are missing and how they would be made, what they take, and making them.

Nothing is made that was not shown before.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import ConfigResource, NewTopic, ResourceType  # type: ignore[attr-defined]  # as in listing

from metl_gui.core.runs.kafka import KafkaAddress, KafkaServers, TopicPlan
from metl_gui.engine.kafka.clients import ANSWER_SECONDS, ClientErrorLog, admin, explained, in_words
from metl_gui.engine.kafka.topic_messages import topic_of
from metl_gui.engine.kafka.topic_orders import TopicOrder
from metl_gui.errors import RunError

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

MESSAGES: Final = "messages"
ERRORS: Final = "errors"
_ERROR_DAYS = 30
_DAY_MS = 24 * 3600 * 1000
_ERROR_BYTES = 8 << 20
_MANY = 100
_LOOK_SECONDS = 0.1
_AGAIN_SECONDS = 1.0


def why_of(kind: str) -> str:
    """Describe what a topic of a kind is for."""
    return "records that are set aside" if kind == ERRORS else "messages of the mapping"


def missing_topics(
    servers: KafkaServers, names: Iterable[str], kind: str = MESSAGES, partitions: int = -1
) -> tuple[TopicPlan, ...]:
    """Return which topics are not there, and how they would be made.

    Args:
        servers: where they should be.
        names: the topics.
        kind: ``MESSAGES``, or ``ERRORS`` for what is set aside: kept for a month, and taking larger messages.
        partitions: how many they should have; -1 for what the servers are set to.

    Raises:
        RunError: the servers do not answer or refuse.
    """
    said = ClientErrorLog()
    with in_words(servers, said):
        client = admin(servers, said)
        cluster, missing = _looked_for(client, tuple(dict.fromkeys(names)), _AGAIN_SECONDS)
    if not missing:
        return ()
    defaults = _broker_settings(client, cluster.controller_id if cluster.controller_id >= 0 else min(cluster.brokers))
    wide = partitions if partitions > 0 else _number(defaults.get("num.partitions"))
    copies = _number(defaults.get("default.replication.factor"))
    settings: tuple[tuple[str, str], ...] = ()
    if kind == ERRORS:
        settings = (("max.message.bytes", str(_ERROR_BYTES)), ("retention.ms", str(_ERROR_DAYS * _DAY_MS)))
    return tuple(TopicPlan(name, wide, copies, settings, why_of(kind)) for name in missing)


def create_topics(servers: KafkaServers, plans: Sequence[TopicPlan]) -> None:
    """Make topics, and wait until the servers show them; one that somebody made meanwhile is as good.

    Raises:
        RunError: the servers do not answer or refuse; the error names the topic.
    """
    said = ClientErrorLog()
    with in_words(servers, said):
        client = admin(servers, said)
        wanted = [NewTopic(plan.name, plan.partitions, plan.replication, config=dict(plan.settings)) for plan in plans]
        made = client.create_topics(wanted, request_timeout=ANSWER_SECONDS) if wanted else {}
    for name, future in made.items():
        try:
            future.result()
        except KafkaException as error:
            if error.args[0].code() == error.args[0].TOPIC_ALREADY_EXISTS:
                continue
            reason = explained(servers, error, said)
            raise RunError(
                f"Topic {name} cannot be made.", f"{reason.title} {reason.text}", reason.hint or "Make it yourself."
            ) from error
    if made:
        with in_words(servers, said):
            _looked_for(client, tuple(made), ANSWER_SECONDS)


def topic_settings(servers: KafkaServers, names: Iterable[str]) -> dict[str, Mapping[str, str]]:
    """Ask for the settings of topics; of those that are not there, or that this user may not see, nothing is known."""
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in dict.fromkeys(names)]
    found: dict[str, Mapping[str, str]] = {}
    if not resources:
        return found
    try:
        client = admin(servers)
        for at in range(0, len(resources), _MANY):
            some = resources[at : at + _MANY]
            for resource, future in client.describe_configs(some, request_timeout=ANSWER_SECONDS).items():
                settings = _settings_of(future)
                if settings:
                    found[resource.name] = settings
    except KafkaException:
        return found
    return found


def topic_order(
    servers: KafkaServers, address: KafkaAddress, entities: Iterable[str], *, has_tombstones: bool = False
) -> TopicOrder:
    """Return where messages of entities, or set-aside records, go, and what those topics take.

    Args:
        servers: where the topics are.
        address: names the topic, which may hold ``{entity}``.
        entities: what is mapped to; none for an error topic.
        has_tombstones: send a null value after each delete.
    """
    topic = address.topics[0]
    settings = topic_settings(servers, sorted({topic_of(topic, entity) for entity in entities} or {topic}))
    limits = {name: _number(found.get("max.message.bytes")) for name, found in settings.items()}
    return TopicOrder(
        servers=servers,
        topic=topic,
        limits={name: limit for name, limit in limits.items() if limit > 0},
        compacted=tuple(name for name, found in settings.items() if "compact" in found.get("cleanup.policy", "")),
        has_tombstones=has_tombstones,
    )


def _looked_for(client: AdminClient, names: Sequence[str], seconds: float) -> tuple[Any, list[str]]:
    """Search for topics, again for a while where one is missing: one that was just made is shown a moment later.

    Returns:
        What the servers have, and the names that are not among it.
    """
    end = time.monotonic() + seconds
    while True:
        cluster = client.list_topics(timeout=ANSWER_SECONDS)
        missing = [name for name in names if _is_missing(cluster.topics, name)]
        if not missing or time.monotonic() > end:
            return cluster, missing
        time.sleep(_LOOK_SECONDS)


def _is_missing(there: Mapping[str, Any], name: str) -> bool:
    return name not in there or there[name].error is not None


def _broker_settings(client: AdminClient, broker: int) -> Mapping[str, str]:
    try:
        futures = client.describe_configs(
            [ConfigResource(ResourceType.BROKER, str(broker))], request_timeout=ANSWER_SECONDS
        )
    except KafkaException:
        return {}
    return _settings_of(next(iter(futures.values())))


def _settings_of(future: Any) -> Mapping[str, str]:
    try:
        return {name: entry.value for name, entry in future.result().items() if isinstance(entry.value, str)}
    except KafkaException:
        return {}


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else -1
