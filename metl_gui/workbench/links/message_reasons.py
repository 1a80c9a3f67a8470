"""Why a message is as it is: for each mapped attribute the cell that mapped it, and who decided that and when.

A message names the state that made it, so it is traced as of that state. What was set aside is traced to where it is
mended. Values are not told: they stand in the message. Source: docs/reference/commands.md, "metl why".
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.core.trees import paths
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError, ProjectError
from metl_gui.workbench.addresses import BlockName, ElementName, element_name, known_block_name
from metl_gui.workbench.history.blame import BlameEvent, origins
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.links.link import LinkPlace, PlaceKind
from metl_gui.workbench.links.places import link_to
from metl_gui.workbench.links.set_aside import mending_place
from metl_gui.workbench.session import Workbench

LONGEST_LINE = 1 << 20
"""Bytes of a message that are looked at."""

_SHOWN = 200
_SET_ASIDE = msgspec.json.Decoder(SetAsideRecord)


class ValueReason(JsonResult):
    """Why an attribute of a message has its value.

    Args:
        path: the CDM attribute.
        element: the cell that mapped it.
        decision: the edit that set the cell; ``None`` where the log does not reach back to it.
        link: leads to the cell, in the state of the message.
    """

    path: str
    element: ElementName
    decision: BlameEvent | None
    link: str


class MessageReasons(JsonResult):
    """Why one message, or one record that was set aside, is as it is.

    Args:
        position: where its record lay.
        state: the state that it is traced in.
        block: what made it; ``None`` for what was set aside.
        values: of its mapped attributes, in the order of the entity.
        reason: why it was set aside, empty for a message.
        words: what to do, or what cannot be told.
        links: lead to where a record that was set aside is mended.
    """

    position: str
    state: int
    block: BlockName | None = None
    values: tuple[ValueReason, ...] = ()
    reason: str = ""
    words: str = ""
    links: tuple[str, ...] = ()


def reasons_of_file(workbench: Workbench, file: BinaryIO, limit: int) -> tuple[MessageReasons, ...]:
    """Trace the first of some messages and records that were set aside, one JSON object a line.

    Raises:
        EditError: a line is neither.
    """
    tracer, found = MessageTracer(workbench), []
    for number, written in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
        line = written.removeprefix(BOM_UTF8) if number == 1 else written
        if not line.strip():
            continue
        try:
            found.append(tracer.reasons(line))
        except EditError as error:
            raise EditError(
                f"Line {number:,} tells no origin.", f"{error.title} {error.text}".strip(), error.hint
            ) from error
        if len(found) >= limit:
            break
    return tuple(found)


def reasons_of_path(workbench: Workbench, path: Path, limit: int) -> tuple[MessageReasons, ...]:
    """Trace the first messages of a file.

    Raises:
        EditError: it cannot be read, or a line is no message.
    """
    try:
        with path.open("rb") as file:
            return reasons_of_file(workbench, file, limit)
    except OSError as error:
        raise EditError(f"{path} cannot be read.", f"{error.strerror}.", "Name a file of messages.") from error


class MessageTracer:
    """Traces messages of a project; the blocks and states of those before are known to those after.

    Args:
        workbench: the opened project.
    """

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._documents: dict[int, tuple[Document, str]] = {}
        self._decisions: dict[tuple[int, BlockKey], Mapping[Element, BlameEvent | None]] = {}

    def reasons(self, text: bytes) -> MessageReasons:
        """Trace a message, or a record that was set aside.

        Raises:
            EditError: it is neither, or too long.
        """
        if len(text) > LONGEST_LINE:
            raise EditError(f"It has more than {LONGEST_LINE:,} bytes.", hint="Look at it in its run.")
        try:
            read = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise EditError("It is no JSON.", f"{error}.", "Give messages of a run, one a line.") from error
        if isinstance(read, dict) and "reason" in read and "entity" not in read:
            return self._of_set_aside(text)
        source, entity = (read.get("source"), read.get("entity")) if isinstance(read, dict) else (None, None)
        if not isinstance(source, dict) or not isinstance(entity, str):
            raise EditError("It is no outgoing message.", hint="Give what a run wrote, or a line of its error store.")
        return self._of_message(read, source)

    def _of_set_aside(self, text: bytes) -> MessageReasons:
        try:
            record = _SET_ASIDE.decode(text)
        except msgspec.MsgspecError as error:
            raise EditError("It is no line of an error store.", f"{error}.", "Give it as the run wrote it.") from error
        document = self._workbench.document
        found, project = mending_place(document, record), self._workbench.project_id
        links = tuple(str(link_to(project, document, place)) for place in found.places)
        values = tuple(self._of_places(document, found.places))
        return MessageReasons(
            record.position or "", document.state, values=values, reason=record.reason, words=found.words, links=links
        )

    def _of_places(self, document: Document, places: tuple[LinkPlace, ...]) -> Iterator[ValueReason]:
        for place in places:
            if place.kind is PlaceKind.CELL:
                v, p, w, q = place.ids
                block = document.matrix.block(v, w)
                if block is not None and Element(q, p) in block.elements:
                    yield self._value(document, block, Element(q, p))

    def _of_message(self, message: Mapping[str, Any], source: Mapping[str, Any]) -> MessageReasons:
        state = message.get("state")
        document, words = self._document(state if isinstance(state, int) else -1)
        position = str(source.get("position") or "")[:_SHOWN]
        key = _block_of(document, message, source)
        block = document.matrix.block(*key) if key is not None else None
        if key is None or block is None:
            gone = "This state has no block between what the message names."
            return MessageReasons(position, document.state, words=f"{words} {gone}".strip())
        target = document.cdm.version(key[1])
        payload = message.get("payload")
        order = {attribute.id: at for at, attribute in enumerate(target.attributes)}
        elements = sorted(block.elements, key=lambda element: order.get(element.q, 0))
        values = tuple(
            self._value(document, block, element)
            for element in elements
            if (attribute := target.attribute(element.q)) is not None and _has(payload, paths.split(attribute.path))
        )
        return MessageReasons(position, document.state, known_block_name(document, key), values, words=words)

    def _value(self, document: Document, block: Block, element: Element) -> ValueReason:
        name = element_name(document, block, element)
        place = LinkPlace(PlaceKind.CELL, (block.version, element.p, block.entity_version, element.q))
        link = str(link_to(self._workbench.project_id, document, place))
        return ValueReason(name.to_path, name, self._of_block(document, block.key).get(element), link)

    def _document(self, state: int) -> tuple[Document, str]:
        """Return the document at a state, or the newest one and why; made-up states cost no more than looking."""
        if state not in self._documents:
            current = self._workbench.document
            try:
                found = (self._workbench.at_state(state), "") if state > 0 else (current, "It names no state.")
            except ProjectError as error:
                found = current, f"{error.title} It is traced in state {current.state:,}."
            self._documents[state] = found
        return self._documents[state]

    def _of_block(self, document: Document, key: BlockKey) -> Mapping[Element, BlameEvent | None]:
        asked = document.state, key
        if asked not in self._decisions:
            self._decisions[asked] = origins(self._workbench, key, document)
        return self._decisions[asked]


def _block_of(document: Document, message: Mapping[str, Any], source: Mapping[str, Any]) -> BlockKey | None:
    ids = []
    named = (
        (Side.EXTRACTION, source.get("schema"), source.get("version")),
        (Side.CDM, message["entity"], message.get("version")),
    )
    for side, name, label in named:
        schema = document.tree(side).named(name) if isinstance(name, str) else None
        version = document.tree(side).labelled(schema.id, label) if schema and isinstance(label, str) else None
        if version is None:
            return None
        ids.append(version.id)
    return ids[0], ids[1]


def _has(payload: object, path: tuple[str, ...]) -> bool:
    found = payload
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return False
        found = found[name]
    return True
