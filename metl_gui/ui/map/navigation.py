"""Going to places of the matrix: by name or link (Ctrl+G), by bookmark (Ctrl+D sets one).

Where to go, or what to call a place, is typed into a line over the head of the matrix. It is no dialog; Esc closes it.
Bookmarks are places with names, kept in the view settings of each project.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QLineEdit, QListWidget, QMenu, QVBoxLayout, QWidget

from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError, LinkError
from metl_gui.ui.jobs.jobs import CommandResult
from metl_gui.ui.matrix.layout.camera import Viewpoint
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import NodeRef, Selected, Selection, still_there
from metl_gui.ui.project.settings import ViewSettings
from metl_gui.ui.project.text import path_of, schema_name, version_words
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.plain_text import plain_entry
from metl_gui.ui.widgets.window_words import in_window
from metl_gui.workbench.links.link import is_link, read_link
from metl_gui.workbench.mapping.search import Completions, SearchNode, find_ends

_WIDE = 560
_TOP = 10
_MOST_ROWS = 10


def _proposes_nothing(_text: str) -> list[str]:
    return []


class LineSheet(QFrame):
    """Asks for a line of text.

    Args:
        name: what screen readers call it.
        hint: stands in the empty line.
        foot: what keys do, under the line while nothing is wrong.
        propose: whole texts that the typed one may become.

    Signals:
        accepted: the text, by Enter; who listens closes the sheet or says what is wrong.
    """

    accepted = Signal(str)

    def __init__(
        self,
        parent: QWidget,
        name: str,
        hint: str,
        foot: str,
        propose: Callable[[str], list[str]] = _proposes_nothing,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_NoMousePropagation)
        self._foot = foot
        self.setProperty("surface", "sheet")
        self.setAccessibleName(name)
        self._propose = propose
        self._came_from: QWidget | None = None
        self.line = QLineEdit()
        self.line.setPlaceholderText(hint)
        self.line.setAccessibleName(name)
        self.rows = QListWidget()
        self.rows.setAccessibleName("Proposals")
        self.rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.rows.setFrameShape(QFrame.Shape.NoFrame)
        self.note = QLabel()
        self.note.setProperty("kind", "small")
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 10, 10, 10)
        layout.setSpacing(6)
        for widget in (self.line, self.rows, self.note):
            layout.addWidget(widget)
        self.line.textChanged.connect(self._typed)
        self.line.returnPressed.connect(self._enter)
        self.line.installEventFilter(self)
        self.rows.itemClicked.connect(lambda item: self._take(item.text()))
        self.hide()

    def ask(self, text: str = "") -> None:
        """Show the line, with a text to change or accept."""
        focus = QApplication.focusWidget()
        if focus is not None and not self.isAncestorOf(focus):
            self._came_from = focus
        self.line.setText(text)
        self.line.selectAll()
        self._typed(text)
        self.show()
        self.raise_()
        self.line.setFocus(Qt.FocusReason.PopupFocusReason)

    def say(self, words: str) -> None:
        """Say under the line what is wrong with it."""
        self.note.setText(words or self._foot)
        self._place()

    def leave(self) -> None:
        """Close the sheet and give the focus back."""
        if self.isVisible():
            self.hide()
            back, self._came_from = self._came_from, None
            if back is not None:
                back.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keep what the line leaves: it means nothing to the view below."""
        event.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move in the proposals by arrows, take one by Tab, close by Esc or when the focus goes elsewhere."""
        if event.type() is QEvent.Type.FocusOut and self.isVisible():
            focus = QApplication.focusWidget()
            if focus is not None and not self.isAncestorOf(focus):
                self._came_from = None
                self.hide()
            return False
        if not isinstance(event, QKeyEvent) or event.type() is not QEvent.Type.KeyPress:
            return False
        key = Qt.Key(event.key())
        if key is Qt.Key.Key_Escape:
            self.leave()
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self._move(1 if key is Qt.Key.Key_Down else -1)
        elif key is Qt.Key.Key_Tab and self.rows.count():
            self._take(self.rows.item(max(self.rows.currentRow(), 0)).text())
        else:
            return False
        return True

    def _typed(self, text: str) -> None:
        self.rows.clear()
        self.rows.addItems(self._propose(text)[:_MOST_ROWS])
        self.rows.setVisible(self.rows.count() > 0)
        self.say("")

    def _move(self, by: int) -> None:
        if self.rows.count():
            self.rows.setCurrentRow(min(max(self.rows.currentRow() + by, 0), self.rows.count() - 1))
            words = self.rows.item(self.rows.currentRow()).text()
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.line, words))

    def _enter(self) -> None:
        row = self.rows.currentRow()
        if row >= 0:
            self._take(self.rows.item(row).text())
        else:
            self.accepted.emit(self.line.text())

    def _take(self, text: str) -> None:
        self.line.setText(text)
        self.line.setFocus()

    def _place(self) -> None:
        parent = self.parentWidget()
        if parent is None:
            return
        wide = min(themes.px(_WIDE), parent.width() - 2 * _TOP)
        self.setFixedWidth(wide)
        wanted = self.rows.sizeHintForRow(0) * self.rows.count() + 4 if self.rows.count() else 0
        self.rows.setFixedHeight(0)
        self.adjustSize()
        room = parent.height() - 2 * _TOP - self.height()
        self.rows.setFixedHeight(min(wanted, max(room, 0)))
        self.adjustSize()
        self.move((parent.width() - wide) // 2, _TOP)


_MOST = 50


class Bookmarks:
    """The bookmarks of the open project.

    Args:
        settings: where they are kept, ``None`` for nowhere.
    """

    def __init__(self, settings: ViewSettings | None) -> None:
        self._settings = settings
        self._project_id = ""
        self._found: dict[str, Viewpoint] = {}

    def open(self, project_id: str) -> None:
        """Take those of another project."""
        self._project_id = project_id
        kept = self._settings.bookmarks(project_id) if self._settings is not None and project_id else {}
        places = {name: Viewpoint.of_json(value) for name, value in kept.items()}
        self._found = {name: place for name, place in places.items() if place is not None}

    def names(self) -> list[str]:
        """Return the names, the oldest first."""
        return list(self._found)

    def place(self, name: str) -> Viewpoint | None:
        """Return the place of a name."""
        return self._found.get(name)

    def add(self, name: str, place: Viewpoint) -> None:
        """Give a place a name; the place that had it before has none any more."""
        self._found.pop(name, None)
        self._found[name] = place
        for oldest in list(self._found)[:-_MOST]:
            del self._found[oldest]
        self._save()

    def remove(self, name: str) -> None:
        """Forget a name."""
        self._found.pop(name, None)
        self._save()

    def _save(self) -> None:
        if self._settings is not None and self._project_id:
            kept: dict[str, Any] = {name: place.as_json() for name, place in self._found.items()}
            self._settings.save_bookmarks(self._project_id, kept)


_GO_FOOT = "Enter goes there · Tab completes · schema@version.field names a version · a link goes too · Esc closes"
_BOOKMARK_FOOT = "Enter keeps this place in View > Bookmarks · Esc closes"


class NavigationController(QObject):
    """Joins the sheets over the matrix to selection and bookmarks.

    Args:
        matrix: the view over which is asked.
        worked_in: gives the view that goes there.

    Signals:
        said: a ``CommandResult``.
        link_wanted: the text of a link that was typed, and is well formed.
    """

    said = Signal(object)
    link_wanted = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        selection: Selection,
        matrix: MatrixView,
        bookmarks: Bookmarks,
        parent: QObject,
        worked_in: Callable[[], MatrixView],
    ) -> None:
        super().__init__(parent)
        self._project = project
        self._selection = selection
        self._worked_in = worked_in
        self.bookmarks = bookmarks
        self._completions: Completions | None = None
        over = matrix.viewport()  # screen readers are told of nothing else in a view
        self.go_to_sheet = LineSheet(over, "Go to", "schema.field -> entity.attribute", _GO_FOOT, self._complete)
        self.bookmark_sheet = LineSheet(over, "Name of the bookmark", "What to call this place", _BOOKMARK_FOOT)
        self.go_to_sheet.accepted.connect(self._go)
        self.bookmark_sheet.accepted.connect(self._set_bookmark)

    def open(self, project_id: str) -> None:
        """Take the bookmarks of another project."""
        self.go_to_sheet.leave()
        self.bookmark_sheet.leave()
        self.bookmarks.open(project_id)

    def ask_where(self) -> None:
        """Ask where to go."""
        self._completions = Completions(self._project.value)
        self.go_to_sheet.ask()

    def ask_name(self) -> None:
        """Ask what to call the place where one is."""
        if self._worked_in().place() is not None:
            self.bookmark_sheet.ask(self._name_of_here())

    def fill_bookmarks(self, menu: QMenu) -> None:
        """List the bookmarks in a menu, and behind them what forgets them."""
        names = self.bookmarks.names()
        for name in names:
            menu.addAction(plain_entry(name)).triggered.connect(lambda _=False, name=name: self.go_to_bookmark(name))
        if not names:
            menu.addAction("No bookmarks yet").setEnabled(False)
            return
        menu.addSeparator()
        forget = menu.addMenu("Remove")
        for name in names:
            forget.addAction(plain_entry(name)).triggered.connect(
                lambda _=False, name=name: self.bookmarks.remove(name)
            )

    def go_to_bookmark(self, name: str) -> None:
        """Go to the place of a name."""
        place = self.bookmarks.place(name)
        if place is not None:
            self._worked_in().go_to_place(replace(place, selected=still_there(self._project.value, place.selected)))
            self._worked_in().setFocus()

    def _complete(self, text: str) -> list[str]:
        return self._completions.of(text) if self._completions is not None else []

    def _go(self, text: str) -> None:
        try:
            if is_link(text):
                read_link(text)
                self.go_to_sheet.leave()
                self._worked_in().setFocus()
                self.link_wanted.emit(text)
                return
            source, target = find_ends(self._project.value, text)
        except (EditError, LinkError) as error:
            self.go_to_sheet.say(in_window(str(error)))
            return
        self.go_to_sheet.leave()
        view = self._worked_in()
        view.setFocus()
        view.note_jump()
        self._selection.choose(Selected(_place(source), _place(target)))
        view.look_closely()
        view.announce(self._selection.current)

    def _set_bookmark(self, name: str) -> None:
        place = self._worked_in().place()
        if place is None or not name.strip():
            self.bookmark_sheet.say("A bookmark needs a name.")
            return
        self.bookmarks.add(name.strip(), place)
        self.bookmark_sheet.leave()
        self.said.emit(CommandResult(f"“{name.strip()}” is in View > Bookmarks."))

    def _name_of_here(self) -> str:
        document, selected = self._project.value, self._selection.current
        parts = []
        for side, place in ((Side.EXTRACTION, selected.source), (Side.CDM, selected.target)):
            if place is None:
                continue
            version = place.version
            words = (
                schema_name(document, side, place.schema) if version is None else version_words(document, side, version)
            )
            if version is not None and place.attribute is not None:
                words += f" {path_of(document, side, version, place.attribute)}"
            parts.append(words)
        return " → ".join(parts) or "Place"


def _place(end: SearchNode | None) -> NodeRef | None:
    return None if end is None else NodeRef(end.schema, end.version, end.attribute)
