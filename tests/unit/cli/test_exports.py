"""The command that exports."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metl_gui import packaged
from metl_gui.cli.exports import OPTIONS
from metl_gui.cli.main import main
from metl_gui.workbench.exports import EXPORTS

Metl = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def metl(capsys: pytest.CaptureFixture[str]) -> Metl:
    """Run a command with --json; gives the exit code, the document and what was said beside it."""

    def run(*arguments: object) -> tuple[int, Any, str]:
        code = main([str(argument) for argument in (*arguments, "--json")])
        said = capsys.readouterr()
        return code, json.loads(said.out), said.err

    return run


@pytest.fixture
def project(metl: Metl, tmp_path: Path) -> Path:
    """The fx sample with its mapping, published."""
    path, fx = tmp_path / "fx.metl", packaged.sample_projects() / "fx"
    metl("new", path)
    metl("import", path, "--tree", "extraction", fx / "schemas")
    metl("import", path, "--tree", "cdm", fx / "cdm")
    metl("map", path, "--csv", fx / "mapping.csv")
    assert metl("publish", path)[0] == 0
    return path


def test_the_list_names_every_format_with_what_it_cannot_say(metl: Metl, capsys: pytest.CaptureFixture[str]) -> None:
    code, document, _ = metl("export", "--list")
    assert code == 0
    assert [each["format"] for each in document["formats"]] == list(EXPORTS)
    assert all(each["cannot_say"] for each in document["formats"])
    main(["export", "--list"])
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()} >= set(EXPORTS)


def test_the_options_of_the_command_are_those_of_the_formats() -> None:
    assert set(OPTIONS) == {option.name for export in EXPORTS.values() for option in export.options}


def test_what_an_export_cannot_say_is_told_when_it_is_written(metl: Metl, project: Path, tmp_path: Path) -> None:
    _, document, _ = metl("export", project, "--format", "csv", "-o", tmp_path / "out.csv")
    assert document["says"] == list(EXPORTS["csv"].limits)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["export", "x.metl"], "required: --format, -o/--output"),
        (["export", "x.metl", "--format", "jsn", "-o", "y"], "Did you mean json"),
    ],
)
def test_a_call_that_lacks_something_or_names_no_format_ends_with_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
