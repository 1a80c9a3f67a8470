"""Going to places of the matrix: by name (Ctrl+G), by bookmark (Ctrl+D sets one)."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.ui.document import OpenProject
from metl_gui.ui.map.bookmarks import Bookmarks
from metl_gui.ui.map.line_sheet import LineSheet
from metl_gui.ui.map.said import Said
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.naming import path_of, schema_name, version_words
from metl_gui.ui.plain import plain_entry
from metl_gui.ui.selection import Place, Selected, Selection, still_there
from metl_gui.workbench.going import Completions, End, find_ends

_GO_FOOT = "Enter goes there · Tab completes · schema@version.field names a version · Esc closes"
_BOOKMARK_FOOT = "Enter keeps this place in View > Bookmarks · Esc closes"


class Going(QObject):
    """Joins the sheets over the matrix to selection and bookmarks.

    Signals:
        said: a ``Said``.
    """

    said = Signal(object)

    def __init__(
        self, project: OpenProject, selection: Selection, matrix: MatrixView, bookmarks: Bookmarks, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._project = project
        self._selection = selection
        self._matrix = matrix
        self.bookmarks = bookmarks
        self._completions: Completions | None = None
        self.go_to_sheet = LineSheet(matrix, "Go to", "schema.field -> entity.attribute", _GO_FOOT, self._complete)
        self.bookmark_sheet = LineSheet(matrix, "Name of the bookmark", "What to call this place", _BOOKMARK_FOOT)
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
        if self._matrix.place() is not None:
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
            self._matrix.go_to_place(replace(place, selected=still_there(self._project.value, place.selected)))
            self._matrix.setFocus()

    def _complete(self, text: str) -> list[str]:
        return self._completions.of(text) if self._completions is not None else []

    def _go(self, text: str) -> None:
        try:
            source, target = find_ends(self._project.value, text)
        except EditError as error:
            self.go_to_sheet.say(str(error))
            return
        self.go_to_sheet.leave()
        self._matrix.setFocus()
        self._matrix.note_jump()
        self._selection.choose(Selected(_place(source), _place(target)))
        self._matrix.announce(self._selection.current)

    def _set_bookmark(self, name: str) -> None:
        place = self._matrix.place()
        if place is None or not name.strip():
            self.bookmark_sheet.say("A bookmark needs a name.")
            return
        self.bookmarks.add(name.strip(), place)
        self.bookmark_sheet.leave()
        self.said.emit(Said(f"“{name.strip()}” is in View > Bookmarks."))

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


def _place(end: End | None) -> Place | None:
    return None if end is None else Place(end.schema, end.version, end.attribute)
