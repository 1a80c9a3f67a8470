"""The rule by which all come to the same answer: a fold over the coordination topic, by the times of the broker.

What was announced last is in force from the first offset of the log at which every member that lives is ready for it. A
member lives for its session after its last word. Nothing but the log decides, so two who have read it up to the same
offset have the same answer, whenever they came, however slow they are and whatever their clocks say.

Compaction takes old words away, never those of the last quarter of an hour (``min.compaction.lag.ms``). So whoever
comes late decides nothing by offsets older than that, where it cannot know who lived; what was decided there, members
say as a fact. Where all died in the moment of a decision and nobody came for a quarter of an hour, nobody is left who
knows of it: whoever comes then begins with the state before, and takes the newest up as soon as it is ready.

Source: METL §3.4; docs/guide/production.md, "Change it without stopping it".
"""

from __future__ import annotations

from collections.abc import Iterable

from metl_gui.core.runs.lanes import MemberFigures
from metl_gui.engine.lanes.coordination import records as log
from metl_gui.engine.lanes.coordination.records import (
    Announced,
    Change,
    ChangeKey,
    DecodedRecord,
    Frozen,
    Heartbeat,
    KeyedRecord,
    MemberKey,
    Obeyed,
    PartitionKey,
    SetBackOrder,
)
from metl_gui.values import Value

KEPT_MS = 900_000
"""For so long the log is whole: the compaction lag of the topic."""

_CERTAIN_MS = 300_000
"""For so long before the end of the log a latecomer knows who lived, with room for sessions and for slow readers."""

_LONGEST_SESSION_MS = 300_000
"""Whatever a member says of its session, it blocks nobody for longer."""

_NEVER_MS = 1 << 62


class MemberStatus(Value):
    """What was heard of a member last.

    Args:
        beat: its words.
        since: the offset at which it joined.
        at_ms: when, by the clock of the fold.
    """

    beat: Heartbeat
    since: int
    at_ms: int

    def lives(self, clock_ms: int) -> bool:
        """Whether it is waited for at a time of the clock of the fold."""
        return clock_ms - self.at_ms <= min(self.beat.session_ms, _LONGEST_SESSION_MS)


class CoordinationState:
    """The answer at one offset of the log.

    Attributes:
        announced: what was announced and counts, by offset, in order.
        latest: the offset of the newest of it.
        in_force: the offset of what is in force; None before the first.
        frozen: who froze it and how; None while nobody ever did.
        members: what was heard of each member that has not taken leave.
        changes: where lanes stood when they took states up.
        orders, obeyed: the newest order to go back in a partition, and the id of the one that was obeyed last.
        unread: how many records nobody can read, and the key of the last of them.
        offset: of the last record taken; -1 for none.
        time_ms: its time.
    """

    def __init__(self) -> None:
        self.announced: dict[int, Announced] = {}
        self.latest: int | None = None
        self.in_force: int | None = None
        self.frozen: Frozen | None = None
        self.members: dict[str, MemberStatus] = {}
        self.changes: dict[ChangeKey, Change] = {}
        self.orders: dict[PartitionKey, SetBackOrder] = {}
        self.obeyed: dict[PartitionKey, str] = {}
        self.unread = (0, "")
        self.offset = -1
        self.time_ms = 0
        self.clock_ms = 0
        self._certain_from_ms = 0
        self._earliest: dict[str, int] = {}
        """By member: words of lives that began before this offset do not count."""

    @classmethod
    def of(cls, entries: Iterable[KeyedRecord], end_ms: int, now_ms: int) -> CoordinationState:
        """Fold a log as a latecomer finds it, which may lack words that are older than ``KEPT_MS``.

        Args:
            entries: all that is left of it, in order.
            end_ms: the time of the last of them.
            now_ms: the time now, by any clock: where the end is long ago, nothing at all is certain before it.
        """
        fold = cls()
        fold._certain_from_ms = end_ms - _CERTAIN_MS if now_ms - end_ms < _CERTAIN_MS else _NEVER_MS
        for entry in entries:
            fold.take(entry)
        fold._certain_from_ms = 0
        return fold

    @property
    def is_frozen(self) -> bool:
        """Whether newly announced states wait."""
        return self.frozen is not None and self.frozen.is_frozen

    @property
    def state_in_force(self) -> Announced | None:
        """What is in force."""
        return self.announced[self.in_force] if self.in_force is not None else None

    @property
    def pending(self) -> Announced | None:
        """What was announced last and is not in force yet, whether it is frozen or not."""
        return self.announced[self.latest] if self.latest is not None and self.latest != self.in_force else None

    def take(self, entry: KeyedRecord) -> None:
        """Go on by one record."""
        # A clock of a broker that jumps back stands still here; one that jumps ahead ends sessions, which is safe.
        self.clock_ms += max(0, entry.time_ms - self.time_ms) if self.offset >= 0 else 0
        self.offset, self.time_ms = entry.offset, entry.time_ms
        record = log.read(entry.key, entry.value)
        if record is not None:
            self._learn(record)
        elif entry.value is not None:
            self.unread = (self.unread[0] + 1, entry.key[:100])
        if entry.time_ms >= self._certain_from_ms:
            self._decide()

    def lives(self, instance: str) -> bool:
        """Whether a member is waited for."""
        heard = self.members.get(instance)
        return heard is not None and heard.lives(self.clock_ms)

    def figures(self, later_ms: int = 0) -> tuple[MemberFigures, ...]:
        """Tell of all members that lived lately, by name.

        Args:
            later_ms: how long ago the last record was written, for somebody who looks at a log that nobody writes to.
        """
        clock_ms = self.clock_ms + later_ms
        return tuple(
            MemberFigures(
                instance=instance,
                state=heard.beat.state,
                ready_for=heard.beat.ready_state,
                seconds_silent=(clock_ms - heard.at_ms) / 1000,
                is_alive=heard.lives(clock_ms),
                trouble=heard.beat.trouble,
            )
            for instance, heard in sorted(self.members.items())
            if clock_ms - heard.at_ms < KEPT_MS
        )

    def _learn(self, record: DecodedRecord) -> None:
        key, value = record
        match value:
            case Announced():
                self._announce(value)
            case Frozen():
                self.frozen = value
                self._believe(value.in_force)
        match key:
            case MemberKey(instance=instance):
                self._hear(instance, value if isinstance(value, Heartbeat) else None)
            case ChangeKey() if isinstance(value, Change):
                self.changes[key] = value
            case PartitionKey() if isinstance(value, SetBackOrder):
                self.orders[key] = value
            case PartitionKey() if isinstance(value, Obeyed):
                self.obeyed[key] = value.id

    def _hear(self, instance: str, beat: Heartbeat | None) -> None:
        if beat is None:
            self._earliest[instance] = self.offset
            self.members.pop(instance, None)
            return
        since = self.offset if beat.since is None else beat.since
        if not self._earliest.get(instance, -1) <= since <= self.offset:
            return  # the last words of one whose place another has taken; or nobody's
        self._earliest[instance] = since
        if beat.has_left:
            self.members.pop(instance, None)
            self._earliest[instance] = self.offset
        else:
            self.members[instance] = MemberStatus(beat, since, self.clock_ms)
        self._believe(beat.in_force)

    def _announce(self, announced: Announced) -> None:
        newest = self.announced[self.latest] if self.latest is not None else None
        if newest is None or announced.rank > newest.rank:
            self.announced[self.offset] = announced
            self.latest = self.offset

    def _believe(self, offset: int | None) -> None:
        """Take what a member knew to be in force; for whoever has read the whole log nothing new."""
        if offset is not None and offset in self.announced and (self.in_force is None or offset > self.in_force):
            self.in_force = offset

    def _decide(self) -> None:
        latest = self.latest
        if latest is None or latest == self.in_force:
            return
        if self.is_frozen and self.in_force is not None and not self.announced[latest].despite_freeze:
            return
        living = [heard for heard in self.members.values() if heard.beat.is_counted and heard.lives(self.clock_ms)]
        if living and all(latest in heard.beat.ready for heard in living):
            self.in_force = latest
