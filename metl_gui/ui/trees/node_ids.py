"""The integer by which Qt knows a node of a tree: its kind and its id in the document, so that no object is needed.

Ids of schemas, versions and attributes never change and are never used again, each within one tree (``trees.nodes``);
groups are numbered by the model.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

ROOT = -1


class NodeKind(IntEnum):
    """What a node is."""

    GROUP = 0
    SCHEMA = 1
    VERSION = 2
    ATTRIBUTE = 3


def node_id(kind: NodeKind, id_: int) -> int:
    """Return the integer of a node."""
    return id_ << 2 | kind


def node_ids(kind: NodeKind, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the integers of many nodes of one kind."""
    return ids << 2 | kind


def kind_of(node: int) -> NodeKind:
    """Return what a node is."""
    return NodeKind(node & 3)


def id_of(node: int) -> int:
    """Return the id that a node has in the document, or the number of a group."""
    return node >> 2
