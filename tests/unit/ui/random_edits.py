"""Random edits of elements that the rules allow."""

from __future__ import annotations

import random

from metl_gui.core.changes.draft import Edit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document


def some_edit(document: Document, rng: random.Random) -> Edit:
    """Return an edit that sets or clears some elements of a random block."""
    version = rng.choice(list(document.extraction.all_versions()))
    entity = rng.choice(document.cdm.schemas())
    target = document.cdm.version(entity.version_ids[-1])
    block = document.matrix.block(version.id, target.id)
    elements = block.elements if block is not None else ()
    zeros = tuple(e for e in elements if rng.random() < 0.5)
    kept = set(elements) - set(zeros)
    free_p = [a.id for a in version.attributes if a.id not in {e.p for e in kept}]
    free_q = [a.id for a in target.attributes if a.id not in {e.q for e in kept}]
    rng.shuffle(free_p)
    rng.shuffle(free_q)
    pairs = [Element(q, p) for q, p in zip(free_q, free_p, strict=False) if rng.random() < 0.3]
    return SetElements((version.id, target.id), tuple(pairs), tuple(set(zeros) - set(pairs)))
