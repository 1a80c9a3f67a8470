"""Which blocks can be chains of Connect's transforms, and what is said of the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.exports.files import export
from metl_gui.workbench.exports.format_spec import Choices
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.mapping.table import MapMode, import_mapping
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import set_settings
from tests.unit.workbench.conftest import declare, write_table

Told = dict[str, Any]


def told(workbench: Workbench, folder: Path, **options: str) -> Told:
    """Export and return what ``chains.json`` says, with the settings of each chain by its entity."""
    export(workbench.document, EXPORTS["kafka-connect"], folder / "out", Choices(options=options))
    content: Told = json.loads((folder / "out" / "chains.json").read_text(encoding="utf-8"))
    content["settings"] = {
        chain["entity"]: json.loads((folder / "out" / chain["file"]).read_text(encoding="utf-8"))
        for chain in content["chains"]
    }
    return content


def one(settings: dict[str, str], end: str) -> str:
    (value,) = (value for name, value in settings.items() if name.endswith(end))
    return value


def whys(content: Told) -> set[str]:
    return {each["why"] for each in content["not_expressible"]}


def test_each_entity_of_a_schema_has_a_chain_of_its_own_that_keeps_what_is_mapped(
    mapped: Workbench, tmp_path: Path
) -> None:
    set_settings(mapped, "fx.pay.orders", ["key=id,customer_id"])
    content = told(mapped, tmp_path, topic="canon.{entity}")
    assert whys(content) == set()
    payment, refund = content["settings"]["payment"], content["settings"]["refund"]
    assert one(payment, "_keep.renames") == "id:payment_id,customer_id:payer_id,legacy:legacy_code"
    assert one(refund, "_keep.include") == "id,amount"
    assert one(refund, "_key.renames") == "id:refund_id,customer_id:@customer_id"
    assert one(refund, "_route.replacement") == "canon.refund"
    assert one(refund, "_topic.pattern") == "fx\\.pay\\.orders"


def test_versions_that_agree_share_a_chain_and_those_that_do_not_are_left_out_with_the_reason(
    mapped: Workbench, tmp_path: Path
) -> None:
    mapped.do(
        AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id", "amount", "legacy", "new"))
    )
    assert [chain["versions"] for chain in told(mapped, tmp_path)["chains"]] == [["1", "2"], ["1", "2"]]
    import_mapping(mapped, write_table(tmp_path, "fx.pay.orders,2,amount,payment,1,legacy_code", name="other.csv"))
    table = write_table(
        tmp_path, "fx.pay.orders,2,id,payment,1,payment_id", "fx.pay.orders,2,new,payment,1,amount", name="next.csv"
    )
    import_mapping(mapped, table, MapMode.REPLACE)
    content = told(mapped, tmp_path)
    assert [chain["entity"] for chain in content["chains"]] == ["refund"]
    assert whys(content) == {"its versions fill amount from columns of different names"}
    assert {chain["entity"] for chain in told(mapped, tmp_path, versions="newest")["chains"]} == {"payment", "refund"}


def test_no_chain_is_made_while_a_version_waits_for_a_review(mapped: Workbench, tmp_path: Path) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id")))
    content = told(mapped, tmp_path)
    assert content["chains"] == []
    assert whys(content) == {"version 2 waits for a review, and a chain cannot set its records aside"}


@pytest.mark.parametrize("name", ["a,b", "a:b", "${env:HOME}", " a", "a\nb", "a b"])
def test_names_that_settings_cannot_hold_are_left_out_by_name(workbench: Workbench, tmp_path: Path, name: str) -> None:
    attributes = (AttributeDeclaration(name, "string"),)
    workbench.do(AddVersion(Side.EXTRACTION, VersionDeclaration("shop.x", attributes, "1")))
    version = workbench.document.extraction.named("shop.x")
    entity = workbench.document.cdm.named("payment")
    assert version is not None
    assert entity is not None
    (v,), (w,) = workbench.document.extraction.versions(version.id), workbench.document.cdm.versions(entity.id)
    amount = next(attribute for attribute in w.attributes if attribute.path == "amount")
    workbench.do(SetElements((v.id, w.id), (Element(amount.id, v.attributes[0].id),)))
    content = told(workbench, tmp_path)
    if name == "a b":
        assert one(content["settings"]["payment"], "_keep.renames") == "a b:amount"
    else:
        assert whys(content) == {f"the name {name!r} cannot stand in the settings of a transform"}


def test_nested_attributes_are_left_out_and_named(workbench: Workbench, tmp_path: Path) -> None:
    workbench.do(AddVersion(Side.EXTRACTION, declare("shop.x", "1", "price.amount", "plain")))
    import_mapping(workbench, write_table(tmp_path, "shop.x,1,price.amount,payment,1,amount"))
    assert whys(told(workbench, tmp_path)) == {
        "price.amount is nested, and ReplaceField looks at the outermost names only"
    }
