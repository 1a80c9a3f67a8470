"""Projects as the cases of the Debezium samples describe them: what is imported or declared, and what is mapped."""

from __future__ import annotations

from typing import Any

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.importing.schema_import import import_sources
from metl_gui.workbench.session import Workbench
from tests.helpers.shared import shared
from tests.helpers.world import declare


def fill(workbench: Workbench, case: dict[str, Any]) -> None:
    """Bring what a case describes into an empty project."""
    if "import" in case:
        import_sources(workbench, Side.EXTRACTION, [shared("debezium-samples", name) for name in case["import"]])
    for name, (columns, key) in case.get("columns", {}).items():
        attributes = tuple(AttributeDeclaration(path, "string", optional=path not in key) for path in columns)
        workbench.do(
            AddVersion(Side.EXTRACTION, VersionDeclaration(name, attributes, "1", key=tuple(key), inferred=True))
        )
    entities: dict[str, dict[str, None]] = {}
    for blocks in case["mapping"].values():
        for entity, pairs in blocks.items():
            entities.setdefault(entity, {}).update(dict.fromkeys(pairs))
    for entity, paths in entities.items():
        workbench.do(AddVersion(Side.CDM, declare(entity, paths, "1")))
    for schema, blocks in case["mapping"].items():
        for entity, pairs in blocks.items():
            _map(workbench, schema, entity, pairs)


def _map(workbench: Workbench, schema: str, entity: str, pairs: dict[str, str]) -> None:
    extraction, cdm = workbench.document.extraction, workbench.document.cdm
    source, target = extraction.named(schema), cdm.named(entity)
    assert source is not None
    assert target is not None
    (entity_version,) = cdm.versions(target.id)
    q = {attribute.path: attribute.id for attribute in entity_version.attributes}
    for version in extraction.versions(source.id):
        p = {attribute.path: attribute.id for attribute in version.attributes}
        ones = tuple(Element(q[to], p[path]) for to, path in pairs.items() if path in p)
        workbench.do(SetElements((version.id, entity_version.id), ones=ones))
