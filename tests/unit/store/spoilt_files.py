"""Spoils a project file in many ways, and does with each what can be done with a project; run as a process of its own.

Arguments: the project, the first seed, one past the last. Each way is one line of JSON: seed, what was done, outcome.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import shutil
import sqlite3
import sys
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.project.comments import CommentSubject, Spot
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError, ProjectError
from metl_gui.store.rows.packed_changes import LogFilter
from metl_gui.store.sqlite.connection import APPLICATION_ID
from metl_gui.workbench.session import Workbench
from tests.unit.store.contents import digest
from tests.unit.store.limited import MOST_BYTES

HANG_SECONDS = 60
NUMBERS = (0, 1, -1, 7, 255, 2**20, 2**31 - 1, 2**31, 2**40, 2**63 - 1, -(2**31), -(2**63))
TEXTS = (
    "",
    "[]",
    "{}",
    "null",
    "[[1]]",
    "[" * 5_000,
    '{"a":' * 5_000,
    '["\\ud800"]',
    "9" * 400,
    "\0",
    "x" * 70_000,
    "1e999",
)


def spoil_bytes(path: Path, random: Random) -> str:
    """Change some bytes anywhere."""
    content = bytearray(path.read_bytes())
    places = [random.randrange(len(content)) for _ in range(random.choice((1, 3, 20, 200)))]
    for at in places:
        content[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
    path.write_bytes(content)
    return f"{len(places)} bytes from {min(places)} on"


def spoil_pages(path: Path, random: Random) -> str:
    """Put a page in the place of another one, empty it, let pages point to one another, or cut the file off."""
    content, size = bytearray(path.read_bytes()), 4096
    pages = len(content) // size
    one, other = (random.randrange(1, pages) * size for _ in range(2))
    way = random.choice(("copied", "emptied", "cut off", "pointing"))
    if way == "copied":
        content[one : one + size] = content[other : other + size]
    elif way == "emptied":
        content[one : one + size] = bytes(size)
    elif way == "pointing":
        inner = [at for at in range(1, pages) if content[at * size] in (2, 5)]
        for at in inner:
            content[at * size + 8 : at * size + 12] = random.choice((*inner, 1, pages)).to_bytes(4, "big")
    else:
        del content[random.randrange(1, len(content)) :]
    path.write_bytes(content)
    return f"page {way} at {one}"


def spoil_values(path: Path, random: Random) -> str:
    """Change values of a column, within its type."""
    with closing(sqlite3.connect(path)) as connection, connection:
        table, column, kind = random.choice(columns(connection))
        rows = connection.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall()
        (value,) = random.choice(rows)
        new = other_value(random, kind, value)
        connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} IS ?", (new, value))
    return f"{table}.{column} = {new!r:.60}"


def spoil_rows(path: Path, random: Random) -> str:
    """Take rows away, or give them the key of others."""
    with closing(sqlite3.connect(path)) as connection, connection:
        table, column, _ = random.choice(columns(connection))
        share = random.choice((2, 3, 1))
        connection.execute(f"DELETE FROM {table} WHERE abs(random()) % {share} = 0")
        count = connection.total_changes
    return f"{count} rows of {table} are gone ({column})"


def columns(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """List the columns of the tables that have rows, with their types."""
    names = [
        name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    ]
    full = [name for name in names if connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone()]
    return [(name, row[1], row[2]) for name in full for row in connection.execute(f"PRAGMA table_info({name})")]


def other_value(random: Random, kind: str, value: Any) -> Any:
    """Return another value of a type."""
    if kind == "INTEGER":
        return random.choice((*NUMBERS, (value or 0) + 1, random.getrandbits(31)))
    if kind == "TEXT" or isinstance(value, str):
        return random.choice((*TEXTS, str(value)[:-1], str(value).swapcase(), str(value).replace("1", "99999999999")))
    content = bytearray(value or b"")
    for _ in range(random.choice((1, 4, 40)) if content else 0):
        content[random.randrange(len(content))] = random.choice((0, 0x7F, 0x80, 0xFF, random.randrange(256)))
    return random.choice(
        (bytes(content), bytes(content[:-1]), b"", bytes(20), bytes(content) * 3, random.randbytes(99))
    )


WAYS = (spoil_bytes, spoil_bytes, spoil_pages, spoil_values, spoil_values, spoil_values, spoil_rows)


def use(path: Path) -> str:
    """Read all that a project holds, then edit it and undo that; the digest of what it holds."""
    with Workbench.open(path, for_editing=False, who="ada") as workbench:
        found = digest(workbench.document)
        read_beside(workbench)
        log = workbench.log()
        for edit in log[:: max(1, len(log) // 3)]:
            workbench.at_state(edit.state)
            workbench.change_between(edit.state, 0)
    with Workbench.open(path, for_editing=True, who="ada") as workbench:
        for act in acts(workbench):
            with suppressed():
                act()
    return found


def read_beside(workbench: Workbench) -> None:
    """Read everything that is kept beside the states."""
    kept = workbench.kept
    for read in (
        kept.comments.all,
        kept.assignments.all,
        kept.states.named,
        kept.version_tasks.all,
        kept.writer_schemas.all,
    ):
        read()
    for more in (kept.refused_renames.all, kept.refused_suggestions.all, kept.settings.all, kept.runs.by_state):
        more()
    for state in (kept.states.live, kept.states.publication, kept.states.exported, workbench.undo_title):
        state()
    for pending in kept.pending_imports.all():
        kept.pending_imports.versions(pending.id)
    for schema_id in {*kept.samples.included(), 1}:
        kept.samples.included_text(schema_id)
        kept.samples.profile(schema_id)
    for run in workbench.kept.runs.newest():
        workbench.kept.runs.events(run.run_id)
    workbench.touching(LogFilter(schema=(Side.EXTRACTION, 1), keys=frozenset({(1, 1)})))


def acts(workbench: Workbench) -> Iterator[Any]:
    """Yield what a person does with a project."""
    attributes = (AttributeDeclaration("a", "int64"), AttributeDeclaration("b", "string"))
    name = next((schema.name for schema in workbench.document.extraction.schemas()), "new")
    yield lambda: workbench.do(AddVersion(Side.EXTRACTION, VersionDeclaration(name, attributes, "99")))
    yield workbench.undo
    yield workbench.redo
    yield lambda: workbench.undo_state(2)
    yield lambda: workbench.name_state(1, "one")
    yield lambda: workbench.add_comment(CommentSubject(Spot(1)), "text")
    yield lambda: workbench.add_run({"run_id": "new", "state": 1}, [{"a": 1}])
    yield workbench.compact
    yield workbench.give_room_back


@contextmanager
def suppressed() -> Iterator[None]:
    """Go on where the rules or the file refuse something."""
    try:
        yield
    except (ProjectError, EditError):
        return


def outcome(path: Path, known: str) -> str:
    """Use a file and tell how that ended."""
    try:
        return "same" if use(path) == known else "other"
    except ProjectError as error:
        return f"refused: {error}" if error.title and error.hint else f"broke: no hint: {error}"
    except BaseException:  # noqa: BLE001 - whatever it is must not have come out
        return f"broke: {traceback.format_exc()}"


def main() -> None:
    """Spoil and use the project in as many ways as asked for."""
    path, first, end = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    assert path.read_bytes()[68:72] == APPLICATION_ID.to_bytes(4, "big")
    trial = path.with_name("trial.metl")
    shutil.copyfile(path, trial)
    with Workbench.open(trial, for_editing=False) as workbench:
        known = digest(workbench.document)
    for seed in range(first, end):
        for old in path.parent.glob("trial.*"):
            old.unlink()
        shutil.copyfile(path, trial)
        random = Random(seed)
        done = random.choice(WAYS)(trial, random)
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        told = outcome(trial, known)
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.write(json.dumps([seed, done, told]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
