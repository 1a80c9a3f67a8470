"""The matrix in files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element, Status
from metl_gui.core.matrix.canonical import exported_blocks, state_hash
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.kernel import plan as plans
from metl_gui.errors import ProjectError, UserError
from metl_gui.registry.matrix_export import parse_export
from metl_gui.workbench.comparison.merge import merge_files
from metl_gui.workbench.exports.files import export, export_published
from metl_gui.workbench.exports.format_spec import Choices, Export
from metl_gui.workbench.exports.formats import EXPORTS, find_export
from metl_gui.workbench.exports.matrix import dusb_text, json_text, laid_out
from metl_gui.workbench.exports.table import table_text
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.publishing.publication import judged, publish
from metl_gui.workbench.review.answer_sheet import write_sheet
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import set_settings

from .conftest import declare, fill

TEXTS = {"json": json_text, "dusb": dusb_text, "csv": table_text}


@pytest.fixture
def shrunk(mapped: Workbench) -> Workbench:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id")))
    return mapped


def test_the_json_export_has_one_element_a_line(shrunk: Workbench, tmp_path: Path) -> None:
    result = export(shrunk.document, EXPORTS["json"], tmp_path / "out.json")
    text = (tmp_path / "out.json").read_text(encoding="utf-8")
    content = json.loads(text)
    assert (content["format"], content["version"], content["state"]) == ("metl-matrix", 1, 6)
    assert content["hash"] == state_hash(shrunk.document)
    assert text.count('{"from": ') == sum(len(block["elements"]) for block in content["blocks"])
    assert all(line.count('"from"') <= 1 for line in text.splitlines())
    assert result.as_json()["blocks"] == len(content["blocks"]) == 4
    assert set(content) >= {"trees", "settings"}


def test_a_block_that_needs_review_is_held_unless_its_schema_says_otherwise(shrunk: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    assert export(shrunk.document, EXPORTS["json"], path).held == 2
    held = [block for block in json.loads(path.read_text())["blocks"] if block.get("held")]
    assert [(block["version"], block["elements"]) for block in held] == [("2", []), ("2", [])]
    set_settings(shrunk, "fx.pay.orders", ["meanwhile=map what is left"])
    assert export(shrunk.document, EXPORTS["json"], path).held == 0
    assert [len(block["elements"]) for block in json.loads(path.read_text())["blocks"]] == [4, 2, 2, 1]


def test_an_emptied_block_that_waits_where_the_rest_is_mapped_is_in_documents_and_in_no_query(
    mapped: Workbench, tmp_path: Path
) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "x", "y", key=("x",))))
    set_settings(mapped, "fx.pay.orders", ["meanwhile=map what is left"])
    export(mapped.document, EXPORTS["json"], tmp_path / "out.json")
    blocks = [block for block in json.loads((tmp_path / "out.json").read_text())["blocks"] if block["version"] == "2"]
    assert [(block["status"], block["elements"], "held" in block) for block in blocks] == [
        ("needs review", [], False)
    ] * 2
    export(mapped.document, EXPORTS["sql"], tmp_path / "out.sql")
    parts = (tmp_path / "out.sql").read_text().split("\n-- metl ")[1:]
    assert [json.loads(part.partition("\n")[0])["version"] for part in parts] == ["1", "1"]


@pytest.mark.parametrize("meanwhile", ["hold", "map what is left"])
@pytest.mark.parametrize("format_", [EXPORTS["json"], EXPORTS["dusb"], EXPORTS["csv"]])
def test_a_block_that_nobody_ever_confirmed_is_carried_only_when_asked_for(
    workbench: Workbench, tmp_path: Path, format_: Export, meanwhile: str
) -> None:
    version, entity_version = (workbench.document.tree(side).newest(1) for side in Side)
    assert version is not None
    assert entity_version is not None
    ones = tuple(Element(q.id, p.id) for q, p in zip(entity_version.attributes, version.attributes, strict=False))
    workbench.do(SetElements((version.id, entity_version.id), ones, status=Status.UNCONFIRMED))
    set_settings(workbench, "fx.pay.orders", [f"meanwhile={meanwhile}"])
    workbench.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id")))
    (waiting,) = (block for block in workbench.document.matrix.blocks() if block.status is Status.NEEDS_REVIEW)
    assert waiting.unconfirmed
    assert waiting.elements
    kept = exported_blocks(workbench.document)
    assert [block.key for block in kept] == []
    assert judged(workbench.document).unconfirmed == 2
    done = export(workbench.document, format_, tmp_path / "out")
    assert (done.blocks, done.held, done.left_out) == (0, 0, 2)
    without, with_all = (TEXTS[format_.name](workbench.document, is_whole) for is_whole in (False, True))
    assert "needs review" not in without
    assert '"from"' not in without
    if format_ is not EXPORTS["csv"]:
        again = parse_export(with_all.encode())
        assert [block.unconfirmed for block in again.document.matrix.blocks()] == [False, True]
        assert exported_blocks(again.document) == []
        assert laid_out(again.content()) == with_all


def test_comments_and_who_decided_are_in_no_export_for_programs_and_comments_are_in_the_tables(
    mapped: Workbench, tmp_path: Path
) -> None:
    block = next(iter(mapped.document.matrix.blocks()))
    mapped.do(SetElements(block.key, comment="as finance said"))
    for name in ("json", "dusb"):
        export(mapped.document, EXPORTS[name], tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "as finance said" not in text
        assert '"tess"' not in text
    assert "as finance said" in table_text(mapped.document)


@pytest.mark.parametrize("meanwhile", ["hold", "map what is left"])
def test_a_table_has_no_row_of_a_block_that_is_held(shrunk: Workbench, tmp_path: Path, meanwhile: str) -> None:
    set_settings(shrunk, "fx.pay.orders", [f"meanwhile={meanwhile}"])
    versions = {"csv": set[str](), "parquet": set[str]()}
    for name, found in versions.items():
        export(shrunk.document, EXPORTS[name], tmp_path / name)
        table = pd.read_csv(tmp_path / name, dtype=str) if name == "csv" else pd.read_parquet(tmp_path / name)
        found.update(table["schema_version"])
    wanted = {"1"} if meanwhile == "hold" else {"1", "2"}
    assert versions == {"csv": wanted, "parquet": wanted}


def test_the_compact_export_keeps_one_block_of_equal_versions(mapped: Workbench, tmp_path: Path) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id", "amount", "legacy", "x")))
    export(mapped.document, EXPORTS["dusb"], tmp_path / "out.json")
    groups = json.loads((tmp_path / "out.json").read_text())["groups"]
    assert [[kept["version"] for kept in group["kept"]] for group in groups] == [["1"], ["1"]]


def test_a_table_reads_back_as_the_same_mapping(mapped: Workbench, tmp_path: Path) -> None:
    export(mapped.document, EXPORTS["csv"], tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert {row["status"] for row in rows} == {"confirmed"}
    with Workbench.create(tmp_path / "again.metl") as again:
        fill(again)
        assert import_mapping(again, tmp_path / "out.csv").set == 6
        assert state_hash(again.document) == state_hash(mapped.document)


def test_an_earlier_state_is_exported_as_it_was(shrunk: Workbench, tmp_path: Path) -> None:
    export(shrunk.at_state(5), EXPORTS["json"], tmp_path / "old.json")
    content = json.loads((tmp_path / "old.json").read_text())
    assert (content["state"], len(content["blocks"])) == (5, 2)


def test_an_export_for_pipelines_takes_what_is_published_and_is_remembered(shrunk: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    with pytest.raises(UserError, match=r"Nothing of pay\.metl is published yet"):
        export_published(shrunk, EXPORTS["json"], path)
    publish(shrunk, state=5)
    assert export_published(shrunk, EXPORTS["json"], path).state == 5
    with pytest.raises(UserError, match=r"State 6 of pay\.metl is not published"):
        export_published(shrunk, EXPORTS["json"], path, state=6)
    assert json.loads(path.read_text())["state"] == 5
    assert shrunk.kept.states.exported() == {5}


def test_a_job_knows_under_which_publication_its_state_is_mapped(mapped: Workbench, tmp_path: Path) -> None:
    publish(mapped)
    publish(mapped)
    export_published(mapped, EXPORTS["spark"], tmp_path / "job")
    written = (tmp_path / "job" / "plan.json").read_bytes()
    assert json.loads(written)["publication"] == mapped.kept.states.publication() > 0
    assert plans.decode(written).state == mapped.document.state


def test_a_reader_exports_while_somebody_edits(mapped: Workbench, tmp_path: Path) -> None:
    publish(mapped)
    with Workbench.open(mapped.path, for_editing=False) as reader:
        assert export_published(reader, EXPORTS["csv"], tmp_path / "out.csv").state == 5
    assert mapped.kept.states.exported() == {5}


def test_the_settings_that_production_obeys_are_written_into_the_export(shrunk: Workbench, tmp_path: Path) -> None:
    set_settings(shrunk, "fx.pay.orders", ["meanwhile=map what is left", "ask=always"])
    publish(shrunk)
    export_published(shrunk, EXPORTS["dusb"], tmp_path / "out.dusb", choices=Choices(include_unconfirmed=True))
    settings = json.loads((tmp_path / "out.dusb").read_text())["settings"]
    assert settings["include_unconfirmed"] is True
    assert settings["schemas"] == {"fx.pay.orders": {"meanwhile": "map what is left", "ask": "always"}}


def test_what_cannot_be_written_leaves_the_old_file_whole(mapped: Workbench, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="folder"):
        export(mapped.document, EXPORTS["json"], tmp_path)
    with pytest.raises(ProjectError, match="cannot be written"):
        export(mapped.document, EXPORTS["json"], tmp_path / "no" / "out.json")
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(0o640)
    export(mapped.document, EXPORTS["json"], path)
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir() if "partial" in each.name) == []


def test_an_unknown_format_is_answered_with_those_there_are() -> None:
    with pytest.raises(UserError, match="json, dusb, csv"):
        find_export("xlxs")


def test_nothing_is_ever_written_over_a_project_whatever_it_is_called(shrunk: Workbench, tmp_path: Path) -> None:
    publish(shrunk)
    export_published(shrunk, EXPORTS["json"], tmp_path / "out.json")
    copy = tmp_path / "copy.xlsx"
    copy.write_bytes(shrunk.path.read_bytes())
    before = shrunk.path.read_bytes()
    one = tmp_path / "out.json"
    for path in (shrunk.path, copy):
        with pytest.raises(ProjectError, match="take its place"):
            write_sheet(shrunk, path)
        with pytest.raises(ProjectError, match="take its place"):
            export(shrunk.document, EXPORTS["csv"], path)
        with pytest.raises(ProjectError, match="take its place"):
            merge_files(one, one, one, path)
    assert (shrunk.path.read_bytes(), copy.read_bytes()) == (before, before)


@pytest.mark.parametrize("name", ["x\0.json", "x" * 300], ids=["with a zero", "too long"])
def test_a_name_that_no_file_can_have_is_answered_in_words(mapped: Workbench, tmp_path: Path, name: str) -> None:
    with pytest.raises(ProjectError, match="cannot be written"):
        export(mapped.document, EXPORTS["json"], tmp_path / name)
