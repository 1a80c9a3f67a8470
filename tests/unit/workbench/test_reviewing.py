"""The review list and its decisions."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.workbench.mapping.search import forward, reverse, versions
from metl_gui.workbench.review import decisions
from metl_gui.workbench.session import Workbench

from .conftest import declare

PAYMENT_2 = "fx.pay.orders@2:payment@1"
REFUND_2 = "fx.pay.orders@2:refund@1"


@pytest.fixture
def shrunk(mapped: Workbench) -> Workbench:
    """Version 2 renames ``customer_id``, drops ``legacy`` and ``amount``."""
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_ref", "channel")))
    return mapped


def test_the_list_has_the_keys_of_the_contract(shrunk: Workbench) -> None:
    listed = decisions.review_list(shrunk.document).as_json()
    assert listed["state"] == 6
    assert listed["version_tasks"] == []
    payment, refund = listed["items"]
    assert payment["block"] == {
        "schema": "fx.pay.orders",
        "version": "2",
        "entity": "payment",
        "entity_version": "1",
    }
    assert payment["came_from"]["version"] == "1"
    assert (payment["verdict"], payment["status"]) == ("smaller", "needs review")
    assert payment["kept"] == [{"from": "id", "to": "payment_id"}]
    assert {"from": "legacy", "to": "legacy_code", "reason": "legacy was removed in version 2"} in payment["lost"]
    assert payment["new_attributes"] == ["customer_ref", "channel"]
    assert payment["proposals"][0]["lost"] == "customer_id"
    assert payment["proposals"][0]["candidate"] == "customer_ref"
    assert [lost["from"] for lost in refund["lost"]] == ["amount"]


def test_a_rename_restores_the_element_and_leaves_the_other_losses(shrunk: Workbench) -> None:
    decision = decisions.rename(shrunk, PAYMENT_2, ["customer_id=customer_ref"], comment="see ticket")
    assert (decision.decided, decision.left) == (0, 2)
    item = decisions.review_list(shrunk.document).items[0]
    assert [(e.from_path, e.to_path) for e in item.kept] == [("customer_ref", "payer_id"), ("id", "payment_id")]
    assert [lost.element.from_path for lost in item.lost] == ["amount", "legacy"]
    assert item.comment == "see ticket"


def test_accepting_the_last_losses_takes_the_block_off_the_list(shrunk: Workbench) -> None:
    decisions.rename(shrunk, PAYMENT_2, ["customer_id=customer_ref"])
    assert decisions.accept_losses(shrunk, PAYMENT_2, ["legacy"]).decided == 0
    assert decisions.accept_losses(shrunk, PAYMENT_2, ["amount"]).decided == 1


def test_confirming_several_blocks_is_one_undo_step(shrunk: Workbench) -> None:
    before = state_hash(shrunk.document)
    decision = decisions.confirm(shrunk, [PAYMENT_2, REFUND_2])
    assert (decision.state, decision.decided, decision.left) == (7, 2, 0)
    assert decision.title == "Confirm 2 blocks"
    shrunk.undo()
    assert state_hash(shrunk.document) == before


def test_confirming_one_unknown_block_confirms_none(shrunk: Workbench) -> None:
    with pytest.raises(EditError):
        decisions.confirm(shrunk, [PAYMENT_2, "fx.pay.orders@2:refnd@1"])
    assert len(decisions.review_list(shrunk.document).items) == 2


def test_confirm_all_takes_only_the_named_verdict(shrunk: Workbench) -> None:
    assert decisions.confirm_all(shrunk, "emptied").title == ""
    done = decisions.confirm_all(shrunk, "smaller")
    assert (done.title, done.left) == ("Confirm all 2 blocks that are smaller, and 4 losses", 0)
    with pytest.raises(EditError, match="Did you mean smaller"):
        decisions.confirm_all(shrunk, "smaler")


def test_an_item_names_the_later_version_in_which_a_lost_attribute_is_there_again(shrunk: Workbench) -> None:
    shrunk.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "3", "id", "customer_ref", "legacy")))
    again = decisions.review_list(shrunk.document).as_json()["items"][0]["there_again"]
    block = {"schema": "fx.pay.orders", "version": "3", "entity": "payment", "entity_version": "1"}
    assert again == [{"block": block, "from": "legacy", "to": "legacy_code"}]
    decisions.rename(shrunk, "fx.pay.orders@3:payment@1", ["legacy=legacy"])
    assert decisions.review_list(shrunk.document).items[0].there_again == ()


def test_a_postponed_item_stands_at_the_end(shrunk: Workbench) -> None:
    decisions.postpone(shrunk, PAYMENT_2, "ask the owner")
    items = decisions.review_list(shrunk.document).items
    assert [str(item.block) for item in items] == [REFUND_2, PAYMENT_2]
    assert items[1].comment == "ask the owner"


def test_a_retired_block_feeds_nothing_any_more(shrunk: Workbench) -> None:
    assert decisions.retire(shrunk, REFUND_2).decided == 1
    fed = {(a.block.version, a.block.entity) for a in forward(shrunk.document, "fx.pay.orders").results}
    assert ("2", "refund") not in fed


def test_a_refused_proposal_is_not_listed_again(shrunk: Workbench) -> None:
    decisions.refuse_proposal(shrunk, PAYMENT_2, "customer_id", "customer_ref")
    item = decisions.review_list(shrunk.document, shrunk.kept.refused_renames.all()).items[0]
    assert ("customer_id", "customer_ref") not in [(p.lost, p.candidate) for p in item.proposals]


def test_a_rename_without_a_sign_is_answered_with_the_form(shrunk: Workbench) -> None:
    with pytest.raises(EditError, match="LOST=NEW"):
        decisions.rename(shrunk, PAYMENT_2, ["customer_id"])


def test_searches_answer_by_names(shrunk: Workbench) -> None:
    fed = reverse(shrunk.document, "payment.payment_id").as_json()["results"]
    assert [answer["block"]["version"] for answer in fed] == ["1", "2"]
    assert fed[1]["element"] == {"from": "id", "to": "payment_id"}
    assert fed[1]["status"] == "needs review"
    steps = versions(shrunk.document, "fx.pay.orders").as_json()
    assert steps["schema"] == "fx.pay.orders"
    assert [(s["entity"], s["version"], s["elements"], s["change"]) for s in steps["versions"]] == [
        ("payment", "1", 4, "first"),
        ("payment", "2", 1, "smaller"),
        ("refund", "1", 2, "first"),
        ("refund", "2", 1, "smaller"),
    ]


def test_an_item_proposes_names_for_its_own_losses_only(shrunk: Workbench) -> None:
    shrunk.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "3", "order_id", "customer_ref", "channel")))
    entries = {str(item.block): item for item in decisions.review_list(shrunk.document).items}
    assert {p.lost for p in entries[PAYMENT_2].proposals} <= {"customer_id", "amount", "legacy"}
    later = entries["fx.pay.orders@3:payment@1"]
    assert [lost.element.from_path for lost in later.lost] == ["id"]
    assert {p.lost for p in later.proposals} == {"id"}
