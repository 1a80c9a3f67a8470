"""The attributes of a version as one blob: five little-endian 32-bit integers each, read as columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.trees.nodes import Attribute
from metl_gui.store.interning import Interned

FIELDS = 5
"""Id, lineage, text of the path, text of the documentation, and twice the type plus one when it is optional."""

SIZE_BYTES = 4 * FIELDS


def pack_attributes(attributes: Iterable[Attribute], interned: Interned) -> bytes:
    """Write the attributes of one version, in source order."""
    rows = [
        (a.id, a.lineage, interned.text(a.path), interned.text(a.doc), _type(a, interned) * 2 + a.optional)
        for a in attributes
    ]
    return np.array(rows, "<i4").tobytes()


def unpack_attributes(packs: bytes) -> NDArray[np.int32]:
    """Read the joined blobs of many versions.

    Shape: (number of attributes, ``FIELDS``).
    """
    return np.frombuffer(packs, "<i4").reshape(-1, FIELDS)


def _type(attribute: Attribute, interned: Interned) -> int:
    return interned.type(attribute.type, attribute.logical, attribute.scale)
