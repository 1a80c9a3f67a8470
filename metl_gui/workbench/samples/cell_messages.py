"""Which messages a cell of the matrix had a part in: records that the newest runs kept to be looked at, and samples.

A message used a cell where the block of the cell made it and the value that the cell mapped is in it and not null.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.runs.records import MappedRecord
from metl_gui.core.trees import paths
from metl_gui.core.trees.nodes import Side
from metl_gui.values import Value
from metl_gui.workbench.samples.preview import Previews
from metl_gui.workbench.samples.project_samples import Sample
from metl_gui.workbench.samples.run_records import results

_RUNS = 20
"""So many of the newest runs are looked through."""

_RECORDS = 20_000
"""Records of one run that are looked through; a run keeps some of each entity."""


class CellUse(Value):
    """A cell as messages name it.

    Args:
        key, element: the cell.
        schemas, labels: every name of its schema and of the version.
        entities, entity_labels: the same of the entity.
        path: the CDM attribute, split.
    """

    key: BlockKey
    element: Element
    schemas: frozenset[str]
    labels: frozenset[str]
    entities: frozenset[str]
    entity_labels: frozenset[str]
    path: tuple[str, ...]

    def is_in(self, record: MappedRecord) -> bool:
        """Whether a record became a message that used the cell."""
        return any(self.is_in_message(bytes(sent.message)) for sent in record.outgoing if sent.entity in self.entities)

    def is_in_message(self, text: bytes) -> bool:
        """Whether a message used the cell; one that cannot be read did not."""
        try:
            message = msgspec.json.decode(text, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return False
        source = message.get("source")
        if not isinstance(source, Mapping):
            return False
        names = (source.get("schema"), source.get("version"), message.get("entity"), message.get("version"))
        known = (self.schemas, self.labels, self.entities, self.entity_labels)
        if not all(isinstance(name, str) and name in each for name, each in zip(names, known, strict=True)):
            return False
        found: object = message.get("payload")
        for name in self.path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found is not None


def cell_use(document: Document, key: BlockKey, element: Element) -> CellUse | None:
    """Return a cell as messages name it; ``None`` where the document has no such cell."""
    version, entity_version = document.extraction.find_version(key[0]), document.cdm.find_version(key[1])
    target = entity_version.attribute(element.q) if entity_version is not None else None
    if version is None or entity_version is None or target is None:
        return None
    named = (
        document.tree(side).schema(one.schema_id).names
        for side, one in ((Side.EXTRACTION, version), (Side.CDM, entity_version))
    )
    schemas, entities = named
    labels, entity_labels = frozenset(version.labels), frozenset(entity_version.labels)
    return CellUse(key, element, schemas, labels, entities, entity_labels, paths.split(target.path))


def records_using(samples: Path, use: CellUse, count: int, watch: Watch = UNWATCHED) -> list[MappedRecord]:
    """Read the first records of a run that used a cell.

    Args:
        samples: the folder of samples of the run.
        use: the cell.
        count: how many records.
        watch: cancel.
    """
    looked_at = itertools.islice(results(samples), _RECORDS)
    found = (record for record in looked_at if not watch.is_cancelled and use.is_in(record))
    return list(itertools.islice(found, count))


def newest_run_using(folders: Iterable[Path], use: CellUse, watch: Watch = UNWATCHED) -> Path | None:
    """Return the first of some run folders, the newest first, that keeps a message that used a cell.

    Cost: reads at most what twenty runs keep to be looked at.
    """
    for folder in itertools.islice(folders, _RUNS):
        if watch.is_cancelled:
            return None
        if records_using(folder / "samples", use, 1, watch):
            return folder
    return None


def sample_using(previews: Previews, samples: Iterable[Sample], use: CellUse) -> Sample | None:
    """Return the first sample that becomes a message that uses a cell."""
    for sample in samples:
        messages = previews.of(sample.raw, sample.place).messages
        if any(each.key == use.key and each.text is not None and use.is_in_message(each.text) for each in messages):
            return sample
    return None
