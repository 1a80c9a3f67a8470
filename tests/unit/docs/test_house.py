"""What stands around the code says what CI does."""

from __future__ import annotations

import re

import yaml

from tests.helpers import documents

CI = (documents.ROOT / ".ci" / "run").read_text("utf-8")
HOUSE = documents.ROOT / ".github"


def test_the_checks_before_a_commit_are_those_of_ci_in_their_order() -> None:
    found = yaml.safe_load((documents.ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    entries = [hook["entry"] for repository in found["repos"] for hook in repository["hooks"]]
    steps = re.findall(r"^ *(?:\w+=\S+ )?(\.venv/bin/(?!python|metl)[^>\n]*[^>\s])(?: >.*)?$", CI, re.MULTILINE)
    assert entries == steps


def test_the_workflow_runs_what_ci_runs_and_nothing_else() -> None:
    workflow = yaml.safe_load((HOUSE / "workflows" / "ci.yml").read_text("utf-8"))
    (job,) = workflow["jobs"].values()
    assert job["steps"][-1] == {"run": ".ci/run"}


def test_the_forms_of_issues_ask_for_something() -> None:
    forms = [yaml.safe_load(path.read_text("utf-8")) for path in sorted((HOUSE / "ISSUE_TEMPLATE").glob("*.yml"))]
    asked = [
        form["name"]
        for form in forms
        if any(field["validations"]["required"] for field in form.get("body", []) if "validations" in field)
    ]
    assert len(asked) == len(forms) - 1
