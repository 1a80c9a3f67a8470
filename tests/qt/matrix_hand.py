"""What a hand does over the matrix, as real events, and what the tests of its gestures ask for."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from metl_gui.core.edits.version_scope import VersionScope
from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.matrix.input.hit_test import Cell
from metl_gui.ui.matrix.layout.camera import Camera
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version
from metl_gui.ui.shell.window import Window

LEFT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton
CONTROL, SHIFT, ALT, NONE = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.NoModifier,
)


def send(matrix: MatrixView, kind: QEvent.Type, at: QPoint, button: Qt.MouseButton, keys: Qt.KeyboardModifier) -> None:
    """Send one mouse event with its keys; ``QTest.mouseMove`` forgets what is held down."""
    held = Qt.MouseButton.NoButton if kind is QEvent.Type.MouseButtonRelease else button
    pressed = Qt.MouseButton.NoButton if kind is QEvent.Type.MouseMove else button
    spot = QPointF(at)
    event = QMouseEvent(kind, spot, QPointF(matrix.viewport().mapToGlobal(at)), pressed, held, keys)
    QApplication.sendEvent(matrix.viewport(), event)


def press(matrix: MatrixView, at: QPoint, button: Qt.MouseButton = LEFT, keys: Qt.KeyboardModifier = NONE) -> None:
    send(matrix, QEvent.Type.MouseButtonPress, at, button, keys)


def move(matrix: MatrixView, at: QPoint, button: Qt.MouseButton = LEFT, keys: Qt.KeyboardModifier = NONE) -> None:
    send(matrix, QEvent.Type.MouseMove, at, button, keys)


def release(matrix: MatrixView, at: QPoint, button: Qt.MouseButton = LEFT, keys: Qt.KeyboardModifier = NONE) -> None:
    send(matrix, QEvent.Type.MouseButtonRelease, at, button, keys)


def drag(
    matrix: MatrixView, at: QPoint, to: QPoint, button: Qt.MouseButton = LEFT, keys: Qt.KeyboardModifier = NONE
) -> None:
    press(matrix, at, button, keys)
    move(matrix, (at + to) / 2, button, keys)
    move(matrix, to, button, keys)
    release(matrix, to, button, keys)


def double_click(matrix: MatrixView, at: QPoint) -> None:
    """Click twice; ``QTest.mouseDClick`` leaves the button down, also for the tests that follow."""
    QTest.mouseDClick(matrix.viewport(), LEFT, NONE, at)
    QTest.mouseRelease(matrix.viewport(), LEFT, NONE, at)


def open_menu(view: QWidget, at: QPoint) -> QMenu:
    """Ask for the menu of a place by the mouse, and return it."""
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, view.mapToGlobal(at))
    QApplication.sendEvent(view, event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def take_entry(menu: QMenu, words: str) -> None:
    """Click on an entry of an open menu."""
    (entry,) = (action for action in menu.actions() if action.text() == words)
    QTest.mouseClick(menu, LEFT, NONE, menu.actionGeometry(entry).center())


def blocks(window: Window) -> list[Block]:
    return sorted(window.project.value.matrix.blocks(), key=lambda block: -len(block.elements))


def elements(window: Window, key: BlockKey) -> set[Element]:
    block = window.project.value.matrix.block(*key)
    return set(block.elements) if block else set()


def select(window: Window, key: BlockKey, element: Element) -> None:
    document = window.project.value
    source = place_of_version(document, Side.EXTRACTION, key[0], element.p)
    target = place_of_version(document, Side.CDM, key[1], element.q)
    window.selection.choose(Selected(source, target))


def at_cell(window: Window, key: BlockKey, element: Element) -> QPoint:
    """Zoom to cells at a cell and return where it lies."""
    matrix = window.map.matrix
    matrix.look(Camera(scale_x=27.0, scale_y=25.0))
    select(window, key, element)
    matrix.show_selected(window.selection.current, bring_into_sight=True)
    return matrix.centre_of(element).toPoint()


def ends(window: Window, key: BlockKey) -> tuple[list[int], list[int]]:
    """Return the attributes of a block's versions in order: sources, targets."""
    document = window.project.value
    return (
        [a.id for a in document.extraction.version(key[0]).attributes],
        [a.id for a in document.cdm.version(key[1]).attributes],
    )


def emptied(window: Window) -> BlockKey:
    """Clear a block, so that a run in it meets nothing."""
    block = blocks(window)[0]
    select(window, block.key, block.elements[0])
    source, target = window.selection.current.source, window.selection.current.target
    assert source is not None
    assert target is not None
    window.selection.choose(Selected(NodeRef(source.schema, source.version), NodeRef(target.schema, target.version)))
    window.map.edits.choose(VersionScope.THIS)
    window.map.mapper.unmap_chosen()
    window.map.edits.choose(VersionScope.ALL)
    assert not elements(window, block.key)
    return block.key


def shows_cells(matrix: MatrixView) -> bool:
    return matrix.hits is not None and matrix.hits.shows_cells


def cell(key: BlockKey, q: int, p: int) -> Cell:
    return Cell(key, Element(q, p))
