"""Where a second person confirms, nobody's own work becomes confirmed by themselves."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metl_gui.core.changes.draft import BlockChange, Edit, EditContext, Transition, perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import AcceptLosses, ConfirmBlock
from metl_gui.core.matrix.blocks import Block, BlockKey, Status
from metl_gui.core.matrix.canonical import is_carried
from metl_gui.core.matrix.document import Document
from metl_gui.errors import EditError
from tests.helpers.histories import KINDS, start, step
from tests.helpers.world import World

PEOPLE = ("ada", "bob", "cleo, of billing")


class Team(World):
    """A world that several people edit, each confirming what the others did."""

    def __init__(self, who: str = PEOPLE[0]) -> None:
        super().__init__()
        self.who = who

    def do(self, edit: Edit) -> Transition:
        """Apply an edit in the name of who works now."""
        transition = perform(self.document, edit, EditContext(self.who, 1_000 + self.document.state, needs_second=True))
        if not transition.change.is_empty:
            self.document = transition.after
            self.log.append(transition)
        return transition

    def block(self, name: str) -> Block:
        """Return a block that is known to exist."""
        found = self.document.matrix.block(*self.key(name))
        assert found is not None
        return found


@pytest.fixture
def team() -> Team:
    made = Team("ada")
    made.schema("s", "1", "a", "b")
    made.entity("be", "1", "x", "y")
    made.map("s@1:be@1", x="a", y="b")
    return made


def test_what_a_person_maps_waits_until_somebody_else_confirms_it(team: Team) -> None:
    block = team.block("s@1:be@1")
    assert (block.status, block.who) == (Status.UNCONFIRMED, "ada")
    state = team.document.state
    with pytest.raises(EditError, match=r"ada cannot confirm s 1 → be 1.*holds work of their own"):
        team.do(ConfirmBlock(block.key))
    assert team.document.state == state
    team.who = "bob"
    team.do(ConfirmBlock(block.key))
    assert (team.block("s@1:be@1").status, team.block("s@1:be@1").who) == (Status.CONFIRMED, "bob")


def test_two_who_worked_on_a_block_need_a_third(team: Team) -> None:
    team.who = "bob"
    team.do(unmapping(team, "b", "y"))
    assert team.block("s@1:be@1").who == "ada, bob"
    for who in ("ada", "bob"):
        team.who = who
        with pytest.raises(EditError, match="cannot confirm"):
            team.do(ConfirmBlock(team.key("s@1:be@1")))
    team.who = "cleo"
    team.do(ConfirmBlock(team.key("s@1:be@1")))
    assert team.block("s@1:be@1").status is Status.CONFIRMED


def test_a_confirmed_block_that_is_edited_again_waits_for_those_who_did_not_edit_it(team: Team) -> None:
    team.who = "bob"
    team.do(ConfirmBlock(team.key("s@1:be@1")))
    team.do(unmapping(team, "b", "y"))
    assert (team.block("s@1:be@1").status, team.block("s@1:be@1").who) == (Status.UNCONFIRMED, "bob")
    team.who = "ada"
    team.do(ConfirmBlock(team.key("s@1:be@1")))
    assert team.block("s@1:be@1").status is Status.CONFIRMED


def test_a_new_version_does_not_confirm_what_it_carries_along(team: Team) -> None:
    team.who = "bob"
    team.schema("s", "2", "a", "b", "c")
    carried = team.block("s@2:be@1")
    assert (carried.status, carried.who) == (Status.UNCONFIRMED, "ada")
    team.who = "ada"
    with pytest.raises(EditError, match="cannot confirm s 2"):
        team.do(ConfirmBlock(carried.key))


def test_what_was_confirmed_is_carried_along_confirmed(team: Team) -> None:
    team.who = "bob"
    team.do(ConfirmBlock(team.key("s@1:be@1")))
    team.schema("s", "2", "a", "b", "c")
    assert team.block("s@2:be@1").status is Status.CONFIRMED


def test_a_decision_in_review_waits_for_a_second_person_too(team: Team) -> None:
    team.who = "bob"
    team.do(ConfirmBlock(team.key("s@1:be@1")))
    team.schema("s", "2", "a")
    assert team.block("s@2:be@1").status is Status.NEEDS_REVIEW
    team.do(AcceptLosses(team.key("s@2:be@1"), ("b",)))
    assert (team.block("s@2:be@1").status, team.block("s@2:be@1").who) == (Status.UNCONFIRMED, "bob")
    with pytest.raises(EditError, match="bob cannot confirm"):
        team.do(ConfirmBlock(team.key("s@2:be@1")))
    team.who = "ada"
    team.do(ConfirmBlock(team.key("s@2:be@1")))
    assert team.block("s@2:be@1").status is Status.CONFIRMED


def test_what_is_set_under_review_is_not_mapped_with_before_a_second_person_has_seen_it(team: Team) -> None:
    team.who = "bob"
    team.do(ConfirmBlock(team.key("s@1:be@1")))
    team.schema("s", "2", "c", "d")
    key = team.key("s@2:be@1")
    assert is_carried(team.block("s@2:be@1"))
    team.do(SetElements(key, ones=(team.element(key, "c", "x"),)))
    half = team.block("s@2:be@1")
    assert (half.status, half.who, is_carried(half)) == (Status.NEEDS_REVIEW, "bob", False)
    team.do(AcceptLosses(key, ("b",)))
    with pytest.raises(EditError, match="bob cannot confirm"):
        team.do(ConfirmBlock(key))
    team.who = "ada"
    team.do(ConfirmBlock(key))
    assert is_carried(team.block("s@2:be@1"))


def test_without_the_setting_an_edit_confirms_what_it_sets() -> None:
    world = World()
    world.schema("s", "1", "a")
    world.entity("be", "1", "x")
    world.map("s@1:be@1", x="a")
    assert [block.status for block in world.document.matrix.blocks()] == [Status.CONFIRMED]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(PEOPLE), st.sampled_from([*KINDS, "confirm", "confirm"]), st.integers(0, 1 << 30)),
        min_size=20,
        max_size=60,
    )
)
def test_in_no_history_does_anybodys_own_work_become_confirmed_by_themselves(
    picks: list[tuple[str, str, int]],
) -> None:
    team = Team()
    team.document = start().document
    authors: dict[BlockKey, set[str]] = {}
    for who, kind, seed in picks:
        team.who = who
        done = len(team.log)
        step(team, kind, seed)
        for transition in team.log[done:]:
            follow(transition, authors)


def follow(transition: Transition, authors: dict[BlockKey, set[str]]) -> None:
    """Keep, of every block, who changed what it says since it was last confirmed; refuse own confirmations."""
    who = transition.stamp.who
    for change in transition.change.blocks:
        before, after, working = change.before, change.after, authors.setdefault(change.key, set())
        source = carried_from(transition, change)
        if after is None or after.status is Status.RETIRED:
            working.clear()
        elif source is not None:
            working |= authors.get(source.key, set())
            is_open = source.status in (Status.UNCONFIRMED, Status.NEEDS_REVIEW)
            assert after.status is not Status.CONFIRMED or not is_open
            if not meanings(transition.after, after) <= meanings(transition.before, source):
                assert after.status is not Status.CONFIRMED
                working.add(who)
        elif before is None or content(before) != content(after):
            assert after.status is not Status.CONFIRMED, f"{who} set and confirmed {change.key}"
            if before is not None and before.status is Status.CONFIRMED:
                working.clear()
            if after.status is Status.UNCONFIRMED:
                working.add(who)
        elif before.status is not Status.CONFIRMED and after.status is Status.CONFIRMED:
            assert who not in working, f"{who} confirmed what {working} set"
            working.clear()


def carried_from(transition: Transition, change: BlockChange) -> Block | None:
    if change.before is not None or change.after is None or change.after.came_from is None:
        return None
    key = change.after.came_from
    return transition.after.matrix.block(*key) or transition.before.matrix.block(*key)


def meanings(document: Document, block: Block) -> set[tuple[int, int]]:
    """Elements by lineages; of a block that this document does not have, nothing."""
    version = document.extraction.find_version(block.version)
    entity_version = document.cdm.find_version(block.entity_version)
    if version is None or entity_version is None:
        return set()
    columns = {a.id: a.lineage for a in version.attributes}
    rows = {a.id: a.lineage for a in entity_version.attributes}
    return {(rows[e.q], columns[e.p]) for e in block.elements}


def content(block: Block) -> tuple[object, ...]:
    return block.elements, block.losses, block.waits, block.retired


def unmapping(team: Team, source: str, target: str) -> Edit:
    """Make the edit that clears an element of the first block."""
    key = team.key("s@1:be@1")
    return SetElements(key, zeros=(team.element(key, source, target),))
