"""What a person fills in for each kind of connection: settings and secrets by name, in words, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from metl_gui.values import Value
from metl_gui.workbench.profiles.kinds import REGISTRY_APIS, ProfileKind

TARGET = "target"
"""Under this name rules find where the profile leads, among the settings."""

Rule = Callable[[Mapping[str, str]], bool]


def _always(_settings: Mapping[str, str]) -> bool:
    return True


def _has_login(settings: Mapping[str, str]) -> bool:
    return settings.get("security.protocol", "").lower().startswith("sasl")


def _has_tls(settings: Mapping[str, str]) -> bool:
    return settings.get("security.protocol", "").lower().endswith("ssl")


def _is_https(settings: Mapping[str, str]) -> bool:
    return settings.get(TARGET, "").lower().startswith("https:")


def _is_checked(settings: Mapping[str, str]) -> bool:
    return settings.get("sslmode", "").startswith("verify")


class ConnectionField(Value):
    """One setting or secret.

    Args:
        name: as the profile calls it.
        title: what people read.
        words: what it is for, where that is not plain.
        choices: (value, words) where it is chosen; the first is that of a profile that says nothing.
        example: what one may look like.
        is_file: it is the path of a file.
        is_secret: it lies in the keyring or in a variable.
        when: whether it makes sense with the settings as they are.
    """

    name: str
    title: str
    words: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    example: str = ""
    is_file: bool = False
    is_secret: bool = False
    when: Rule = _always


class KindWords(Value):
    """How the form speaks of one kind.

    Args:
        title: what people choose.
        target: what the target is called there.
        example, words: of the target.
        fields: settings and secrets with a field of their own.
        settings: words below the box for all other settings; empty where there are no others.
        settings_example: what stands in that box before somebody writes.
        secrets: words below the rows of all other secrets; empty where there are no others.
        use: what can be done with a profile of this kind.
        patience: what a test may have to wait for.
    """

    title: str
    target: str
    example: str
    words: str
    fields: tuple[ConnectionField, ...] = ()
    settings: str = ""
    settings_example: str = ""
    secrets: str = ""
    use: str = ""
    patience: str = "Each step waits some seconds at most."


def _tls(when: Rule, names: tuple[str, str, str, str]) -> tuple[ConnectionField, ...]:
    authority, certificate, key, password = names
    return (
        ConnectionField(
            authority,
            "Trusted certificates",
            "Who may vouch for the servers; empty for those that the system trusts.",
            example="a .pem file",
            is_file=True,
            when=when,
        ),
        ConnectionField(certificate, "Our certificate", example="where they ask for one", is_file=True, when=when),
        ConnectionField(key, "Its key", example="a .pem file", is_file=True, when=when),
        ConnectionField(password, "Its password", is_secret=True, when=when),
    )


_LIBRDKAFKA_TLS = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.key.password")

KINDS: Mapping[ProfileKind, KindWords] = {
    ProfileKind.SPARK: KindWords(
        "Spark",
        "Target",
        "sc://spark.example.com:15002/;use_ssl=true",
        "local[*], sc://host:port, spark://host:port, or whatever else spark-submit knows.",
        settings="One setting of Spark a line. They stay on this computer and never go into a project.",
        settings_example="spark.executor.memory=4g\nspark.pyspark.python=/opt/python3.11/bin/python3",
        secrets="A token of a Connect server, or a setting of Spark that nobody may read. No file of ours holds it.",
        use="Run on it",
        patience="Spark may take some seconds to start.",
    ),
    ProfileKind.KAFKA: KindWords(
        "Kafka",
        "Servers",
        "kafka://broker1.example.com:9092,broker2.example.com:9092",
        "kafka:// and host:port of one server or more; the others are found through them.",
        (
            ConnectionField(
                "security.protocol",
                "Security",
                choices=(
                    ("", "in the clear, without a login"),
                    ("ssl", "TLS, without a login"),
                    ("sasl_ssl", "TLS and a login"),
                    ("sasl_plaintext", "a login, in the clear"),
                ),
            ),
            ConnectionField(
                "sasl.mechanism",
                "Login by",
                choices=(
                    ("", "what the servers say first"),
                    ("PLAIN", "PLAIN: name and password"),
                    ("SCRAM-SHA-256", "SCRAM-SHA-256"),
                    ("SCRAM-SHA-512", "SCRAM-SHA-512"),
                    ("OAUTHBEARER", "OAUTHBEARER: a token"),
                    ("GSSAPI", "GSSAPI: Kerberos"),
                ),
                when=_has_login,
            ),
            ConnectionField("sasl.username", "User", when=_has_login),
            ConnectionField("sasl.password", "Password", is_secret=True, when=_has_login),
            *_tls(_has_tls, _LIBRDKAFKA_TLS),
        ),
        settings="One setting of librdkafka a line, where one is needed. The run sets groups and transactions itself.",
        settings_example="sasl.oauthbearer.token.endpoint.url=https://login.example.com/token",
        secrets="Such as sasl.oauthbearer.client.secret. No file of ours holds them.",
        use="Read from it",
    ),
    ProfileKind.REGISTRY: KindWords(
        "Schema registry",
        "Address",
        "https://registry.example.com/apis/registry/v3",
        "http or https; Apicurio's own API, or whatever speaks Confluent's.",
        (
            ConnectionField(
                "api",
                "Speaks",
                choices=(("", "find out"), *REGISTRY_APIS.items()),
            ),
            ConnectionField("username", "User", example="where it asks for a login"),
            ConnectionField("password", "Password", is_secret=True),
            ConnectionField("token", "Or a token", is_secret=True),
            *_tls(_is_https, _LIBRDKAFKA_TLS),
        ),
        use="Browse it",
    ),
    ProfileKind.POSTGRESQL: KindWords(
        "PostgreSQL",
        "Address",
        "postgresql://user@db.example.com:5432/shop",
        "User, host, port and database. A password goes below, never into the address.",
        (
            ConnectionField("password", "Password", is_secret=True),
            ConnectionField(
                "sslmode",
                "TLS",
                choices=(
                    ("", "where the server offers it"),
                    ("disable", "never"),
                    ("require", "always"),
                    ("verify-ca", "always, and look who vouches for the server"),
                    ("verify-full", "always, and look at its name too"),
                ),
            ),
            *_tls(_is_checked, ("sslrootcert", "sslcert", "sslkey", "sslpassword")),
            ConnectionField("schemas", "Schemas", "Which are read; empty for all.", example="public, sales"),
            ConnectionField(
                "prefix",
                "Topics begin with",
                "Debezium's topic.prefix, so that schemas are named as events name them.",
                example="fx",
            ),
        ),
        use="Browse it",
    ),
}
"""How the form speaks of each kind."""
