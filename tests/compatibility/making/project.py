"""The project: the sample ``fx`` with something in every table that a project file has."""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
import sqlite3
from collections import Counter
from pathlib import Path

from metl_gui.core.edits.settings import AddAlias
from metl_gui.core.progress import Progress, Watch
from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import RunCancelled
from metl_gui.workbench.importing.schema_import import add_reading
from metl_gui.workbench.session import Workbench
from tests.compatibility.making.program import REPOSITORY, Program
from tests.helpers.small_registry import SmallRegistry, record
from tests.helpers.web_servers import serving
from tests.helpers.world import declare

SAMPLE = REPOSITORY / "sample_projects" / "fx"
ORDERS = "fx.payments.orders"
_OF_A_KIND = 3
_FIRST = 12
_EMPTY = frozenset({"lease"})
"""Tables with nothing in them while nobody edits."""


def begin(program: Program) -> None:
    """Make the project as it is before its first run, and the messages."""
    for name in ("cdm", "schemas", "waiting"):
        shutil.copytree(SAMPLE / name, program.root / name)
    cut_messages(program.root / "source")
    project = program.project
    program.metl("new", project)
    program.metl("import", project, "--tree", "extraction", "schemas")
    program.metl("import", project, "--tree", "cdm", "cdm")
    program.metl("map", project, "--csv", SAMPLE / "mapping.csv")
    program.metl("set", project, "--schema", ORDERS, "replica_identity=full", "ask=losses", "mask=memo")
    program.metl("set", project, "--schema", "fx.payments.chargebacks", "meanwhile=hold")
    program.metl("set", project, "--entity", "customer", "policy=parallel", "mask=email,born_on")
    program.metl("link", project, f"{ORDERS}.status", f"{ORDERS}.state", "--tree", "extraction")
    registry = SmallRegistry()
    registry.add("fx.fees.fee-key", record("Key", "id"))
    registry.add("fx.fees.fee-value", record("Value", "id", "total"))
    with serving(registry.confluent) as server:
        program.metl("import", project, "--tree", "extraction", server.url)
    program.metl("comment", project, ORDERS, "Owned by the payments team ☃")
    program.metl("comment", project, f"{ORDERS}.memo", "Free text,\nmay be long")
    program.metl("comment", project, f"{ORDERS}@4:payment@2.0.0", "Agreed in March")
    program.metl("comment", project, f"{ORDERS}.amount:payment.amount", 'In the "currency" of the order')
    program.metl("publish", project, "--name", "first books")


def change(program: Program) -> None:
    """Bring in what waits, decide most of it, and publish."""
    project = program.project
    orders, ledger = f"{ORDERS}@5:payment@2.0.0", f"{ORDERS}@5:ledger_entry@2.0.0"
    program.metl("import", project, "--tree", "extraction", "waiting")
    program.metl("review", project, "--not-renamed", orders, "legacy_code=channel")
    program.metl("review", project, "--rename", orders, "customer_id=customer_ref", "--comment", "asked the team")
    program.metl("review", project, "--accept-loss", orders, "legacy_code", "--comment", "gone for good")
    program.metl("review", project, "--confirm", orders)
    program.metl("review", project, "--later", ledger)
    program.metl("review", project, "--assign", ledger, "--to", "Bob Example")
    program.metl("entity", project, "change", "refund", "--remove", "scheme", "--rename", "opened_at=begun_at")
    blocks = [item["block"] for item in program.metl("review", project, "--list")["items"]]
    chargebacks = [block for block in blocks if block["schema"] == "fx.payments.chargebacks"]
    newest = "fx.payments.chargebacks@{version}:refund@{entity_version}".format_map(chargebacks[-1])
    program.metl("review", project, "--retire", newest, "--comment", "told by the scheme itself")
    program.metl("review", project, "--confirm-all", "same")
    program.metl("map", project, "--csv", _one_row(program.root), "--unset")
    program.metl("undo", project)
    program.metl("redo", project)
    program.metl("undo", project)
    with Workbench.open(project, who="Bob") as workbench:
        schema = workbench.document.extraction.named("fx.rates.tick")
        if schema is None:
            raise SystemExit("the sample has no fx.rates.tick any more")
        workbench.do(AddAlias(Side.EXTRACTION, schema.id, "fx.rates.quote"))
    program.metl("publish", project, "--name", "with orders 5")


def leave(program: Program) -> None:
    """Put into the project what is there only while something is unfinished or not published."""
    project = program.project
    program.metl("samples", project, "--include", ORDERS)
    program.metl("set", project, "second_person_confirms=yes", "kept_runs=50")
    told: list[Progress] = []
    left = tuple(declare("fx.fees.tariff", ["id", f"fee_{number}:number"], str(number)) for number in range(1, 7))
    with Workbench.open(project, who="Ada") as workbench, contextlib.suppress(RunCancelled):
        add_reading(workbench, Side.EXTRACTION, ReaderResult(left), watch=Watch(told.append, lambda: len(told) >= 3))


def as_sql(project: Path) -> str:
    """Write a project file as SQL that makes it again.

    Raises:
        SystemExit: a table has nothing in it.
    """
    with contextlib.closing(sqlite3.connect(f"file:{project}?mode=ro", uri=True)) as connection:
        pragmas = [
            f"PRAGMA {name}={connection.execute(f'PRAGMA {name}').fetchone()[0]};"
            for name in ("application_id", "user_version")
        ]
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        empty = {name for name in tables if connection.execute(f"SELECT 1 FROM {name}").fetchone() is None}
        if empty - _EMPTY:
            raise SystemExit(f"the project has nothing in {', '.join(sorted(empty - _EMPTY))}")
        return "\n".join([*pragmas, *connection.iterdump(), ""])


def cut_messages(folder: Path) -> None:
    """Write a few messages of each kind that the sample has, and all that are broken on purpose."""
    folder.mkdir()
    for path in sorted((SAMPLE / "cdc").iterdir()):
        is_packed = path.suffix == ".gz"
        text = gzip.decompress(path.read_bytes()) if is_packed else path.read_bytes()
        lines = text.splitlines(keepends=True)
        if path.name == "hostile.jsonl":
            cut = text
        elif is_packed or "with-schemas" in path.name:
            cut = b"".join(lines[:_FIRST])
        else:
            cut = b"".join(_few_of_each_kind(lines))
        (folder / path.name).write_bytes(gzip.compress(cut, mtime=0) if is_packed else cut)


def _few_of_each_kind(lines: list[bytes]) -> list[bytes]:
    seen: Counter[tuple[object, ...]] = Counter()
    kept = []
    for line in lines:
        kind = _kind_of(line)
        seen[kind] += 1
        if seen[kind] <= _OF_A_KIND:
            kept.append(line)
    return kept


def _kind_of(line: bytes) -> tuple[object, ...]:
    """Tell topic, operation and columns of a message."""
    message = json.loads(line)
    value = json.loads(message["value"]) if message["value"] else {}
    row = value.get("after") or value.get("before") or {}
    return (message["topic"], value.get("op"), *sorted(row))


def _one_row(root: Path) -> Path:
    path = root / "unset.csv"
    lines = SAMPLE.joinpath("mapping.csv").read_text("utf-8").splitlines(keepends=True)
    path.write_text(lines[0] + lines[-1], "utf-8")
    return path
