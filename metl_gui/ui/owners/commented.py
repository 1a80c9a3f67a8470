"""Shows in the matrix what was commented on."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject

from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comments, Spot
from metl_gui.core.trees.nodes import Attribute, Side, Version
from metl_gui.ui.document import OpenProject
from metl_gui.ui.matrix.paint_comments import Commented
from metl_gui.ui.matrix.view import MatrixView
from metl_gui.ui.pause import pause

_DELAY_MS = 100
_MOST = 2_000


class MatrixComments(QObject):
    """Gives a matrix the blocks and elements that have comments, after whatever may have changed them."""

    def __init__(self, project: OpenProject, matrix: MatrixView, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._project, self._matrix = project, matrix
        self._timer = pause(self, _DELAY_MS, self.show_now)
        for signal in (project.opened, project.changed, project.commented):
            signal.connect(self._soon)

    def show_now(self) -> None:
        """Show the comments of what is open now."""
        self._timer.stop()
        self._matrix.show_comments(tuple(commented_in(self._project.value, self._project.comments())))

    def _soon(self, *_: object) -> None:
        self._timer.start()


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
