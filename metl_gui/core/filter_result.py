"""What passes a filter of a tree, as columns of ids: what other views need to hide the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.nodes import Side

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class FilterResult:
    """What passes.

    Shape: ``schemas``, ``versions`` and ``attributes`` are int32 ids of one tree, each sorted, without repetition.

    Args:
        side: the tree.
        text: what stands in the filter box.
        schemas: schemas or entities of which something passes.
        versions: versions of which something passes.
        attributes: attributes that pass.
        schema_count: how many schemas or entities the tree has.
    """

    side: Side
    text: str
    schemas: Ints
    versions: Ints
    attributes: Ints
    schema_count: int

    @property
    def words(self) -> str:
        """What a banner says: "84 of 1,000 schemas", or how many attributes where none is hidden as a whole."""
        noun = "schemas" if self.side is Side.EXTRACTION else "entities"
        if len(self.schemas) == self.schema_count:
            count = len(self.attributes)
            return f"{count:,} attribute{'' if count == 1 else 's'} of all {self.schema_count:,} {noun}"
        return f"{len(self.schemas):,} of {self.schema_count:,} {noun}"

    def lets_pass_as(self, other: FilterResult | None) -> bool:
        """Whether the same things pass another filter of the same words."""
        if other is None or (self.text, self.schema_count) != (other.text, other.schema_count):
            return False
        pairs = ((self.schemas, other.schemas), (self.versions, other.versions), (self.attributes, other.attributes))
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)
