"""A project of all of ../shared/real-schemas, with the registry's own tables as canonical model."""

from __future__ import annotations

from pathlib import Path

from metl_gui.core.changes.draft import Edit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Schema, Side, Version
from metl_gui.workbench.importing.schema_import import import_sources
from metl_gui.workbench.session import EditOrigin, Workbench
from tests.benchmarks.gold import Table, tables
from tests.helpers.shared import ROOT


def build_real_project(path: Path, *, is_mapped: bool = True) -> Workbench:
    """Import all real schemas, declare the tables as entities and map the gold pairs in every version.

    Args:
        path: of the project file to make.
        is_mapped: map the pairs; else nothing is mapped.

    Returns:
        The workbench, open for editing; the caller closes it.
    """
    workbench = Workbench.create(path)
    import_sources(workbench, Side.EXTRACTION, [ROOT / "real-schemas"])
    for table in tables():
        targets = VersionDeclaration(table.entity, table.targets, table.name[2])
        workbench.do(AddVersion(Side.CDM, targets))
    group = workbench.new_group(EditOrigin.WINDOW)
    for edit in _edits(workbench.document) if is_mapped else ():
        workbench.do(edit, group=group)
    return workbench


def _edits(document: Document) -> list[Edit]:
    edits: list[Edit] = []
    by_table = {_table_key(schema): schema for schema in document.extraction.schemas() if "/" in schema.name}
    for table in tables():
        schema, entity = by_table.get(table.name[:2]), document.cdm.named(table.entity)
        target = document.cdm.newest(entity.id) if entity else None
        versions = document.extraction.versions(schema.id) if schema else ()
        for version in versions:
            if target is not None and version.label.split("-")[0] == table.name[2]:
                edits += _edit(table, version, target)
    return edits


def _edit(table: Table, version: Version, target: Version) -> list[Edit]:
    columns = {attribute.path: attribute.id for attribute in target.attributes}
    sources = {attribute.path: attribute.id for attribute in version.attributes}
    pairs = {columns[to]: sources[from_] for from_, to in table.pairs.items() if from_ in sources}
    ones = tuple(Element(q, p) for q, p in sorted(pairs.items()))
    return [SetElements((version.id, target.id), ones)] if ones else []


def _table_key(schema: Schema) -> tuple[str, str]:
    vendor, _, name = schema.name.partition("/")
    spaced = "".join(f"_{c}" if c.isupper() and at and name[at - 1].islower() else c for at, c in enumerate(name))
    return vendor, spaced.replace("-", "_").lower()
