"""The commands ``todo`` and ``ignore``: documents, exit codes, and what is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.cli.main import main
from metl_gui.workbench.session import Workbench
from tests.unit.cli.test_commands import Metl, metl
from tests.unit.workbench.conftest import fill, write_table

__all__ = ["metl"]
ORDERS = "fx.pay.orders"


@pytest.fixture
def project(metl: Metl, tmp_path: Path) -> Path:
    """Orders of which the id is mapped."""
    path = tmp_path / "pay.metl"
    with Workbench.create(path) as workbench:
        fill(workbench)
    table = write_table(tmp_path, f"{ORDERS},1,id,payment,1,amount")
    assert metl("map", path, "--csv", table)[0] == 0
    return path


def listed(metl: Metl, project: Path, *more: str) -> dict[str, dict[str, object]]:
    """Attributes by ``schema.path``."""
    code, document, _ = metl("todo", project, *more)
    assert code == 0
    return {f"{each['name']}.{each['path']}": each for each in document["attributes"]}


def test_a_marked_attribute_is_no_longer_to_do_and_says_who_and_why(metl: Metl, project: Path) -> None:
    before = listed(metl, project)
    assert f"{ORDERS}.customer_id" in before
    assert f"{ORDERS}.id" not in before
    code, document, _ = metl("ignore", project, f"{ORDERS}.customer_id", "payment.payer_id", "--reason", " not  ours ")
    assert (code, document["title"], document["changed"]) == (0, "Never map 2 attributes", True)
    after = listed(metl, project)
    assert before.keys() - after.keys() == {f"{ORDERS}.customer_id", "payment.payer_id"}
    marked = listed(metl, project, "--status", "ignored")
    assert marked.keys() == {f"{ORDERS}.customer_id", "payment.payer_id"}
    found = marked[f"{ORDERS}.customer_id"]
    assert (found["status"], found["reason"], found["tree"]) == ("ignored", "not ours", "extraction")
    assert found["who"]
    assert str(found["when"]).endswith("Z")
    assert metl("check", project)[1]["progress"]["extraction"]["ignored"] == 1
    assert metl("undo", project)[0] == 0
    assert listed(metl, project) == before


def test_the_list_can_be_of_some_names_and_statuses_with_the_progress_of_these(metl: Metl, project: Path) -> None:
    code, document, said = metl("todo", project, ORDERS, "--status", "mapped", "--status", "open")
    assert code == 0, said
    assert {each["name"] for each in document["schemas"]} == {ORDERS}
    assert {each["path"]: each["status"] for each in document["attributes"]}["id"] == "mapped"
    assert document["extraction"] == document["schemas"][0]["progress"]
    assert document["cdm"]["attributes"] == 0
    assert metl("todo", project, "--status", "mapped", "--status", "open", ORDERS)[1] == document
    assert metl("--json", "todo", "--status", "mapped", project, "--status", "open", ORDERS)[1] == document


def test_names_behind_an_option_are_names_and_what_is_no_option_is_refused_by_name(
    metl: Metl, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert metl("todo", project, "--tree", "cdm", "payment", "payment")[0] == 0
    of_both = metl("todo", project, "payment", ORDERS, "--status", "mapped")[1]
    assert metl("todo", project, "payment", "--status", "mapped", ORDERS)[1] == of_both
    assert main(["todo", str(project), "--tree", "cdm", "--", "--payment"]) == 1
    assert "--payment" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["todo", str(project), "--tree", "cdm", "payment", "--far"])
    assert ended.value.code == 2
    assert "unrecognized arguments: payment --far" in capsys.readouterr().err


def test_what_is_mapped_is_marked_once_its_mapping_may_go_too(metl: Metl, project: Path) -> None:
    code, _, said = metl("ignore", project, f"{ORDERS}.id", "--reason", "internal")
    assert code == 1
    assert "To clear its mapping too, say --unmap." in said
    assert metl("ignore", project, f"{ORDERS}.id", "--reason", "internal", "--unmap")[0] == 0


def test_what_is_mapped_needs_unmap_and_what_was_marked_can_be_taken_back(metl: Metl, project: Path) -> None:
    code, _, said = metl("ignore", project, f"{ORDERS}.id", "--reason", "x")
    assert code == 1
    assert "is mapped" in said
    code, document, _ = metl("ignore", project, f"{ORDERS}.id", "--reason", "x", "--unmap", "--dry-run")
    assert document["blocks"][0]["parted"] == [{"from": "id", "to": "amount"}]
    assert metl("ignore", project, f"{ORDERS}.id", "--reason", "x", "--unmap")[0] == 0
    assert metl("show", project)[1]["elements"] == 0
    code, document, _ = metl("ignore", project, f"{ORDERS}.id", "--take-back")
    assert (code, document["title"]) == (0, f"Let id of {ORDERS} be mapped again")
    assert metl("ignore", project, f"{ORDERS}.id", "--take-back")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("ignore", f"{ORDERS}.id"), 2, "--reason"),
        (("ignore", f"{ORDERS}.id", "--take-back", "--reason", "x"), 2, "neither"),
        (("ignore", f"{ORDERS}.nope", "--reason", "x"), 1, "nope"),
        (("ignore", f"{ORDERS}.customer_id", "--reason", "  "), 1, "A reason is missing"),
        (("todo", "nowhere"), 1, "There is no schema 'nowhere'"),
        (("todo", "--status", "lost"), 2, "lost"),
    ],
)
def test_what_cannot_be_done_says_why(
    metl: Metl, project: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, words: str
) -> None:
    if code == 2:
        with pytest.raises(SystemExit) as ended:
            metl(arguments[0], project, *arguments[1:])
        assert ended.value.code == 2
        assert words in capsys.readouterr().err
        return
    found, _, said = metl(arguments[0], project, *arguments[1:])
    assert found == code
    assert words in said
