"""What speaks for a pair of attributes beside their names: types, documentation, place, key, and what was confirmed.

Source: docs/guide/mapping.md, "Be helped"; docs/architecture/model.md, "Trees, versions, lineages".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.suggest.names import Scores, alike, alike_texts
from metl_gui.core.suggest.values import ValueEvidence
from metl_gui.core.suggest.words import letters
from metl_gui.core.trees.nodes import Attribute, Version
from metl_gui.core.trees.types import is_readable
from metl_gui.values import Value

Flags = NDArray[np.bool_]
Counts = NDArray[np.int32]

LEAST_STRENGTH, LEAST_LISTED = 0.25, 0.12
"""Weaker evidence than the first joins no pair; down to the second it is listed behind better candidates."""

TYPE_DIFFERS = np.float32(0.85)
_DOC_SHARE = 0.25
_LEAST_DOC = 0.6
_VALUES_SHARE = 0.5
_PLACE_SHARE = 0.02
_KEY_SHARE = 0.04
_CONFIRMED = 0.98
_CONFIRMED_ELSEWHERE = 0.92
_MOST_SCHEMAS = 400


class Confirmed(Value):
    """What people have confirmed between one schema and one entity, and what other schemas give that entity.

    Args:
        versions: by pair of lineages (q, p): how many other blocks of the schema and the entity have the element, or
            how many had it until somebody accepted that it was lost.
        schemas: by target lineage and name of the source: how many other schemas map that name there.
    """

    versions: Mapping[tuple[int, int], int] = msgspec.field(default_factory=dict)
    schemas: Mapping[tuple[int, str], int] = msgspec.field(default_factory=dict)


NOTHING_CONFIRMED = Confirmed()


class Evidence(Value):
    """Everything known of the pairs of two lists of attributes.

    Shape: all arrays are of (sources, targets). ``strength`` is 0 to 1 and orders pairs; it is no
    probability yet. ``value_words`` names values that both of a pair have, by row and column.
    """

    names: Scores
    types_fit: Flags
    docs: Scores
    values: Scores
    both_keys: Flags
    versions: Counts
    schemas: Counts
    strength: Scores
    value_words: Mapping[tuple[int, int], str] = msgspec.field(default_factory=dict)


def weigh(
    version: Version,
    entity_version: Version,
    ends: tuple[Sequence[Attribute], Sequence[Attribute]],
    confirmed: Confirmed = NOTHING_CONFIRMED,
    values: Mapping[Element, ValueEvidence] | None = None,
) -> Evidence:
    """Weigh all pairs of some attributes of two versions.

    Args:
        version, entity_version: the versions, for places and keys.
        ends: the sources and the targets that may be joined.
        confirmed: what was confirmed elsewhere.
        values: how much alike the values of two attributes are, 0 to 1, where samples of both are at hand.
    """
    sources, targets = ends
    names = alike([a.path for a in sources], [a.path for a in targets])
    types_fit = types_fit_of(sources, targets)
    docs = _docs(sources, targets)
    by_values, value_words = _values(sources, targets, values or {})
    both_keys = np.outer(_in_key(version, sources), _in_key(entity_version, targets))
    versions = _versions(sources, targets, confirmed)
    schemas = _schemas(sources, targets, confirmed)
    strength = np.where(types_fit, names, names * TYPE_DIFFERS)
    strength = strength + (1 - strength) * _DOC_SHARE * docs
    strength = strength + (1 - strength) * _VALUES_SHARE * by_values
    small = _PLACE_SHARE * _places(version, entity_version, ends) + _KEY_SHARE * both_keys
    strength = np.where(strength > 0, np.minimum(strength * (1 - _PLACE_SHARE - _KEY_SHARE) + small, 1), 0)
    strength = np.where(schemas > 0, np.maximum(strength, _CONFIRMED_ELSEWHERE), strength)
    strength = np.where(versions > 0, np.maximum(strength, _CONFIRMED), strength).astype(np.float32)
    return Evidence(names, types_fit, docs, by_values, both_keys, versions, schemas, strength, value_words)


def types_fit_of(sources: Sequence[Attribute], targets: Sequence[Attribute]) -> Flags:
    """Say for all pairs whether values of the source can be read as the type of the target.

    Shape: bool of (sources, targets).
    """
    ours, theirs = ({(a.type, a.logical, a.scale): a for a in side} for side in (sources, targets))
    at = [{kind: row for row, kind in enumerate(side)} for side in (ours, theirs)]
    fits = np.array([[is_readable(one, other) for other in theirs.values()] for one in ours.values()], np.bool_)
    rows = [at[0][a.type, a.logical, a.scale] for a in sources]
    columns = [at[1][a.type, a.logical, a.scale] for a in targets]
    return fits[np.ix_(rows, columns)]


def confirmed_elsewhere(document: Document, key: BlockKey) -> Confirmed:
    """Collect what was confirmed between the same schema and entity, and from other schemas to the same entity.

    Cost: the column sets of the schema and the newest block of each other schema, at most some hundred, that feeds the
    entity.
    """
    version, entity_version = document.extraction.version(key[0]), document.cdm.version(key[1])
    rows = document.cdm.schema(entity_version.schema_id).version_ids
    columns = document.extraction.schema(version.schema_id).version_ids
    versions: Counter[tuple[int, int]] = Counter()
    for v in columns:
        for block in _confirmed(document, [(v, w) for w in rows]):
            versions.update(loss.lineages for loss in block.losses if loss.answer == "accepted")
            if block.key != key:
                sources, targets = _lineages(document, block)
                versions.update((targets[q], sources[p]) for q, p in block.elements)
    schemas: Counter[tuple[int, str]] = Counter()
    for block in _confirmed(document, _newest_of_others(document, rows, version.schema_id)):
        names = {a.id: letters(a.path) for a in document.extraction.version(block.version).attributes}
        _, targets = _lineages(document, block)
        schemas.update((targets[q], names[p]) for q, p in block.elements)
    return Confirmed(versions, schemas)


def _lineages(document: Document, block: Block) -> tuple[dict[int, int], dict[int, int]]:
    """Lineages by attribute id, of the sources and of the targets of a block."""
    version, entity_version = document.extraction.version(block.version), document.cdm.version(block.entity_version)
    return {a.id: a.lineage for a in version.attributes}, {a.id: a.lineage for a in entity_version.attributes}


def _confirmed(document: Document, keys: Iterable[BlockKey]) -> Iterable[Block]:
    blocks = (document.matrix.block(*key) for key in keys)
    return (block for block in blocks if block is not None and block.status is Status.CONFIRMED)


def _newest_of_others(document: Document, rows: Sequence[int], schema_id: int) -> list[BlockKey]:
    newest: dict[int, BlockKey] = {}
    for w in rows:
        for key in document.matrix.row_keys(w):
            owner = document.extraction.version(key[0]).schema_id
            if owner != schema_id:
                newest[owner] = key
    return list(newest.values())[:_MOST_SCHEMAS]


def _docs(sources: Sequence[Attribute], targets: Sequence[Attribute]) -> Scores:
    found = np.zeros((len(sources), len(targets)), np.float32)
    rows, columns = ([at for at, a in enumerate(side) if a.doc] for side in (sources, targets))
    if rows and columns:
        scores = alike_texts([sources[row].doc for row in rows], [targets[column].doc for column in columns])
        found[np.ix_(rows, columns)] = np.where(scores >= _LEAST_DOC, scores, 0)
    return found


def _values(
    sources: Sequence[Attribute], targets: Sequence[Attribute], values: Mapping[Element, ValueEvidence]
) -> tuple[Scores, dict[tuple[int, int], str]]:
    found = np.zeros((len(sources), len(targets)), np.float32)
    words: dict[tuple[int, int], str] = {}
    rows, columns = ({a.id: at for at, a in enumerate(side)} for side in (sources, targets))
    for (q, p), each in values.items():
        if p in rows and q in columns:
            at = rows[p], columns[q]
            found[at], words[at] = each
    return found, words


def _in_key(version: Version, attributes: Sequence[Attribute]) -> Flags:
    return np.array([a.path in (version.key or ()) for a in attributes], np.bool_)


def _places(version: Version, entity_version: Version, ends: tuple[Sequence[Attribute], Sequence[Attribute]]) -> Scores:
    """Return how near two attributes stand to the same place of their versions."""
    shares = []
    for owner, attributes in zip((version, entity_version), ends, strict=True):
        at = {a.id: row / max(len(owner.attributes) - 1, 1) for row, a in enumerate(owner.attributes)}
        shares.append(np.array([at[a.id] for a in attributes], np.float32))
    return np.asarray(1 - np.abs(shares[0][:, None] - shares[1][None, :]), np.float32)


def _versions(sources: Sequence[Attribute], targets: Sequence[Attribute], confirmed: Confirmed) -> Counts:
    found = np.zeros((len(sources), len(targets)), np.int32)
    rows, columns = ({a.lineage: at for at, a in enumerate(side)} for side in (sources, targets))
    for (q, p), count in confirmed.versions.items():
        if p in rows and q in columns:
            found[rows[p], columns[q]] = count
    return found


def _schemas(sources: Sequence[Attribute], targets: Sequence[Attribute], confirmed: Confirmed) -> Counts:
    found = np.zeros((len(sources), len(targets)), np.int32)
    columns = {a.lineage: at for at, a in enumerate(targets)}
    rows: dict[str, list[int]] = {}
    for at, source in enumerate(sources):
        rows.setdefault(letters(source.path), []).append(at)
    for (q, name), count in confirmed.schemas.items():
        if q in columns:
            found[rows.get(name, []), columns[q]] = count
    return found
