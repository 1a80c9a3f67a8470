"""What `metl lane` says where no lane is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metl_gui.cli.main import main


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "shop.metl"
    assert main(["new", str(path)]) == 0
    return path


def test_a_project_without_lanes_lists_none_and_every_order_says_how_to_start_one(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["lane", "list", str(project), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"lanes": []}
    for order in (["freeze"], ["unfreeze"], ["roll-back", "--state", "0"], ["set-back", "--to", "earliest"], ["wait"]):
        assert main(["lane", order[0], str(project), *order[1:], "--yes"]) == 1
        assert "metl run PROJECT" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["roll-back"], ["set-back"], ["thaw"]])
def test_an_order_that_lacks_its_aim_is_wrong_usage(project: Path, arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["lane", arguments[0], str(project)])
