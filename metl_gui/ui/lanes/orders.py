"""What a person may order a lane, by name, and what is said before it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from metl_gui.ui.moments import on
from metl_gui.workbench.lanes import Agreement, Lane
from metl_gui.workbench.lanes_set_back import SetBackPlan

if TYPE_CHECKING:
    from metl_gui.engine.lanes.setting_back import PartitionBack

FREEZE, UNFREEZE, ROLL_BACK, SET_BACK, LOAD = "freeze", "unfreeze", "roll_back", "set_back", "load"
ORDERS = {
    FREEZE: "Freeze the state…",
    UNFREEZE: "Follow what is published…",
    ROLL_BACK: "Roll back…",
    SET_BACK: "Set offsets back…",
    LOAD: "Load existing rows…",
}
_ALL = "This holds for every lane of the project on these servers, on whatever computer."
_NOTHING = "Nothing is repeated."


def freeze_words(lane: Lane) -> str:
    """Say what freezing does."""
    agreed = lane.agreement
    state = f"state {agreed.in_force:,}" if agreed is not None and agreed.in_force is not None else "its state"
    return f"The lane stays with {state}; what is published meanwhile waits. {_NOTHING} {_ALL}"


def unfreeze_words(lane: Lane) -> str:
    """Say what following again does."""
    pending = lane.agreement.pending if lane.agreement is not None else None
    what = "What is published is taken up again" if pending is None else f"State {pending:,} waits, and is taken up"
    return f"{what} between two transactions, once all members are ready. {_NOTHING} {_ALL}"


def roll_back_words(lane: Lane, state: int, since: Sequence[PartitionBack]) -> str:
    """Say what rolling back does, and what was mapped with the state that is in force."""
    records = sum(back.records for back in since)
    agreed = lane.agreement
    words = f"Records from then on are mapped with state {state:,}, until something is published anew. {_ALL}"
    if not records or agreed is None or agreed.in_force is None:
        return f"{words}\n{_NOTHING}"
    return (
        f"{words}\nWith state {agreed.in_force:,} this lane has mapped up to {records:,} records. They stay as they "
        "are, unless you map them again too."
    )


def set_back_words(plan: SetBackPlan) -> str:
    """Say what setting back repeats."""
    moved = [back for back in plan.partitions if back.records]
    if not moved:
        return "Nothing would be repeated: the lane stands there, or before it."
    oldest = min((back.from_ms for back in moved if back.from_ms is not None), default=None)
    since = f", the oldest of {on(oldest)}" if oldest is not None else ""
    gone = sum(back.gone for back in plan.partitions)
    lost = f" {gone:,} offsets that were asked for are not in the topics any more." if gone else ""
    how = "Its tasks go back between two transactions." if plan.is_live else "The lane does not run; it begins there."
    return (
        f"Up to {plan.records:,} records of {len(moved):,} of {len(plan.partitions):,} partitions are mapped again"
        f"{since}. Their messages come once more, with the same positions.{lost} {how}"
    )


def agreement_words(lane: Lane) -> str:
    """Say how the state of a lane is held, in one line."""
    if lane.keeps_its_state:
        return "Was started to stay with its state."
    agreed = lane.agreement
    if agreed is None:
        return lane.trouble or "Takes what is published, between two transactions."
    if not agreed.is_frozen:
        return "Takes what is published, between two transactions."
    who = f", by {agreed.frozen_by}" if agreed.frozen_by else ""
    waits = f" State {agreed.pending:,} waits." if agreed.pending is not None else ""
    in_force = f"state {agreed.in_force:,}" if agreed.in_force is not None else "its state"
    return f"Frozen{who}: stays with {in_force}, whatever is published.{waits}"


def done_words(order: str, agreed: Agreement) -> str:
    """Say what came of freezing or following."""
    state = f"state {agreed.in_force:,}" if agreed.in_force is not None else "no state yet"
    return f"The lanes stay with {state}." if order == FREEZE else f"The lanes follow what is published; now {state}."
