"""A connection to a registry over HTTP, within limits of size and time and with its login.

A registry that refuses, or does not answer, ends in an error that says in words what it means.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from metl_gui.errors import RunCancelled, SchemaError, ServiceUnavailableError
from metl_gui.registry.addresses import RegistryPlace
from metl_gui.registry.documents import decode, parse_json
from metl_gui.registry.remote.tls import TlsFiles, context_of

_TOO_OFTEN, _TROUBLE = 429, 500
_MOST_SAID = 300


def refusal(place: RegistryPlace, answer: httpx.Response, raw: bytes) -> SchemaError:
    """Say what an answer means that is none."""
    code, who = answer.status_code, place.shown
    text = f"HTTP {code} for {answer.request.url.path}. {_said(raw)}".strip()
    if code == _TOO_OFTEN or code >= _TROUBLE:
        wait = _retry_after(answer.headers.get("Retry-After", ""))
        what = "asks us to come less often" if code == _TOO_OFTEN else "is not able to answer now"
        return ServiceUnavailableError(f"{who} {what}.", text, "Try again later.", wait)
    if code == 401:
        return SchemaError(f"{who} {_unknown(place)}.", text, "Give its profile username and password, or a token.")
    if code == 403:
        return SchemaError(f"{who} does not let us read this.", text, "Ask its owner for the right to read.")
    return SchemaError(f"{who} refuses what we ask.", text, "Look at its address.")


def unanswered(place: RegistryPlace, error: httpx.HTTPError) -> SchemaError:
    """Return why there is no answer."""
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
        return ServiceUnavailableError(
            f"{who} breaks off its answer.", f"{error}.", "Look whether it is a registry.", 0
        )
    reason = getattr(causes[-1], "strerror", None) or f"{causes[-1]}"
    if isinstance(error, httpx.TimeoutException):
        reason = "It does not answer in time"
    return ServiceUnavailableError(
        f"{who} does not answer.", f"{reason.rstrip('.')}.", "Look at its address, and whether it runs."
    )


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


MAX_BYTES = 64 * 2**20
"""A list of everything may be long; a single schema is never like this."""

MAX_BYTES_IN_ALL = 2 * 2**30
"""So much one connection may bring: tens of thousands of schemas of the largest kind."""

ANSWER_SECONDS = 60.0
"""So long one answer may take in all, however it drips."""

_TIMES = httpx.Timeout(20.0, connect=5.0)
_TRIES = 4
_PATIENCE_SECONDS = 15.0
_BACK_OFF_SECONDS = 0.25
_LOOK_SECONDS = 0.1
_REDIRECTS = 5
_ACCEPTS = "application/vnd.schemaregistry.v1+json, application/json, */*;q=0.5"
Parameters = Mapping[str, str | int]


class RegistryConnection:
    """A connection to one registry; used by several threads at once. A context manager that closes.

    Args:
        place: where it is and who asks.
        is_cancelled: asked while it waits; a person's wish to stop.

    Raises:
        SchemaError: a file of certificates cannot be used.
    """

    def __init__(self, place: RegistryPlace, is_cancelled: Callable[[], bool] = lambda: False) -> None:
        self.place = place
        self._is_cancelled = is_cancelled
        self._received = 0
        headers = {"Accept": _ACCEPTS}
        if place.token:
            headers["Authorization"] = f"Bearer {place.token}"
        login = httpx.BasicAuth(place.username, place.password) if place.username and not place.token else None
        self._client = httpx.Client(
            verify=context_of(tls_files(place)) if place.url.startswith("https://") else True,
            auth=login,
            headers=headers,
            timeout=_TIMES,
            limits=httpx.Limits(max_connections=16),
        )

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def json(self, url: str, **parameters: str | int) -> Any:
        """Ask for a JSON document.

        Raises:
            SchemaError: it refuses, or answers something else.
            ServiceUnavailableError: it does not answer.
        """
        found = self.find_json(url, **parameters)
        if found is None:
            raise self._missing(url)
        return found

    def find_json(self, url: str, **parameters: str | int) -> Any | None:
        """Ask for a JSON document; ``None`` where there is none.

        Raises:
            SchemaError: it refuses, or answers something else.
            ServiceUnavailableError: it does not answer.
        """
        text = self.find_text(url, **parameters)
        if text is None:
            return None
        if text.lstrip()[:1] == "<":
            raise self._no_registry("It answers with a page for people.")
        try:
            return parse_json(text)
        except SchemaError as error:
            raise self._no_registry(f"Its answer is no JSON. {error.text}".strip()) from error

    def find_text(self, url: str, **parameters: str | int) -> str | None:
        """Ask for a text as it is; ``None`` where there is none.

        Raises:
            SchemaError: it refuses, or answers something else.
            ServiceUnavailableError: it does not answer.
        """
        for attempt in range(1, _TRIES + 1):
            try:
                return self._once(url, parameters)
            except ServiceUnavailableError as error:
                wait = error.wait_seconds
                if wait is None or wait > _PATIENCE_SECONDS or attempt == _TRIES:
                    raise
                self._pause(max(wait, _BACK_OFF_SECONDS * 2**attempt))
        return None

    def _once(self, url: str, parameters: Parameters) -> str | None:
        for _ in range(_REDIRECTS + 1):
            try:
                with self._client.stream("GET", url, params=dict(parameters) or None) as answer:
                    if answer.is_redirect:
                        url, parameters = self._elsewhere(answer), {}
                        continue
                    if "," in answer.headers.get("content-encoding", ""):
                        # A piece of what comes is unpacked as a whole: once a thousandfold, twice a millionfold.
                        raise self._no_registry("What it sends is packed more than once.")
                    raw = b"".join(self._limited(answer))
            except httpx.InvalidURL as error:
                raise SchemaError("The address of the registry cannot be used.", f"{error}.", "Look at it.") from error
            except httpx.DecodingError as error:
                raise self._no_registry("What it sends is not packed as it says.") from error
            except httpx.HTTPError as error:
                raise unanswered(self.place, error) from error
            if answer.status_code in (404, 410):
                return None
            if answer.is_success:
                return self._decoded(raw)
            raise refusal(self.place, answer, raw)
        raise self._no_registry("It sends us from one address to the next without end.")

    def _limited(self, answer: httpx.Response) -> Iterator[bytes]:
        end, size = time.monotonic() + ANSWER_SECONDS, 0
        for part in answer.iter_bytes():
            size += len(part)
            self._received += len(part)
            if size > MAX_BYTES or self._received > MAX_BYTES_IN_ALL:
                limit = MAX_BYTES if size > MAX_BYTES else MAX_BYTES_IN_ALL
                raise SchemaError(
                    f"{self.place.shown} answers too much.",
                    f"It goes on beyond {limit // 2**20} MiB.",
                    "Look whether it is a registry, or ask for fewer subjects.",
                )
            self._look()
            if time.monotonic() > end:
                raise ServiceUnavailableError(
                    f"An answer of {self.place.shown} takes too long.", hint="Try again later."
                )
            yield part

    def _decoded(self, raw: bytes) -> str:
        try:
            return decode(raw)
        except SchemaError as error:
            raise self._no_registry(f"Its answer is no text: {error.text}") from error

    def _elsewhere(self, answer: httpx.Response) -> str:
        """Follow a redirect within the same server only: a login must not be carried to anybody else."""
        to = answer.next_request.url if answer.next_request is not None else httpx.URL("")
        was = answer.request.url
        if (to.scheme, to.host, to.port) == (was.scheme, was.host, was.port):
            return str(to)
        raise SchemaError(
            f"{self.place.shown} sends us elsewhere.",
            f"It names {to.scheme}://{to.host}{f':{to.port}' if to.port else ''}, which is not followed with a login.",
            "Use that address if you trust it.",
        )

    def _missing(self, url: str) -> SchemaError:
        return SchemaError(
            f"{self.place.shown} has no {urlsplit(url).path}.", "HTTP 404.", "Look at the address and at the name."
        )

    def _no_registry(self, why: str) -> SchemaError:
        return SchemaError(
            f"{self.place.shown} does not answer as a registry does.",
            why,
            "Look at the address: that of Apicurio ends in /apis/registry/v3, that of others is the bare host.",
        )

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._look()
            time.sleep(min(left, _LOOK_SECONDS))

    def _look(self) -> None:
        if self._is_cancelled():
            raise RunCancelled(f"Stopped while asking {self.place.shown}.")


def tls_files(place: RegistryPlace) -> TlsFiles:
    """Return the certificates that a place names."""
    return TlsFiles(
        ca_file=place.ca_file,
        certificate_file=place.certificate_file,
        key_file=place.key_file,
        key_password=place.key_password,
    )
