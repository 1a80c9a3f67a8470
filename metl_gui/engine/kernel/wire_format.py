"""Which schema wrote a value or key, what that schema says of rows, and framed bytes decoded to JSON text.

A value or key says which schema wrote it by headers, by its first bytes, or not at all (``readings``). ``WireDecoder``
decodes bytes in a registry's framing to JSON text and the schema that wrote them. ``InlineSchema`` is what the schema
of a message says of its rows, whether it stands in the message (its *schema half*) or wrote its bytes.

Source: docs/reference/formats.md, "Which version a record has" (the id of a registry decides first);
docs/reference/cdc.md, "Avro on the wire"; the Avro specification (single-object encoding).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias
from uuid import UUID

import msgspec
from msgspec.structs import replace

from metl_gui.core.project.writer_schemas import AVRO, RABIN, is_registry_id, of_content, of_global, of_rabin
from metl_gui.core.trees.declarations import fingerprint
from metl_gui.engine.kernel.avro_values import AvroReader
from metl_gui.engine.kernel.headers import header_pairs
from metl_gui.engine.kernel.plan import Plan, WriterSchemaPlan
from metl_gui.errors import RecordError, SchemaError
from metl_gui.formats.avro_schema import as_connect, holder_of
from metl_gui.formats.avro_types import AvroType, rabin_fingerprint, read_avro
from metl_gui.formats.connect_schema import ConnectSchema, declare, record_name, row_of, without_added
from metl_gui.formats.json_text import BLANK, check
from metl_gui.formats.record_wrapper import SINGLE_OBJECT
from metl_gui.values import Value

MAGIC = 0
_SINGLE_OBJECT_BYTES = 10
_SHORT, _LONG = 4, 8
_GUID_BYTES = 16
_MOST_DIGITS = 20
_MARKS = (b"_schema_id", b"apicurio.")


class FramedPayload(NamedTuple):
    """One way to read some bytes.

    Args:
        ids: what their schema may be called, the likeliest first.
        body: what the schema wrote.
    """

    ids: tuple[str, ...]
    body: bytes


def readings(content: bytes, headers: bytes, part: str, framing: str) -> Iterator[FramedPayload]:
    """Yield the ways to read a value or key, the likeliest first; none where it is text.

    Args:
        content: the bytes.
        headers: headers of the record as JSON, empty for none.
        part: ``value`` or ``key``.
        framing: one of ``project.writer_schemas.FRAMINGS``.
    """
    named = ids_in_headers(headers, part) if any(mark in headers for mark in _MARKS) else ()
    if named:
        yield FramedPayload(named, content)
        return
    if content.startswith(SINGLE_OBJECT):
        if len(content) >= _SINGLE_OBJECT_BYTES:
            print_ = int.from_bytes(content[2:_SINGLE_OBJECT_BYTES], "little")
            yield FramedPayload((of_rabin(print_),), content[_SINGLE_OBJECT_BYTES:])
        return
    if not content or content[0] != MAGIC or framing == "none":
        return
    if framing != "apicurio8" and len(content) > _SHORT:
        number = int.from_bytes(content[1 : 1 + _SHORT], "big")
        ids = (str(number), of_content(number), of_global(number))
        yield FramedPayload(ids if framing != "apicurio4" else (ids[1], ids[0]), content[1 + _SHORT :])
    if framing in ("auto", "apicurio8") and len(content) > _LONG:
        number = int.from_bytes(content[1 : 1 + _LONG], "big")
        yield FramedPayload((of_global(number), str(number), of_content(number)), content[1 + _LONG :])


def is_framed(content: bytes, headers: bytes) -> bool:
    """Return whether bytes may be anything but text."""
    return content[:1] in (b"\0", b"\xc3") or any(mark in headers for mark in _MARKS)


def ids_in_headers(headers: bytes, part: str) -> tuple[str, ...]:
    """Return what headers call the schema of a value or key, the likeliest first; empty when they do not."""
    written = ((name.lower(), _header_value(raw)) for name, raw in header_pairs(headers))
    found = {name: value for name, value in written if isinstance(value, str | int) and not isinstance(value, bool)}
    ids: list[str] = []
    confluent = found.get(f"__{part}_schema_id")
    if confluent is not None:
        ids.extend(_confluent_ids(confluent))
    for name, named in (("contentid", of_content), ("globalid", of_global)):
        number = _number(found.get(f"apicurio.{part}.{name}"))
        if number is not None:
            ids += [named(number), str(number)]
    return tuple(dict.fromkeys(ids))


def _header_value(raw: msgspec.Raw) -> object:
    """Return the value of a header; ``None`` for a number that nothing holds."""
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return None


def _confluent_ids(written: str | int) -> Iterator[str]:
    """Yield the id in the header of newer Confluent serializers: a byte of version, then a number or a GUID."""
    raw = b"" if isinstance(written, int) else _raw(written)
    if isinstance(written, int) or _is_number(written):
        yield str(int(written))
    elif len(raw) == 1 + _GUID_BYTES and raw[0] == 1:
        yield str(UUID(bytes=raw[1:]))
    elif len(raw) == 1 + _SHORT and raw[0] == MAGIC:
        yield str(int.from_bytes(raw[1:], "big"))
    else:
        try:
            yield str(UUID(written))
        except ValueError:
            yield written


def _number(written: object) -> int | None:
    """Return a number that stands as digits, or as the bytes of a long in base64 or as characters."""
    if isinstance(written, int):
        return written
    if not isinstance(written, str) or not written:
        return None
    if _is_number(written):
        return int(written)
    raw = _raw(written)
    return int.from_bytes(raw, "big") if len(raw) in (_SHORT, _LONG) else None


def _is_number(written: str) -> bool:
    """Return whether a text may be the number of a schema; Python also calls other digits such, and endless ones."""
    return written.isascii() and written.isdigit() and len(written) <= _MOST_DIGITS


def _raw(written: str) -> bytes:
    """Return the bytes that a header was written from: as base64, or one character each."""
    try:
        return base64.b64decode(written, validate=True)
    except (binascii.Error, ValueError):
        return written.encode("latin-1", "replace")


_KEPT_BYTES = 1 << 18
"""Schema halves larger than this are read anew each time, so that a hostile stream cannot fill the memory."""


class InlineSchema(Value):
    """What the schema of one message says (empty: nothing).

    Args:
        record_name: its record name.
        fingerprint: that of its row.
        flattened_fingerprint: the same without the fields that the flattening transform adds.
    """

    record_name: str = ""
    fingerprint: str = ""
    flattened_fingerprint: str = ""


def schema_half(raw: bytes) -> InlineSchema:
    """Read the schema half of a message; what is no schema of a row says nothing."""
    return _kept_half(raw) if len(raw) <= _KEPT_BYTES else _read_half(raw)


def half_of_avro(avro: AvroType) -> InlineSchema:
    """Say the same of the schema that wrote Avro bytes."""
    try:
        return _half(as_connect(holder_of(avro)))
    except SchemaError:
        return InlineSchema()


@lru_cache(maxsize=1024)
def _kept_half(raw: bytes) -> InlineSchema:
    return _read_half(raw)


def _read_half(raw: bytes) -> InlineSchema:
    try:
        schema = json.loads(raw)
        return _half(schema) if isinstance(schema, dict) and "type" in schema else InlineSchema()
    except (SchemaError, ValueError, RecursionError):
        return InlineSchema()


def _half(schema: ConnectSchema) -> InlineSchema:
    attributes = declare(row_of(schema))
    return InlineSchema(record_name(schema), fingerprint(attributes), fingerprint(without_added(attributes)))


LookUp: TypeAlias = Callable[[str], Iterable[WriterSchemaPlan]]
_MOST_LEARNED = 1_000
_learned: dict[str, str] = {}
"""Schemas of the data files that this process reads, by what single-object encoding calls them: the name is made of the
schema, so it can mean no other one."""


class DecodedValue(Value):
    """A value that was decoded.

    Args:
        text: its JSON text.
        half: what its schema says of rows.
        id: what the bytes call the schema.
        names: the schemas of the plan that it may write for.
        labels: by schema, the label of the version that the id is attached to.
        is_plain: a member ``payload`` beside ``schema`` is a column, not the payload of a message with its schema.
    """

    text: bytes
    half: InlineSchema
    id: str
    names: tuple[str, ...] = ()
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    is_plain: bool = True


class _DecodableSchema(Value):
    """A schema that is ready to read; without a reader its values are JSON text."""

    reader: AvroReader | None
    half: InlineSchema


class WireDecoder:
    """Decodes the values and keys of records by the writer schemas of a plan.

    Args:
        plan: names the writer schemas and how topics frame their values.
        look_up: finds the writer schemas of an id that the plan does not name.
    """

    def __init__(self, plan: Plan, look_up: LookUp | None = None) -> None:
        self._schemas: dict[str, list[WriterSchemaPlan]] = {}
        for one in plan.wire:
            self._schemas.setdefault(one.id, []).append(one)
        self._framing = plan.framing
        self._look_up = look_up
        self._framings = {name: schema.framing for name, schema in plan.by_name().items() if schema.framing}
        self._decodables: dict[tuple[str, str], _DecodableSchema] = {}
        self._is_indexed = False

    def written(self, content: bytes, topic: str, headers: bytes = b"", part: str = "value") -> DecodedValue | None:
        """Decode a value or key; ``None`` where it is text already.

        Text of which headers say an id that nothing resolves is read as text: the id decides nothing then.

        Raises:
            RecordError: ``unknown_version`` for an id that nothing resolves, ``undecodable`` or ``too_large``.
        """
        if not is_framed(content, headers):
            return None
        return self._first(list(readings(content, headers, part, self.framing(topic))), topic, content)

    def frame(self, topic: str, framing: str) -> None:
        """Let the values of one topic be in a framing; an empty one is that of the plan."""
        self._framings = {topic: framing or self._framing}

    def by_id(self, id_: str, content: bytes, topic: str) -> DecodedValue | None:
        """Decode bytes whose schema is named elsewhere, as the data of a CloudEvent; ``None`` for an unknown id."""
        return self._read(id_, content, topic) if self._known(id_) else None

    def _first(self, found: Sequence[FramedPayload], topic: str, content: bytes) -> DecodedValue | None:
        """Take the first reading whose id resolves and whose schema reads all bytes."""
        failed: RecordError | None = None
        for framed in found:
            id_ = self.known(framed.ids)
            if id_ is None:
                continue
            try:
                return self._read(id_, framed.body, topic)
            except RecordError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        is_text = bool(found) and found[0].body is content and _is_text(content)  # named by headers, without a frame
        if found and not is_text:
            raise _unknown([framed.ids[0] for framed in found])
        return None

    def _known(self, id_: str) -> list[WriterSchemaPlan]:
        if id_.startswith(RABIN) and id_ not in self._schemas:
            self._index()
            if id_ not in self._schemas and id_ in _learned:
                self._schemas[id_] = [WriterSchemaPlan(id_, AVRO, _learned[id_])]
        if self._look_up is not None and id_ not in self._schemas:
            found = list(self._look_up(id_))
            if found:
                self._schemas[id_] = found
        return self._schemas.get(id_, [])

    def known(self, ids: Iterable[str]) -> str | None:
        """Return the first of some ids that a schema has."""
        return next((one for one in ids if self._known(one)), None)

    def named(self, id_: str, topic: str) -> tuple[WriterSchemaPlan, DecodedValue]:
        """Return the schema that a known id means in a topic, and what all values that it wrote have in common.

        Raises:
            RecordError: ``undecodable``, the schema cannot be used.
        """
        known = self._known(id_)
        chosen = next((one for one in known if one.schema == topic), known[0])
        same = [one for one in known if one.text == chosen.text]
        decodable = self._schema(chosen)
        return chosen, DecodedValue(
            text=b"",
            half=decodable.half,
            id=id_,
            names=tuple(dict.fromkeys(one.schema for one in (chosen, *same) if one.schema)),
            labels={one.schema: one.version for one in same if one.version},
            is_plain=decodable.reader is not None,
        )

    def framing(self, topic: str) -> str:
        """Return how a topic frames its values."""
        return self._framings.get(topic, self._framing)

    def _read(self, id_: str, body: bytes, topic: str) -> DecodedValue:
        chosen, common = self.named(id_, topic)
        decodable = self._schema(chosen)
        text = body if decodable.reader is None else decodable.reader.read(body)
        _check(text, id_)
        return replace(common, text=text)

    def _schema(self, schema: WriterSchemaPlan) -> _DecodableSchema:
        key = schema.kind, schema.text
        if key not in self._decodables:
            self._decodables[key] = _made(schema)
        return self._decodables[key]

    def _index(self) -> None:
        """Let every Avro schema be found by its fingerprint too; done when the first value asks for it."""
        if self._is_indexed:
            return
        self._is_indexed = True
        for one in [one for schemas in self._schemas.values() for one in schemas if one.kind == AVRO]:
            try:
                id_ = of_rabin(rabin_fingerprint(read_avro(json.loads(one.text))))
            except (SchemaError, ValueError):
                continue
            if one.id != id_:
                self._schemas.setdefault(id_, []).append(one)


def remember_schema(schema: str) -> bytes:
    """Remember the schema of a data file; return what its values begin with in single-object encoding.

    Raises:
        SchemaError: it is no Avro schema.
    """
    try:
        print_ = rabin_fingerprint(read_avro(json.loads(schema)))
    except (ValueError, RecursionError) as error:
        raise SchemaError("The schema of this Avro file is damaged.", f"{error}.", "Copy the file again.") from error
    if len(_learned) >= _MOST_LEARNED:
        _learned.clear()
    _learned[of_rabin(print_)] = schema
    return SINGLE_OBJECT + print_.to_bytes(8, "little")


def _made(schema: WriterSchemaPlan) -> _DecodableSchema:
    if schema.kind != AVRO:
        return _DecodableSchema(None, InlineSchema())
    try:
        avro = read_avro(json.loads(schema.text))
    except (SchemaError, ValueError, RecursionError) as error:
        raise RecordError("undecodable", f"the schema {schema.id} cannot be used: {error}") from None
    reader = AvroReader(avro)
    if reader.refusal:
        raise RecordError("undecodable", f"the schema {schema.id} cannot be used: {reader.refusal}")
    return _DecodableSchema(reader, half_of_avro(avro))


def _is_text(body: bytes) -> bool:
    """Return whether bytes begin as a JSON value that a record may be."""
    return body.lstrip(BLANK)[:1] in (b"{", b"n")


def _check(text: bytes, id_: str) -> None:
    """Hold decoded text to what text must be, too; what is deeper than a record may be was not meant for one."""
    try:
        check(text)
    except RecordError as error:
        raise RecordError("undecodable", f"what the schema {id_} reads is not accepted: {error.detail}") from None


def _unknown(ids: Iterable[str]) -> RecordError:
    ids = tuple(dict.fromkeys(ids))
    named = " or ".join(ids)
    if named.startswith(RABIN):
        detail = f"no schema has the fingerprint {named.removeprefix(RABIN)}; import the Avro file that it came from"
        return RecordError("unknown_version", detail)
    # Others may be anything that somebody wrote into a header, and nobody should be asked to type it.
    asked = ",".join(one for one in ids if is_registry_id(one))
    alone = f" (metl import with --id {asked} brings it alone)" if asked else ""
    detail = f"no schema is known by the registry id {named}; import what the registry holds{alone}"
    return RecordError("unknown_version", detail)
