"""Try Kafka servers: settings, names, ports, TLS, login, the brokers that they announce, and what is there."""

from __future__ import annotations

from metl_gui.engine.kafka.reach import check_settings, look
from metl_gui.engine.kafka.servers import KafkaServers
from metl_gui.errors import RunError
from metl_gui.registry.remote.certificates import TlsFiles
from metl_gui.workbench.profiles import find_kafka
from metl_gui.workbench.trials.network import knock, resolve, shake_hands, speaks_tls
from metl_gui.workbench.trials.steps import Trial

_TLS_PROTOCOLS = ("ssl", "sasl_ssl")
_SHOWN = 3


class KafkaTrial(Trial):
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
        self.end(knock(places))
        if protocol in _TLS_PROTOCOLS:
            self.begin("TLS")
            self.end(shake_hands(*_answering(places), _files(settings)))
        self._look_around(servers, protocol)

    def _look_around(self, servers: KafkaServers, protocol: str) -> None:
        has_login = protocol.startswith("sasl")
        self.begin("Login" if has_login else "Kafka")
        facts = look(servers, lambda: self.watch.is_cancelled)
        self.watch.step(f"Testing @{self.profile.name}", len(self.steps))
        if facts is None:
            raise _silence(_places(servers.bootstrap), protocol)
        user = servers.client_settings.get("sasl.username", "")
        self.end(f"{user or 'The login'} is let in." if has_login else "Kafka answers and asks for no login.")
        self.begin("Brokers")
        self._knock_at_brokers(facts.brokers)
        self.begin("Topics")
        count = len(facts.topics)
        some = f": {', '.join(facts.topics[:_SHOWN])}{' ...' if count > _SHOWN else ''}" if count else ""
        groups = "" if facts.groups is None else f"; {facts.groups} consumer group{'' if facts.groups == 1 else 's'}"
        self.end(f"{count} topic{'' if count == 1 else 's'} to be seen{some}{groups}.")

    def _knock_at_brokers(self, brokers: tuple[tuple[str, int], ...]) -> None:
        """Reach every broker by the name that it announces, which need not be the one that the profile has."""
        for host, port in brokers:
            try:
                resolve([host])
                knock([(host, port)])
            except RunError as error:
                raise RunError(
                    f"The broker that announces itself as {host}:{port} cannot be reached.",
                    f"{error.title} {error.text}".strip(),
                    "Clients are sent to the address in the broker's advertised.listeners; it must be known here too.",
                ) from error
        shown = ", ".join(f"{host}:{port}" for host, port in brokers[:_SHOWN])
        more = " ..." if len(brokers) > _SHOWN else ""
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
            knock([place])
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
