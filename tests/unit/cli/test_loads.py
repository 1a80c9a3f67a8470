"""What `metl load` asks for before it looks at anything, and what it says of a load."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from metl_gui.cli.lanes import lines_of
from metl_gui.cli.main import main
from metl_gui.core.runs.lanes import LoadProgress

HALF = LoadProgress(id="l", changes="shop.public.orders", rows=2_000, done=1_500, superseded=20)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "shop.metl"
    assert main(["new", str(path)]) == 0
    return path


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "name the tables with --tables"),
        (["--give-up"], "name the tables with --tables"),
        (["--tables", "public.orders"], "--from postgresql needs --database"),
        (["--tables", "public.orders", "--from", "debezium", "--signal", "public.signals"], "needs --database"),
    ],
)
def test_a_load_that_lacks_its_tables_or_database_is_wrong_usage(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["load", str(project), *arguments])
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--status"],
        ["--tables", "public.orders", "--give-up"],
        ["--tables", "public.orders", "--from", "beginning"],
        ["--tables", "public.orders", "--from", "debezium", "--signal", "kafka:signals"],
    ],
)
def test_a_load_where_no_lane_is_says_how_to_start_one(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(["load", str(project), *arguments]) == 1
    assert "metl run PROJECT" in capsys.readouterr().err


def test_a_load_says_how_far_it_is_and_that_it_was_given_up() -> None:
    assert lines_of(HALF) == [
        "shop.public.orders: loading, 1,500 of 2,000 rows.",
        "  20 were left out, as a change of the row was mapped.",
    ]
    (given_up, _) = lines_of(msgspec.structs.replace(HALF, is_done=True, is_given_up=True))
    assert given_up == "shop.public.orders: given up, 1,500 of 2,000 rows."
    partly = msgspec.structs.replace(HALF, done=2_000, is_done=True, superseded=0, superseded_partly=3)
    assert lines_of(partly)[0] == "shop.public.orders: loaded, 2,000 of 2,000 rows."
    assert "load once more" in lines_of(partly)[1]
