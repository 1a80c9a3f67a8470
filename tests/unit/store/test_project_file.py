"""What is committed is read back, part by part."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from metl_gui.core.changes.draft import Draft, EditContext, Transition, perform
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.versions import AttachLabel
from metl_gui.core.matrix.blocks import Block, Element, Loss, Status, Verdict
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, IgnoredAttribute, Schema, Side, Version
from metl_gui.errors import BugError, ProjectChangedError, ProjectError, ProjectLockedError, RunCancelled
from metl_gui.store.project_file import ProjectFile
from metl_gui.values import Value
from tests.helpers.world import World
from tests.unit.store.contents import parts
from tests.unit.store.editing import Editing

_COUNTS = {"dusb": "SELECT count(*) FROM dusb", "blocks": "SELECT count(*) FROM blocks"}


def rows(path: Path, table: str) -> int:
    with sqlite3.connect(path) as connection:
        count: int = connection.execute(_COUNTS[table]).fetchone()[0]
    connection.close()
    return count


def everything() -> Transition:
    """Fill every field of every part with something else than its default."""
    draft = Draft(Document(), EditContext("ada", 1_700_000_000_000))
    for side in Side:
        ignored = (IgnoredAttribute(5, "kein Bedarf ☃", "ada", 1_700_000_000_002), IgnoredAttribute(6))
        settings = (("ask", "always"), ("key", "a"))
        schema = Schema(3, "ünï.cödé", (8, 7), ("x", "y"), settings, ((5, 4), (6, 5)), ignored)
        attribute = Attribute(9, "a\\.b.c", "bytes", 5, "org.apache.kafka.connect.data.Decimal", 2, False, "doc ☃")
        other = Attribute(11, "z", "string", 6)
        keyed = Version(8, 3, ("1", "1.0"), (attribute, other), "f" * 32, ("a\\.b.c", "z"), True, "file.json")
        keyless = Version(7, 3, ("2",), (), "0" * 32, ())
        draft.put_version(side, 8, keyed)
        draft.put_version(side, 7, keyless)
        draft.put_schema(side, 3, schema)
        draft.new_attribute_ids(side, 11)
        draft.new_lineage(side)
    loss = Loss(9, 11, 5, 6, "a", "z", "z was removed in version 2", 7, "accepted")
    lists = (loss, Loss(9, 11, 5, 6, "a", "z", "", 8)), (7, 8), (Element(11, 9),)
    head = (Element(9, 9), Element(11, 11)), Status.NEEDS_REVIEW, Verdict.SMALLER, (7, 8)
    draft.put_block(Block(8, 8, *head, *lists, True, "ada", 1_700_000_000_001, "why ☃", True))
    return draft.finish("Fill everything")


def test_every_field_of_every_part_is_read_back(path: Path) -> None:
    transition = everything()
    with ProjectFile.create(path) as project:
        project.commit(transition)
    with ProjectFile.open(path, for_editing=False) as project:
        assert parts(project.document()) == parts(transition.after)


def test_the_part_that_fills_everything_leaves_no_default() -> None:
    found = parts(everything().after)
    for key in (("schema", Side.CDM, 3), ("version", Side.CDM, 8), ("block", (8, 8))):
        part = found[key]
        assert isinstance(part, Value)
        names, defaults = part.__struct_fields__, part.__struct_defaults__
        assert defaults
        found_at = zip(reversed(names), reversed(defaults), strict=False)
        assert not [name for name, default in found_at if getattr(part, name) == default]


def test_a_new_project_is_empty_and_at_state_0(path: Path) -> None:
    with ProjectFile.create(path) as project:
        assert parts(project.document()) == parts(Document())
        assert project.history() == []
        assert project.undo_candidate() is None
        assert project.redo_candidate() is None


def test_the_closed_project_is_one_file(editing: Editing, path: Path) -> None:
    editing.small_world()
    editing.project.close()
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_a_small_history_is_read_back_after_reopening(editing: Editing, path: Path) -> None:
    editing.small_world()
    editing.project.close()
    with ProjectFile.open(path, for_editing=False) as project:
        assert parts(project.document()) == parts(editing.document)


def test_the_file_holds_the_compact_set_and_not_the_dense_one(editing: Editing, path: Path) -> None:
    editing.schema("s", "1", "a")
    editing.entity("e", "1", "x")
    editing.map("s@1:e@1", x="a")
    for label in range(2, 8):
        editing.schema("s", str(label), "a", f"b{label}")
    assert (rows(path, "dusb"), rows(path, "blocks")) == (1, 1)


def test_a_version_between_two_others_keeps_their_order_in_the_file(editing: Editing, path: Path) -> None:
    editing.schema("s", "1", "a")
    editing.schema("s", "9", "a", "b")
    editing.schema("s", "5", "a", "c")
    editing.project.close()
    with ProjectFile.open(path, for_editing=False) as project:
        versions = project.document().extraction.versions(1)
    assert [version.label for version in versions] == ["1", "5", "9"]


def test_a_removed_schema_leaves_no_rows_behind(editing: Editing, path: Path) -> None:
    editing.small_world()
    editing.remove_schema("fx.payments", "1")
    editing.remove_schema("fx.payments", "2")
    assert [rows(path, table) for table in ("dusb", "blocks")] == [0, 0]
    with sqlite3.connect(path) as connection:
        sides = connection.execute("SELECT DISTINCT side FROM versions").fetchall()
    connection.close()
    assert sides == [("cdm",)]


def test_any_earlier_state_can_be_rebuilt(editing: Editing) -> None:
    editing.small_world()
    editing.remove_schema("fx.payments", "1")
    for transition in editing.log:
        found = parts(editing.project.document(transition.before.state))
        expected = parts(transition.before)
        for side in Side:
            found["ids", side] = expected["ids", side]
        assert found == expected


@pytest.mark.parametrize("state", [-1, 5])
def test_a_state_that_never_was_is_refused(editing: Editing, state: int) -> None:
    editing.small_world()
    with pytest.raises(ProjectError, match=f"no state {state} .* from 0 to 4"):
        editing.project.document(state)


def test_an_edit_built_on_an_older_state_is_refused_and_names_who_was_faster(editing: Editing) -> None:
    editing.small_world()
    late = perform(editing.document, AttachLabel(Side.EXTRACTION, 1, "first"), EditContext("bob"))
    editing.do(SetSettings(Side.EXTRACTION, 1, (("ask", "always"),)))
    before = parts(editing.project.document())
    with pytest.raises(ProjectChangedError, match="changed by tester since") as caught:
        editing.project.commit(late)
    assert caught.value.hint
    assert parts(editing.project.document()) == before
    assert len(editing.project.history()) == 5


def test_an_edit_that_cannot_be_stored_changes_nothing(editing: Editing) -> None:
    editing.small_world()
    before = parts(editing.project.document())
    with pytest.raises(ProjectError, match="cannot be stored"):
        editing.schema("lone \ud800 surrogate", "1", "a")
    assert parts(editing.project.document()) == before
    assert editing.project.state() == editing.document.state == 4
    editing.schema("whole", "1", "a")


def test_a_commit_to_a_file_opened_to_read_is_refused(editing: Editing, path: Path) -> None:
    editing.small_world()
    with ProjectFile.open(path, for_editing=False) as reader:
        edit = perform(reader.document(), AttachLabel(Side.EXTRACTION, 1, "first"))
        with pytest.raises(ProjectLockedError, match="open read only"):
            reader.commit(edit)


def test_a_reader_sees_each_commit_while_the_editor_goes_on(editing: Editing, path: Path) -> None:
    with ProjectFile.open(path, for_editing=False) as reader:
        for label in ("1", "2", "3"):
            editing.schema("s", label, *"abcd"[: int(label)])
            assert parts(reader.document()) == parts(editing.document)


def test_a_reader_in_the_middle_of_reading_does_not_stop_the_editor(editing: Editing, path: Path) -> None:
    editing.schema("s", "1", "a")
    with ProjectFile.open(path, for_editing=False) as reader, reader._reading() as connection:
        assert connection.execute("SELECT state FROM project").fetchone() == (1,)
        editing.schema("s", "2", "a", "b")
        assert connection.execute("SELECT state FROM project").fetchone() == (1,)
    assert editing.project.state() == 2


def test_a_file_that_was_replaced_is_not_written_into_the_void(editing: Editing, path: Path) -> None:
    editing.small_world()
    path.rename(path.with_name("moved.metl"))
    with pytest.raises(ProjectError, match="not where it was opened"):
        editing.schema("s", "1", "a")


def test_a_closed_project_is_a_mistake_of_ours_to_use(editing: Editing) -> None:
    editing.project.close()
    with pytest.raises(BugError):
        editing.project.state()


def test_the_project_keeps_its_id(path: Path) -> None:
    with ProjectFile.create(path) as project:
        first = project.project_id
    with ProjectFile.open(path, for_editing=True) as project:
        assert project.project_id == first
    assert len(first) == 36


def test_a_commit_writes_only_the_rows_of_what_it_touches(editing: Editing) -> None:
    for number in range(40):
        editing.schema(f"s{number}", "1", "a", "b")
    editing.entity("e", "1", "x", "y")
    for number in range(40):
        editing.map(f"s{number}@1:e@1", x="a")
    world: World = editing
    counts = []
    for block in ("s3@1:e@1", "s30@1:e@1"):
        before = editing.project._connection.total_changes
        world.map(block, y="b")
        counts.append(editing.project._connection.total_changes - before)
    assert counts[0] == counts[1] <= 6


def test_opening_reading_and_committing_load_neither_sqlite_utils_nor_pandas(editing: Editing, path: Path) -> None:
    editing.small_world()
    editing.project.close()
    script = (
        "import sys; from pathlib import Path; from metl_gui.store.project_file import ProjectFile\n"
        "from tests.unit.store.editing import Editing\n"
        "with ProjectFile.open(Path(sys.argv[1]), for_editing=True) as project:\n"
        "    Editing(project).schema('t', '1', 'a'); Editing(project).undo_newest()\n"
        "print([name for name in ('sqlite_utils', 'pandas') if name in sys.modules])"
    )
    command = [sys.executable, "-c", script, str(path)]
    told = subprocess.run(command, cwd=Path(__file__).parents[3], check=True, capture_output=True, text=True).stdout
    assert told == "[]\n"


def test_reading_tells_how_many_versions_were_read_and_can_be_stopped(editing: Editing) -> None:
    editing.small_world()
    told: list[tuple[int, int]] = []
    document = editing.project.document(told=lambda done, total: told.append((done, total)))
    count = sum(1 for side in Side for _ in document.tree(side).all_versions())
    assert told[-1] == (count, count)

    def stop(_done: int, _total: int) -> None:
        raise RunCancelled

    with pytest.raises(RunCancelled):
        editing.project.document(told=stop)
    assert parts(editing.project.document()) == parts(document)
