"""Clients of Kafka servers: settings, repeated requests, clients kept between uses, and errors put into words.

Settings: no client writes into the log by itself, as librdkafka would repeat settings there; its errors come back as
errors. Settings of ours that decide what is read or kept win over those of a profile; all others may be set there.

Repeated requests (``patiently``): right after a topic was made, and whenever a broker comes or goes, the server that a
client asks may not know yet that it is the one who answers for a partition or a group. It says so, librdkafka asks it
at most a few times within milliseconds, and gives up. What readers are told of this among their messages goes by itself
(``passes``).

Kept clients (``KeptClients``): connecting takes longer than a small batch, so a process keeps clients between two uses:
for less than a minute, and only those that came to the end of what they were used for.

``has_brokers`` asks whether servers are there and take part in their cluster.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.engine.kafka.topic_messages import PARTITIONER
from metl_gui.errors import RunError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message, Producer, TopicPartition
    from confluent_kafka.admin import AdminClient


NO_LEADER: Final = frozenset(
    {
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.REPLICA_NOT_AVAILABLE,
    }
)
"""What servers say of a partition while they choose who answers for it."""

NO_COORDINATOR: Final = frozenset(
    {
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError._WAIT_COORD,
    }
)
"""What they say of a group meanwhile."""

CHOOSING: Final = NO_LEADER | NO_COORDINATOR

AWAY: Final = frozenset(
    {KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE, KafkaError._TIMED_OUT}
)
"""What a client says of servers that it cannot reach, and goes on trying."""

_PASSING: Final = AWAY | NO_LEADER | {KafkaError._MAX_POLL_EXCEEDED}
_AGAIN_SECONDS = 0.1
_Answer = TypeVar("_Answer")


def passes(error: KafkaError) -> bool:
    """Return whether a reader that is told this among its messages goes on by itself."""
    return not error.fatal() and (error.retriable() or error.code() in _PASSING)


def retry_until_available(ask: Callable[[], _Answer], seconds: float) -> _Answer:
    """Ask again for so many seconds while servers choose who answers.

    Raises:
        KafkaException: they have not chosen until then, or say something else.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            return ask()
        except KafkaException as error:
            if error.args[0].code() not in CHOOSING or time.monotonic() > end:
                raise
        time.sleep(_AGAIN_SECONDS)


def bounds(client: Consumer, partition: TopicPartition, seconds: float) -> tuple[int, int]:
    """Return the first offset that a partition holds now, and the one behind its last.

    Args:
        client: what asks; what it remembers of the partition is not used.
        partition: its topic and number.
        seconds: how long servers may choose who answers, and how long their answer may take.

    Raises:
        KafkaException: the servers do not answer, or refuse.
    """
    found: tuple[int, int] = retry_until_available(
        lambda: client.get_watermark_offsets(partition, timeout=seconds, cached=False), seconds
    )
    return found


ANSWER_SECONDS: Final = 6.0
"""How long servers may take to answer a question before a run starts."""

_QUIET: dict[str, Any] = {
    "log_level": 0,
    "client.id": "metl-workbench",
    "socket.connection.setup.timeout.ms": 5_000,
    # By default servers that were away for long are called every ten seconds only.
    "reconnect.backoff.max.ms": 1_000,
}
_UNREACHABLE = AWAY | frozenset(
    {
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._MSG_TIMED_OUT,
        KafkaError._WAIT_COORD,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.BROKER_NOT_AVAILABLE,
    }
)
_REFUSED = frozenset({KafkaError._AUTHENTICATION, KafkaError._SSL, KafkaError.SASL_AUTHENTICATION_FAILED})
_FORBIDDEN = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "topic",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "consumer group",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "cluster",
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "transactional id",
}
"""What an access list of the servers keeps a user from."""


class ClientErrorLog:
    """What a client said of its connections last, for a sentence that explains a silence."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.refusal: KafkaError | None = None

    def __call__(self, error: KafkaError) -> None:
        """Keep what an error says, in few words."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN:
            self.texts = [*self.texts[-2:], error.str()]
        if error.code() in _REFUSED or error.code() in _FORBIDDEN:
            self.refusal = error

    @property
    def last(self) -> str:
        """The last of it, empty when nothing was said."""
        return self.texts[-1] if self.texts else ""


def admin(servers: KafkaServers, said: ClientErrorLog | None = None) -> AdminClient:
    """Make a client that asks and changes what topics there are."""
    from confluent_kafka.admin import AdminClient

    return AdminClient(_settings(servers, said))


def consumer(servers: KafkaServers, said: ClientErrorLog | None = None, **own: Any) -> Consumer:
    """Make a client that reads what is committed, from where it is told, and commits nothing by itself.

    Args:
        servers: whom it reads from.
        said: keeps what it says of its connections.
        own: settings besides, with underscores for dots.
    """
    from confluent_kafka import Consumer

    settings = {
        "group.id": "metl-workbench-reader",
        # Without this a topic that is asked for may be made by the asking.
        "allow.auto.create.topics": False,
        "receive.message.max.bytes": 1_000_000_000,
        **_settings(servers, said),
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "enable.partition.eof": True,
    }
    return Consumer({**settings, **{name.replace("_", "."): value for name, value in own.items()}})


def producer(
    servers: KafkaServers,
    said: ClientErrorLog | None = None,
    on_delivery: Callable[[KafkaError | None, Message], None] | None = None,
    **own: Any,
) -> Producer:
    """Make a client that writes at least once, the messages of a key in order.

    Args:
        servers, said, own: as of ``consumer``.
        on_delivery: told what became of each message, or with ``delivery_report_only_error`` of those that failed.
    """
    from confluent_kafka import Producer

    settings = {
        "linger.ms": 5,
        "compression.type": "lz4",
        "queue.buffering.max.kbytes": 65_536,
        "message.max.bytes": 1_000_000_000,
        **_settings(servers, said),
        "enable.idempotence": True,
        "acks": "all",
        "partitioner": PARTITIONER,
        **({} if on_delivery is None else {"on_delivery": on_delivery}),
    }
    return Producer({**settings, **{name.replace("_", "."): value for name, value in own.items()}})


def _settings(servers: KafkaServers, said: ClientErrorLog | None) -> dict[str, Any]:
    return {**_QUIET, **servers.client_settings, "error_cb": said or ClientErrorLog()}


@contextlib.contextmanager
def in_words(servers: KafkaServers, said: ClientErrorLog | None = None, about: str = "") -> Iterator[None]:
    """Describe in words what a client raises.

    Args:
        servers, said, about: as of ``explained``.

    Raises:
        RunError: in place of an exception of the client.
    """
    try:
        yield
    except KafkaException as error:
        raise explained(servers, error, said, about) from error


def explained(
    servers: KafkaServers, error: KafkaException, said: ClientErrorLog | None = None, about: str = ""
) -> RunError:
    """Put an exception of a client into words.

    Args:
        servers: whom it asked.
        error: what it raised.
        said: what it said of its connections.
        about: the topic, group or id that was asked about, where there was one.
    """
    kafka = error.args[0] if error.args else None
    if not isinstance(kafka, KafkaError):
        return RunError("A setting for Kafka will not do.", f"{servers.shown}: {error}.", "Mend the profile.")
    refusal = said.refusal if said is not None and said.refusal is not None else kafka
    if refusal.code() in _FORBIDDEN:
        return _forbidden(servers, refusal, about)
    if refusal.code() in _REFUSED:
        return _refused(servers, refusal.str())
    if kafka.code() in _UNREACHABLE:
        return unreachable(servers, said.last if said is not None else kafka.str())
    if kafka.code() in CHOOSING:
        return RunError(
            "The Kafka servers have not agreed yet on who answers.",
            f"{servers.shown}{f', {about}' if about else ''}: {kafka.str().rstrip('.')}.",
            "Try again in some seconds. If it stays so, a server is missing: ask whoever runs them.",
        )
    if kafka.code() == KafkaError._INVALID_ARG:
        return RunError("A setting for Kafka will not do.", f"{servers.shown}: {kafka.str()}.", "Mend the profile.")
    return RunError(
        "Kafka refuses what the run needs.",
        f"{servers.shown}: {kafka.str() or kafka.name()}.",
        "Ask whoever runs the servers what this user may do.",
    )


def unreachable(servers: KafkaServers, why: str = "") -> RunError:
    """Return the error that servers do not answer."""
    reason = f": {why}" if why else ""
    way = (
        f"Try it with metl profile test {servers.profile}."
        if servers.profile
        else "For TLS or a password make a profile: metl profile add NAME kafka://host:port."
    )
    return RunError(
        "The Kafka servers do not answer.",
        f"{servers.bootstrap}{reason}.",
        f"Check host and port, and whether a firewall lets this computer through. {way}",
    )


def _forbidden(servers: KafkaServers, refusal: KafkaError, about: str) -> RunError:
    user = f"the user {servers.user}" if servers.user else "this user"
    return RunError(
        f"The Kafka servers forbid {user} a {_FORBIDDEN[refusal.code()]}.",
        f"{servers.shown}{f', {about}' if about else ''}: {refusal.str().rstrip('.')}.",
        "Have whoever runs the servers allow it; docs/guide/production.md lists all that a lane needs.",
    )


def _refused(servers: KafkaServers, why: str) -> RunError:
    way = f"Mend the profile @{servers.profile}." if servers.profile else "Make a profile with user and password."
    return RunError("The Kafka servers refuse the connection.", f"{servers.shown}: {why.rstrip('.')}.", way)


_Client = TypeVar("_Client")
_KEPT_SECONDS = 45.0


class KeptClients(Generic[_Client]):
    """Some clients of one kind.

    Args:
        close: ends one.
        most: how many are kept.
    """

    def __init__(self, close: Callable[[_Client], None], most: int) -> None:
        self._close = close
        self._most = most
        self._kept: list[tuple[Hashable, float, _Client]] = []
        self._changing = threading.Lock()

    def take(self, key: Hashable) -> _Client | None:
        """Return a client that was kept under a key; it is the caller's from now on."""
        with self._changing:
            self._drop_old()
            for at, (own, _, client) in enumerate(self._kept):
                if own == key:
                    del self._kept[at]
                    return client
        return None

    def keep(self, key: Hashable, client: _Client) -> None:
        """Keep a client for the next use; the oldest goes when there are too many."""
        with self._changing:
            self._kept.append((key, time.monotonic(), client))
            self._drop_old()

    def close_all(self) -> None:
        """End all of them."""
        with self._changing:
            while self._kept:
                self._close(self._kept.pop()[2])

    def _drop_old(self) -> None:
        end = time.monotonic() - _KEPT_SECONDS
        while self._kept and (len(self._kept) > self._most or self._kept[0][1] < end):
            self._close(self._kept.pop(0)[2])


_SECONDS = 2.0


def has_brokers(servers: KafkaServers, seconds: float = _SECONDS) -> bool:
    """Ask for the brokers that are at work: one that is starting is not among them yet.

    Args:
        servers: whom to ask.
        seconds: how long to wait for an answer.
    """
    settings: dict[str, Any] = {**servers.client_settings, "log_level": 0}
    try:
        return bool(AdminClient(settings).list_topics(timeout=seconds).brokers)
    except KafkaException:
        return False
