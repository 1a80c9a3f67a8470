"""A world of members, a log and time for tests of the agreement: no broker, no thread, every order of events possible.

The log is what a broker would keep: every record with the time at which it arrived, compacted as Kafka may.
"""

from __future__ import annotations

import msgspec

from metl_gui.engine.lanes.coordination import records as log
from metl_gui.engine.lanes.coordination.member import CoordinationSettings, Membership
from metl_gui.engine.lanes.coordination.records import Announced, Frozen, KeyedRecord
from metl_gui.engine.lanes.coordination.state import KEPT_MS, CoordinationState

SETTINGS = CoordinationSettings(lane="lane", session_seconds=10.0, beat_seconds=1.0)


def announced(state: int, publication: int, again: int = 0, *, despite_freeze: bool = False) -> Announced:
    return Announced(
        state=state,
        hash=f"hash of {state}",
        digest=digest(state),
        chunks=1,
        publication=publication,
        again=again,
        despite_freeze=despite_freeze,
    )


def digest(state: int) -> str:
    return log.digest_of(b"plan of %d" % state)


class Member:
    """A member as its process has it: what it has read, and what it maps with.

    It knows less than the whole log would tell when compaction took the words away by which a state came into force,
    and nobody lived to say so.
    """

    def __init__(self, world: World, instance: str, state: int, settings: CoordinationSettings = SETTINGS) -> None:
        self.world = world
        self.membership = Membership(instance, settings, digest(state), state, CoordinationState())
        self.maps_with = state
        entries = world.kept()
        self.read_to = entries[-1].offset + 1 if entries else 0
        self.membership.begin_again(world.latecomer())
        self.knows_less = world.truth.in_force != self.membership.fold.in_force and not world.is_told

    def read(self, count: int = 1_000_000) -> None:
        for entry in self.world.after(self.read_to)[:count]:
            self.membership.take(entry)
            self.read_to = entry.offset + 1
            self.change_over()

    def change_over(self) -> None:
        taken = self.membership.switch()
        if taken is not None:
            self.maps_with = self.membership.state = taken.state

    def prepare(self) -> None:
        for wanted in self.membership.wanted():
            self.membership.ready(wanted.digest)

    def say(self) -> tuple[str, bytes] | None:
        self.change_over()
        beat = self.membership.next_heartbeat(self.world.seconds)
        return None if beat is None else (log.member_key(self.membership.instance), log.encoded(beat))

    def may_map(self) -> bool:
        self.change_over()
        return self.membership.may_map(self.world.seconds)


class World:
    """The log and the time of its broker, with everything that was ever written beside it."""

    def __init__(self) -> None:
        self.time_ms = 1_700_000_000_000
        self.entries: list[KeyedRecord] = []
        self.compacted: list[KeyedRecord] = []
        self.truth = CoordinationState()
        self.in_force_at: list[int | None] = []
        self.decided: list[int] = []
        """The places at which another state came into force."""

    @property
    def is_told(self) -> bool:
        """Whether anybody lived to say what is in force."""
        beats = [heard.beat for heard in self.truth.members.values()]
        return any(beat.in_force == self.truth.in_force for beat in beats)

    @property
    def seconds(self) -> float:
        return self.time_ms / 1000

    def write(self, key: str, value: bytes | None) -> int:
        entry = KeyedRecord(len(self.entries), self.time_ms, key, value)
        self.entries.append(entry)
        self.compacted.append(entry)
        before = self.truth.in_force
        self.truth.take(entry)
        found = self.truth.state_in_force
        self.in_force_at.append(found.state if found is not None else None)
        if self.truth.in_force != before:
            self.decided.append(entry.offset)
        return entry.offset

    def announce(self, each: Announced) -> int:
        return self.write(log.announced_key(), log.encoded(each))

    def freeze(self, is_frozen: bool) -> None:
        self.write(log.frozen_key(), log.encoded(Frozen(is_frozen=is_frozen, in_force=self.truth.in_force)))

    def say(self, member: Member) -> None:
        said = member.say()
        if said is not None:
            self.write(*said)

    def after(self, offset: int) -> list[KeyedRecord]:
        return self.entries[offset:]

    def kept(self) -> list[KeyedRecord]:
        return self.compacted

    def compact(self) -> None:
        """Keep of what is older than the lag only the newest word under each key, as a broker may at any time."""
        newest = {entry.key: entry.offset for entry in self.compacted}
        self.compacted = [
            entry
            for entry in self.compacted
            if self.time_ms - entry.time_ms < KEPT_MS or newest[entry.key] == entry.offset
        ]

    def latecomer(self) -> CoordinationState:
        entries = self.kept()
        return CoordinationState.of(entries, entries[-1].time_ms if entries else 0, self.time_ms)


def rewritten(value: bytes, **changes: object) -> bytes:
    """Change fields of a record as somebody hostile would."""
    document = msgspec.json.decode(value)
    return msgspec.json.encode(document | changes)
