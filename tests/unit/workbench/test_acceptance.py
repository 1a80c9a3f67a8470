"""Suggestions of many blocks accepted as one undo step: what is set, where, how surely, and what is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import RetireBlock
from metl_gui.core.edits.version_scope import LeftReason, VersionScope
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.suggest.block import Candidate
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.mapping.acceptance import accept_best, plan_acceptance
from metl_gui.workbench.mapping.suggestions import Suggestion, suggest, suggestions_of
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import set_project_settings
from tests.unit.workbench.conftest import declare


@pytest.fixture
def two_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """Two schemas, one in two versions, each like one of two entities; nothing is mapped."""
    monkeypatch.setenv("METL_USER", "tess")
    with Workbench.create(tmp_path / "two.metl") as opened:
        for side, declaration in (
            (Side.CDM, declare("customer", "1", "customer_id", "email", "birth_date")),
            (Side.CDM, declare("refund", "1", "refund_id", "amount", "reason")),
            (Side.EXTRACTION, declare("fx.customers", "1", "customer_id", "email", "birth_date", "extra")),
            (Side.EXTRACTION, declare("fx.refunds", "1", "refund_id", "note")),
            (Side.EXTRACTION, declare("fx.refunds", "2", "refund_id", "amount", "note")),
        ):
            opened.do(AddVersion(side, declaration))
        yield opened


def key_of(workbench: Workbench, schema: str, version: int, entity: str) -> BlockKey:
    found, target = workbench.document.extraction.named(schema), workbench.document.cdm.named(entity)
    assert found is not None
    assert target is not None
    return found.version_ids[version - 1], target.version_ids[-1]


def element(workbench: Workbench, key: BlockKey, source: str, target: str) -> Element:
    p, q = workbench.document.extraction.version(key[0]), workbench.document.cdm.version(key[1])
    ends = q.at_path(target), p.at_path(source)
    assert ends[0] is not None
    assert ends[1] is not None
    return Element(ends[0].id, ends[1].id)


def block(workbench: Workbench, key: BlockKey) -> Block:
    return workbench.document.matrix.block(*key) or Block(*key)


def best(workbench: Workbench, least: float = 0.5) -> list[Suggestion]:
    return [each for each in suggest(workbench.document).suggestions if each.is_best and each.score >= least]


def test_all_blocks_are_confirmed_by_one_step_in_every_version_and_undo_takes_it_back(two_blocks: Workbench) -> None:
    chosen = best(two_blocks)
    assert len({each.key for each in chosen}) > 1
    before = two_blocks.document
    plan = plan_acceptance(before, chosen, "above 0.50")
    two_blocks.do(plan.edit)
    assert two_blocks.document.state == before.state + 1
    assert plan.accepted == tuple(sorted(chosen, key=lambda each: -each.score))
    assert {e for each in chosen for e in block(two_blocks, each.key).elements} == {each.element for each in chosen}
    earlier = block(two_blocks, key_of(two_blocks, "fx.refunds", 1, "refund"))
    assert earlier.elements == (element(two_blocks, earlier.key, "refund_id", "refund_id"),)
    assert {each.status for each in two_blocks.document.matrix.blocks()} == {Status.CONFIRMED}
    assert (plan.blocks, plan.carried) == (len({each.key for each in chosen}), 1)
    assert two_blocks.document.matrix.ones == len(chosen) + plan.carried
    two_blocks.undo()
    assert two_blocks.document.matrix.ones == 0


def test_the_title_counts_suggestions_blocks_and_what_is_set_in_other_versions(two_blocks: Workbench) -> None:
    chosen = best(two_blocks)
    plan = plan_acceptance(two_blocks.document, chosen, "above 0.50")
    blocks = len({each.key for each in chosen})
    title = plan.edit.title(two_blocks.document)
    assert title == f"Accept {len(chosen)} suggestions above 0.50 in {blocks} blocks, with 1 in other versions"
    alone = plan_acceptance(two_blocks.document, chosen[:1], "above 0.50", scope=VersionScope.THIS)
    assert alone.edit.title(two_blocks.document) == "Accept 1 suggestion above 0.50"


def test_with_this_version_alone_no_other_is_changed(two_blocks: Workbench) -> None:
    plan = plan_acceptance(two_blocks.document, best(two_blocks), "above 0.50", scope=VersionScope.THIS)
    two_blocks.do(plan.edit)
    assert plan.carried == 0
    assert block(two_blocks, key_of(two_blocks, "fx.refunds", 1, "refund")).elements == ()


def test_of_two_that_share_an_end_the_better_one_is_set_and_the_other_left(two_blocks: Workbench) -> None:
    first = next(each for each in best(two_blocks) if each.names.from_path == "amount")
    other = element(two_blocks, first.key, "note", first.names.to_path)
    worse = replace(first, element=other, score=first.score - 0.1)
    plan = plan_acceptance(two_blocks.document, [worse, first], "above 0.50")
    assert (plan.accepted, plan.left) == ((first,), (worse,))
    two_blocks.do(plan.edit)
    assert block(two_blocks, first.key).elements == (first.element,)


def test_what_fits_no_more_since_it_was_listed_is_left_and_the_rest_is_set(two_blocks: Workbench) -> None:
    chosen = best(two_blocks)
    taken = next(each for each in chosen if each.block.schema == "fx.refunds")
    two_blocks.do(SetElements(taken.key, (taken.element,)))
    retired = next(each.key for each in chosen if each.key != taken.key)
    two_blocks.do(SetElements(retired, (next(each.element for each in chosen if each.key == retired),)))
    two_blocks.do(RetireBlock(retired))
    plan = plan_acceptance(two_blocks.document, chosen, "above 0.50")
    assert set(plan.left) == {taken, *(each for each in chosen if each.key == retired)}
    assert set(plan.accepted) == set(chosen) - set(plan.left)
    two_blocks.do(plan.edit)


def test_suggestions_to_a_version_that_is_not_the_newest_any_more_are_left(two_blocks: Workbench) -> None:
    chosen = best(two_blocks)
    two_blocks.do(AddVersion(Side.CDM, declare("refund", "2", "refund_id", "amount", "more")))
    plan = plan_acceptance(two_blocks.document, chosen, "above 0.50")
    assert {each.block.entity for each in plan.left} == {"refund"}
    two_blocks.do(plan.edit)


def test_a_block_that_nobody_has_confirmed_stays_unconfirmed(two_blocks: Workbench) -> None:
    key = key_of(two_blocks, "fx.refunds", 2, "refund")
    note = element(two_blocks, key, "note", "reason")
    two_blocks.do(SetElements(key, (note,), status=Status.UNCONFIRMED))
    two_blocks.do(plan_acceptance(two_blocks.document, best(two_blocks), "above 0.50").edit)
    assert len(block(two_blocks, key).elements) == 3
    assert block(two_blocks, key).status is Status.UNCONFIRMED
    assert block(two_blocks, key_of(two_blocks, "fx.customers", 1, "customer")).status is Status.CONFIRMED


def test_where_a_second_person_confirms_what_one_accepts_is_unconfirmed(two_blocks: Workbench) -> None:
    set_project_settings(two_blocks, ["second_person_confirms=yes"])
    two_blocks.do(plan_acceptance(two_blocks.document, best(two_blocks), "above 0.50").edit)
    blocks = list(two_blocks.document.matrix.blocks())
    assert {(each.status, each.who) for each in blocks} == {(Status.UNCONFIRMED, "tess")}
    assert len(blocks) == 3


def test_a_lost_element_of_any_version_is_left_to_a_person(mapped: Workbench) -> None:
    for label, paths in (("2", ("id", "amount", "sum")), ("3", ("id", "amount", "sum", "total"))):
        mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", label, *paths)))
    keys = [key_of(mapped, "fx.pay.orders", version, "payment") for version in (1, 2, 3)]
    assert [len(block(mapped, key).open_losses) for key in keys] == [0, 2, 2]
    blank = suggestions_of(mapped.document, keys[2], [Candidate(Element(0, 0), 1.0, "", True)])[0]
    answer = replace(blank, element=element(mapped, keys[2], "sum", "payer_id"))
    plan = plan_acceptance(mapped.document, [answer], "above 0.50")
    assert (plan.accepted, plan.left, plan.carried) == ((), (answer,), 0)


def test_a_lost_element_of_another_version_is_not_answered_by_what_is_set_in_this_one(mapped: Workbench) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "amount", "legacy")))
    first, second = (key_of(mapped, "fx.pay.orders", version, "payment") for version in (1, 2))
    legacy = ("legacy", "legacy_code")
    for key, pairs in ((first, (("customer_id", "payer_id"), legacy)), (second, (legacy,))):
        mapped.do(SetElements(key, zeros=tuple(element(mapped, key, *pair) for pair in pairs)))
    lost = block(mapped, second).open_losses
    assert [loss.to_path for loss in lost] == ["payer_id"]
    blank = suggestions_of(mapped.document, first, [Candidate(Element(0, 0), 1.0, "", True)])[0]
    chosen = replace(blank, element=element(mapped, first, "legacy", "payer_id"))
    plan = plan_acceptance(mapped.document, [chosen], "above 0.50")
    assert (plan.accepted, plan.carried) == ((chosen,), 0)
    assert [each.reason for each in plan.left_there] == [LeftReason.LOSS]
    mapped.do(plan.edit)
    assert block(mapped, second).open_losses == lost


def test_the_best_are_set_in_all_versions_when_that_is_asked_for(two_blocks: Workbench) -> None:
    done = accept_best(two_blocks, suggest(two_blocks.document), 0.5, scope=VersionScope.ALL)
    blocks = list(two_blocks.document.matrix.blocks())
    assert done.set == sum(len(each.elements) for each in blocks)
    assert {each.status for each in blocks} == {Status.UNCONFIRMED}
    assert key_of(two_blocks, "fx.refunds", 1, "refund") in {each.key for each in blocks}
