"""What is told of the members of an agreement: values without a client behind them."""

from __future__ import annotations

import msgspec


class PlanState(msgspec.Struct, frozen=True, kw_only=True):
    """One state of the matrix as lanes take it up.

    Args:
        state: its number.
        hash: its content hash.
        plan: the compiled plan, as the kernel reads it.
        publication: how many times something had been published when this was; grows with every publishing, so that
            an older copy of the project never overrules a newer one.
    """

    state: int
    hash: str
    plan: bytes
    publication: int = 0

    def __repr__(self) -> str:
        """Leave the plan, which may be megabytes, out of logs."""
        return f"PlanState({self.state}, {self.hash[:12]!r}, publication={self.publication})"


class MemberFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What a member of an agreement said last.

    Args:
        instance: its name, ``run/task``.
        state: the state that it maps with; None while it has none yet.
        ready_for: the newest state that it is ready for; None while it prepares.
        seconds_silent: how long nothing was heard of it.
        is_alive: whether the others wait for it.
        trouble: why it cannot take a state up, in words; empty when it can.
    """

    instance: str
    state: int | None
    ready_for: int | None
    seconds_silent: float
    is_alive: bool = True
    trouble: str = ""


class SetBackOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Go back to an offset of one partition.

    Args:
        id: names the order; whoever obeyed it writes it into the metadata of the offset, so that it is obeyed once.
        topic, partition, offset: where the next record is read.
    """

    id: str
    topic: str
    partition: int
    offset: int
