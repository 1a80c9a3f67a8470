"""Every command of the documentation that is meant to be run: page after page, each block in its order.

A fenced block without a language is run. The first hour makes a project and runs it; every other page goes on with a
copy of what that leaves.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.cli.main import main
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.workbench.loads.target_secrets import VARIABLE
from tests.helpers import documents
from tests.helpers.spark_fixtures import commands_on

FIRST = documents.PAGES / "guide" / "first-hour.md"
RUN = [page for page in documents.pages() if documents.code_blocks(page, "")]
_ROW = re.compile(r"^\| `metl ([^`]+)` \| (.*?) \|", re.MULTILINE)
_NAME = re.compile(r"`([^`]+)`")
_FX = "--target duckdb:fx.duckdb"
_BLOCK = "fx.payments.orders@5:payment@2.0.0"
CALLS = {
    "new": "new other.metl",
    "import": "import fx.metl --tree extraction sample_projects/fx/waiting",
    "map": "map fx.metl --csv sample_projects/fx/mapping.csv --dry-run",
    "undo": "undo fx.metl",
    "review PROJECT --list": "review fx.metl --list",
    "review": f"review fx.metl --confirm {_BLOCK}",
    "search": "search fx.metl --reverse payment.payer_id",
    "search PROJECT --versions": "search fx.metl --versions fx.payments.orders",
    "suggest": "suggest fx.metl --entity account",
    "todo": "todo fx.metl",
    "ignore": "ignore fx.metl fx.payments.orders.risk_score --reason unused --dry-run",
    "history": "history fx.metl --limit 5",
    "history PROJECT --of": f"history fx.metl --of {_BLOCK}",
    "show": "show fx.metl",
    "show LINK": f"show fx.metl --of {_BLOCK}",
    "check": "check fx.metl",
    "check PROJECT --against": "check fx.metl --against sample_projects/fx/waiting",
    "publish": "publish fx.metl",
    "export": "export fx.metl --format csv -o fx.csv",
    "export --list": "export --list",
    "diff": "diff fx.metl",
    "set": "set fx.metl --schema fx.payments.orders ask=always",
    "entity PROJECT show": "entity fx.metl show payment",
    "comment": "comment fx.metl fx.payments.orders",
    "unlink": "unlink fx.metl fx.payments.orders.state@4 --dry-run",
    "preview": "preview fx.metl --source sample_projects/fx/cdc/payments.jsonl --limit 1",
    "samples": "samples fx.metl",
    "why": "why fx.metl /dev/null",
    "warehouse set": "warehouse import fx.metl sample_projects/fx/warehouse.yaml",
    "warehouse show PROJECT": "warehouse show fx.metl",
    "warehouse check PROJECT": "warehouse check fx.metl",
    "warehouse export": "warehouse export fx.metl fx.yaml",
    "warehouse docs": "warehouse docs fx.metl fx.html",
    "warehouse load": "warehouse load fx.metl --source out --target duckdb:fx.duckdb",
    "warehouse audit": "warehouse audit fx.metl --target duckdb:fx.duckdb",
    "warehouse status": "warehouse status fx.metl --target duckdb:fx.duckdb",
    "warehouse why": "warehouse why fx.metl customer --key '{\"customer_id\": 1067}' --target duckdb:fx.duckdb",
    "warehouse ask": "warehouse ask fx.metl --target duckdb:fx.duckdb",
    "warehouse epoch": f"warehouse epoch fx.metl fx.payments.orders --from fx.payments.orders/0/900000 {_FX}",
    "warehouse compact": "warehouse compact fx.metl --before 2026-01-01 --target duckdb:fx.duckdb",
    "warehouse forget": "warehouse forget fx.metl customer --key '{\"customer_id\": 1067}' --target duckdb:fx.duckdb",
    "warehouse plan": "warehouse plan fx.metl",
    "runs": "runs fx.metl",
    "profile list": "profile list",
    "doctor": "doctor",
    "lane list": "lane list fx.metl",
}
"""How each document of the reference is asked for, one after the other."""


def metl(folder: Path, *words: str) -> tuple[int, str]:
    """Run a command in a folder; return how it ended and what it printed."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as printed:
        return main(words), printed.getvalue()


def follow(page: Path, folder: Path) -> None:
    """Do what a page says."""
    for program, *words in documents.page_commands(page):
        assert program == "metl", f"{page.name} is to run {program}, which is not the program"
        code, printed = metl(folder, *words)
        assert (code, bool(printed)) == (0, True), f"metl {' '.join(words)}\n{printed}"


@pytest.fixture(scope="module")
def first_hour(spark: SparkProcess, spark_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of somebody who has followed the first page."""
    empty(spark_folder)
    (spark_folder / "sample_projects").symlink_to(documents.ROOT / "sample_projects")
    with commands_on(spark):
        follow(FIRST, spark_folder)
    return Path(shutil.copytree(spark_folder, tmp_path_factory.mktemp("first_hour") / "left", symlinks=True))


@pytest.fixture
def folder(first_hour: Path, spark: SparkProcess, spark_folder: Path) -> Iterator[Path]:
    """A copy of it where Spark is at home: pages name their files without a folder."""
    empty(spark_folder)
    shutil.copytree(first_hour, spark_folder, symlinks=True, dirs_exist_ok=True)
    with commands_on(spark):
        yield spark_folder


def empty(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def test_the_first_hour_leaves_a_project_messages_and_an_export(first_hour: Path) -> None:
    assert {path.name for path in first_hour.iterdir()} >= {"fx.metl", "out", "fx.json"}


@pytest.mark.parametrize("page", [page for page in RUN if page != FIRST], ids=lambda page: page.stem)
def test_the_commands_of_a_page_run_one_after_the_other(page: Path, folder: Path) -> None:
    follow(page, folder)


def test_each_document_has_the_names_that_the_reference_gives_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "a secret for tests alone")
    told = dict(_ROW.findall((documents.PAGES / "reference" / "json.md").read_text("utf-8")))
    assert told.keys() == CALLS.keys()
    for command, call in CALLS.items():
        _, printed = metl(folder, *shlex.split(call), "--json")
        assert set(json.loads(printed)) == set(_NAME.findall(told[command])), command
