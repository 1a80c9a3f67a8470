"""Whom a TLS connection trusts and what it shows of us, from the files that a profile names."""

from __future__ import annotations

import ssl
from pathlib import Path

from metl_gui.errors import SchemaError
from metl_gui.values import Value


class TlsFiles(Value):
    """What a profile says of certificates.

    Args:
        ca_file: whom to trust, a file or a folder; empty for whom the system trusts.
        ca_text: the same as text.
        certificate_file: what we show of ourselves; empty for nothing.
        key_file: the key that goes with it.
        key_password: of that key.
        ca_setting: how the profile calls the file of whom to trust, for the hints.
        is_verified: whether the other's certificate is looked at.
        is_host_verified: whether it must be made out to the host asked for.
        has_other_identity: we show a certificate that is not in these files.
    """

    ca_file: str = ""
    ca_text: str = ""
    certificate_file: str = ""
    key_file: str = ""
    key_password: str = ""
    ca_setting: str = "ssl.ca.location"
    is_verified: bool = True
    is_host_verified: bool = True
    has_other_identity: bool = False

    def __repr__(self) -> str:
        """Leave the password out of whatever is logged."""
        return f"TlsFiles({self.ca_file!r}, {self.certificate_file!r})"


def context_of(tls: TlsFiles) -> ssl.SSLContext:
    """Make what TLS connections are opened with.

    Raises:
        SchemaError: a file cannot be read, or does not hold what it should.
    """
    path = Path(tls.ca_file) if tls.ca_file else None
    is_folder = path is not None and path.is_dir()
    if path is not None and not is_folder:
        _check_file(tls.ca_file, tls.ca_setting)
    try:
        context = ssl.create_default_context(
            cafile=tls.ca_file if path is not None and not is_folder else None,
            capath=tls.ca_file if is_folder else None,
            cadata=tls.ca_text or None,
        )
    except (ssl.SSLError, OSError, ValueError) as error:
        raise SchemaError(
            "The file of trusted certificates cannot be used.",
            f"{tls.ca_file or tls.ca_setting}: it holds no certificate in PEM form.",
            f"Give {tls.ca_setting} a file with lines -----BEGIN CERTIFICATE-----.",
        ) from error
    context.check_hostname = tls.is_verified and tls.is_host_verified
    context.verify_mode = ssl.CERT_REQUIRED if tls.is_verified else ssl.CERT_NONE
    if tls.certificate_file:
        _add_identity(context, tls)
    return context


def _add_identity(context: ssl.SSLContext, tls: TlsFiles) -> None:
    for path in filter(None, (tls.certificate_file, tls.key_file)):
        _check_file(path, "The profile")
    try:
        # An empty password rather than none: else OpenSSL would ask for one on the terminal.
        context.load_cert_chain(tls.certificate_file, tls.key_file or None, password=tls.key_password or "")
    except (ssl.SSLError, OSError) as error:
        is_mismatch = "MISMATCH" in (getattr(error, "reason", None) or "")
        raise SchemaError(
            "Our own certificate cannot be used.",
            "Certificate and key do not belong together."
            if is_mismatch
            else "The key is of no known form, or its password is wrong or missing.",
            "Look at the two files and at the secret with the password of the key.",
        ) from error


def _check_file(path: str, what: str) -> None:
    try:
        with Path(path).open("rb"):
            return
    except OSError as error:
        raise SchemaError(
            f"{path} cannot be read.", f"{what} names it: {error.strerror}.", "Look at the path and its permissions."
        ) from error
