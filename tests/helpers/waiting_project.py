"""Projects with as many decisions that wait as somebody wants, made in a few states."""

from __future__ import annotations

from pathlib import Path

from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.session import Workbench

SERVICES = ("payments", "rates", "ledger", "accounts", "customers")
ATTRIBUTES = ("id", "customer_id", "amount", "currency", "legacy_code", "created_at")
CHANGES = (
    ("id", "customer_ref", "amount", "currency", "created_at", "channel"),
    ("key", "quantity", "unit", "at"),
    ("id", "customer_id", "amount", "currency", "legacy_code"),
    ("id", "customer_id", "amount", "legacy_code", "created_at", "currency_iso"),
)
"""What version 2 of every fourth schema has."""


def build_waiting(path: Path, count: int) -> Workbench:
    """Make a project in which ``count`` schemas lost something of what an entity is fed with."""
    workbench = Workbench.create(path, who="Ada")
    entities = [f"entity_{name}" for name in SERVICES]
    workbench.do(CompositeEdit("entities", tuple(_add(Side.CDM, name, "1", ATTRIBUTES) for name in entities)))
    names = [f"fx.{SERVICES[at % len(SERVICES)]}.table_{at:04}" for at in range(count)]
    if not names:
        return workbench
    workbench.do(CompositeEdit("first", tuple(_add(Side.EXTRACTION, name, "1", ATTRIBUTES) for name in names)))
    workbench.do(CompositeEdit("map", tuple(_map(workbench, name, at) for at, name in enumerate(names))))
    second = (_add(Side.EXTRACTION, name, "2", CHANGES[at % len(CHANGES)]) for at, name in enumerate(names))
    workbench.do(CompositeEdit("second", tuple(second)))
    return workbench


def _add(side: Side, name: str, label: str, paths: tuple[str, ...]) -> AddVersion:
    declared = tuple(AttributeDeclaration(path, "string", optional=path not in ("id", "amount")) for path in paths)
    return AddVersion(side, VersionDeclaration(name, declared, label))


def _map(workbench: Workbench, name: str, at: int) -> SetElements:
    document = workbench.document
    schema, entity = document.extraction.named(name), document.cdm.named(f"entity_{SERVICES[at % len(SERVICES)]}")
    assert schema is not None
    assert entity is not None
    source, target = document.extraction.version(schema.version_ids[-1]), document.cdm.version(entity.version_ids[-1])
    pairs = zip(target.attributes, source.attributes, strict=True)
    return SetElements((source.id, target.id), tuple(Element(q.id, p.id) for q, p in pairs))
