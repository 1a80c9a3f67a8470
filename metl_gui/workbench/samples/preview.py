"""The instant preview: what becomes of one message by what is on the screen, in words, without Spark.

The reference kernel maps it, so a test run does the same with it; blocks that nobody has reviewed are mapped too and
say so. Only what may be seen comes out of here: masked values are hidden. ``preview_source`` previews the first
messages of a source, in process: what ``metl preview`` prints.

Source: docs/guide/running.md, "See at once what an edit does"; docs/reference/commands.md, "metl preview".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Self

import msgspec

from metl_gui.core.matrix.blocks import BlockKey, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import hidden_sources
from metl_gui.core.runs.records import RecordOutcome
from metl_gui.engine.mapping.preview import OneMessage, OneOutcome, Previewer
from metl_gui.engine.sources.batches import FirstRecord
from metl_gui.formats.json_text import Members, on_one_line, quoted
from metl_gui.formats.record_delimiters import split
from metl_gui.values import Value
from metl_gui.workbench.importing.remote_sources import records_to_see
from metl_gui.workbench.masked_messages import Masks
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import FRAMING, project_settings

PASTED = "pasted"
"""The position of a message that came from nowhere else."""

_KINDS = {
    "tombstone": "a tombstone, which only says that a key is gone",
    "heartbeat": "a heartbeat of the connector",
    "transaction": "the beginning or end of a transaction",
    "schema_change": "a change of a schema, not of a row",
    "message": "a message of the database's log, not a row",
    "notification": "a notification of the connector",
    "signal": "a signal for the connector",
    "key": "the key part of another record",
}
_REASONS = {
    "malformed": "It is no text that may be accepted",
    "undecodable": "It cannot be decoded",
    "unknown_schema": "Its schema is not in the project",
    "unknown_version": "None of the versions that are known has this form",
    "ambiguous_version": "Several versions fit, and they give different messages",
    "block_needs_review": "A block that it feeds needs review",
    "type_mismatch": "A value does not fit the type of its attribute",
    "no_key": "It deletes a row, and nothing says which",
    "too_large": "It is larger than a record may be",
}
_FATES = {
    RecordOutcome.MAPPED: "mapped",
    RecordOutcome.FILTERED: "filtered",
    RecordOutcome.SET_ASIDE: "set_aside",
    RecordOutcome.SKIPPED: "skipped",
}
_OPS = {"c": "create", "r": "read", "u": "update", "d": "delete", "t": "truncate"}


class PreviewMessage(Value):
    """One message that the record becomes.

    Args:
        key: the block that makes it, ``None`` where no single one does.
        entity, version: what it is.
        text: the message, masked values hidden; ``None`` where it cannot be told which they are.
        links: (source path, CDM path) of each element of the block.
        notes: what a person must know of its block: that nobody confirmed it, what waits, that production holds it.
    """

    key: BlockKey | None
    entity: str
    version: str
    text: bytes | None
    links: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The message on one line, as files have it; empty where it is not shown."""
        return on_one_line(self.text or b"").decode()


class Preview(Value):
    """What becomes of one message.

    Args:
        fate: its fate in a test run.
        words: that in a sentence.
        schema, version: what it belongs to, empty where nothing tells.
        op: ``c r u d t``, empty for what is no row.
        position: where it lies.
        row: its row as one JSON object; ``None`` where it has none.
        whole: the whole record.
        messages: what it becomes.
        kind: of a record that is skipped, empty otherwise.
        reason: why it would be set aside, as reports name it; empty otherwise.

    ``row`` and ``whole`` have masked values hidden; they are ``None`` too where it cannot be told which they are.
    """

    fate: RecordOutcome
    words: str
    schema: str
    version: str
    op: str
    position: str
    row: bytes | None
    whole: bytes | None
    messages: tuple[PreviewMessage, ...] = ()
    kind: str = ""
    reason: str = ""

    @property
    def op_words(self) -> str:
        """The operation as people say it."""
        return _OPS.get(self.op, self.op)

    def as_json(self) -> dict[str, Any]:
        """Return the preview as ``metl preview --json`` prints it; messages as text, so that digits stay."""
        return {
            "position": self.position,
            "fate": _FATES[self.fate],
            "schema": self.schema or None,
            "version": self.version or None,
            "op": self.op or None,
            "reason": self.reason or None,
            "kind": self.kind or None,
            "words": self.words,
            "messages": [
                {
                    "entity": each.entity,
                    "version": each.version,
                    "message": None if each.text is None else each.text.decode(),
                    "notes": list(each.notes),
                }
                for each in self.messages
            ],
        }


def previewer_of(workbench: Workbench) -> Previewer:
    """Make what maps single records of a project; writer schemas are looked up when a message names them."""
    return Previewer(workbench.kept.writer_schemas.all, project_settings(workbench).settings[FRAMING])


class Previews:
    """Previews of one document at a time; between two edits only what changed is compiled anew.

    Args:
        previewer: where compiled schemas are kept; by default one of its own.
    """

    def __init__(self, previewer: Previewer | None = None) -> None:
        self._previewer = previewer or Previewer()
        self._document = Document()
        self._masks_of = Document()

    @classmethod
    def of_project(cls, workbench: Workbench) -> Self:
        """Make previews that decode binary values by the writer schemas of a project."""
        return cls(previewer_of(workbench))

    def take(self, document: Document, masks_of: Document | None = None) -> None:
        """Preview with a document from now on.

        Args:
            document: the state to map with.
            masks_of: the newest state, whose masks hold whatever state is shown; by default the same.
        """
        self._document, self._masks_of = document, masks_of or document
        self._previewer.take(document)

    def of(self, raw: bytes, place: str = PASTED) -> Preview:
        """Preview one message.

        Args:
            raw: the record exactly.
            place: where it lies, where it names no other position.
        """
        self._previewer.take(self._document)
        done = self._previewer.map(raw, place)
        masks = Masks(self._masks_of, done.schema or None)
        row = done.row.members if done.row is not None else None
        return Preview(
            fate=done.fate,
            words=self._words(done),
            schema=done.schema,
            version=done.version,
            op=done.row.op if done.row is not None else "",
            position=done.position,
            row=masks.incoming(row_text(row)) if row is not None else None,
            whole=masks.incoming(raw),
            messages=tuple(self._message(done, each, masks) for each in done.messages),
            kind=str(done.kind or ""),
            reason=done.reason,
        )

    def _message(self, done: OneOutcome, message: OneMessage, masks: Masks) -> PreviewMessage:
        block, document = message.block, self._document
        schema, entity = document.extraction.named(done.schema), document.cdm.named(block.entity)
        version = document.extraction.labelled(schema.id, done.version) if schema is not None else None
        target = document.cdm.labelled(entity.id, block.entity_version) if entity is not None else None
        key = (version.id, target.id) if version is not None and target is not None else None
        text = masks.outgoing(block.entity, message.text)
        return PreviewMessage(key, block.entity, block.entity_version, text, block.targets, _notes(document, key))

    def _words(self, done: OneOutcome) -> str:
        match done.fate:
            case RecordOutcome.SET_ASIDE:
                detail = "" if self._tells_masked(done) else f": {done.detail}"
                return f"Would be set aside. {_REASONS.get(done.reason, done.reason)}{detail}."
            case RecordOutcome.SKIPPED:
                return f"Would be skipped: {_KINDS.get(str(done.kind), 'no row of a table')}."
            case RecordOutcome.FILTERED:
                return f"Would be filtered: {self._why_filtered(done)}."
            case _:
                count = len(done.messages)
                return f"Becomes {count} message{'s' if count != 1 else ''}."

    def _why_filtered(self, done: OneOutcome) -> str:
        schema = self._document.extraction.named(done.schema)
        version = self._document.extraction.labelled(schema.id, done.version) if schema is not None else None
        blocks = self._document.matrix.column_set(version.id) if version is not None else ()
        if not any(block.elements for block in blocks):
            return f"no attribute of version {done.version} is mapped" if done.version else "nothing of it is mapped"
        return "every mapped attribute is null in it"

    def _tells_masked(self, done: OneOutcome) -> bool:
        """Whether the detail of a refusal may quote a masked value: that of the version field, or any when unknown."""
        schema = self._document.extraction.named(done.schema) if done.schema else None
        hidden = hidden_sources(self._masks_of, done.schema or None)
        return bool(hidden) and (schema is None or bool(schema.setting("version_field")))


def preview(document: Document, raw: bytes, place: str = PASTED) -> Preview:
    """Preview one message with a document; whoever asks again after an edit keeps a ``Previews``.

    Cost: compiling the schema of the message.
    """
    previews = Previews()
    previews.take(document)
    return previews.of(raw, place)


def row_text(members: Members) -> bytes:
    """Write the members of a row as one JSON object, values exactly as they came."""
    return b"{" + b", ".join(quoted(name) + b": " + bytes(raw) for name, raw in members.items()) + b"}"


def payload_of(message: bytes) -> bytes | None:
    """Return the payload of an outgoing message, ``None`` where it cannot be read."""
    try:
        return bytes(msgspec.json.decode(message, type=dict[str, msgspec.Raw])["payload"])
    except (msgspec.MsgspecError, KeyError, UnicodeError):
        return None


def _notes(document: Document, key: BlockKey | None) -> tuple[str, ...]:
    block = document.matrix.block(*key) if key is not None else None
    if block is None or block.status is Status.CONFIRMED:
        return ()
    if block.status is not Status.NEEDS_REVIEW:
        return ("nobody has confirmed this block",)
    lost = tuple(f"{loss.to_path} waits for review" for loss in block.open_losses)
    schema = document.extraction.schema(document.extraction.version(block.version).schema_id)
    is_held = schema.setting("meanwhile", "hold") == "hold"
    return (*(lost or ("the block waits for review",)), *(("production holds it back until then",) if is_held else ()))


STANDARD_INPUT = "stdin"
"""Name of the standard input in positions."""


class PreviewedSource(Value):
    """What becomes of the first messages of a source.

    Args:
        state: the state that they were mapped with.
        previews: one for each record, in order.
        cut: positions of records that are too long to be looked at whole.
    """

    state: int
    previews: tuple[Preview, ...]
    cut: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Count the records by fate, under the names of a report; they add up to ``read``."""
        fates = Counter(each.fate for each in self.previews)
        aside = fates[RecordOutcome.SET_ASIDE] + len(self.cut)
        return {
            "read": len(self.previews) + len(self.cut),
            "mapped": fates[RecordOutcome.MAPPED],
            "filtered": fates[RecordOutcome.FILTERED],
            "set_aside": aside,
            "skipped": fates[RecordOutcome.SKIPPED],
        }

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl preview``."""
        return {"state": self.state, **self.counts(), "records": [*map(Preview.as_json, self.previews), *self._cut()]}

    def _cut(self) -> Iterator[dict[str, Any]]:
        for position in self.cut:
            yield {"position": position, "fate": "set_aside", "reason": "too_large", "messages": []}


def preview_source(workbench: Workbench, source: str, limit: int) -> PreviewedSource:
    """Preview the first messages of a file, a folder, a pattern or topics.

    Raises:
        RunError: there is no such source, or it cannot be read.
    """
    return _previewed(workbench, records_to_see(source, limit))


def preview_stream(workbench: Workbench, chunks: Iterable[bytes], limit: int) -> PreviewedSource:
    """Preview the first messages of a stream of bytes; no more of it is read than they need."""
    return _previewed(workbench, _first_of(chunks, limit))


def _first_of(chunks: Iterable[bytes], limit: int) -> Iterator[FirstRecord]:
    for number, found in enumerate(split(chunks), 1):
        yield FirstRecord(found.raw, f"{STANDARD_INPUT}@{found.offset}", found.is_whole)
        if number == limit:
            return


def _previewed(workbench: Workbench, records: Iterable[FirstRecord]) -> PreviewedSource:
    previews, found, cut = Previews.of_project(workbench), [], []
    previews.take(workbench.document)
    for record in records:
        if record.is_whole:
            found.append(previews.of(record.raw, record.place))
        else:
            cut.append(record.place)
    return PreviewedSource(workbench.document.state, tuple(found), tuple(cut))
