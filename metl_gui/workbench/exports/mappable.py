"""The blocks that programs of others may map with: those, and only those, whose messages production sends.

A record is mapped whole or not at all, so no block of a version is among them while one of its blocks is held for a
review. Every format says of what it leaves out what it is and why.
Source: dmm.md §9 (whole or not at all), contract.md §5 (key, full images).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from metl_gui.core.matrix.canonical import is_in_production
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.masks import fed_by_masked, hidden_targets, masked_lineages, schemas_with_masks
from metl_gui.core.trees.nodes import Attribute, Schema, Version
from metl_gui.workbench.exports.carried import Carried, carried, counted
from metl_gui.workbench.progress import Watch

_NAMED = 3


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A block that a format leaves out.

    Args:
        block: schema, version, entity and entity version.
        why: the reason, without the block's name, so that equal reasons can be counted.
    """

    block: tuple[str, str, str, str]
    why: str

    @property
    def name(self) -> str:
        """How people write the block."""
        return "{}@{} → {}@{}".format(*self.block)


@dataclass(frozen=True, slots=True)
class Mapped:
    """One version that something is mapped of, with the blocks of its column set.

    Args:
        schema, version: the version.
        blocks: what production maps with or holds of its column set.
        key: key paths in key order, ``()`` for none, ``None`` for unknown.
        has_held: a block waits for a review, so that production sets aside every record of the version.
    """

    schema: Schema
    version: Version
    blocks: tuple[Carried, ...]
    key: tuple[str, ...] | None
    has_held: bool

    @property
    def left_out(self) -> Iterator[LeftOut]:
        """Say of each block why it cannot be mapped with, where the version is set aside."""
        for block in self.blocks if self.has_held else ():
            told = "it waits for a review" if block.is_held else "another block of its version waits for a review"
            yield LeftOut(block.names, f"{told}, so production sets the records of the version aside")


def mapped_versions(document: Document, include_unconfirmed: bool, watch: Watch, doing: str) -> Iterator[Mapped]:
    """Yield the versions that production maps or holds, in canonical order; what is said stands in ``carried``."""
    known = carried(document, include_unconfirmed, watch, doing)
    blocks = (one for one in known if is_in_production(document, one.block, include_unconfirmed))
    for _, group in groupby(blocks, key=lambda one: one.version.id):
        column_set = tuple(group)
        first = column_set[0]
        yield Mapped(
            schema=first.schema,
            version=first.version,
            blocks=column_set,
            key=key_of(first.schema, first.version),
            has_held=any(one.is_held for one in column_set),
        )


def mapped_schemas(
    document: Document, include_unconfirmed: bool, watch: Watch, doing: str
) -> Iterator[tuple[Schema, tuple[Mapped, ...]]]:
    """Yield the same by schema, versions oldest first."""
    versions = mapped_versions(document, include_unconfirmed, watch, doing)
    for _, group in groupby(versions, key=lambda one: one.schema.id):
        mapped = tuple(group)
        yield mapped[0].schema, mapped


def key_of(schema: Schema, version: Version) -> tuple[str, ...] | None:
    """Return the key paths that production goes by: those of the setting, else the version's own."""
    given = tuple(path.strip() for path in schema.setting("key").split(",") if path.strip())
    return given or version.key


class Masks:
    """Tells which columns hold values that people must not see in the window.

    Args:
        document: the state.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._sources: dict[int, frozenset[int]] = {}
        self._targets: dict[int, frozenset[str]] = {}

    def of(self, block: Carried) -> frozenset[str]:
        """Return the CDM paths of a block that are masked: by themselves, or by a column that feeds them."""
        document, schema, entity_version = self._document, block.schema, block.entity_version
        if schema.id not in self._sources:
            self._sources[schema.id] = masked_lineages(document.extraction, schema)
        if entity_version.id not in self._targets:
            fed = fed_by_masked(document, entity_version.id)
            known = hidden_targets(document, block.entity.name, entity_version.label)
            paths = frozenset(one.path for one in entity_version.attributes if one.id in fed)
            self._targets[entity_version.id] = known | paths
        sources, targets = self._sources[schema.id], self._targets[entity_version.id]
        return frozenset(
            line.target.path for line in block.lines if line.source.lineage in sources or line.target.path in targets
        )


def count_masked(document: Document, include_unconfirmed: bool, watch: Watch) -> int:
    """Count the mapped attributes of all blocks that people must not see; free where nothing is masked."""
    if not (schemas_with_masks(document.extraction) or schemas_with_masks(document.cdm)):
        return 0
    masks = Masks(document)
    return sum(len(masks.of(block)) for block in carried(document, include_unconfirmed, watch, "Looking at masks"))


def mask_sentences(count: int) -> tuple[str, ...]:
    """Say what masks mean for values that an export has others read, where there are any."""
    if not count:
        return ()
    attributes = (
        f"{counted(count, 'mapped attribute')} {'is' if count == 1 else 'are'} masked for people in the window."
    )
    return (f"{attributes} Production outputs hold the values, and so does what this export reads: mind who sees it.",)


def left_out_sentences(found: Iterable[LeftOut]) -> tuple[str, ...]:
    """Say what is left out, one sentence for each reason, the first blocks by name."""
    by_reason: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    for one in found:
        counts[one.why] += 1
        names = by_reason.setdefault(one.why, [])
        if len(names) < _NAMED:
            names.append(one.name)
    return tuple(_sentence(why, names, counts[why]) for why, names in by_reason.items())


def _sentence(why: str, names: list[str], count: int) -> str:
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return f"Left out {', '.join(names)}{more}: {why}."


def attributes_by_path(version: Version) -> dict[str, Attribute]:
    """Return the attributes of a version by their paths."""
    return {attribute.path: attribute for attribute in version.attributes}
