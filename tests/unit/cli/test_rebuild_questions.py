"""Targets whose model has changed, on the review list of the command line."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from metl_gui import packaged
from metl_gui.cli.main import main
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.warehouse_loads import model_shapes
from metl_gui.workbench.session import Workbench
from tests.unit.cli.test_commands import Metl, metl
from tests.unit.warehouse.worlds import at, part

__all__ = ["metl"]


@pytest.fixture
def target(metl: Metl, mapped: Path, tmp_path: Path) -> str:
    """A target of the sample's model, with one customer in it."""
    metl("warehouse", "import", mapped, packaged.sample_projects() / "fx" / "warehouse.yaml")
    values = {"customer_id": 7, "name_family": "Kay", "address_country": "DE", "vip": True}
    message = Message(
        "s", '{"id":7}', "0001", "c", values, position=Position("log", 0, 1), committed_at=at(1), seen_at=at(1)
    )
    with Workbench.open(mapped, for_editing=False) as workbench, DuckDb(tmp_path / "w.duckdb") as opened:
        tables = model_shapes(workbench.document)
        staged = part(tmp_path, "customer", [message], tables.histories["customer"])
        Loader(opened, tables, Owner(project=workbench.project_id, mode="test")).load([staged], "first")
    return f"duckdb:{tmp_path / 'w.duckdb'}"


def test_a_target_is_listed_once_its_model_has_changed_until_it_is_rebuilt_as_the_list_says(
    metl: Metl, mapped: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert metl("review", mapped, "--list", "--target", target)[1]["warehouse"]["rebuilds"] == []
    metl("warehouse", "set", mapped, "customer", "columns.segment.history=2")
    (one,) = metl("review", mapped, "--list", "--target", target)[1]["warehouse"]["rebuilds"]
    assert (one["target"], one["model"], one["mode"]) == (target, "fx", "test")
    assert [change["member"] for change in one["changes"]] == ["columns.segment.history"]
    assert (one["rebuild"]["versions"], one["rebuild"]["facts"]) == (1, 0)
    assert one["rebuild"]["minutes"] > 0
    assert main(["review", str(mapped), "--target", target]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        f"{target} was made by another state of the warehouse fx: customer columns.segment.history was 1, is 2" in lines
    )
    (line,) = (one for one in lines if one.startswith("  rebuild it ("))
    told, _, command = line.partition("): metl ")
    assert "1 version, 0 facts re-keyed, under a minute" in told
    assert metl(*shlex.split(command.replace("PROJECT", shlex.quote(str(mapped)))))[0] == 0
    assert metl("review", mapped, "--list", "--target", target)[1]["warehouse"]["rebuilds"] == []


def test_a_target_that_is_not_there_is_refused_and_decisions_take_none(
    metl: Metl, mapped: Path, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, _ = metl("review", mapped, "--target", f"duckdb:{tmp_path / 'no.duckdb'}")
    assert (code, document["error"]["title"]) == (1, "Nothing was loaded into this target yet")
    with pytest.raises(SystemExit, match="2"):
        main(["review", str(mapped), "--confirm-all", "any", "--target", target])
    assert "--target belongs to --list" in capsys.readouterr().err
