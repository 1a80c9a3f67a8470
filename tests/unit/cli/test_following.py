"""Words of commands that follow a source into a warehouse."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from metl_gui.cli.commands import duration
from metl_gui.cli.main import main
from tests.unit.cli.test_commands import Metl, metl

__all__ = ["metl"]


@pytest.mark.parametrize(("text", "seconds"), [("45", 45), ("30s", 30), ("5min", 300), ("5m", 300), ("2h", 7_200)])
def test_a_time_has_a_unit_or_is_in_seconds(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "5 days", "5mh", "-1s", "48h"])
def test_what_is_no_time_or_more_than_a_day_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        duration(text)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--sink", "out", "--every", "5s"),
        ("run", "--sink", "warehouse:duckdb:x.duckdb", "--when-asked"),
        ("warehouse", "load", "--target", "duckdb:x.duckdb", "--when-waiting", "5"),
        ("warehouse", "load", "--target", "duckdb:x.duckdb", "--follow", "--dry-run"),
    ],
)
def test_options_that_would_do_nothing_are_refused(
    mapped: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    at = 2 if words[0] == "warehouse" else 1
    with pytest.raises(SystemExit) as stop:
        main([*words[:at], str(mapped), "--source", "nowhere", *words[at:]])
    assert stop.value.code == 2
    assert "--follow" in capsys.readouterr().err


def test_a_request_for_a_load_lies_beside_the_file_which_must_be_there(
    metl: Metl, mapped: Path, tmp_path: Path
) -> None:
    metl("warehouse", "propose", mapped)
    path = tmp_path / "fx.duckdb"
    target = f"duckdb:{path}"
    assert metl("warehouse", "ask", mapped, "--target", target)[0] == 1
    assert not list(tmp_path.glob("fx.duckdb*")), "nobody follows into a file that is not there"
    path.touch()
    assert metl("warehouse", "ask", mapped, "--target", target)[:2] == (0, {"target": target})
    assert (tmp_path / "fx.duckdb.load-asked").exists()
