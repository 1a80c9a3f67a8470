"""Version tasks and replays from the command line: documents, exit codes, and what is refused in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.mapping.plan_compiler import compile_plan
from metl_gui.workbench.importing.version_tasks import collect_tasks
from metl_gui.workbench.session import Workbench
from tests.unit.cli.test_commands import Metl, metl
from tests.unit.workbench.conftest import fill

__all__ = ["metl"]


@pytest.fixture
def errors(tmp_path: Path) -> Path:
    return tmp_path / "errors"


@pytest.fixture
def project(tmp_path: Path, errors: Path) -> Path:
    """A project, and messages of a version that it does not know, set aside."""
    path = tmp_path / "pay.metl"
    with Workbench.create(path) as workbench:
        fill(workbench)
        write(workbench, errors, {"table": "orders"}, {"id": 1, "channel": "web"})
        collect_tasks(workbench, errors, "r1")
    return path


def write(workbench: Workbench, errors: Path, place: dict[str, str], row: dict[str, object]) -> None:
    """Set three messages aside, as a run does."""
    source = {"name": "fx", "schema": "pay", "lsn": 1} | place
    raw = json.dumps({"before": None, "after": row, "source": source, "op": "c", "ts_ms": 1}).encode()
    outcome = Kernel(compile_plan(workbench.document)).map(Records.of([raw] * 3, "in", range(3)))
    assert outcome.set_aside
    for set_aside in outcome.set_aside:
        folder = errors / f"reason={set_aside.reason}"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "part-000000-0.jsonl").open("ab") as part:
            part.write(set_aside.text + b"\n")


def test_the_review_list_names_the_version_that_messages_showed_and_adding_it_takes_it_off(
    metl: Metl, project: Path, errors: Path
) -> None:
    code, document, _ = metl("review", project, "--list")
    (task,) = document["version_tasks"]
    assert (code, task["schema"], task["records"], task["errors"]) == (0, "fx.pay.orders", 3, [str(errors)])
    assert "channel" in task["new_attributes"]
    code, document, _ = metl("review", project, "--add-version", task["id"])
    assert (code, document["added"][0]["name"], document["errors"]) == (0, "fx.pay.orders", [str(errors)])
    assert metl("review", project, "--list")[1]["version_tasks"] == []


def test_a_dismissed_version_is_not_listed(metl: Metl, project: Path) -> None:
    (task,) = metl("review", project, "--list")[1]["version_tasks"]
    assert metl("review", project, "--dismiss-version", task["id"])[0] == 0
    assert metl("review", project, "--list")[1]["version_tasks"] == []
    code, document, _ = metl("review", project, "--add-version", task["id"])
    assert (code, bool(document["error"]["hint"])) == (1, True)


@pytest.mark.parametrize("wrong", [["--continues", "fx.pay.orders"], ["--label", "x", "--dismiss-version", "1"]])
def test_what_belongs_to_adding_a_version_is_refused_alone(metl: Metl, project: Path, wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        metl("review", project, *wrong)
    assert caught.value.code == 2


def test_a_replay_where_nothing_waits_says_so_and_starts_nothing(metl: Metl, project: Path, tmp_path: Path) -> None:
    (tmp_path / "empty" / "reason=no_key").mkdir(parents=True)
    code, document, _ = metl("replay", project, "--errors", tmp_path / "empty")
    assert (code, document["read"], document["is_replay"]) == (0, 0, True)
    assert "Nothing waits" in document["problems"][0]
    assert metl("history", project)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--errors", "{tmp}/absent"], "no such error store"),
        (["--errors", "x" * 300], "no such error store"),
        (["--errors", "{errors}", "--reason", "no_key"], "no_key"),
        (["--errors", "{errors}", "--again", "--reason", "unknown_version"], "single reasons"),
        (["--errors", "{errors}", "--mode", "production"], "where its messages go"),
        (["--errors", "{errors}", "--mode", "production", "--sink", "noop"], "published"),
    ],
)
def test_a_replay_that_cannot_be_done_is_refused_before_spark_is_asked(
    metl: Metl, project: Path, errors: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    given = [text.format(tmp=tmp_path, errors=errors) for text in arguments]
    code, document, _ = metl("replay", project, *given)
    error = document["error"]
    assert code == 1
    assert said in f"{error['title']} {error['text']}"
    assert error["hint"]
