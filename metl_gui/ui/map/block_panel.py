"""The block panel: the selected block as two lists with lines."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QStackedLayout, QWidget

from metl_gui.core.blocks import Block
from metl_gui.core.nodes import Side
from metl_gui.ui.block.sketch import BlockLines, scrolled
from metl_gui.ui.block.picture import picture_of
from metl_gui.ui.document import OpenProject
from metl_gui.ui.naming import block_words
from metl_gui.ui.pill import VERDICT_KINDS
from metl_gui.ui.selection import Selection, place_of_version
from metl_gui.ui.surface import Surface


class BlockPanel(Surface):
    """Follows the selection; a block of zeros shows both lists without lines."""

    def __init__(self, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("panel", (600, 290), parent, share=(1.0, 0.29))
        self._project = project
        self._selection = selection
        self.lines = BlockLines()
        self._empty = QLabel("Select a cell or a tile of the matrix to see its block.")
        self._empty.setProperty("kind", "dim")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(scrolled(self.lines))
        self.lines.picked.connect(self._picked)

    def refresh(self) -> tuple[str, str, str]:
        """Show the selected block and return (title, pill, kind) for the dock."""
        document, selected = self._project.value, self._selection.current
        key = selected.block
        if key is None or not self._project.value.extraction.find_version(key[0]):
            self._stack.setCurrentIndex(0)
            return "Block", "", "plain"
        self.lines.show_picture(picture_of(document, key))
        source, target = selected.source, selected.target
        self.lines.choose(source.attribute if source else None, target.attribute if target else None)
        self._stack.setCurrentIndex(1)
        words, kind = _state_of(document.matrix.block(*key))
        return block_words(document, key), words, kind

    def _picked(self, pick: tuple[bool, int]) -> None:
        is_left, attribute = pick
        side = Side.EXTRACTION if is_left else Side.CDM
        place = self._selection.current.on(side)
        if place is not None and place.version is not None:
            chosen = place_of_version(self._project.value, side, place.version, attribute)
            self._selection.choose(self._selection.current.with_place(side, chosen))


def _state_of(block: Block | None) -> tuple[str, str]:
    if block is None:
        return "not mapped", "plain"
    if block.open_losses or block.waits:
        return block.verdict.value, VERDICT_KINDS.get(block.verdict.value, "review")
    kind = "accent" if block.status.value == "confirmed" else "plain"
    return block.status.value, kind
