"""Documents with names as nobody wants them, which no project file would hold in part."""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.paths import escape


def one_to_one(names: Sequence[str], comment: str = "") -> Document:
    """Make a document with one schema and one entity of those attributes, each mapped to its namesake.

    Both are named as the first attribute, which is the key, and so are their versions.
    """
    document = Document()
    attributes = tuple(AttributeDeclaration(escape(name), "string") for name in names)
    key = (escape(names[0]),)
    for side in Side:
        edit = AddVersion(side, VersionDeclaration(escape(names[0]), attributes, names[0], key=key))
        document = perform(document, edit).after
    (v,), (w,) = (list(document.tree(side).all_versions()) for side in Side)
    ones = tuple(Element(q.id, p.id) for q, p in zip(w.attributes, v.attributes, strict=True))
    return perform(document, SetElements((v.id, w.id), ones, comment=comment)).after
