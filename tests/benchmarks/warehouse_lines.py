"""A first load of messages that exist, as people do it: ``metl warehouse load`` of lines of JSON into a DuckDB file.

Ten million messages are ten states each of a million members, which have a version for each; a place in PostgreSQL's
log stands in every message. The time is that of the command, Spark's start with it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import duckdb

from tests.benchmarks.harness import Case, figure, seconds

_MEMBERS, _SMALL = 1_000_000, 20_000
_STATES = 10
_BLOCKS = 10
_CITIES = ("Kiel", "Bonn", "Ulm", "Jena", "Hof", "Celle")
_START_MS = 1_767_225_600_000
_HOUR_MS = 3_600_000
_WANTED = 100_000
"""Messages a second."""

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
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _make_project(folder)
        size = _write_lines(folder / "lines", members)
        taken = [seconds(lambda: _load(folder)) for _ in range(1 if quick else min(rounds, 3))]
        count = members * _STATES
        with duckdb.connect(str(folder / "people.duckdb"), read_only=True) as connection:
            found = connection.execute(
                "SELECT COUNT(*), COUNT(DISTINCT id) FROM person WHERE id IS NOT NULL"
            ).fetchone()
        if found != (count, members):
            raise AssertionError(f"{found} versions and members are there, not {(count, members)}")
    rates = ", ".join(f"{count / one:,.0f}" for one in taken)
    note = f"{count:,} lines of {size / count:.0f} bytes, {count:,} versions of {members:,} members: {rates} messages/s"
    target = None if quick else count / _WANTED
    yield figure("DuckDB, first load of JSON lines", median(taken), unit="s", target=target, note=note)


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


def _load(folder: Path) -> None:
    (folder / "people.duckdb").unlink(missing_ok=True)
    _metl(folder, "warehouse", "load", "people.metl", "--source", "lines", "--target", "duckdb:people.duckdb")


def _metl(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "metl_gui.cli.main", *arguments]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _write_lines(folder: Path, members: int) -> int:
    """Write all messages, a file for each tenth of the members, and return how many bytes they have."""
    folder.mkdir()
    each = members // _BLOCKS
    for block in range(_BLOCKS):
        with (folder / f"people-{block:02}.jsonl").open("w") as file:
            for state in range(_STATES):
                first = block * each
                file.writelines(
                    _message(member, state, (block * _STATES + state) * each) for member in range(first, first + each)
                )
    return sum(path.stat().st_size for path in folder.iterdir())


def _message(member: int, state: int, before: int) -> str:
    at, lsn = _START_MS + state * _HOUR_MS, (before + member + 1) * 8
    return (
        f'{{"entity":"person","version":"1","state":1,"op":"u","key":{{"id":{member}}},"ts_ms":{at},'
        f'"source":{{"schema":"s.people","version":"1","position":"s.people/0/{before + member}",'
        f'"origin":{{"sequence":"[\\"{lsn - 8}\\",\\"{lsn}\\"]","lsn":{lsn}}},"committed_at_ms":{at},"snapshot":false,'
        f'"old_key":null,"publication":null}},"payload":{{"id":{member},"city":"{_CITIES[(member + state) % 6]}",'
        f'"mood":"{"xy"[state % 2]}"}}}}\n'
    )
