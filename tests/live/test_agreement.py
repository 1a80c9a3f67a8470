"""Members of an agreement as real processes on a real broker: they meet, and whatever dies, they go on together."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from confluent_kafka import Producer

from metl_gui.core.runs.run_spec import PlanState
from metl_gui.engine.lanes.coordination import records as log
from metl_gui.engine.lanes.coordination.announcements import announce, announce_again, freeze
from metl_gui.engine.lanes.coordination.coordinator import CoordinationWatch
from metl_gui.engine.lanes.coordination.topic import read_state
from metl_gui.stack.kafka import KafkaBroker
from tests.live.agreement_member import MemberLine, MemberOrder, plan_of

pytestmark = pytest.mark.live

_SECONDS = 60.0
_SESSION_SECONDS = 3.0


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _SECONDS
    while not is_so():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.02)


class MemberProcess:
    """A member, and everything that it has printed."""

    def __init__(self, order: MemberOrder) -> None:
        self.order = order
        self.lines: list[MemberLine] = []
        command = [sys.executable, "-m", "tests.live.agreement_member", msgspec.json.encode(order).decode()]
        root = Path(__file__).parents[2]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def last(self) -> MemberLine:
        return self.lines[-1] if self.lines else MemberLine(state=0, may_map=False)

    def maps_with(self, state: int) -> bool:
        return self.last.may_map and self.last.state == state

    def send(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(msgspec.json.decode(line, type=MemberLine))


class Meeting:
    """The members of one matrix."""

    def __init__(self, broker: KafkaBroker, folder: Path) -> None:
        self.broker = broker
        self.folder = folder
        self.matrix = f"t{secrets.token_hex(4)}"
        self.members: list[MemberProcess] = []

    def join(self, state: int = 1, hold: str = "") -> MemberProcess:
        """Start a member as a lane does: its state is announced first."""
        announce(self.broker.servers, self.matrix, plan_of(state))
        order = MemberOrder(
            bootstrap=self.broker.bootstrap,
            matrix=self.matrix,
            instance=f"lane{len(self.members)}/0",
            state=state,
            publication=state,
            session_seconds=_SESSION_SECONDS,
            hold=str(self.folder / hold) if hold else "",
        )
        self.members.append(MemberProcess(order))
        return self.members[-1]

    def announce(self, state: int, plan: bytes = b"") -> None:
        announce(
            self.broker.servers, self.matrix, msgspec.structs.replace(plan_of(state), plan=plan or plan_of(state).plan)
        )

    def all_map_with(self, state: int, *members: MemberProcess) -> None:
        until(lambda: all(member.maps_with(state) for member in members or self.members))


@pytest.fixture
def meeting(kafka: KafkaBroker, tmp_path: Path) -> Iterator[Meeting]:
    made = Meeting(kafka, tmp_path)
    yield made
    for member in made.members:
        if member.process.poll() is None:
            member.send(signal.SIGCONT)
        member.end()


def test_instances_started_with_different_states_meet_on_the_newest_and_take_up_a_plan_of_ten_megabytes_together(
    meeting: Meeting,
) -> None:
    for state in (2, 3, 1):
        meeting.join(state)
    meeting.all_map_with(3)
    # The last was started with state 1 when 3 was announced: it never mapped with anything else.
    assert {line.state for line in meeting.members[2].lines if line.may_map} == {3}
    large = secrets.token_bytes(10 << 20)
    meeting.announce(4, large)
    meeting.all_map_with(4)
    assert [member.last.plan_bytes for member in meeting.members] == [len(large)] * 3


def test_a_member_killed_in_the_middle_of_a_change_is_waited_for_until_its_session_is_over(meeting: Meeting) -> None:
    hold = meeting.folder / "hold"
    first, dying, third = meeting.join(), meeting.join(hold="hold"), meeting.join()
    meeting.all_map_with(1)
    hold.touch()
    meeting.announce(2)
    until(lambda: Path(f"{hold}.seen").exists())
    watch = CoordinationWatch(meeting.broker.servers, meeting.matrix)
    try:
        until(lambda: sum(one.ready_for == 2 for one in watch.members()) == 2)
        assert (watch.in_force, watch.pending) == (1, 2)
        dying.send(signal.SIGKILL)
        meeting.all_map_with(2, first, third)
        until(lambda: not all(one.is_alive for one in watch.members()))  # it judges by what it has heard itself
        (dead,) = [one for one in watch.members() if not one.is_alive]
        assert dead.instance == dying.order.instance
        assert dead.seconds_silent > _SESSION_SECONDS
    finally:
        watch.close()


def test_a_member_stopped_for_longer_than_its_session_never_maps_with_what_the_others_left_behind(
    meeting: Meeting,
) -> None:
    first, sleeper = meeting.join(), meeting.join()
    meeting.all_map_with(1)
    sleeper.send(signal.SIGSTOP)
    meeting.announce(2)
    meeting.all_map_with(2, first)
    known = len(sleeper.lines)
    sleeper.send(signal.SIGCONT)
    meeting.all_map_with(2)
    assert {line.state for line in sleeper.lines[known:] if line.may_map} == {2}


def test_a_broker_restarted_in_the_middle_of_a_change_leads_to_the_same_state_for_all(meeting: Meeting) -> None:
    hold = meeting.folder / "hold"
    meeting.join()
    meeting.join(hold="hold")
    meeting.all_map_with(1)
    hold.touch()
    meeting.announce(2)
    until(lambda: Path(f"{hold}.seen").exists())
    meeting.broker.kill()
    # Nobody can be sure any more that the others still wait.
    until(lambda: not any(member.last.may_map for member in meeting.members))
    known = [len(member.lines) for member in meeting.members]
    meeting.broker.restart()
    hold.unlink()
    meeting.all_map_with(2)
    # Whoever was heard first did not wait for the other, whose session was over; so nobody goes back to state 1.
    for member, count in zip(meeting.members, known, strict=True):
        mapped = [line.state for line in member.lines[count:] if line.may_map]
        assert mapped == sorted(mapped)


def test_what_is_frozen_waits_and_an_earlier_state_is_gone_back_to_until_something_is_published(
    meeting: Meeting,
) -> None:
    servers, matrix = meeting.broker.servers, meeting.matrix
    meeting.join()
    meeting.join()
    meeting.announce(2)
    meeting.all_map_with(2)
    freeze(servers, matrix, is_frozen=True, who="Ada")
    meeting.announce(3)
    assert announce_again(servers, matrix, plan_of(1), "Ada")
    meeting.all_map_with(1)
    assert not any(line.state == 3 for member in meeting.members for line in member.lines)
    freeze(servers, matrix, is_frozen=False, who="Ada")
    late = meeting.join(3)  # a lane that starts with what is published overrules nobody
    meeting.all_map_with(1)
    assert not any(line.may_map and line.state != 1 for line in late.lines)
    meeting.announce(4)
    meeting.all_map_with(4)


def test_hostile_records_and_a_damaged_plan_stop_nobody_and_announcing_again_mends_it(meeting: Meeting) -> None:
    first = meeting.join()
    meeting.all_map_with(1)
    topic = log.topic_of(meeting.matrix)
    producer = Producer({"bootstrap.servers": meeting.broker.bootstrap})
    for key, value in (
        (b"\xff\xfe", b"\x00"),
        (b"member/" + first.order.instance.encode(), b"{" * 100_000),
        (b"announced/0", b'{"state": "x"}'),
        (b"frozen/0", b"[]"),
        (b"plan/../x", b"x"),
    ):
        producer.produce(topic, value, key, partition=0)
    damaged = PlanState(state=2, hash="h", plan=b"as it should be", publication=2)
    announced = log.Announced(state=2, hash="h", digest=log.digest_of(damaged.plan), chunks=1, publication=2)
    producer.produce(topic, b"something else", f"plan/{announced.digest}/0".encode(), partition=0)
    producer.produce(topic, log.encoded(announced), log.announced_key().encode(), partition=0)
    assert producer.flush(_SECONDS) == 0
    until(lambda: "does not stand whole" in first.last.trouble)
    assert first.maps_with(1)
    assert announce_again(meeting.broker.servers, meeting.matrix, damaged)
    meeting.all_map_with(2)
    assert read_state(meeting.broker.servers, topic).unread[0] > 0
