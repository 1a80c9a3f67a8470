"""Why records were set aside, reason by reason, and what a person does about it.

Reasons are put into words for people who know the business and not the program. Which attribute of the canonical model
a value did not fit is found from what the error store says of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.selection import Selected, place_of_version

ADD, REVIEW, SHOW = "add", "review", "show"
_PLACES = 20


@dataclass(frozen=True)
class NextStep:
    """What to do about one reason.

    Args:
        kind: ``ADD`` a version, ``REVIEW`` a block, or ``SHOW`` the records.
        words: of the link.
    """

    kind: str
    words: str


_STEPS = {
    "unknown_version": NextStep(ADD, "Add version"),
    "unknown_schema": NextStep(ADD, "Import schema"),
    "block_needs_review": NextStep(REVIEW, "Review"),
}
_SHOW = NextStep(SHOW, "Show")


def next_step(reason: str) -> NextStep:
    """Return what to do about a reason."""
    return _STEPS.get(reason, _SHOW)


def where(records: Sequence[SetAsideRecord]) -> str:
    """Say where records of one reason come from, by the first of them: schema and version, or the file."""
    named = Counter(_place(record) for record in records[:_PLACES])
    if not named:
        return ""
    first = named.most_common(1)[0][0]
    return first if len(named) == 1 else f"{first} and others"


def _place(record: SetAsideRecord) -> str:
    if record.schema:
        return f"{record.schema} {record.version}" if record.version else record.schema
    position = record.position or ""
    return position.rpartition("@")[0] or position.partition("/")[0]


_DETAIL = re.compile(
    r"(?P<entity>.+)@(?P<version>\S+) (?P<path>.+?) takes (?P<wants>.+?), and not (?P<value>.*)", re.DOTALL
)
HIDDEN_VALUE = "what it has, which is masked"


def without_value(detail: str) -> str:
    """Return what is said of a misfit without the value that did not fit."""
    found = _DETAIL.fullmatch(detail)
    return detail[: found.start("value")] + HIDDEN_VALUE if found is not None else detail


_APART = re.compile(
    r"the versions .+? fit; (?P<maps>.+?) maps (?P<source>.+?) to (?P<entity>.+)@(?P<version>\S+) (?P<path>.+?), "
    r"and (?P<lacks>.+?) does not(, and [\d,]+ more)?",
    re.DOTALL,
)


@dataclass(frozen=True)
class CellsApart:
    """An element that two versions which fit a record do not share.

    Args:
        maps, lacks: the cell in the version that maps it, and in the one that does not.
        words: what differs.
    """

    maps: Selected
    lacks: Selected
    words: str


def cells_apart(document: Document, record: SetAsideRecord) -> CellsApart | None:
    """Return the two cells in which versions that fit a record differ, ``None`` where it tells none that are there."""
    found = _APART.fullmatch(record.detail)
    schema = document.extraction.named(record.schema or "") if found is not None else None
    entity = document.cdm.named(found["entity"]) if found is not None else None
    target_version = document.cdm.labelled(entity.id, found["version"]) if found and entity else None
    target = target_version.at_path(found["path"]) if found and target_version else None
    if found is None or schema is None or target_version is None or target is None:
        return None
    versions = [document.extraction.labelled(schema.id, found[name]) for name in ("maps", "lacks")]
    sources = [version.at_path(found["source"]) if version is not None else None for version in versions]
    cells = [
        Selected(
            place_of_version(document, Side.EXTRACTION, version.id, source.id),
            place_of_version(document, Side.CDM, target_version.id, target.id),
        )
        for version, source in zip(versions, sources, strict=True)
        if version is not None and source is not None
    ]
    if len(cells) != 2:
        return None
    words = f"Version {found['maps']} maps {found['source']} to {found['path']}, version {found['lacks']} does not."
    return CellsApart(cells[0], cells[1], words)


def cell_of(document: Document, record: SetAsideRecord) -> Selected | None:
    """Return the cell that mapped the value; ``None`` where the record tells none that the document has."""
    found = _DETAIL.fullmatch(record.detail)
    entity = document.cdm.named(found["entity"]) if found is not None else None
    schema = document.extraction.named(record.schema or "")
    if found is None or entity is None or schema is None:
        return None
    target = document.cdm.labelled(entity.id, found["version"])
    source = document.extraction.labelled(schema.id, record.version or "")
    attribute = target.at_path(found["path"]) if target is not None else None
    if target is None or source is None or attribute is None:
        return None
    block = document.matrix.block(source.id, target.id)
    element = next((each for each in block.elements if each.q == attribute.id), None) if block is not None else None
    return Selected(
        place_of_version(document, Side.EXTRACTION, source.id, element.p if element is not None else None),
        place_of_version(document, Side.CDM, target.id, attribute.id),
    )


_WORDS = {
    "malformed": "This cannot be read: it is no proper JSON.",
    "unknown_schema": "No schema of the project has this name.",
    "unknown_version": "No version of its schema fits this message.",
    "ambiguous_version": "Several versions of its schema fit, and they would map it differently.",
    "block_needs_review": "It waits for a decision: a block that it needs is under review.",
    "type_mismatch": "A value does not fit the type that the canonical model has for it.",
    "undecodable": "Its bytes cannot be decoded with the schemas that the project has.",
    "no_key": "It deletes a row, and nothing in it says which.",
    "too_large": "It is larger than the limit; only its beginning is kept.",
}
_KINDS = {"block_needs_review": "review", "unknown_version": "review", "unknown_schema": "review"}


def reason_words(reason: str) -> str:
    """Say what a reason means; one that nobody foresaw stands for itself."""
    return _WORDS.get(reason, reason.replace("_", " ").capitalize() + ".")


def reason_kind(reason: str) -> str:
    """Return the kind of a reason's pill: a person must decide, or something is broken."""
    return _KINDS.get(reason, "bad")
