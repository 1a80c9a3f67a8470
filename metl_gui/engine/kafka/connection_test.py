"""Reach Kafka servers once and look who and what is there; what librdkafka says of failures is told in words."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.errors import RunError
from metl_gui.values import Value

SECONDS = 8.0
"""So long servers have to let a client in."""

_LOOK_SECONDS = 0.25
_GROUP_SECONDS = 3.0
_CLEAR = "Look at security.protocol: plaintext, ssl, sasl_plaintext or sasl_ssl."
_silent = logging.getLogger(__name__)
_silent.addHandler(logging.NullHandler())
_silent.propagate = False  # what librdkafka logs while it tries again and again is told once, in words


class KafkaFacts(Value):
    """Who and what is there.

    Args:
        brokers: host and port of each, as the servers announce them.
        topics: names of the topics that may be seen, without Kafka's own.
        groups: how many consumer groups there are, ``None`` where that may not be seen.
    """

    brokers: tuple[tuple[str, int], ...]
    topics: tuple[str, ...]
    groups: int | None


def check_settings(servers: KafkaServers) -> None:
    """Refuse settings that librdkafka does not take; nobody is asked.

    Raises:
        RunError: a setting is unknown or has a value that is none.
    """
    _client(KafkaServers(bootstrap="", settings=servers.settings, secrets=servers.secrets), [])


def probe(servers: KafkaServers, is_cancelled: Callable[[], bool] = lambda: False) -> KafkaFacts | None:
    """Log in and look around.

    Returns:
        What is there; ``None`` when the servers take connections and say nothing, or somebody cancelled.

    Raises:
        RunError: they refuse us, with what they say about it.
    """
    errors: list[Any] = []
    client = _client(servers, errors)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and not is_cancelled():
        found = _metadata(client)
        if found is not None:
            brokers = tuple(sorted((broker.host, broker.port) for broker in found.brokers.values()))
            topics = tuple(sorted(name for name in found.topics if not name.startswith("__")))
            return KafkaFacts(brokers, topics, _groups(client))
        client.poll(0)
        for error in errors:
            _refuse(servers, error)
    return None


def _client(servers: KafkaServers, errors: list[Any]) -> Any:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    settings: dict[str, Any] = {**servers.client_settings, "error_cb": errors.append}
    if not servers.bootstrap:
        del settings["bootstrap.servers"]
    try:
        return AdminClient(settings, logger=_silent)
    except KafkaException as error:
        said = error.args[0].str().removeprefix("Failed to create admin client: ")
        hint = "Mend the setting."
        if "SSL" in said.upper() and ("location" in said or "keystore" in said):
            hint = "Look whether the file is there and holds what the setting says, and at its password."
        elif "must be set" in said:
            hint = "Set sasl.username, and give sasl.password as a secret."
        raise RunError("Kafka's client does not take the settings.", f"{said}.", hint) from error


def _metadata(client: Any) -> Any | None:
    from confluent_kafka import KafkaException

    try:
        return client.list_topics(timeout=_LOOK_SECONDS)
    except KafkaException:
        return None  # why stands in the errors that the client hands out


def _groups(client: Any) -> int | None:
    from confluent_kafka import KafkaException

    try:
        found = client.list_consumer_groups(request_timeout=_GROUP_SECONDS).result(_GROUP_SECONDS * 2)
    except (KafkaException, TimeoutError):
        return None
    return len(found.valid)


def _refuse(servers: KafkaServers, error: Any) -> None:
    """Raise what an error means, if it is one that trying again does not mend."""
    from confluent_kafka import KafkaError

    said, code = error.str(), error.code()
    if code == KafkaError._AUTHENTICATION:
        raise _login_refused(servers, said) from None
    if code == KafkaError._SSL and "verify failed" in said:
        raise RunError(
            "The certificate of a server is not trusted.",
            "Nobody in ssl.ca.location vouches for it, or it is made out to another host.",
            "Look at ssl.ca.location and at the names by which the servers announce themselves.",
        )
    if "ssl/tls alert" in said or "certificate required" in said:
        raise RunError(
            "The servers do not accept our certificate, or ask for one.",
            hint="Set ssl.certificate.location and ssl.key.location.",
        )
    if code == KafkaError._BAD_MSG or "Invalid response size" in said:
        raise RunError("It is no Kafka that answers there.", hint="Look at the port.")
    if "PLAINTEXT broker listener" in said:
        raise RunError("The servers do not speak TLS there.", "The profile asks for it.", _CLEAR)


def _login_refused(servers: KafkaServers, said: str) -> RunError:
    settings = servers.client_settings
    user = settings.get("sasl.username", "")
    mechanism = settings.get("sasl.mechanism") or settings.get("sasl.mechanisms", "")
    if "Unsupported SASL mechanism" in said:
        offered = said.partition("supported mechanisms:")[2].partition("(after")[0].strip()
        return RunError(
            f"The servers do not know the login mechanism {mechanism}.",
            f"They take {offered or 'none that they name'}.",
            "Set sasl.mechanism to one of them.",
        )
    if "not valid in current SASL state" in said:
        return RunError(
            "The servers ask for no login there.",
            "The profile has one.",
            "Set security.protocol to plaintext or ssl, or use the port that asks for a login.",
        )
    if "uthentication failed" in said or "credentials" in said:
        return RunError(
            f"The servers do not let {user or 'this login'} in.",
            f"They say that name or password is wrong ({mechanism}).",
            "Look at sasl.username, give sasl.password again, and ask whether the login is for this mechanism.",
        )
    return RunError("The login does not come about.", f"{said.partition(' (after')[0]}.", _CLEAR)
