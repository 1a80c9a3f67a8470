"""The commands ``diff`` and ``merge``: what they say, their documents, their exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.cli.main import main
from metl_gui.workbench.session import Workbench
from tests.unit.cli.test_commands import Metl, metl
from tests.unit.workbench.conftest import fill, write_table

__all__ = ["metl"]
BOTH_SIDES = "theirs maps customer_id to payer_id, ours maps legacy to payer_id; ours was kept."


@pytest.fixture
def project(metl: Metl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A published project, and an element more since."""
    monkeypatch.chdir(tmp_path)
    path = Path("pay.metl")
    with Workbench.create(path) as workbench:
        fill(workbench)
    map_rows(metl, path, "fx.pay.orders,1,id,payment,1,payment_id")
    assert metl("publish", path, "--name", "first")[0] == 0
    map_rows(metl, path, "fx.pay.orders,1,amount,payment,1,amount")
    return path


def map_rows(metl: Metl, project: Path, *rows: str) -> None:
    assert metl("map", project, "--csv", write_table(Path.cwd(), *rows))[0] == 0


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str]]:
    """Run a command and return its exit code and lines."""
    code = main([str(argument) for argument in arguments])
    return code, capsys.readouterr().out.splitlines()


def test_a_project_alone_is_compared_with_what_is_live(metl: Metl, project: Path) -> None:
    code, document, _ = metl("diff", project)
    block = {"schema": "fx.pay.orders", "version": "1", "entity": "payment", "entity_version": "1"}
    assert code == 0
    (found,) = document["blocks"]
    assert (found["block"], found["verdict"]) == (block, "first")
    assert found["added"] == [{"from": "amount", "to": "amount"}]
    assert found["removed"] == []
    assert document["trees"] == []
    assert document["before"].endswith("live)")


@pytest.mark.parametrize("before", ["pay.metl@live", "pay.metl@first", "pay.metl@5"])
def test_a_state_is_named_by_its_number_its_name_or_as_live(metl: Metl, project: Path, before: str) -> None:
    assert metl("diff", before, project)[1]["blocks"] == metl("diff", project)[1]["blocks"]


def test_the_text_groups_elements_under_schema_and_entity_with_signs(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = said(capsys, "diff", project)
    assert code == 0
    assert lines == [
        "pay.metl (state 5, live) → pay.metl (state 6)",
        "Mapping",
        "  fx.pay.orders → payment",
        "    ~ version 1 → version 1: 1 element kept",
        "      + amount → amount",
        "1 element added, 1 block changed.",
    ]


def test_only_the_exit_code_that_was_asked_for_tells_of_a_difference(metl: Metl, project: Path) -> None:
    assert metl("diff", project)[0] == 0
    assert metl("diff", project, "--exit-code")[0] == 3
    assert metl("diff", project, project, "--exit-code")[0] == 0


def test_an_export_compares_with_the_project_it_came_from(metl: Metl, project: Path) -> None:
    assert metl("export", project, "--format", "json", "-o", "pay.json")[0] == 0
    assert metl("export", project, "--format", "dusb", "-o", "pay.dusb")[0] == 0
    assert metl("diff", "pay.json", f"{project}@live", "--exit-code")[0] == 0
    assert metl("diff", "pay.dusb", "pay.json", "--exit-code")[0] == 0
    assert metl("diff", "pay.json", project)[1]["blocks"] == metl("diff", project)[1]["blocks"]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pay.metl@frist", "pay.metl"], "Did you mean first?"),
        (["pay.metl@99", "pay.metl"], "state 99"),
        (["nowhere.metl", "pay.metl"], "nowhere.metl cannot be read"),
        (["x" * 300 + "@3", "pay.metl"], "cannot be read"),
        (["rows.csv", "pay.metl"], "line 1"),
        (["rows.csv"], "metl diff BEFORE AFTER"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_way_out(metl: Metl, arguments: list[str], words: str) -> None:
    Path("rows.csv").write_text("schema,entity\n")
    code, _, told = metl("diff", *arguments)
    assert code == 1
    assert words in told


def test_of_two_exports_the_one_that_cannot_be_read_is_named(metl: Metl, project: Path, tmp_path: Path) -> None:
    metl("export", project, "--format", "json", "-o", tmp_path / "good.json")
    (tmp_path / "bad.json").write_text("{}")
    for pair in (("good.json", "bad.json"), ("bad.json", "good.json")):
        code, _, said = metl("diff", *(tmp_path / name for name in pair))
        assert code == 1
        assert "error: bad.json: " in said


def test_a_file_with_an_at_sign_is_that_file(metl: Metl, project: Path) -> None:
    odd = Path("pay@5")
    odd.write_bytes(project.read_bytes())
    assert metl("diff", odd, project, "--exit-code")[0] == 0


def test_text_for_git_has_one_element_a_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = said(capsys, "diff", "--textconv", project)
    assert code == 0
    assert [line.strip().rstrip(",") for line in lines if '"from"' in line] == [
        '{"from": "amount", "to": "amount"}',
        '{"from": "id", "to": "payment_id"}',
    ]


def test_a_merge_with_conflicts_ends_with_3_and_says_both_sides(
    metl: Metl, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ours.metl", "theirs.metl"):
        Path(name).write_bytes(project.read_bytes())
    map_rows(metl, Path("ours.metl"), "fx.pay.orders,1,legacy,payment,1,payer_id")
    map_rows(metl, Path("theirs.metl"), "fx.pay.orders,1,customer_id,payment,1,payer_id")
    code, document, _ = metl("merge", project, "ours.metl", "theirs.metl", "-o", "both.metl")
    assert code == 3
    assert document["output"] == "both.metl"
    assert document["needs_review"] == 1
    (conflict,) = document["conflicts"]
    assert conflict["block"]["entity"] == "payment"
    assert conflict["element"] == {"from": "customer_id", "to": "payer_id"}
    code, lines = said(capsys, "merge", project, "ours.metl", "theirs.metl")
    assert code == 3
    assert lines[-2:] == [
        f"  ! fx.pay.orders 1 → payment 1: {BOTH_SIDES}",
        "They wait in the review list: metl review ours.metl --list",
    ]


def test_a_merge_without_conflicts_ends_with_0(metl: Metl, project: Path) -> None:
    for name in ("ours.metl", "theirs.metl"):
        Path(name).write_bytes(project.read_bytes())
    map_rows(metl, Path("theirs.metl"), "fx.pay.orders,1,customer_id,payment,1,payer_id")
    code, document, _ = metl("merge", project, "ours.metl", "theirs.metl", "--name", "branch")
    assert (code, document["conflicts"]) == (0, [])
    assert metl("history", "ours.metl")[1]["states"][0]["title"] == "Merge branch"
    assert metl("diff", "ours.metl", "theirs.metl", "--exit-code")[0] == 0


@pytest.fixture
def commented(metl: Metl, project: Path) -> Path:
    """A copy of the project in which somebody said something and nothing else."""
    copy = Path("said.metl")
    copy.write_bytes(project.read_bytes())
    assert metl("comment", copy, "fx.pay.orders.amount", "net\nor gross?")[0] == 0
    return copy


def test_a_comment_alone_is_a_difference_of_two_projects(
    metl: Metl, project: Path, commented: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document, _ = metl("diff", project, commented, "--exit-code")
    assert (code, document["blocks"], document["trees"]) == (3, [], [])
    (found,) = document["beside"]
    assert (found["kind"], found["before"], found["after"]) == ("comment", None, "net\nor gross?")
    assert found["place"].startswith("fx.pay.orders, amount (")
    assert found["who"]
    code, lines = said(capsys, "diff", commented, project)
    assert (lines[1:3], lines[-1]) == (["Beside the states", "  comment"], "1 change beside the states.")
    assert lines[3].startswith("    - fx.pay.orders, amount (")
    assert lines[3].endswith(": net or gross?")
    assert metl("diff", commented, commented, "--exit-code")[0] == 0


@pytest.mark.usefixtures("project")
def test_a_state_has_no_part_in_what_lies_beside_the_states(metl: Metl, commented: Path) -> None:
    assert metl("diff", "pay.metl@6", commented, "--exit-code")[0] == 0
    assert metl("diff", "pay.metl", f"{commented}@6", "--exit-code")[0] == 0


def test_text_for_git_shows_what_lies_beside_the_states_one_thing_a_line(
    commented: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, lines = said(capsys, "diff", "--textconv", commented)
    (line,) = (line for line in lines if '"kind": "comment"' in line)
    assert '"says": "net\\nor gross?"' in line


def test_text_for_git_tells_signs_apart_that_end_a_line_for_python_alone(
    metl: Metl, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []
    for sign in ("\u2028", "\x85"):
        assert metl("comment", project, "fx.pay.orders.amount", f"net{sign}gross")[0] == 0
        _, lines = said(capsys, "diff", "--textconv", project)
        shown.append([line for line in lines if "net" in line or "gross" in line])
    assert shown[0] != shown[1]
    assert "net\\u2028gross" in shown[0][0]


def test_a_merge_tells_what_came_beside_the_states_and_what_was_left(
    metl: Metl, project: Path, commented: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("ours.metl").write_bytes(project.read_bytes())
    assert metl("publish", commented, "--name", "July")[0] == 0
    code, document, _ = metl("merge", project, "ours.metl", commented, "-o", "both.metl")
    assert (code, document["state"], document["conflicts"]) == (0, 6, [])
    assert [(each["kind"], each["after"]) for each in document["beside"]] == [
        ("state name", "July"),
        ("comment", "net\nor gross?"),
    ]
    assert [(each["kind"], each["place"]) for each in document["left"]] == [("publications", "1 more")]
    code, lines = said(capsys, "merge", project, "ours.metl", commented)
    assert code == 0
    assert "Left in theirs:" in lines
    assert metl("diff", "ours.metl", commented, "--exit-code")[0] == 0


def test_a_merge_of_project_settings_that_are_at_odds_ends_with_3(
    metl: Metl, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, kept in (("ours.metl", 20), ("theirs.metl", 30)):
        Path(name).write_bytes(project.read_bytes())
        assert metl("set", name, f"kept_runs={kept}")[0] == 0
    code, document, _ = metl("merge", project, "ours.metl", "theirs.metl")
    assert code == 3
    assert document["conflicts"] == [
        {
            "kind": "project setting",
            "place": "kept_runs",
            "reason": "Ours says 20, theirs 30; ours is kept.",
            "block": None,
            "element": None,
        }
    ]
    code, lines = said(capsys, "merge", project, "ours.metl", "theirs.metl")
    assert lines[-2:] == [
        "  ! kept_runs: Ours says 20, theirs 30; ours is kept.",
        "Settings, names, samples and who decides wait in no list: change them where theirs is right.",
    ]
