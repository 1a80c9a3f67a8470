"""``metl suggest``: its document, what it sets, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from metl_gui import packaged
from metl_gui.cli.main import main
from metl_gui.core.matrix.blocks import Status
from metl_gui.workbench.session import Workbench

Metl = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def metl(capsys: pytest.CaptureFixture[str]) -> Metl:
    """Run a command with --json; gives the exit code, the document and what was said beside it."""

    def run(*arguments: object) -> tuple[int, Any, str]:
        try:
            code = main([*(str(argument) for argument in arguments), "--json"])
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else None, said.err

    return run


@pytest.fixture
def project(trees: Path) -> Path:
    """The trees of the sample, nothing mapped."""
    return trees


def state(path: Path) -> int:
    with Workbench.open(path, for_editing=False) as workbench:
        return workbench.document.state


def test_the_document_has_a_block_an_element_a_score_and_a_reason_best_first_within_each_block(
    metl: Metl, project: Path
) -> None:
    code, document, _ = metl("suggest", project)
    found = document["suggestions"]
    assert code == 0
    assert len(found) > 40
    assert set(found[0]) == {"block", "element", "score", "reason", "best"}
    assert set(found[0]["block"]) == {"schema", "version", "entity", "entity_version"}
    assert set(found[0]["element"]) == {"from", "to"}
    for _, block in groupby(found, key=lambda each: tuple(each["block"].values())):
        scores = [each["score"] for each in block]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)


def test_asking_changes_nothing(metl: Metl, project: Path) -> None:
    before = state(project)
    assert metl("suggest", project)[1]["state"] == before
    assert state(project) == before


def test_a_schema_an_entity_and_a_version_name_one_block(metl: Metl, project: Path) -> None:
    _, document, _ = metl("suggest", project, "--schema", "fx.payments.orders", "--entity", "payment", "--version", "2")
    blocks = {tuple(each["block"].values()) for each in document["suggestions"]}
    assert blocks == {("fx.payments.orders", "2", "payment", "2.0.0")}
    best = {each["element"]["to"]: each["element"]["from"] for each in document["suggestions"] if each["best"]}
    assert best["amount"] == "amount"


def test_an_entity_alone_names_the_schemas_that_are_alike(metl: Metl, project: Path) -> None:
    _, document, _ = metl("suggest", project, "--entity", "customer")
    assert {each["block"]["entity"] for each in document["suggestions"]} == {"customer"}
    assert "fx.customers.person" in {each["block"]["schema"] for each in document["suggestions"]}


def test_accepting_the_best_is_one_unconfirmed_step_that_undo_takes_back(metl: Metl, project: Path) -> None:
    before = state(project)
    code, document, _ = metl("suggest", project, "--accept-best", "0.9")
    assert code == 0
    assert document["set"] > 20
    assert document["state"] == before + 1
    with Workbench.open(project, for_editing=False) as workbench:
        blocks = list(workbench.document.matrix.blocks())
        assert {block.status for block in blocks} == {Status.UNCONFIRMED}
        assert sum(len(block.elements) for block in blocks) == document["set"]
    assert metl("undo", project)[0] == 0
    with Workbench.open(project, for_editing=False) as workbench:
        assert workbench.document.matrix.ones == 0


def test_a_lost_element_is_not_answered_by_accepting_the_best(metl: Metl, project: Path) -> None:
    fx = packaged.sample_projects() / "fx"
    assert metl("map", project, "--csv", fx / "mapping.csv")[0] == 0
    assert metl("import", project, "--tree", "extraction", fx / "waiting")[0] == 0
    waiting = metl("review", project, "--list")[1]["items"]
    lost = {each["to"] for item in waiting for each in item["lost"]}
    found = metl("suggest", project, "--schema", "fx.payments.orders", "--accept-best", "0.01")[1]
    assert lost & {each["element"]["to"] for each in found["suggestions"] if each["best"]}
    after = metl("review", project, "--list")[1]["items"]
    assert [item["lost"] for item in after] == [item["lost"] for item in waiting]


def test_accepting_more_than_there_is_makes_no_state(metl: Metl, project: Path) -> None:
    before = state(project)
    assert metl("suggest", project, "--accept-best", "1.0")[1]["set"] == 0
    assert state(project) == before


def test_what_was_refused_is_neither_suggested_nor_accepted(metl: Metl, project: Path) -> None:
    from metl_gui.workbench.mapping.suggestions import SuggestionQuery, refusal_of, suggest

    with Workbench.open(project) as workbench:
        found = suggest(workbench.document, SuggestionQuery("fx.customers.person", "customer")).suggestions[0]
        refused = refusal_of(workbench.document, found.key, found.element)
        assert refused is not None
        workbench.refuse_suggestions([refused])
    pair = {"from": found.names.from_path, "to": found.names.to_path}
    for version in ("1", "7"):
        arguments = ("--schema", "fx.customers.person", "--entity", "customer", "--version", version)
        elements = [each["element"] for each in metl("suggest", project, *arguments)[1]["suggestions"]]
        assert pair not in elements
        assert elements
    with Workbench.open(project) as workbench:
        workbench.kept.refused_suggestions.remove([refused])
        assert workbench.kept.refused_suggestions.all() == ()
    again = metl("suggest", project, "--schema", "fx.customers.person", "--entity", "customer")[1]["suggestions"]
    assert pair in [each["element"] for each in again]


@pytest.mark.parametrize("number", ["nan", "inf", "0", "-1", "1.01", "abc", "", "0x1", "90%"])
def test_a_score_that_is_none_is_wrong_usage(metl: Metl, project: Path, number: str) -> None:
    code, _, said = metl("suggest", project, f"--accept-best={number}")
    assert code == 2
    assert "--accept-best" in said


def test_a_version_without_its_schema_is_wrong_usage(metl: Metl, project: Path) -> None:
    assert metl("suggest", project, "--version", "2")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--schema", "fx.customers.persn"), "fx.customers.person"),
        (("--entity", "custmer"), "customer"),
        (("--schema", "fx.payments.orders", "--version", "99"), "It has"),
        (("--schema", ""), "There is no schema"),
        (("--entity", "\u202ex\x1b[2J"), "There is no entity"),
    ],
)
def test_a_name_that_is_not_known_ends_with_1_and_near_names(
    metl: Metl, project: Path, arguments: tuple[str, ...], named: str
) -> None:
    code, _, said = metl("suggest", project, *arguments)
    assert code == 1
    assert named in said
    assert "\x1b" not in said


def test_an_empty_project_gets_no_suggestions(metl: Metl, tmp_path: Path) -> None:
    metl("new", tmp_path / "empty.metl")
    code, document, _ = metl("suggest", tmp_path / "empty.metl", "--accept-best", "0.5")
    assert (code, document["suggestions"], document["set"]) == (0, [], 0)


def test_the_lines_say_what_is_best_and_that_nothing_was_set(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suggest", str(project), "--schema", "fx.customers.person"]) == 0
    said = capsys.readouterr().out
    assert "* email -> email  (same name)" in said
    assert "Nothing was set" in said


def test_a_least_score_lists_what_is_scored_so_or_more_of_all_schemas(metl: Metl, project: Path) -> None:
    everything = metl("suggest", project)[1]["suggestions"]
    listed = metl("suggest", project, "--min-score", "0.9")[1]["suggestions"]
    assert listed == [each for each in everything if each["score"] >= 0.9]
    assert 0 < len(listed) < len(everything)
    assert len({each["block"]["schema"] for each in listed}) > 1


def test_all_versions_sets_the_best_in_older_versions_too(metl: Metl, project: Path) -> None:
    alone = metl("suggest", project, "--accept-best", "0.9")[1]["set"]
    assert metl("undo", project)[0] == 0
    document = metl("suggest", project, "--accept-best", "0.9", "--all-versions")[1]
    assert document["set"] > alone
    with Workbench.open(project, for_editing=False) as workbench:
        assert workbench.document.matrix.ones == document["set"]


def test_all_versions_without_accepting_is_wrong_usage(metl: Metl, project: Path) -> None:
    assert metl("suggest", project, "--all-versions")[0] == 2
