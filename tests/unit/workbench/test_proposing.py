"""Refused renames: nowhere proposed or suggested again, on either side, until they are allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.workbench.addresses import find_block
from metl_gui.workbench.mapping.suggestions import SuggestionQuery, suggest
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.model import lineages
from metl_gui.workbench.review import decisions
from metl_gui.workbench.review.rename_refusals import allow_rename, refuse_rename
from metl_gui.workbench.session import Workbench

from .conftest import declare, write_table

PAYMENT_2 = "fx.pay.orders@2:payment@1"


@pytest.fixture
def shrunk(mapped: Workbench) -> Workbench:
    """Version 2 renames ``customer_id``."""
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_ref", "amount", "legacy")))
    return mapped


def proposed(workbench: Workbench) -> set[tuple[str, str, str]]:
    listed = decisions.review_list(workbench.document, workbench.kept.refused_renames.all())
    return {(str(item.block), p.lost, p.candidate) for item in listed.items for p in item.proposals}


def suggested(workbench: Workbench, schema: str = "fx.pay.orders") -> set[tuple[str, str]]:
    found = suggest(workbench.document, SuggestionQuery(schema, "payment"), workbench.kept.refused_suggestions.all())
    return {(each.names.from_path, each.names.to_path) for each in found.suggestions}


def test_a_refused_rename_is_neither_proposed_nor_suggested_in_any_version(shrunk: Workbench) -> None:
    assert (PAYMENT_2, "customer_id", "customer_ref") in proposed(shrunk)
    assert ("customer_ref", "payer_id") in suggested(shrunk)
    refuse_rename(shrunk, find_block(shrunk.document, PAYMENT_2), "customer_id", "customer_ref")
    for label in "345":
        more = declare("fx.pay.orders", label, "id", "customer_ref", "amount", "legacy", f"more_{label}")
        shrunk.do(AddVersion(Side.EXTRACTION, more))
        assert "customer_ref" not in {candidate for _, _, candidate in proposed(shrunk)}
        assert ("customer_ref", "payer_id") not in suggested(shrunk)


def test_undo_and_redo_do_not_bring_a_refused_rename_back(shrunk: Workbench) -> None:
    refuse_rename(shrunk, find_block(shrunk.document, PAYMENT_2), "customer_id", "customer_ref")
    shrunk.undo()
    shrunk.redo()
    assert proposed(shrunk) == set()
    shrunk.undo()
    again = declare("fx.pay.orders", "2b", "id", "customer_ref", "amount", "legacy", "extra")
    shrunk.do(AddVersion(Side.EXTRACTION, again))
    assert "customer_ref" not in {candidate for _, _, candidate in proposed(shrunk)}


def test_a_refused_rename_can_be_allowed_again_with_what_it_suggested(shrunk: Workbench) -> None:
    before = proposed(shrunk), suggested(shrunk)
    refused = refuse_rename(shrunk, find_block(shrunk.document, PAYMENT_2), "payer_id", "customer_ref")
    assert (refused.lost, refused.candidate) == ("customer_id", "customer_ref")
    allow_rename(shrunk, refused)
    assert (proposed(shrunk), suggested(shrunk)) == before
    assert shrunk.kept.refused_suggestions.all() == ()


def test_a_refusal_makes_no_state(shrunk: Workbench) -> None:
    state = shrunk.document.state
    refuse_rename(shrunk, find_block(shrunk.document, PAYMENT_2), "customer_id", "customer_ref")
    assert shrunk.document.state == state


def test_what_is_not_lost_or_not_there_cannot_be_refused(shrunk: Workbench) -> None:
    key = find_block(shrunk.document, PAYMENT_2)
    with pytest.raises(EditError, match="No lost element of this block is called amount"):
        refuse_rename(shrunk, key, "amount", "customer_ref")
    with pytest.raises(EditError, match="has no attribute customer_rf"):
        refuse_rename(shrunk, key, "customer_id", "customer_rf")
    assert shrunk.kept.refused_renames.all().all == ()


def test_an_attribute_of_an_entity_is_refused_for_all_schemas_that_feed_it(mapped: Workbench) -> None:
    mapped.do(AddVersion(Side.CDM, declare("payment", "2", "payment_id", "payer_identifier", "amount", "legacy_code")))
    block = "fx.pay.orders@1:payment@2"
    assert proposed(mapped) == {(block, "payer_id", "payer_identifier")}
    decisions.refuse_renames(mapped, block, ["payer_id=payer_identifier"])
    assert proposed(mapped) == set()
    (refused,) = mapped.kept.refused_renames.all().all
    entity = mapped.document.cdm.named("payment")
    assert entity is not None
    assert (refused.side, refused.schema_id) == (Side.CDM, entity.id)
    assert ("customer_id", "payer_identifier") not in suggested(mapped)


def test_what_was_told_apart_is_not_proposed_on_either_side(shrunk: Workbench) -> None:
    decisions.rename(shrunk, PAYMENT_2, ["customer_id=customer_ref"])
    lineages.unlink(shrunk, "fx.pay.orders.customer_ref@2")
    assert "customer_ref" not in {candidate for _, _, candidate in proposed(shrunk)}
    (refused,) = shrunk.kept.refused_renames.all().all
    assert (refused.side, refused.lost, refused.candidate) == (Side.EXTRACTION, "customer_id", "customer_ref")


def moved(workbench: Workbench, tmp_path: Path) -> Workbench:
    """Add a schema whose second version calls ``billing`` ``invoice``, without one of its attributes."""
    workbench.do(AddVersion(Side.CDM, declare("bill", "1", "billing.to", "town", "road", "fax")))
    first = "billing.name", "billing.city", "billing.street", "billing.fax"
    workbench.do(AddVersion(Side.EXTRACTION, declare("fx.bill", "1", *first)))
    targets = ("billing.to", "town", "road", "fax")
    rows = (f"fx.bill,1,{source},bill,1,{target}" for source, target in zip(first, targets, strict=True))
    import_mapping(workbench, write_table(tmp_path, *rows, name="bill.csv"))
    second = declare("fx.bill", "2", "invoice.name", "invoice.city", "invoice.street")
    workbench.do(AddVersion(Side.EXTRACTION, second))
    return workbench


def test_what_was_renamed_together_is_listed_and_accepted_by_the_names_of_the_structs(
    workbench: Workbench, tmp_path: Path
) -> None:
    opened = moved(workbench, tmp_path)
    (item,) = decisions.review_list(opened.document).as_json()["items"]
    (group,) = item["renamed_together"]
    assert group["change"] == "billing is invoice now"
    assert {"lost": "billing.city", "candidate": "invoice.city"} in group["renames"]
    state = opened.document.state
    decisions.rename(opened, "fx.bill@2:bill@1", ["billing=invoice"])
    (item,) = decisions.review_list(opened.document).as_json()["items"]
    assert [lost["from"] for lost in item["lost"]] == ["billing.fax"]
    assert opened.document.state == state + 1


def test_a_struct_without_lost_attributes_is_refused_by_name(workbench: Workbench, tmp_path: Path) -> None:
    with pytest.raises(EditError, match="No lost element of this block is called bill"):
        decisions.rename(moved(workbench, tmp_path), "fx.bill@2:bill@1", ["bill=invoice"])
