"""Projects and exports in a real git repository: the merge driver merges by meaning, and diffs show elements."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from metl_gui.cli.main import main
from metl_gui.workbench.session import Workbench
from tests.unit.workbench.conftest import HEADER, fill

Git = Callable[..., "subprocess.CompletedProcess[str]"]
METL = f"{sys.executable} -m metl_gui.cli.main"
FX = Path(__file__).parents[2] / "sample_projects" / "fx"
ATTRIBUTES = "*.metl merge=metl diff=metl\n*.metl.json merge=metl\n"


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Run git in a new repository that has the driver."""
    monkeypatch.chdir(tmp_path)
    environment = os.environ | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "tess",
        "GIT_AUTHOR_EMAIL": "tess@example.org",
        "GIT_COMMITTER_NAME": "tess",
        "GIT_COMMITTER_EMAIL": "tess@example.org",
        "METL_USER": "tess",
    }

    def run(*arguments: str, expected: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == expected, done.stdout + done.stderr
        return done

    run("init", "-q", "-b", "main")
    run("config", "merge.metl.name", "METL Workbench")
    run("config", "merge.metl.driver", f"{METL} merge %O %A %B --name=%P")
    run("config", "diff.metl.textconv", f"{METL} diff --textconv --")
    (tmp_path / ".gitattributes").write_text(ATTRIBUTES)
    run("add", ".gitattributes")
    return run


def metl(*arguments: str | Path, expected: int = 0) -> str:
    """Run the program here and return what it says; git runs it as a program."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main([str(argument) for argument in arguments]) == expected
    return said.getvalue()


def map_rows(project: Path, *rows: str, replace: bool = False) -> None:
    table = project.with_suffix(".csv")
    table.write_text(HEADER + "\n".join(rows) + "\n")
    metl("map", project, "--csv", table, *(["--replace"] if replace else []))
    table.unlink()


def elements(project: Path | str) -> set[tuple[str, str, str]]:
    """Every element of a project or export, against nothing."""
    empty = Path("empty.metl")
    if not empty.exists():
        metl("new", empty)
    blocks = json.loads(metl("diff", empty, project, "--json"))["blocks"]
    return {(b["block"]["entity"], e["from"], e["to"]) for b in blocks for e in b["added"]}


@pytest.fixture
def project(git: Git) -> Path:
    """A committed project, and a branch on which somebody mapped more."""
    path = Path("pay.metl")
    with Workbench.create(path) as workbench:
        fill(workbench)
    map_rows(path, "fx.pay.orders,1,id,payment,1,payment_id")
    git("add", "pay.metl")
    git("commit", "-qm", "base")
    git("checkout", "-qb", "theirs")
    map_rows(path, "fx.pay.orders,1,customer_id,payment,1,payer_id", "fx.pay.orders,1,amount,payment,1,amount")
    git("commit", "-qam", "theirs")
    git("checkout", "-q", "main")
    return path


def test_git_merges_what_two_branches_mapped_in_one_block(git: Git, project: Path) -> None:
    map_rows(project, "fx.pay.orders,1,legacy,payment,1,legacy_code")
    git("commit", "-qam", "ours")
    git("merge", "-q", "--no-edit", "theirs")
    assert elements(project) == {
        ("payment", "id", "payment_id"),
        ("payment", "legacy", "legacy_code"),
        ("payment", "customer_id", "payer_id"),
        ("payment", "amount", "amount"),
    }
    assert git("status", "--porcelain", "--untracked-files=no").stdout == ""
    newest = json.loads(metl("history", project, "--json"))["states"][0]
    assert (newest["title"], newest["who"]) == ("Merge pay.metl", newest["who"])
    metl("undo", project)
    assert ("payment", "amount", "amount") not in elements(project)


def test_git_stops_at_a_conflict_which_waits_in_the_review_list(git: Git, project: Path) -> None:
    map_rows(project, "fx.pay.orders,1,legacy,payment,1,amount")
    git("commit", "-qam", "ours")
    done = git("merge", "--no-edit", "theirs", expected=1)
    assert "CONFLICT" in done.stdout
    kept = elements(project)
    assert ("payment", "legacy", "amount") in kept
    assert ("payment", "customer_id", "payer_id") in kept
    items = json.loads(metl("review", project, "--list", "--json"))["items"]
    assert [loss["reason"] for item in items for loss in item["lost"]] == [
        "theirs maps amount to amount, ours maps legacy to amount; ours was kept"
    ]
    metl("review", project, "--accept-loss", "fx.pay.orders@1:payment@1", "amount")
    assert json.loads(metl("review", project, "--list", "--json"))["items"] == []
    git("add", "pay.metl")
    git("commit", "-qm", "merged")


def test_git_merges_exports_and_shows_their_elements_line_by_line(git: Git, project: Path) -> None:
    export = "pay.metl.json"

    def write(message: str) -> None:
        metl("publish", project)
        metl("export", project, "--format", "json", "-o", export)
        git("add", export, str(project))
        git("commit", "-qm", message)

    write("exported")
    git("checkout", "-qb", "one")
    map_rows(project, "fx.pay.orders,1,customer_id,payment,1,payer_id")
    write("one")
    git("checkout", "-q", "main")
    git("checkout", "-qb", "two")
    map_rows(project, "fx.pay.orders,1,amount,refund,1,amount")
    write("two")
    git("merge", "-q", "--no-edit", "one")
    assert (
        elements(export)
        == elements(project)
        == {
            ("payment", "id", "payment_id"),
            ("payment", "customer_id", "payer_id"),
            ("refund", "amount", "amount"),
        }
    )
    shown = git("diff", "two~1", "two", "--", export).stdout
    assert '+    {"from": "customer_id", "to": "payer_id"}' in shown


def test_git_shows_the_elements_of_a_project_that_changed(git: Git, project: Path) -> None:
    shown = git("diff", "main", "theirs", "--", str(project)).stdout
    assert '+    {"from": "customer_id", "to": "payer_id"}' in shown
    assert '-    {"from": "id", "to": "payment_id"}' not in shown


def test_git_merges_a_project_whose_name_begins_with_a_dash_and_shows_it(git: Git, project: Path) -> None:
    odd = Path("-x.metl")
    git("mv", "--", str(project), str(odd))
    git("commit", "-qm", "renamed")
    git("checkout", "-q", "theirs")
    git("mv", "--", str(project), str(odd))
    git("commit", "-qm", "renamed")
    git("checkout", "-q", "main")
    map_rows(odd.absolute(), "fx.pay.orders,1,legacy,payment,1,legacy_code")
    assert '+    {"from": "legacy", "to": "legacy_code"}' in git("diff", "--", str(odd)).stdout
    git("commit", "-qam", "ours")
    git("merge", "-q", "--no-edit", "theirs")
    assert {("payment", "legacy", "legacy_code"), ("payment", "amount", "amount")} <= elements(odd.absolute())
    assert json.loads(metl("history", odd.absolute(), "--json"))["states"][0]["title"] == "Merge -x.metl"


def test_the_guide_gives_the_driver_that_these_tests_use(git: Git) -> None:
    text = (Path(__file__).parents[2] / "docs" / "guide" / "teams.md").read_text()
    for name in ("merge.metl.driver", "diff.metl.textconv"):
        ours = git("config", name).stdout.strip().replace(METL, "metl")
        assert f'git config {name} "{ours}"' in text


@pytest.fixture
def fx(git: Git) -> Path:
    """The sample project, committed, with a branch ``theirs`` on which nothing has happened yet."""
    path = Path("fx.metl")
    metl("new", path)
    metl("import", path, "--tree", "extraction", FX / "schemas")
    metl("import", path, "--tree", "cdm", FX / "cdm")
    metl("map", path, "--csv", FX / "mapping.csv")
    git("add", str(path))
    git("commit", "-qm", "base")
    git("branch", "theirs")
    return path


def project_settings(project: Path) -> dict[str, str]:
    with Workbench.open(project, for_editing=False) as workbench:
        return workbench.kept.settings.all()


def test_git_merges_what_two_branches_decided_beside_the_states_of_a_real_project(git: Git, fx: Path) -> None:
    metl("comment", fx, "fx.payments.orders.amount", "in which currency?")
    git("commit", "-qam", "ours")
    git("checkout", "-q", "theirs")
    metl("comment", fx, "fx.customers.person", "who asks for notes?")
    metl("set", fx, "second_person_confirms=yes")
    git("commit", "-qam", "theirs")
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-edit", "theirs")
    said = json.loads(metl("comment", fx, "--json"))["comments"]
    assert {each["text"] for each in said} == {"in which currency?", "who asks for notes?"}
    assert project_settings(fx) == {"second_person_confirms": "yes"}
    shown = git("diff", "main~1", "main", "--", str(fx)).stdout
    assert '"says": "who asks for notes?"' in shown


def test_git_stops_where_two_branches_set_a_project_differently(git: Git, fx: Path) -> None:
    metl("set", fx, "kept_runs=20")
    git("commit", "-qam", "ours")
    git("checkout", "-q", "theirs")
    metl("set", fx, "kept_runs=30")
    git("commit", "-qam", "theirs")
    git("checkout", "-q", "main")
    done = git("merge", "--no-edit", "theirs", expected=1)
    assert "CONFLICT" in done.stdout
    assert "kept_runs: Ours says 20, theirs 30; ours is kept." in done.stdout + done.stderr
    assert project_settings(fx) == {"kept_runs": "20"}
