"""The commands of owners on a small project: exit codes, documents, and what is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.session import Workbench
from tests.unit.cli.test_commands import Metl, metl
from tests.unit.workbench.conftest import declare, fill, write_table

__all__ = ["metl"]


@pytest.fixture
def project(metl: Metl, tmp_path: Path) -> Path:
    """Orders mapped to payment; version 2 calls the customer by another name."""
    path = tmp_path / "pay.metl"
    with Workbench.create(path) as workbench:
        fill(workbench)
    table = write_table(
        tmp_path, "fx.pay.orders,1,customer_id,payment,1,payer_id", "fx.pay.orders,1,id,payment,1,amount"
    )
    assert metl("map", path, "--csv", table)[0] == 0
    with Workbench.open(path) as workbench:
        workbench.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_ref")))
    return path


def state(metl: Metl, project: Path) -> int:
    found: int = metl("show", project)[1]["state"]
    return found


def test_a_dry_run_needs_no_lease_and_changes_nothing(metl: Metl, project: Path) -> None:
    before = state(metl, project)
    with Workbench.open(project):
        code, document, _ = metl(
            "link", project, "fx.pay.orders.customer_ref", "fx.pay.orders.customer_id", "--dry-run"
        )
    assert (code, document["state"], document["dry_run"]) == (0, before, True)
    assert document["blocks"][0]["restored"] == [{"from": "customer_ref", "to": "payer_id"}]
    assert state(metl, project) == before


def test_link_and_unlink_undo_each_other_as_steps_of_the_history(metl: Metl, project: Path) -> None:
    before = state(metl, project)
    assert metl("link", project, "fx.pay.orders.customer_ref", "fx.pay.orders.customer_id")[0] == 0
    code, document, _ = metl("unlink", project, "fx.pay.orders.customer_ref", "fx.pay.orders.customer_id")
    assert code == 0
    assert document["blocks"][0]["parted"] == [{"from": "customer_ref", "to": "payer_id"}]
    assert document["blocks"][0]["needs_review"]
    assert metl("undo", project)[1]["state"] == before + 3


def test_an_entity_has_a_key_by_which_a_warehouse_is_proposed(metl: Metl, project: Path) -> None:
    assert metl("warehouse", "propose", project)[0] == 1
    code, document, _ = metl("entity", project, "change", "payment", "--key", "payer_id")
    assert (code, document["title"]) == (0, "Give payment version 1 the key payer_id")
    (shown,) = metl("entity", project, "show", "payment")[1]["entities"]
    assert (shown["key"], shown["version"]) == (["payer_id"], "1")
    assert metl("warehouse", "propose", project)[0] == 0
    other = metl("entity", project, "change", "payment", "--key", "amount", "--dry-run")[1]
    assert other["note"] == "In the warehouse payment goes by the key: what is loaded already needs a rebuild."
    same = metl("entity", project, "change", "payment", "--add", "more:string", "--dry-run")[1]
    assert same["note"] == ""
    code, _, said = metl("entity", project, "add", "pair", "--attribute", "a:string", "--key", "b")
    assert code == 1
    assert "'b'" in said
    assert metl("entity", project, "add", "pair", "--attribute", "a:string", "b:string", "--key", "b", "a")[0] == 0
    assert metl("entity", project, "show", "pair")[1]["entities"][0]["key"] == ["b", "a"]
    assert metl("entity", project, "change", "pair", "--key")[0] == 0
    assert metl("entity", project, "show", "pair")[1]["entities"][0]["key"] == []


def test_an_entity_is_added_changed_and_shown(metl: Metl, project: Path) -> None:
    assert metl("entity", project, "add", "fee", "--attribute", "id:integer!", "at:date-time")[0] == 0
    code, document, _ = metl("entity", project, "change", "payment", "--rename", "payer_id=payer", "--add", "x:string")
    assert code == 0
    assert document["title"] == "New version 2 of payment: add x; rename payer_id to payer"
    assert {block["block"]["entity_version"] for block in document["blocks"]} == {"2"}
    entities = metl("entity", project, "show")[1]["entities"]
    assert [entity["name"] for entity in entities] == ["fee", "payment", "refund"]
    assert entities[0]["attributes"][0] == {
        "path": "id",
        "type": "integer",
        "required": True,
        "documentation": "",
        "masked": False,
    }


def test_what_was_written_for_an_entity_finds_it_by_its_old_name(metl: Metl, project: Path, tmp_path: Path) -> None:
    before = state(metl, project)
    code, document, _ = metl("entity", project, "rename", "payment", "transfer")
    assert (code, document["title"], document["state"]) == (0, "Rename payment to transfer", before + 1)
    table = write_table(tmp_path, "fx.pay.orders,2,customer_ref,payment,1,payer_id")
    code, document, _ = metl("map", project, "--csv", table)
    assert (code, document["set"]) == (0, 1)
    found = metl("search", project, "--reverse", "payment.payer_id")[1]["results"]
    assert {each["block"]["entity"] for each in found} == {"transfer"}
    assert len(found) == 2
    assert metl("entity", project, "show", "payment")[1]["entities"][0]["name"] == "transfer"
    metl("undo", project)
    metl("undo", project)
    assert [each["name"] for each in metl("entity", project, "show")[1]["entities"]] == ["payment", "refund"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("entity", "rename", "nope", "x"), "There is no entity 'nope'"),
        (("entity", "rename", "payment", "refund"), "refund answers to refund already"),
        (("entity", "add", "fee"), "fee would have no attributes"),
        (("entity", "add", "fee", "--attribute", "a:strin"), "There is no type 'strin'"),
        (("entity", "add", "fee", "--attribute", "a:string", "a:string"), "fee names a twice"),
        (("entity", "add", "", "--attribute", "a:string"), "An entity needs a name"),
        (("entity", "add", "fee", "--attribute", "\udcff:string"), "is no path"),
        (("entity", "change", "paymnt", "--remove", "x"), "There is no entity 'paymnt'"),
        (("entity", "change", "payment", "--remove", "nope"), "payment has no attribute 'nope'"),
        (("entity", "change", "payment", "--rename", "amount"), "does not say what becomes of what"),
        (("entity", "change", "payment", "--label", "0", "--add", "x:string"), "would not be the newest one"),
        (("entity", "show", "nope"), "There is no entity 'nope'"),
        (("link", "fx.pay.orders.id", "payment.amount"), "are in different trees"),
        (("link", "fx.pay.orders.id@9", "fx.pay.orders.id"), "has no version '9'"),
        (("link", "fx.pay.orders", "fx.pay.orders.id"), "names no attribute"),
        (("unlink", "fx.pay.orders.id@1"), "No version before 1 has id"),
        (("comment", "nowhere", "x"), "There is no schema 'nowhere'"),
        (("comment", "payment", "   "), "The comment says nothing"),
        (("comment", "--remove", "77"), "There is no comment 77"),
    ],
)
def test_what_cannot_be_done_ends_with_1_and_says_why(
    metl: Metl, project: Path, arguments: tuple[str, ...], words: str
) -> None:
    before = state(metl, project)
    code, document, said = metl(arguments[0], project, *arguments[1:])
    assert code == 1
    assert words in said
    assert document["error"]["hint"]
    assert state(metl, project) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("entity",),
        ("entity", "change", "payment"),
        ("entity", "grow", "payment"),
        ("link", "fx.pay.orders.id"),
        ("comment", "payment", "--remove", "1"),
        ("comment", "--remove", "0"),
        ("link", "a", "b", "--tree", "both"),
    ],
)
def test_wrong_usage_ends_with_2(metl: Metl, project: Path, arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        metl(arguments[0], project, *arguments[1:])
    assert ended.value.code == 2


def test_comments_are_listed_with_who_and_when(metl: Metl, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METL_USER", "ada")
    assert metl("comment", project, "payment", "Owned by billing")[0] == 0
    metl("comment", project, "fx.pay.orders.id:payment.amount", "gross")
    found = metl("comment", project)[1]["comments"]
    assert [(c["id"], c["place"], c["kind"], c["who"]) for c in found] == [
        (1, "payment", "entity", "ada"),
        (2, "fx.pay.orders.id:payment.amount", "element", "ada"),
    ]
    assert found[0]["when"].endswith("Z")
    assert [c["id"] for c in metl("comment", project, "--remove", "1")[1]["comments"]] == [2]


def test_a_mask_is_a_setting_of_a_schema_or_entity(metl: Metl, project: Path) -> None:
    code, document, _ = metl("set", project, "--schema", "fx.pay.orders", "mask=customer_id, id")
    assert (code, document["settings"]) == (0, {"mask": "customer_id,id"})
    shown = metl("entity", project, "show", "payment")[1]["entities"][0]["attributes"]
    assert {a["path"] for a in shown if a["masked"]} == {"payer_id", "amount"}
    assert metl("set", project, "--entity", "payment", "mask=nope")[0] == 1
    assert metl("set", project, "--schema", "fx.pay.orders", "mask=")[1]["settings"] == {}
