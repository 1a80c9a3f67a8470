"""The child process of the benchmark ``ui``: replays the recorded path on a matrix and prints what it measured.

A frame lasts from sending the input event to the end of the painting of matrix, headers, marks and overview. Platform,
scale and size come from the environment and the arguments, since Qt takes them once a process.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import tracemalloc
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QInputDevice, QMouseEvent, QPointingDevice, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.layout.camera import MARGIN_PX
from metl_gui.ui.matrix.layout.content import PlaneContent, content_of
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.selection import Selected, place_of_version
from metl_gui.ui.theming import theme as themes
from tests.benchmarks.plane_memory import plane_memory
from tests.benchmarks.sizes import DESIGN, STRETCH, build
from tests.benchmarks.ui_path import TIMED, Step, recorded

SIZES = {"design": DESIGN, "stretch": STRETCH}
_LARGEST_IMAGE = 2 << 30
_SELECTIONS = 30


class Replay:
    """Sends the steps of a path to a view, and measures each until it is painted.

    ``processor_ms`` has the processor time of every frame, which a busy computer hardly changes.

    Args:
        view: a scroll area of Qt's, which paints its viewport.
        plane: where the plane lies in the viewport, margins excluded.
    """

    def __init__(self, view: QAbstractScrollArea, plane: QRectF) -> None:
        self._viewport = view.viewport()
        self._plane = plane
        self._buttons = Qt.MouseButton.NoButton
        self.processor_ms: list[float] = []

    def run(self, steps: list[Step]) -> dict[str, list[float]]:
        """Return the milliseconds of the frames by kind of step."""
        frames: dict[str, list[float]] = {kind: [] for kind in TIMED}
        self._viewport.repaint()
        for step in steps:
            event = self._event(step)
            start, processor = time.perf_counter(), time.process_time()
            QApplication.sendEvent(self._viewport, event)
            self._viewport.repaint()
            if step.kind in TIMED:
                self.processor_ms.append((time.process_time() - processor) * 1000)
                frames[step.kind].append((time.perf_counter() - start) * 1000)
        return frames

    def _event(self, step: Step) -> QEvent:
        plane = self._plane
        y = plane.top() / 2 if step.kind == "header" else plane.top() + step.y * plane.height()
        at = QPointF(plane.left() + step.x * plane.width(), y)
        everywhere = QPointF(self._viewport.mapToGlobal(at))
        keys = Qt.KeyboardModifier.NoModifier
        if step.kind == "wheel":
            turns, phase = QPoint(0, 120 * step.turns), Qt.ScrollPhase.NoScrollPhase
            return QWheelEvent(at, everywhere, QPoint(), turns, self._buttons, keys, phase, False)
        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        kind = {"press": QEvent.Type.MouseButtonPress, "release": QEvent.Type.MouseButtonRelease}
        self._buttons = {"press": left, "release": none}.get(step.kind, self._buttons)
        button = left if step.kind in kind else none
        device = QPointingDevice.primaryPointingDevice()
        assert isinstance(device, QInputDevice)
        return QMouseEvent(
            kind.get(step.kind, QEvent.Type.MouseMove), at, everywhere, button, self._buttons, keys, device
        )


def main(size_name: str, width: int, height: int, rounds: int, limit: int = 0) -> dict[str, Any]:
    """Measure one size at one size of the view; a limit takes the first steps of the path only."""
    app = QApplication([])
    app.setFont(_font(app))
    themes.apply(app, themes.load("light"))
    size = SIZES[size_name]
    tracemalloc.start()
    document = build(size)
    document.matrix.base.by_entity_version  # noqa: B018 - the row index counts among the matrix
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    view, first = _first_picture(document, width, height)
    assert view.content is not None
    found: dict[str, Any] = {
        "platform": QApplication.platformName(),
        "ratio": view.devicePixelRatioF(),
        "pixels": [width * view.devicePixelRatioF(), height * view.devicePixelRatioF()],
        "first_s": first,
    }
    steps = recorded(size)[: limit or None]
    ours = Replay(view, _plane(view))
    baseline = _baseline(view.content, width, height)
    ours.run(steps[:40])
    ours.processor_ms.clear()
    found["rounds"] = []
    for _ in range(rounds):
        view.fit()
        gc.collect()
        found["rounds"].append({"ours": ours.run(steps), "baseline": _replayed(baseline, steps)})
    found["processor"] = ours.processor_ms
    found["selection"] = _selections(view, document)
    found["memory"] = _memory(view.content, held)
    found["baseline"] = "ran" if baseline else _why_not(view.content)
    return found


def _font(app: QApplication) -> Any:
    """Give the font that a screen of this size would have, where the platform without a screen has none of its own."""
    font = app.font()
    font.setPointSizeF(max(font.pointSizeF(), 9.0))
    return font


def _first_picture(document: Document, width: int, height: int) -> tuple[MatrixView, float]:
    """Time what lies between a document in memory and its first picture."""
    view = MatrixView()
    view.resize(width, height)
    view.show()
    QApplication.processEvents()
    start = time.perf_counter()
    view.show_content(content_of(document))
    view.viewport().repaint()
    return view, time.perf_counter() - start


def _plane(view: MatrixView) -> QRectF:
    frame = view.frame
    at = view.panes.plane.pos()
    plane = QRectF(at.x(), at.y(), frame.width, frame.height)
    return plane.adjusted(MARGIN_PX, MARGIN_PX, -MARGIN_PX, -MARGIN_PX)


def _memory(content: PlaneContent, held: int) -> dict[str, float]:
    """Measure bytes after the path was replayed: matrix and pyramid by element, trees with both axes by attribute."""
    parts, document = plane_memory(content), content.document
    attributes = len(document.extraction.base.id) + len(document.cdm.base.id)
    return {
        "matrix with indexes": (parts["matrix"] + parts["index"]) / document.matrix.ones,
        "trees": (held - parts["matrix"] + parts["axes"]) / attributes,
        "pyramid": parts["pyramid"] / document.matrix.ones,
    }


def _selections(view: MatrixView, document: Document) -> list[float]:
    """Time choosing a cell in sight until it is painted."""
    view.fit()
    base = document.matrix.base
    times = []
    for at in np.linspace(0, len(base.q) - 1, _SELECTIONS).astype(int).tolist():
        row = int(np.searchsorted(base.start, at, side="right")) - 1
        source = place_of_version(document, Side.EXTRACTION, int(base.version[row]), int(base.p[at]))
        target = place_of_version(document, Side.CDM, int(base.entity_version[row]), int(base.q[at]))
        start = time.perf_counter()
        view.show_selected(Selected(source, target))
        view.viewport().repaint()
        times.append((time.perf_counter() - start) * 1000)
    return times


def _baseline(content: PlaneContent, width: int, height: int) -> Replay | None:
    """Show all cells as a plain image of pyqtgraph's, binned by itself; ``None`` where they cannot lie in memory."""
    shape = len(content.columns.runs), len(content.rows.runs)
    if shape[0] * shape[1] > _LARGEST_IMAGE:
        return None
    cells = np.zeros(shape, np.uint8)
    elements = content.elements_within(range(shape[0]), range(shape[1]))
    cells[elements.column, elements.row] = 1
    view = pg.PlotWidget()
    view.resize(width, height)
    image = pg.ImageItem(cells, autoDownsample=True, levels=(0, 1))
    view.addItem(image)
    view.getViewBox().setRange(QRectF(0, 0, *shape), padding=0)
    view.show()
    QApplication.processEvents()
    if int(cells.sum()) != content.document.matrix.ones:
        raise AssertionError("the image and the matrix hold different elements")
    _kept.append(view)
    return Replay(view, QRectF(80, 20, width - 120, height - 80))


_kept: list[pg.PlotWidget] = []


def _replayed(baseline: Replay | None, steps: list[Step]) -> dict[str, list[float]] | None:
    if baseline is None:
        return None
    _kept[0].getViewBox().autoRange(padding=0)
    return baseline.run(steps)


def _why_not(content: PlaneContent) -> str:
    gigabytes = len(content.columns.runs) * len(content.rows.runs) / 1e9
    return f"an image of all cells would take {gigabytes:,.0f} GB"


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    sys.stdout.write(json.dumps(main(name, *(int(number) for number in numbers))) + "\n")
