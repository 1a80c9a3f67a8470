"""The check that a repository of exports runs in its CI: the very shell script, in a real git repository."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from metl_gui.packaged import sample_projects
from metl_gui.workbench.exports.files import export_published
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.session import Workbench
from tests.unit.workbench.conftest import fill, write_table

SAMPLE = sample_projects() / "git"
EXPORT = Path("mappings") / "payments.json"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository with the example in it, committed to ``main``."""
    place = tmp_path / "repository"
    shutil.copytree(SAMPLE, place)
    for name, value in {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "tess",
        "GIT_AUTHOR_EMAIL": "tess@example.org",
        "GIT_COMMITTER_NAME": "tess",
        "GIT_COMMITTER_EMAIL": "tess@example.org",
        "METL": f"{sys.executable} -m metl_gui.cli.main",
        "METL_USER": "tess",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("GITHUB_ACTIONS", "GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "BASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(place)
    for command in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "exports")):
        subprocess.run(["git", *command], check=True)
    return place


def check(expected: int, **environment: str) -> str:
    """Run the script and return what it said."""
    done = subprocess.run(
        ["sh", "check-exports.sh"], capture_output=True, text=True, env=os.environ | environment, check=False
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_good_repository_passes_and_a_change_is_told_by_its_elements(repository: Path) -> None:
    assert "nothing would be lost" in check(0)
    subprocess.run(["git", "checkout", "-q", "-b", "change"], check=True)
    with Workbench.create(repository / "other.metl") as other:
        fill(other)
        publish(other)
        export_published(other, EXPORTS["json"], repository / EXPORT)
    said = check(0, BASE="main", SCHEMAS="none")
    assert "mappings/payments.json since main" in said
    assert "| 32 elements removed, 4 blocks changed, 10 changes of schemas and entities." in said


def test_damage_is_found_whether_the_file_ends_early_or_one_word_was_changed(repository: Path) -> None:
    whole = (repository / EXPORT).read_text(encoding="utf-8")
    (repository / EXPORT).write_text(whole[: len(whole) // 2], encoding="utf-8")
    assert "error export.damaged payments.json: The file is not valid JSON." in check(3)
    swapped = whole.replace('"legacy_code", "to": "legacy_code"', '"legacy_code", "to": "memo"', 1)
    changed = swapped.replace('"memo", "to": "memo"', '"memo", "to": "legacy_code"', 1)
    assert changed != whole
    (repository / EXPORT).write_text(changed, encoding="utf-8")
    said = check(3, GITHUB_ACTIONS="true")
    assert "::error file=mappings/payments.json::export.changed payments.json: It was changed after" in said
    odd = (repository / EXPORT).rename(repository / "mappings" / "a|e, 5% & b\\1.json")
    said = check(3, GITHUB_ACTIONS="true")
    assert (
        f"::error file=mappings/a|e%2C 5%25 & b\\1.json::export.changed {odd.name.replace('%', '%25')}: It was" in said
    )
    odd.rename(repository / EXPORT)
    (repository / EXPORT).write_text(f"<<<<<<< HEAD\n{whole}", encoding="utf-8")
    assert "marks of a merge" in check(3)


def test_a_schema_that_would_take_something_away_is_refused_by_the_names_of_what_is_lost(repository: Path) -> None:
    shutil.copy(sample_projects() / "fx" / "waiting" / "fx.payments.orders.jsonl", repository / "schemas")
    said = check(3)
    assert "It would lose 2 of 8 elements: customer_id -> payer_id, legacy_code -> legacy_code." in said
    assert "Perhaps customer_id is called customer_ref there" in said


def test_an_export_that_lags_behind_its_project_is_refused_until_it_is_exported_again(repository: Path) -> None:
    place = repository / "mappings" / "pay.json"
    with Workbench.create(place.with_suffix(".metl")) as workbench:
        fill(workbench)
        import_table(workbench, repository, "fx.pay.orders,1,id,payment,1,payment_id")
        publish(workbench)
        export_published(workbench, EXPORTS["json"], place)
        check(0)
        import_table(workbench, repository, "fx.pay.orders,1,amount,payment,1,amount")
        publish(workbench)
        said = check(3)
        assert "It shows state 5, and pay.metl has published state 6 since: 1 difference." in said
        assert "fx.pay.orders@1:payment@1: The project has: + amount -> amount." in said
        export_published(workbench, EXPORTS["json"], place)
        check(0)


def test_a_repository_without_any_export_and_a_program_that_is_not_there_fail_too(repository: Path) -> None:
    check(1, METL="no-such-program-here")
    (repository / EXPORT).unlink()
    assert "There is no export in mappings/" in check(1)


def test_the_example_is_what_its_script_makes(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("make_git_sample", SAMPLE / "make.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.make(tmp_path)
    for file in (EXPORT, Path("schemas") / "fx.payments.orders.jsonl"):
        assert (tmp_path / file).read_bytes() == (SAMPLE / file).read_bytes()


@pytest.mark.parametrize("file", ["github-actions.yml", "gitlab-ci.yml"])
def test_the_workflows_are_read_as_yaml_and_run_the_script(file: str) -> None:
    content = yaml.safe_load((SAMPLE / file).read_text(encoding="utf-8"))
    jobs = content.get("jobs", content)
    (job,) = jobs.values()
    steps = job.get("script") or [step["run"] for step in job["steps"] if "run" in step]
    assert steps[-1] == "sh check-exports.sh"


def import_table(workbench: Workbench, folder: Path, line: str) -> None:
    assert import_mapping(workbench, write_table(folder, line)).conflicts == ()
