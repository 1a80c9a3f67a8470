"""The commands of ``metl warehouse``: their documents, exit codes and what they say of wrong input."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui import packaged
from metl_gui.cli.main import main
from tests.unit.cli.test_commands import Metl, metl

__all__ = ["metl"]
SAMPLE = packaged.sample_projects() / "fx" / "warehouse.yaml"


def test_the_model_of_the_sample_has_no_problems(metl: Metl, mapped: Path) -> None:
    code, document, _ = metl("warehouse", "import", mapped, SAMPLE)
    assert (code, document["model"], document["is_changed"]) == (0, "fx", True)
    assert document["tables"] == ["customer", "account", "payment", "account_day", "date"]
    assert document["problems"] == []
    assert metl("warehouse", "check", mapped) == (0, {"problems": []}, "")


def test_check_ends_with_3_at_an_error_and_says_how_many(
    metl: Metl, mapped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metl("warehouse", "import", mapped, SAMPLE)
    code, document, _ = metl("warehouse", "set", mapped, "customer", "columns.country.from=address.land")
    assert code == 0
    assert [problem["code"] for problem in document["problems"]] == ["warehouse.unknown-attribute"]
    assert main(["warehouse", "check", str(mapped)]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("error warehouse.unknown-attribute fx: customer.country: ")
    assert lines[-1].endswith(": 1 error.")


def test_what_nobody_published_is_an_error_for_production_alone(metl: Metl, mapped: Path) -> None:
    metl("warehouse", "import", mapped, SAMPLE)
    metl("set", mapped, "second_person_confirms=yes")
    assert metl("warehouse", "check", mapped, "--production")[0] == 0


def test_show_prints_a_file_that_import_reads(
    metl: Metl, mapped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metl("warehouse", "import", mapped, SAMPLE)
    assert main(["warehouse", "show", str(mapped)]) == 0
    shown = capsys.readouterr().out
    (tmp_path / "shown.yaml").write_text(shown, encoding="utf-8")
    assert metl("warehouse", "import", mapped, tmp_path / "shown.yaml")[1]["is_changed"] is False
    code, document, _ = metl("warehouse", "export", mapped, tmp_path / "out.yaml")
    assert (code, document["path"]) == (0, str(tmp_path / "out.yaml"))
    assert (tmp_path / "out.yaml").read_text("utf-8") == shown
    document = metl("warehouse", "show", mapped)[1]
    assert document["warehouse"] == "fx"
    assert document["tables"][3] == {
        "kind": "periodic",
        "name": "account_day",
        "of": "account",
        "every": "day",
        "columns": ["product"],
    }


def test_propose_makes_a_first_model_without_errors(metl: Metl, mapped: Path) -> None:
    code, document, _ = metl("warehouse", "propose", mapped, "--model", "first", "--dry-run")
    assert (code, document["model"]) == (0, "first")
    assert {"customer", "account", "payment", "date"} <= set(document["tables"])
    assert {problem["severity"] for problem in document["problems"]} <= {"warning", "note"}
    state = document["state"]
    assert metl("warehouse", "propose", mapped, "--model", "first")[1]["state"] == state + 1


def test_set_takes_a_value_back_to_its_default(metl: Metl, mapped: Path) -> None:
    metl("warehouse", "import", mapped, SAMPLE)
    metl("warehouse", "set", mapped, "customer", "on_delete=flag")
    assert metl("warehouse", "show", mapped)[1]["tables"][0]["on_delete"] == "flag"
    metl("warehouse", "set", mapped, "customer", "on_delete=")
    assert "on_delete" not in metl("warehouse", "show", mapped)[1]["tables"][0]


def test_a_removed_model_comes_back_by_undo(metl: Metl, mapped: Path) -> None:
    metl("warehouse", "import", mapped, SAMPLE)
    assert metl("warehouse", "remove", mapped)[1]["title"] == "Remove the warehouse model fx"
    code, document, _ = metl("warehouse", "show", mapped)
    assert (code, document["error"]["title"]) == (1, "There is no warehouse model in the project.")
    assert metl("undo", mapped)[0] == 0
    assert metl("warehouse", "show", mapped)[1]["warehouse"] == "fx"


def test_two_projects_are_merged_table_by_table(metl: Metl, mapped: Path, tmp_path: Path) -> None:
    metl("warehouse", "import", mapped, SAMPLE)
    base, theirs = tmp_path / "base.metl", tmp_path / "theirs.metl"
    for copy in (base, theirs):
        copy.write_bytes(mapped.read_bytes())
    metl("warehouse", "set", mapped, "customer", "on_delete=flag")
    metl("warehouse", "set", theirs, "customer", "on_delete=remove")
    metl("warehouse", "set", theirs, "account", "on_delete=remove")
    code, document, _ = metl("merge", base, mapped, theirs)
    assert code == 3
    assert [(each["kind"], each["place"]) for each in document["conflicts"]] == [
        ("warehouse model", "warehouse fx, customer")
    ]
    tables = {table["name"]: table for table in metl("warehouse", "show", mapped)[1]["tables"]}
    assert (tables["customer"]["on_delete"], tables["account"]["on_delete"]) == ("flag", "remove")


def test_a_value_without_its_name_is_wrong_usage(mapped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["warehouse", "set", str(mapped), "customer", "flag"])
    assert "flag is not NAME=VALUE" in capsys.readouterr().err


def test_docs_writes_a_page_of_all_tables(metl: Metl, mapped: Path, tmp_path: Path) -> None:
    metl("warehouse", "import", mapped, SAMPLE)
    code, document, _ = metl("warehouse", "docs", mapped, tmp_path / "fx.html")
    assert (code, document["model"], document["tables"]) == (0, "fx", 5)
    page = (tmp_path / "fx.html").read_text("utf-8")
    assert "fx.customers.person" in page
    assert "end of each day" in page


def test_a_schema_that_is_not_live_yet_says_which_parts_of_tables_it_would_break(
    metl: Metl, mapped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metl("warehouse", "import", mapped, SAMPLE)
    waiting = packaged.sample_projects() / "fx" / "waiting"
    code, document, _ = metl("check", mapped, "--against", waiting)
    assert code == 3
    (broken,) = document["warehouse"]
    assert (broken["table"], broken["part"], broken["name"], broken["attribute"]) == (
        "payment",
        "reference",
        "payer",
        "payer_id",
    )
    assert broken["schemas"] == ["fx.payments.orders"]
    assert main(["check", str(mapped), "--against", str(waiting)]) == 3
    said = capsys.readouterr().out
    assert "warning trial.warehouse-column fx: payment.payer: " in said
    assert "1 part of warehouse tables would change" in said
