"""Where a record that was set aside is mended: a cell, a decision, a setting, or a schema; reason by reason.

What the error store says of a record is read for names, which are looked up in a document: a store comes from outside,
and what it names may be gone. Source: docs/reference/set-aside.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType

from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import items_of_group
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.core.trees.nodes import Attribute, Schema, Version
from metl_gui.errors import EditError
from metl_gui.values import Value
from metl_gui.workbench.addresses import find_block
from metl_gui.workbench.links.link import LinkPlace, PlaceKind

_LONGEST = 20_000
"""Letters of a detail that are looked at."""

_MOST_CUTS = 50
"""Places at which names are taken apart, at most: names may hold what stands between them."""
_REVIEW = " needs review"
BEFORE_VALUE = ", and not "
"""Stands first in the detail of a misfit before the value that does not fit."""


class Mending(StrEnum):
    """What a person does there."""

    LOOK = "look"
    ADD = "add"
    REVIEW = "review"
    SETTING = "setting"


class MendingPlace(Value):
    """Where one record is mended.

    Args:
        words: what is to be done, in a sentence.
        mending: what kind of thing that is.
        places: what to look at, the most telling first; none where the project has no such place.
        setting: name of the setting of the schema that decides, where one does.
    """

    words: str
    mending: Mending = Mending.LOOK
    places: tuple[LinkPlace, ...] = ()
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
    found = _two_cells(document, record)
    if found is not None:
        return found
    places = _schema_places(document, record)
    words = "Map the versions that fit alike, or say which field tells the version."
    return MendingPlace(words, Mending.SETTING, places, "version_field")


def _two_cells(document: Document, record: SetAsideRecord) -> MendingPlace | None:
    """Return the cells in which two versions differ: "the versions A, B fit; A maps X to E@1 Y, and B does not"."""
    head, _, rest = record.detail[:_LONGEST].partition(" fit; ")
    maps, _, rest = rest.partition(" maps ")
    element, _, tail = rest.partition(", and ")
    lacks = tail.partition(" does not")[0]
    schema = document.extraction.named(record.schema or "")
    versions = [document.extraction.labelled(schema.id, label) for label in (lacks, maps)] if schema is not None else []
    if not head.startswith("the versions ") or None in versions:
        return None
    for path, named in _cuts(element, " to "):
        sources = [(each.id, a.id) for each in versions if each is not None and (a := each.at_path(path)) is not None]
        target = _target(document, named)
        if target is not None and len(sources) == 2:  # one alone does not tell in what they differ
            _, attribute = target
            words = f"Version {maps} maps {path} to {attribute.path}, version {lacks} does not."
            cells = (LinkPlace(PlaceKind.CELL, (*source, target[0], attribute.id)) for source in sources)
            return MendingPlace(words, places=tuple(cells))
    return None


def _cuts(text: str, sign: str) -> Iterator[tuple[str, str]]:
    """Yield both sides of a sign, wherever it stands in a text."""
    at = text.find(sign)
    for _ in range(_MOST_CUTS):
        if at < 0:
            return
        yield text[:at], text[at + len(sign) :]
        at = text.find(sign, at + 1)


def _held(document: Document, record: SetAsideRecord) -> MendingPlace | None:
    try:
        key = find_block(document, record.detail[:_LONGEST].partition(_REVIEW)[0])
    except EditError:
        return None
    group = document.extraction.schema_of(key[0]), document.cdm.schema_of(key[1])
    for item in items_of_group(document, *group):
        if key == item.key or key in item.chain:
            return MendingPlace("Decide what waits there.", Mending.REVIEW, (LinkPlace(PlaceKind.REVIEW, item.key),))
    block = document.matrix.block(*key)
    by = f" by {block.who}" if block is not None and block.who else ""
    words = f"It was decided{by}: publish that, then replay the record."
    return MendingPlace(words, places=(LinkPlace(PlaceKind.BLOCK, key),))


def _misfit(document: Document, record: SetAsideRecord) -> MendingPlace | None:
    named, _, wants = record.detail[:_LONGEST].partition(BEFORE_VALUE)[0].rpartition(" takes ")
    target = _target(document, named)
    if target is None:
        return None
    w, q = target[0], target[1].id
    words = f"{target[1].path} takes {wants}: mend its type, or map another attribute to it."
    source = _version(document, record)
    block = document.matrix.block(source.id, w) if source is not None else None
    element = next((each for each in block.elements if each.q == q), None) if block is not None else None
    if source is not None and element is not None:
        return MendingPlace(words, places=(LinkPlace(PlaceKind.CELL, (source.id, element.p, w, q)),))
    return MendingPlace(words, places=(LinkPlace(PlaceKind.ENTITY, (document.cdm.schema_of(w), w, q)),))


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

_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "malformed": "no proper JSON",
        "undecodable": "cannot be decoded",
        "unknown_schema": "schema not known",
        "unknown_version": "no version fits",
        "ambiguous_version": "several versions fit",
        "block_needs_review": "waits for a decision",
        "type_mismatch": "type does not fit",
        "no_key": "delete without a key",
        "too_large": "too large",
        "too_late": "too late",
    }
)


def reason_title(reason: str) -> str:
    """Return the code of a reason in a few words, for lists and headings; one that nobody foresaw as it is."""
    return _TITLES.get(reason, reason.replace("_", " "))


def _target(document: Document, text: str) -> tuple[int, Attribute] | None:
    """Return version and attribute of the CDM that a detail names as "ENTITY@VERSION PATH"."""
    for name, rest in _cuts(text, "@"):
        label, _, path = rest.partition(" ")
        entity = document.cdm.named(name)
        version = document.cdm.labelled(entity.id, label) if entity is not None else None
        attribute = version.at_path(path) if version is not None else None
        if version is not None and attribute is not None:
            return version.id, attribute
    return None


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


def _schema_places(document: Document, record: SetAsideRecord) -> tuple[LinkPlace, ...]:
    schema, version = _schema(document, record), _version(document, record)
    if schema is None:
        return ()
    return (LinkPlace(PlaceKind.SCHEMA, (schema.id,) if version is None else (schema.id, version.id)),)
