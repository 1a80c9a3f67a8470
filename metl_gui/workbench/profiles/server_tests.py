"""Tests of Kafka servers, registries and databases: the way to each, and what stands in it, told in words.

The functions test what all have in common: name, port, certificate.

- ``KafkaConnectionTest``: settings, names, ports, TLS, login, the brokers that they announce, and what is there.
- ``RegistryConnectionTest``: name, port and certificate, the login, what it speaks, and whether schemas can be read.
- ``DatabaseConnectionTest`` (PostgreSQL): name and port, the login, and which tables can be seen.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.engine.kafka.connection_test import check_settings, probe
from metl_gui.errors import RunError
from metl_gui.registry.addresses import Api, RegistryPlace
from metl_gui.registry.remote.client import Registry
from metl_gui.registry.remote.database import connected
from metl_gui.registry.remote.http import RegistryConnection, tls_files
from metl_gui.registry.remote.registry_apis import open_registry
from metl_gui.registry.remote.tls import TlsFiles, context_of
from metl_gui.workbench.profiles.connection_test import ConnectionTest
from metl_gui.workbench.profiles.saved_profiles import find_database, find_kafka, find_registry

SECONDS = 3.0
"""So long a server has for each thing that it is asked."""

_LISTENS_SECONDS = 0.3
_EXPIRED, _NOT_YET = 10, 9
_WRONG_HOST = frozenset({62, 64})
_NOT_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNEXPECTED_EOF", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
_WANTS_CERTIFICATE = ("CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "HANDSHAKE_FAILURE", "CERTIFICATE_UNKNOWN")


def resolve(hosts: Iterable[str]) -> str:
    """Find the addresses of hosts and say them.

    Raises:
        RunError: nobody knows one of the names.
    """
    said = []
    for host in dict.fromkeys(hosts):
        try:
            found = {info[4][0] for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
        except (OSError, UnicodeError) as error:
            raise RunError(
                f"Nobody knows a computer called {host}.",
                f"{getattr(error, 'strerror', None) or error}.",
                "Look at the spelling, and whether this computer is in the network (VPN) that knows the name.",
            ) from error
        shown = ", ".join(sorted(map(str, found))[:3])
        said.append(f"{host} is an address itself." if {host} == found else f"{host} is {shown}.")
    return " ".join(said)


def check_port(places: Iterable[tuple[str, int]]) -> str:
    """See whether servers take connections; one that does is enough.

    Raises:
        RunError: none does.
    """
    refusals = {}
    tried = list(dict.fromkeys(places))
    for host, port in tried:
        try:
            socket.create_connection((host, port), timeout=SECONDS).close()
        except (OSError, OverflowError, UnicodeError) as error:
            refusals[host, port] = _why_closed(error)
    if len(refusals) == len(tried):
        (host, port), why = next(iter(refusals.items()))
        raise RunError(
            f"Nobody answers at port {port} of {host}.",
            why,
            "Look at the port, whether the server runs, and whether a firewall lets this computer through.",
        )
    answers = ", ".join(f"{host}:{port}" for host, port in tried if (host, port) not in refusals)
    silent = "".join(f" {host}:{port} does not: {why}" for (host, port), why in refusals.items())
    return f"{answers} answer{'s' if len(tried) - len(refusals) == 1 else ''}.{silent}"


def check_tls(host: str, port: int, tls: TlsFiles, *, before: bytes = b"", expects: bytes = b"") -> str:
    """Open a TLS connection, look at the certificate, and say what it is.

    Args:
        host: the computer.
        port: of the server.
        tls: certificates.
        before: what is sent in the clear to ask for TLS.
        expects: what the server answers to that.

    Raises:
        UserError: a file cannot be used, the server does not speak TLS, is not trusted, or does not trust us.
    """
    context = context_of(tls)
    try:
        with socket.create_connection((host, port), timeout=SECONDS) as plain:
            if before:
                plain.sendall(before)
                if plain.recv(len(expects)) != expects:
                    raise _no_tls(host, port)
            with context.wrap_socket(plain, server_hostname=host) as safe:
                if not tls.has_other_identity:
                    _listen(safe)
                return f"{safe.version() or 'TLS'}, {_certificate_text(safe)}."
    except ssl.SSLCertVerificationError as error:
        raise _untrusted(host, tls, error) from error
    except ssl.SSLError as error:
        raise _refusal(host, port, tls, error) from error
    except (ConnectionError, TimeoutError) as error:
        raise _no_tls(host, port) from error
    except OSError as error:
        raise RunError(f"The connection to {host}:{port} broke off.", f"{error}.", "Try again.") from error


def speaks_tls(host: str, port: int) -> bool:
    """Whether a port speaks TLS, whoever it is."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), timeout=SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host),
        ):
            return True
    except OSError as error:
        reason = getattr(error, "reason", None) or ""
        return isinstance(error, ssl.SSLError) and any(word in reason for word in _WANTS_CERTIFICATE)


def _why_closed(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"No answer within {SECONDS:.0f} seconds."
    return f"{getattr(error, 'strerror', None) or error}."


def _listen(safe: ssl.SSLSocket) -> None:
    """Wait a moment for a refusal: with TLS 1.3 a server that wants a certificate of ours says so only now."""
    safe.settimeout(_LISTENS_SECONDS)
    try:
        safe.recv(1)
    except TimeoutError:
        return


def _certificate_text(safe: ssl.SSLSocket) -> str:
    found = safe.getpeercert()
    if not found:
        return "certificate not looked at, as the profile says"
    listed: Any = found.get("subjectAltName", ())  # typeshed has it as a union of everything
    names = [str(value) for kind, value in listed if kind in ("DNS", "IP Address")]
    until = ssl.cert_time_to_seconds(str(found["notAfter"]))
    date = datetime.fromtimestamp(until, UTC).date().isoformat()
    return f"certificate for {', '.join(names[:3]) or 'nobody by name'}, good until {date}"


def _untrusted(host: str, tls: TlsFiles, error: ssl.SSLCertVerificationError) -> RunError:
    if error.verify_code in _WRONG_HOST:
        return RunError(
            f"The certificate is made out to somebody else than {host}.",
            f"{error.verify_message}.",
            "Use the name that the certificate has as host.",
        )
    if error.verify_code == _EXPIRED:
        return RunError("The certificate of the server has expired.", host, "Its owner must renew it.")
    if error.verify_code == _NOT_YET:
        return RunError("The certificate of the server is not valid yet.", host, "Look at the clock of this computer.")
    trusted = f"{tls.ca_file} does not" if tls.ca_file else "The authorities that this computer knows do not"
    return RunError(
        f"The certificate of {host} is not trusted.",
        f"{trusted} vouch for it: {error.verify_message}.",
        f"Give {tls.ca_setting} the file with the certificate of the authority that made it out.",
    )


def _refusal(host: str, port: int, tls: TlsFiles, error: ssl.SSLError) -> RunError:
    reason = error.reason or ""
    if any(word in reason for word in _NOT_TLS) or isinstance(error, ssl.SSLEOFError):
        return _no_tls(host, port)
    if any(word in reason for word in _WANTS_CERTIFICATE):
        what = "does not accept ours" if tls.certificate_file else "asks for a certificate of ours, and there is none"
        return RunError(
            f"{host}:{port} {what}.",
            hint="Give the certificate and its key that the server's owner made out for you.",
        )
    return RunError(f"TLS with {host}:{port} does not come about.", f"{reason or error}.", "Ask the server's owner.")


def _no_tls(host: str, port: int) -> RunError:
    return RunError(
        f"Port {port} of {host} does not speak TLS.",
        "The profile asks for it.",
        "Use the server's TLS port, or set the profile to go without.",
    )


_TLS_PROTOCOLS = ("ssl", "sasl_ssl")
_SHOWN_TOPICS = 3


class KafkaConnectionTest(ConnectionTest):
    """Tries a profile of Kafka."""

    def attempt(self) -> None:
        """Go from the settings to the topics."""
        self.begin("Settings")
        servers = find_kafka(self.profile.name)
        check_settings(servers)
        settings = servers.client_settings
        protocol = settings.get("security.protocol", "plaintext").lower()
        self.end(f"Kafka's client takes them; {_protocol_text(protocol)}.")
        places = _places(servers.bootstrap)
        self.begin("Name")
        self.end(resolve(host for host, _ in places))
        self.begin("Port")
        self.end(check_port(places))
        if protocol in _TLS_PROTOCOLS:
            self.begin("TLS")
            self.end(check_tls(*_answering(places), _files(settings)))
        self._look_around(servers, protocol)

    def _look_around(self, servers: KafkaServers, protocol: str) -> None:
        has_login = protocol.startswith("sasl")
        self.begin("Login" if has_login else "Kafka")
        facts = probe(servers, lambda: self.watch.is_cancelled)
        self.watch.step(f"Testing @{self.profile.name}", len(self.steps))
        if facts is None:
            raise _silence(_places(servers.bootstrap), protocol)
        user = servers.client_settings.get("sasl.username", "")
        self.end(f"{user or 'The login'} is let in." if has_login else "Kafka answers and asks for no login.")
        self.begin("Brokers")
        self._knock_at_brokers(facts.brokers)
        self.begin("Topics")
        count = len(facts.topics)
        some = f": {', '.join(facts.topics[:_SHOWN_TOPICS])}{' ...' if count > _SHOWN_TOPICS else ''}" if count else ""
        groups = "" if facts.groups is None else f"; {facts.groups} consumer group{'' if facts.groups == 1 else 's'}"
        self.end(f"{count} topic{'' if count == 1 else 's'} to be seen{some}{groups}.")

    def _knock_at_brokers(self, brokers: tuple[tuple[str, int], ...]) -> None:
        """Reach every broker by the name that it announces, which need not be the one that the profile has."""
        for host, port in brokers:
            try:
                resolve([host])
                check_port([(host, port)])
            except RunError as error:
                raise RunError(
                    f"The broker that announces itself as {host}:{port} cannot be reached.",
                    f"{error.title} {error.text}".strip(),
                    "Clients are sent to the address in the broker's advertised.listeners; it must be known here too.",
                ) from error
        shown = ", ".join(f"{host}:{port}" for host, port in brokers[:_SHOWN_TOPICS])
        more = " ..." if len(brokers) > _SHOWN_TOPICS else ""
        self.end(f"{len(brokers)} announced, {shown}{more}; {'it answers' if len(brokers) == 1 else 'all answer'}.")


def _silence(places: list[tuple[str, int]], protocol: str) -> RunError:
    """Find out why servers take a connection and then say nothing."""
    host, port = _answering(places)
    if protocol not in _TLS_PROTOCOLS and speaks_tls(host, port):
        wanted = "sasl_ssl" if protocol.startswith("sasl") else "ssl"
        return RunError(
            f"Port {port} of {host} speaks TLS, and the profile does not.",
            "The servers hang up on whoever speaks in the clear.",
            f"Set security.protocol={wanted}, or use the port without TLS.",
        )
    if protocol.startswith("sasl"):
        return RunError("The servers say nothing to the login.", hint="Look at security.protocol and sasl.mechanism.")
    return RunError(
        "The servers hang up without a word.",
        "They may ask for a login, or it is no Kafka that answers there.",
        f"Set security.protocol=sasl_{'ssl' if protocol == 'ssl' else 'plaintext'}, sasl.mechanism and "
        "sasl.username, or look at the port.",
    )


def _places(bootstrap: str) -> list[tuple[str, int]]:
    pairs = (place.rpartition(":") for place in bootstrap.split(","))
    return [(host.strip("[]"), int(port)) for host, _, port in pairs]


def _answering(places: list[tuple[str, int]]) -> tuple[str, int]:
    for place in places:
        try:
            check_port([place])
        except RunError:
            continue
        return place
    return places[0]


def _files(settings: dict[str, str]) -> TlsFiles:
    is_other = any(settings.get(name) for name in ("ssl.keystore.location", "ssl.key.pem", "ssl.certificate.pem"))
    return TlsFiles(
        ca_file=settings.get("ssl.ca.location", "").removeprefix("probe"),
        ca_text=settings.get("ssl.ca.pem", ""),
        certificate_file="" if is_other else settings.get("ssl.certificate.location", ""),
        key_file="" if is_other else settings.get("ssl.key.location", ""),
        key_password=settings.get("ssl.key.password", ""),
        is_verified=settings.get("enable.ssl.certificate.verification", "true").lower() != "false",
        is_host_verified=settings.get("ssl.endpoint.identification.algorithm", "https").lower() != "none",
        has_other_identity=is_other,
    )


def _protocol_text(protocol: str) -> str:
    login = "with a login" if protocol.startswith("sasl") else "without a login"
    return f"{login}, {'over TLS' if protocol in _TLS_PROTOCOLS else 'in the clear'}"


_PORTS = {"https": 443, "http": 80}
_COUNTED = 1000
_SHOWN_SUBJECTS = 3
_TITLES = {
    Api.APICURIO_3: "Apicurio's API, version 3",
    Api.APICURIO_2: "Apicurio's API, version 2",
    Api.CONFLUENT: "Confluent's API",
}


class RegistryConnectionTest(ConnectionTest):
    """Tries a profile of a registry."""

    def attempt(self) -> None:
        """Go from the settings to one schema."""
        self.begin("Settings")
        place = find_registry(f"@{self.profile.name}")
        parts = urlsplit(place.url)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        self.end(f"Asked {'over TLS' if parts.scheme == 'https' else 'in the clear'}, {_login_text(place)}.")
        self.begin("Name")
        self.end(resolve([host]))
        self.begin("Port")
        self.end(check_port([(host, port)]))
        if parts.scheme == "https":
            self.begin("TLS")
            self.end(check_tls(host, port, tls_files(place)))
        with RegistryConnection(place, lambda: self.watch.is_cancelled) as web:
            self.begin("Registry")
            registry = open_registry(web)
            self.end(f"{registry.about()}, asked by {_TITLES[registry.api]}.")
            self._read_one(registry)

    def _read_one(self, registry: Registry) -> None:
        self.begin("Schemas")
        found = list(islice(registry.subjects(), _COUNTED))
        if not found:
            self.end("There is none yet.")
            return
        versions = registry.versions(found[0])
        readable = [version for version in versions if not version.state]
        if readable:
            registry.entry(found[0], readable[-1])
        count = f"{len(found)} or more" if len(found) == _COUNTED else str(len(found))
        some = ", ".join(subject.shown for subject in found[:_SHOWN_SUBJECTS])
        self.end(f"{count} to be seen: {some}{' ...' if len(found) > _SHOWN_SUBJECTS else ''}. One was read.")


def _login_text(place: RegistryPlace) -> str:
    if place.token:
        return "with a token"
    return f"as {place.username}" if place.username else "without a login"


_VERSION = """
SELECT current_setting('server_version'), current_user, current_database(),
       coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)
"""
_TABLES = """
SELECT n.nspname, count(*), count(*) FILTER (WHERE has_table_privilege(c.oid, 'SELECT'))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND (%(schemas)s::text[] IS NULL OR n.nspname = ANY(%(schemas)s::text[]))
GROUP BY 1 ORDER BY 1
"""
_SHOWN_SCHEMAS = 4


class DatabaseConnectionTest(ConnectionTest):
    """Tries a profile of a database."""

    def attempt(self) -> None:
        """Go from the settings to the tables."""
        self.begin("Settings")
        place = find_database(f"@{self.profile.name}")
        mode = dict(place.settings).get("sslmode", "prefer")
        self.end(f"As {place.user or 'whom the system names'}, TLS: {mode}.")
        self.begin("Name")
        self.end(resolve([place.host]))
        self.begin("Port")
        self.end(check_port([(place.host, place.port)]))
        self.begin("Login")
        with connected(place) as connection:
            found = connection.execute(_VERSION).fetchone() or ("", "", "", False)
            self.end(f"PostgreSQL {found[0]}, {found[1]} in {found[2]}, {'over TLS' if found[3] else 'in the clear'}.")
            self.begin("Tables")
            schemas = list(place.schemas) or None
            rows = connection.execute(_TABLES, {"schemas": schemas}).fetchall()
            self.end(_tables_text(rows))


def _tables_text(rows: list[tuple[str, int, int]]) -> str:
    if not rows:
        return "There is none in the schemas that are read."
    shown = ", ".join(f"{count} in {name}" for name, count, _ in rows[:_SHOWN_SCHEMAS])
    closed = sum(count - readable for _, count, readable in rows)
    more = " ..." if len(rows) > _SHOWN_SCHEMAS else ""
    # Their columns are in the catalogue all the same; only an initial load needs the rows.
    note = f"; the rows of {closed} of them may not be read" if closed else ""
    return f"{shown}{more}{note}."
