"""Which samples a selection means, and how the list of them reads. Plain functions over frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metl_gui.core.matrix.document import Document
from metl_gui.ui.naming import number_of
from metl_gui.ui.review.choice_rows import Choosable
from metl_gui.ui.selection import Selected, block_meant
from metl_gui.ui.two_lines import TwoLines
from metl_gui.workbench.sample_shelf import Sample, SampleShelf, Values

_MOST_FEEDERS = 24
_LITTLE = ("d", "t")
"""Operations whose messages show little; they come last."""

_OPS = {"c": "create", "r": "read", "u": "update", "d": "delete", "t": "truncate"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a selection asks samples of.

    Args:
        schema: the schema.
        version: its version, ``None`` where none is meant.
    """

    schema: int
    version: int | None


def wanted(document: Document, selected: Selected, shelf: SampleShelf) -> Wanted | None:
    """Tell what a selection means: its schema, or a schema with samples that feeds its entity; ``None`` for nothing."""
    source, target = selected.source, selected.target
    if source is not None:
        schema = document.extraction.find_schema(source.schema)
        if schema is None:
            return None
        is_known = source.version is not None and document.extraction.find_version(source.version) is not None
        newest = schema.version_ids[-1] if schema.version_ids else None
        return Wanted(schema.id, source.version if is_known else newest)
    if target is None or document.cdm.find_schema(target.schema) is None:
        return None
    versions = document.cdm.schema(target.schema).version_ids
    entity_version = target.version if target.version in versions else versions[-1] if versions else None
    if entity_version is None:
        return None
    for version_id, _ in reversed(document.matrix.row_keys(entity_version)[-_MOST_FEEDERS:]):
        owner = document.extraction.schema_of(version_id)
        if owner in shelf.schemas:
            return Wanted(owner, version_id)
    return None


def samples_for(document: Document, shelf: SampleShelf, asked: Wanted) -> tuple[Sample, ...]:
    """Return the samples to step through: those of the version, else those of the whole schema."""
    found = shelf.of(document, asked.schema)
    of_version = tuple(sample for sample in found if sample.version == asked.version)
    return tuple(sorted(of_version or found, key=lambda sample: sample.op in _LITTLE))


def all_samples_for(document: Document, shelf: SampleShelf, asked: Wanted) -> tuple[Sample, ...]:
    """Return all samples of the schema, those of the version first."""
    found = shelf.of(document, asked.schema)
    return tuple(sorted(found, key=lambda sample: sample.version != asked.version))


def note_of(document: Document, sample: Sample, asked: Wanted) -> str:
    """Say where a sample is of another version than the one that is selected."""
    if sample.version == asked.version or asked.version is None or sample.op == "t":
        return ""
    label = document.extraction.version(asked.version).label
    if sample.version is None:
        return f"no sample of version {label}, and this one is of no version that is known"
    return f"no sample of version {label}: this one is of version {document.extraction.version(sample.version).label}"


def choosables(document: Document, samples: Sequence[Sample], values: dict[int, dict[int, Values]]) -> list[Choosable]:
    """List samples for the chooser: by version, each with its operation and the first values that may be seen.

    Args:
        document: the state.
        samples: the samples, by version.
        values: nothing but attributes that may be seen, by version and attribute id.
    """
    return [Choosable(_words(document, sample, values), sample, _section(document, sample)) for sample in samples]


def key_of(document: Document, selected: Selected) -> tuple[int, int] | None:
    """Return the block whose message comes first."""
    return block_meant(document, selected)


def _section(document: Document, sample: Sample) -> str:
    schema = document.extraction.schema(sample.schema).name
    if sample.version is None:
        return f"{schema} · of no version that is known"
    return f"{schema} {document.extraction.version(sample.version).label}"


def _words(document: Document, sample: Sample, values: dict[int, dict[int, Values]]) -> TwoLines:
    shown = _first_values(document, sample, values)
    count = number_of(len(sample.row or ()), "member")
    nulls = sum(bytes(raw) == b"null" for raw in (sample.row or {}).values())
    facts = [count, *([f"{nulls} null"] if nulls else []), sample.source, sample.place]
    title = _OPS.get(sample.op, sample.op)
    return TwoLines(f"{title} · {shown}" if shown else title, " · ".join(part for part in facts if part))


def _first_values(document: Document, sample: Sample, values: dict[int, dict[int, Values]]) -> str:
    version = document.extraction.find_version(sample.version) if sample.version is not None else None
    if version is None or sample.row is None:
        return ""
    may_be_seen = values.get(version.id, {})
    found = [a.path for a in version.attributes if a.id in may_be_seen and a.path in sample.row][:3]
    return ", ".join(bytes(sample.row[path]).decode("utf-8", "replace")[:24] for path in found)
