"""``openlineage``: which column of which topic every column of an entity comes from, for lineage catalogues.

One event a line and an entity version, each a job that maps: its inputs are the extraction schemas, its output the
entity with the facets ``schema`` and ``columnLineage``. A line is what a collector takes with one POST.

The moment of the events is the one when the state was published, so that one state gives one file.

Source: OpenLineage 2-0-2 (``JobEvent``) with the versions of facets that its Python client writes.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from metl_gui import __version__
from metl_gui.core.counted import number_of
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.trees.nodes import Attribute
from metl_gui.workbench.exports.blocks import ExportedBlock, carried
from metl_gui.workbench.exports.format_spec import Choices, Export, Option

Content = dict[str, Any]

SOURCES = Option("sources", "the namespace of the extraction schemas, such as kafka://broker:9092", "metl-sources")
TARGETS = Option("targets", "the namespace of the entities, such as kafka://broker:9092", "metl-entities")
JOBS = Option("jobs", "the namespace of the jobs that map", "metl")

PRODUCER = f"urn:metl:workbench:{__version__}"
_SPEC = "https://openlineage.io/spec"
_EVENT = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/JobEvent"
_FACETS = {
    "columnLineage": f"{_SPEC}/facets/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet",
    "schema": f"{_SPEC}/facets/1-1-1/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet",
    "version": f"{_SPEC}/facets/1-0-1/DatasetVersionDatasetFacet.json#/$defs/DatasetVersionDatasetFacet",
    "jobType": f"{_SPEC}/facets/2-0-3/JobTypeJobFacet.json#/$defs/JobTypeJobFacet",
    "documentation": f"{_SPEC}/facets/1-1-0/DocumentationJobFacet.json#/$defs/DocumentationJobFacet",
}
_LONE = re.compile(r"[\ud800-\udfff]")


def events(document: Document, choices: Choices, when: datetime, watch: Watch) -> Iterator[Content]:
    """Yield one event for every entity version that something is mapped to, by entity and version.

    Args:
        document: the state.
        choices: the namespaces, and whether unconfirmed blocks count.
        when: the moment that the events tell of, with its zone.
        watch: progress and cancel.
    """
    by_target: dict[int, list[ExportedBlock]] = defaultdict(list)
    for block in carried(document, choices.include_unconfirmed, watch, "Following the columns"):
        if block.lines and not block.is_held:
            by_target[block.entity_version.id].append(block)
    ordered = sorted(by_target.values(), key=lambda blocks: _order(blocks[0]))
    for at, blocks in enumerate(ordered):
        watch.step("Writing the events", at, len(ordered))
        yield _event(document, choices, blocks, when)


def _order(block: ExportedBlock) -> tuple[str, int]:
    return block.entity.name, block.entity.version_ids.index(block.entity_version.id)


def _event(document: Document, choices: Choices, blocks: Sequence[ExportedBlock], when: datetime) -> Content:
    entity, version = blocks[0].entity, blocks[0].entity_version
    schemas: dict[str, list[ExportedBlock]] = defaultdict(list)
    for block in blocks:
        schemas[block.schema.name].append(block)
    words = (
        f"Maps {number_of(len(schemas), 'schema')} to {entity.name} version {version.label}, state {document.state}."
    )
    return {
        "eventTime": when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "producer": PRODUCER,
        "schemaURL": _EVENT,
        "job": {
            "namespace": choices.of(JOBS),
            "name": _text(f"{entity.name}@{version.label}"),
            "facets": {
                "jobType": _facet("jobType", processingType="STREAMING", integration="METL", jobType="MAPPING"),
                "documentation": _facet("documentation", description=_text(words)),
            },
        },
        "inputs": [_input(choices, name, listed) for name, listed in schemas.items()],
        "outputs": [
            {
                "namespace": choices.of(TARGETS),
                "name": _text(entity.name),
                "facets": {
                    "schema": _schema(version.attributes),
                    "version": _facet("version", datasetVersion=_text(version.label)),
                    "columnLineage": _facet("columnLineage", fields=_columns(choices, blocks)),
                },
            }
        ],
    }


def _input(choices: Choices, name: str, blocks: Sequence[ExportedBlock]) -> Content:
    """Describe a topic by its newest mapped version, and older columns that are still mapped behind those."""
    newest_first = [attribute for block in reversed(blocks) for attribute in block.version.attributes]
    columns = {attribute.path: attribute for attribute in reversed(newest_first)}
    ordered = dict.fromkeys(attribute.path for attribute in newest_first)
    return {
        "namespace": choices.of(SOURCES),
        "name": _text(name),
        "facets": {"schema": _schema([columns[path] for path in ordered])},
    }


def _schema(attributes: Iterable[Attribute]) -> Content:
    fields = [
        {"name": _text(a.path), "type": _text(a.type_text)} | ({"description": _text(a.doc)} if a.doc else {})
        for a in attributes
    ]
    return _facet("schema", fields=fields)


def _columns(choices: Choices, blocks: Sequence[ExportedBlock]) -> Content:
    """Tell for every column of an entity the columns it comes from, each once whatever the versions it is in."""
    found: dict[str, dict[tuple[str, str], None]] = defaultdict(dict)
    for block in blocks:
        for line in block.lines:
            found[line.target.path][block.schema.name, line.source.path] = None
    return {
        _text(target): {
            "inputFields": [
                {
                    "namespace": choices.of(SOURCES),
                    "name": _text(name),
                    "field": _text(path),
                    "transformations": [{"type": "DIRECT", "subtype": "IDENTITY", "masking": False}],
                }
                for name, path in sources
            ]
        }
        for target, sources in sorted(found.items())
    }


def _facet(name: str, **content: Any) -> Content:
    return {"_producer": PRODUCER, "_schemaURL": _FACETS[name], **content}


def _text(text: str) -> str:
    """Return a text that every reader of JSON takes: half a surrogate pair is no sign to most of them."""
    return _LONE.sub("�", text)


def _write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    found = events(document, choices, datetime.fromtimestamp(choices.beside.when_ms / 1000, UTC), watch)
    with path.open("w", encoding="utf-8", newline="") as file:
        for event in found:
            file.write(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n")
    return tuple(_says(document, choices, watch))


def _says(document: Document, choices: Choices, watch: Watch) -> Iterator[str]:
    blocks = list(carried(document, choices.include_unconfirmed, watch, "Looking for what cannot be said"))
    held = sum(block.is_held for block in blocks)
    if held:
        yield f"{number_of(held, 'block')} held for review {'is' if held == 1 else 'are'} left out."
    loose = sum(block.block.is_unconfirmed for block in blocks)
    if loose:
        yield f"{number_of(loose, 'block')} that nobody has confirmed count like the others."


OPENLINEAGE = Export(
    "openlineage",
    "Column lineage as OpenLineage events, for Marquez, DataHub and others",
    ".openlineage.jsonl",
    _write,
    limits=(
        "A topic is one data set: from which of its versions a column comes is not said.",
        "Statuses, comments, lost elements and what is not mapped have no place in OpenLineage.",
        "Events tell of jobs, not of runs: when data flowed and how much is not said.",
    ),
    options=(SOURCES, TARGETS, JOBS),
)
