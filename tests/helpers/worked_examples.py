"""The worked examples as project files, and the schema files of their events, for the window.

Event files state equivalences by the keyword that schema files have for it, as a registry would.
Source: docs/architecture/model.md, "Worked examples".
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.workbench.session import EditOrigin, Workbench


def schema_file(folder: Path, name: str, label: str, *attributes: str) -> Path:
    """Write a version as a JSON Schema; ``new=old`` states that ``new`` is what ``old`` was."""
    properties = {}
    for text in attributes:
        path, _, old = text.partition("=")
        properties[path] = {"type": "string"} | ({"equivalent_to": old} if old else {})
    file = folder / f"{name}-{label}.json"
    file.write_text(json.dumps({"title": name, "version": label, "type": "object", "properties": properties}))
    return file


def version_of(workbench: Workbench, side: Side, name: str, label: str) -> Version:
    """Find a version by its names."""
    tree = workbench.document.tree(side)
    schema = tree.named(name)
    version = tree.labelled(schema.id, label) if schema is not None else None
    assert version is not None, f"{name} {label}"
    return version


def example_a(path: Path) -> Workbench:
    """Make example A: its matrix has 30 elements, of which 7 are 1."""
    workbench = Workbench.create(path)
    _versions(workbench, Side.EXTRACTION, [("s1", "1", "a1 a2 a3"), ("s1", "2", "a4=a1 a5=a3"), ("s2", "1", "a6")])
    _versions(workbench, Side.CDM, [("be1", "2", "c3 c4"), ("be2", "1", "c5"), ("be3", "1", "c6 c7")])
    _map(workbench, "s1", "1", "be1", "2", c3="a1", c4="a3")
    _map(workbench, "s1", "2", "be1", "2", c3="a4", c4="a5")
    _map(workbench, "s2", "1", "be2", "1", c5="a6")
    _map(workbench, "s1", "1", "be3", "1", c6="a2", c7="a1")
    return workbench


def example_b(path: Path) -> Workbench:
    """Make example B before its events; see ``event_1`` and ``event_2``."""
    workbench = Workbench.create(path)
    _versions(workbench, Side.EXTRACTION, [("s1", "1", "a1 a2 a3"), ("s1", "2", "a4=a1 a5 a6=a3")])
    _versions(workbench, Side.CDM, [("be1", "1", "c1 c2"), ("be2", "1", "c6 c7")])
    _map(workbench, "s1", "1", "be1", "1", c1="a1", c2="a3")
    _map(workbench, "s1", "2", "be1", "1", c1="a4", c2="a6")
    _map(workbench, "s1", "1", "be2", "1", c6="a2", c7="a1")
    return workbench


def event_1(folder: Path) -> Path:
    """Write the version of example B that loses c2."""
    return schema_file(folder, "s1", "3", "a7=a4")


def event_2(folder: Path) -> Path:
    """Write the entity version of example B to which the rows move."""
    return schema_file(folder, "be1", "2", "c3=c1", "c4=c2")


def example_c(path: Path) -> Workbench:
    """Make example C: versions 1, 2 and 4 with one block that stays the same."""
    workbench = Workbench.create(path)
    _versions(workbench, Side.EXTRACTION, [("s1", "1", "x y"), ("s1", "2", "x y u"), ("s1", "4", "x y z")])
    _versions(workbench, Side.CDM, [("be", "1", "c")])
    for label in ("1", "2", "4"):
        _map(workbench, "s1", label, "be", "1", c="x")
    return workbench


def _versions(workbench: Workbench, side: Side, rows: Iterable[tuple[str, str, str]]) -> None:
    for name, label, paths in rows:
        attributes = []
        for text in paths.split():
            path, _, old = text.partition("=")
            attributes.append(AttributeDeclaration(path, "string", equivalent_to=(old,) if old else ()))
        workbench.do(AddVersion(side, VersionDeclaration(name, tuple(attributes), label)), EditOrigin.COMMAND)


def _map(workbench: Workbench, schema: str, label: str, entity: str, entity_label: str, **pairs: str) -> None:
    source = version_of(workbench, Side.EXTRACTION, schema, label)
    target = version_of(workbench, Side.CDM, entity, entity_label)
    sources, targets = {a.path: a.id for a in source.attributes}, {a.path: a.id for a in target.attributes}
    ones = tuple(sorted(Element(targets[to], sources[from_]) for to, from_ in pairs.items()))
    workbench.do(SetElements((source.id, target.id), ones), EditOrigin.COMMAND)
