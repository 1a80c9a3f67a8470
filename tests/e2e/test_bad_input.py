"""A hostile or unlucky user at the command line: the exit code, the words, and nothing half-written."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from metl_gui import packaged
from metl_gui.cli.main import main
from metl_gui.workbench.demo.sample import SampleFolder, build_project
from metl_gui.workbench.session import Workbench

METL = [sys.executable, "-m", "metl_gui.cli.main"]
FX = packaged.sample_projects() / "fx"
ORDERS = "fx.payments.orders"
HEADER = "schema,schema_version,attribute,entity,entity_version,cdm_attribute\n"
ROW = f"{ORDERS},4,"
NOBODY = 65534
Said = tuple[int, str, str]
Metl = Callable[..., Said]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mapped sample, built once."""
    folder = tmp_path_factory.mktemp("sample") / "fx"
    folder.mkdir()
    for part in ("cdm", "schemas", "mapping.csv"):
        (folder / part).symlink_to(FX / part)
    sample = SampleFolder(folder)
    build_project(sample).close()
    return sample.project


@pytest.fixture
def project(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Path(shutil.copy(built, tmp_path / "fx.metl"))


@pytest.fixture
def metl(capsys: pytest.CaptureFixture[str]) -> Metl:
    def run(*arguments: object) -> Said:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        assert "Something broke" not in said.err
        return code, said.out, said.err

    return run


@contextmanager
def powerless() -> Iterator[None]:
    """Go on as a user who owns nothing, where we are root."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "cache" not in path.parts
    }


def refused(said: Said, *words: str) -> None:
    code, out, err = said
    assert code == 1
    assert err.rpartition("hint: ")[2].strip()
    for word in words:
        assert word in out + err


def to_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def to_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def other_program(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE songs (title)")
        connection.commit()


def of_version_99(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


BAD_PROJECTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "text": (lambda path: path.write_text("hello\n"), "not a METL project file"),
    "empty": (lambda path: path.write_bytes(b""), "It is empty"),
    "random": (lambda path: path.write_bytes(b"\x93\x00\xff" * 999), "not a METL project file"),
    "folder": (to_folder, "It is a folder"),
    "pipe": (to_pipe, "not a regular file"),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:30_000]), "is damaged"),
    "another program": (other_program, "SQLite database of another program"),
    "newer": (of_version_99, "newer version"),
    "gone": (lambda path: path.unlink(), "There is no project file fx.metl"),
}


@pytest.mark.parametrize("command", [["show"], ["undo"], ["show", "--json"]], ids=" ".join)
@pytest.mark.parametrize(("spoil", "words"), BAD_PROJECTS.values(), ids=BAD_PROJECTS.keys())
def test_what_is_no_project_file_is_named_and_left_as_it_is(
    metl: Metl, project: Path, spoil: Callable[[Path], object], words: str, command: list[str]
) -> None:
    spoil(project)
    before = files_of(project.parent)
    said = metl(command[0], project, *command[1:])
    refused(said, words, "fx.metl")
    assert files_of(project.parent) == before
    if "--json" in command:
        assert set(json.loads(said[1])["error"]) == {"title", "text", "hint"}
    else:
        assert said[1] == ""


def test_a_held_project_is_not_edited_and_can_be_read(metl: Metl, project: Path) -> None:
    with Workbench.open(project):
        refused(metl("undo", project), "is being edited by", "read only")
        assert metl("show", project)[0] == 0


@pytest.fixture
def closed_folder(built: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that others may read and nobody may write, with a project and a folder that nobody may read."""
    with tempfile.TemporaryDirectory(prefix="metl-") as name:
        folder = Path(name)
        shutil.copy(built, folder / "fx.metl")
        shutil.copytree(FX / "waiting", folder / "closed")
        (folder / "fx.metl").chmod(0o444)
        (folder / "closed").chmod(0)
        folder.chmod(0o555)
        monkeypatch.chdir(folder)
        yield folder
        folder.chmod(0o755)
        (folder / "closed").chmod(0o755)


@pytest.mark.logs(r"Permission denied")
def test_folders_and_files_without_access_are_named(metl: Metl, closed_folder: Path) -> None:
    project, closed = closed_folder / "fx.metl", closed_folder / "closed"
    with powerless():
        assert metl("show", project)[0] == 0
        refused(metl("undo", project), "fx.metl cannot be written")
        refused(metl("new", closed_folder / "other.metl"), "other.metl", "cannot be opened")
        refused(metl("export", project, "--format", "csv", "-o", "out.csv"), "out.csv", "Permission denied")
        refused(metl("run", project, "--source", closed, "--sink", "noop"), str(closed), "Permission denied")
        refused(metl("run", project, "--source", closed / "x", "--sink", "noop"), str(closed), "Permission denied")
    assert {path.name for path in closed_folder.iterdir()} == {"fx.metl", "closed"}


BAD_TABLES: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "unknown schema": (f"{HEADER}fx.payments.order,4,memo,payment,2.0.0,amount\n".encode(), ("line 2", ORDERS)),
    "unknown version": (f"{HEADER}{ORDERS},44,memo,payment,2.0.0,amount\n".encode(), ("line 2", "'44'")),
    "unknown attribute": (f"{HEADER}\n{ROW}mem,payment,2.0.0,amount\n".encode(), ("line 3", "Did you mean memo")),
    "unknown entity": (f"{HEADER}{ROW}memo,paymnt,2.0.0,amount\n".encode(), ("line 2", "payment?")),
    "unknown entity version": (f"{HEADER}{ROW}memo,payment,9,amount\n".encode(), ("line 2", "'9'")),
    "unknown CDM attribute": (f"{HEADER}{ROW}memo,payment,2.0.0,amont\n".encode(), ("line 2", "amount?")),
    "1:1": (
        f"{HEADER}{ROW}amount,payment,2.0.0,amount\n\n{ROW}memo,payment,2.0.0,amount\n".encode(),
        ("line 2", "line 4", "each attribute is used once", "--take-proposal"),
    ),
    "quoted line end": (f'{HEADER}{ROW}"me\nmo",payment,2.0.0,amount\n{ROW}x\n'.encode(), ("line 2", "line 4")),
    "header": (b"a,b,c\n1,2,3\n", ("no column schema", "first line must be")),
    "empty": (b"", ("nothing in its first line",)),
    "open quote": (f'{HEADER}{ROW}"memo,payment,2.0.0,amount\n'.encode(), ("line 2", "never closed")),
    "latin-1": (f"{HEADER}{ROW}mémo,payment,2.0.0,amount\n".encode("latin-1"), ("Line 2", "not UTF-8")),
    "UTF-16": (HEADER.encode("utf-16"), ("Line 1", "not UTF-8")),
    "NUL": (f"{HEADER}{ROW}me\0mo,payment,2.0.0,amount\n".encode(), ("Line 2", "NUL")),
    "control characters": (f"{HEADER}a\x1b[31m,4,memo,payment,2.0.0,amount\n".encode(), ("line 2", "a\\x1b[31m")),
    "turned writing": (f"{HEADER}a\u202eb,4,memo,payment,2.0.0,amount\n".encode(), ("line 2", "a\\u202eb")),
    "long line": (HEADER.encode() + b"x" * (3 << 20), ("Line 2", "too long")),
}


@pytest.mark.parametrize(("content", "words"), BAD_TABLES.values(), ids=BAD_TABLES.keys())
def test_a_table_that_cannot_be_followed_is_refused_by_line_and_nothing_is_written(
    metl: Metl, project: Path, content: bytes, words: tuple[str, ...]
) -> None:
    Path("bad.csv").write_bytes(content)
    before = metl("show", project)
    refused(metl("map", project, "--csv", "bad.csv"), "bad.csv", *words)
    assert metl("show", project) == before


def test_only_a_clash_is_told_that_the_largest_part_can_be_taken(metl: Metl, project: Path) -> None:
    Path("bad.csv").write_bytes(BAD_TABLES["unknown attribute"][0])
    assert "--take-proposal" not in metl("map", project, "--csv", "bad.csv")[2]


def test_a_pipe_is_not_waited_for(metl: Metl, project: Path) -> None:
    os.mkfifo("pipe.csv")
    refused(metl("map", project, "--csv", "pipe.csv"), "not a file")
    refused(metl("run", project, "--source", "pipe.csv", "--sink", "noop"), "a pipe or a device")
    refused(metl("export", project, "--format", "csv", "-o", "pipe.csv"), "no regular file")
    refused(metl("import", project, "--tree", "extraction", "pipe.csv"), "no regular file")


def test_ranges_of_versions_are_added_and_not_replaced_and_what_is_left_is_listed(project: Path, metl: Metl) -> None:
    Path("all.csv").write_text(HEADER + f"{ORDERS},*,amount,payment,2.0.0,payer_id\n", "utf-8")
    code, out, _ = metl("map", project, "--csv", "all.csv", "--dry-run")
    assert code == 0
    assert f"left, line 2: {ORDERS}@4:payment@2.0.0: an end is taken" in out
    code, _, told = metl("map", project, "--csv", "all.csv", "--replace")
    assert code == 1
    assert "1 place" in told
    code, _, told = metl("map", project, "--csv", "all.csv", "--replace", "--all-versions")
    assert code == 2
    assert "--all-versions" in told


def schema(**properties: object) -> bytes:
    return json.dumps({"type": "object", "properties": properties}).encode()


BAD_SCHEMAS: dict[str, tuple[bytes, str]] = {
    "broken-reference.json": (schema(a={"$ref": "#/definitions/none"}), "#/definitions/none"),
    "far-reference.json": (schema(a={"$ref": "https://example.com/x.json"}), "not in the file"),
    "type.json": (schema(a={"type": "strng"}), "'strng'"),
    "cut.json": (b'{"type": "object", "properties": {"a":', "not valid JSON"),
    "twice.json": (b'{"type":"object","properties":{"a":{},"a":{}}}', "stands twice"),
    "deep.json": (b'{"properties":{"a":' * 3000 + b"{}" + b"}}" * 3000, "nested too deeply"),
    "brackets.json": (b"[" * 1_000_000, "nested too deeply"),
    "deep.yaml": (b"[" * 5000, "nested too deeply"),
    "bomb.yaml": (
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 9)) for n in range(12)),
        "cannot be used",
    ),
    "circle.yaml": (b"type: object\nproperties: &p\n  a: *p\n", "can never be resolved"),
    "program.yaml": (b"!!python/object/apply:os.system ['exit']\n", "Tags of programs are not read"),
    "latin-1.json": ('{"type":"object","properties":{"é":{}}}'.encode("latin-1"), "not UTF-8"),
    "nul.json": (b'{"type":"object","properties":{"a\0":{}}}', "NUL"),
    "model.avsc": (b'{"type":"record","name":"x","fields":[]}', "Avro schema"),
    "model.proto": (b'syntax = "proto3"; message A {}', "Protobuf schema"),
    "empty.json": (b"", "It is empty"),
    "cut.jsonl.gz": (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb", "cut off or damaged"),
}


def test_each_bad_schema_is_refused_by_name_and_the_good_one_is_imported(metl: Metl, project: Path) -> None:
    folder = Path("schemas")
    folder.mkdir()
    (folder / "good.json").write_bytes(schema(a={"type": "string"}))
    for name, (content, _) in BAD_SCHEMAS.items():
        (folder / name).write_bytes(content)
    (folder / os.fsdecode(b"odd\xff.json")).write_bytes(schema(a={"type": "string"}))
    code, out, _ = metl("import", project, "--tree", "extraction", folder, "--json")
    document = json.loads(out)
    assert code == 0
    assert [version["name"] for version in document["added"]] == ["good"]
    reasons = {Path(refusal["source"]).name: refusal["reason"] for refusal in document["refused"]}
    assert reasons.pop(os.fsdecode(b"odd\xff.json")).startswith("Its name is not UTF-8")
    assert reasons.keys() == BAD_SCHEMAS.keys()
    for name, (_, words) in BAD_SCHEMAS.items():
        assert words in reasons[name], name


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "no such file"),
        ("nothing.json", "no such file"),
        ("*.nothing", "matches no file"),
        ("folder", "holds no file"),
        ("http://localhost:1/subjects", "does not answer"),
        ("/dev/zero", "no regular file"),
        ("loop.json", "no such file"),
    ],
)
def test_a_source_that_names_nothing_is_refused(metl: Metl, project: Path, source: str, words: str) -> None:
    Path("folder").mkdir()
    Path("loop.json").symlink_to("loop.json")
    refused(metl("import", project, "--tree", "cdm", source), words, "Nothing was imported")


def test_another_content_under_a_label_that_is_there_is_refused(metl: Metl, project: Path) -> None:
    for folder, name in (("one", "a"), ("two", "b")):
        Path(folder, "bill").mkdir(parents=True)
        Path(folder, "bill", "bill-1.0.0.json").write_bytes(schema(**{name: {"type": "string"}}))
    assert metl("import", project, "--tree", "extraction", "one")[0] == 0
    refused(metl("import", project, "--tree", "extraction", "two"), "bill-1.0.0.json", "there already")


def test_names_from_files_do_not_speak_to_the_terminal(metl: Metl, project: Path) -> None:
    Path("names").mkdir()
    for name in ("a\nb", "\x1b[31mred", "-dash", "a@1:b", "q\"uo'te", "ü€"):
        Path("names", f"{name}.json").write_bytes(schema(a={"type": "string"}))
    code, out, err = metl("import", project, "--tree", "extraction", "names")
    assert code == 0
    assert "\x1b" not in out + err
    assert "a\\x0ab version 1" in out
    assert metl("search", project, "--forward", "a@1:b.a")[0] == 0
    code, _, err = metl("search", project, "--forward", "no\nsuch\x1b[0m")
    assert (code, err.count("\n")) == (1, 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--source", "nothing.jsonl", "--sink", "noop"], "There is no nothing.jsonl"),
        (["--source", "", "--sink", "noop"], "No source is named"),
        (["--source", "folder", "--sink", "noop"], "source is empty"),
        (["--source", "*.nothing", "--sink", "noop"], "matches nothing"),
        (["--source", "kafka://localhost:1/topic", "--sink", "noop"], "The Kafka servers do not answer"),
        (["--source", "~nobody-at-all/x", "--sink", "noop"], "cannot be found"),
        (["--source", "{cdc}", "--sink", "full"], "holds data"),
        (["--source", "{cdc}", "--sink", "fx.metl"], "is not a folder"),
        (["--source", "{cdc}", "--sink", "ftp://x/y"], "sink is not known"),
        (["--source", "{cdc}", "--sink", "same", "--errors", "same"], "two folders"),
        (["--source", "{cdc}", "--sink", os.fsdecode(b"odd\xff")], "not UTF-8"),
        (["--source", "{cdc}", "--sink", "loop"], "cannot be found"),
        (["--source", "{cdc}", "--sink", "noop", "--spark", "spark://127.0.0.1:1"], "does not answer"),
        (["--source", "{cdc}", "--sink", "noop", "--spark", "local[0]"], "that many threads"),
        (["--source", "{cdc}", "--sink", "noop", "--spark", "local[100000]"], "that many threads"),
        (["--source", "{cdc}", "--sink", "noop", "--spark", "nonsense"], "nonsense is none of local"),
        (["--source", "{cdc}", "--sink", "noop", "--mode", "production", "--state", "3"], "State 3 of fx.metl is not"),
        (["--source", "{cdc}", "--sink", "noop", "--state", "-1"], "no state -1"),
    ],
)
def test_a_run_that_cannot_start_is_refused_before_spark_starts(
    metl: Metl, project: Path, arguments: list[str], words: str
) -> None:
    Path("folder").mkdir()
    Path("full").mkdir()
    Path("full", "data").write_text("mine")
    Path("loop").symlink_to("loop")
    before = files_of(project.parent)
    said = metl("run", project, *(argument.format(cdc=FX / "cdc") for argument in arguments))
    refused(said, words)
    assert "Waiting for Spark" not in said[2]
    assert files_of(project.parent) == before


@pytest.mark.parametrize("home", ["", "old"], ids=["no Java", "Java 8"])
def test_a_missing_or_old_java_is_said_with_the_way_to_one(
    metl: Metl, project: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    program = Path("old", "bin", "java")
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_292\"' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(Path(home).resolve()) if home else "")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("METL_JVM_FOLDER", "/nowhere")
    said = metl("run", project, "--source", FX / "cdc", "--sink", "noop")
    refused(said, "Java 17 or newer is missing", "metl doctor --fix", "Java 8" if home else "No Java was found")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("fx.metl", "name of a project file"),
        ("/dev/full", "no regular file"),
        (".", "is a folder"),
        ("nowhere/out.json", "nowhere/out.json cannot be written"),
    ],
)
def test_an_export_never_takes_the_place_of_something_else(metl: Metl, project: Path, target: str, words: str) -> None:
    before = files_of(project.parent)
    refused(metl("export", project, "--format", "json", "-o", target), words)
    assert files_of(project.parent) == before


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["show"],
        ["show", "fx.metl", "--state", "x"],
        ["import", "fx.metl", "x"],
        ["import", "fx.metl", "--tree", "x", "y"],
        ["run", "fx.metl"],
        ["run", "fx.metl", "--source", "x", "--sink", "noop", "--limit", "0"],
        ["history", "fx.metl", "--limit", "9" * 30],
        ["history", "fx.metl", "--limit", "x"],
        ["export", "fx.metl", "--format", "spreadsheet", "-o", "x"],
        ["publish", "fx.metl", "--state", "x"],
        ["publish"],
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2_and_says_nothing_on_stdout(metl: Metl, project: Path, arguments: list[str]) -> None:
    code, out, err = metl(*arguments)
    assert (code, out) == (2, "")
    assert "usage: metl" in err
    assert project.exists()


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; metl() {{ {" ".join(METL)} "$@"; }}; {command}'],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("metl check fx.metl | head -1", 0),
        ("metl show gone.metl --json | true", 1),
        ("metl show fx.metl >&-", 0),
        ("metl show fx.metl --json >&- 2>&- <&-", 0),
        ("metl show gone.metl 2>&-", 1),
        ("metl check fx.metl >/dev/full", 1),
        ("metl show gone.metl --json >/dev/full", 1),
        ("metl show gone.metl 2>/dev/full", 1),
    ],
)
def test_standard_streams_that_are_closed_full_or_left_break_nothing(project: Path, command: str, code: int) -> None:
    done = shell(command, project.parent)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_an_import_goes_on_when_nobody_reads_its_notes(project: Path) -> None:
    shell("metl new other.metl", project.parent)
    shell(f"metl import other.metl --tree extraction {FX / 'schemas'} 2>&1 | head -c 1", project.parent)
    said = shell("metl show other.metl --json", project.parent)
    assert json.loads(said.stdout)["schemas"] == len(list((FX / "schemas").iterdir()))


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"HOME": "/nowhere", "XDG_DATA_HOME": "/proc/none", "XDG_CACHE_HOME": "/proc/none"},
    ],
    ids=["C locale", "ascii output", "no home"],
)
def test_reading_a_project_needs_no_locale_and_no_home(project: Path, environment: dict[str, str]) -> None:
    project.rename(project.parent / "fü.metl")
    done = shell("metl show f*.metl && metl show gone-ü.metl", project.parent, **environment)
    assert done.returncode == 1
    assert "State " in done.stdout
    assert "There is no project file gone-" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def heard_hangup() -> Iterator[None]:
    """Let a program that the test starts hear a hangup, also where ``nohup`` has the tests ignore theirs."""
    # What is ignored stays so in another program, a handler does not.
    before = signal.signal(signal.SIGHUP, lambda *_: None)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("heard_hangup")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_long_work_that_is_ended_stops_in_order_and_changes_nothing(
    metl: Metl, project: Path, ending: signal.Signals
) -> None:
    with Path("long.csv").open("w") as table:
        table.write(HEADER)
        table.writelines(f"{ROW}memo{n},payment,2.0.0,amount\n" for n in range(200_000))
    before = metl("show", project)
    command = [*METL, "map", str(project), "--csv", "long.csv"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    ) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith("Reading")
        running.send_signal(ending)
        said = running.stderr.read()
    assert running.returncode == 130, said
    assert "Cancelled." in said
    assert "Traceback" not in said
    assert metl("show", project) == before
