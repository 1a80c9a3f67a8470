from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.core.project.source_formats import Format, parse_format
from metl_gui.errors import SchemaError
from metl_gui.registry.files import sources as folders
from metl_gui.registry.files.format_detection import detect

SCHEMA = {"title": "customer", "type": "object", "properties": {"id": {"type": "integer"}}}
ENVELOPE = {"before": None, "after": {"id": 1}, "source": {"name": "srv", "db": "s", "table": "t"}, "op": "c"}
STRUCT = {"type": "struct", "name": "srv.s.t.Value", "fields": [{"field": "id", "type": "int32"}]}
AVRO = {"type": "record", "name": "t", "fields": [{"name": "id", "type": "int"}]}

FILES = {
    "schema.json": (json.dumps(SCHEMA), Format.JSON_SCHEMA),
    "1-0-0": (json.dumps(SCHEMA, indent=1), Format.JSON_SCHEMA),
    "schema.yaml": ("title: x\nproperties: {a: {}}\n", Format.JSON_SCHEMA),
    "broken.json": ('{"title": "x",', Format.JSON_SCHEMA),
    "lines.jsonl": ("garbage\n", Format.CONNECT_JSON),
    "lines.txt": (json.dumps(ENVELOPE) + "\n" + json.dumps(ENVELOPE), Format.CONNECT_JSON),
    "half.txt": (json.dumps(ENVELOPE) + '\n{"before": ', Format.CONNECT_JSON),
    "one.json": (json.dumps(ENVELOPE, indent=2), Format.CONNECT_JSON),
    "array.json": (json.dumps([ENVELOPE, ENVELOPE]), Format.CONNECT_JSON),
    "tombstones": ("null\nnull\n", Format.CONNECT_JSON),
    "value.json": (json.dumps({"schema": STRUCT, "payload": {"id": 1}}), Format.CONNECT_JSON),
    "row.json": (json.dumps({"id": 1, "type": "object", "properties": "x"}), Format.CONNECT_JSON),
    "event.json": (json.dumps({"$schema": "/a/b/1.0.0", "meta": {"stream": "s"}}), Format.CONNECT_JSON),
    "struct.json": (json.dumps(STRUCT), Format.CONNECT_SCHEMA),
    "avro.json": (json.dumps(AVRO), Format.AVRO),
    "t.avsc": (json.dumps(AVRO), Format.AVRO),
    "types.json": (json.dumps([AVRO]), Format.AVRO),
    "t.avpr": (json.dumps({"protocol": "p", "types": [AVRO]}), Format.AVRO),
    "answer.json": (json.dumps({"subject": "t-value", "id": 7, "schema": json.dumps(AVRO)}), Format.AVRO),
    "t.avdl": ("protocol P { record t { int id; } }", None),
    "t.proto": ('syntax = "proto3";', None),
    "plain-proto": ('syntax = "proto3";\nmessage A { int32 id = 1; }', None),
    "plain-thrift": ("namespace java com.x\nstruct A {\n 1: i32 id }", None),
    "page.xsd": ("<schema/>", None),
    "plain-xml": ("<?xml version='1.0'?><a/>", None),
    "gold.csv": ("a,b\n", None),
    "README.md": ("# Words\n", None),
    "empty.json": ("  \n", None),
    "numbers.json": ("[1, 2]", None),
    "two.json": (json.dumps(SCHEMA) + json.dumps(SCHEMA), None),
    "listing.json": (json.dumps({"subjects": {"a": [1]}, "schemas": {}}), Format.AVRO),
    "names.json": (json.dumps({"subjects": ["a-value"]}), None),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_told_by_its_content(tmp_path: Path, name: str) -> None:
    content, expected = FILES[name]
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    found = detect(path)
    assert found.format == expected
    assert bool(found.reason) == (expected is None)


@pytest.mark.parametrize("kind", ["protobuf", "thrift"])
def test_a_schema_of_another_language_is_refused_by_its_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "com.x" / "Thing" / kind / "1-0-0"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    (refusal,) = folders.read([tmp_path]).refused
    assert "com.x/Thing" in refusal.reason
    assert kind in refusal.reason.lower()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "openapi: 3.0.3\ninfo: {title: x}\npaths: {}\n"),
        ("b.yml", "# ours\nasyncapi: '2.6.0'\ninfo: {title: x}\n"),
        ("c.json", '{"openapi": "3.0.3", "info": {"title": "x"}, "components": {"schemas": {}}}'),
        ("d.json", '{"swagger": "2.0", "info": {}, "definitions": {"A": {"type": "object"}}}'),
    ],
)
def test_a_description_of_an_api_is_refused_as_one(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (refusal,) = folders.read([tmp_path]).refused
    assert refusal.reason.startswith(f"{name} describes an API")


def test_every_file_of_a_folder_is_imported_or_refused(tmp_path: Path) -> None:
    for name, (content, _) in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    found = folders.read([tmp_path])
    seen = {v.source for v in found.declarations} | {refusal.source for refusal in found.refused}
    silent = {path.name for path in tmp_path.iterdir()} - {Path(source.split(" (")[0]).name for source in seen}
    assert {FILES[name][1] for name in silent} == {Format.CONNECT_JSON}, "only messages say again what others said"
    assert {v.name for v in found.declarations} == {"customer", "x", "srv.s.t", "t"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b'{"title": "\xff", "properties": {"a": {}}}', "not UTF-8"),
        (json.dumps(SCHEMA).encode("utf-16"), "UTF-16"),
        (json.dumps(SCHEMA).encode() + b"\0", "NUL"),
        (b'{"properties": ' * 100_000, "nested too deeply"),
        (b"[" * 100_000, "nested too deeply"),
        (b"-" * 100, "Neither its name nor its content"),
        (b'{"properties": {"a": {}}} ' * 2, "more than one JSON document"),
    ],
)
def test_hostile_content_is_refused_with_a_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "hostile").write_bytes(content)
    found = folders.read([tmp_path])
    assert not found.declarations
    assert sentence in found.refused[0].reason


def test_a_document_of_200_megabytes_is_refused_without_being_parsed(tmp_path: Path) -> None:
    for name in ("large.json", "large.yaml"):
        with (tmp_path / name).open("wb") as file:
            file.write(b'{"title": "')
            file.truncate(200 * 2**20)
        (refusal,) = folders.read([tmp_path / name]).refused
        assert "large" in refusal.reason


def test_versions_of_one_name_are_handed_over_in_label_order(tmp_path: Path) -> None:
    for label in ("1-0-10", "1-0-9", "2-0-0", "1-1-0"):
        own = {"vendor": "com.x", "name": "a", "version": label}
        (tmp_path / label).write_text(json.dumps({**SCHEMA, "self": own}))
    labels = [version.label for version in folders.read([tmp_path]).declarations]
    assert labels == ["1-0-9", "1-0-10", "1-1-0", "2-0-0"]


def test_files_are_named_by_their_place_below_the_folder(tmp_path: Path) -> None:
    place = tmp_path / "shop" / "customer"
    place.mkdir(parents=True)
    (place / "1.0.0.json").write_text(json.dumps({"properties": {"a": {}}}))
    for source in (tmp_path, tmp_path / "**" / "*.json"):
        (version,) = folders.read([source]).declarations
        assert (version.name, version.label) == ("shop/customer", "1.0.0")


def test_hidden_files_are_skipped_and_no_file_is_read_twice(tmp_path: Path) -> None:
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "a.json").write_text("{")
    (tmp_path / ".b.json").write_text("{")
    (tmp_path / "c10.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "c9.json").write_text(json.dumps(SCHEMA))
    files, refused = folders.find([tmp_path, tmp_path / "c9.json", tmp_path / "*.json"])
    assert [file.relative for file in files] == ["c9.json", "c10.json"]
    assert not refused


def test_sources_that_name_nothing_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    sources: list[str | Path] = [
        tmp_path / "gone.json",
        tmp_path / "empty",
        tmp_path / "*.none",
        "https://x.test/apis",
        "bad\0name",
    ]
    found = folders.read(sources)
    assert not found.declarations
    assert [refusal.source for refusal in found.refused] == [str(source) for source in sources]


@pytest.fixture
def powerless_folder(tmp_path: Path) -> Iterator[Path]:
    """Take the right to read a folder away, from root too, for the length of a test."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    before = os.geteuid()
    if before == 0:
        tmp_path.chmod(0o755)
        os.seteuid(65534)
    yield closed
    os.seteuid(before)


def test_a_folder_that_may_not_be_read_is_refused(powerless_folder: Path) -> None:
    assert "cannot be read" in folders.read([powerless_folder]).refused[0].reason


def test_links_to_nothing_and_pipes_are_refused_without_waiting_for_them(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe.jsonl")
    for named in (Format.AUTO, Format.CONNECT_JSON, Format.JSON_SCHEMA, Format.CONNECT_SCHEMA):
        assert len(folders.read([tmp_path], named).refused) == 2


def test_a_named_format_is_taken_without_looking(tmp_path: Path) -> None:
    path = tmp_path / "row.json"
    path.write_text(json.dumps(ENVELOPE))
    assert "no properties" in folders.read([path], Format.JSON_SCHEMA).refused[0].reason
    assert parse_format("json-schema") is Format.JSON_SCHEMA
    with pytest.raises(SchemaError, match="no format xml"):
        parse_format("xml")
