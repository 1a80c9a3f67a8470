"""The command ``profile``: what it keeps, prints and refuses."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.cli.main import main
from tests.helpers.keyrings import MemoryKeyring, keyring_in_memory


@pytest.fixture(autouse=True)
def keyring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MemoryKeyring]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with keyring_in_memory() as found:
        yield found


def test_profiles_are_added_listed_and_removed_by_names(capsys: pytest.CaptureFixture[str]) -> None:
    added = ["profile", "add", "lab", "spark://h:7077", "--set", "spark.cores.max=4", "--folder", "/shared", "--json"]
    assert main(added) == 0
    lab = json.loads(capsys.readouterr().out)
    assert lab == {
        "name": "lab",
        "kind": "spark",
        "target": "spark://h:7077",
        "settings": {"spark.cores.max": "4"},
        "secrets": {},
        "folder": "/shared",
    }
    assert main(["profile", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"profiles": [lab]}
    assert main(["profile", "list"]) == 0
    assert "@lab  spark://h:7077" in capsys.readouterr().out
    assert main(["profile", "remove", "lab"]) == 0
    assert main(["profile", "remove", "lab"]) == 1


def test_a_secret_is_read_from_the_pipe_kept_in_the_keyring_and_never_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], keyring: MemoryKeyring, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hunter2\n"))
    assert main(["profile", "add", "cloud", "sc://h", "--secret", "token", "--secret", "spark.x.password=env:PW"]) == 0
    assert main(["profile", "list", "--json"]) == 0
    said = "".join(capsys.readouterr())
    assert list(keyring.kept.values()) == ["hunter2"]
    assert "hunter2" not in said
    assert "hunter2" not in (tmp_path / "metl-gui" / "profiles.json").read_text()
    assert "the environment variable PW" in said


@pytest.mark.parametrize("wrong", [["add"], ["add", "lab"], ["remove"], ["add", "lab", "yarn", "--set", "spark.a"]])
def test_what_is_left_out_is_said_as_wrong_usage(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["profile", *wrong])
    assert caught.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_a_trial_that_fails_ends_with_1_and_the_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "add", "gone", "sc://127.0.0.1:1"]) == 0
    capsys.readouterr()
    assert main(["profile", "test", "gone", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["steps"][-1]["ok"]) == (False, False)
    assert "does not answer" in answer["steps"][-1]["text"]
    assert main(["profile", "test", "nobody"]) == 1
    assert "There is no profile @nobody." in capsys.readouterr().err


def test_a_run_on_an_unknown_profile_names_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = str(tmp_path / "p.metl")
    assert main(["new", project]) == 0
    assert main(["run", project, "--source", str(tmp_path), "--sink", "noop", "--spark", "@nobody"]) == 1
    assert "There is no profile @nobody." in capsys.readouterr().err
