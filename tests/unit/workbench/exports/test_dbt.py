"""The dbt project: dbt itself reads it, whatever names are in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.paths import escape
from metl_gui.workbench.exports.files import export
from metl_gui.workbench.exports.format_spec import Choices
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import set_settings
from tests.helpers.odd_names import HOSTILE
from tests.helpers.outside import dbt
from tests.unit.workbench.conftest import declare

JINJA = ("a\rb", "\u2028", "{{ 1/0 }}", "{% raw %}", "{# note", "{% endraw %}", "{{{{", "}}")
_PROFILE = (
    "metl: {target: t, outputs: {t: {type: postgres, host: h, port: 1, user: u, pass: p, dbname: d, schema: s}}}\n"
)


def yaml_files(folder: Path, name: str) -> list[Any]:
    return [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob(name))]


def test_dbt_reads_hostile_names_as_they_are_and_two_exports_have_the_same_bytes(
    workbench: Workbench, tmp_path: Path
) -> None:
    names = [name for name in (*HOSTILE, *JINJA) if "\ud800" not in name and len(name.encode()) < 64]
    for number, name in enumerate(names):
        entity = f"e{number}" if number % 2 else name
        for side, owner in ((Side.EXTRACTION, f"shop.{escape(name)}"), (Side.CDM, entity)):
            attributes = (AttributeDeclaration(escape(name), "string", doc=name),)
            workbench.do(AddVersion(side, VersionDeclaration(owner, attributes, name, key=(escape(name),))))
        (v, w) = (list(workbench.document.tree(side).all_versions())[-1] for side in Side)
        workbench.do(SetElements((v.id, w.id), (Element(w.attributes[0].id, v.attributes[0].id),)))
    first, second = tmp_path / "first", tmp_path / "second"
    choices = Choices(options={"tables": "topic"})
    done, _ = (export(workbench.document, EXPORTS["dbt"], path, choices) for path in (first, second))
    assert not any("takes in a name" in sentence for sentence in done.says)
    assert {p.name: p.read_bytes() for p in first.rglob("*") if p.is_file()} == {
        p.name: p.read_bytes() for p in second.rglob("*") if p.is_file()
    }
    (tmp_path / "profiles.yml").write_text(_PROFILE, encoding="utf-8")
    dbt(first, "parse", "--profiles-dir", str(tmp_path))
    manifest = json.loads((first / "target" / "manifest.json").read_text(encoding="utf-8"))
    assert {each["identifier"] for each in manifest["sources"].values()} == {f"shop.{escape(name)}" for name in names}
    models = [each for each in manifest["nodes"].values() if each["resource_type"] == "model"]
    assert {column for model in models for column in model["columns"]} == set(names)
    assert {model["config"]["meta"]["metl"]["schema"] for model in models} == {f"shop.{escape(n)}" for n in names}
    described = {column["description"].split(" From shop.")[0] for m in models for column in m["columns"].values()}
    assert described == set(names)
    tests = [each for each in manifest["nodes"].values() if each["resource_type"] == "test"]
    assert len(tests) == 2 * len(names)


def test_keys_are_tested_and_masked_columns_are_marked(mapped: Workbench, tmp_path: Path) -> None:
    set_settings(mapped, "fx.pay.orders", ["key=id,customer_id", "mask=amount"])
    done = export(mapped.document, EXPORTS["dbt"], tmp_path / "out")
    assert any(sentence.startswith("2 mapped attributes are masked") for sentence in done.says)
    (content,) = yaml_files(tmp_path / "out", "_models.yml")
    payment, refund = content["models"]
    tested = {column["name"]: column.get("data_tests") for column in payment["columns"]}
    assert tested == {"payment_id": ["not_null"], "payer_id": ["not_null"], "amount": None, "legacy_code": None}
    assert [column["name"] for column in refund["columns"]] == ["refund_id", "amount", "metl_key_customer_id"]
    assert "Masked for people" in payment["columns"][2]["description"]


def test_from_messages_a_model_takes_all_versions_and_leaves_out_those_under_review(
    mapped: Workbench, tmp_path: Path
) -> None:
    mapped.do(
        AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id", "amount", "legacy", "new"))
    )
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "3", "id", "other")))
    done = export(mapped.document, EXPORTS["dbt"], tmp_path / "out", Choices(options={"source": "debezium"}))
    assert any("fx.pay.orders@3" in sentence and "waits for a review" in sentence for sentence in done.says)
    (content,) = yaml_files(tmp_path / "out", "_models.yml")
    assert {model["name"] for model in content["models"]} == {
        "stg_fx_pay_orders__payment",
        "stg_fx_pay_orders__refund",
    }
    assert all("3" not in model["config"]["meta"]["metl"]["versions"] for model in content["models"])
