"""Whatever happens in whatever order: nobody maps with another state than the log has in force where they have read."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from metl_gui.engine.lanes.coordination import records as log
from metl_gui.engine.lanes.coordination.state import KEPT_MS, CoordinationState
from tests.unit.engine.lanes.agreement_world import Member, World, announced

_NAMES = ("a/0", "a/1", "b/0")
_WAITS_MS = (5, 200, 1_000, 4_000, 9_000, 15_000, 60_000, KEPT_MS + 1)

_ANY = tuple(range(len(_NAMES)))
_STEPS: tuple[tuple[int, str, tuple[int, ...], tuple[int, ...]], ...] = (
    # weight, name, first, second
    (30, "say", _ANY, (0,)),
    (6, "say", _ANY, (2, 3)),
    (10, "read", _ANY, (1, 2, 5)),
    (25, "read", _ANY, (1_000,)),
    (12, "prepare", _ANY, (0,)),
    (15, "round", (0,), (0,)),
    (18, "wait", (5, 200, 1_000), (0,)),
    (8, "wait", (4_000, 7_000, 9_000), (0,)),
    (2, "wait", (15_000, 60_000, KEPT_MS + 1), (0,)),
    (5, "start", _ANY, (1, 2, 3, 4)),
    (2, "kill", _ANY, (0,)),
    (2, "leave", _ANY, (0,)),
    (4, "announce", (1, 2, 3, 4), (1, 2, 3, 4, 5, 6)),
    (3, "again", (1, 2, 3, 4), (0, 1)),
    (2, "freeze", (0, 1), (0,)),
    (2, "compact", (0,), (0,)),
    (2, "noise", _ANY, (0, 1, 2, 3)),
    (4, "arrive", (0,), (0,)),
)
Action = tuple[str, int, int]
_SEEDS = st.integers(0, 2**32)


def actions(seed: int, count: int) -> list[Action]:
    """Return a course of events: mostly what happens all the time, now and then what should not."""
    random = Random(seed)
    chosen = random.choices(_STEPS, [weight for weight, *_ in _STEPS], k=count)
    quiet: list[Action] = [("announce", 1, 1), *(("start", n, 1) for n in _ANY), *[("round", 0, 0)] * 3]
    drawn = [(name, random.choice(first), random.choice(second)) for _, name, first, second in chosen]
    return (quiet if random.random() < 0.8 else []) + drawn


_NOISE = (b"", b"{", b'{"token": 1}', b'{"token":"x","number":1,"since":99999999,"session_ms":1,"in_force":99999999}')


class Course:
    """One course of events; what is promised is looked at after each."""

    def __init__(self) -> None:
        self.world = World()
        self.members: dict[str, Member] = {}
        self.on_the_way: list[tuple[str, bytes]] = []

    def do(self, name: str, first: int, second: int) -> None:
        written = len(self.world.entries)
        instance = _NAMES[first % len(_NAMES)]
        if name == "start":
            self.members[instance] = Member(self.world, instance, second)
        elif name in {"say", "read", "prepare", "kill", "leave"}:
            if instance in self.members:
                self.do_to(name, self.members[instance], second)
        else:
            self.do_to_all(name, first, second)
        self.check_leases(written)
        self.check_states()

    def do_to(self, name: str, member: Member, second: int) -> None:
        match name:
            case "say":
                said = member.say()
                if said is not None and second == 3:
                    self.on_the_way.append(said)
                elif said is not None and second != 2:  # else it was lost
                    self.world.write(*said)
            case "read":
                member.read(second)
            case "prepare":
                member.prepare()
            case "kill":
                del self.members[member.membership.instance]
            case "leave":
                self.leave(self.members.pop(member.membership.instance))

    def do_to_all(self, name: str, first: int, second: int) -> None:
        world = self.world
        match name:
            case "wait":
                world.time_ms += first
            case "round":
                self.round()
            case "announce":
                world.announce(announced(first, second))
            case "again":
                self.announce_again(first, is_despite=bool(second))
            case "freeze":
                world.freeze(bool(first))
            case "compact":
                world.compact()
            case "noise":
                world.write(("member/zz", "announced/x", f"member/{_NAMES[first]}", "plan/x")[second], _NOISE[second])
            case "arrive" if self.on_the_way:
                world.write(*self.on_the_way.pop(0))

    def leave(self, member: Member) -> None:
        last = member.membership.leave()
        if last is not None:
            self.world.write(log.member_key(member.membership.instance), log.encoded(last))

    def announce_again(self, state: int, *, is_despite: bool) -> None:
        newest = self.world.truth.announced.get(self.world.truth.latest or 0)
        publication, again = newest.rank if newest is not None else (1, 0)
        self.world.announce(announced(state, publication, again + 1, despite_freeze=is_despite))

    def round(self) -> None:
        for member in self.members.values():
            self.world.say(member)
            member.read()
            member.prepare()

    def check_states(self) -> None:
        """Who may map maps with what is in force where it has read."""
        for member in self.members.values():
            if member.may_map() and member.read_to and not member.knows_less:
                assert member.maps_with == self.world.in_force_at[member.read_to - 1]

    def check_leases(self, written: int) -> None:
        """What comes into force passes nobody by who maps at that moment and is not ready for it."""
        truth = self.world.truth
        for offset in self.world.decided:
            if offset >= written and truth.state_in_force is not None:
                for member in self.members.values():
                    assert not member.may_map() or truth.state_in_force.digest in member.membership.prepared

    def settle(self) -> None:
        """Let everybody alone for longer than a session."""
        for _ in range(40):
            self.world.time_ms += 500
            self.round()


@settings(max_examples=400, deadline=None)
@given(_SEEDS)
def test_nobody_maps_with_another_state_than_is_in_force_and_nobody_who_maps_is_passed_by(
    seed: int,
) -> None:
    course = Course()
    for action in actions(seed, 150):
        course.do(*action)
    assert_latecomer_agrees(course.world)


@settings(max_examples=150, deadline=None)
@given(_SEEDS)
def test_once_all_is_quiet_all_who_live_map_with_what_was_announced_last_unless_that_is_frozen(
    seed: int,
) -> None:
    course = Course()
    for action in actions(seed, 80):
        course.do(*action)
    course.on_the_way.clear()
    course.settle()
    fold = course.world.truth
    living = [member for member in course.members.values() if not member.membership.is_fenced]
    if not living or fold.latest is None:
        return
    is_waiting = fold.is_frozen and not fold.announced[fold.latest].despite_freeze and fold.in_force is not None
    expected = fold.state_in_force if is_waiting else fold.announced[fold.latest]
    assert fold.state_in_force == expected
    assert all(member.may_map() and member.maps_with == expected.state for member in living if expected is not None)


@settings(max_examples=150, deadline=None)
@given(_SEEDS)
def test_a_log_that_is_read_twice_or_after_compaction_has_the_same_answer(seed: int) -> None:
    course = Course()
    for action in actions(seed, 150):
        course.do(*action)
        if action[0] == "compact":
            assert_latecomer_agrees(course.world)
    again = CoordinationState()
    for entry in course.world.entries:
        again.take(entry)
    assert again.in_force == course.world.truth.in_force


def assert_latecomer_agrees(world: World) -> None:
    """Whoever reads what compaction left knows what is in force as soon as somebody who lives has said so."""
    late = world.latecomer()
    truth = world.truth
    assert late.latest == truth.latest
    assert late.is_frozen == truth.is_frozen
    said = [heard.beat.in_force for name, heard in truth.members.items() if truth.lives(name)]
    if truth.in_force in said:
        assert late.in_force == truth.in_force
