"""Avro on a real Spark: framed values and data files, set aside without their schemas, then replayed."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path

import fastavro
import pytest

from metl_gui.core.trees.nodes import Side
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.workbench.importing.schema_import import import_sources
from metl_gui.workbench.runs.mapping_run import run_mapping
from metl_gui.workbench.runs.replay import replay
from metl_gui.workbench.session import Workbench
from tests.helpers.run_requests import replay_request, run_request
from tests.helpers.sample_projects import fill

SCHEMA = {
    "type": "record",
    "name": "Payment",
    "namespace": "shop",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
}
REGISTRY = {"subject": "shop.Payment-value", "version": 1, "id": 4, "schema": json.dumps(SCHEMA)}
ROWS = [{"id": number, "note": f"n{number}"} for number in range(300)]


@pytest.fixture
def workbench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Workbench.create(tmp_path / "p.metl") as opened:
        yield opened


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with a data file and with values in Confluent framing."""
    folder = tmp_path / "in"
    folder.mkdir()
    with (folder / "data.avro").open("wb") as file:
        fastavro.writer(file, SCHEMA, ROWS[:200], codec="deflate")
    lines = []
    for row in ROWS[200:]:
        body = io.BytesIO()
        fastavro.schemaless_writer(body, SCHEMA, row)
        framed = b"\0" + (4).to_bytes(4, "big") + body.getvalue()
        lines.append(json.dumps({"topic": "shop.Payment", "value_b64": base64.b64encode(framed).decode()}))
    (folder / "wire.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def test_avro_is_set_aside_without_its_schemas_and_maps_when_they_are_imported(
    workbench: Workbench, source: Path, tmp_path: Path, spark: SparkProcess
) -> None:
    errors = tmp_path / "errors"
    first = run_mapping(workbench, run_request(str(source), errors=str(errors)), spark).report
    assert (first.read, first.set_aside) == (300, 300)
    assert first.by_reason == {"unknown_schema": 200, "unknown_version": 100}
    (tmp_path / "registry.json").write_text(json.dumps(REGISTRY))
    import_sources(workbench, Side.EXTRACTION, [tmp_path / "registry.json"])
    fill(workbench, {"mapping": {"shop.Payment": {"payment": {"number": "id", "text": "note"}}}})
    second = replay(workbench, replay_request(str(errors)), spark)
    done = second.report
    assert (done.read, done.mapped) == (300, 300)
    parts = Path(done.outputs).rglob("*.jsonl")
    messages = [json.loads(line) for part in parts for line in part.read_bytes().splitlines()]
    assert sorted(message["payload"]["number"] for message in messages) == [row["id"] for row in ROWS]
    assert {message["source"]["position"].partition("@")[0] for message in messages} == {"data.avro", "wire.jsonl"}
    assert all(message["replayed"] for message in messages)
