from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metl_gui import packaged
from metl_gui.cli.main import main
from metl_gui.workbench.lanes import control
from metl_gui.workbench.session import Workbench
from tests.unit.workbench.conftest import fill

Metl = Callable[..., tuple[int, Any, str]]
ORDERS = "fx.payments.orders"
PAYMENT = f"{ORDERS}@5:payment@2.0.0"


@pytest.fixture
def metl(capsys: pytest.CaptureFixture[str]) -> Metl:
    """Run a command with --json; gives the exit code, the document and what was said beside it."""

    def run(*arguments: object) -> tuple[int, Any, str]:
        code = main([str(argument) for argument in (*arguments, "--json")])
        said = capsys.readouterr()
        return code, json.loads(said.out), said.err

    return run


@pytest.fixture
def project(mapped: Path) -> Path:
    """The fx sample with its mapping, made by the commands themselves."""
    return mapped


def add_waiting(metl: Metl, project: Path) -> Any:
    waiting = packaged.sample_projects() / "fx" / "waiting"
    code, document, _ = metl("import", project, "--tree", "extraction", waiting)
    assert code == 0
    return document


def test_import_tells_what_the_automated_update_made(metl: Metl, project: Path) -> None:
    document = add_waiting(metl, project)
    assert [(version["name"], version["version"]) for version in document["added"]] == [(ORDERS, "5")]
    assert document["blocks"] == {"same": 0, "smaller": 2, "emptied": 0, "first": 0}
    assert document["needs_review"] == 2


def test_an_import_of_what_is_there_adds_nothing(metl: Metl, project: Path) -> None:
    state = add_waiting(metl, project)["state"]
    again = add_waiting(metl, project)
    assert (again["state"], again["added"], len(again["unchanged"])) == (state, [], 1)


def test_an_import_where_every_source_is_refused_ends_with_1_and_names_them(
    metl: Metl, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "broken.json").write_text("{")
    code, document, said = metl("import", project, "--tree", "extraction", tmp_path / "broken.json")
    assert code == 1
    assert "broken.json" in document["refused"][0]["source"]
    assert "hint:" in said


def test_a_rename_and_a_confirmation_empty_the_review_list(metl: Metl, project: Path) -> None:
    add_waiting(metl, project)
    _, waiting, _ = metl("review", project, "--list")
    assert {item["verdict"] for item in waiting["items"]} == {"smaller"}
    assert (
        metl("review", project, "--rename", PAYMENT, "customer_id=customer_ref", "--comment", "asked the team")[0] == 0
    )
    assert metl("review", project, "--accept-loss", PAYMENT, "legacy_code")[0] == 0
    assert metl("review", project, "--confirm-all", "smaller")[0] == 0
    assert metl("review", project)[1]["items"] == []
    _, found, _ = metl("search", project, "--forward", f"{ORDERS}.customer_ref")
    assert [result["element"] for result in found["results"]] == [{"from": "customer_ref", "to": "payer_id"}]


def test_undo_and_redo_make_new_states_and_history_names_them(metl: Metl, project: Path) -> None:
    state = add_waiting(metl, project)["state"]
    assert metl("undo", project)[1] == {"state": state + 1, "title": "Undo: Add fx.payments.orders version 5"} | {
        "needs_review": 0
    }
    assert metl("redo", project)[1]["needs_review"] == 2
    _, document, _ = metl("history", project, "--limit", "3")
    assert [entry["state"] for entry in document["states"]] == [state + 2, state + 1, state]
    assert metl("show", project, "--state", state)[1]["hash"] == metl("show", project)[1]["hash"]


def test_a_mapping_with_conflicts_names_each_line_and_writes_nothing(metl: Metl, project: Path, tmp_path: Path) -> None:
    table = tmp_path / "clash.csv"
    table.write_text(
        "schema,schema_version,attribute,entity,entity_version,cdm_attribute\n"
        f"{ORDERS},4,memo,payment,2.0.0,amount\n"
        f"{ORDERS},4,nothing_there,payment,2.0.0,amount\n"
    )
    before = metl("show", project)[1]["state"]
    code, document, said = metl("map", project, "--csv", table)
    assert code == 1
    assert {conflict["line"] for conflict in document["conflicts"]} == {2, 3}
    assert document["state"] == before == metl("show", project)[1]["state"]
    assert "nothing was written" in said


def test_a_dry_run_of_unset_says_what_would_change_and_unset_does_it(metl: Metl, project: Path) -> None:
    table = packaged.sample_projects() / "fx" / "mapping.csv"
    ones = metl("show", project)[1]["elements"]
    _, would, _ = metl("map", project, "--csv", table, "--unset", "--dry-run")
    assert would["set"] == ones == metl("show", project)[1]["elements"]
    assert metl("map", project, "--csv", table, "--unset")[0] == 0
    assert metl("show", project)[1]["elements"] == 0


def test_export_without_a_published_state_names_the_way_out_and_publish_is_it(
    metl: Metl, project: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.csv"
    code, _, said = metl("export", project, "--format", "csv", "-o", target)
    assert (code, target.exists()) == (1, False)
    assert said.endswith("hint: Publish it first: metl publish fx.metl (in the window Run > Publish).\n")
    state = metl("show", project)[1]["state"]
    _, published, _ = metl("publish", project, "--name", "release")
    assert (published["state"], published["name"], published["was_live"]) == (state, "release", None)
    assert metl("export", project, "--format", "csv", "-o", target)[1]["state"] == state
    add_waiting(metl, project)
    assert metl("export", project, "--format", "csv", "-o", target)[1]["state"] == state
    assert metl("export", project, "--format", "csv", "-o", target, "--state", state + 1)[0] == 1
    _, history, _ = metl("history", project, "--limit", "2")
    assert [(entry["published"], entry["exported"]) for entry in history["states"]] == [(False, False), (True, True)]


def test_publish_says_what_is_held(metl: Metl, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert metl("publish", project)[1]["is_new"]
    add_waiting(metl, project)
    assert main(["publish", str(project)]) == 0
    said = capsys.readouterr().out
    assert "warning mapping.needs-review fx.payments.orders@5" in said
    assert "Mapping\n" in said
    assert "fx.payments.orders → payment" in said
    assert "2 blocks held: their messages wait until somebody has decided" in said
    assert main(["publish", str(project)]) == 0
    assert "is live already" in capsys.readouterr().out


def test_publishing_what_is_live_says_how_lanes_that_were_taken_back_go_forward(
    metl: Metl, project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "following", lambda _workbench: ("a-run",))
    assert main(["publish", str(project)]) == 0
    assert "1 fast lane will take it up; wait for it" in capsys.readouterr().out
    assert main(["publish", str(project)]) == 0
    said = capsys.readouterr().out
    state = metl("show", project)[1]["state"]
    assert "will take it up" not in said
    assert f"go forward by: metl lane roll-back {project} --state {state}" in said


def test_what_export_writes_as_csv_map_finds_unchanged(metl: Metl, project: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    assert metl("publish", project)[0] == 0
    assert metl("export", project, "--format", "csv", "-o", target)[0] == 0
    _, document, _ = metl("map", project, "--csv", target, "--replace")
    assert document["set"] == 0
    assert document["unchanged"] == metl("show", project)[1]["elements"]


def test_a_workbook_is_read_as_one_whatever_it_is_called(metl: Metl, project: Path, tmp_path: Path) -> None:
    target = tmp_path / "mapping"
    assert metl("publish", project)[0] == 0
    assert metl("export", project, "--format", "xlsx", "-o", target)[0] == 0
    code, document, _ = metl("map", project, "--xlsx", target, "--dry-run")
    assert (code, document["set"]) == (0, 0)
    columns = ("schema", "schema_version", "attribute", "entity", "entity_version", "cdm_attribute")
    titles = [part for name in columns for part in ("--column", f"{name}={name}")]
    assert metl("map", project, "--csv", target, *titles, "--dry-run")[:2] == (0, document)


def test_a_dry_run_of_a_table_needs_no_lease(metl: Metl, project: Path) -> None:
    table = packaged.sample_projects() / "fx" / "mapping.csv"
    with Workbench.open(project):
        code, document, _ = metl("map", project, "--csv", table, "--unset", "--dry-run")
        assert (code, document["dry_run"]) == (0, True)
        assert metl("map", project, "--csv", table, "--unset")[0] == 1


def test_what_check_is_told_to_name_instead_is_something_that_it_takes(metl: Metl, project: Path) -> None:
    _, document, _ = metl("check", f"{project}@1")
    assert document["error"]["hint"] == "Name a project file or an export."
    _, document, _ = metl("diff", project, f"{project}.gone")
    assert "one of its states" in document["error"]["hint"]


def test_check_ends_with_3_exactly_when_it_finds_more_than_notes(metl: Metl, project: Path) -> None:
    code, document, _ = metl("check", project)
    assert code == (3 if any(problem["severity"] != "note" for problem in document["problems"]) else 0)
    add_waiting(metl, project)
    code, document, _ = metl("check", project)
    assert code == 3
    assert any(problem["severity"] != "note" for problem in document["problems"])


def test_remove_takes_a_version_with_its_elements(metl: Metl, project: Path) -> None:
    _, document, _ = metl("remove", project, "--schema", ORDERS, "--version", "4")
    assert document["blocks"] == 2
    _, found, _ = metl("search", project, "--versions", ORDERS)
    assert "4" not in {step["version"] for step in found["versions"]}


def test_set_keeps_a_setting_and_an_empty_value_puts_the_default_back(metl: Metl, project: Path) -> None:
    _, document, _ = metl("set", project, "--schema", ORDERS, "replica_identity=full")
    assert document["settings"] == {"replica_identity": "full"}
    assert metl("set", project, "--schema", ORDERS, "replica_identity=")[1]["settings"] == {}


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "{absent}"],
        ["search", "{project}", "--reverse", "paymnt"],
        ["show", "{project}", "--state", "100000"],
        ["review", "{project}", "--confirm", "nonsense"],
        ["set", "{project}", "--schema", ORDERS, "nonsense=1"],
        ["remove", "{project}", "--schema", ORDERS, "--version", "77"],
        ["map", "{project}", "--csv", "{absent}"],
        ["export", "{project}", "--format", "csv", "-o", "{absent}/deeper/out.csv"],
        ["new", "{project}"],
    ],
    ids=" ".join,
)
def test_what_the_user_got_wrong_ends_with_1_and_a_hint(
    metl: Metl, project: Path, tmp_path: Path, arguments: list[str]
) -> None:
    filled = [text.format(project=project, absent=tmp_path / "absent") for text in arguments]
    code, document, said = metl(*filled)
    assert code == 1
    assert document["error"]["title"]
    assert said.rpartition("hint: ")[2].strip()
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["export", "x.metl", "--format", "jsn", "-o", "y"],
        ["import", "x.metl", "--tree", "extraction", "--format", "jsn", "y"],
        ["review", "x.metl", "--rename", PAYMENT],
        ["history", "x.metl", "--limit", "0"],
        ["search", "x.metl"],
    ],
    ids=" ".join,
)
def test_a_wrong_option_ends_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def test_text_output_of_every_reading_command_has_no_json(
    metl: Metl, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_waiting(metl, project)
    for arguments in (
        ["show"],
        ["history", "--limit", "2"],
        ["review"],
        ["search", "--reverse", "payment"],
        ["search", "--versions", ORDERS],
        ["check"],
    ):
        main([arguments[0], str(project), *arguments[1:]])
        said = capsys.readouterr().out
        assert said.endswith(("\n",))
        assert not said.startswith("{")


def test_set_without_a_schema_or_entity_changes_the_project(metl: Metl, project: Path) -> None:
    _, document, _ = metl("set", project, "second_person_confirms=yes")
    assert document["settings"]["second_person_confirms"] == "yes"
    assert metl("review", project, "--confirm-all", "unconfirmed")[1]["own"] == 0
    assert metl("set", project, "second_person_confirms=")[1]["settings"]["second_person_confirms"] == "no"
    code, _, said = metl("set", project, "meanwhile=hold")
    assert (code, "need --schema or --entity" in said) == (1, True)


def test_history_of_a_block_names_the_state_of_each_element_and_undo_takes_that_state_back(
    metl: Metl, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mapped = metl("show", project)[1]["state"]
    block = f"{ORDERS}@4:payment@2.0.0"
    _, document, _ = metl("history", project, "--of", block)
    assert {each["origin"]["state"] for each in document["elements"]} <= set(range(mapped + 1))
    assert len(document["elements"]) == 8
    first = document["elements"][0]
    _, element, _ = metl("history", project, "--of", block, f"{first['element']['from']}={first['element']['to']}")
    assert element["events"][0]["state"] == first["origin"]["state"]
    of_attribute = metl("history", project, "--of", f"{ORDERS}.amount")[1]
    assert of_attribute["events"]
    assert (element["elements"], of_attribute["elements"]) == ([], [])
    assert main(["history", str(project), "--of", block]) == 0
    assert f"{first['element']['from']} -> {first['element']['to']}" in capsys.readouterr().out
    assert metl("history", project, "--of", block, "amount")[0] == 1
    add_waiting(metl, project)
    assert metl("undo", project, "--state", mapped + 1)[1]["title"] == "Undo: Add fx.payments.orders version 5"


def test_history_finds_what_holds_the_signs_of_its_own_writing(metl: Metl, tmp_path: Path) -> None:
    path = tmp_path / "odd.metl"
    for folder, names in (("schemas", ("=a:b@c", "d")), ("cdm", ("x=y", "dc:title"))):
        (tmp_path / folder).mkdir()
        content = {
            "title": f"odd.{folder}",
            "type": "object",
            "properties": {name: {"type": "string"} for name in names},
        }
        (tmp_path / folder / "1.json").write_text(json.dumps(content))
    (tmp_path / "map.csv").write_text(
        "schema,schema_version,attribute,entity,entity_version,cdm_attribute\n"
        "odd.schemas,1,=a:b@c,odd.cdm,1,x=y\nodd.schemas,1,d,odd.cdm,1,dc:title\n"
    )
    metl("new", path)
    metl("import", path, "--tree", "extraction", tmp_path / "schemas")
    metl("import", path, "--tree", "cdm", tmp_path / "cdm")
    assert metl("map", path, "--csv", tmp_path / "map.csv")[1]["set"] == 2
    _, one, said = metl("history", path, "--of", "odd.schemas@1:odd.cdm@1", "=a:b@c=x=y")
    assert [event["what"] for event in one["events"]] == ["set"], said
    for attribute in ("odd.schemas.=a:b@c", "odd.cdm.dc:title", "odd.cdm.dc:title@1"):
        assert len(metl("history", path, "--of", attribute)[1]["events"]) == 1
    assert "There is no schema" in metl("history", path, "--of", "none@1:odd.cdm@1")[2]
    assert "has an attribute" in metl("history", path, "--of", "odd.cdm.dc:none")[2]


def test_a_log_is_compacted_whole_or_not(project: Path) -> None:
    for narrowed in (("--limit", "1"), ("--of", ORDERS)):
        with pytest.raises(SystemExit, match="2"):
            main(["history", str(project), "--compact", *narrowed])


def test_history_compact_leaves_what_is_new_and_says_what_it_did(metl: Metl, project: Path) -> None:
    before = metl("history", project)[1]
    _, document, _ = metl("history", project, "--compact")
    assert (document["merged"], document["left"]) == (0, len(before["states"]))
    assert metl("history", project)[1] == before


def test_a_table_of_another_shape_is_mapped_by_the_titles_of_its_columns(metl: Metl, tmp_path: Path) -> None:
    project = tmp_path / "pay.metl"
    with Workbench.create(project) as workbench:
        fill(workbench)
    table = tmp_path / "theirs.csv"
    table.write_text("Table,Field,Entity,Goal,Owner\nfx.pay.orders,id,payment,payment_id,me\n")
    named = [f"--column={each}" for each in ("schema=Table", "attribute=Field", "entity=Entity", "cdm_attribute=Goal")]
    code, document, _ = metl("map", project, "--csv", table, *named)
    assert (code, document["set"], document["conflicts"]) == (0, 1, [])
    code, _, said = metl("map", project, "--csv", table, *named[:3])
    assert code == 1
    assert "No column of theirs.csv is named for cdm_attribute." in said
    with pytest.raises(SystemExit) as ended:
        metl("map", project, "--csv", table, "--column=attribut=Field")
    assert ended.value.code == 2


@pytest.mark.parametrize("asked", [("--format", "parquet"), ("--by-date",)])
@pytest.mark.parametrize("command", [("run", "--source", "nowhere"), ("replay", "--errors", "nowhere")])
def test_what_only_folders_have_is_refused_where_the_sink_is_a_topic(
    metl: Metl, tmp_path: Path, command: tuple[str, ...], asked: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    name, *more = command
    with pytest.raises(SystemExit) as ended:
        metl(name, tmp_path / "pay.metl", *more, "--sink", "kafka://127.0.0.1:1/out", *asked)
    assert ended.value.code == 2
    assert "a topic takes messages as they are" in capsys.readouterr().err
