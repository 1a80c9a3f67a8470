"""The child process of the benchmark ``ui`` that times edits of 10^4 elements, or of 1,000 versions, in a whole window.

An edit lasts from sending the key to the end of painting everything in the window; committing it to the project file,
and following it in the trees, the matrix and the block panel lie in between. Jobs end at once, so all work counts.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QEvent, QObject, QSettings, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.document import Document, NextIds
from metl_gui.core.matrix.matrix import Dpm, DpmBase
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.core.trees.trees import TextTable, Tree, TreeBase, TypeFacts, VersionMetadata
from metl_gui.ui.jobs.jobs import SynchronousJobs
from metl_gui.ui.map.scope_dialog import ScopeDialog
from metl_gui.ui.project.selection import CellRange, NodeRef, Selected, place_of_version
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.workbench.session import Workbench
from tests.benchmarks.project_files import write_project
from tests.benchmarks.sizes import DESIGN, VERSIONS, build

ELEMENTS = 10_000
MANY_VERSIONS = 1_000
_CONTROL, _SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
_NONE = Qt.KeyboardModifier.NoModifier
_SCHEMAS = ELEMENTS // (VERSIONS * 10)

Times = dict[str, list[tuple[float, float]]]
"""Milliseconds of the clock and of the processor by name of the edit."""


class Hand(QObject):
    """Presses keys in a window and times each until everything is painted."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self.window = window
        self.times: Times = defaultdict(list)
        self._painted = False
        window.map.matrix.viewport().installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt decides its name
        """Note that the matrix is painted."""
        self._painted = self._painted or event.type() is QEvent.Type.Paint
        return False

    @property
    def dialog(self) -> ScopeDialog | None:
        """The dialog that asks about many versions."""
        return next((each for each in self.window.map.findChildren(ScopeDialog) if each.isVisible()), None)

    def choose(self, selected: Selected) -> None:
        """Select something, and wait until it is shown."""
        self.window.selection.choose(selected)
        self.window.map.matrix.setFocus()
        settle()

    def press(
        self, name: str, key: Qt.Key, held: Qt.KeyboardModifier, becomes: int, in_: QWidget | None = None
    ) -> None:
        """Press a key in the matrix, or another widget; afterwards the project must have so many elements."""
        gc.collect()
        self._painted = False
        start, processor = time.perf_counter(), time.process_time()
        QTest.keyClick(in_ or self.window.map.matrix, key, held)
        settle()
        self.times[name].append(((time.perf_counter() - start) * 1e3, (time.process_time() - processor) * 1e3))
        if not self._painted and self.dialog is None:
            raise AssertionError(f"{name}: the matrix was not painted")
        found = self.window.project.value.matrix.ones
        if found != becomes:
            raise AssertionError(f"{name}: {found:,} elements, not {becomes:,}")


def settle() -> None:
    """Let everything happen that waits to."""
    QApplication.sendPostedEvents()
    QApplication.processEvents()


def many_blocks(window: Window, rounds: int) -> Times:
    """Edit 1,000 blocks of the project of 10^9 cells."""
    hand, document, whole = Hand(window), window.project.value, DESIGN.ones
    versions = [s.version_ids for s in document.extraction.schemas()]
    cells = _rectangle(window, ELEMENTS)
    everything = Selected(cells.first_source, cells.first_target, cells=cells)
    free = [v for at, own in enumerate(versions) if at % DESIGN.entities != DESIGN.entities - 1 for v in own]
    sources = tuple(place_of_version(document, Side.EXTRACTION, v) for v in free[: _SCHEMAS * VERSIONS])
    target = place_of_version(document, Side.CDM, DESIGN.entities * VERSIONS)
    nodes = Selected(sources[0], target, sources, (target,))
    for _ in range(rounds):
        hand.choose(everything)
        _edit_rectangle(hand, whole, whole - ELEMENTS)
        hand.choose(nodes)
        window.map.matrix.setFocus()
        more = whole + ELEMENTS - _renamed(document, sources)
        hand.press("map 10^4 elements by name in 1,000 blocks", Qt.Key.Key_M, _CONTROL, more)
        hand.press("undo mapping 10^4 elements", Qt.Key.Key_Z, _CONTROL, whole)
    return hand.times


def _renamed(document: Document, places: tuple[NodeRef, ...]) -> int:
    versions = (document.extraction.version(place.version or 0) for place in places)
    return sum(attribute.path == "renamed" for version in versions for attribute in version.attributes)


def one_block(window: Window, rounds: int) -> Times:
    """Edit a single block of 10^4 elements."""
    hand, document = Hand(window), window.project.value
    source, target = (place_of_version(document, side, 1) for side in Side)
    for _ in range(rounds):
        hand.choose(Selected(source, target, (source,), (target,)))
        hand.press("clear one block of 10^4 elements", Qt.Key.Key_R, _CONTROL, 0)
        hand.press("undo clearing one block", Qt.Key.Key_Z, _CONTROL, ELEMENTS)
        hand.press("redo clearing one block", Qt.Key.Key_Z, _CONTROL | _SHIFT, 0)
        hand.press("map one block of 10^4 elements by name", Qt.Key.Key_M, _CONTROL, ELEMENTS)
    return hand.times


def many_versions(window: Window, rounds: int) -> Times:
    """Map and unmap one field in all versions of a schema."""
    hand, document, count = Hand(window), window.project.value, MANY_VERSIONS
    middle = document.extraction.version(count // 2)
    source = place_of_version(document, Side.EXTRACTION, middle.id, middle.attributes[3].id)
    target = place_of_version(document, Side.CDM, 1, document.cdm.version(1).attributes[3].id)
    for _ in range(rounds):
        hand.choose(Selected(source, target))
        for verb, becomes in (("map", count), ("unmap", 0)):
            before = window.project.value.matrix.ones
            hand.press(f"show what it means to {verb} in 1,000 versions", Qt.Key.Key_Space, _NONE, before)
            hand.press(f"{verb} one field in 1,000 versions", Qt.Key.Key_Return, _CONTROL, becomes, hand.dialog)
            window.activateWindow()
            QTest.qWaitForWindowActive(window)
            window.map.matrix.setFocus()
        hand.press("undo in 1,000 versions", Qt.Key.Key_Z, _CONTROL, count)
        hand.press("undo the other edit in 1,000 versions", Qt.Key.Key_Z, _CONTROL, 0)
    return hand.times


def _edit_rectangle(hand: Hand, whole: int, cleared: int) -> None:
    matrix = hand.window.map.matrix
    QTest.keyClick(matrix, Qt.Key.Key_C, _CONTROL)
    text = QGuiApplication.clipboard().text()
    hand.press("clear 10^4 elements in 1,000 blocks", Qt.Key.Key_Delete, _NONE, cleared)
    hand.press("undo clearing 10^4 elements", Qt.Key.Key_Z, _CONTROL, whole)
    hand.press("redo clearing 10^4 elements", Qt.Key.Key_Z, _CONTROL | _SHIFT, cleared)
    QGuiApplication.clipboard().setText(text)
    hand.press("paste 10^4 elements into 1,000 blocks", Qt.Key.Key_V, _CONTROL, whole)


def _rectangle(window: Window, columns: int) -> CellRange:
    """Return all cells of the first columns of the plane."""
    content = window.map.planes.whole
    assert content is not None
    ends = []
    for side, axis, count in (
        (Side.EXTRACTION, content.columns, columns),
        (Side.CDM, content.rows, len(content.rows.runs)),
    ):
        for at in (0, count - 1):
            version = axis.version_id(axis.version_at(at))
            ends.append(place_of_version(content.document, side, version, axis.attribute_id(at)))
    return CellRange(*ends)


def versioned_document() -> Document:
    """Build a project of one schema with 1,000 versions of 30 attributes, and one entity; nothing is mapped."""
    paths = [f"attribute_{at}" for at in range(30)]
    document = Document()
    for number in range(MANY_VERSIONS):
        declared = VersionDeclaration(
            "service.versioned",
            tuple(AttributeDeclaration(path, "string") for path in (*paths, f"of_{number}")),
            str(number),
        )
        document = perform(document, AddVersion(Side.EXTRACTION, declared)).after
    entity = VersionDeclaration("entity", tuple(AttributeDeclaration(path, "string") for path in paths), "1")
    return perform(document, AddVersion(Side.CDM, entity)).after.merged()


def wide_document() -> Document:
    """Build a project of one schema and one entity, each with 10^4 attributes, mapped one to one."""
    ids = NextIds(2, 2, ELEMENTS + 1, ELEMENTS + 1)
    number = np.arange(1, ELEMENTS + 1, dtype=np.int32)
    some, few = np.zeros(1, np.int32), np.zeros(1, np.uint8)
    matrix = DpmBase(
        np.ones(1, np.int32),
        np.ones(1, np.int32),
        np.array([0, ELEMENTS], np.int64),
        number,
        number,
        few + 1,
        few,
        some,
        some,
        some,
        np.zeros(1, np.int64),
    )
    return Document(1, _wide_tree("service.wide"), _wide_tree("wide"), Dpm.on(matrix), ids, ids)


def _wide_tree(name: str) -> Tree:
    number = np.arange(1, ELEMENTS + 1, dtype=np.int32)
    return Tree(
        TreeBase(
            schemas={1: Schema(1, name, (1,))},
            version_id=np.ones(1, np.int32),
            schema_id=np.ones(1, np.int32),
            facts=(VersionMetadata(("1",), f"{1:032x}", None, False, ""),),
            start=np.array([0, ELEMENTS], np.int64),
            id=number,
            lineage=number,
            path=number,
            doc=np.zeros(ELEMENTS, np.int32),
            type=np.zeros(ELEMENTS, np.int32),
            optional=np.ones(ELEMENTS, np.bool_),
            texts=TextTable.of(["", *(f"attribute_{at}" for at in range(ELEMENTS))]),
            types=(TypeFacts("string", "", None),),
        )
    )


def measured(document: Document, edits: Callable[[Window, int], Times], rounds: int) -> Times:
    """Open a document in a window and edit it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edited.metl"
        write_project(path, document)
        settings = QSettings(str(Path(folder) / "view.ini"), QSettings.Format.IniFormat)
        window = Window(settings, SynchronousJobs(), warms_up=False)
        window.resize(1600, 1000)
        window.show()
        gc.freeze()  # as the program does
        window.project.opened.connect(lambda _workbench: gc.freeze())
        window.show_project(Workbench.open(path))
        window.activateWindow()
        QTest.qWaitForWindowActive(window)
        settle()
        try:
            return edits(window, rounds)
        finally:
            window.close()
            window.deleteLater()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def main(rounds: int) -> Times:
    """Measure edits of many blocks, of one, and of many versions."""
    app = QApplication([])
    font = app.font()
    font.setPointSizeF(max(font.pointSizeF(), 9.0))
    app.setFont(font)
    themes.apply(app, themes.load("light"))
    return (
        measured(build(DESIGN), many_blocks, rounds)
        | measured(wide_document(), one_block, rounds)
        | measured(versioned_document(), many_versions, rounds)
    )


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(int(sys.argv[1]))) + "\n")
