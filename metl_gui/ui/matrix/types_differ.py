"""Whether the types of two mapped attributes differ, worked out once for each pair of types that meets."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from metl_gui.core.trees.types import is_readable
from metl_gui.ui.matrix.nodes import Ints, Nodes

_UNKNOWN = -1
_FEW_PAIRS = 4_096


@dataclass(frozen=True, eq=False)
class TypesDiffer:
    """Answers for two trees.

    Shape: ``_known`` has one entry a pair of types: -1 not asked yet, 0 readable, 1 differs.
    Cost: one look-up an element, and one comparison for each new pair of types.
    """

    columns: Nodes
    rows: Nodes
    _known: npt.NDArray[np.int8] = field(init=False)

    def __post_init__(self) -> None:
        pairs = len(self.columns.kind_nodes) * len(self.rows.kind_nodes)
        object.__setattr__(self, "_known", np.full(pairs, _UNKNOWN, np.int8))

    @cached_property
    def can_differ(self) -> bool:
        """Whether any two types may differ; not looked into where there are many."""
        if len(self._known) > _FEW_PAIRS:
            return True
        self._ask(np.flatnonzero(self._known == _UNKNOWN))
        return bool((self._known == 1).any())

    def of(self, column_kinds: Ints, row_kinds: Ints) -> npt.NDArray[np.bool_]:
        """Say for every pair of kinds (see ``Nodes.kinds``) whether values of the one cannot be read as the other."""
        pairs = column_kinds.astype(np.int64) * len(self.rows.kind_nodes) + row_kinds
        found = self._known[pairs]
        if (found == _UNKNOWN).any():
            self._ask(np.unique(pairs[found == _UNKNOWN]))
            found = self._known[pairs]
        differs: npt.NDArray[np.bool_] = found == 1
        return differs

    def _ask(self, pairs: Ints) -> None:
        height = len(self.rows.kind_nodes)
        for pair in pairs.tolist():
            source, target = self.columns.kind_nodes[pair // height], self.rows.kind_nodes[pair % height]
            self._known[pair] = not is_readable(source, target)
