"""The docks of owners on the Map page (to do, comments; hidden at first), and what of them the matrix marks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDockWidget, QWidget

from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comments, Spot
from metl_gui.core.search.attribute_facts import schemas_with_ignored
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.core.trees.trees import Tree
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.map.page import MapPage
from metl_gui.ui.matrix.painting.ignored_lines import IgnoredPlaces
from metl_gui.ui.matrix.painting.overlay import Commented
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.owners.comment_panel import CommentPanel
from metl_gui.ui.owners.gap_panel import GapPanel
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.selection import Selection
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.dock import Dock

_DELAY_MS = 100
_MOST = 2_000
_MOST_IGNORED = 20_000


class MatrixComments(QObject):
    """Gives a matrix the blocks and elements that have comments, after whatever may have changed them."""

    def __init__(self, project: OpenProject, matrix: MatrixView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project, self._matrix = project, matrix
        updater = PanelUpdater(project, matrix, self.show_now, delay_ms=_DELAY_MS)
        project.opened.connect(updater.schedule)
        project.commented.connect(updater.schedule)

    def show_now(self) -> None:
        """Show the comments of what is open now."""
        self._matrix.show_comments(tuple(commented_in(self._project.value, self._project.comments())))


def commented_in(document: Document, comments: Comments) -> Iterator[Commented]:
    """Yield what the newest comments are about: blocks, and elements in every version that has both ends."""
    for comment in comments.all[-_MOST:]:
        source, target = comment.subject.source, comment.subject.target
        if source is None or target is None:
            continue
        if comment.subject.kind == "block":
            if document.extraction.find_version(source.version) is not None:
                yield from (
                    Commented((source.version, version.id)) for version in _versions(document, Side.CDM, target)
                )
            continue
        rows = list(_ends(document, Side.CDM, target))
        for version, attribute in _ends(document, Side.EXTRACTION, source):
            for entity_version, wanted in rows:
                key = version.id, entity_version.id
                if document.matrix.block(*key) is not None:
                    yield Commented(key, Element(wanted.id, attribute.id))


def _versions(document: Document, side: Side, spot: Spot) -> tuple[Version, ...]:
    return document.tree(side).versions(spot.schema) if document.tree(side).find_schema(spot.schema) else ()


def _ends(document: Document, side: Side, spot: Spot) -> Iterator[tuple[Version, Attribute]]:
    """Yield the attribute in every version that has its lineage, as that is now."""
    written = document.tree(side).find_version(spot.version)
    found = written.attribute(spot.attribute) if written is not None else None
    lineage = found.lineage if found is not None else spot.lineage
    for version in _versions(document, side, spot):
        attribute = version.of_lineage(lineage)
        if attribute is not None:
            yield version, attribute


class MatrixIgnored(QObject):
    """Gives a matrix the rows and columns that are never to be mapped, whenever a tree changes."""

    def __init__(self, project: OpenProject, matrix: MatrixView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project, self._matrix = project, matrix
        updater = PanelUpdater(project, matrix, self.show_now, lambda changed: not changed.same_trees, _DELAY_MS)
        project.opened.connect(updater.schedule)

    def show_now(self) -> None:
        """Show those of what is open now."""
        columns, rows = (ignored_in(self._project.value.tree(side)) for side in Side)
        self._matrix.show_ignored(columns, rows)


def ignored_in(tree: Tree) -> IgnoredPlaces:
    """Return the attributes of a tree that are never to be mapped, in every version, within bounds."""
    places = (
        (version.id, attribute.id)
        for schema in schemas_with_ignored(tree)
        for lineages in (schema.ignored_lineages,)
        for version in tree.versions(schema.id)
        for attribute in version.attributes
        if attribute.lineage in lineages
    )
    found = list(islice(places, _MOST_IGNORED))
    columns = np.array(found, np.int32).reshape(-1, 2)
    return IgnoredPlaces(columns[:, 0], columns[:, 1])


_COMMENTS_PX = 360


class OwnerDocks(QObject):
    """What is to do stands behind the block editor as a tab, comments under the canonical model.

    Args:
        page: gets the docks.
        beside: the dock that gaps stand behind.
        jobs: where gaps are looked for.
    """

    def __init__(
        self, page: MapPage, beside: QDockWidget, project: OpenProject, selection: Selection, jobs: Jobs
    ) -> None:
        super().__init__(page)
        self._page = page
        self._is_laid_out = False
        self.gaps = GapPanel(project, selection, jobs)
        self.comments = CommentPanel(project, selection)
        self.in_matrix = MatrixComments(project, page.matrix, self)
        self.ignored = MatrixIgnored(project, page.matrix, self)
        self.gaps_dock = Dock("gapsDock", "To do", self.gaps)
        self.comments_dock = Dock("commentsDock", "Comments", self.comments)
        page.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.gaps_dock)
        page.tabifyDockWidget(beside, self.gaps_dock)
        page.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.comments_dock)
        for dock in (self.gaps_dock, self.comments_dock):
            dock.hide()
        self.gaps.told.connect(self._tell_gaps)
        self.comments.told.connect(self._tell_comments)

    def show_gaps(self) -> None:
        """Show what is to do with the keyboard on it."""
        _front(self.gaps_dock, self.gaps.view)

    def show_comments(self) -> None:
        """Show the comments on what is selected, ready to write one."""
        is_new = self.comments_dock.isHidden() and not self._is_laid_out
        _front(self.comments_dock, self.comments.text)
        if is_new:  # the tree above it would leave it no room; from then on it is as a person makes it
            self._is_laid_out = True
            self._page.resizeDocks([self.comments_dock], [themes.px(_COMMENTS_PX)], Qt.Orientation.Vertical)

    def _tell_gaps(self, facts: str) -> None:
        self.gaps_dock.say("To do", facts)

    def _tell_comments(self, facts: str) -> None:
        self.comments_dock.say("Comments", facts)


def _front(dock: Dock, panel: QWidget) -> None:
    dock.show()
    dock.raise_()
    panel.setFocus(Qt.FocusReason.ShortcutFocusReason)
