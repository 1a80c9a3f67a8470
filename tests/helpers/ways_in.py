"""The ways into the tests' Kafka broker besides the one in the clear: with a login, over TLS, with both.

One port for each. ``SCRAMMER`` is known to the broker itself, ``USER`` and ``GUEST`` to its settings; all of them have
``PASSWORD``. Access lists hold the guest alone: whoever else is let in may do everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._scram import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from metl_gui.stack.component import free_port
from metl_gui.stack.kafka import KafkaBroker
from tests.helpers.web_servers import Certificates, make_certificates

USER, SCRAMMER, GUEST, PASSWORD = "tess", "scrammer", "gwen", "hush-1"
SCRAM = "SCRAM-SHA-512"
_MODULES = "org.apache.kafka.common.security"
_PROTOCOLS = {
    "PLAINTEXT": "PLAINTEXT",
    "CONTROLLER": "PLAINTEXT",
    "LOGIN": "SASL_PLAINTEXT",
    "SAFE": "SSL",
    "COMPANY": "SASL_SSL",
    "BOTH": "SASL_SSL",
}


@dataclass(frozen=True)
class WaysIn:
    """Ports of one broker.

    Args:
        clear, control: in the clear, and of its controller.
        login: with a login.
        safe: over TLS.
        company: over TLS with a login, as most companies have it.
        both: over TLS with a login and a certificate of the client's.
        certificates: whom to trust, and what to show.
    """

    clear: int
    control: int
    login: int
    safe: int
    company: int
    both: int
    certificates: Certificates

    @classmethod
    def find(cls, folder: Path) -> WaysIn:
        """Find free ports and make certificates in a folder."""
        made = make_certificates(folder)
        made.server.with_name("keystore.pem").write_text(made.server_key.read_text() + made.server.read_text())
        clear, control, login, safe, company, both = (free_port() for _ in range(6))
        return cls(clear, control, login, safe, company, both, made)

    def broker(self) -> KafkaBroker:
        """Return a broker, not yet started, that lets in these ways."""
        return KafkaBroker(ports=(self.clear, self.control), settings=self._settings())

    def _settings(self) -> dict[str, str]:
        ports = {"LOGIN": self.login, "SAFE": self.safe, "COMPANY": self.company, "BOTH": self.both}
        shown = [f"PLAINTEXT://127.0.0.1:{self.clear}", *(f"{name}://localhost:{port}" for name, port in ports.items())]
        users = " ".join(f'user_{name}="{PASSWORD}"' for name in (USER, GUEST))
        plain = f"{_MODULES}.plain.PlainLoginModule required {users};"
        scram = f"{_MODULES}.scram.ScramLoginModule required;"
        bearer = f"{_MODULES}.oauthbearer.OAuthBearerLoginModule"
        logins = {
            "login.plain": plain,
            "login.scram-sha-512": scram,
            "login.oauthbearer": f'{bearer} required unsecuredLoginStringClaim_sub="x";',
            "company.scram-sha-512": scram,
            "both.plain": plain,
        }
        return {
            "listeners": ",".join([*shown, f"CONTROLLER://127.0.0.1:{self.control}"]),
            "advertised.listeners": ",".join(shown),
            "listener.security.protocol.map": ",".join(f"{name}:{spoken}" for name, spoken in _PROTOCOLS.items()),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": ";".join(f"User:{name}" for name in ("ANONYMOUS", USER, SCRAMMER)),
            "sasl.enabled.mechanisms": f"PLAIN,{SCRAM},OAUTHBEARER",
            "listener.name.company.sasl.enabled.mechanisms": SCRAM,
            "listener.name.both.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.both.ssl.client.auth": "required",
            **{f"listener.name.{name}.sasl.jaas.config": text for name, text in logins.items()},
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.certificates.server.with_name("keystore.pem")),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.certificates.authority),
        }


def add_scrammer(broker: KafkaBroker) -> None:
    """Make the broker know the user whose password it keeps itself."""
    how = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    change = UserScramCredentialUpsertion(SCRAMMER, how, PASSWORD.encode())
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})  # answers come as long as it is there
    for done in admin.alter_user_scram_credentials([change]).values():
        done.result(30)
