"""Keys that were forgotten: what their messages said up to then is gone, and does not come back when it is sent again.

A target keeps no such key, only a mark of it that nobody can make or undo without the secret.

Source: docs/reference/warehouse-model.md, "Forgotten keys".
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from metl_gui.core.dimensional.rows.epochs import HEAD
from metl_gui.core.dimensional.rows.messages import Message


class LastForgotten(msgspec.Struct, frozen=True):
    """Up to where messages of a schema are forgotten.

    Args:
        order_key: the greatest of them, with its epoch.
        commit: the latest of them: the log of a later epoch begins anew, and only times are held against it.
    """

    order_key: str
    commit: datetime

    def covers(self, message: Message) -> bool:
        """Return whether a message was written before, so also one that is sent again in a later epoch."""
        if message.order_key <= self.order_key:
            return True
        return message.order_key[:HEAD] > self.order_key[:HEAD] and message.commit <= self.commit


class ForgottenKey(msgspec.Struct, frozen=True):
    """A key of source rows that was forgotten.

    Args:
        row_key: canonical text of the key.
        last: by schema, up to where it was.
    """

    row_key: str
    last: Mapping[str, LastForgotten]

    def covers(self, row_key: str | None, message: Message) -> bool:
        """Return whether what a message says of a key is forgotten."""
        return row_key == self.row_key and message.schema in self.last and self.last[message.schema].covers(message)


def remembered(messages: Iterable[Message], forgotten: Iterable[ForgottenKey]) -> list[Message]:
    """Return messages without those of forgotten keys; others do not say any more that a row had such a key before.

    Args:
        messages: with their epochs.
        forgotten: keys.
    """
    keys = tuple(forgotten)
    found = []
    for message in messages:
        if any(key.covers(message.row_key, message) for key in keys):
            continue
        was = any(key.covers(message.old_key, message) for key in keys)
        found.append(msgspec.structs.replace(message, old_key=None) if was else message)
    return found


def mark_of(secret: bytes, entity: str, row_key: str) -> str:
    """Return the mark of a key, which tells nothing about it without the secret."""
    return hmac.digest(secret, f"{entity}\x1f{row_key}".encode(errors="surrogatepass"), "sha256").hex()
