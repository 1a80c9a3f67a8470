"""Marks of what an axis leaves out: where they stand, and what they hide, so that hidden never looks deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.nodes import Ints
from metl_gui.ui.matrix.spans import Floats

NOTCH = 0.5
"""Width in units of a mark of something hidden."""
GHOST = 0.5
"""Width in units of a ghost column, height of a ghost row."""


class HiddenRun(NamedTuple):
    """Neighbours that are hidden.

    Args:
        begin, end: where their mark stands, in units.
        attributes, versions, schemas: how many are hidden; versions and schemas only where they are hidden whole.
        words: the same for people.
    """

    begin: float
    end: float
    attributes: int
    versions: int
    schemas: int
    words: str


@dataclass(frozen=True, eq=False)
class Notches:
    """All marks of an axis.

    Shape: one entry a mark. Order: along the axis.
    """

    begins: Floats
    attributes: Ints
    versions: Ints
    schemas: Ints

    def __len__(self) -> int:
        return len(self.begins)

    def within(self, low: float, high: float, side: Side) -> list[HiddenRun]:
        """Return the marks that touch a stretch of the axis."""
        first = int(np.searchsorted(self.begins, low - NOTCH, side="right"))
        last = int(np.searchsorted(self.begins, high, side="left"))
        columns = (self.begins, self.attributes, self.versions, self.schemas)
        parts = (column[first:last].tolist() for column in columns)
        return [
            HiddenRun(begin, begin + NOTCH, attributes, versions, schemas, _words(side, attributes, versions, schemas))
            for begin, attributes, versions, schemas in zip(*parts, strict=True)
        ]


def no_notches() -> Notches:
    """Return nothing hidden."""
    return Notches(np.zeros(0), *(np.zeros(0, np.int64) for _ in range(3)))


def _words(side: Side, attributes: int, versions: int, schemas: int) -> str:
    if schemas:
        one, many = ("schema", "schemas") if side is Side.EXTRACTION else ("entity", "entities")
        return f"{schemas:,} {one if schemas == 1 else many} hidden"
    if versions:
        return f"{versions:,} {'version' if versions == 1 else 'versions'} hidden"
    return f"{attributes:,} {'attribute' if attributes == 1 else 'attributes'} hidden"
