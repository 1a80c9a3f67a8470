"""One member of the coordination, without a client: what it reads goes in, what it says and may do comes out.

It says that it lives, joins once it is ready for what it will meet, prepares what is announced, and changes over when
the log says so. It may map only while its newest own words that it has read back are younger than its session: whoever
was stopped (a laptop's lid, SIGSTOP, a lost broker) may long have been given up by the others, finds its time over when
it wakes, and first reads what it missed.

Source: METL §3.4; docs/guide/production.md, "Change it without stopping it".
"""

from __future__ import annotations

import secrets

import msgspec

from metl_gui.engine.lanes.coordination.records import Announced, Heartbeat, KeyedRecord, member_key, read
from metl_gui.engine.lanes.coordination.state import CoordinationState

_MARGIN = 0.2
"""This part of a session is left unused, for clocks that run unlike each other."""

_JOIN_AGAIN_SECONDS = 5.0
_NEVER = float("-inf")


class CoordinationSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a member takes part.

    Args:
        lane: the lane (the consumer group) that orders to set back are for.
        session_seconds: after so long without a word a member is not waited for.
        beat_seconds: how often a member says that it lives.
        is_counted: others wait for it and it takes up what is in force; else it keeps its state (frozen, a test), and
            only hears orders.
    """

    lane: str
    session_seconds: float = 10.0
    beat_seconds: float = 1.0
    is_counted: bool = True


class Membership:
    """What a member knows and says. All times are seconds of one clock that goes on while the computer sleeps.

    Attributes:
        state: what it maps with; None for nothing yet.
        since: the offset at which it joined; None while it has not.
        is_fenced: another has taken its name, or it has left.
        lapses: how often it could map again after it could not, for want of words of its own.

    Args:
        instance: its name.
        settings: how it takes part.
        digest, state: the plan that it begins with.
        fold: the log so far, with everything that was there when it came.
    """

    def __init__(
        self, instance: str, settings: CoordinationSettings, digest: str, state: int, fold: CoordinationState
    ) -> None:
        self.instance = instance
        self.settings = settings
        self.fold = fold
        self.state: int | None = None if settings.is_counted else state
        self._maps_with = (digest, state)
        self.prepared: set[str] = {digest}
        self.refused: dict[str, str] = {}
        self.since: int | None = None
        self.is_fenced = False
        self.lapses = 0
        self.token = secrets.token_hex(8)
        self._own = member_key(instance)
        self._latest = fold.latest
        self._number = 0
        self._sent: dict[int, float] = {}
        self._said_at = _NEVER
        self._said: Heartbeat | None = None
        self._lease_until = _NEVER

    def begin_again(self, fold: CoordinationState) -> None:
        """Go on by a log that was read from its beginning once more; joins anew, with what it has prepared."""
        self.fold, self._latest = fold, fold.latest
        self.refused.clear()
        self._join_anew()

    @property
    def trouble(self) -> str:
        """Why it is not ready for what it is asked for, in words; empty when it is."""
        return next((self.refused[each.digest] for each in self._asked() if each.digest in self.refused), "")

    def take(self, entry: KeyedRecord) -> None:
        """Go on by one record of the log."""
        self.fold.take(entry)
        if self.fold.latest != self._latest:
            self._latest = self.fold.latest
            self.refused.clear()  # what is announced anew may stand there whole now
        if entry.key == self._own:
            self._hear_own(entry)

    def wanted(self) -> tuple[Announced, ...]:
        """Return what has to be prepared next, the most urgent first."""
        ready = self.prepared | self.refused.keys()
        return tuple(each for each in self._asked() if each.digest not in ready)

    def ready(self, digest: str) -> None:
        """Note that everything that mapping with a plan needs is made."""
        self.prepared.add(digest)

    def refuse(self, digest: str, why: str) -> None:
        """Note that a plan cannot be prepared here."""
        self.refused[digest] = why

    def next_heartbeat(self, now: float) -> Heartbeat | None:
        """Return what has to be said now, None for nothing."""
        if self.is_fenced or (self.since is None and not self._may_join(now)):
            return None
        beat = self._beat()
        is_news = self._said is None or msgspec.structs.replace(beat, number=self._said.number) != self._said
        if self.since is not None and not is_news and now - self._said_at < self.settings.beat_seconds:
            return None
        self._number += 1
        beat = msgspec.structs.replace(beat, number=self._number)
        self._said, self._said_at = beat, now
        self._sent = {n: at for n, at in self._sent.items() if now - at <= self.settings.session_seconds}
        self._sent[self._number] = now
        return beat

    def may_map(self, now: float) -> bool:
        """Whether what it maps with is agreed on at this moment."""
        if not self.settings.is_counted:
            return not self.is_fenced
        return now < self._lease_until and self.is_up_to_date and not self.is_fenced

    @property
    def is_up_to_date(self) -> bool:
        """Whether it has joined and what is in force is prepared."""
        in_force = self.fold.state_in_force
        return self.since is not None and in_force is not None and in_force.digest in self.prepared

    @property
    def has_switched(self) -> bool:
        """Whether it has changed over to what is in force."""
        in_force = self.fold.state_in_force
        return in_force is not None and (in_force.digest, in_force.state) == self._maps_with

    def switch(self) -> Announced | None:
        """Change over to what is in force; None when nothing changes, or it may not yet."""
        in_force = self.fold.state_in_force
        if not self.settings.is_counted or in_force is None or not self.is_up_to_date:
            return None
        if (in_force.digest, in_force.state) == self._maps_with:
            self.state = in_force.state
            return None
        self._maps_with = (in_force.digest, in_force.state)
        # Whatever was superseded is not needed again: who wants it back announces it anew.
        self.prepared &= {each.digest for each in self._asked()}
        return in_force

    def leave(self) -> Heartbeat | None:
        """Return the last words; None when it never joined."""
        if self.since is None or self.is_fenced:
            return None
        self.is_fenced = True
        return msgspec.structs.replace(self._beat(), has_left=True)

    def _asked(self) -> tuple[Announced, ...]:
        if not self.settings.is_counted:
            return ()
        return tuple(each for each in (self.fold.state_in_force, self.fold.pending) if each is not None)

    def _may_join(self, now: float) -> bool:
        """Join only when nobody has to wait for it; what comes meanwhile it prepares as a member."""
        if self._said is not None and now - self._said_at < _JOIN_AGAIN_SECONDS:
            return False
        if not self.settings.is_counted:
            return True
        # One that can never be ready for what is pending still maps with what is in force, and says why.
        in_force = self.fold.state_in_force
        can_map = in_force is None or in_force.digest in self.prepared
        return bool(self._asked()) and can_map and not self.wanted()

    def _beat(self) -> Heartbeat:
        fold = self.fold
        ready = tuple(offset for offset, each in fold.announced.items() if self._is_ready(offset, each))
        return Heartbeat(
            token=self.token,
            number=self._number,
            since=self.since,
            session_ms=round(self.settings.session_seconds * 1000),
            lane=self.settings.lane,
            is_counted=self.settings.is_counted,
            state=self.state,
            ready=ready,
            in_force=fold.in_force,
            ready_state=fold.announced[ready[-1]].state if ready else None,
            trouble=self.trouble,
        )

    def _is_ready(self, offset: int, announced: Announced) -> bool:
        return offset in {self.fold.in_force, self.fold.latest} and announced.digest in self.prepared

    def _hear_own(self, entry: KeyedRecord) -> None:
        word = read(entry.key, entry.value)
        beat = word.value if word is not None else None
        if word is not None and word.value is None:
            self._join_anew()  # somebody took it for gone
        elif not isinstance(beat, Heartbeat):
            return  # damaged; told with the log
        elif beat.token == self.token:
            if beat.since is None:
                self.since = entry.offset
            sent = self._sent.get(beat.number)
            if sent is not None and beat.since in {None, self.since}:
                self.lapses += sent > self._lease_until  # first, as whoever sees the new lease must see this
                session = self.settings.session_seconds * (1 - _MARGIN)
                self._lease_until = max(self._lease_until, sent + session)
        elif self.since is not None and beat.since is None:
            self.is_fenced = True  # another has joined by this name

    def _join_anew(self) -> None:
        self.since, self._said = None, None
        self._lease_until = _NEVER
        self._sent = {}
