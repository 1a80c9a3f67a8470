"""The commands ``watch`` and ``import`` with registries: what they print, how they end, and what they refuse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.cli.main import main
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.session import Workbench
from tests.helpers.small_registry import SmallRegistry, record
from tests.helpers.web_servers import Answer, serving


@pytest.fixture
def small() -> SmallRegistry:
    found = SmallRegistry()
    found.add("shop.orders-key", record("Key", "id"))
    found.add("shop.orders-value", record("Value", "id", "total"))
    found.add("shop.items-value", record("Value", "id"))
    return found


@pytest.fixture
def url(small: SmallRegistry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setattr("metl_gui.registry.remote.http._TRIES", 1)
    with serving(small.confluent) as server:
        yield server.url


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = str(tmp_path / "p.metl")
    assert main(["new", path]) == 0
    capsys.readouterr()
    return path


def test_a_profile_of_a_registry_is_imported_with_only_what_is_wanted(
    url: str, project: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["profile", "add", "reg", url]) == 0
    capsys.readouterr()
    assert main(["import", project, "--tree", "extraction", "@reg", "--only", "shop.o*", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["version"], one["source"]) for one in done["added"]] == [
        ("shop.orders", "1", "@reg (shop.orders-value)")
    ]
    assert main(["import", project, "--tree", "cdm", "profile:reg", "--only", "shop.items*"]) == 0
    assert "added    shop.items version 1" in capsys.readouterr().out


def test_ids_bring_their_versions_alone_and_of_a_known_version_only_the_id(
    url: str, project: str, small: SmallRegistry, capsys: pytest.CaptureFixture[str]
) -> None:
    small.add("shop.orders-value", record("Value", "id", "total", "note"))
    small.add("copy.orders-value", record("Value", "id"))
    assert main(["import", project, "--tree", "extraction", url, "--id", "4,1", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["version"], one["attributes"]) for one in done["added"]] == [("shop.orders", "2", 3)]
    assert done["writer_schemas"] == 2
    with Workbench.open(Path(project), for_editing=False) as workbench:
        assert {one.id for one in workbench.kept.writer_schemas.all()} == {"1", "4"}
        (version,) = workbench.document.tree(Side.EXTRACTION).all_versions()
        assert version.key == ("id",)
    small.add("shop.orders-value", {**record("Value", "id", "total", "note"), "doc": "the same rows"})
    assert main(["import", project, "--tree", "extraction", url, "--id", "6"]) == 0
    assert "0 added, 1 unchanged, 0 refused" in capsys.readouterr().out
    with Workbench.open(Path(project), for_editing=False) as workbench:
        assert {one.id for one in workbench.kept.writer_schemas.all()} == {"1", "4", "6"}
    assert main(["import", project, "--tree", "extraction", url, "--id", "99"]) == 1
    assert "(id 99): Nothing in it has this id" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["@reg", "--id", "seven"], "'seven' is no id of a registry"),
        (["@reg", "--id", "7,"], "'' is no id of a registry"),
        (["@reg", "--id", "7", "--only", "a*"], "not allowed with argument --id"),
        (["schemas.json", "--id", "7"], "--id is about registries"),
        (["kafka://host:9092/t", "--id", "7"], "--id is about registries"),
        (["schemas", "more.sql", "--only", "a*"], "--only is about registries and databases"),
    ],
)
def test_choices_are_refused_where_they_can_mean_nothing(
    words: list[str], said: str, project: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["import", project, "--tree", "extraction", *words])
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_a_database_has_no_ids_and_nobody_asks_it_for_any(project: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", project, "--tree", "extraction", "postgresql://db.invalid/shop", "--id", "7"]) == 1
    assert "Its tables have no ids." in capsys.readouterr().out


def test_looking_once_tells_what_it_added_and_a_second_time_that_there_is_nothing(
    url: str, project: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", project, url, "--once", "--json"]) == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert (document["looks"], document["added"]) == (1, 2)
    assert [event["event"] for event in document["events"]] == ["versions_added"]
    assert "added    shop.orders version 1" in said.err
    assert main(["watch", project, url, "--once"]) == 0
    assert capsys.readouterr().out == "Looked 1 time, added 0 versions.\n"


def test_a_look_that_finds_nobody_ends_with_1(
    url: str, project: str, small: SmallRegistry, capsys: pytest.CaptureFixture[str]
) -> None:
    small.wrong["/subjects"] = Answer({}, 503)
    assert main(["watch", project, f"{url}/apis/ccompat/v7".replace("/apis/ccompat/v7", ""), "--once"]) == 1
    assert "It is asked again until it does." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("@nobody", "There is no profile @nobody"),
        ("schemas.json", "is no registry and no database"),
        ("https://tess:hush@host/apis/registry/v3", "The address holds a password"),
        ("postgresql://tess:hush@host/shop", "The address holds a password"),
    ],
)
def test_what_cannot_be_watched_is_refused_without_showing_a_password(
    source: str, said: str, url: str, project: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert url
    assert main(["watch", project, source, "--once"]) == 1
    told = "".join(capsys.readouterr())
    assert said in told
    assert "hush" not in told
    assert main(["import", project, "--tree", "extraction", source]) == 1
    assert "hush" not in "".join(capsys.readouterr())


@pytest.mark.parametrize("every", ["0s", "10", "5m", "soon", "2d"])
def test_how_often_is_a_time_from_a_second_to_a_day(every: str, url: str, project: str) -> None:
    command = ["watch", project, url, "--once", "--every", every]
    if every in ("10", "5m"):
        assert main(command) == 0
        return
    with pytest.raises(SystemExit) as caught:
        main(command)
    assert caught.value.code == 2
