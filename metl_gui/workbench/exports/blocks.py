"""The blocks that an export carries with everything that people's formats tell of them, in canonical order.

``spot_words`` says what a comment is about, in words that hold without the project.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from metl_gui.core.matrix.blocks import Block, Element, Status
from metl_gui.core.matrix.canonical import exported_blocks, is_held
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.project.comments import Comment, Spot
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.values import Value

_STEP_BLOCKS = 500


class ExportedElement(Value):
    """One element with its two ends."""

    source: Attribute
    target: Attribute

    @property
    def element(self) -> Element:
        """The element by ids."""
        return Element(self.target.id, self.source.id)


class ExportedBlock(Value):
    """One block that an export carries.

    Args:
        block: the block.
        schema, version, entity, entity_version: its ends.
        is_held: production sets its messages aside until somebody decides.
        lines: its elements by target path.
    """

    block: Block
    schema: Schema
    version: Version
    entity: Schema
    entity_version: Version
    is_held: bool
    lines: tuple[ExportedElement, ...]

    @property
    def names(self) -> tuple[str, str, str, str]:
        """Schema, version, entity and entity version."""
        return self.schema.name, self.version.label, self.entity.name, self.entity_version.label

    @property
    def in_production(self) -> str:
        """What a production run does with the messages of the block, in words."""
        if self.block.is_unconfirmed:
            return "leaves it out: unconfirmed"
        if self.is_held:
            return "sets its messages aside"
        if not self.lines:
            return "leaves it out: nothing is left of it"
        return "maps what is left" if self.block.status is Status.NEEDS_REVIEW else "maps it"

    @property
    def who(self) -> str:
        """Who set the status, empty where nobody did."""
        return self.block.who

    @property
    def day(self) -> str:
        """The day when the status was set (UTC), empty where nobody did."""
        return day_of(self.block.when_ms)


def carried(document: Document, include_unconfirmed: bool, watch: Watch, doing: str) -> Iterator[ExportedBlock]:
    """Yield the blocks that an export carries, saying how far it is.

    Args:
        document: the state.
        include_unconfirmed: carry unconfirmed blocks too.
        watch: progress and cancel.
        doing: what is said of the progress.
    """
    blocks = exported_blocks(document, include_unconfirmed)
    for at, block in enumerate(blocks):
        if at % _STEP_BLOCKS == 0:
            watch.step(doing, at, len(blocks))
        yield _told(document, block)


def _told(document: Document, block: Block) -> ExportedBlock:
    version, entity_version = document.extraction.version(block.version), document.cdm.version(block.entity_version)
    sources = {attribute.id: attribute for attribute in version.attributes}
    targets = {attribute.id: attribute for attribute in entity_version.attributes}
    lines = [ExportedElement(sources[p], targets[q]) for q, p in block.elements]
    return ExportedBlock(
        block,
        document.extraction.schema(version.schema_id),
        version,
        document.cdm.schema(entity_version.schema_id),
        entity_version,
        is_held(document, block),
        tuple(sorted(lines, key=lambda line: (line.target.path, line.source.path))),
    )


def day_of(when_ms: int) -> str:
    """Return the day of a moment (UTC), empty for never."""
    return datetime.fromtimestamp(when_ms / 1000, UTC).date().isoformat() if when_ms else ""


def spot_words(document: Document, comment: Comment) -> str:
    """Return the ends that a comment is about, ``schema@version path → entity@version path``, as far as it has them."""
    ends = ((Side.EXTRACTION, comment.subject.source), (Side.CDM, comment.subject.target))
    return " → ".join(_words(document, side, spot) for side, spot in ends if spot is not None)


def _words(document: Document, side: Side, spot: Spot) -> str:
    schema = document.tree(side).find_schema(spot.schema)
    version = document.tree(side).find_version(spot.version) if spot.version else None
    attribute = version.attribute(spot.attribute) if version is not None and spot.attribute else None
    words = schema.name if schema is not None else "(gone)"
    words += f"@{version.label}" if version is not None else ""
    return words + (f" {attribute.path}" if attribute is not None else "")
