"""The reference says what the code says: commands, settings, reasons, names of the report, codes, variables, words."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from metl_gui.core.edits.settings import CHOICES, ENTITY_SETTINGS, SCHEMA_SETTINGS
from metl_gui.core.project.writer_schemas import FRAMINGS
from metl_gui.core.runs.report import RunReport
from metl_gui.formats.record_kind import ROW_KINDS, RecordKind
from metl_gui.registry.tables.mapping_table import COLUMNS, OPTIONAL_COLUMNS
from metl_gui.ui.messages.set_aside import reason_words
from metl_gui.workbench.settings import KNOWN
from tests import command_reference
from tests.helpers import documents

REFERENCE = documents.PAGES / "reference"
_ROW = re.compile(r"^\| (.+?) \| (.*) \|$", re.MULTILINE)
_NAME = re.compile(r"`([^`]+)`")
_CODE = re.compile(r"(?:cdm|export|extraction|lineage|mapping|project|publish|trial|warehouse)\.[a-z]+(?:-[a-z]+)*")
_NO_CODES = {"mapping.css", "mapping.csv", "mapping.js", "mapping.metl", "warehouse.yaml"}
_VARIABLE = re.compile(r"METL_[A-Z_]+")


def rows(page: str, title: str = "") -> dict[str, str]:
    """Return the tables of a page, or of one section of it: the names in a row's first cell, beside the rest of it."""
    text = (REFERENCE / page).read_text("utf-8")
    if title:
        text = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return {name: rest for first, rest in _ROW.findall(text) for name in _NAME.findall(first)}


@cache
def constants() -> frozenset[str]:
    """Return every text that stands in the program's code."""
    return frozenset(
        node.value
        for path in (documents.ROOT / "metl_gui").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def test_the_page_of_commands_is_what_the_parser_says_now() -> None:
    """Write it anew with ``python -m tests.command_reference``."""
    assert command_reference.PAGE.read_text("utf-8") == command_reference.page()


def test_the_settings_are_those_that_the_program_takes_with_their_values() -> None:
    assert tuple(rows("settings.md", "Of a schema")) == SCHEMA_SETTINGS
    assert tuple(rows("settings.md", "Of an entity")) == ENTITY_SETTINGS
    assert tuple(rows("settings.md", "Of the project")) == tuple(KNOWN)
    told = rows("settings.md", "Of a schema") | rows("settings.md", "Of an entity")
    for name, values in CHOICES.items():
        assert tuple(_NAME.findall(told[name].partition(" | ")[0])) == values
    assert tuple(_NAME.findall(rows("settings.md", "Of the project")["framing"])) == FRAMINGS


def test_the_reasons_are_those_for_which_records_are_set_aside() -> None:
    reasons = set(rows("set-aside.md"))
    raised = {text for text in constants() if text in reasons}
    assert raised == reasons
    assert [reason for reason in reasons if reason_words(reason) == f"{reason.replace('_', ' ').capitalize()}."] == []


def test_the_report_has_the_names_of_the_page_and_no_others() -> None:
    names = set(rows("report.md"))
    assert names == set(RunReport.__struct_fields__)
    kinds = set(_NAME.findall(rows("report.md")["by_skip"]))
    assert kinds == {str(kind) for kind in set(RecordKind) - ROW_KINDS}


def test_the_columns_of_a_mapping_csv_are_those_that_are_read() -> None:
    page = (REFERENCE / "mapping-csv.md").read_text("utf-8")
    columns = {name for name in rows("mapping-csv.md") if not name.startswith("--")}
    assert columns == {*COLUMNS, *OPTIONAL_COLUMNS}
    assert ",".join([*COLUMNS, *OPTIONAL_COLUMNS]) in page


def test_the_codes_of_problems_are_those_that_checks_use() -> None:
    used = {text for text in constants() if _CODE.fullmatch(text)} - _NO_CODES
    assert set(rows("json.md", "Problems")) == used


def test_the_variables_are_those_that_the_program_reads() -> None:
    read = {name for text in constants() for name in _VARIABLE.findall(text)}
    assert set(_VARIABLE.findall((REFERENCE / "environment.md").read_text("utf-8"))) == read


def test_every_number_that_ends_a_command_has_a_line() -> None:
    section = Path(REFERENCE / "environment.md").read_text("utf-8").partition("## Exit codes")[2].partition("\n## ")[0]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)] == [0, 1, 2, 3, 130]
