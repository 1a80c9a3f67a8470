"""Copying rows of the mapping list: as they are shown, with the headings, between the events of the window.

They go into spreadsheets: a cell that one would take for a formula gets an apostrophe, which is told.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from metl_gui.core.mapping_rows import Rows
from metl_gui.registry.safe_cells import has_formula, safe
from metl_gui.ui.naming import number_of
from metl_gui.ui.steps import Steps
from metl_gui.ui.table.model import COLUMNS, MappingModel
from metl_gui.ui.table.view import MappingView

_MOST_COPIED = 1_000_000
_COPIED_A_STEP = 500


class RowCopier(QObject):
    """Puts the selected rows of a view on the clipboard.

    Signals:
        said: what came of it, in words.
    """

    said = Signal(object)

    def __init__(self, model: MappingModel, view: MappingView) -> None:
        super().__init__(view)
        self._model, self._view = model, view
        self._lines: list[str] = []
        self._changed = 0
        self._steps = Steps(self)
        self._steps.ended.connect(self._copied)

    def copy(self) -> None:
        """Copy the selected rows; many of them step by step."""
        rows = self._view.chosen_rows()
        if len(rows) > _MOST_COPIED:
            self.said.emit(f"{len(rows):,} rows are too many for the clipboard: filter first, or export the mapping")
        elif len(rows):
            self._steps.start(self._copying(rows), at_once=len(rows) <= _COPIED_A_STEP)

    def _copying(self, rows: Rows) -> Iterator[None]:
        header = self._view.horizontalHeader()
        order = [header.logicalIndex(at) for at in range(len(COLUMNS))]
        shown = [at for at in order if not self._view.isColumnHidden(at)]
        self._lines, self._changed = ["\t".join(COLUMNS[at].value for at in shown)], 0
        for count, row in enumerate(rows.tolist()):
            texts = self._model.texts(row)
            cells = [_plain(texts[at]) for at in shown]
            self._changed += sum(map(has_formula, cells))
            self._lines.append("\t".join(map(safe, cells)))
            if count % _COPIED_A_STEP == _COPIED_A_STEP - 1:
                yield

    def _copied(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(self._lines) + "\n")
        count = len(self._lines) - 1
        self._lines = []
        noted = f"; formulas in {number_of(self._changed, 'cell')} made text by apostrophes" if self._changed else ""
        self.said.emit(f"{number_of(count, 'row')} copied{noted}")


def _plain(text: str) -> str:
    """Keep a cell in its cell."""
    return text.replace("\t", " ").replace("\r", " ").replace("\n", " ")
