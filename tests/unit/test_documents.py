from __future__ import annotations

import re
from pathlib import Path

import pytest

from metl_gui.cli.main import build_parser
from tests.helpers import documents

README = documents.ROOT / "README.md"
ALL = documents.documents()
_OPTION = re.compile(r"--[a-z][a-z-]*")


def name(document: Path) -> str:
    return str(document.relative_to(documents.ROOT))


def test_readme_and_pages_are_among_the_documents_and_name_files_and_commands() -> None:
    assert README in ALL
    assert set(documents.pages()) <= set(ALL)
    assert documents.PAGES / "pictures/map-light.png" in documents.named_files(README)
    assert ["doctor", "--fix"] in list(documents.metl_commands(README))


def test_the_five_minutes_of_the_readme_are_among_the_commands_of_the_first_hour_in_its_order() -> None:
    tour = [call for call in documents.metl_commands(README) if "fx.metl" in call]
    run = iter(documents.metl_commands(documents.PAGES / "guide" / "first-hour.md"))
    assert {call[0] for call in tour} >= {"new", "import", "map", "review", "run", "publish", "export"}
    assert [call for call in tour if call not in run] == []


@pytest.mark.parametrize("document", ALL, ids=name)
def test_every_file_that_a_document_names_exists(document: Path) -> None:
    gone = [name(path) for path in documents.named_files(document) if not path.exists()]
    assert gone == []


@pytest.mark.parametrize(
    "arguments", [call for document in ALL for call in documents.metl_commands(document)], ids=" ".join
)
def test_every_command_in_a_document_is_one_the_program_takes_and_its_help_names_each_option(
    arguments: list[str],
) -> None:
    taken = build_parser().parse_args(arguments)
    assert taken.command == arguments[0]
    options = {word.partition("=")[0] for word in arguments if word.startswith("--")}
    assert options <= set(_OPTION.findall(taken.parser.format_help()))


def test_each_of_the_two_ways_to_start_is_one_line_and_goes_through_the_doctor() -> None:
    user, developer = (documents.marked_command(README, mark) for mark in ("user", "developer"))
    assert "pip install . " in user
    assert "metl demo" in user
    assert 'pip install ".[test]"' in developer
    assert "pytest" in developer
    assert all("metl doctor --fix" in line for line in (user, developer))


def test_the_documentation_begins_with_the_same_two_lines() -> None:
    shown = "".join(documents.code_blocks(documents.PAGES / "index.md"))
    assert all(documents.marked_command(README, mark) in shown.splitlines() for mark in ("user", "developer"))
