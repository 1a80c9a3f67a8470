"""``metl show`` of a link: found by its project, shown in its state, refused with what to do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from metl_gui.cli.main import main
from metl_gui.packaged import sample_projects


@pytest.fixture(autouse=True)
def at_home(mapped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in the folder of the project, with folders of one's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(mapped.parent / "data"))
    monkeypatch.chdir(mapped.parent)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main(arguments) == code
    found = capsys.readouterr()
    return found.err if code else found.out


def link_of(capsys: pytest.CaptureFixture[str], *of: str) -> str:
    return str(json.loads(printed(capsys, "show", "fx.metl", "--json", "--of", *of))["link"])


def block_of(mapped: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Return a block that is mapped, and one of its elements as FROM=TO."""
    found = json.loads(printed(capsys, "search", str(mapped), "--reverse", "payment", "--json"))["results"][0]
    block, element = found["block"], found["element"]
    name = f"{block['schema']}@{block['version']}:{block['entity']}@{block['entity_version']}"
    return name, f"{element['from']}={element['to']}"


def test_a_cell_is_shown_by_its_link_from_the_folder_of_its_project(
    mapped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    block, element = block_of(mapped, capsys)
    link = link_of(capsys, block, element)
    text = printed(capsys, "show", link)
    assert text.splitlines()[0] == f"cell {link.partition('#')[2]}"
    assert "mapped; block confirmed by" in text
    assert "mapping.csv" in text
    document = json.loads(printed(capsys, "show", link, "--json"))
    assert document["link"] == link
    assert document["is_mapped"] is True
    assert document["elements"][0]["origin"]["state"] == document["state"]


def test_a_link_is_followed_from_elsewhere_once_its_project_was_named(
    mapped: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = link_of(capsys, block_of(mapped, capsys)[0])
    elsewhere = mapped.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert "not known on this computer" in printed(capsys, "show", link, code=1)
    named = printed(capsys, "show", link, "--project", str(mapped))
    assert printed(capsys, "show", link) == named
    other = str(shutil.copy(mapped, elsewhere / "copy.metl"))
    assert printed(capsys, "show", link, "--project", other) == named.replace("fx.metl", "copy.metl")


def test_a_link_changes_nothing_in_the_file(mapped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = link_of(capsys, "payment.payer_id")
    before = mapped.read_bytes()
    printed(capsys, "show", link)
    assert mapped.read_bytes() == before


@pytest.mark.parametrize(
    "link", ["metl://", "metl://x/1/run/$(id)", "metl://x/1/cell/1/2", "metl://" + "a/" * 4000, "metl://x/1/state"]
)
def test_a_hostile_link_ends_with_a_sentence_and_a_hint(link: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(capsys, "show", link, code=1)
    assert "link" in told
    assert "Traceback" not in told
    assert len(told) < 500


@pytest.mark.parametrize("more", [("--state", "1"), ("--of", "x")])
def test_a_link_takes_no_other_place_and_state(more: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["show", "metl://x/1/state", *more])
    assert ended.value.code == 2


def test_why_prints_the_cells_of_a_message_with_links_that_show_follows(
    mapped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(sample_projects() / "fx" / "cdc" / "payments.jsonl")
    records = json.loads(printed(capsys, "preview", "fx.metl", "--source", source, "--limit", "20", "--json"))
    messages = [message["message"] for record in records["records"] for message in record["messages"]]
    (mapped.parent / "messages.jsonl").write_text("".join(f"{json.dumps(json.loads(each))}\n" for each in messages))
    text = printed(capsys, "why", "fx.metl", "messages.jsonl")
    link = next(line.strip() for line in text.splitlines() if "metl://" in line)
    assert "mapping.csv" in text
    assert printed(capsys, "show", link).startswith("cell ")
    document = json.loads(printed(capsys, "why", "fx.metl", "messages.jsonl", "--limit", "3", "--json"))
    assert len(document["messages"]) == 3
    assert "cannot be read" in printed(capsys, "why", "fx.metl", "gone.jsonl", code=1)


def test_why_says_the_reason_of_a_record_in_words_before_its_code(
    mapped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    detail = "the versions 3, 4 fit; 4 maps amount to payment@2.0.0 amount, and 3 does not"
    record = {"reason": "ambiguous_version", "detail": detail, "state": 1, "schema": "fx.payments.orders"}
    lines = [json.dumps(record | {"version": None, "position": "f@7", "raw": "{}"})]
    (mapped.parent / "aside.jsonl").write_text("\n".join(lines))
    told = printed(capsys, "why", "fx.metl", "aside.jsonl").splitlines()
    assert told[0].startswith("set aside, several versions fit (ambiguous_version)  f@7")
    assert told[1] == "  Version 4 maps amount to amount, version 3 does not."
