"""A difference as Qt sees it: groups with what differs below them."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from metl_gui.ui import theme as themes
from metl_gui.ui.grouped_model import GroupedModel
from metl_gui.ui.history.difference_rows import CAME, WENT, DifferenceGroup, DifferenceRow


class DifferenceModel(GroupedModel[DifferenceGroup, DifferenceRow]):
    """What differs and where; what came and what went has a sign and its colour."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(("What differs", "Where"), parent)

    def group_words(self, group: DifferenceGroup, column: int) -> str:
        """Say what a group is of, and how much differs."""
        return group.facts if column else group.name

    def row_words(self, row: DifferenceRow, column: int) -> str:
        """Say what differs, and where."""
        return row.where if column else f"{row.sign}  {row.what}"

    def colour(self, row: DifferenceRow | None, column: int) -> Any:
        """Return the colour of what came and what went."""
        theme = themes.current()
        if column:
            return theme.dim
        if row is None:
            return None
        return theme.good if row.sign == CAME else theme.bad if row.sign == WENT else theme.text
