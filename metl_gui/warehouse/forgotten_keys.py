"""Forgotten keys of a target: told by marks that the secret of the target makes.

Source: docs/reference/warehouse-model.md, "Forgotten keys".
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

import msgspec

from metl_gui.core.dimensional.rows.forgotten import mark_of
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget, has_columns
from metl_gui.warehouse.plans.histories.forget_plan import (
    FORGOTTEN,
    FORGOTTEN_AT,
    create_stubs,
    last_query,
    leave_out_plan,
    marks_query,
    purge_statements,
    staged_keys_query,
    stubs_table,
    unlink_statements,
)
from metl_gui.warehouse.plans.histories.history_tables import add_column
from metl_gui.warehouse.plans.statements import name

Secret: TypeAlias = Callable[[], bytes]
"""Returns the secret of a target; asked only where something was forgotten, or is to be."""

_PROOF, _PROVES = "forgotten_with", "secret of forgotten keys"
_AT_ONCE = 500


class Purge(msgspec.Struct, frozen=True, kw_only=True):
    """What was taken out when a key was forgotten.

    Args:
        messages: of the history.
        set_aside: messages that no table could hold.
        links: messages that said that their row had the key before.
        numbers: of members and versions.
        linked: other keys that rows had which had this one.
    """

    messages: int = 0
    set_aside: int = 0
    links: int = 0
    numbers: int = 0
    linked: tuple[str, ...] = ()


class ForgottenKeys:
    """The forgotten keys of a target, within a transaction.

    Args:
        target: the target.
        secret: of the target; None where nobody has one.
    """

    def __init__(self, target: WarehouseTarget, secret: Secret | None) -> None:
        self.target, self._ask = target, secret
        self._known: bytes | None = None

    def leave_out(self, entity: str) -> int:
        """Take forgotten keys out of a batch, and return how many messages went.

        Cost: the different keys of the batch, where keys of their schemas were forgotten; else nothing.

        Raises:
            TargetError: the secret is not there, or is another.
        """
        marks = {mark for (mark,) in self.target.rows(marks_query(entity))}
        keys = [key for (key,) in self.target.rows(staged_keys_query(entity))] if marks else []
        if not keys:
            return 0
        secret = self.secret()
        stubs = [(key, mark) for key in keys if (mark := mark_of(secret, entity, key)) in marks]
        if not stubs:
            return 0
        self.target.step(create_stubs(entity))
        for at in range(0, len(stubs), _AT_ONCE):
            some = stubs[at : at + _AT_ONCE]
            values = ", ".join("(?, ?)" for _ in some)
            self.target.run(
                f"INSERT INTO {name(stubs_table(entity))} (row_key, mark) VALUES {values}",
                [value for one in some for value in one],
            )
        messages, links = leave_out_plan(entity)
        self.target.run(links)
        return self.target.run(messages)

    def remember(self, entity: str, row_key: str) -> None:
        """Keep the mark of a key and up to where it is forgotten.

        Raises:
            TargetError: no message has the key, or the secret is not there, or is another.
        """
        found = self.target.rows(last_query(entity), [row_key] * 4)
        if not found:
            text = f"{self.target.title} has no message of {entity} with it."
            raise TargetError("The key is not known", text, "Give it as messages have it, such as {“id”: 5}.")
        mark = mark_of(self.secret(), entity, row_key)
        if not has_columns(self.target, FORGOTTEN, FORGOTTEN_AT):
            self.target.run(add_column(FORGOTTEN, FORGOTTEN_AT, "TIMESTAMPTZ"))
        now = datetime.now(UTC)
        for schema, last, commit in found:
            self.target.run(
                f"DELETE FROM {FORGOTTEN} WHERE entity = ? AND schema = ? AND mark = ?", [entity, schema, mark]
            )
            values = [entity, schema, mark, last, commit, now]
            self.target.run(f"INSERT INTO {FORGOTTEN} VALUES (?, ?, ?, ?, ?, ?)", values)

    def purge(self, entity: str, row_key: str) -> Purge:
        """Take the messages of a key out of what is kept of an entity."""
        messages, set_aside = (self.target.run(one, [row_key]) for one in purge_statements(entity))
        links = sum(self.target.run(one, [row_key]) for one in unlink_statements(entity))
        return Purge(messages=messages, set_aside=set_aside, links=links)

    def secret(self) -> bytes:
        """Return the secret; the first that is used is the target's from then on.

        Raises:
            TargetError: it is not there, or is another.
        """
        if self._known is None:
            self._known = self._checked()
        return self._known

    def _checked(self) -> bytes:
        if self._ask is None:
            text = f"Keys were forgotten in {self.target.title}, and messages of them cannot be told without it."
            raise TargetError("The secret of the target is missing", text, "Load with metl run or metl warehouse load.")
        secret = self._ask()
        proof = hmac.digest(secret, _PROVES.encode(), "sha256").hex()
        known = self._proof()
        if not known:
            self.target.run("INSERT INTO metl_target VALUES (?, ?)", [_PROOF, proof])
        elif not hmac.compare_digest(known[0], proof):
            text = f"Keys were forgotten in {self.target.title} with another secret than the one that is given."
            raise TargetError(
                "This is not the secret of the target", text, "Give the one with which keys were forgotten."
            )
        return secret

    def _proof(self) -> Sequence[str]:
        return [value for (value,) in self.target.rows("SELECT value FROM metl_target WHERE name = ?", [_PROOF])]
