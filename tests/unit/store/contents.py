"""What a document holds, as a dict of parts that can be compared and hashed."""

from __future__ import annotations

import hashlib

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side

Parts = dict[tuple[object, ...], object]


def parts(document: Document) -> Parts:
    """List every schema, version, block and model of a document, both counters of ids and the number of the state."""
    found: Parts = {("state",): document.state}
    for side in Side:
        found["ids", side] = document.ids(side)
        found.update({("schema", side, schema.id): schema for schema in document.tree(side).schemas()})
        found.update({("version", side, version.id): version for version in document.tree(side).all_versions()})
    found.update({("block", block.key): block for block in document.matrix.blocks()})
    found.update({("model", model.name): model for model in document.models})
    return found


def digest(document: Document, with_counters: bool = True) -> str:
    """Hash all parts of a document, ids included; without the counters of ids, which an earlier state has not."""
    found = {key: value for key, value in parts(document).items() if with_counters or key[0] != "ids"}
    lines = sorted(f"{key!r} {value!r}" for key, value in found.items())
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()
