"""Avro data files as sources: their records, places and what becomes of damaged ones."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from metl_gui.core.trees.nodes import Side
from metl_gui.engine.kernel import wire_format
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.mapping.plan_compiler import compile_plan
from metl_gui.engine.sources.batches import FileBatch, read_batches
from metl_gui.engine.sources.files import cut_ranges, list_files
from metl_gui.errors import RunError
from metl_gui.formats.avro_container import written_long
from metl_gui.workbench.importing.schema_import import import_sources
from metl_gui.workbench.session import Workbench
from tests.helpers.sample_projects import fill

SCHEMA = {
    "type": "record",
    "name": "Payment",
    "namespace": "shop",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
}
ROWS: list[dict[str, Any]] = [{"id": number, "note": "n" * (number % 40) or None} for number in range(2_000)]
MAPPING = {"mapping": {"shop.Payment": {"payment": {"number": "id", "text": "note"}}}}


def written(codec: str = "null", rows: list[dict[str, Any]] = ROWS) -> bytes:
    stream = io.BytesIO()
    fastavro.writer(stream, SCHEMA, rows, codec=codec, sync_interval=4_000)
    return stream.getvalue()


def packed_otherwise(codec: str, pack: Callable[[bytes], bytes]) -> bytes:
    """Write a file by hand in a codec that fastavro has no library for here."""
    properties = {"avro.schema": json.dumps(SCHEMA).encode(), "avro.codec": codec.encode()}
    head = b"Obj\x01" + written_long(len(properties))
    for name, value in properties.items():
        head += written_long(len(name)) + name.encode() + written_long(len(value)) + value
    sync = b"s" * 16
    body = io.BytesIO()
    for row in ROWS:
        fastavro.schemaless_writer(body, SCHEMA, row)
    packed = pack(body.getvalue())
    return head + b"\0" + sync + written_long(len(ROWS)) + written_long(len(packed)) + packed + sync


def snappy(data: bytes) -> bytes:
    import zlib

    return bytes(pa.compress(data, "snappy", asbytes=True)) + zlib.crc32(data).to_bytes(4, "big")


def zstandard(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue().to_pybytes())


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """A project that imported the schema out of a data file, and maps it."""
    path = tmp_path / "schema.avro"
    path.write_bytes(written(rows=ROWS[:1]))
    with Workbench.create(tmp_path / "p.metl") as workbench:
        import_sources(workbench, Side.EXTRACTION, [path])
        fill(workbench, MAPPING)
        return compile_plan(workbench.document, wire=workbench.kept.writer_schemas.all())


def batches_of(path: Path, **limits: int) -> list[FileBatch]:
    files, tasks = cut_ranges(list_files(str(path)))
    return [batch for task in tasks for batch in read_batches(files, task, **limits)]


def mapped(plan: Plan, path: Path, **limits: int) -> MappedBatch:
    (batch,) = batches_of(path, **limits)
    return Kernel(plan).map(batch.records)


FILES: dict[str, Callable[[], bytes]] = {
    "null": written,
    "deflate": lambda: written("deflate"),
    "bzip2": lambda: written("bzip2"),
    "xz": lambda: written("xz"),
    "snappy": lambda: packed_otherwise("snappy", snappy),
    "zstandard": lambda: packed_otherwise("zstandard", zstandard),
    "gzip around it": lambda: gzip.compress(written()),
}


@pytest.mark.parametrize("codec", FILES)
def test_every_record_of_a_data_file_is_mapped_whatever_its_blocks_are_packed_with(
    codec: str, plan: Plan, tmp_path: Path
) -> None:
    path = tmp_path / "in.avro"
    path.write_bytes(FILES[codec]())
    outcome = mapped(plan, path)
    payloads = [json.loads(text)["payload"] for text in outcome.messages()]
    assert payloads == [{"number": row["id"], "text": row["note"]} for row in ROWS]
    positions = [json.loads(text)["source"]["position"] for text in outcome.messages()]
    places = [int(position.removeprefix("in.avro@")) for position in positions]
    assert places == sorted(set(places))
    assert outcome.counts()["by_version"] == {"shop.Payment@1": len(ROWS)}


def test_the_place_of_a_record_is_its_byte_where_blocks_are_not_packed(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "in.avro"
    path.write_bytes(written())
    (batch,) = batches_of(path)
    raw = path.read_bytes()
    for record in range(len(batch.records)):
        body = batch.records.raw(record)[10:]
        place = int(batch.records.offsets[record])
        assert raw[place : place + len(body)] == body
    assert plan.wire


def test_what_was_set_aside_maps_again_once_its_schema_is_imported(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "in.avro"
    path.write_bytes(written(rows=ROWS[:3]))
    (batch,) = batches_of(path)
    nothing = Kernel(Plan(1, "", ()))
    assert {one.reason for one in nothing.map(batch.records).set_aside} == {"unknown_schema"}
    monkeypatch.setattr(wire_format, "_learned", {})  # a replay runs in another process, which never saw the file
    lost = Kernel(Plan(1, "", ())).map(batch.records)
    assert {one.reason for one in lost.set_aside} == {"unknown_version"}
    assert "import the Avro file" in json.loads(lost.set_aside[0].text)["detail"]
    assert Kernel(plan, is_replay=True).map(batch.records).counts()["mapped"] == 3


def test_a_record_that_cannot_be_read_takes_the_rest_of_its_block_into_the_error_store(
    plan: Plan, tmp_path: Path
) -> None:
    raw = bytearray(written())
    (batch,) = batches_of(_file(tmp_path, bytes(raw)))
    offsets = batch.records.offsets.tolist()
    raw[offsets[700] + 2] = 7  # there is no such alternative
    outcome = mapped(plan, _file(tmp_path, bytes(raw)))
    (lost,) = outcome.set_aside
    assert lost.reason == "undecodable"
    assert json.loads(lost.text)["position"] == f"in.avro@{offsets[700]}"
    assert 1_500 < len(list(outcome.messages())) < len(ROWS)
    numbers = [json.loads(text)["payload"]["number"] for text in outcome.messages()]
    assert numbers[:700] == list(range(700))
    assert numbers[-1] == ROWS[-1]["id"]


@pytest.mark.parametrize("damage", ["cut", "sync", "head", "codec", "bomb"])
def test_a_damaged_file_fails_the_run_by_its_name(damage: str, tmp_path: Path) -> None:
    raw = written("deflate")
    match damage:
        case "cut":
            raw = raw[:-30]
        case "sync":
            raw = raw[:-1] + bytes([raw[-1] ^ 1])
        case "head":
            raw = raw[:40]
        case "codec":
            raw = raw.replace(b"deflate", b"mystery")
        case _:
            raw = packed_otherwise("deflate", lambda _data: _deflated_zeros(300))
    with pytest.raises(RunError, match="Avro file is cut off or damaged") as error:
        batches_of(_file(tmp_path, raw))
    assert "in.avro" in error.value.text


def test_a_record_that_is_larger_than_the_limit_is_set_aside_with_its_beginning(plan: Plan, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": 1, "note": "x" * 50_000}, {"id": 2, "note": None}]
    outcome = mapped(plan, _file(tmp_path, written(rows=rows)), limit_bytes=10_000)
    assert [one.reason for one in outcome.set_aside] == ["too_large"]
    assert outcome.counts()["mapped"] == 1


def _without_bytes(levels: int, records: int) -> bytes:
    """Write a file of a few letters whose records take no bytes, and have twice as many fields with each level."""
    schema: Any = {"type": "record", "name": "R0", "fields": [{"name": "a", "type": "null"}]}
    for level in range(1, levels):
        fields = [{"name": "a", "type": schema}, {"name": "b", "type": f"R{level - 1}"}]
        schema = {"type": "record", "name": f"R{level}", "fields": fields}
    text, sync = json.dumps(schema).encode(), b"s" * 16
    head = b"Obj\x01" + written_long(1) + written_long(11) + b"avro.schema" + written_long(len(text)) + text
    return head + b"\0" + sync + written_long(records) + b"\0" + sync


def test_a_schema_that_makes_text_without_end_of_no_bytes_is_undecodable(plan: Plan, tmp_path: Path) -> None:
    outcome = mapped(plan, _file(tmp_path, _without_bytes(60, 1)))
    (lost,) = outcome.set_aside
    assert lost.reason == "undecodable"
    assert "fields without bytes" in json.loads(lost.text)["detail"]


def test_fields_without_bytes_count_where_a_block_claims_records_of_none(tmp_path: Path) -> None:
    (batch,) = batches_of(_file(tmp_path, _without_bytes(10, 40)))
    assert len(batch.records) == 40
    with pytest.raises(RunError, match="cut off or damaged") as error:
        batches_of(_file(tmp_path, _without_bytes(10, 60_000)))
    assert "60,000 records without bytes" in error.value.text


def _file(folder: Path, raw: bytes) -> Path:
    path = folder / "in.avro"
    path.write_bytes(raw)
    return path


def _deflated_zeros(mebibytes: int) -> bytes:
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b"".join(packer.compress(bytes(2**20)) for _ in range(mebibytes)) + packer.flush()
