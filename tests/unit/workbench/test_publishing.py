"""Publishing: which state production uses."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ProjectError, ProjectLockedError, UserError
from metl_gui.workbench.addresses import find_block
from metl_gui.workbench.history.states import history
from metl_gui.workbench.publishing.publication import (
    difference_to_live,
    live_state,
    production_document,
    publish,
    published_states,
)
from metl_gui.workbench.review import decisions
from metl_gui.workbench.review.decisions import confirm_unconfirmed
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import set_project_settings

from .conftest import declare


def test_nothing_is_live_until_somebody_publishes(mapped: Workbench) -> None:
    assert live_state(mapped) is None
    with pytest.raises(UserError, match=r"Nothing of pay\.metl is published yet.*metl publish pay\.metl"):
        production_document(mapped)


def test_edits_after_publishing_do_not_reach_production(mapped: Workbench) -> None:
    published = publish(mapped, name="first")
    live = state_hash(mapped.document)
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id")))
    found = production_document(mapped)
    assert (found.state, state_hash(found)) == (published.state, live) == (5, live)
    assert mapped.document.state == 6
    with pytest.raises(UserError, match=r"State 6 of pay\.metl is not published.*Live is state 5"):
        production_document(mapped, 6)
    with pytest.raises(ProjectError, match="no state 7"):
        production_document(mapped, 7)


def test_publishing_an_older_state_again_takes_production_back_to_it(mapped: Workbench) -> None:
    publish(mapped)
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id")))
    later = publish(mapped, name="with version 2")
    assert (later.was_live, later.blocks, later.held, later.is_new) == (5, 4, 2, True)
    back = publish(mapped, state=5)
    assert (back.state, back.was_live) == (5, 6)
    assert production_document(mapped).state == 5
    assert production_document(mapped, 6).state == 6
    assert [found.state for found in published_states(mapped)] == [6, 5]


def test_publishing_tells_what_it_changes_in_production(mapped: Workbench) -> None:
    assert publish(mapped).difference is None
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id")))
    ahead = difference_to_live(mapped)
    assert ahead is not None
    found = publish(mapped).as_json()["difference"]
    assert len(found["blocks"]) == len(ahead.blocks) == 2
    assert {told["name"] for told in found["trees"]} == {"fx.pay.orders"}
    behind = publish(mapped, state=5).difference
    assert behind is not None
    assert (len(behind.blocks), behind.added) == (2, 0)


def test_what_is_live_is_not_published_twice_but_can_get_a_name(mapped: Workbench) -> None:
    assert publish(mapped).is_new
    again = publish(mapped, name=" release ")
    assert (again.is_new, again.name, again.was_live) == (False, "release", 5)


def test_who_published_and_the_name_survive_a_restart(mapped: Workbench) -> None:
    publish(mapped, name="release 1")
    path = mapped.path
    mapped.close()
    with Workbench.open(path, for_editing=False) as opened:
        live = live_state(opened)
        assert live is not None
        assert (live.state, live.name, live.published_who) == (5, "release 1", "tess")
        assert [entry.state for entry in history(opened).states if entry.published] == [5]
        with pytest.raises(ProjectLockedError):
            publish(opened, state=4)


@pytest.mark.parametrize("name", ["a\0b", "\u202eabc", "x" * 201])
def test_a_name_that_cannot_be_read_is_refused_and_nothing_is_published(mapped: Workbench, name: str) -> None:
    with pytest.raises(UserError, match="name"):
        publish(mapped, name=name)
    assert live_state(mapped) is None


def test_the_name_of_what_is_live_is_one_line(mapped: Workbench) -> None:
    publish(mapped, name=" release\n 1 ")
    live = live_state(mapped)
    assert live is not None
    assert live.name == "release 1"


def test_a_state_that_never_was_is_refused(mapped: Workbench) -> None:
    with pytest.raises(ProjectError, match="no state 99"):
        publish(mapped, state=99)
    assert live_state(mapped) is None


def test_a_state_with_an_error_is_refused_with_its_place(mapped: Workbench) -> None:
    mapped._document = broken(mapped)
    with pytest.raises(UserError, match=r"the checks find 2 errors.*fx\.pay\.orders"):
        publish(mapped)
    assert live_state(mapped) is None


def broken(workbench: Workbench) -> Document:
    """Give the current document a block that is not 1:1, which no edit can make."""
    document = workbench.document
    block = next(document.matrix.blocks())
    first, second = block.elements[:2]
    draft = document.matrix.draft()
    draft.put(block.key, replace(block, elements=(first, first._replace(p=second.p))))
    return replace(document, matrix=draft.finish())


def second_person(workbench: Workbench) -> None:
    set_project_settings(workbench, ["second_person_confirms=yes"])


def test_what_is_live_is_not_published_away_for_want_of_a_second_person(mapped: Workbench) -> None:
    live = publish(mapped).state
    second_person(mapped)
    key = find_block(mapped.document, "fx.pay.orders@1:refund@1")
    block = mapped.document.matrix.block(*key)
    assert block is not None
    mapped.do(SetElements(key, (), block.elements[:1]))
    with pytest.raises(UserError, match="its messages are mapped today") as refused:
        publish(mapped)
    assert "fx.pay.orders@1:refund@1" in str(refused.value)
    assert mapped.kept.states.live() == live
    with_second = Workbench.open(mapped.path, who="ben", take_over=True)
    with with_second:
        confirm_unconfirmed(with_second)
        assert publish(with_second).blocks == 2


def test_a_version_whose_rename_waits_for_a_second_person_is_not_published(mapped: Workbench) -> None:
    publish(mapped)
    second_person(mapped)
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_ref", "amount", "legacy")))
    held = publish(mapped)
    assert held.held == 1
    decisions.rename(mapped, "fx.pay.orders@2:payment@1", ["customer_id=customer_ref"])
    with pytest.raises(UserError, match="orders@2:payment@1"):
        publish(mapped)
    assert publish(mapped, held.state).is_new is False


def test_what_was_never_confirmed_is_left_out_and_keeps_nothing_from_being_published(workbench: Workbench) -> None:
    second_person(workbench)
    document = workbench.document
    key = find_block(document, "fx.pay@1:refund@1")
    p = document.extraction.version(key[0]).attributes[0].id
    q = document.cdm.version(key[1]).attributes[0].id
    assert publish(workbench).blocks == 0
    workbench.do(SetElements(key, (Element(q, p),)))
    published = publish(workbench)
    assert (published.blocks, published.unconfirmed) == (0, 1)
