"""Files of older versions are migrated after a backup beside them."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from sqlite_utils import Database

from metl_gui.core.changes.draft import Draft, EditContext, Transition
from metl_gui.core.edits.ignored import IgnoreAttributes
from metl_gui.core.edits.warehouse import SetModel
from metl_gui.core.matrix.blocks import Block, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comment, CommentSubject, Spot
from metl_gui.core.project.refusals import RefusedRename, RefusedSuggestion
from metl_gui.core.project.sample_profiles import AttributeProfile, SchemaProfile
from metl_gui.core.project.writer_schemas import WriterSchema
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Dates, Model
from metl_gui.errors import ProjectError, ProjectLockedError
from metl_gui.store import creation, project_file, schema_validation, tables
from metl_gui.store.project_file import ProjectFile
from metl_gui.store.rows.packed_changes import unpack_change
from tests.unit.store.contents import parts
from tests.unit.store.editing import Editing
from tests.unit.store.older_files import write_older
from tests.unit.store.test_lease import other_editor

TODAY = tables.VERSION
NEW_IN_5 = (
    "project_settings",
    "assignments",
    "version_tasks",
    "pending_versions",
    "pending_imports",
    "publications",
    "exported_states",
    "refused_renames",
)
WIRE = WriterSchema("7", "avro", '"string"', "s", "f" * 32)
NEW_IN_6 = ("profiles", "included_samples", "wire_schemas")


def rename_sources(database: Database) -> None:
    database.execute("UPDATE versions SET source = 'renamed.json' WHERE source = 'old.json'")


def add_doc(database: Database) -> None:
    database.execute("ALTER TABLE schemas ADD COLUMN doc TEXT NOT NULL DEFAULT ''")


@pytest.fixture
def older(path: Path) -> Path:
    """A file of today, which a later program calls old."""
    with ProjectFile.create(path) as project:
        Editing(project).small_world()
    return path


@pytest.fixture
def later_program(older: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of today, and this program two versions on, with the two steps that lead there."""
    today = schema_validation.shape_of(TODAY)
    (schemas,) = today["schemas"]
    later = {**today, "schemas": {schemas.replace(", PRIMARY KEY", ", doc TEXT NOT NULL DEFAULT '' , PRIMARY KEY")}}
    for module in (tables, creation, project_file):
        monkeypatch.setattr(module, "VERSION", TODAY + 2)
    monkeypatch.setattr(schema_validation, "shape_of", {TODAY: today, TODAY + 2: later}.__getitem__)
    monkeypatch.setitem(tables.MIGRATIONS, TODAY, rename_sources)
    monkeypatch.setitem(tables.MIGRATIONS, TODAY + 1, add_doc)
    return older


@pytest.mark.usefixtures("later_program")
@pytest.mark.parametrize("for_editing", [True, False])
def test_an_older_file_is_migrated_step_by_step_after_a_backup(older: Path, for_editing: bool) -> None:
    connection = sqlite3.connect(older)
    connection.execute("UPDATE versions SET source = 'old.json'")
    connection.commit()
    before = list(connection.iterdump())
    connection.close()
    with ProjectFile.open(older, for_editing) as project:
        sources = {version.source for version in project.document().extraction.all_versions()}
        backup = project.backup
    assert sources == {"renamed.json"}
    assert backup == older.with_name(f"fx.version-{TODAY}.backup.metl")
    copy = sqlite3.connect(backup)
    assert list(copy.iterdump()) == before
    copy.close()
    connection = sqlite3.connect(older)
    assert tables.utilities(connection).table("schemas").columns_dict["doc"] is str
    connection.close()
    with ProjectFile.open(older, for_editing) as project:
        assert project.backup is None


@pytest.mark.usefixtures("later_program")
@pytest.mark.parametrize("mode", [0o600, 0o660])
def test_a_backup_is_for_those_who_may_read_the_file(older: Path, mode: int) -> None:
    older.chmod(mode)
    with ProjectFile.open(older, for_editing=True) as project:
        assert project.backup is not None
        assert stat.S_IMODE(project.backup.stat().st_mode) == mode


@pytest.mark.usefixtures("later_program")
def test_a_second_backup_does_not_overwrite_the_first(older: Path) -> None:
    taken = older.with_name(f"fx.version-{TODAY}.backup.metl")
    taken.write_text("mine")
    with ProjectFile.open(older, for_editing=True) as project:
        assert project.backup == older.with_name(f"fx.version-{TODAY}-2.backup.metl")
    assert taken.read_text() == "mine"


@pytest.mark.usefixtures("later_program")
def test_a_step_that_fails_leaves_the_older_file_as_it_was(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(database: Database) -> None:
        add_doc(database)
        database.execute("ALTER TABLE none RENAME TO other")

    monkeypatch.setitem(tables.MIGRATIONS, TODAY + 1, fail)
    before = older.read_bytes()
    with pytest.raises(ProjectError):
        ProjectFile.open(older, for_editing=True)
    assert older.read_bytes() == before


@pytest.mark.usefixtures("later_program")
def test_nothing_is_migrated_while_somebody_edits(older: Path) -> None:
    with other_editor(older, "ada"), pytest.raises(ProjectLockedError, match="edited by ada"):
        ProjectFile.open(older, for_editing=False)
    assert [found.name for found in older.parent.iterdir()] == ["fx.metl"]


def test_a_file_of_a_version_that_never_was_is_called_damaged(path: Path) -> None:
    ProjectFile.create(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=0")
    connection.close()
    with pytest.raises(ProjectError, match="has version 0, which never was"):
        ProjectFile.open(path, for_editing=True)


def test_a_file_of_version_1_gets_room_for_refused_suggestions(path: Path) -> None:
    write_older(path, 1)
    refusal = RefusedSuggestion(1, 2, 3, 4, "customer_ref", "payer_id")
    with ProjectFile.open(path, for_editing=True) as project:
        project.kept.refused_suggestions.add([refusal], EditContext("ada", 5))
    with ProjectFile.open(path, for_editing=False) as project:
        assert project.kept.refused_suggestions.all() == (refusal,)


def test_a_file_of_version_2_gets_room_for_comments(path: Path) -> None:
    write_older(path, 2)
    subject = CommentSubject(Spot(1, 2, 3, 4), Spot(5))
    with ProjectFile.open(path, for_editing=True) as project:
        assert project.backup is not None
        id_ = project.kept.comments.add(subject, "Ask the billing team", EditContext("ada", 5))
    with ProjectFile.open(path, for_editing=False) as project:
        assert project.kept.comments.all() == (Comment(id_, subject, "Ask the billing team", "ada", 5),)


def test_a_file_of_version_4_gets_room_for_decisions_beside_the_states(path: Path) -> None:
    with ProjectFile.create(path) as project:
        forget_decisions(project._connection)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=4")
    connection.close()
    with ProjectFile.open(path, for_editing=True) as project:
        tables_there = project._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        assert set(NEW_IN_5) <= {name for (name,) in tables_there}


def test_a_file_of_version_5_gets_room_for_profiles_and_included_samples(path: Path) -> None:
    with ProjectFile.create(path) as project:
        forget_samples(project._connection)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=5")
    connection.close()
    profile = SchemaProfile(3, 10, 5, (AttributeProfile("id", (("integer", 10),), 1.0, ("99",), 2, 2, 10),))
    with ProjectFile.open(path, for_editing=True) as project:
        project.kept.samples.put_profiles([profile])
        project.kept.samples.include(3, b"{}\n", EditContext("ada", 5))
        project.kept.writer_schemas.keep([WIRE], EditContext("ada", 5))
    with ProjectFile.open(path, for_editing=False) as project:
        assert project.kept.samples.profile(3) == profile
        assert project.kept.samples.included() == {3}
        assert project.kept.samples.included_text(3) == b"{}\n"
        assert project.kept.writer_schemas.all() == (WIRE,)


def test_a_file_of_version_7_gets_room_for_what_is_never_to_be_mapped(path: Path) -> None:
    write_older(path, 7)
    with ProjectFile.open(path, for_editing=True) as project:
        assert project.backup is not None
        (schema,) = project.document().extraction.schemas()
        assert schema.ignored == ()
        attribute = project.document().extraction.version(schema.version_ids[-1]).attributes[-1]
        Editing(project).do(
            IgnoreAttributes(Side.EXTRACTION, schema.id, (attribute.lineage,), "of no use", unmaps=True)
        )
    with ProjectFile.open(path, for_editing=False) as project:
        (mark,) = project.document().extraction.schema(schema.id).ignored
        assert (mark.lineage, mark.reason) == (attribute.lineage, "of no use")


def test_a_file_of_version_6_gets_room_for_warehouse_models(path: Path) -> None:
    write_older(path, 6)
    model = Model(name="fx", tables=(Dates(name="date", first="2026-01-01", last="2026-12-31"),))
    with ProjectFile.open(path, for_editing=True) as project:
        assert project.backup is not None
        assert project.document().models == ()
        Editing(project).do(SetModel(model))
    with ProjectFile.open(path, for_editing=False) as project:
        assert project.document().models == (model,)


def test_renames_refused_in_version_4_stay_refused(path: Path) -> None:
    with ProjectFile.create(path) as project:
        forget_decisions(project._connection)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO refused_proposals VALUES (3, 'legacy', 'note', 'ada', 5)")
    connection.execute("PRAGMA user_version=4")
    connection.commit()
    connection.close()
    with ProjectFile.open(path, for_editing=True) as project:
        (found,) = project.kept.refused_renames.all().all
    assert found == RefusedRename(Side.EXTRACTION, 3, "legacy", "note")


def test_the_log_of_a_file_of_version_4_is_packed_and_undone_as_before(path: Path) -> None:
    with ProjectFile.create(path) as project:
        editing = Editing(project)
        editing.small_world()
        editing.undo_newest()
        before = [(edit, parts(project.document(edit.state))) for edit in project.history()]
        forget_decisions(project._connection)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=4")
    connection.close()
    with ProjectFile.open(path, for_editing=True) as project:
        assert [(edit, parts(project.document(edit.state))) for edit in project.history()] == before
        editing = Editing(project)
        assert editing.redo_newest() == "Add fx.payments version 2"
        assert editing.undo_newest() == "Add fx.payments version 2"


def test_the_id_of_a_removed_comment_is_not_given_to_another(path: Path) -> None:
    with ProjectFile.create(path) as project:
        first = project.kept.comments.add(CommentSubject(Spot(1)), "one", EditContext("ada", 5))
        assert project.kept.comments.remove(first)
        assert not project.kept.comments.remove(first)
        assert project.kept.comments.add(CommentSubject(Spot(1)), "two", EditContext("ada", 6)) != first


def test_every_version_before_this_one_has_its_step() -> None:
    assert sorted(tables.MIGRATIONS) == list(range(1, tables.VERSION))


@pytest.mark.usefixtures("later_program")
def test_what_was_done_before_a_migration_can_be_taken_back_after_it(older: Path) -> None:
    with ProjectFile.open(older, for_editing=True) as project:
        editing = Editing(project)
        editing.undo_newest()
        assert parts(project.document()) == parts(editing.document)


def test_a_file_of_version_3_is_packed_and_holds_what_it_held(path: Path) -> None:
    with ProjectFile.create(path) as project:
        editing = Editing(project)
        editing.small_world()
        project.commit(everything_after(editing.document))
        before = parts(project.document())
        unpack(project)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=3")
    connection.close()
    with ProjectFile.open(path, for_editing=True) as project:
        assert project.backup is not None
        assert parts(project.document()) == before
        names = {row[0] for row in project._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert not names & {"attributes", "old_blocks"}


def everything_after(document: Document) -> Transition:
    """Give the first block a loss, a comment and whatever else a block can have."""
    draft = Draft(document, EditContext("ada", 1_700_000_000_000))
    block = next(document.matrix.blocks())
    loss = Loss(9, 11, 5, 6, "a", "z", "z was removed in version 2", block.version, "accepted")
    full = replace(block, losses=(loss,), waits=(block.version,), retired=block.elements[:1])
    draft.put_block(replace(full, postponed=True, who="ada", when_ms=7, comment="why ☃"))
    return draft.finish("Fill a block")


def unpack(project: ProjectFile) -> None:
    """Put attributes and blocks back into rows, as version 3 kept them."""
    document, connection = project.document(), project._connection
    forget_decisions(connection)
    for table in ("blocks", "block_details", "texts", "types", "people"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("ALTER TABLE versions DROP COLUMN attributes")
    for table in ("attributes", "blocks"):
        connection.execute(schema_validation.statements_of(3)[table])
    for side in Side:
        for version in document.tree(side).all_versions():
            connection.executemany(
                "INSERT INTO attributes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (side.value, version.id, at, a.id, a.path, a.type, a.lineage, a.logical, a.scale, a.optional, a.doc)
                    for at, a in enumerate(version.attributes)
                ],
            )
    for block in document.matrix.blocks():
        lists = [msgspec.json.encode(list_).decode() if list_ else None for list_ in lists_of(block)]
        facts = block.status.value, block.verdict.value, *(block.came_from or (None, None))
        rest = int(block.postponed), block.who, block.when_ms, block.comment
        connection.execute(
            "INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*block.key, *facts, *lists, *rest),
        )
    connection.commit()


def forget_models(connection: sqlite3.Connection) -> None:
    """Take away what version 6 had not."""
    connection.execute("DROP TABLE warehouse_models")


def forget_samples(connection: sqlite3.Connection) -> None:
    """Take away what version 5 had not."""
    connection.execute("ALTER TABLE schemas DROP COLUMN ignored")
    forget_models(connection)
    for table in NEW_IN_6:
        connection.execute(f"DROP TABLE {table}")
    connection.execute("ALTER TABLE runs DROP COLUMN spec")


def forget_decisions(connection: sqlite3.Connection) -> None:
    """Take away the tables that version 4 had not, and write the log as it did."""
    forget_samples(connection)
    for table in NEW_IN_5:
        connection.execute(f"DROP TABLE {table}")
    for column in ("published_who TEXT", "published_ms INTEGER"):
        connection.execute(f"ALTER TABLE states ADD COLUMN {column}")
    connection.create_function("as_text", 1, lambda pack: msgspec.json.encode(unpack_change(pack)).decode())
    connection.execute("DROP VIEW undo_steps")
    connection.execute("ALTER TABLE edits RENAME TO new_edits")
    connection.execute("DROP INDEX edits_by_undo_group")
    connection.execute("DROP INDEX edits_by_undoes")
    for name in ("edits", "edits_by_undo_group", "edits_by_undoes", "undo_steps", "refused_proposals"):
        connection.execute(schema_validation.statements_of(4)[name])
    connection.execute(
        "INSERT INTO edits SELECT state, title, who, when_ms, door, undo_group, undoes, depth, original,"
        " as_text(change) FROM new_edits"
    )
    connection.execute("DROP TABLE new_edits")


def lists_of(block: Block) -> tuple[tuple[object, ...], ...]:
    return block.losses, block.waits, block.retired
