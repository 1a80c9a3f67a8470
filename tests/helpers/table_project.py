"""A project in which one table feeds one entity, column by column, confirmed and published."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.session import Workbench


def table_project(path: Path, topic: str, columns: Mapping[str, str], entity: str) -> Workbench:
    """Make the project.

    Args:
        path: of its file.
        topic: of the table.
        columns: plain types by name; the first is the key.
        entity: what it feeds.
    """
    workbench = Workbench.create(path, who="Ada")
    key = (next(iter(columns)),)
    declared = tuple(AttributeDeclaration(name, type_, optional=name not in key) for name, type_ in columns.items())
    workbench.do(AddVersion(Side.CDM, VersionDeclaration(entity, declared, "1", key=key)))
    workbench.do(AddVersion(Side.EXTRACTION, VersionDeclaration(topic, declared, "1", key=key)))
    document = workbench.document
    source, target = document.extraction.named(topic), document.cdm.named(entity)
    assert source is not None
    assert target is not None
    p, q = document.extraction.version(source.version_ids[-1]), document.cdm.version(target.version_ids[-1])
    pairs = zip(q.attributes, p.attributes, strict=True)
    workbench.do(SetElements((p.id, q.id), tuple(Element(c.id, a.id) for c, a in pairs)))
    publish(workbench, name="first")
    return workbench
