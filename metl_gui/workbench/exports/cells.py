"""The cells of tables that spreadsheets open: as exact as they are, or such that none becomes a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from metl_gui.registry.safe_cells import has_formula, safe
from metl_gui.workbench.exports.carried import counted
from metl_gui.workbench.exports.export import YES, Choices, Option

SAFE_CELLS = Option("safe_cells", "for spreadsheets: no cell becomes a formula", "no", ("no", YES))


class Cells:
    """Writes rows of texts, and counts the cells that a spreadsheet would take for formulas.

    Args:
        target: where to; its lines end with a line feed alone.
        is_safe: write such cells so that they stay texts.
        separator: what stands between two cells.
    """

    def __init__(self, target: TextIO, is_safe: bool, separator: str = ",") -> None:
        self.is_safe = is_safe
        self._target = target
        self._formulas = 0
        # This line end makes it quote carriage returns, too: without, no reader takes them for a part of their cell.
        self._writer = csv.writer(self, delimiter=separator, lineterminator="\r\n")

    def rows(self, rows: Iterable[Sequence[str]]) -> None:
        """Write rows."""
        for row in rows:
            self._formulas += sum(map(has_formula, row))
            self._writer.writerow([safe(text) for text in row] if self.is_safe else row)

    def write(self, line: str) -> None:
        """Take a line from the writer."""
        self._target.write(line.removesuffix("\r\n") + "\n")

    def says(self) -> Iterator[str]:
        """Say of what was written what is not exact, or not safe."""
        if self._formulas and self.is_safe:
            are = "is" if self._formulas == 1 else "are"
            yield (
                f"{counted(self._formulas, 'cell')} {are} not exact: an apostrophe stands before what a spreadsheet "
                "would take for a formula."
            )
        elif self._formulas:
            yield (
                f"A spreadsheet takes {counted(self._formulas, 'cell')} for a formula, by = + - @ at the beginning or "
                f"behind a separator; for one, choose {SAFE_CELLS.flag}, or the format xlsx, which is exact and safe."
            )


def wants_safe(choices: Choices) -> bool:
    """Whether cells are to be written for a spreadsheet."""
    return choices.of(SAFE_CELLS) == YES
