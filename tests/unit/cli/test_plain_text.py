"""What commands print: nothing that a terminal obeys and nothing unseen, as text and as JSON, with the same values."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.cli.main import main
from metl_gui.cli.output import Output, PlainFormatter, printable, printable_json
from metl_gui.errors import UserError
from metl_gui.packaged import sample_projects

UNSEEN = [
    sign for sign in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(sign) in {"Cc", "Cf", "Zl", "Zp", "Cs"}
]
IGNORED = [*map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x180B, 0x3164, 0xFE00, 0xFE0F, 0xFFA0, 0xE0100, 0xE01EF))]
TEXTS = st.one_of(
    st.text(), st.text(st.sampled_from([*UNSEEN, *IGNORED, "a", '"', "\\"]).filter(lambda c: c < "\ud800"))
)
NAMES = (
    "\u202egpj.exe",
    "zero\u200bwidth",
    "\u2066isolated\u2069",
    "\ufefforder",
    "\x9b31m",
    "\x1b[2J",
    "tag\U000e0041",
)


def test_no_unseen_character_is_printed() -> None:
    for sign in (*UNSEEN, *IGNORED):
        assert (sign in printable(f"a{sign}b")) is (sign == "\t")
        document = json.dumps({"name": f"a{sign}b"}, indent=2, ensure_ascii=False)
        assert (sign in printable_json(document)) is (sign == "\n")
        assert json.loads(printable_json(document)) == {"name": f"a{sign}b"}


@given(TEXTS)
def test_the_values_of_a_document_are_those_that_were_written(text: str) -> None:
    stdout = io.StringIO()
    Output(as_json=True, stdout=stdout, stderr=io.StringIO()).result({"names": [text], text: 1}, [])
    assert json.loads(stdout.getvalue()) == {"names": [text], text: 1}
    assert not [sign for sign in stdout.getvalue() if sign != "\n" and (sign in IGNORED or sign in UNSEEN)]


def test_what_people_read_as_it_is_stays_as_it_is() -> None:
    for text in ("Grüße, 名前, שלום, مرحبا, e\u0301, 😀, a\tb", 'say "no" \\ \\n'):
        assert printable(text) == text
        assert printable_json(text) == text


@pytest.mark.parametrize("name", NAMES)
def test_results_notes_errors_progress_and_logs_all_show_a_name_escaped(name: str) -> None:
    for as_json in (False, True):
        stdout, stderr = io.StringIO(), io.StringIO()
        out = Output(as_json=as_json, stdout=stdout, stderr=stderr)
        out.result({"name": name}, [name])
        out.tell(name, name)
        out.note(name)
        out.error(UserError(name, name, name))
        with out.watching() as watch:
            watch.tell(name)
        said = stdout.getvalue() + stderr.getvalue()
        assert not [sign for sign in said if sign in UNSEEN and sign != "\n"]
        assert said.count(printable(name)) >= 5
    record = logging.LogRecord("x", logging.WARNING, "", 0, "%s is away\n  %s", (name, name), None)
    assert PlainFormatter().format(record) == f"{printable(name)} is away\n  {printable(name)}"


@pytest.mark.parametrize("name", NAMES)
def test_a_project_with_a_hostile_name_is_shown_escaped_by_every_way_of_asking(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "a.metl"
    schema = {"title": name, "type": "object", "properties": {name: {"type": "string"}}}
    (tmp_path / "a.json").write_text(json.dumps(schema))
    ways = (
        ["new", project],
        ["import", project, "--tree", "extraction", tmp_path / "a.json"],
        ["import", project, "--tree", "cdm", tmp_path / "a.json"],
        ["suggest", project],
        ["suggest", project, "--accept-best", "0.5"],
        ["search", project, "--forward", name],
        ["search", project, "--reverse", f"{name}x"],
        ["history", project],
        ["check", project],
        ["review", project, "--list"],
        ["show", project, "--state", "1"],
        ["map", project, "--csv", tmp_path / f"{name}.csv"],
        ["import", project, "--tree", name, "x"],
    )
    for way in ways:
        for more in ([], ["--json"]):
            with contextlib.suppress(SystemExit):
                main([str(each) for each in (*way, *more)])
            said = capfd.readouterr()
            assert not [sign for sign in said.out + said.err if sign in UNSEEN and sign != "\n"], (way, more)


def test_one_of_something_is_called_so(trees: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines of commands count in words: one element, two elements."""
    table = tmp_path / "one.csv"
    rows = (sample_projects() / "fx" / "mapping.csv").read_text("utf-8").splitlines()[:3]
    for number, words in ((2, "1 element changed"), (3, "1 element changed, 1 was so already")):
        table.write_text("\n".join(rows[:number]), "utf-8")
        assert main(["map", str(trees), "--csv", str(table)]) == 0
        assert words in capsys.readouterr().out
    assert main(["show", str(trees)]) == 0
    assert "2 elements in 1 block, 0 need review" in capsys.readouterr().out
    assert main(["search", str(trees), "--versions", "fx.payments.orders"]) == 0
    assert "payment@2.0.0: 2 elements" in capsys.readouterr().out


def test_an_error_is_said_in_sentences() -> None:
    said = io.StringIO()
    error = UserError("The warehouse refused a statement", "a.duckdb: no room", "Free some.")
    Output(as_json=False, stdout=io.StringIO(), stderr=said).error(error)
    assert said.getvalue() == "error: The warehouse refused a statement. a.duckdb: no room\nhint: Free some.\n"
