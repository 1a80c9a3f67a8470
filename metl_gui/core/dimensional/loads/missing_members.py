"""A member of a dimension that no message has brought, as a target knows it.

Source: docs/reference/warehouse-model.md, "Keys, misses, re-keying".
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec


class MissingMember(msgspec.Struct, frozen=True, kw_only=True):
    """A member that is missing.

    Args:
        dimension: whose member it is.
        key: its business key.
        fact: what refers to it; empty where no fact does.
        role: by which reference.
        kind: it is inferred, facts wait for it, or they refer to what is unknown.
        facts: how many refer to it.
        since: the earliest event time of these, where the target has it.
    """

    dimension: str
    key: tuple[str, ...]
    fact: str
    role: str
    kind: Literal["inferred", "waiting", "unknown"]
    facts: int
    since: datetime | None = None

    @property
    def words(self) -> str:
        """What refers to it, for people."""
        facts = f"{self.facts:,} fact{'' if self.facts == 1 else 's'} of {self.fact} by {self.role}"
        since = f" since {self.since:%Y-%m-%d %H:%M}" if self.since is not None else ""
        return f"{self.kind}, {facts}{since}"
