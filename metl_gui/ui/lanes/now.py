"""What is known of a lane: how far it is, who maps with the same matrix, and what went wrong lately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metl_gui.engine.events import EngineEvent, LaneProgressed, LaneTroubled, MembersChanged
from metl_gui.engine.lanes.members import MemberFigures
from metl_gui.ui.lanes.course import LaneCourse
from metl_gui.ui.naming import number_of
from metl_gui.ui.run.amounts import amount, duration, duration_ns

_MOST_TROUBLES = 50
_NAMED = 3
STARTS = "its tasks are being started, or nothing came yet"


@dataclass(frozen=True)
class Trouble:
    """Something that went wrong.

    Args:
        second: of the run, as far as the lane had told by then.
        text: what.
        times: how often it was said in a row.
    """

    second: float
    text: str
    times: int = 1


class LaneNow:
    """A lane as its events tell it."""

    def __init__(self) -> None:
        self.course = LaneCourse()
        self.progress: LaneProgressed | None = None
        self.members: tuple[MemberFigures, ...] = ()
        self.troubles: list[Trouble] = []

    @property
    def is_known(self) -> bool:
        """Whether the run has told that it is a lane."""
        return self.progress is not None or bool(self.members) or bool(self.troubles)

    @property
    def lag(self) -> int:
        """How many records lie before it."""
        return sum(each.lag for each in self.progress.partitions) if self.progress is not None else 0

    @property
    def has_begun(self) -> bool:
        """Whether tasks of it have committed something."""
        known = self.progress
        return known is not None and (known.tally.read > 0 or any(each.task is not None for each in known.partitions))

    @property
    def is_troubled(self) -> bool:
        """Whether the last trouble came after the last progress: it cannot go on for now."""
        return bool(self.troubles) and (self.progress is None or self.troubles[-1].second >= self.progress.seconds)

    @property
    def facts(self) -> str:
        """How long it goes on, how far it is behind, how fast it is; and what keeps it."""
        known = self.progress
        if known is None:
            return self.troubles[-1].text if self.troubles else "waits for Spark"
        begins = f"lag {amount(self.lag)}" if self.has_begun else STARTS
        parts = [duration(known.seconds), begins]
        if known.latency.p99 is not None:
            parts.append(f"p99 {duration_ns(known.latency.p99 * 1e6)}")
        if known.waiting:
            parts.append(f"{amount(known.waiting)} waiting")
        if self.is_troubled:
            parts.append(self.troubles[-1].text)
        return " · ".join(parts)

    def take(self, event: EngineEvent) -> bool:
        """Take what a run tells, and return whether something of its lane is to be shown anew."""
        match event:
            case LaneProgressed():
                self.progress = event
                self.course.take(event)
            case MembersChanged(members=members):
                self.members = members
            case LaneTroubled(text=text):
                self._note(text)
            case _:
                return False
        return True

    def _note(self, text: str) -> None:
        last = self.troubles[-1] if self.troubles else None
        if last is not None and last.text == text:
            self.troubles[-1] = Trouble(self.course.seconds, text, last.times + 1)
        else:
            self.troubles = [*self.troubles[-_MOST_TROUBLES + 1 :], Trouble(self.course.seconds, text)]


def newest_of(members: Sequence[MemberFigures]) -> int:
    """Return the newest state that a member maps with or is ready for, 0 while there is none."""
    return max((max(each.state or 0, each.ready_for or 0) for each in members), default=0)


def members_words(members: Sequence[MemberFigures]) -> str:
    """Say in a sentence what the members on a matrix wait for."""
    alive = [each for each in members if each.is_alive]
    if not alive:
        return "Nobody maps with this matrix now."
    newest = newest_of(alive)
    if all(each.state == newest for each in alive):
        words = "The only member maps" if len(alive) == 1 else f"All {len(alive):,} members map"
        return f"{words} with state {newest:,}."
    unready = [each.instance for each in alive if max(each.ready_for or 0, each.state or 0) < newest]
    if not unready:
        return f"State {newest:,} is being taken up: {number_of(len(alive), 'member')} ready for it."
    named = ", ".join(unready[:_NAMED]) + (f" and {len(unready) - _NAMED:,} more" if len(unready) > _NAMED else "")
    ready = f"{len(alive) - len(unready):,} of {number_of(len(alive), 'member')}"
    return f"State {newest:,} waits for {named}: {ready} ready."
