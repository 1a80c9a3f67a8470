from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

from metl_gui.cli.commands import finished
from metl_gui.cli.main import build_parser, main
from metl_gui.cli.output import Output
from metl_gui.errors import EditError, RunCancelled, UserError


def outcome(raised: BaseException | None, *, as_json: bool = False, debug: bool = False) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()

    def command() -> int:
        if raised is not None:
            raise raised
        return 0

    code = finished(command, Output(as_json=as_json, stdout=stdout, stderr=stderr), debug=debug)
    return code, stdout.getvalue(), stderr.getvalue()


def loaded_by(*arguments: str) -> set[str]:
    script = (
        "import sys\nfrom metl_gui.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    print('ended', file=sys.stderr)\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.split("\n"))


def test_help_loads_neither_qt_nor_spark_nor_numeric_libraries() -> None:
    loaded = loaded_by("--help")
    assert "metl_gui.cli.main" in loaded
    assert loaded.isdisjoint(
        {"PySide6", "pyspark", "numpy", "scipy", "pandas", "pyarrow", "rapidfuzz", "sqlite_utils", "yaml", "jinja2"}
        | {"sqlite3", "msgspec", "secrets", "subprocess", "asyncio"}
    )


def test_an_error_of_the_users_world_ends_with_1_and_a_hint_on_stderr_only() -> None:
    code, stdout, stderr = outcome(EditError("There is no schema 'x'.", "In demo.metl.", "Did you mean y?"))
    assert (code, stdout) == (1, "")
    assert stderr == "error: There is no schema 'x'. In demo.metl.\nhint: Did you mean y?\n"


def test_an_error_without_a_hint_prints_no_empty_hint() -> None:
    assert outcome(UserError("No."))[2] == "error: No.\n"


def test_with_json_an_error_is_the_one_document_on_stdout() -> None:
    code, stdout, stderr = outcome(UserError("No.", "Text.", "Hint."), as_json=True)
    assert code == 1
    assert json.loads(stdout) == {"error": {"title": "No.", "text": "Text.", "hint": "Hint."}}
    assert stderr.startswith("error: No. Text.")


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), RunCancelled("Stopped while: mapping")])
def test_a_cancelled_command_ends_with_130_without_a_traceback(stop: BaseException) -> None:
    code, stdout, stderr = outcome(stop)
    assert (code, stdout) == (130, "")
    assert "Cancelled." in stderr
    assert "Traceback" not in stderr


def test_a_bug_ends_with_1_and_its_traceback_is_shown_only_with_debug() -> None:
    code, _, stderr = outcome(ZeroDivisionError("by nothing"))
    assert code == 1
    assert "Traceback" not in stderr
    assert "ZeroDivisionError: by nothing" in stderr
    assert "hint: Run again with --debug" in stderr
    assert "Traceback" in outcome(ZeroDivisionError("by nothing"), debug=True)[2]


def test_with_json_what_a_library_prints_does_not_reach_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    out = Output(as_json=True, stdout=sys.stdout, stderr=sys.stderr)

    def chatty() -> int:
        print("a library talks")  # noqa: T201 - that is the point
        out.result({"answer": 42}, [])
        return 0

    assert finished(chatty, out, debug=False) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == {"answer": 42}
    assert "a library talks" in said.err


def test_a_reader_that_goes_away_is_met_in_silence_and_changes_no_exit_code() -> None:
    script = (
        "import sys\nfrom metl_gui.cli.commands import finished\nfrom metl_gui.cli.output import Output\n"
        "out = Output(as_json=False, stdout=sys.stdout, stderr=sys.stderr)\n"
        "def talk():\n    for n in range(1000): out.result({}, [str(n)] * 100)\n    return 7\n"
        "sys.exit(finished(talk, out, debug=False))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as talker:
        assert talker.stdout is not None
        assert talker.stderr is not None
        talker.stdout.readline()
        talker.stdout.close()
        said = talker.stderr.read()
    assert said == ""
    assert talker.returncode == 7


def test_a_pipe_that_breaks_within_the_program_is_no_reader_that_has_read_enough() -> None:
    code, _, stderr = outcome(BrokenPipeError(32, "Broken pipe"))
    assert code == 1
    assert "BrokenPipeError" in stderr


@pytest.mark.parametrize(
    "arguments",
    [[], ["dctor"], ["doctor", "--fi"], ["doctor", "--nonsense"]],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: metl" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--json", "doctor"], ["doctor", "--json"]], ids=" ".join)
def test_json_may_stand_before_and_after_the_command(arguments: list[str]) -> None:
    parsed = build_parser().parse_args(arguments)
    assert parsed.json
    assert not parsed.debug


def test_control_characters_in_names_do_not_reach_a_terminal() -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    out = Output(as_json=False, stdout=stdout, stderr=stderr)
    out.result({}, ["evil\x1b[2J\nname"])
    out.note("first\nsecond\x07")
    assert stdout.getvalue() == "evil\\x1b[2J\\x0aname\n"
    assert stderr.getvalue() == "first\nsecond\\x07\n"


@pytest.mark.parametrize("arguments", [["show"], ["show", "x.metl", "\x1b[2J\u202e"], ["\x1b[2J\u202e"]], ids=ascii)
def test_wrong_arguments_are_written_out_without_their_control_characters(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    said = capsys.readouterr().err
    assert "error: " in said
    assert not {"\x1b", "\u202e"} & set(said)


def test_a_file_name_that_is_not_utf8_still_gives_a_json_document() -> None:
    command: list[str | bytes] = [sys.executable, "-m", "metl_gui.cli.main", "show", b"/nowhere/\xff.metl", "--json"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["title"]


def test_nothing_is_loaded_before_an_interrupt_can_be_taken() -> None:
    code = "import sys, metl_gui.cli.main; print(sorted(name for name in sys.modules if name.startswith('metl_gui.')))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "['metl_gui.cli', 'metl_gui.cli.main']"


@pytest.mark.parametrize(
    "arguments", [["dctor", "--json"], ["--json", "show"], ["map", "a.metl", "--json"]], ids=" ".join
)
def test_with_json_wrong_usage_is_the_one_document_on_stdout(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    assert (ended.value.code, "usage: metl" in said.err) == (2, True)
    error = json.loads(said.out)["error"]
    assert error["title"] in said.err
    assert "--help" in error["hint"]


def test_names_behind_two_dashes_ask_for_no_document(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["doctor", "--", "--json"])
    assert capsys.readouterr().out == ""


def test_an_interrupt_while_the_program_loads_ends_with_130_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("metl_gui.cli.main.build_parser", interrupted)
    assert main(["doctor"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("left", ["signal.default_int_handler", "lambda *_: None"])
def test_a_ctrl_c_that_comes_while_python_ends_changes_no_exit_code(left: str) -> None:
    script = (
        "import signal, sys\n"
        "from metl_gui.cli import main as program\n"
        "def run(argv, *, ends_process):\n"
        f"    signal.signal(signal.SIGINT, {left})\n"
        "    return 130\n"
        "program._run = run\n"
        "code = program.main()\n"
        "assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN\n"
        "sys.exit(code)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 130
