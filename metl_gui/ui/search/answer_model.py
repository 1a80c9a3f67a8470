"""What a search found as Qt sees it: schemas or entities with their elements below."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from metl_gui.core.matrix.blocks import Status
from metl_gui.core.trees.nodes import Side
from metl_gui.ui import theme as themes
from metl_gui.ui.grouped_model import GroupedModel
from metl_gui.ui.naming import number_of
from metl_gui.ui.search.answer_rows import AnswerGroup, AnswerRow

_STATUS = 3


class AnswerModel(GroupedModel[AnswerGroup, AnswerRow]):
    """Elements and the status of their blocks; a block that waits has its colour.

    Args:
        asked: the tree of the node that is asked for.
    """

    def __init__(self, asked: Side, parent: QObject | None = None) -> None:
        other = "Schema" if asked is Side.CDM else "Entity"
        super().__init__((other, "Attribute", "CDM attribute", "Status"), parent)
        self._asked = asked

    def group_words(self, group: AnswerGroup, column: int) -> str:
        """Say what a group is of, and how much of it was found."""
        match column:
            case 0:
                return group.name
            case 1:
                count = len({row.block.version for row in group.rows})
                return number_of(count, "version")
            case 2:
                return number_of(len(group.rows), "element")
            case _:
                return f"{group.waiting:,} need{'s' if group.waiting == 1 else ''} review" if group.waiting else ""

    def row_words(self, row: AnswerRow, column: int) -> str:
        """Name the version, both ends, and the status."""
        label = f"version {row.version}"
        if self._asked is Side.EXTRACTION:
            label = f"version {row.entity_version}, from version {row.version}"
        target = row.target if self._asked is Side.EXTRACTION else f"{row.target}  ·  {row.entity} {row.entity_version}"
        return (label, row.source, target, row.status)[column]

    def colour(self, row: AnswerRow | None, column: int) -> Any:
        """Return the colour of what waits."""
        theme = themes.current()
        if row is None:
            return theme.review if column == _STATUS else theme.dim if column else None
        if column == _STATUS and row.block.status is Status.NEEDS_REVIEW:
            return theme.review
        return theme.dim if column == 0 else None
