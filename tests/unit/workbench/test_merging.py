"""Merging files: projects, exports, what is written where, and what is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metl_gui.core.changes.draft import EditContext
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element, Status
from metl_gui.core.merge.sides import ConflictKind
from metl_gui.core.project.comments import Comments, CommentSubject, Spot, block_subject, element_subject, node_subject
from metl_gui.core.project.project_data import ItemKind, Naming, entries
from metl_gui.core.project.refusals import RefusedRename, RefusedSuggestion
from metl_gui.core.project.sample_profiles import SchemaProfile
from metl_gui.core.project.version_tasks import VersionTask, Waiting
from metl_gui.core.project.writer_schemas import WriterSchema
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ProjectError, SchemaError, UserError
from metl_gui.registry.matrix_export import read_export
from metl_gui.store.creation import copy_file
from metl_gui.workbench.addresses import find_block, find_schema, find_version
from metl_gui.workbench.comparison.diff import compared
from metl_gui.workbench.comparison.merge import merge_files
from metl_gui.workbench.exports.files import export
from metl_gui.workbench.exports.formats import find_export
from metl_gui.workbench.exports.matrix import laid_out
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.samples.kept_samples import include_samples, keep_message
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import set_project_settings
from tests.unit.core.test_merged_project_data import model
from tests.unit.workbench.conftest import declare, fill
from tests.unit.workbench.test_samples import mask, record

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


def test_a_block_that_waits_for_a_conflict_of_settings_keeps_its_elements_in_the_merged_export(
    projects: tuple[Path, Path, Path],
) -> None:
    base, ours, theirs = projects
    for path, name in ((ours, "by-amount"), (theirs, "by-id")):
        with Workbench.open(path) as workbench:
            schema = find_schema(workbench.document, Side.EXTRACTION, "fx.pay.orders")
            workbench.do(SetSettings(Side.EXTRACTION, schema.id, (("version_field", name),)))
    before, mine, other = write(base, "base.json"), write(ours, "ours.json"), write(theirs, "theirs.json")
    result = merge_files(before, mine, other)
    assert [each.kind for each in result.conflicts] == [ConflictKind.SETTING]
    (block,) = json.loads(mine.read_text())["blocks"]
    assert (block["held"], block["elements"]) == (True, [])
    assert block["kept"] == [{"from": "id", "to": "payment_id"}]
    merged = read_export(mine)
    assert [len(each.elements) for each in merged.document.matrix.blocks()] == [1]
    assert laid_out(merged.content()) == mine.read_text()


def test_who_set_something_takes_over_by_a_merge_that_a_second_person_confirmed_it(
    projects: tuple[Path, Path, Path],
) -> None:
    for path in projects:
        with Workbench.open(path, who="Ben") as workbench:
            set_project_settings(workbench, ["second_person_confirms=yes"])
    base, ours, theirs = projects
    for path in projects:
        change(path, amount="amount")
    with Workbench.open(theirs, who="Ann") as workbench:
        workbench.do(ConfirmBlock(find_block(workbench.document, BLOCK)))
    merge_files(base, ours, theirs)
    with Workbench.open(ours, for_editing=False) as workbench:
        block = workbench.document.matrix.block(*find_block(workbench.document, BLOCK))
        assert block is not None
        assert (block.status, block.who) == (Status.CONFIRMED, "Ann")


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
    known = [WriterSchema("7", "avro", '"string"', "s"), WriterSchema("8", "avro", '"int"', "s")]
    for path, wires in ((theirs, known), (ours, [WriterSchema("8", "avro", '"long"', "s")])):
        with Workbench.open(path) as workbench:
            workbench.kept.writer_schemas.keep(wires, EditContext("ada", 1))
    result = merge_files(base, ours, theirs, tmp_path / "merged.metl" if is_elsewhere else None)
    with Workbench.open(result.output, for_editing=False) as workbench:
        assert {one.id: one.text for one in workbench.kept.writer_schemas.all()} == {"7": '"string"', "8": '"long"'}


ORDERS, PAYMENT = "fx.pay.orders", "payment"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep samples of one test only."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def decide(path: Path, who: str) -> None:
    """Put one of everything beside the states of a project, as the program does it."""
    with Workbench.open(path, who=who) as workbench:
        document, stamp = workbench.document, workbench.stamp()
        schema = find_schema(document, Side.EXTRACTION, ORDERS)
        entity = find_schema(document, Side.CDM, PAYMENT)
        column = find_version(document, Side.EXTRACTION, schema, "1").attributes
        row = find_version(document, Side.CDM, entity, "1").attributes
        kept = workbench.kept
        set_project_settings(workbench, ["second_person_confirms=yes"])
        workbench.add_comment(node_subject(document, Side.EXTRACTION, schema.id), f"{who} asks")
        key = find_block(document, BLOCK)
        workbench.add_comment(block_subject(document, key), f"{who} waits")
        workbench.add_comment(element_subject(document, key, Element(row[0].id, column[0].id)), f"{who} is sure")
        kept.assignments.assign([(schema.id, entity.id, schema.version_ids[0])], who, stamp)
        refused = RefusedSuggestion(
            schema.id, column[1].lineage, entity.id, row[1].lineage, column[1].path, row[1].path
        )
        kept.refused_suggestions.add([refused], stamp)
        rename = RefusedRename(Side.EXTRACTION, schema.id, "amount", "legacy", column[2].lineage, column[3].lineage)
        kept.refused_renames.add([rename], stamp)
        workbench.name_state(document.state, f"as {who} likes it")
        kept.samples.include(schema.id, b'{"a": 1}\n', stamp)
        kept.samples.put_profiles([SchemaProfile(schema.id, 3, 5)])
        task = VersionTask(0, ORDERS, "9", VersionDeclaration(ORDERS, (), "9"), waits=(Waiting("e", "r", "m", "s", 2),))
        kept.version_tasks.collect([task], stamp)
        kept.writer_schemas.keep([WriterSchema("7", "avro", '"string"', ORDERS)], stamp)


def lying_beside(path: Path) -> dict[tuple[ItemKind, tuple[str, ...]], tuple[bytes, str, int]]:
    """Everything beside the states of a project, in names, with who and when."""
    with Workbench.open(path, for_editing=False) as workbench:
        found = entries(workbench.kept.data.read(), Naming.of(workbench.document))
        return {key: (entry.says, entry.own.who, entry.own.when_ms) for key, entry in found.items()}


def test_everything_that_theirs_put_beside_the_states_is_in_the_result(projects: tuple[Path, Path, Path]) -> None:
    base, ours, theirs = projects
    decide(theirs, "bob")
    wanted = lying_beside(theirs)
    assert {kind for kind, _ in wanted} == set(ItemKind)
    result = merge_files(base, ours, theirs)
    assert lying_beside(ours) == wanted
    assert (result.conflicts, result.left) == ((), ())
    assert {each.kind for each in result.difference.beside} == set(ItemKind)
    assert compared(str(ours), str(theirs)).difference.is_empty


def test_a_file_of_other_ids_brings_the_same_to_the_same_places(
    projects: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    base, ours, _ = projects
    theirs = tmp_path / "rebuilt.metl"
    with Workbench.create(theirs, "bob") as workbench:
        workbench.do(AddVersion(Side.EXTRACTION, declare("fx.other", "1", "id")))
        workbench.do(AddVersion(Side.CDM, declare("other", "1", "id")))
        fill(workbench)
    change(theirs, payment_id="id")
    decide(theirs, "bob")
    result = merge_files(base, ours, theirs)
    assert [left.kind for left in result.left] == ["state name"]
    with Workbench.open(ours, for_editing=False) as workbench:
        schema = find_schema(workbench.document, Side.EXTRACTION, ORDERS)
        said = Comments(workbench.document, workbench.kept.comments.all())
        assert [each.text for each in said.of_schema(Side.EXTRACTION, schema.id)] == ["bob asks"]
        assert [each.text for each in said.of_block(find_block(workbench.document, BLOCK))] == ["bob waits"]
        assert workbench.kept.samples.included_text(schema.id) == b'{"a": 1}\n'


def test_a_project_merged_with_itself_stays_byte_for_byte_what_it_keeps(projects: tuple[Path, Path, Path]) -> None:
    base, ours, theirs = projects
    decide(ours, "ada")
    theirs.unlink()
    copy_file(ours, theirs)
    before = lying_beside(ours)
    for first in (base, ours, theirs):
        result = merge_files(first, ours, theirs)
        assert result.difference.is_empty
        assert (result.conflicts, result.left) == ((), ())
        assert lying_beside(ours) == before


def test_what_theirs_took_away_since_the_base_goes_and_what_ours_took_away_does_not_come_back(
    projects: tuple[Path, Path, Path],
) -> None:
    base, ours, theirs = projects
    decide(base, "ada")
    for copy in (ours, theirs):
        copy.unlink()
        copy_file(base, copy)
    with Workbench.open(theirs) as workbench:
        workbench.kept.comments.remove(next(c.id for c in workbench.kept.comments.all() if c.text == "ada asks"))
        workbench.kept.refused_suggestions.remove(workbench.kept.refused_suggestions.all())
        set_project_settings(workbench, ["second_person_confirms="])
    with Workbench.open(ours) as workbench:
        workbench.kept.comments.remove(next(c.id for c in workbench.kept.comments.all() if c.text == "ada waits"))
    result = merge_files(base, ours, theirs)
    with Workbench.open(ours, for_editing=False) as workbench:
        assert [each.text for each in workbench.kept.comments.all()] == ["ada is sure"]
        assert workbench.kept.refused_suggestions.all() == ()
        assert workbench.kept.settings.all() == {}
        assert len(workbench.kept.refused_renames.all().all) == 1
    assert result.conflicts == ()


def test_what_both_set_differently_is_a_conflict_that_tells_both_values_and_ours_stays(
    projects: tuple[Path, Path, Path],
) -> None:
    base, ours, theirs = projects
    for path, who, kept_runs in ((ours, "ada", 20), (theirs, "bob", 30)):
        decide(path, who)
        with Workbench.open(path, who=who) as workbench:
            set_project_settings(workbench, [f"kept_runs={kept_runs}"])
    result = merge_files(base, ours, theirs)
    told = {conflict.kind: conflict.reason for conflict in result.conflicts}
    assert told[ItemKind.SETTING] == "Ours says 20, theirs 30; ours is kept."
    assert told[ItemKind.ASSIGNMENT] == "Ours says ada, theirs bob; ours is kept."
    assert told[ItemKind.STATE_NAME] == "Ours says as ada likes it, theirs as bob likes it; ours is kept."
    assert set(told) == {ItemKind.SETTING, ItemKind.ASSIGNMENT, ItemKind.STATE_NAME}
    with Workbench.open(ours, for_editing=False) as workbench:
        assert workbench.kept.settings.all() == {"kept_runs": "20", "second_person_confirms": "yes"}
        assert sorted(each.text.split()[0] for each in workbench.kept.comments.all()) == ["ada"] * 3 + ["bob"] * 3


def test_a_state_of_theirs_alone_gives_its_name_to_no_state_of_ours(projects: tuple[Path, Path, Path]) -> None:
    base, ours, theirs = projects
    change(ours, amount="amount")
    change(theirs, payer_id="customer_id")
    with Workbench.open(theirs) as workbench:
        workbench.name_state(workbench.document.state, "July")
        workbench.name_state(1, "the beginning")
        publish(workbench)
        workbench.add_run({"run_id": "r1", "state": 1}, [])
    result = merge_files(base, ours, theirs)
    assert [(left.kind, left.place) for left in result.left] == [
        ("state name", f"state {result.document.state - 1}: July"),
        ("publications", "1 more"),
        ("runs", "1 more"),
    ]
    with Workbench.open(ours, for_editing=False) as workbench:
        assert [(each.state, each.name) for each in workbench.kept.states.named()] == [(1, "the beginning")]


def test_undo_takes_the_document_back_and_leaves_what_lies_beside(projects: tuple[Path, Path, Path]) -> None:
    base, ours, theirs = projects
    change(theirs, payer_id="customer_id")
    decide(theirs, "bob")
    merge_files(base, ours, theirs)
    with Workbench.open(ours) as workbench:
        assert workbench.undo_title() == "Merge theirs.metl"
        workbench.undo()
        assert len(workbench.kept.comments.all()) == 3
    assert pairs(ours) == {("id", "payment_id")}


KILLED = """
import os, signal, sys
from pathlib import Path
from metl_gui.store.repositories.project_data import ProjectDataRepository
from metl_gui.workbench.comparison.merge import merge_files

put = ProjectDataRepository.change

def killed(repository, wanted):
    put(repository, wanted)
    os.kill(os.getpid(), signal.SIGKILL)

ProjectDataRepository.change = killed
merge_files(*map(Path, sys.argv[1:]))
"""


def test_a_kill_when_all_is_written_and_nothing_committed_leaves_ours_as_it_was(
    projects: tuple[Path, Path, Path],
) -> None:
    base, ours, theirs = projects
    change(theirs, payer_id="customer_id")
    decide(theirs, "bob")
    done = subprocess.run([sys.executable, "-c", KILLED, *map(str, projects)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert lying_beside(ours) == {}
    assert pairs(ours) == {("id", "payment_id")}
    merge_files(base, ours, theirs)
    assert {kind for kind, _ in lying_beside(ours)} == set(ItemKind) - {ItemKind.STATE_NAME}
    assert pairs(ours) == pairs(theirs)


def test_an_export_of_theirs_takes_nothing_away_that_lies_beside(projects: tuple[Path, Path, Path]) -> None:
    base, ours, theirs = projects
    for path in (base, ours):
        decide(path, "ada")
    before = lying_beside(ours)
    change(theirs, payer_id="customer_id")
    for first in (base, write(base, "base.json")):
        result = merge_files(first, ours, write(theirs, f"{first.suffix[1:]}.json"))
        assert (result.conflicts, result.difference.beside) == ((), ())
    assert lying_beside(ours) == before


def test_masks_that_theirs_set_hide_values_in_samples_that_ours_includes(projects: tuple[Path, Path, Path]) -> None:
    base, ours, theirs = projects
    with Workbench.open(ours) as workbench:
        keep_message(workbench, record(customer_id="VERYSECRET"))
        include_samples(workbench, ORDERS)
    with Workbench.open(theirs) as workbench:
        mask(workbench, "customer_id")
    merge_files(base, ours, theirs)
    with Workbench.open(ours, for_editing=False) as workbench:
        text = workbench.kept.samples.included_text(find_schema(workbench.document, Side.EXTRACTION, ORDERS).id)
    assert text
    assert b"VERYSECRET" not in text


def test_of_what_somebody_said_twice_theirs_takes_only_as_much_away_as_was_there(
    projects: tuple[Path, Path, Path],
) -> None:
    base, ours, theirs = projects
    for path, times in ((base, 1), (ours, 2)):
        with Workbench.open(path) as workbench:
            for _ in range(times):
                workbench.kept.comments.add(CommentSubject(Spot(1)), "cents?", EditContext("ann", 1))
    merge_files(base, ours, theirs)
    with Workbench.open(ours) as workbench:
        assert [comment.text for comment in workbench.kept.comments.all()] == ["cents?"]


DECIDED = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from(["kept_runs", "framing"]), st.sampled_from(["5", "6", ""])),
        st.tuples(st.just("say"), st.sampled_from(["one", "two"]), st.sampled_from(["1", "2"])),
        st.tuples(st.just("unsay"), st.sampled_from(["one", "two"]), st.just("")),
        st.tuples(st.just("assign"), st.sampled_from(["1", "2"]), st.sampled_from(["ann", "bob", ""])),
    ),
    max_size=5,
)


def play(path: Path, steps: list[tuple[str, str, str]]) -> dict[object, bytes]:
    """Do some of what people do beside the states; everything that lies there then, in names."""
    with Workbench.open(path) as workbench:
        kept = workbench.kept
        for kind, what, value in steps:
            if kind == "set":
                kept.settings.put({what: value})
            elif kind == "say" and (what, int(value)) not in {
                (c.text, c.when_ms) for c in workbench.kept.comments.all()
            }:
                kept.comments.add(CommentSubject(Spot(1)), what, EditContext("ann", int(value)))
            elif kind == "unsay":
                for comment in workbench.kept.comments.all():
                    _ = comment.text == what and workbench.kept.comments.remove(comment.id)
            elif kind == "assign":
                kept.assignments.assign([(int(what), 1, int(what))], value, EditContext("ann", 1))
    return {key: says for key, (says, _, _) in lying_beside(path).items()}


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DECIDED, DECIDED, DECIDED)
def test_files_merge_beside_their_states_as_one_dictionary_a_side_does(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[tuple[str, str, str]],
    mine: list[tuple[str, str, str]],
    other: list[tuple[str, str, str]],
) -> None:
    folder = tmp_path_factory.mktemp("sides")
    base, ours, theirs = (folder / f"{name}.metl" for name in ("base", "ours", "theirs"))
    with Workbench.create(base, "ann") as workbench:
        fill(workbench)
    said = [play(base, first)]
    for copy, steps in ((ours, mine), (theirs, other)):
        copy_file(base, copy)
        said.append(play(copy, steps))
    wanted, conflicts = model(*said)
    result = merge_files(base, ours, theirs)
    assert {key: says for key, (says, _, _) in lying_beside(ours).items()} == wanted
    assert len(result.conflicts) == len(conflicts)
    assert result.left == ()
