"""The way to a server: its name, its port, its certificate; what stands in the way is told in words."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from metl_gui.errors import RunError
from metl_gui.registry.remote.certificates import TlsFiles, context_of

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


def knock(places: Iterable[tuple[str, int]]) -> str:
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


def shake_hands(host: str, port: int, tls: TlsFiles, *, before: bytes = b"", expects: bytes = b"") -> str:
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
