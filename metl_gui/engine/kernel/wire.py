"""Bytes of a registry's framing to JSON text and the schema that wrote them.

Source: contract.md §5 (the registry id decides first), cdc-formats.md §7.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from metl_gui.core.project.writer_schemas import AVRO, RABIN, is_registry_id, of_rabin
from metl_gui.engine.kernel.avro_values import AvroReader
from metl_gui.engine.kernel.framings import Framed, is_framed, readings
from metl_gui.engine.kernel.plan import Plan, WireSchema
from metl_gui.engine.kernel.schema_halves import SchemaHalf, half_of_avro
from metl_gui.errors import RecordError, SchemaError
from metl_gui.formats.avro_types import rabin_fingerprint, read_avro
from metl_gui.formats.json_text import BLANK, check
from metl_gui.formats.record_wrapper import SINGLE_OBJECT

LookUp: TypeAlias = Callable[[str], Iterable[WireSchema]]
_MOST_LEARNED = 1_000
_learned: dict[str, str] = {}
"""Schemas of the data files that this process reads, by what single-object encoding calls them: the name is made of the
schema, so it can mean no other one."""


@dataclass(frozen=True, slots=True)
class Written:
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
    half: SchemaHalf
    id: str
    names: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    is_plain: bool = True


@dataclass(frozen=True, slots=True)
class _Writer:
    """A schema that is ready to read; without a reader its values are JSON text."""

    reader: AvroReader | None
    half: SchemaHalf


class Wire:
    """Decodes the values and keys of records by the writer schemas of a plan.

    Args:
        plan: names the writer schemas and how topics frame their values.
        look_up: finds the writer schemas of an id that the plan does not name.
    """

    def __init__(self, plan: Plan, look_up: LookUp | None = None) -> None:
        self._schemas: dict[str, list[WireSchema]] = {}
        for one in plan.wire:
            self._schemas.setdefault(one.id, []).append(one)
        self._framing = plan.framing
        self._look_up = look_up
        self._framings = {name: schema.framing for name, schema in plan.by_name().items() if schema.framing}
        self._writers: dict[tuple[str, str], _Writer] = {}
        self._is_indexed = False

    def written(self, content: bytes, topic: str, headers: bytes = b"", part: str = "value") -> Written | None:
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

    def by_id(self, id_: str, content: bytes, topic: str) -> Written | None:
        """Decode bytes whose schema is named elsewhere, as the data of a CloudEvent; ``None`` for an unknown id."""
        return self._read(id_, content, topic) if self._known(id_) else None

    def _first(self, found: Sequence[Framed], topic: str, content: bytes) -> Written | None:
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

    def _known(self, id_: str) -> list[WireSchema]:
        if id_.startswith(RABIN) and id_ not in self._schemas:
            self._index()
            if id_ not in self._schemas and id_ in _learned:
                self._schemas[id_] = [WireSchema(id_, AVRO, _learned[id_])]
        if self._look_up is not None and id_ not in self._schemas:
            found = list(self._look_up(id_))
            if found:
                self._schemas[id_] = found
        return self._schemas.get(id_, [])

    def known(self, ids: Iterable[str]) -> str | None:
        """Return the first of some ids that a schema has."""
        return next((one for one in ids if self._known(one)), None)

    def named(self, id_: str, topic: str) -> tuple[WireSchema, Written]:
        """Return the schema that a known id means in a topic, and what all values that it wrote have in common.

        Raises:
            RecordError: ``undecodable``, the schema cannot be used.
        """
        known = self._known(id_)
        chosen = next((one for one in known if one.schema == topic), known[0])
        same = [one for one in known if one.text == chosen.text]
        writer = self._writer(chosen)
        return chosen, Written(
            text=b"",
            half=writer.half,
            id=id_,
            names=tuple(dict.fromkeys(one.schema for one in (chosen, *same) if one.schema)),
            labels={one.schema: one.version for one in same if one.version},
            is_plain=writer.reader is not None,
        )

    def framing(self, topic: str) -> str:
        """Return how a topic frames its values."""
        return self._framings.get(topic, self._framing)

    def _read(self, id_: str, body: bytes, topic: str) -> Written:
        chosen, common = self.named(id_, topic)
        writer = self._writer(chosen)
        text = body if writer.reader is None else writer.reader.read(body)
        _check(text, id_)
        return replace(common, text=text)

    def _writer(self, schema: WireSchema) -> _Writer:
        key = schema.kind, schema.text
        if key not in self._writers:
            self._writers[key] = _made(schema)
        return self._writers[key]

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


def learn(schema: str) -> bytes:
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


def _made(schema: WireSchema) -> _Writer:
    if schema.kind != AVRO:
        return _Writer(None, SchemaHalf())
    try:
        avro = read_avro(json.loads(schema.text))
    except (SchemaError, ValueError, RecursionError) as error:
        raise RecordError("undecodable", f"the schema {schema.id} cannot be used: {error}") from None
    return _Writer(AvroReader(avro), half_of_avro(avro))


def _is_text(body: bytes) -> bool:
    """Say whether bytes begin as a JSON value that a record may be."""
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
