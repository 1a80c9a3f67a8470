"""A member of the coordination of a matrix, with its clients and threads, and a watch for those who look on.

A member is one task of a lane, as it is what maps: a driver cannot vouch for tasks elsewhere, and a task that Spark
starts again joins by itself. What is in force is decided by ``state``, what a member says by ``member``, what is
announced by ``announcements``. Those who only look on are the driver of a lane, windows and commands.

In a task::

    member = StateCoordinator(servers, matrix, instance, started_with, settings, prepare)
    for ever:
        taken = member.poll()         # a state that is in force from now on; `prepare` has made its kernel before
        if taken: member.record_activation(positions)
        order = member.set_back(topic, partition)
        if not member.may_map: ...    # begin no transaction, abort the one that is open; and poll again
    when partitions were assigned:
        member.reassigned()           # may_map says no for the few ms until nothing is unread and unpolled

Source: METL §3.4; docs/guide/production.md, "Change it without stopping it".
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.lanes import MemberFigures
from metl_gui.core.runs.run_spec import PlanState
from metl_gui.engine.lanes.coordination import records as log
from metl_gui.engine.lanes.coordination.member import CoordinationSettings, Membership
from metl_gui.engine.lanes.coordination.records import (
    Announced,
    Change,
    ChangeKey,
    Obeyed,
    PartitionKey,
    SetBackOrder,
)
from metl_gui.engine.lanes.coordination.state import CoordinationState
from metl_gui.engine.lanes.coordination.topic import CoordinationReader, CoordinationWriter, read_plan, state_of
from metl_gui.errors import RunError, UserError

_log = logging.getLogger(__name__)
_POLL_SECONDS = 0.05
_AGAIN_SECONDS = 1.0
_CLOSE_SECONDS = 2.0


class CoordinationWatch:
    """Reads the coordination topic without being a member, as the driver of a lane and commands do.

    Args:
        servers: where the topic is.
        matrix: the id of the project.
    """

    def __init__(self, servers: KafkaServers, matrix: str) -> None:
        self._servers, self._topic = servers, log.topic_of(matrix)
        self._fold = CoordinationState()
        self._trouble = ""
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="agreement-watch", daemon=True)
        self._thread.start()

    @property
    def in_force(self) -> int | None:
        """The state that is in force, None before the first."""
        found = self._fold.state_in_force
        return found.state if found is not None else None

    @property
    def pending(self) -> int | None:
        """The state that was announced and is not in force yet."""
        found = self._fold.pending
        return found.state if found is not None else None

    @property
    def is_frozen(self) -> bool:
        """Whether nothing is taken up until somebody allows it again."""
        return self._fold.is_frozen

    @property
    def trouble(self) -> str:
        """Why nothing can be read at the moment; empty when it can."""
        return self._trouble

    @property
    def fold(self) -> CoordinationState:
        """Everything that is known; it goes on while somebody looks at it."""
        return self._fold

    def members(self) -> tuple[MemberFigures, ...]:
        """Return what is known of all members."""
        return self._fold.figures()

    def close(self) -> None:
        """End the thread that reads."""
        self._is_over.set()
        self._thread.join(_CLOSE_SECONDS)

    def _live(self) -> None:
        while not self._is_over.is_set():
            try:
                self._read()
            except UserError as error:
                self._trouble = f"{error.title} {error.text}".strip()
            except Exception as error:  # noqa: BLE001 - a thread's edge
                self._trouble = f"{type(error).__name__}: {error}"[:300]
                _log.exception("watching the agreement on the state ended in a fault of the program")
            self._is_over.wait(_AGAIN_SECONDS)

    def _read(self) -> None:
        reader = CoordinationReader(self._servers, self._topic)
        try:
            self._fold = state_of(list(reader.first()))
            self._trouble = ""
            while not self._is_over.is_set():
                for entry in reader.next(_POLL_SECONDS):
                    self._fold.take(entry)
        finally:
            reader.close()


_LOOK_SECONDS = 0.02
_SAY_AGAIN_SECONDS = 5.0
_NEVER = float("-inf")


def now() -> float:
    """Return seconds of a clock that goes on while the computer sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Prepare(Protocol):
    """Makes everything that mapping with a state needs, on a thread of the member, before it says that it is ready."""

    def __call__(self, state: PlanState, /) -> None:
        """Prepare; what it raises is told to people, and the state is not taken up by anybody meanwhile."""


class _CatchUp(NamedTuple):
    """How far a member is with reading what others may have read before it.

    Args:
        times: how many reasons to do so it has dealt with.
        asked: how many there had been when it asked for the end of the log.
        end: that end; None while it has not asked.
    """

    times: int = 0
    asked: int = 0
    end: int | None = None


class StateCoordinator:
    """One member of the coordination of a matrix. No call blocks: threads of its own wait.

    Args:
        servers: where the topic is.
        matrix: the id of the project.
        instance: names the member; a later one of the same name takes its place, and this one is fenced.
        started_with: the state that the lane was started with; prepared already.
        settings: how it takes part.
        prepare: see ``Prepare``.
    """

    def __init__(
        self,
        servers: KafkaServers,
        matrix: str,
        instance: str,
        started_with: PlanState,
        settings: CoordinationSettings,
        prepare: Prepare = lambda _state: None,
    ) -> None:
        self._servers, self._topic = servers, log.topic_of(matrix)
        self._settings, self._prepare = settings, prepare
        digest = log.digest_of(started_with.plan)
        self._membership = Membership(instance, settings, digest, started_with.state, CoordinationState())
        self._made: dict[str, PlanState] = {digest: started_with}
        self._offers: deque[tuple[int, PlanState]] = deque(maxlen=1)
        self._announced_at: int | None = None
        """Of the announcement of what is mapped with."""
        self._trouble = ""
        self._unread = 0
        self._outbox: queue.SimpleQueue[tuple[str, bytes]] = queue.SimpleQueue()
        self._unconfirmed: dict[str, tuple[bytes, float]] = {}
        self._times_assigned = 1
        self._caught_up = _CatchUp()
        self._is_over = threading.Event()
        self._is_preparing = threading.Event()
        self._thread = threading.Thread(target=self._live, name="agreement", daemon=True)
        self._thread.start()

    @property
    def may_map(self) -> bool:
        """Whether what this maps with is agreed on at this moment; ask before a transaction begins and before it ends.

        False until the log was read and what it says was polled, after a pause that was longer than the session, and
        once fenced.
        """
        may_map = self._membership.may_map(now())
        return may_map and (self._caught_up.times == self._times_behind or not self._settings.is_counted)

    @property
    def is_fenced(self) -> bool:
        """Whether a later member of the same name has come: this one must end."""
        return self._membership.is_fenced and not self._is_over.is_set()

    @property
    def trouble(self) -> str:
        """What keeps it from mapping or from a state, in words; empty for nothing."""
        return self._trouble or self._membership.trouble

    def poll(self) -> PlanState | None:
        """Return the state that is in force from now on, once, when it is another than before."""
        try:
            self._announced_at, taken = self._offers.popleft()
        except IndexError:
            return None
        self._membership.state = taken.state
        return taken

    def reassigned(self) -> None:
        """Read everything that stands in the log at this moment before ``may_map`` says yes again.

        For a task that got a partition: whoever had it may have mapped with a state that this one has not heard of.
        """
        self._times_assigned += 1

    def record_activation(self, positions: Mapping[tuple[str, int], int]) -> None:
        """Keep where each partition stood when a state was taken up, and after each assignment of partitions.

        What stands there already for the state that is mapped with stays: the first offset is the one to go back to.

        Args:
            positions: by topic and partition the offset of the next record.
        """
        fold = self._membership.fold
        announced_at = self._announced_at if self._announced_at is not None else fold.in_force
        if announced_at is None or announced_at not in fold.announced or not self._settings.is_counted:
            return
        for (topic, partition), offset in positions.items():
            key = ChangeKey(self._settings.lane, announced_at, topic, partition)
            if key not in fold.changes:
                change = Change(state=fold.announced[announced_at].state, offset=offset)
                self._outbox.put((log.change_key(key), log.encoded(change)))

    def set_back(self, topic: str, partition: int) -> SetBackOrder | None:
        """Return the newest order for a partition; obey it unless the metadata of the offset names it already."""
        return self._membership.fold.orders.get(PartitionKey(self._settings.lane, topic, partition))

    def confirm_order(self, order: SetBackOrder) -> None:
        """Tell whoever waits that an order was obeyed: the transaction with the offset is committed."""
        key = PartitionKey(self._settings.lane, order.topic, order.partition)
        self._outbox.put((log.obeyed_key(key), log.encoded(Obeyed(id=order.id))))

    def members(self) -> tuple[MemberFigures, ...]:
        """Return what is known of all members."""
        # A copy, as the thread of this member goes on meanwhile.
        return self._membership.fold.figures()

    def close(self) -> None:
        """Take leave, so that nobody waits for this member."""
        self._is_over.set()
        self._thread.join(2 * _CLOSE_SECONDS)  # where the servers are away, nobody hears it anyway

    @property
    def _times_behind(self) -> int:
        """How often there was reason to think that others know more: partitions came, or it was silent for long."""
        return self._times_assigned + self._membership.lapses

    def _live(self) -> None:
        """Read and say, until the end; a broker that is away is waited for."""
        while not self._is_over.is_set():
            try:
                self._stay()
            except UserError as error:
                self._trouble = f"{error.title} {error.text}".strip()
                _log.warning("%s", self._trouble)
            except Exception as error:  # noqa: BLE001 - a thread's edge
                self._trouble = f"{type(error).__name__}: {error}"[:300]
                _log.exception("the agreement on the state ended in a fault of the program")
            self._is_over.wait(_AGAIN_SECONDS)

    def _stay(self) -> None:
        reader = CoordinationReader(self._servers, self._topic)
        try:
            writer = CoordinationWriter(self._servers, self._topic, self._settings.session_seconds)
            self._membership.begin_again(state_of(list(reader.first())))
            self._caught_up, self._trouble = _CatchUp(), ""
            while not self._is_over.is_set():
                self._step(reader, writer)
            self._leave(writer)
        finally:
            reader.close()

    def _step(self, reader: CoordinationReader, writer: CoordinationWriter) -> None:
        membership = self._membership
        self._change_over()
        self._prepare_next()
        self._catch_up(reader)
        self._write(writer)
        for entry in reader.next(_LOOK_SECONDS):
            self._unconfirmed.pop(entry.key, None)
            membership.take(entry)
        unread, key = membership.fold.unread
        if unread and not self._unread:
            _log.warning(
                "%s holds records that nobody here can read, such as %r; they are passed over", self._topic, key
            )
        self._unread = unread
        writer.serve()

    def _change_over(self) -> None:
        taken = self._membership.switch()
        if taken is None:
            return
        plan = self._made[taken.digest].plan
        state = PlanState(state=taken.state, hash=taken.hash, plan=plan, publication=taken.publication)
        announced_at = self._membership.fold.in_force
        self._made = {digest: made for digest, made in self._made.items() if digest in self._membership.prepared}
        if announced_at is not None:
            self._offers.append((announced_at, state))

    def _prepare_next(self) -> None:
        wanted = self._membership.wanted()
        if wanted and not self._is_preparing.is_set():
            self._is_preparing.set()
            threading.Thread(target=self._make, args=(wanted[0],), name="prepare", daemon=True).start()

    def _make(self, announced: Announced) -> None:
        named = f"State {announced.state}"
        try:
            try:
                plan = read_plan(self._servers, self._topic, announced)
            except RunError as error:
                # Servers that are away come back, and the next step wants this state again.
                _log.warning("the plan of state %s is read again: %s", announced.state, error)
                self._is_over.wait(_AGAIN_SECONDS)
                return
            if plan is None:
                raise UserError(f"{named} does not stand whole in {self._topic}; publish or announce it again.")
            state = PlanState(state=announced.state, hash=announced.hash, plan=plan, publication=announced.publication)
            self._prepare(state)
            self._made[announced.digest] = state
            self._membership.ready(announced.digest)
        except Exception as error:  # noqa: BLE001 - a thread's edge
            _log.exception("state %s cannot be prepared", announced.state)
            self._membership.refuse(announced.digest, f"{named} cannot be prepared: {error}"[:300])
        finally:
            self._is_preparing.clear()

    def _catch_up(self, reader: CoordinationReader) -> None:
        """Let ``may_map`` say yes once everything that stood there at the last assignment was read and polled."""
        done = self._caught_up
        if done.times == self._times_behind or self._membership.since is None:
            return
        if done.end is None:
            self._caught_up = _CatchUp(done.times, self._times_behind, reader.end())
        elif reader.has_reached(done.end) and self._membership.has_switched and not self._offers:
            self._caught_up = _CatchUp(done.asked)

    def _write(self, writer: CoordinationWriter) -> None:
        beat = self._membership.next_heartbeat(now())
        if beat is not None:
            writer.write(log.member_key(self._membership.instance), log.encoded(beat))
        while not self._outbox.empty():
            key, value = self._outbox.get()
            self._unconfirmed[key] = (value, _NEVER)
        for key, (value, said_at) in list(self._unconfirmed.items()):
            if now() - said_at > _SAY_AGAIN_SECONDS:
                self._unconfirmed[key] = (value, now())
                writer.write(key, value)

    def _leave(self, writer: CoordinationWriter) -> None:
        last = self._membership.leave()
        if last is not None:
            writer.write(log.member_key(self._membership.instance), log.encoded(last))
        writer.flush(_CLOSE_SECONDS)
