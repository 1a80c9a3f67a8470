"""Everything that the window decides, from the command line: filters, assignments, refusals, the answer sheet."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from metl_gui.cli.main import main

from .test_commands import ORDERS, PAYMENT, Metl, add_waiting, metl, project

__all__ = ["metl", "project"]


@pytest.fixture
def waiting(metl: Metl, project: Path) -> Path:
    """A project with two decisions that wait."""
    add_waiting(metl, project)
    return project


def blocks(metl: Metl, project: Path, *filters: object) -> list[str]:
    """List what waits, by entity."""
    return [item["block"]["entity"] for item in metl("review", project, "--list", *filters)[1]["items"]]


def test_the_list_is_limited_by_schema_entity_verdict_age_person_and_text(metl: Metl, waiting: Path) -> None:
    everything = blocks(metl, waiting)
    assert len(everything) == 2
    assert "payment" in everything
    assert blocks(metl, waiting, "--entity", "PAYM") == ["payment"]
    assert blocks(metl, waiting, "--schema", "orders") == everything
    assert blocks(metl, waiting, "--schema", "persons") == []
    assert blocks(metl, waiting, "--verdict", "emptied") == []
    assert blocks(metl, waiting, "--older-than", "7") == []
    assert blocks(metl, waiting, "--assigned", "nobody") == everything
    assert blocks(metl, waiting, "--text", "customer_id") == ["payment"]


def test_who_is_to_decide_is_said_listed_and_taken_back(metl: Metl, waiting: Path) -> None:
    code, done, _ = metl("review", waiting, "--assign", PAYMENT, "--to", "Bob  Example")
    assert (code, done["assigned"], done["assigned_to"]) == (0, 1, "Bob Example")
    listed = metl("review", waiting)[1]["items"]
    assert sorted(item["assigned_to"] for item in listed) == ["", "Bob Example"]
    assert blocks(metl, waiting, "--assigned", "bob") == ["payment"]
    metl("review", waiting, "--assign", PAYMENT, "--to", "")
    assert blocks(metl, waiting, "--assigned", "bob") == []
    assert metl("review", waiting, "--assign", f"{ORDERS}@4:payment@2.0.0", "--to", "Bob")[0] == 1


def test_a_refused_name_is_not_proposed_again(metl: Metl, waiting: Path) -> None:
    def proposed() -> set[tuple[str, str]]:
        items = metl("review", waiting)[1]["items"]
        return {(each["lost"], each["candidate"]) for item in items for each in item["proposals"]}

    assert ("customer_id", "customer_ref") in proposed()
    code, done, _ = metl("review", waiting, "--not-renamed", PAYMENT, "customer_id=customer_ref")
    assert (code, done["title"]) == (0, "Remembered that customer_id is not customer_ref")
    assert ("customer_id", "customer_ref") not in proposed()
    assert metl("review", waiting, "--not-renamed", PAYMENT, "custmer_id=customer_ref")[0] == 1


def test_another_attribute_is_mapped_in_place_of_the_lost_one(metl: Metl, waiting: Path) -> None:
    before = next(item for item in metl("review", waiting)[1]["items"] if item["block"]["entity"] == "payment")
    assert "payer_id" in [lost["to"] for lost in before["lost"]]
    assert metl("review", waiting, "--map", PAYMENT, "customer_ref=payer_id")[0] == 0
    after = next(item for item in metl("review", waiting)[1]["items"] if item["block"]["entity"] == "payment")
    assert {"from": "customer_ref", "to": "payer_id"} in after["kept"]
    assert "payer_id" not in [lost["to"] for lost in after["lost"]]


def test_confirming_all_keeps_to_the_filter_and_several_blocks_are_put_off_at_once(metl: Metl, waiting: Path) -> None:
    entities = blocks(metl, waiting)
    other = next(entity for entity in entities if entity != "payment")
    version = metl("review", waiting, "--entity", other)[1]["items"][0]["block"]["entity_version"]
    both = metl("review", waiting, "--later", PAYMENT, f"{ORDERS}@5:{other}@{version}")[1]
    assert both["title"] == "Decide later on 2 blocks"
    done = metl("review", waiting, "--confirm-all", "any", "--entity", "payment")[1]
    assert (done["decided"], done["needs_review"]) == (1, 1)
    assert blocks(metl, waiting) == [other]


def test_a_sheet_goes_out_and_its_answers_come_back(metl: Metl, waiting: Path, tmp_path: Path) -> None:
    path = tmp_path / "open.xlsx"
    code, made, _ = metl("review", waiting, "--sheet", path, "--entity", "payment")
    assert (code, made["sheet"], made["items"]) == (0, str(path), 1)
    book = openpyxl.load_workbook(path)
    sheet = book["Open decisions"]
    titles = [cell.value for cell in sheet[1]]
    at = next(row for row in range(2, sheet.max_row + 1) if "customer_id" in str(sheet.cell(row, 4).value))
    sheet.cell(at, titles.index("your answer") + 1).value = "renamed to"
    sheet.cell(at, titles.index("new name") + 1).value = "customer_ref"
    book.save(path)
    code, looked, _ = metl("review", waiting, "--answers", path, "--dry-run")
    assert (code, looked["dry_run"], looked["title"], len(looked["answered"])) == (0, True, "", 1)
    code, done, _ = metl("review", waiting, "--answers", path)
    assert (code, done["title"]) == (0, "Take 1 answer from open.xlsx")
    assert done["answered"] == looked["answered"]
    assert done["state"] == looked["state"] + 1
    code, again, _ = metl("review", waiting, "--answers", path)
    assert (code, len(again["ignored"]), again["state"]) == (0, 1, done["state"])


def test_a_row_that_is_not_clear_ends_with_3_and_its_number(
    metl: Metl,
    waiting: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "open.xlsx"
    metl("review", waiting, "--sheet", path)
    book = openpyxl.load_workbook(path)
    sheet = book["Open decisions"]
    titles = [cell.value for cell in sheet[1]]
    sheet.cell(2, titles.index("your answer") + 1).value = "hm"
    book.save(path)
    assert main(["review", str(waiting), "--answers", str(path)]) == 3
    said = capsys.readouterr().out
    assert "row 2: not clear: “hm” is no answer." in said
    assert "0 answers taken, 0 ignored, 1 not clear" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("--assign", PAYMENT),
        ("--to", "Bob"),
        ("--map", PAYMENT),
        ("--not-renamed", PAYMENT),
        ("--dry-run",),
        ("--confirm", PAYMENT, "--entity", "payment"),
        ("--older-than", "0"),
        ("--verdict", "large"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["review", "x.metl", *arguments])
    assert ended.value.code == 2
    assert capsys.readouterr().err
