"""Write the files of the sample from the captured records: schemas, the waiting version, messages, mapping, counts."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from making.captured import UNAVAILABLE, Record
from making.hostile import hostile_file
from making.mapping import mapping_csv
from making.services import SERVICES, WAITING

PLAIN = "cdc/{service}.jsonl"
WITH_SCHEMAS = {
    "fx.payments.refunds": "cdc/payments.refunds.with-schemas.jsonl",
    "fx.customers.consent": "cdc/customers.consent.with-schemas.jsonl",
}
PACKED = {"rates"}
HOSTILE = "cdc/hostile.jsonl"
HOSTILE_FROM = "accounts"
AMONG_HOSTILE = 48
KINDS = ("r", "c", "u", "d", "t", "tombstone", "heartbeat", "transaction", "message", "hostile")


class Offsets:
    """Numbers the records of each topic, as one broker with one partition would."""

    def __init__(self) -> None:
        self._next: Counter[str] = Counter()

    def take(self, topic: str) -> int:
        """Return the next offset of a topic."""
        offset = self._next[topic]
        self._next[topic] += 1
        return offset


def file_of(service: str, record: Record) -> str:
    """Tell the file that a record goes to; the heartbeats of ``customers`` have schemas too."""
    if record.topic in WITH_SCHEMAS:
        return WITH_SCHEMAS[record.topic]
    if service == "customers" and record.kind == "heartbeat":
        return WITH_SCHEMAS["fx.customers.consent"]
    return PLAIN.format(service=service) + (".gz" if service in PACKED else "")


def hostile_start(records: list[Record]) -> int:
    """Return where the records that go among the hostile lines begin; the clock's heartbeats do not count."""
    steady = [number for number, record in enumerate(records) if record.kind != "heartbeat"]
    return steady[-AMONG_HOSTILE]


def first_of_each_version(records: Iterable[Record]) -> dict[str, dict[int, Record]]:
    """Return, per topic, the first record of each version that holds a row."""
    found: dict[str, dict[int, Record]] = {}
    for record in records:
        if record.version is not None and record.kind in {"r", "c", "u"}:
            found.setdefault(record.topic, {}).setdefault(record.version, record)
    return found


def write_bytes(path: Path, content: bytes) -> None:
    """Write one file, packed when its name says so, the same bytes for the same content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def write_schemas(records: list[Record], folder: Path) -> dict[str, int]:
    """Write the first message of each version, the waiting one apart.

    Returns:
        how many versions of each schema stand in ``schemas``.
    """
    waiting = f"fx.{'.'.join(WAITING)}"
    known = {}
    for topic, versions in sorted(first_of_each_version(records).items()):
        newest = max(versions) if topic == waiting else None
        lines = {version: record.line(0, with_schemas=True).encode() for version, record in sorted(versions.items())}
        if newest:
            write_bytes(folder / "waiting" / f"{topic}.jsonl", lines.pop(newest) + b"\n")
        write_bytes(folder / "schemas" / f"{topic}.jsonl", b"\n".join(lines.values()) + b"\n")
        known[topic] = len(lines)
    return known


def counts_of(files: dict[str, list[Record]], places: list[dict[str, Any]], known: dict[str, int]) -> dict[str, Any]:
    """Return what ``counts.json`` says."""
    per_file = {}
    for name, records in sorted(files.items()):
        kinds = Counter(record.kind for record in records)
        kinds["hostile"] = len(places) if name == HOSTILE else 0
        per_file[name] = {"lines": kinds.total(), **{kind: kinds[kind] for kind in KINDS}}
    everything = [record for records in files.values() for record in records]
    totals = {column: sum(row[column] for row in per_file.values()) for column in ("lines", *KINDS)}
    versions: dict[str, dict[str, Counter[str]]] = {}
    for record in everything:
        if record.version:
            per_version = versions.setdefault(record.topic, {})
            per_version.setdefault(str(record.version), Counter())[record.kind] += 1
    waiting = f"fx.{'.'.join(WAITING)}"
    return {
        "files": per_file,
        "totals": totals,
        "rows": sum(totals[kind] for kind in "rcudt"),
        "marks": {
            "unavailable": sum(UNAVAILABLE in (record.off["value"] or "") for record in everything),
            "key_changes": sum(record.kind == "c" and bool(record.off["headers"]) for record in everything),
            "with_schemas": sum(len(files[name]) for name in WITH_SCHEMAS.values()),
        },
        "schemas": known,
        "waiting": {"schema": waiting, "version": str(known[waiting] + 1)},
        "versions": {topic: dict(sorted(found.items())) for topic, found in sorted(versions.items())},
        "hostile_lines": places,
    }


def settings_csv() -> str:
    """Return the settings of schemas: where local times hold."""
    zones = {f"fx.{service.name}.{table.name}": table.time_zone for service in SERVICES for table in service.tables}
    lines = [f"{name},time_zone,{zone}" for name, zone in zones.items() if zone]
    return "\n".join(["schema,setting,value", *lines]) + "\n"


def readme_table(counts: dict[str, Any]) -> str:
    """Return the counts as the table that stands in README.md."""
    columns = ("lines", *KINDS)
    lines = [f"| file | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    rows = [*counts["files"].items(), ("**all**", counts["totals"])]
    lines += [f"| {name} | {' | '.join(str(row[column]) for column in columns)} |" for name, row in rows]
    return "\n".join(lines)


def update_readme(path: Path, counts: dict[str, Any]) -> None:
    """Put the counts between the two marks in README.md."""
    begin, end = "<!-- counts: written by make.py -->", "<!-- end of counts -->"
    text = path.read_text(encoding="utf-8")
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    path.write_text(f"{head}{begin}\n{readme_table(counts)}\n{end}{tail}", encoding="utf-8")


def write_sample(captured: dict[str, list[Record]], folder: Path) -> None:
    """Write everything but the CDM, which people wrote.

    Args:
        captured: the records of each service in the order of the engine.
        folder: the sample's folder.
    """
    for old in ("schemas", "waiting", "cdc"):
        shutil.rmtree(folder / old, ignore_errors=True)
    known = write_schemas([record for records in captured.values() for record in records], folder)
    files: dict[str, list[Record]] = {}
    lines: dict[str, list[bytes]] = {}
    offsets, with_schemas = Offsets(), set(WITH_SCHEMAS.values())
    for service, records in captured.items():
        among = hostile_start(records) if service == HOSTILE_FROM else len(records)
        for number, record in enumerate(records):
            name = HOSTILE if number >= among else file_of(service, record)
            line = record.line(offsets.take(record.topic), name in with_schemas)
            files.setdefault(name, []).append(record)
            lines.setdefault(name, []).append(line.encode())
    newest = [record for record in files[HOSTILE] if record.topic == "fx.accounts.account" and record.kind == "c"][-1]
    hostile, places = hostile_file(lines.pop(HOSTILE), newest)
    for name, content in lines.items():
        write_bytes(folder / name, b"\n".join(content) + b"\n")
    write_bytes(folder / HOSTILE, hostile)
    (folder / "mapping.csv").write_text(mapping_csv(), encoding="utf-8")
    (folder / "settings.csv").write_text(settings_csv(), encoding="utf-8")
    counts = counts_of(files, places, known)
    (folder / "counts.json").write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    update_readme(folder / "README.md", counts)
