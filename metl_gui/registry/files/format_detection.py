"""Which format a file has, by what is in it and, where that leaves doubt, by its name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from metl_gui.core.project.source_formats import Format
from metl_gui.core.trees.schema_names import of_path
from metl_gui.formats.avro_container import MAGIC
from metl_gui.formats.compression import Codec, codec_of
from metl_gui.registry.documents import MAX_BYTES, unreadable
from metl_gui.registry.schemas.json_schema_nodes import TYPES
from metl_gui.registry.schemas.registry_entries import is_registry
from metl_gui.values import Value


class DetectedFormat(Value):
    """What a file turned out to be: a format that a reader exists for, or the reason why there is none."""

    format: Format | None
    reason: str = ""


HEAD_BYTES = 64 * 2**10
MESSAGE_SUFFIXES = (".jsonl", ".ndjson")
YAML_SUFFIXES = (".yaml", ".yml")
SCHEMA_KEYWORDS = ("properties", "$defs", "definitions", "allOf", "oneOf", "anyOf", "$ref", "patternProperties")
AVRO_TYPES = ("record", "enum", "fixed", "error")
AVRO_SUFFIXES = (".avsc", ".avpr", ".avro")
AVRO_FOLDER = "avro"
SQL_SUFFIXES = (".sql", ".ddl")

_UNREAD = {
    "avdl": "is Avro IDL, which is not read. Turn it into a schema file (avro-tools idl2schemata) and import that.",
    "protobuf": "is a Protobuf schema, which is not read yet. Import JSON messages or a JSON Schema instead.",
    "thrift": "is a Thrift schema, which is not read. Import JSON messages of its topic or a JSON Schema instead.",
    "xsd": "is XML, which is not read. Import JSON messages or a JSON Schema instead.",
    "parquet": "is a Parquet file, which holds data and is not read as a schema. Import JSON messages instead.",
    "csv": "is a table, not a schema. A mapping table is read by metl map --csv.",
    "registry": "lists what a registry holds without the schemas. Save the answers that hold them.",
    "api": "describes an API (OpenAPI or AsyncAPI), which is not read. Import the JSON Schemas in it as files.",
    "graphql": "is a GraphQL schema, which is not read. Import JSON messages or a JSON Schema instead.",
}
_BY_SUFFIX = {
    ".avdl": "avdl", ".proto": "protobuf", ".thrift": "thrift", ".xsd": "xsd",
    ".wsdl": "xsd", ".xml": "xsd", ".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".graphql": "graphql",
}  # fmt: skip
_BY_FOLDER = {"protobuf": "protobuf", "thrift": "thrift"}
_PROTOBUF = re.compile(r"^\s*(?:syntax|edition)\s*=|^\s*message\s+\w+\s*\{", re.MULTILINE)
_REGISTRY = re.compile(
    r'\s*(?:\{\s*"(?:subjects|schemas_by_id)"|\[\s*\{\s*"(?:subject|id|version|schemaType|guid)"\s*:)'
)
_API_WORDS = ("openapi", "swagger", "asyncapi")
_API = re.compile(rf"^(?:{'|'.join(_API_WORDS)})\s*:\s*[\"']?\d", re.MULTILINE)
_THRIFT = re.compile(r"^\s*(?:struct|union|exception|service)\s+\w+\s*\{|^\s*namespace\s+\S+\s+\S+", re.MULTILINE)


def detect(path: Path) -> DetectedFormat:
    """Return which format a file has.

    Raises:
        SchemaError: the file cannot be read.
    """
    try:
        if not path.is_file():
            return DetectedFormat(None, "It is no regular file, or a link to nothing.")
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise unreadable(path, error) from error
    if not head.strip():
        return DetectedFormat(None, "It is empty.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return DetectedFormat(None, "It is UTF-16. Save it as UTF-8.")
    if codec_of(head) is not Codec.PLAIN:
        return DetectedFormat(Format.CONNECT_JSON)
    if head.startswith(MAGIC) or path.suffix.lower() in AVRO_SUFFIXES or path.parent.name.lower() == AVRO_FOLDER:
        return DetectedFormat(Format.AVRO)
    if path.suffix.lower() in SQL_SUFFIXES:
        return DetectedFormat(Format.SQL)
    by_name = _BY_SUFFIX.get(path.suffix.lower()) or _BY_FOLDER.get(path.parent.name.lower())
    if by_name or head.startswith(b"PAR1"):
        return _unread(path, by_name or "parquet")
    if path.suffix.lower() in MESSAGE_SUFFIXES:
        return DetectedFormat(Format.CONNECT_JSON)
    return _by_content(path, head)


def is_data_file(path: Path) -> bool:
    """Return whether an Avro file holds records beside their schema.

    Raises:
        SchemaError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise unreadable(path, error) from error


def of_document(document: object, path: Path) -> DetectedFormat:
    """Return which format a parsed JSON or YAML document has."""
    if is_registry(document):
        return DetectedFormat(Format.AVRO)
    if isinstance(document, list):
        if not document or not isinstance(document[0], dict):
            return DetectedFormat(None, "It is a list of something else than records.")
        return DetectedFormat(Format.AVRO if _is_avro(document[0]) else Format.CONNECT_JSON)
    if not isinstance(document, dict):
        return DetectedFormat(None, "Its outermost value is not an object.")
    kind = document.get("type")
    if kind == "struct" and isinstance(document.get("fields"), list):
        return DetectedFormat(Format.CONNECT_SCHEMA)
    if _is_avro(document) or (isinstance(document.get("protocol"), str) and "types" in document):
        return DetectedFormat(Format.AVRO)
    if any(isinstance(document.get(word), str) for word in _API_WORDS) and "info" in document:
        return _unread(path, "api")
    if is_json_schema(document):
        return DetectedFormat(Format.JSON_SCHEMA)
    if isinstance(document.get("subjects"), dict | list) or ("subject" in document and "schema" in document):
        return _unread(path, "registry")
    return DetectedFormat(Format.CONNECT_JSON)


def _is_avro(document: dict[str, Any]) -> bool:
    """Return whether an object is an Avro schema rather than a record that has columns of such names."""
    kind = document.get("type")
    return isinstance(kind, str) and kind in AVRO_TYPES and isinstance(document.get("name"), str)


def is_json_schema(document: dict[str, Any]) -> bool:
    """Return whether an object is a JSON Schema rather than a record that has columns of such names."""
    own = document.get("self")
    if isinstance(own, dict) and "vendor" in own:
        return True
    if "op" in document or "payload" in document:
        return False
    has_keyword = any(isinstance(document.get(keyword), dict | list) for keyword in SCHEMA_KEYWORDS)
    kind = document.get("type")
    has_type = kind in TYPES if isinstance(kind, str) else isinstance(kind, list)
    names_draft = "json-schema.org" in str(document.get("$schema", "")) or "schema#" in str(document.get("$schema", ""))
    return (
        names_draft or has_keyword or (has_type and set(document) <= {"type", "title", "description", "$id", "$schema"})
    )


def _by_content(path: Path, head: bytes) -> DetectedFormat:
    text = head.decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n")
    if path.suffix.lower() in YAML_SUFFIXES:
        if _API.search(text):
            return _unread(path, "api")
        return DetectedFormat(Format.JSON_SCHEMA)
    if text[:1] in ("{", "["):
        return _by_first_value(path)
    if _PROTOBUF.search(text):
        return _unread(path, "protobuf")
    if _THRIFT.search(text):
        return _unread(path, "thrift")
    if text.startswith("<"):
        return _unread(path, "xsd")
    if text.split("\n", 1)[0].strip() == "null":
        return DetectedFormat(Format.CONNECT_JSON)
    return DetectedFormat(None, "Neither its name nor its content is of a format that can be read.")


def _by_first_value(path: Path) -> DetectedFormat:
    """Inspect the first JSON value of a file; what cannot be parsed is left to the reader that says where."""
    with path.open("rb") as file:
        raw = file.read(MAX_BYTES + 1)
    text = raw.decode("utf-8-sig", errors="replace").lstrip()
    try:
        document, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        is_large = len(raw) > MAX_BYTES
        if is_large and _REGISTRY.match(text[:HEAD_BYTES]):
            return DetectedFormat(Format.AVRO)
        first_line_is_whole = _is_json(text.split("\n", 1)[0])
        return DetectedFormat(Format.CONNECT_JSON if first_line_is_whole or is_large else Format.JSON_SCHEMA)
    found = of_document(document, path)
    if found.format is Format.JSON_SCHEMA and text[end:].strip() and "\0" not in text:
        return DetectedFormat(None, "It holds more than one JSON document. One file is one schema.")
    return found


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _unread(path: Path, kind: str) -> DetectedFormat:
    name = of_path("/".join(path.parts[-4:])).name if path.parent.name.lower() in _BY_FOLDER else path.name
    return DetectedFormat(None, f"{name} {_UNREAD[kind]}")
