"""Copy and paste of the Map page: blocks onto blocks, rectangles as tables, tables into the mapping."""

from __future__ import annotations

import json

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication

from metl_gui.core.counted import number_of
from metl_gui.core.edits.block_copy import CopyPlan, plan_copy
from metl_gui.core.edits.version_scope import VersionScope
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import SchemaError
from metl_gui.ui.jobs.jobs import CommandResult, Jobs, work_out
from metl_gui.ui.map.mapper import blocks_of
from metl_gui.ui.map.planes import PlaneArranger
from metl_gui.ui.map.scoped_edits import Instead, ScopedEdits, result
from metl_gui.ui.matrix.input.selected_content import Elements, box_shown, elements_in, nodes_in
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import Selection
from metl_gui.ui.project.text import block_words, some_lines
from metl_gui.workbench.mapping.clipboard import Paste, plan_paste, snippet
from metl_gui.workbench.mapping.table import LeftLine

BLOCK_MIME = "application/x-metl-block"
_SHOWN = 8
_LINES_AT_ONCE = 300


class Clipboard(QObject):
    """Copies and pastes for one page.

    Signals:
        said: a ``CommandResult``.
        refused: (title, text): a snippet of which nothing was written, and why.
    """

    said = Signal(object)
    refused = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        selection: Selection,
        planes: PlaneArranger,
        edits: ScopedEdits,
        jobs: Jobs | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._project = project
        self._selection = selection
        self._planes = planes
        self._edits = edits

    def copy(self) -> None:
        """Copy the chosen rectangle, or the selected block, as a table; a block can be pasted onto others."""
        elements, key = self._chosen()
        count = sum(len(own) for own in elements.values())
        if not count:
            self.said.emit(
                CommandResult("There is no element to copy: select a block or a rectangle of cells.", is_good=False)
            )
            return
        data = QMimeData()
        text = snippet(self._project.value, elements)
        data.setText(text)
        if key is not None and self._project.workbench is not None:
            origin = {"project": self._project.workbench.project_id, "block": list(key)}
            data.setData(BLOCK_MIME, json.dumps(origin).encode())
        QGuiApplication.clipboard().setMimeData(data)
        what = f"{block_words(self._project.value, key)} copied" if key is not None else "Copied"
        nul = " A name holds a NUL character: as a table it is not read back." if "\0" in text else ""
        self.said.emit(CommandResult(f"{what}: {number_of(count, 'element')}.{nul}", is_good=not nul))

    def paste(self) -> None:
        """Paste a copied block onto the selected blocks, or a table into the mapping."""
        clipboard = QGuiApplication.clipboard()
        from_, text = self._copied_block(clipboard.mimeData()), clipboard.text()
        onto = self._chosen_blocks() if from_ is not None else ()
        if from_ is not None and any(key != from_ for key in onto):
            self._paste_block(from_, onto)
        elif text.strip():
            self._paste_table(text)
        else:
            self.said.emit(CommandResult("The clipboard holds neither a block nor a table.", is_good=False))

    def _chosen_blocks(self) -> tuple[BlockKey, ...]:
        """Return the blocks of the chosen nodes, or those that the chosen rectangle touches."""
        selected, shown = self._selection.current, self._planes.shown
        whole = self._planes.whole
        box = box_shown(shown, whole, selected.cells) if selected.cells is not None and shown is not None else None
        if shown is None or box is None:
            return blocks_of(self._project.value, selected)
        sources, targets = nodes_in(shown, Side.EXTRACTION, box), nodes_in(shown, Side.CDM, box)
        return tuple((one.version, other.version) for one in sources for other in targets)

    def _chosen(self) -> tuple[Elements, BlockKey | None]:
        selected, shown = self._selection.current, self._planes.shown
        if selected.cells is not None and shown is not None:
            box = box_shown(shown, self._planes.whole, selected.cells)
            return (elements_in(shown, box) if box is not None else {}), None
        keys = blocks_of(self._project.value, selected)
        key = selected.block or (keys[0] if len(keys) == 1 else None)
        block = self._project.value.matrix.block(*key) if key is not None else None
        return ({block.key: block.elements} if block is not None and block.elements else {}), key

    def _copied_block(self, data: QMimeData | None) -> BlockKey | None:
        workbench = self._project.workbench
        if workbench is None or data is None or not data.hasFormat(BLOCK_MIME):
            return None
        try:
            found = json.loads(bytes(data.data(BLOCK_MIME).data()))
            v, w = found["block"]
            is_ours = found["project"] == workbench.project_id
        except (ValueError, TypeError, KeyError):
            return None
        document = self._project.value
        if not is_ours or document.extraction.find_version(v) is None or document.cdm.find_version(w) is None:
            return None
        return int(v), int(w)

    def _paste_block(self, from_: BlockKey, onto: tuple[BlockKey, ...]) -> None:
        document = self._project.value
        done = plan_copy(document, from_, onto)
        goal = block_words(document, onto[0]) if len(onto) == 1 else f"{len(onto):,} blocks"
        if done.edits:
            title = f"Copy {number_of(done.copied, 'element')} of {block_words(document, from_)} to {goal}"
            self._edits.do(done.edits, title, _words(done, goal))
        else:
            self.said.emit(CommandResult(f"{_words(done, goal)}.", is_good=False))

    def _paste_table(self, text: str) -> None:
        document, block = self._project.value, self._selection.current.block

        def work() -> Paste | SchemaError:
            try:
                return plan_paste(document, text, block)
            except SchemaError as error:
                return error

        jobs = self._jobs if text.count("\n") > _LINES_AT_ONCE else None
        work_out(jobs, "Reading what was copied", work, self._project.while_open(self._take_table))

    def _take_table(self, done: Paste | SchemaError) -> None:
        if isinstance(done, SchemaError):
            self.said.emit(CommandResult(str(done), is_good=False))
        elif done.conflicts:
            lines = (f"Line {conflict.line}: {conflict.reason}" for conflict in done.conflicts)
            title = f"Nothing was pasted: {number_of(len(done.conflicts), 'line')} cannot be followed"
            self.refused.emit((title, "\n".join(some_lines(lines, _SHOWN))))
        elif done.edits:
            same = f", {done.unchanged:,} mapped already" if done.unchanged else ""
            same += f", {len(done.left):,} left" if done.left else ""
            self._edits.do(
                done.edits,
                done.title,
                f"{done.changed:,} mapped from the clipboard{same}",
                self._why_left(done.left),
                VersionScope.THIS if done.names_versions else None,
                is_range=done.names_ranges,
            )
        else:
            words = f"{done.unchanged:,} mapped from the clipboard already"
            words += f", {len(done.left):,} left" if done.left else ""
            self.said.emit(result(f"{words}.", self._why_left(done.left), is_good=False))

    def _why_left(self, left: tuple[LeftLine, ...]) -> Instead | None:
        """Offer to see why elements of ranges of versions were left."""
        if not left:
            return None
        lines = some_lines((f"Line {each.words}" for each in left), _SHOWN)
        told = f"{number_of(len(left), 'element')} of ranges of versions left", "\n".join(lines)
        return Instead("See why", lambda: self.refused.emit(told))


def _words(done: CopyPlan, goal: str) -> str:
    words = [f"{number_of(done.copied, 'element')} copied to {goal}"]
    words += [f"{done.already:,} there already"] if done.already else []
    text = ", ".join(words)
    if not done.unplaced:
        return text
    named = [f"{each.from_path} → {each.to_path}: {each.reason}" for each in done.unplaced[:_SHOWN]]
    more = len(done.unplaced) - len(named)
    rest = f"; and {more:,} more" if more else ""
    return f"{text}, {len(done.unplaced):,} could not be placed ({'; '.join(named)}{rest})"
