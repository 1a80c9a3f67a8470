"""The rule of the agreement case by case: who is waited for, who counts, what is in force, and for how long."""

from __future__ import annotations

from metl_gui.engine.lanes.coordination import records as log
from metl_gui.engine.lanes.coordination.records import ChunkKey, Heartbeat, KeyedRecord
from metl_gui.engine.lanes.coordination.state import KEPT_MS
from tests.unit.engine.lanes.agreement_world import SETTINGS, Member, World, announced, digest, rewritten

_SESSION_MS = round(SETTINGS.session_seconds * 1000)


def settled(*states: int) -> tuple[World, list[Member]]:
    """Return a world in which state 1 is in force, and members that map with it."""
    world = World()
    world.announce(announced(1, 1))
    members = [Member(world, f"lane/{n}", state) for n, state in enumerate(states)]
    for _ in range(3):
        meet(world, *members)
    assert [member.maps_with for member in members if member.may_map()] == [1] * len(members)
    return world, members


def meet(world: World, *members: Member) -> None:
    for member in members:
        member.read()
        member.prepare()
        world.say(member)
    for member in members:
        member.read()


def in_force(world: World) -> int | None:
    found = world.truth.state_in_force
    return found.state if found is not None else None


def test_a_state_is_taken_up_at_the_word_of_the_last_who_was_not_ready() -> None:
    world, (first, second) = settled(1, 1)
    world.announce(announced(2, 2))
    first.read()
    first.prepare()
    world.say(first)
    assert in_force(world) == 1
    second.read()
    world.say(second)
    assert in_force(world) == 1
    second.prepare()
    world.say(second)
    assert in_force(world) == 2


def test_a_member_that_died_is_waited_for_until_its_session_is_over_and_no_longer() -> None:
    world, (first, _dead) = settled(1, 1)
    world.announce(announced(2, 2))
    for _ in range(9):
        world.time_ms += 1_000
        meet(world, first)
    assert in_force(world) == 1
    world.time_ms += 2_000
    meet(world, first)
    assert in_force(world) == 2


def test_whoever_takes_leave_is_not_waited_for() -> None:
    world, (first, second) = settled(1, 1)
    world.announce(announced(2, 2))
    meet(world, first)
    last = second.membership.leave()
    assert last is not None
    world.write(log.member_key("lane/1"), log.encoded(last))
    meet(world, first)
    assert in_force(world) == 2


def test_whoever_starts_with_another_state_maps_with_the_agreed_one_and_keeps_nobody_waiting() -> None:
    world, (first,) = settled(1)
    world.announce(announced(2, 2))
    late = Member(world, "late/0", 3)
    world.say(late)
    assert not late.may_map()
    meet(world, first)
    meet(world, first)
    assert in_force(world) == 2, "the newcomer was waited for before it was ready"
    assert not late.may_map()
    for _ in range(4):
        meet(world, late, first)
    assert late.may_map()
    assert late.maps_with == 2


def test_a_member_that_was_stopped_for_longer_than_its_session_maps_only_after_it_has_read_what_it_missed() -> None:
    world, (first, sleeper) = settled(1, 1)
    world.announce(announced(2, 2))
    for _ in range(14):
        world.time_ms += 1_000
        meet(world, first)
    assert in_force(world) == 2
    assert not sleeper.may_map()
    world.say(sleeper)
    assert not sleeper.may_map()
    sleeper.read()
    assert not sleeper.may_map(), "it has not prepared state 2"
    for _ in range(3):
        meet(world, sleeper, first)
    assert sleeper.may_map()
    assert sleeper.maps_with == 2


def test_words_of_an_earlier_life_that_arrive_late_do_not_keep_a_member_alive() -> None:
    world, (first, old) = settled(1, 1)
    world.time_ms += 1_100
    on_the_way = old.say()
    assert on_the_way is not None
    new = Member(world, "lane/1", 1)
    meet(world, new, first)
    world.announce(announced(2, 2))
    for _ in range(9):
        world.time_ms += 1_000
        meet(world, first)
    world.write(*on_the_way)
    world.time_ms += 3_000
    meet(world, first)
    assert in_force(world) == 2


def test_a_later_member_of_the_same_name_fences_the_earlier_one_and_is_not_fenced_itself() -> None:
    world, (_first, old) = settled(1, 1)
    new = Member(world, "lane/1", 1)
    for _ in range(2):
        meet(world, new, old)
    assert old.membership.is_fenced
    assert not old.may_map()
    assert new.may_map()


def test_a_member_that_somebody_took_out_of_the_topic_joins_again() -> None:
    world, (first,) = settled(1)
    world.write(log.member_key("lane/0"), None)
    first.read()
    assert not first.may_map()
    meet(world, first)
    assert first.may_map()


def test_what_is_frozen_waits_and_is_taken_up_once_it_may() -> None:
    world, (first,) = settled(1)
    world.freeze(True)
    world.announce(announced(2, 2))
    for _ in range(3):
        meet(world, first)
    assert (in_force(world), world.truth.pending) == (1, announced(2, 2))
    world.freeze(False)
    meet(world, first)
    assert in_force(world) == 2


def test_an_earlier_state_is_gone_back_to_also_while_frozen_until_the_next_publication() -> None:
    world, (first,) = settled(1)
    world.announce(announced(2, 2))
    for _ in range(3):
        meet(world, first)
    world.freeze(True)
    world.announce(announced(1, 2, again=1, despite_freeze=True))
    for _ in range(3):
        meet(world, first)
    assert in_force(world) == 1
    world.freeze(False)
    world.announce(announced(2, 2))
    assert world.truth.pending is None, "a lane that starts with what is published overrules nobody"
    world.announce(announced(3, 3))
    for _ in range(3):
        meet(world, first)
    assert in_force(world) == 3


def test_announcing_the_same_again_changes_nothing() -> None:
    world, (first,) = settled(1)
    offset = world.truth.latest
    world.announce(announced(1, 1))
    meet(world, first)
    assert (world.truth.latest, world.truth.pending) == (offset, None)


def test_the_number_of_a_state_does_not_decide_which_one_counts() -> None:
    world, (first,) = settled(1)
    world.announce(announced(9, 2))
    world.announce(announced(4, 3))
    for _ in range(3):
        meet(world, first)
    assert in_force(world) == 4


def test_a_plan_that_cannot_be_prepared_is_told_and_holds_up_all() -> None:
    world, (first, second) = settled(1, 1)
    world.announce(announced(2, 2))
    second.read()
    second.membership.refuse(digest(2), "State 2 cannot be prepared: no memory")
    for _ in range(3):
        world.say(second)
        meet(world, first)
    assert in_force(world) == 1
    assert [figures.trouble for figures in world.truth.figures()] == ["", "State 2 cannot be prepared: no memory"]
    assert second.may_map()


def test_a_member_that_is_not_counted_keeps_its_state_and_holds_up_nobody() -> None:
    from msgspec.structs import replace

    world, (first,) = settled(1)
    test = Member(world, "test/0", 7, replace(SETTINGS, is_counted=False))
    world.announce(announced(2, 2))
    for _ in range(3):
        world.say(test)
        meet(world, first)
        test.read()
    assert in_force(world) == 2
    assert test.may_map()
    assert test.maps_with == 7


def test_a_latecomer_does_not_decide_what_happened_before_compaction_took_the_words_away() -> None:
    world, (first, second) = settled(1, 1)
    world.announce(announced(2, 2))
    meet(world, first)  # ready, and the other is not: its word stands before the first's, and will be taken away
    world.freeze(True)
    meet(world, second)
    world.time_ms += KEPT_MS + 1
    meet(world, second)
    world.compact()
    assert [entry.key for entry in world.kept()].count("member/lane/1") == 1
    assert in_force(world) == 1
    assert world.latecomer().in_force == world.truth.in_force


def test_words_that_nobody_counts_do_not_let_a_member_map_any_longer() -> None:
    world = World()
    world.announce(announced(1, 1))
    member = Member(world, "lane/0", 1)
    said = []
    for _ in range(2):
        said.append(member.say())
        world.time_ms += 6_000
    world.write(*said[0] or ("", b""))
    member.read()
    said.append(member.say())
    # The second word by which it joins comes after the first was heard: what it said in between belongs to no life.
    for each in said[1:]:
        world.write(*each or ("", b""))
    member.read()
    assert member.may_map()
    world.time_ms += 3_000
    assert not member.may_map()


def test_hostile_and_damaged_records_change_nothing_and_are_counted() -> None:
    world, (first,) = settled(1)
    beat = next(entry.value for entry in world.entries if entry.key == "member/lane/0" and entry.value)
    for key, value in (
        ("", b"{}"),
        ("\x00\ufffd", b"x"),
        ("member/lane/0", b"[" * 5_000),
        ("member/lane/0", rewritten(beat, since=10**12, token="f" * 16)),
        ("member/lane/0", rewritten(beat, since=0, in_force=10**12, token="f" * 16)),
        ("announced/1", b'{"state": "seven"}'),
        ("frozen/1", b"null"),
        ("change/lane/x/topic/0", b"{}"),
        ("set-back/lane/topic/minus", b"{}"),
    ):
        world.write(key, value)
    for _ in range(3):
        world.time_ms += 1_000
        meet(world, first)
    assert first.may_map()
    assert (in_force(world), world.truth.is_frozen) == (1, False)
    assert world.truth.unread[0] == 7


def test_a_member_that_claims_an_endless_session_blocks_for_five_minutes_at_most() -> None:
    world, (first,) = settled(1)
    beat = Heartbeat(token="", number=1, since=None, session_ms=10**15)
    world.write("member/ghost", log.encoded(beat))
    world.announce(announced(2, 2))
    for _ in range(301):
        world.time_ms += 1_000
        meet(world, first)
    assert in_force(world) == 2


def test_a_plan_is_put_together_from_its_parts_and_taken_only_when_it_is_whole_and_unchanged() -> None:
    plan = bytes(range(256)) * 5_000
    chunks = {}
    for key, chunk in log.chunks_of(plan):
        word = log.read(key, chunk)
        assert word is not None
        assert isinstance(word.key, ChunkKey)
        chunks[word.key.number] = chunk
    whole = announced(1, 1).__class__(state=1, hash="h", digest=log.digest_of(plan), chunks=len(chunks))
    assert len(chunks) > 3
    assert log.joined(chunks, whole) == plan
    assert log.joined({n: chunk for n, chunk in chunks.items() if n != 1}, whole) is None
    assert log.joined(chunks | {1: b"other"}, whole) is None


def test_keys_keep_lanes_and_topics_apart_whatever_their_names() -> None:
    for lane in ("lane", "a/b/c", "set-back/x/1", "ü"):
        key = log.PartitionKey(lane, "shop.public.orders", 3)
        word = log.read(log.obeyed_key(key), log.encoded(log.Obeyed(id="1")))
        assert word is not None
        assert word.key == key
        change = log.ChangeKey(lane, 17, "shop.public.orders", 3)
        word = log.read(log.change_key(change), log.encoded(log.Change(state=1, offset=2)))
        assert word is not None
        assert word.key == change


def test_a_clock_of_a_broker_that_goes_back_ends_no_session_and_one_that_jumps_ahead_lets_nobody_map_unready() -> None:
    world, (first, second) = settled(1, 1)
    world.truth.take(KeyedRecord(world.truth.offset + 1, world.time_ms - 3_600_000, "noise", b"x"))
    assert world.truth.lives("lane/0")
    world.announce(announced(2, 2))
    meet(world, first)
    world.time_ms += _SESSION_MS + 1
    world.say(first)
    second.read()
    assert not second.may_map()
