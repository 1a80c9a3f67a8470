"""Map single records as a test run would, by the reference kernel, compiling only the schemas that they name.

What an edit left as it was is compiled once: the cost of the next record is that of the blocks that were edited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Self, TypeAlias

from metl_gui.core.differences.changed_parts import changed_blocks
from metl_gui.core.matrix.document import Document
from metl_gui.core.project import writer_schemas
from metl_gui.core.runs.records import RecordOutcome
from metl_gui.core.trees.nodes import Schema
from metl_gui.engine.kernel.changes import RowChange, read_wrapped
from metl_gui.engine.kernel.outcomes import RecordOutput
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan, WriterSchemaPlan
from metl_gui.engine.kernel.reference import RecordContext, ReferenceKernel
from metl_gui.engine.kernel.wire_format import WireDecoder
from metl_gui.engine.mapping.plan_compiler import attached, compile_schema
from metl_gui.errors import RecordError
from metl_gui.formats.json_text import Members
from metl_gui.formats.record_kind import RecordKind
from metl_gui.formats.record_wrapper import Wrapped, unwrap
from metl_gui.values import Value

Writers: TypeAlias = Callable[[str], Iterable[writer_schemas.WriterSchema]]
"""Finds the writer schemas that a registry id means."""

_MOST_SCHEMAS = 64
"""So many schemas stay compiled."""


class OneMessage(Value):
    """A message that a record becomes.

    Args:
        block: what made it.
        text: the message.
    """

    block: BlockPlan
    text: bytes


class RecordRow(Value):
    """What a record says of a row.

    Args:
        op: ``c r u d t``.
        members: the row after the change, before it for a delete; ``None`` when there is none.
        before: the row before an update, where it is given.
    """

    op: str
    members: Members | None = None
    before: Members | None = None


class OneOutcome(Value):
    """What became of one record.

    Args:
        fate: its fate.
        position: where it lies, as its messages say.
        schema: name of its schema, empty where nothing told it.
        version: label of its version, empty where nothing told it.
        row: its row, ``None`` where it has none or could not be read.
        messages: what it becomes.
        kind: of a record that is skipped.
        reason, detail: why it is set aside.
    """

    fate: RecordOutcome
    position: str
    schema: str = ""
    version: str = ""
    row: RecordRow | None = None
    messages: tuple[OneMessage, ...] = ()
    kind: RecordKind | None = None
    reason: str = ""
    detail: str = ""


class RecognizedRecord(Value):
    """Which schema and version a record belongs to.

    Args:
        schema: the schema.
        version: id of its version, ``None`` where it is of none that is known.
        row: its row.
    """

    schema: Schema
    version: int | None
    row: RecordRow


class Previewer:
    """Maps single records with one document at a time.

    Args:
        writers: finds the writer schemas that a registry id means, for values that are not text.
        framing: how values name them, where their schema is not set to something else.
    """

    def __init__(self, writers: Writers | None = None, framing: str = "auto") -> None:
        self._document = Document()
        self._writers = writers
        self._framing = framing
        self._decoding: WireDecoder | None = None
        self._versions: dict[int, dict[int, VersionPlan]] = {}
        self._plans: dict[int, SchemaPlan] = {}
        self._references: dict[tuple[int, ...], ReferenceKernel] = {}

    def take(self, document: Document) -> None:
        """Map with a document from now on; what it shares with the one before stays compiled."""
        before, self._document = self._document, document
        if before is document:
            return
        if before.extraction is not document.extraction:
            self._decoding = None
        self._references.clear()
        same_trees = before.extraction is document.extraction and before.cdm is document.cdm
        # What is filtered follows from the tables of warehouses.
        is_alike = same_trees and before.models is document.models
        changed = changed_blocks(before.matrix, document.matrix) if is_alike else None
        if changed is None:
            self._versions.clear()
            self._plans.clear()
            return
        for version_id, _ in changed:
            schema_id = document.extraction.schema_of(version_id)
            self._plans.pop(schema_id, None)
            self._versions.get(schema_id, {}).pop(version_id, None)

    def map(self, raw: bytes, place: str) -> OneOutcome:
        """Map one record.

        Args:
            raw: the record exactly.
            place: its position, where it names no other.
        """
        found, sink, row = RecordContext(place), RecordOutput(), None
        try:
            wrapped = unwrap(raw)
            change, reference = self._read(wrapped)
            row = _row_of(change) if change is not None else None
            reference.map_wrapped(wrapped, found, sink)
        except RecordError as error:
            told = found.position, found.schema, found.version, row
            return OneOutcome(RecordOutcome.SET_ASIDE, *told, reason=error.reason, detail=error.detail)
        told = found.position, found.schema, found.version, row
        if sink.kind is not None:
            return OneOutcome(RecordOutcome.SKIPPED, *told, kind=sink.kind)
        messages = tuple(OneMessage(each.block, each.text) for each in sink.sent)
        return OneOutcome(RecordOutcome.MAPPED if messages else RecordOutcome.FILTERED, *told, messages)

    def recognize(self, raw: bytes) -> RecognizedRecord | None:
        """Tell schema and version of a record without mapping it; ``None`` where its schema cannot be told."""
        try:
            change, reference = self._read(unwrap(raw))
        except RecordError:
            return None
        if change is None:
            return None
        schema = next((found for name in change.names if (found := self._document.extraction.named(name))), None)
        if schema is None:
            return None
        return RecognizedRecord(schema, self._version_of(reference, schema, change), _row_of(change))

    def _version_of(self, reference: ReferenceKernel, schema: Schema, change: RowChange) -> int | None:
        try:
            plan = reference.schemas[schema.name].versions.of(change)
        except RecordError:
            return None
        at = next(at for at, each in enumerate(reference.schemas[schema.name].plan.versions) if each is plan)
        return schema.version_ids[at]

    def _read(self, wrapped: Wrapped) -> tuple[RowChange | None, ReferenceKernel]:
        """Read a record, and return a reference that knows every schema which the record may be of.

        Why a record cannot be read is for the reference to say, which reads it again.
        """
        asked = SchemaNames(self._document)
        asked.look_up(wrapped.topic)
        try:
            change = read_wrapped(wrapped, asked, self._wire_for(wrapped.topic, asked))
        except RecordError:
            change = RecordKind.OTHER
        if not isinstance(change, RowChange):
            return None, self._reference(asked.found.values())
        for name in change.names:
            asked.look_up(name)
        return change, self._reference(asked.found.values())

    def _reference(self, schemas: Iterable[Schema]) -> ReferenceKernel:
        """Return a reference for some schemas: what it answers to of all names is what the whole document says."""
        known = {schema.id: schema for schema in schemas}
        ids = tuple(sorted(known))
        if ids not in self._references:
            if len(self._plans) >= _MOST_SCHEMAS:
                self._plans.clear()
                self._versions.clear()
            plans = tuple(self._plan(known[id_]) for id_ in ids)
            self._references[ids] = ReferenceKernel(Plan(self._document.state, "", plans))
        if self._decoding is not None:
            self._references[ids].decoding = self._decoding
        return self._references[ids]

    def _wire_for(self, topic: str, asked: SchemaNames) -> WireDecoder:
        """Return what decodes the values of a topic."""
        if self._decoding is None:
            look_up = self._look_up if self._writers is not None else None
            self._decoding = WireDecoder(Plan(self._document.state, "", (), framing=self._framing), look_up)
        schema = next(iter(asked.found.values()), None)
        self._decoding.frame(topic, schema.setting("framing") if schema is not None else "")
        return self._decoding

    def _look_up(self, id_: str) -> Iterable[WriterSchemaPlan]:
        found = self._writers(id_) if self._writers is not None else ()
        return [attached(self._document, one) for one in found]

    def _plan(self, schema: Schema) -> SchemaPlan:
        if schema.id not in self._plans:
            known = self._versions.setdefault(schema.id, {})
            self._plans[schema.id] = compile_schema(self._document, schema, known=known)
        return self._plans[schema.id]


class SchemaNames(frozenset[str]):
    """The names of all schemas of a document, which remembers the schemas of those that it was asked for."""

    _document: Document
    found: dict[int, Schema]

    def __new__(cls, document: Document) -> Self:
        """Begin with no name asked for."""
        made = super().__new__(cls)
        made._document = document
        made.found = {}
        return made

    def __contains__(self, name: object) -> bool:
        """Whether a schema answers to a name."""
        return isinstance(name, str) and self.look_up(name)

    def look_up(self, name: str) -> bool:
        """Remember the schema that answers to a name; whether one does."""
        schema = self._document.extraction.named(name) if name else None
        if schema is not None:
            self.found[schema.id] = schema
        return schema is not None


def _row_of(change: RowChange) -> RecordRow:
    return RecordRow(change.op, change.row, change.before)
