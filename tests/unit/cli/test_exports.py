"""The command that exports."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metl_gui.cli.exports import OPTIONS
from metl_gui.cli.main import main
from metl_gui.workbench.exports.formats import EXPORTS

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
def project(metl: Metl, mapped: Path) -> Path:
    """The fx sample with its mapping, published."""
    assert metl("publish", mapped)[0] == 0
    return mapped


def test_the_list_names_every_format_with_what_it_cannot_say(metl: Metl, capsys: pytest.CaptureFixture[str]) -> None:
    code, document, _ = metl("export", "--list")
    assert code == 0
    assert [each["format"] for each in document["formats"]] == list(EXPORTS)
    assert all(each["cannot_say"] for each in document["formats"])
    main(["export", "--list"])
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines} >= set(EXPORTS)
    assert [
        each.title for each in EXPORTS.values() if not any(line.endswith(f"  {each.title}") for line in lines)
    ] == []


def test_the_options_of_the_command_are_those_of_the_formats() -> None:
    assert set(OPTIONS) == {option.name for export in EXPORTS.values() for option in export.options}


def test_what_an_export_cannot_say_is_told_when_it_is_written(metl: Metl, project: Path, tmp_path: Path) -> None:
    _, document, _ = metl("export", project, "--format", "csv", "-o", tmp_path / "out.csv")
    assert document["says"] == list(EXPORTS["csv"].limits)


def test_a_table_of_names_that_begin_as_formulas_is_exact_unless_safe_cells_are_wanted_and_both_come_back(
    metl: Metl, tmp_path: Path
) -> None:
    formula, project = '=HYPERLINK("http://x";"y")', tmp_path / "a.metl"
    for tree in ("extraction", "cdm"):
        schema = {
            "title": "orders",
            "type": "object",
            "properties": {name: {"type": "string"} for name in (formula, "id")},
        }
        (tmp_path / f"{tree}.json").write_text(json.dumps(schema))
    metl("new", project)
    metl("import", project, "--tree", "extraction", tmp_path / "extraction.json")
    metl("import", project, "--tree", "cdm", tmp_path / "cdm.json")
    assert metl("suggest", project, "--accept-best", "0.9")[0] == 0
    metl("review", project, "--confirm-all", "unconfirmed")
    assert metl("publish", project)[0] == 0
    _, exact, _ = metl("export", project, "--format", "csv", "-o", tmp_path / "exact.csv")
    _, safe, _ = metl("export", project, "--format", "csv", "--safe-cells", "-o", tmp_path / "safe.csv")
    assert "2 cells for a formula" in exact["says"][-1]
    assert "2 cells are not exact" in safe["says"][-1]
    quoted = formula.replace('"', '""')
    assert f',"{quoted}",' in (tmp_path / "exact.csv").read_text()
    assert f',"{quoted}",' not in (tmp_path / "safe.csv").read_text()
    for name in ("exact.csv", "safe.csv"):
        code, done, _ = metl("map", project, "--csv", tmp_path / name, "--replace")
        assert (code, done["set"], done["unchanged"], done["conflicts"]) == (0, 0, 2, [])


def test_a_format_that_needs_no_safe_cells_does_not_take_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["export", "x.metl", "--format", "xlsx", "--safe-cells", "-o", "y"])
    assert ended.value.code == 2
    assert "xlsx has no option --safe-cells" in capsys.readouterr().err


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


def test_a_file_goes_to_standard_output_and_comes_in_from_standard_input(
    mapped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    project = mapped
    assert main(["publish", str(project)]) == 0
    capfdbinary.readouterr()
    before = set(tmp_path.iterdir())
    assert main(["export", str(project), "--format", "csv", "-o", "-"]) == 0
    said = capfdbinary.readouterr()
    assert set(tmp_path.iterdir()) == before
    assert b"blocks of state" in said.err
    assert main(["export", str(project), "--format", "csv", "-o", "out.csv"]) == 0
    assert said.out == (tmp_path / "out.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(said.out)))
    capfdbinary.readouterr()
    assert main(["map", str(project), "--csv", "-", "--unset", "--dry-run", "--json"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["set"] == said.out.count(b"\n") - 1


@pytest.mark.parametrize("arguments", [["--format", "dbt"], ["--format", "csv", "--json"]], ids=" ".join)
def test_a_folder_or_a_second_document_does_not_go_to_standard_output(project: Path, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["export", str(project), *arguments, "-o", "-"])
    assert ended.value.code == 2
