"""Asking the components that are asked over HTTP."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Collection, Mapping
from typing import Any

from metl_gui.errors import SetupError

_SECONDS = 20
_LOOK_SECONDS = 0.1
_TRIES = 50


def ask(
    method: str,
    url: str,
    document: object = None,
    *,
    headers: Mapping[str, str] | None = None,
    again: Collection[int] = (),
) -> Any:
    """Ask a component of ours and return the document it answers with.

    Args:
        method: GET, POST, PUT or DELETE.
        url: what is asked for.
        document: what is sent, as JSON.
        headers: further headers.
        again: the codes after which it is asked again for some seconds.

    Raises:
        SetupError: it refuses, or is not there.
    """
    request = urllib.request.Request(  # noqa: S310 - an address of ours
        url,
        method=method,
        data=json.dumps(document).encode() if document is not None else None,
        headers={"Content-Type": "application/json", **(headers or {})},
    )
    for attempt in range(1, _TRIES + 1):
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - an address of ours
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            if error.code not in again or attempt == _TRIES:
                told = error.read().decode(errors="replace")[:1200]
                raise SetupError(f"{method} {url} was refused with {error.code}.", told) from error
            time.sleep(_LOOK_SECONDS)
        except OSError as error:
            raise SetupError(f"{url} cannot be asked.", f"{error}.") from error
    return None


def answers(url: str) -> bool:
    """Whether a component gives what is asked for."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - an address of ours
            return bool(answer.status == 200)
    except OSError:
        return False
