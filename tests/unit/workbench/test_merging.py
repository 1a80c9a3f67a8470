"""Merging files: projects, exports, what is written where, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metl_gui.core.blocks import Element
from metl_gui.core.draft import Stamp
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.nodes import Side
from metl_gui.core.wire_schemas import WireSchema
from metl_gui.errors import ProjectError, SchemaError, UserError
from metl_gui.registry.matrix_export import read_export
from metl_gui.store.making import copy_file
from metl_gui.workbench.addresses import find_block, find_schema, find_version
from metl_gui.workbench.comparing import compared
from metl_gui.workbench.exporting import export
from metl_gui.workbench.exports import find_export
from metl_gui.workbench.merging import merge_files
from metl_gui.workbench.session import Workbench

BLOCK = "fx.pay.orders@1:payment@1"


def change(path: Path, **pairs: str) -> None:
    """Map targets of the block to sources, each in place of what it had."""
    with Workbench.open(path) as workbench:
        document = workbench.document
        key = find_block(document, BLOCK)
        version = find_version(document, Side.EXTRACTION, find_schema(document, Side.EXTRACTION, "fx.pay.orders"), "1")
        target = find_version(document, Side.CDM, find_schema(document, Side.CDM, "payment"), "1")
        ones = []
        for to, source in pairs.items():
            q, p = target.at_path(to), version.at_path(source)
            assert q is not None
            assert p is not None
            ones.append(Element(q.id, p.id))
        block = document.matrix.block(*key)
        zeros = tuple(e for e in (block.elements if block else ()) if {e.q, e.p} & {x for one in ones for x in one})
        workbench.do(SetElements(key, ones=tuple(ones), zeros=zeros))


def write(project: Path, name: str, format_: str = "json") -> Path:
    """Export the current state of a project."""
    target = project.with_name(name)
    with Workbench.open(project, for_editing=False) as workbench:
        export(workbench.document, find_export(format_), target)
    return target


@pytest.fixture
def projects(workbench: Workbench, tmp_path: Path) -> tuple[Path, Path, Path]:
    """A project that maps one element, and two copies of it."""
    workbench.close()
    base = tmp_path / "pay.metl"
    change(base, payment_id="id")
    ours, theirs = tmp_path / "ours.metl", tmp_path / "theirs.metl"
    for copy in (ours, theirs):
        copy_file(base, copy)
    return base, ours, theirs


def pairs(path: Path) -> set[tuple[str, str]]:
    """The elements of the block in a project."""
    with Workbench.open(path, for_editing=False) as workbench:
        document = workbench.document
        block = document.matrix.block(*find_block(document, BLOCK))
        assert block is not None
        columns = {a.id: a.path for a in document.extraction.version(block.version).attributes}
        rows = {a.id: a.path for a in document.cdm.version(block.entity_version).attributes}
        return {(columns[p], rows[q]) for q, p in block.elements}


def test_the_history_of_ours_goes_on_with_one_edit_that_can_be_undone(projects: tuple[Path, Path, Path]) -> None:
    base, ours, theirs = projects
    change(ours, amount="amount")
    change(theirs, payer_id="customer_id")
    change(theirs, legacy_code="legacy")
    with Workbench.open(ours) as workbench:
        before = workbench.document.state
    result = merge_files(base, ours, theirs)
    assert (result.output, result.document.state, result.conflicts) == (ours, before + 1, ())
    assert pairs(ours) == {
        ("id", "payment_id"),
        ("amount", "amount"),
        ("customer_id", "payer_id"),
        ("legacy", "legacy_code"),
    }
    with Workbench.open(ours) as workbench:
        assert workbench.undo_title() == "Merge theirs.metl"
        workbench.undo()
    assert pairs(ours) == {("id", "payment_id"), ("amount", "amount")}


def test_with_an_output_ours_stays_as_it_is(projects: tuple[Path, Path, Path], tmp_path: Path) -> None:
    base, ours, theirs = projects
    change(theirs, payer_id="customer_id")
    before = ours.read_bytes()
    result = merge_files(base, ours, theirs, tmp_path / "both.metl")
    assert ours.read_bytes() == before
    assert pairs(result.output) == {("id", "payment_id"), ("customer_id", "payer_id")}
    with pytest.raises(ProjectError, match="there already"):
        merge_files(base, ours, theirs, tmp_path / "both.metl")


def test_a_merge_that_was_broken_off_leaves_no_file_under_the_name_of_its_result(
    projects: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, ours, theirs = projects
    change(theirs, payer_id="customer_id")
    output = tmp_path / "both.metl"
    seen = []

    def broken_off(*_: object, **__: object) -> None:
        seen.append(output.exists())
        raise KeyboardInterrupt

    monkeypatch.setattr(Workbench, "do", broken_off)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        merge_files(base, ours, theirs, output)
    assert (seen, sorted(tmp_path.iterdir())) == ([False], before)


def test_base_and_theirs_are_left_alone(projects: tuple[Path, Path, Path]) -> None:
    base, ours, theirs = projects
    change(theirs, payer_id="customer_id")
    before = base.read_bytes(), theirs.read_bytes(), sorted(base.parent.iterdir())
    merge_files(base, ours, theirs)
    assert (base.read_bytes(), theirs.read_bytes(), sorted(base.parent.iterdir())) == before


def test_a_project_that_is_being_edited_is_not_merged_into(projects: tuple[Path, Path, Path]) -> None:
    base, ours, theirs = projects
    change(theirs, payer_id="customer_id")
    with Workbench.open(ours), pytest.raises(ProjectError, match="being edited"):
        merge_files(base, ours, theirs)
    assert pairs(ours) == {("id", "payment_id")}


def test_an_export_that_only_one_side_changed_is_that_side_to_the_last_byte(
    projects: tuple[Path, Path, Path],
) -> None:
    base, ours, theirs = projects
    before = write(base, "base.json")
    change(theirs, payer_id="customer_id")
    mine, other = write(ours, "ours.json"), write(theirs, "theirs.json")
    merge_files(before, mine, other)
    assert mine.read_bytes() == other.read_bytes()
    changed = mine.read_bytes()
    merge_files(before, mine, before)
    assert mine.read_bytes() == changed
    merge_files(before, mine, other)
    assert mine.read_bytes() == changed


def test_exports_merge_to_what_their_projects_merge_to(projects: tuple[Path, Path, Path]) -> None:
    base, ours, theirs = projects
    before = write(base, "base.json")
    change(ours, amount="amount")
    change(theirs, payer_id="customer_id")
    result = merge_files(before, write(ours, "ours.json"), write(theirs, "theirs.json"))
    merge_files(base, ours, theirs)
    assert compared(str(result.output), str(ours)).difference.is_empty
    merged = read_export(result.output)
    assert merged.is_whole
    assert merged.state > read_export(before).state


def test_both_sides_of_a_conflict_stand_in_the_merged_export_and_are_read_again(
    projects: tuple[Path, Path, Path],
) -> None:
    base, ours, theirs = projects
    before = write(base, "base.json")
    change(ours, amount="amount")
    change(theirs, amount="legacy")
    mine, other = write(ours, "ours.json"), write(theirs, "theirs.json")
    result = merge_files(before, mine, other)
    assert len(result.conflicts) == 1
    (block,) = json.loads(mine.read_text())["blocks"]
    assert (block["status"], block["held"], block["elements"]) == ("needs review", True, [])
    assert block["conflicts"] == [
        {
            "from": "legacy",
            "to": "amount",
            "reason": "theirs maps legacy to amount, ours maps amount to amount; ours was kept",
        }
    ]
    assert {"from": "amount", "to": "amount"} in block["kept"]
    written = mine.read_bytes()
    assert merge_files(other, mine, other).conflicts == ()
    assert mine.read_bytes() == written
    assert [loss.from_path for b in read_export(mine).document.matrix.blocks() for loss in b.open_losses] == ["legacy"]


def test_an_export_merges_into_a_project(projects: tuple[Path, Path, Path]) -> None:
    base, ours, theirs = projects
    before = write(base, "base.json")
    change(theirs, payer_id="customer_id")
    merge_files(before, ours, write(theirs, "theirs.json"))
    assert pairs(ours) == {("id", "payment_id"), ("customer_id", "payer_id")}


def test_an_empty_base_means_that_both_sides_began_it(projects: tuple[Path, Path, Path], tmp_path: Path) -> None:
    _, ours, theirs = projects
    empty = tmp_path / "empty"
    empty.touch()
    change(ours, amount="amount")
    change(theirs, payer_id="customer_id")
    result = merge_files(empty, ours, theirs)
    assert result.conflicts == ()
    assert pairs(ours) == {("id", "payment_id"), ("amount", "amount"), ("customer_id", "payer_id")}


def test_what_cannot_be_merged_is_refused_and_nothing_is_written(
    projects: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    base, ours, theirs = projects
    compact = write(ours, "ours.dusb", "dusb")
    dense = write(base, "base.json")
    with pytest.raises(UserError, match="compact export"):
        merge_files(dense, compact, dense)
    broken = tmp_path / "broken.json"
    broken.write_text(dense.read_text()[:-20])
    with pytest.raises(SchemaError, match=r"broken\.json"):
        merge_files(base, ours, broken)
    with pytest.raises(UserError, match="cannot be read"):
        merge_files(base, ours, tmp_path / "nowhere.metl")
    with pytest.raises(UserError, match="cannot be read"):
        merge_files(base, tmp_path / "nowhere.metl", theirs)
    assert pairs(ours) == {("id", "payment_id")}


@pytest.mark.parametrize("is_elsewhere", [True, False])
def test_registry_ids_that_theirs_knows_are_known_in_the_result(
    projects: tuple[Path, Path, Path], is_elsewhere: bool, tmp_path: Path
) -> None:
    base, ours, theirs = projects
    change(theirs, amount="amount")
    known = [WireSchema("7", "avro", '"string"', "s"), WireSchema("8", "avro", '"int"', "s")]
    for path, kept in ((theirs, known), (ours, [WireSchema("8", "avro", '"long"', "s")])):
        with Workbench.open(path) as workbench:
            workbench.beside.keep_wire_schemas(kept, Stamp("ada", 1))
    result = merge_files(base, ours, theirs, tmp_path / "merged.metl" if is_elsewhere else None)
    with Workbench.open(result.output, for_editing=False) as workbench:
        assert {one.id: one.text for one in workbench.beside.wire_schemas()} == {"7": '"string"', "8": '"long"'}
