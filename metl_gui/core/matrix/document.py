"""The document: both trees, the matrix and warehouse models at one state, one frozen value built of frozen parts."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from metl_gui.core.matrix.matrix import Dpm
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.trees import Tree
from metl_gui.core.warehouse_model import Model
from metl_gui.values import Value


class NextIds(Value):
    """The next unused ids of one tree; they only grow."""

    schema: int = 1
    version: int = 1
    attribute: int = 1
    lineage: int = 1


class Document(Value, eq=False, weakref=True):
    """Trees, matrix and warehouse models at state i. Two documents are the same only when they are the same object."""

    state: int = 0
    extraction: Tree = msgspec.field(default_factory=Tree.of)
    cdm: Tree = msgspec.field(default_factory=Tree.of)
    matrix: Dpm = msgspec.field(default_factory=Dpm.of)
    extraction_ids: NextIds = NextIds()
    cdm_ids: NextIds = NextIds()
    models: tuple[Model, ...] = ()
    """Warehouse models, by name."""

    def tree(self, side: Side) -> Tree:
        """Return one of the two trees."""
        return self.extraction if side is Side.EXTRACTION else self.cdm

    def model(self, name: str) -> Model | None:
        """Return a warehouse model by its name, ``None`` where there is none."""
        return next((model for model in self.models if model.name == name), None)

    def ids(self, side: Side) -> NextIds:
        """Return the next unused ids of one tree."""
        return self.extraction_ids if side is Side.EXTRACTION else self.cdm_ids

    def merged(self) -> Document:
        """Return the same state with the overlays merged into the base arrays; linear in everything."""
        return replace(self, extraction=self.extraction.merged(), cdm=self.cdm.merged(), matrix=self.matrix.merged())
