"""Tables that are opened in spreadsheets: exact by default and counted, safe when asked for, and read back exactly."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.paths import escape
from metl_gui.errors import SchemaError
from metl_gui.registry.tables.mapping_table import read_table
from metl_gui.workbench.exports.files import export
from metl_gui.workbench.exports.format_spec import Choices
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.mapping.clipboard import plan_paste, snippet
from metl_gui.workbench.mapping.table import MapMode, plan_mapping
from tests.helpers.odd_documents import one_to_one
from tests.helpers.odd_names import HOSTILE

EXACT = Choices(include_unconfirmed=True)
SAFE = Choices(include_unconfirmed=True, options={"safe_cells": "yes"})
READABLE = [name for name in HOSTILE if not any("\ud800" <= sign <= "\udfff" for sign in name)]
NAMES = st.one_of(
    st.sampled_from(READABLE),
    st.text(st.sampled_from([*"=+-@＝',;\t\r\n\" a"]), min_size=1, max_size=5),  # noqa: RUF001 - a wide sign
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12),
)


def cells_of(path: Path, separator: str = ",") -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader((line for line in file if not line.startswith("#")), delimiter=separator))


def unmapped(document: Document) -> Document:
    (block,) = document.matrix.blocks()
    return perform(document, SetElements(block.key, zeros=tuple(block.elements))).after


def told(document: Document) -> list[tuple[object, ...]]:
    return [(b.key, sorted(b.elements), b.status, b.comment) for b in document.matrix.blocks() if b.elements]


@pytest.mark.parametrize("choices", [EXACT, SAFE], ids=["exact", "safe"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(NAMES, min_size=1, max_size=4, unique=True), comment=NAMES)
def test_what_a_table_says_is_read_back_to_the_same_mapping(
    tmp_path: Path, choices: Choices, names: list[str], comment: str
) -> None:
    assume(comment.strip())
    before = one_to_one(names, comment)
    export(before, EXPORTS["csv"], tmp_path / "a.csv", choices)
    plan = plan_mapping(unmapped(before), read_table(tmp_path / "a.csv"), MapMode.ADD, take_proposal=False)
    assert plan.conflicts == ()
    assert told(perform(unmapped(before), CompositeEdit("", plan.edits)).after) == told(before)


@pytest.mark.parametrize(("name", "separator"), [("csv", ","), ("sssom", "\t")])
@pytest.mark.parametrize("text", [*HOSTILE[:5], "\t=x", " =x", "＝x", "a;=x"])  # noqa: RUF001 - a wide sign
def test_formulas_are_counted_as_they_are_and_text_when_asked_for(
    tmp_path: Path, name: str, separator: str, text: str
) -> None:
    document = one_to_one(["id", text], comment=text)
    done = export(document, EXPORTS[name], tmp_path / "exact", EXACT)
    (told_,) = [each for each in done.says if "for a formula" in each]
    assert " for a formula, by = + - @" in told_
    assert "--safe-cells" in told_
    assert "xlsx" in told_
    assert any(text.strip() in cell for row in cells_of(tmp_path / "exact", separator) for cell in row)
    done = export(document, EXPORTS[name], tmp_path / "safe", SAFE)
    assert any("cells are not exact: an apostrophe" in sentence for sentence in done.says)
    found = [cell for row in cells_of(tmp_path / "safe", separator) for cell in row]
    assert any(text.strip() in cell.replace("'", "") for cell in found)
    assert not [cell for cell in found if cell.lstrip(" ").startswith((*"=+-@＝", "\t", "\r"))]  # noqa: RUF001


def test_nothing_is_said_of_a_table_without_a_formula_and_safe_cells_change_none_of_its_names(tmp_path: Path) -> None:
    document = one_to_one(["id", "a-b", "it's"], comment="as = agreed")
    exact = export(document, EXPORTS["csv"], tmp_path / "exact", EXACT)
    safe = export(document, EXPORTS["csv"], tmp_path / "safe", SAFE)
    assert exact.says == safe.says == EXPORTS["csv"].limits
    rows = cells_of(tmp_path / "safe")
    assert [row.pop() for row in rows] == ["safe_cells", "yes", "yes", "yes"]
    assert rows == cells_of(tmp_path / "exact")


@pytest.mark.parametrize(("name", "choices"), [("csv", EXACT), ("csv", SAFE)])
def test_what_is_not_read_back_for_a_nul_character_is_told(tmp_path: Path, name: str, choices: Choices) -> None:
    done = export(one_to_one(["id", "a\0b"]), EXPORTS[name], tmp_path / "a", choices)
    (told_,) = [each for each in done.says if "NUL" in each]
    assert told_.startswith("2 cells hold a NUL character")
    with pytest.raises(SchemaError, match="NUL"):
        read_table(tmp_path / "a")


def test_a_name_that_begins_with_an_apostrophe_stays_itself_in_a_row_that_does_not_say_it_is_safe(
    tmp_path: Path,
) -> None:
    document = unmapped(one_to_one(["=x", "'=x", "''=x"]))
    header = "schema,schema_version,attribute,entity,entity_version,cdm_attribute"
    row = escape("=x") + ",=x,{0}," + escape("=x") + ",=x,{0}"
    for more, mark, read in (("", "", "'=x"), (",safe_cells", ",", "'=x"), (",safe_cells", ",YES ", "=x")):
        (tmp_path / "a.csv").write_text(f"{header}{more}\n{row.format(chr(39) + '=x')}{mark}\n")
        (found,) = read_table(tmp_path / "a.csv").rows
        assert (found.attribute, found.cdm_attribute) == (read, read)
        assert plan_mapping(document, read_table(tmp_path / "a.csv"), MapMode.ADD, take_proposal=False).changed == 1


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "'=x", "plain"])
def test_what_the_window_copies_is_safe_for_a_spreadsheet_and_pasted_back_exactly(name: str) -> None:
    document = one_to_one([name])
    (block,) = document.matrix.blocks()
    text = snippet(document, {block.key: block.elements})
    assert not any(cell.startswith("=") for row in csv.reader(text.splitlines(), delimiter="\t") for cell in row)
    assert ("safe_cells" in text) is (name == "=cmd|' /C calc'!A0")
    done = plan_paste(unmapped(document), text, None)
    assert (done.changed, done.conflicts) == (1, ())
