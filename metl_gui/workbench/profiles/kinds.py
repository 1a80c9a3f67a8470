"""What a profile can be of, told by its target, and what each kind takes: targets, settings and secrets.

local[*], sc://..., spark://...     where Spark runs
kafka://host:port[,host:port]       Kafka servers; settings and secrets are librdkafka's
http(s)://host/...                  a schema registry
postgresql://user@host:port/db      a PostgreSQL database
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum

import msgspec

from metl_gui.core.runs.kafka import SCHEME, parse_address
from metl_gui.core.runs.target import TargetKind as SparkKind
from metl_gui.core.runs.target import is_secret_name, parse_target
from metl_gui.errors import RunError, near_names
from metl_gui.registry import addresses
from metl_gui.values import Value

_TLS = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location")
_KEY_PASSWORD = "ssl.key.password"  # noqa: S105 - the name of a setting
_BY_RUN = "the run sets it"


class ProfileKind(StrEnum):
    """What a profile leads to."""

    SPARK = "spark"
    KAFKA = "kafka"
    REGISTRY = "registry"
    POSTGRESQL = "postgresql"


TITLES = {
    ProfileKind.SPARK: "Spark",
    ProfileKind.KAFKA: "Kafka",
    ProfileKind.REGISTRY: "a schema registry",
    ProfileKind.POSTGRESQL: "PostgreSQL",
}
"""How sentences name the kinds."""

REGISTRY_APIS: Mapping[str, str] = {
    addresses.Api.APICURIO_3.value: "Apicurio, version 3",
    addresses.Api.APICURIO_2.value: "Apicurio, version 2",
    addresses.Api.CONFLUENT.value: "Confluent's API",
}
"""What a registry may speak: values of its setting ``api``, as people read them."""


class Cleaned(Value):
    """A target with nothing secret in it.

    Args:
        target: as it is kept and shown.
        settings: what stood in it and is a setting.
        secrets: what stood in it and is a secret.
    """

    target: str
    settings: Mapping[str, str] = msgspec.field(default_factory=dict)
    secrets: Mapping[str, str] = msgspec.field(default_factory=dict)


class Rules(Value):
    """What profiles of one kind take.

    Args:
        cleaned: reads a target and takes the secrets out of it.
        settings: what names of settings look like.
        known: the settings there are, where all of them are known.
        refused: settings that a profile must not have, and why.
        secrets: what names of secrets look like.
        settings_hint: what names of settings are like.
        secrets_hint: what names of secrets are like.
    """

    cleaned: Callable[[str], Cleaned]
    settings: re.Pattern[str]
    secrets: re.Pattern[str]
    settings_hint: str
    secrets_hint: str
    known: tuple[str, ...] = ()
    refused: Mapping[str, str] = msgspec.field(default_factory=dict)


def kind_of(target: str) -> ProfileKind:
    """Tell by a target what a profile leads to."""
    text = target.strip().lower()
    if text.startswith(SCHEME):
        return ProfileKind.KAFKA
    if text.startswith(addresses.REGISTRY_SCHEMES):
        return ProfileKind.REGISTRY
    return ProfileKind.POSTGRESQL if text.startswith(addresses.DATABASE_SCHEMES) else ProfileKind.SPARK


def check_setting_name(kind: ProfileKind, name: str) -> None:
    """Refuse a setting that profiles of a kind do not take.

    Raises:
        RunError: the setting is not one, holds a secret, or is somebody else's to set.
    """
    rules = RULES[kind]
    is_secret = is_secret_name(name) if kind is ProfileKind.SPARK else rules.secrets.fullmatch(name) is not None
    if not rules.settings.fullmatch(name) or (rules.known and name not in rules.known and not is_secret):
        near = near_names(name, rules.known)
        raise RunError(f"{name!r} is no setting of {TITLES[kind]}.", hint=f"{near} {rules.settings_hint}".strip())
    if name in rules.refused:
        raise RunError(f"{name} cannot be set in a profile.", f"Here {rules.refused[name]}.", "Leave it out.")
    if is_secret:
        raise RunError(
            f"{name} holds a secret.",
            "Settings of a profile lie in a file.",
            "Give it as a secret: it is kept in the system's keyring, or read from an environment variable.",
        )


def check_secret_name(kind: ProfileKind, name: str, target: str) -> None:
    """Refuse a secret that profiles of a kind do not take.

    Raises:
        RunError: it is none.
    """
    rules = RULES[kind]
    is_parameter = (
        kind is ProfileKind.SPARK
        and re.fullmatch(r"[\w-]{1,80}", name, re.ASCII)
        and parse_target(target).kind is SparkKind.CONNECT
    )
    if not is_parameter and not rules.secrets.fullmatch(name):
        raise RunError(f"{name!r} cannot be the name of a secret.", hint=rules.secrets_hint)


def _cleaned_spark(text: str) -> Cleaned:
    target = parse_target(text)
    return Cleaned(target.master, secrets=dict(target.secrets))


def _cleaned_kafka(text: str) -> Cleaned:
    address = parse_address(text)
    if address.profile or not address.bootstrap or address.topics or address.pattern:
        raise RunError(
            "A profile of Kafka names servers only.",
            "Topics are named where they are read or written, as in kafka://@profile/topic.",
            "Write it like kafka://broker.example.com:9092.",
        )
    return Cleaned(f"{SCHEME}{address.bootstrap}")


def _cleaned_registry(text: str) -> Cleaned:
    place = addresses.parse_registry(text)
    return Cleaned(
        place.url,
        {"username": place.username} if place.username else {},
        {"password": place.password} if place.password else {},
    )


def _cleaned_database(text: str) -> Cleaned:
    place = addresses.parse_database(text)
    return Cleaned(place.address, secrets={"password": place.password} if place.password else {})


_SPARK_NAME = re.compile(r"spark\.[A-Za-z0-9][\w.$-]{0,199}", re.ASCII)
_KAFKA_NAME = re.compile(r"[a-z][a-z0-9]{0,40}(?:[._][a-z0-9]{1,40}){0,9}", re.ASCII)

RULES: Mapping[ProfileKind, Rules] = {
    ProfileKind.SPARK: Rules(
        _cleaned_spark,
        _SPARK_NAME,
        _SPARK_NAME,
        "Their names begin with spark., like spark.cores.max.",
        "Name the setting of Spark that it is for, or token for that of a Connect server.",
        refused={
            "spark.master": "the target of the profile says it",
            "spark.remote": "the target of the profile says it",
            "spark.api.mode": "the target of the profile says it",
            "spark.submit.deployMode": "the driver always runs beside this program",
        },
    ),
    ProfileKind.KAFKA: Rules(
        _cleaned_kafka,
        _KAFKA_NAME,
        re.compile(
            r"sasl\.password|ssl\.key\.password|ssl\.key\.pem|ssl\.keystore\.password"
            r"|sasl\.oauthbearer\.(?:client\.secret|assertion\.private\.key\.(?:passphrase|pem))"
        ),
        "They are named as in librdkafka, like security.protocol, sasl.mechanism and ssl.ca.location.",
        "Secrets of Kafka are sasl.password, ssl.key.password, ssl.key.pem, ssl.keystore.password and "
        "sasl.oauthbearer.client.secret.",
        refused={
            "bootstrap.servers": "the target of the profile says it",
            "metadata.broker.list": "the target of the profile says it",
            "plugin.library.paths": "no foreign code is loaded",
            **dict.fromkeys(
                (
                    "group.id",
                    "group.instance.id",
                    "transactional.id",
                    "isolation.level",
                    "enable.auto.commit",
                    "enable.auto.offset.store",
                    "auto.offset.reset",
                    "enable.idempotence",
                    "enable.partition.eof",
                    "partitioner",
                ),
                _BY_RUN,
            ),
        },
    ),
    ProfileKind.REGISTRY: Rules(
        _cleaned_registry,
        _KAFKA_NAME,
        re.compile(r"password|token|ssl\.key\.password"),
        f"There are username, api ({', '.join(REGISTRY_APIS)}), {', '.join(_TLS)}.",
        f"Secrets of a registry are password, token and {_KEY_PASSWORD}.",
        known=("username", "api", *_TLS),
    ),
    ProfileKind.POSTGRESQL: Rules(
        _cleaned_database,
        _KAFKA_NAME,
        re.compile(r"password|sslpassword"),
        f"There are {', '.join(addresses.DATABASE_SETTINGS)}, named as in libpq.",
        "Secrets of PostgreSQL are password and sslpassword.",
        known=addresses.DATABASE_SETTINGS,
    ),
}
"""What each kind takes."""
