"""Where a record that was set aside is mended: a cell, a decision, a setting, or a schema; reason by reason.

What the error store says of a record is read for names, which are looked up in a document: a store comes from outside,
and what it names may be gone. Source: docs/reference/set-aside.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import items_of_group
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.core.trees.nodes import Schema, Version
from metl_gui.errors import EditError
from metl_gui.workbench.addresses import find_block
from metl_gui.workbench.links.link import Place, PlaceKind

_LONGEST = 20_000
"""Letters of a detail that are looked at."""

MISFIT = re.compile(
    r"(?P<entity>.+)@(?P<version>\S+) (?P<path>.+?) takes (?P<wants>.+?), and not (?P<value>.*)", re.DOTALL
)
_APART = re.compile(
    r"the versions .+? fit; (?P<maps>.+?) maps (?P<source>.+?) to (?P<entity>.+)@(?P<version>\S+) (?P<path>.+?), "
    r"and (?P<lacks>.+?) does not(, and [\d,]+ more)?",
    re.DOTALL,
)
_REVIEW = " needs review"


class Mending(StrEnum):
    """What a person does there."""

    LOOK = "look"
    ADD = "add"
    REVIEW = "review"
    SETTING = "setting"


@dataclass(frozen=True, slots=True)
class MendingPlace:
    """Where one record is mended.

    Args:
        words: what is to be done, in a sentence.
        mending: what kind of thing that is.
        places: what to look at, the most telling first; none where the project has no such place.
        setting: name of the setting of the schema that decides, where one does.
    """

    words: str
    mending: Mending = Mending.LOOK
    places: tuple[Place, ...] = ()
    setting: str = ""


def mending_place(document: Document, record: SetAsideRecord) -> MendingPlace:
    """Return where a record is mended in a document."""
    find = _FINDERS.get(record.reason)
    found = find(document, record) if find is not None else None
    return found or _unknown(document, record)


def _unknown(document: Document, record: SetAsideRecord) -> MendingPlace:
    places = _schema_places(document, record)
    words = "Look at the version that it belongs to." if places else "Nothing in the project says what it belongs to."
    return MendingPlace(words, places=places)


def _malformed(document: Document, record: SetAsideRecord) -> MendingPlace:
    return MendingPlace(
        "No mapping mends it: what writes this schema must write proper JSON.",
        places=_schema_places(document, record),
    )


def _undecodable(document: Document, record: SetAsideRecord) -> MendingPlace:
    return MendingPlace(
        "Import the schemas of its registry, or say how its values are framed.",
        Mending.SETTING,
        _schema_places(document, record),
        "framing",
    )


def _to_add(document: Document, record: SetAsideRecord) -> MendingPlace:
    known = _schema_places(document, record)
    what = "version" if known else "schema"
    return MendingPlace(f"Add the {what} that it shows, then replay it.", Mending.ADD, known)


def _ambiguous(document: Document, record: SetAsideRecord) -> MendingPlace:
    found = _APART.fullmatch(record.detail[:_LONGEST])
    schema = document.extraction.named(record.schema or "")
    target = _target(document, found) if found is not None else None
    cells = []
    if found is not None and schema is not None and target is not None:
        for name in ("lacks", "maps"):
            version = document.extraction.labelled(schema.id, found[name])
            source = version.at_path(found["source"]) if version is not None else None
            if version is not None and source is not None:
                cells.append(Place(PlaceKind.CELL, (version.id, source.id, *target)))
    if found is not None and len(cells) == 2:  # one alone does not tell in what they differ
        words = f"Version {found['maps']} maps {found['source']} to {found['path']}, version {found['lacks']} does not."
        return MendingPlace(words, places=tuple(cells))
    places = _schema_places(document, record)
    words = "Map the versions that fit alike, or say which field tells the version."
    return MendingPlace(words, Mending.SETTING, places, "version_field")


def _held(document: Document, record: SetAsideRecord) -> MendingPlace | None:
    try:
        key = find_block(document, record.detail[:_LONGEST].partition(_REVIEW)[0])
    except EditError:
        return None
    group = document.extraction.schema_of(key[0]), document.cdm.schema_of(key[1])
    for item in items_of_group(document, *group):
        if key == item.key or key in item.chain:
            return MendingPlace("Decide what waits there.", Mending.REVIEW, (Place(PlaceKind.REVIEW, item.key),))
    block = document.matrix.block(*key)
    by = f" by {block.who}" if block is not None and block.who else ""
    words = f"It was decided{by}: publish that, then replay the record."
    return MendingPlace(words, places=(Place(PlaceKind.BLOCK, key),))


def _misfit(document: Document, record: SetAsideRecord) -> MendingPlace | None:
    found = MISFIT.fullmatch(record.detail[:_LONGEST])
    target = _target(document, found) if found is not None else None
    if found is None or target is None:
        return None
    w, q = target
    words = f"{found['path']} takes {found['wants']}: mend its type, or map another attribute to it."
    source = _version(document, record)
    block = document.matrix.block(source.id, w) if source is not None else None
    element = next((each for each in block.elements if each.q == q), None) if block is not None else None
    if source is not None and element is not None:
        return MendingPlace(words, places=(Place(PlaceKind.CELL, (source.id, element.p, w, q)),))
    return MendingPlace(words, places=(Place(PlaceKind.ENTITY, (document.cdm.schema_of(w), w, q)),))


def _no_key(document: Document, record: SetAsideRecord) -> MendingPlace:
    words = "Say which attributes are the key of the schema."
    return MendingPlace(words, Mending.SETTING, _schema_places(document, record), "key")


def _too_large(document: Document, record: SetAsideRecord) -> MendingPlace:
    return MendingPlace(
        "No mapping mends it: replay it with a larger limit, or map less of it where its message is too large.",
        places=_schema_places(document, record),
    )


def _too_late(document: Document, record: SetAsideRecord) -> MendingPlace:
    words = "It is older than what was compacted: rebuild the warehouse to take it in."
    return MendingPlace(words, places=_schema_places(document, record))


_FINDERS: Mapping[str, Callable[[Document, SetAsideRecord], MendingPlace | None]] = MappingProxyType(
    {
        "malformed": _malformed,
        "undecodable": _undecodable,
        "unknown_schema": _to_add,
        "unknown_version": _to_add,
        "ambiguous_version": _ambiguous,
        "block_needs_review": _held,
        "type_mismatch": _misfit,
        "no_key": _no_key,
        "too_large": _too_large,
        "too_late": _too_late,
    }
)
REASONS = tuple(_FINDERS)
"""Every reason why records are set aside."""


def _target(document: Document, found: re.Match[str]) -> tuple[int, int] | None:
    """Return version and attribute of the CDM that a detail names."""
    entity = document.cdm.named(found["entity"])
    version = document.cdm.labelled(entity.id, found["version"]) if entity is not None else None
    attribute = version.at_path(found["path"]) if version is not None else None
    return (version.id, attribute.id) if version is not None and attribute is not None else None


def _schema(document: Document, record: SetAsideRecord) -> Schema | None:
    """Return the schema of a record: as the record says, else the one that its topic is called like."""
    names = (record.schema or "", topic_of(record))
    return next((found for name in names if (found := document.extraction.named(name)) is not None), None)


def topic_of(record: SetAsideRecord) -> str:
    """Return the topic that a record was read from, or the file without its folders and ending; empty for neither."""
    position = record.position or ""
    file = position.rpartition("@")[0]
    return file.rpartition("/")[2].partition(".jsonl")[0] if file else position.rsplit("/", 2)[0]


def _version(document: Document, record: SetAsideRecord) -> Version | None:
    schema = _schema(document, record)
    return document.extraction.labelled(schema.id, record.version or "") if schema is not None else None


def _schema_places(document: Document, record: SetAsideRecord) -> tuple[Place, ...]:
    schema, version = _schema(document, record), _version(document, record)
    if schema is None:
        return ()
    return (Place(PlaceKind.SCHEMA, (schema.id,) if version is None else (schema.id, version.id)),)
