"""A first load of messages that exist, as people do it: ``metl warehouse load`` into a DuckDB file.

Ten million messages are ten states each of a million members, which have a version for each; a place in PostgreSQL's
log stands in every message. They come as lines of JSON, and as Parquet that ``metl run`` wrote of records of Debezium.
The time is that of the command: Spark's start with it, and once more with ``--keep-session`` after a first such load.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shutil import rmtree
from statistics import median

import duckdb

from tests.benchmarks.harness import Case, figure, seconds

_MEMBERS, _SMALL = 1_000_000, 20_000
_STATES = 10
_BLOCKS = 10
_CITIES = ("Kiel", "Bonn", "Ulm", "Jena", "Hof", "Celle")
_START_MS = 1_767_225_600_000
_HOUR_MS = 3_600_000
_WANTED = {"JSON lines": 100_000, "Parquet": 250_000}
"""Messages a second."""
_WAYS: dict[str, tuple[str, ...]] = {"cold": (), "in a session that is kept": ("--keep-session",)}
"""How Spark is started."""

_ATTRIBUTES = {"id": "integer", "city": "string", "mood": "string"}
_MODEL = """
warehouse: people
tables:
  - dimension: person
    entity: person
    columns:
      - {name: city, from: city, type: text, history: 2}
      - {name: mood, from: mood, type: text, history: 1}
"""


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Yield the cases."""
    members = _SMALL if quick else _MEMBERS
    count = members * _STATES
    writers: dict[str, Callable[[Path, int], None]] = {"JSON lines": _write_lines, "Parquet": _write_parquet}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _make_project(folder)
        for form, write in writers.items():
            write(folder, members)
            size = sum(path.stat().st_size for path in (folder / "messages").rglob("p*.*"))  # people or part
            note = f"{count:,} messages of {size / count:.0f} bytes, {count:,} versions of {members:,} members: "
            for how, options in _WAYS.items():
                if options:
                    _load(folder, members, options)
                taken = [_load(folder, members, options) for _ in range(1 if quick else min(rounds, 3))]
                rates = ", ".join(f"{count / one:,.0f}" for one in taken)
                target = None if quick else count / _WANTED[form]
                title = f"DuckDB, first load of {form}, {how}"
                yield figure(title, median(taken), unit="s", target=target, note=f"{note}{rates} messages/s")
            rmtree(folder / "messages")
            _metl(folder, "doctor", "--stop-session")


def _make_project(folder: Path) -> None:
    properties = {name: {"type": type_} for name, type_ in _ATTRIBUTES.items()}
    schema = {"title": "s.people", "type": "object", "required": ["id"], "properties": properties}
    (folder / "s.people.json").write_text(json.dumps(schema))
    rows = [f"s.people,1,{name},person,1,{name}" for name in _ATTRIBUTES]
    header = "schema,schema_version,attribute,entity,entity_version,cdm_attribute"
    (folder / "mapping.csv").write_text("\n".join([header, *rows]))
    (folder / "model.yaml").write_text(_MODEL)
    attributes = [f"{name}:{type_}" for name, type_ in _ATTRIBUTES.items()]
    for command in (
        ("new", "people.metl"),
        ("entity", "people.metl", "add", "person", "--attribute", *attributes, "--key", "id"),
        ("import", "people.metl", "s.people.json", "--tree", "extraction"),
        ("map", "people.metl", "--csv", "mapping.csv"),
        ("warehouse", "import", "people.metl", "model.yaml"),
    ):
        _metl(folder, *command)


def _load(folder: Path, members: int, options: Sequence[str]) -> float:
    """Load the messages into a new file, and return the seconds that it took."""
    target = folder / "people.duckdb"
    target.unlink(missing_ok=True)
    command = "warehouse", "load", "people.metl", "--source", "messages", "--target", f"duckdb:{target.name}"
    taken = seconds(lambda: _metl(folder, *command, *options))
    with duckdb.connect(str(target), read_only=True) as connection:
        found = connection.execute("SELECT COUNT(*), COUNT(DISTINCT id) FROM person WHERE id IS NOT NULL").fetchone()
    if found != (members * _STATES, members):
        raise AssertionError(f"{found} versions and members are there, not {(members * _STATES, members)}")
    return taken


def _metl(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "metl_gui.cli.main", *arguments]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _write_lines(folder: Path, members: int) -> None:
    """Write all messages as lines of JSON."""
    _write(folder / "messages", members, _message)


def _write_parquet(folder: Path, members: int) -> None:
    """Have a run write all messages as Parquet."""
    _write(folder / "records", members, _record)
    _metl(folder, "run", "people.metl", "--source", "records", "--sink", "messages", "--format", "parquet")
    rmtree(folder / "records")


def _write(folder: Path, members: int, line: Callable[[int, int, int], str]) -> None:
    """Write a line for each state, a file for each tenth of the members."""
    folder.mkdir()
    each = members // _BLOCKS
    for block in range(_BLOCKS):
        with (folder / f"people-{block:02}.jsonl").open("w") as file:
            for state in range(_STATES):
                first = block * each
                before = (block * _STATES + state) * each
                file.writelines(line(member, state, before + member) for member in range(first, first + each))


def _message(member: int, state: int, offset: int) -> str:
    at = _START_MS + state * _HOUR_MS
    return (
        f'{{"entity":"person","version":"1","state":1,"op":"u","key":{{"id":{member}}},"ts_ms":{at},'
        f'"source":{{"schema":"s.people","version":"1","position":"s.people/0/{offset}",'
        f'"origin":{{{_order(offset)}}},"committed_at_ms":{at},"snapshot":false,'
        f'"old_key":null,"publication":null}},"payload":{_row(member, state)}}}\n'
    )


def _record(member: int, state: int, offset: int) -> str:
    at = _START_MS + state * _HOUR_MS
    return (
        f'{{"topic":"s.people","key":{{"id":{member}}},"value":{{"before":null,"after":{_row(member, state)},'
        f'"source":{{"connector":"postgresql","name":"s","ts_ms":{at},"snapshot":"false","db":"s",'
        f'"schema":"public","table":"people","txId":{offset},{_order(offset)}}},'
        f'"op":"u","ts_ms":{at}}},"partition":0,"offset":{offset},"timestamp":{at}}}\n'
    )


def _row(member: int, state: int) -> str:
    return f'{{"id":{member},"city":"{_CITIES[(member + state) % 6]}","mood":"{"xy"[state % 2]}"}}'


def _order(offset: int) -> str:
    """Return what says where in PostgreSQL's log a change lies."""
    lsn = (offset + 1) * 8
    return f'"sequence":"[\\"{lsn - 8}\\",\\"{lsn}\\"]","lsn":{lsn}'
