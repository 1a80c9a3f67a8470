"""What a registry that refuses or does not answer means, in words."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

import httpx

from metl_gui.errors import AwayError, SchemaError
from metl_gui.registry.documents import decode, parse_json
from metl_gui.registry.places import RegistryPlace

_TOO_OFTEN, _TROUBLE = 429, 500
_MOST_SAID = 300


def refusal(place: RegistryPlace, answer: httpx.Response, raw: bytes) -> SchemaError:
    """Say what an answer means that is none."""
    code, who = answer.status_code, place.shown
    text = f"HTTP {code} for {answer.request.url.path}. {_said(raw)}".strip()
    if code == _TOO_OFTEN or code >= _TROUBLE:
        wait = _retry_after(answer.headers.get("Retry-After", ""))
        what = "asks us to come less often" if code == _TOO_OFTEN else "is not able to answer now"
        return AwayError(f"{who} {what}.", text, "Try again later.", wait)
    if code == 401:
        return SchemaError(f"{who} {_unknown(place)}.", text, "Give its profile username and password, or a token.")
    if code == 403:
        return SchemaError(f"{who} does not let us read this.", text, "Ask its owner for the right to read.")
    return SchemaError(f"{who} refuses what we ask.", text, "Look at its address.")


def unanswered(place: RegistryPlace, error: httpx.HTTPError) -> SchemaError:
    """Say why there is no answer."""
    who, causes = place.shown, list(_causes(error))
    untrusted = next((one for one in causes if isinstance(one, ssl.SSLCertVerificationError)), None)
    if untrusted is not None:
        return SchemaError(
            f"The certificate of {who} is not trusted.",
            f"{untrusted.verify_message.rstrip('.')}.",
            "Give its profile ssl.ca.location, the file with the certificate of who made it out, or mend the host.",
        )
    if any(isinstance(one, ssl.SSLError) for one in causes):
        return SchemaError(
            f"TLS with {who} does not come about.",
            f"{causes[-1]}.",
            "Look whether the port speaks TLS, and whether it asks for a certificate of ours.",
        )
    if isinstance(error, httpx.ProtocolError | httpx.UnsupportedProtocol):
        return AwayError(f"{who} breaks off its answer.", f"{error}.", "Look whether it is a registry.", 0)
    reason = getattr(causes[-1], "strerror", None) or f"{causes[-1]}"
    if isinstance(error, httpx.TimeoutException):
        reason = "It does not answer in time"
    return AwayError(f"{who} does not answer.", f"{reason.rstrip('.')}.", "Look at its address, and whether it runs.")


def _unknown(place: RegistryPlace) -> str:
    if place.token:
        return "does not take the token"
    return f"does not let {place.username} in" if place.username else "asks who we are"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _said(raw: bytes) -> str:
    """Return what a registry says of its refusal, in one line."""
    try:
        document = parse_json(decode(raw))
    except SchemaError:
        return ""
    if not isinstance(document, dict):
        return ""
    said = next((document[word] for word in ("message", "title", "detail") if isinstance(document.get(word), str)), "")
    shown = "".join(letter for letter in " ".join(said.split()) if letter.isprintable())[:_MOST_SAID]
    return f"It says: {shown.rstrip('.')}." if shown else ""


def _retry_after(text: str) -> float:
    """Read how long a registry wants to be left alone: seconds, or a date; 0 where it does not say."""
    if text.strip().isdecimal() and len(text.strip()) < 7:
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0
