r"""Kafka servers and topics as an address names them, with the settings and secrets of their profile.

An address is one of these:

    kafka://host:port[,host:port]/topic[,topic]     topics by name
    kafka://host:port/^shop\..*                     topics by pattern, a regular expression that begins with ^
    kafka://host:port/metl.{entity}                 one topic for each entity, as a sink
    kafka://@name/topic                             hosts, settings and secrets of a profile

``TopicReading`` and ``TopicOrder`` are what tasks are told of topics. They hold secrets, so they travel in the closure
of a job and are never written down.
"""

from __future__ import annotations

import re

import msgspec

from metl_gui.errors import RunError

SCHEME = "kafka://"
ENTITY = "{entity}"
_PLACE = r"(?:\[[0-9a-fA-F:.]+\]|[^/:,;@\s\[\]]+):\d{1,5}"
_ADDRESS = re.compile(rf"kafka://(?:@(?P<profile>[\w.-]+)|(?P<hosts>{_PLACE}(?:,{_PLACE})*))(?:/(?P<topics>\S*))?")
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_INTERNAL = re.compile(
    r"__consumer_offsets|__transaction_state|_schemas"
    r"|metl\.(?:lane|load)\..*|metl\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.state"
)
"""Topics that hold no records of anybody: Kafka's own, those of a registry, and those by which lanes talk and load."""


class KafkaServers(msgspec.Struct, frozen=True, kw_only=True):
    """How Kafka servers are reached.

    Args:
        bootstrap: ``host:port`` with commas between.
        settings: settings of librdkafka, such as ``security.protocol``.
        secrets: such settings that are never shown, logged or written down.
        profile: the profile that they come from, empty for none.
    """

    bootstrap: str
    settings: tuple[tuple[str, str], ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()
    profile: str = ""

    @property
    def client_settings(self) -> dict[str, str]:
        """Everything a client is made with: for the client only, never to be shown."""
        return {**dict(self.settings), **dict(self.secrets), "bootstrap.servers": self.bootstrap}

    @property
    def without_secrets(self) -> KafkaServers:
        """The same without what may not be written down."""
        return msgspec.structs.replace(self, secrets=())

    @property
    def user(self) -> str:
        """Who logs in; empty for nobody, or whoever a certificate names."""
        return dict(self.settings).get("sasl.username", "")

    @property
    def shown(self) -> str:
        """The servers as reports, logs and screens name them."""
        return f"@{self.profile}" if self.profile else self.bootstrap

    def __repr__(self) -> str:
        """Leave the secrets out of whatever is logged."""
        return f"KafkaServers({self.shown!r})"


class KafkaAddress(msgspec.Struct, frozen=True, kw_only=True):
    """What an address says; its profile is not looked up yet.

    Args:
        bootstrap: ``host:port`` with commas between, empty where a profile says it.
        profile: the name of a profile, empty for none.
        topics: the topics named one by one; of a sink one that may hold ``{entity}``.
        pattern: the regular expression that topics fit whole, without its ``^``; empty for none.
    """

    bootstrap: str = ""
    profile: str = ""
    topics: tuple[str, ...] = ()
    pattern: str = ""


def is_internal(topic: str) -> bool:
    """Whether a topic is one that only programs write for themselves."""
    return _INTERNAL.fullmatch(topic) is not None


def is_kafka(text: str) -> bool:
    """Whether a source or a sink is in Kafka."""
    return text.strip().startswith(SCHEME)


def parse_address(text: str) -> KafkaAddress:
    """Read an address as a person writes it.

    Raises:
        RunError: it cannot be read; the error shows how one is written.
    """
    found = _ADDRESS.fullmatch(text.strip())
    if not found:
        raise RunError(
            "The Kafka address cannot be read.",
            # Not quoted: a person may have written a password into it.
            "It is kafka://host:port/topic, with commas between several hosts or topics.",
            "Write it like kafka://broker.example.com:9092/shop.public.orders, or kafka://@profile/topic.",
        )
    topics = found["topics"] or ""
    head = KafkaAddress(bootstrap=found["hosts"] or "", profile=found["profile"] or "")
    if topics.startswith("^"):
        return msgspec.structs.replace(head, pattern=_checked_pattern(topics[1:]))
    names = tuple(dict.fromkeys(filter(None, topics.split(","))))
    wrong = [name for name in names if not _TOPIC.fullmatch(name.replace(ENTITY, "entity"))]
    if wrong:
        raise RunError(
            f"{wrong[0][:100]} is no name of a Kafka topic.",
            "Topics are named with letters, digits, dots, dashes and underscores, 249 at most.",
            "For a pattern write ^ before it, as in kafka://host:port/^shop\\..*",
        )
    return msgspec.structs.replace(head, topics=names)


def _checked_pattern(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise RunError(
            "The pattern of topics is no regular expression.", f"{pattern[:200]}: {error}.", "Write it like ^shop\\..*"
        ) from error
    return pattern


PATIENCE_SECONDS = 120.0
"""How long a task waits for servers that say nothing: long enough for a broker to be started again."""


class WaitingRecords(msgspec.Struct, frozen=True):
    """Which records of an error topic are meant.

    Args:
        reasons: only these; all when empty.
        behind: by partition as ``topic/partition`` and reason: up to where its records were replayed.
        is_again: what runs themselves set aside, whatever was replayed of it; else what replays set aside again too.
        is_with_large: records that were too large are meant too.
    """

    reasons: tuple[str, ...] = ()
    behind: dict[str, dict[str, int]] = {}
    is_again: bool = False
    is_with_large: bool = False


class TopicReading(msgspec.Struct, frozen=True):
    """How topics are read; the ranges are those of a ``ReadPlan``, whose files are partitions and places offsets.

    Args:
        servers: where they are.
        waiting: the topics are error topics, and these of their records are meant.
        patience_seconds: see above.
    """

    servers: KafkaServers
    waiting: WaitingRecords | None = None
    patience_seconds: float = PATIENCE_SECONDS


class TopicOrder(msgspec.Struct, frozen=True):
    """Where messages or set-aside records go.

    Args:
        servers: where the topics are.
        topic: the topic, which may hold ``{entity}``.
        limits: how many bytes a message may have, by topic; nothing is known of the others.
        compacted: those topics that take no message without a key.
        has_tombstones: send a null value after each delete.
        patience_seconds: how long servers may take to answer.
    """

    servers: KafkaServers
    topic: str
    limits: dict[str, int] = {}
    compacted: tuple[str, ...] = ()
    has_tombstones: bool = False
    patience_seconds: float = PATIENCE_SECONDS
