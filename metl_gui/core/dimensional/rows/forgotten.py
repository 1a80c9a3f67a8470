"""Keys that were forgotten: what their messages said up to then is gone, and does not come back when it is sent again.

A target keeps no such key, only a mark of it that nobody can make or undo without the secret.

Source: docs/reference/warehouse-model.md, "Forgotten keys".
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping

import msgspec

from metl_gui.core.dimensional.rows.messages import Message


class ForgottenKey(msgspec.Struct, frozen=True):
    """A key of source rows that was forgotten.

    Args:
        row_key: canonical text of the key.
        last: by schema, the order key up to which it was.
    """

    row_key: str
    last: Mapping[str, str]

    def covers(self, schema: str, row_key: str | None, order_key: str) -> bool:
        """Return whether a place in the log of a row is forgotten."""
        return row_key == self.row_key and order_key <= self.last.get(schema, "")


def remembered(messages: Iterable[Message], forgotten: Iterable[ForgottenKey]) -> list[Message]:
    """Return messages without those of forgotten keys; others do not say any more that a row had such a key before."""
    keys = tuple(forgotten)
    found = []
    for message in messages:
        schema, order = message.schema, message.order_key
        if any(key.covers(schema, message.row_key, order) for key in keys):
            continue
        was = any(key.covers(schema, message.old_key, order) for key in keys)
        found.append(msgspec.structs.replace(message, old_key=None) if was else message)
    return found


def mark_of(secret: bytes, entity: str, row_key: str) -> str:
    """Return the mark of a key, which tells nothing about it without the secret."""
    return hmac.digest(secret, f"{entity}\x1f{row_key}".encode(errors="surrogatepass"), "sha256").hex()
