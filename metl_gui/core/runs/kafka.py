r"""Kafka servers and topics as an address names them, where reading begins, and topics that are to be made.

An address is one of these:

    kafka://host:port[,host:port]/topic[,topic]     topics by name
    kafka://host:port/^shop\..*                     topics by pattern, a regular expression that begins with ^
    kafka://host:port/metl.{entity}                 one topic for each entity, as a sink
    kafka://@name/topic                             hosts, settings and secrets of a profile

Where reading begins when nothing says where an earlier run ended is one of ``earliest``, ``latest``, a time in ISO 8601
(the first record at or after it), or ``topic/partition/offset`` with commas between; partitions that are not named
begin at their beginning then.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime

import msgspec

from metl_gui.errors import RunError, near_names

SCHEME = "kafka://"
ENTITY = "{entity}"
EARLIEST, LATEST = "earliest", "latest"
LOAD_TOPICS = "metl.load."
"""How the topics of initial loads begin; a lane commits there too."""
REPLAY_TOPICS = "metl.replay."
"""How the topics begin in which replays keep how far they are."""

_LONGEST_TOPIC, _HASH_LETTERS = 249, 8
_UNSAFE = re.compile(r"[^a-zA-Z0-9._-]")
_PLACE = r"(?:\[[0-9a-fA-F:.]+\]|[^/:,;@\s\[\]]+):\d{1,5}"
_ADDRESS = re.compile(rf"kafka://(?:@(?P<profile>[\w.-]+)|(?P<hosts>{_PLACE}(?:,{_PLACE})*))(?:/(?P<topics>\S*))?")
_OFFSET = re.compile(r"(?P<topic>[a-zA-Z0-9._-]{1,249})/(?P<partition>\d{1,9})/(?P<offset>\d{1,18})")
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_INTERNAL = re.compile(
    r"__consumer_offsets|__transaction_state|_schemas"
    r"|metl\.(?:lane|load|replay)\..*|metl\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.state"
)
"""Topics that hold no records of anybody: Kafka's own, those of a registry, and those of lanes, loads and replays."""

_START_HINT = "Write earliest, latest, a time like 2026-11-22T05:00:00Z, or topic/partition/offset with commas between."


def own_topic(prefix: str, name: str) -> str:
    """Return the topic in which the program keeps what is about a name; different names have different ones.

    Args:
        prefix: how topics of its kind begin.
        name: of a group or a topic, of any length.
    """
    safe, room = _UNSAFE.sub("_", name), _LONGEST_TOPIC - len(prefix)
    if safe != name or len(safe) > room:
        told = hashlib.sha256(name.encode()).hexdigest()[:_HASH_LETTERS]
        safe = f"{safe[: room - _HASH_LETTERS - 1]}-{told}"
    return prefix + safe


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


class Start(msgspec.Struct, frozen=True):
    """Where partitions begin.

    Args:
        kind: ``earliest``, ``latest``, ``time`` or ``offsets``.
        time_ms: since 1970, of ``time``.
        offsets: by topic and partition, of ``offsets``.
    """

    kind: str = EARLIEST
    time_ms: int = 0
    offsets: dict[tuple[str, int], int] = {}


def parse_start(text: str) -> Start:
    """Read where to begin as a person writes it.

    Raises:
        RunError: it cannot be read, or is a time before 1970.
    """
    text = text.strip()
    if text.lower() in ("", EARLIEST, LATEST):
        return Start(text.lower() or EARLIEST)
    parts = [_OFFSET.fullmatch(part.strip()) for part in text.split(",")]
    if all(parts):
        found = {(part["topic"], int(part["partition"])): int(part["offset"]) for part in parts if part}
        return Start("offsets", offsets=found)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        near = near_names(text, [EARLIEST, LATEST])
        raise RunError(f"{text[:100]} says of no topic where to begin.", hint=near or _START_HINT) from None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    time_ms = round(when.timestamp() * 1000)
    if time_ms < 0:
        raise RunError(
            f"{text[:100]} is before 1970, and Kafka counts times from there.",
            hint="Write earliest to begin with the first record, or a later time.",
        )
    return Start("time", time_ms)


class TopicPlan(msgspec.Struct, frozen=True):
    """A topic that is to be made.

    Args:
        name: its name.
        partitions, replication: how many; -1 for what the servers are set to.
        settings: its own settings, as Kafka names them.
        why: what it is for, in words.
    """

    name: str
    partitions: int
    replication: int
    settings: tuple[tuple[str, str], ...] = ()
    why: str = ""

    @property
    def text(self) -> str:
        """The plan in one line, for people."""
        parts = "as many partitions as the servers are set to" if self.partitions < 0 else _count(self.partitions)
        copies = "" if self.replication < 0 else f", {self.replication} copies" if self.replication > 1 else ", 1 copy"
        settings = "".join(f", {name}={value}" for name, value in self.settings)
        return f"{self.name}: {parts}{copies}{settings} ({self.why})"


def _count(partitions: int) -> str:
    return "1 partition" if partitions == 1 else f"{partitions} partitions"
