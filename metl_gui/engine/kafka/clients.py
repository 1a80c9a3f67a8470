"""Clients of Kafka servers, and what they say when servers do not answer.

No client writes into the log by itself: librdkafka would repeat settings there, and its errors come back as errors.
Settings of ours that decide what is read or kept win over those of a profile; all others may be set there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from confluent_kafka import KafkaError, KafkaException

from metl_gui.engine.kafka.asking import AWAY, CHOOSING
from metl_gui.engine.kafka.outgoing import PARTITIONER
from metl_gui.engine.kafka.servers import KafkaServers
from metl_gui.errors import RunError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message, Producer
    from confluent_kafka.admin import AdminClient

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


class Said:
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


def admin(servers: KafkaServers, said: Said | None = None) -> AdminClient:
    """Make a client that asks and changes what topics there are."""
    from confluent_kafka.admin import AdminClient

    return AdminClient(_settings(servers, said))


def consumer(servers: KafkaServers, said: Said | None = None, **own: Any) -> Consumer:
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
    said: Said | None = None,
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


def _settings(servers: KafkaServers, said: Said | None) -> dict[str, Any]:
    return {**_QUIET, **servers.client_settings, "error_cb": said or Said()}


@contextlib.contextmanager
def in_words(servers: KafkaServers, said: Said | None = None, about: str = "") -> Iterator[None]:
    """Say in words what a client raises.

    Args:
        servers, said, about: as of ``explained``.

    Raises:
        RunError: in place of an exception of the client.
    """
    try:
        yield
    except KafkaException as error:
        raise explained(servers, error, said, about) from error


def explained(servers: KafkaServers, error: KafkaException, said: Said | None = None, about: str = "") -> RunError:
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
    """Say that servers do not answer."""
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
