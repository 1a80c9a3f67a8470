"""A document in which every name that broke some program names schemas, versions, attributes and a comment."""

from __future__ import annotations

from functools import cache

from metl_gui.core.changes.draft import EditContext, perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.paths import escape
from tests.helpers.odd_names import HOSTILE


@cache
def odd_document() -> Document:
    """Return it: as many schemas and entities as names, each with one attribute, mapped one to one."""
    document, stamp = Document(), EditContext("o\ttess\n", 1_000)
    for name in HOSTILE:
        ends = []
        for side in Side:
            declared = VersionDeclaration(name, (AttributeDeclaration(escape(name), "string", doc=name),), name)
            document = perform(document, AddVersion(side, declared), stamp).after
            ends.append(max(document.tree(side).all_versions(), key=lambda version: version.id))
        version, entity_version = ends
        element = Element(entity_version.attributes[0].id, version.attributes[0].id)
        edit = SetElements((version.id, entity_version.id), (element,), status=Status.CONFIRMED, comment=name)
        document = perform(document, edit, stamp).after
    return document
