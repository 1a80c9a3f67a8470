"""What the matrix shows of the open project: everything, or what filters and relevance leave, in an order.

A line over the matrix says what it does not show; hidden must never look deleted.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.search.filters import FilterResult
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs
from metl_gui.ui.matrix.layout.content import Arrangement, PlaneContent, SortOrder, content_after, rebased
from metl_gui.ui.matrix.layout.sort_and_filter import arranged, needs_arranging
from metl_gui.ui.project.document import DocumentChange
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.widgets.pill import KeyButton

_AT_ONCE = 100_000
"""So many elements are arranged between two events; more of them are a job."""
_PLAIN_AT_ONCE = 1_000_000
"""The same where everything is shown in tree order."""


class PlaneArranger(QObject):
    """The plane as it is shown, and with nothing hidden.

    Args:
        jobs: what arranges large projects, ``None`` to wait for it.

    Signals:
        arranged: the plane that is shown has another layout, or is another project's.
        edited: the plane that is shown has the same layout and other elements.
    """

    arranged = Signal()
    edited = Signal()

    def __init__(self, jobs: Jobs | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._document = Document()
        self.whole: PlaneContent | None = None
        self.shown: PlaneContent | None = None
        self.arrangement = Arrangement()
        self.shows_everything = False
        self._asked: object = None
        self._edited_since: set[BlockKey] = set()

    @property
    def hides(self) -> bool:
        """Whether anything may be hidden now."""
        return self.arrangement.hides and not self.shows_everything

    def open(self, document: Document, prepared: PlaneContent | None = None) -> None:
        """Show another project, everything of it in tree order, as a job has laid it out already or anew."""
        self.arrangement = Arrangement()
        self.shows_everything = False
        if prepared is not None and prepared.document is document:
            self._document, self._asked = document, None
            self._take((prepared, prepared))
        else:
            self._arrange(document, waits=True)

    def follow(self, changed: DocumentChange) -> None:
        """Show what an edit left."""
        whole, shown, keys = self.whole, self.shown, changed.blocks
        if whole is None or shown is None or keys is None or not changed.same_trees:
            self._arrange(changed.after)
            return
        if self.hides and needs_arranging(shown, changed.after, keys):
            self._arrange(changed.after)
            return
        self._document = changed.after
        self._edited_since.update(keys)
        self.whole = content_after(whole, changed.after, keys)
        self.shown = self.whole if shown is whole else content_after(shown, changed.after, keys)
        self.edited.emit()

    def rebase(self, document: Document) -> None:
        """Lay what is shown out over the columns of the same state that an idle moment has merged."""
        whole, shown = self.whole, self.shown
        if whole is None or shown is None:
            return

        def work(_watch: Watch) -> tuple[PlaneContent, PlaneContent]:
            merged = rebased(whole, document)
            return merged, merged if shown is whole else rebased(shown, document)

        def done(outcome: JobOutcome[tuple[PlaneContent, PlaneContent]]) -> None:
            # Who edits meanwhile goes on with the old columns, until the next idle moment.
            if outcome.value is not None and self.whole is whole and self.shown is shown:
                self._document = document
                self.whole, self.shown = outcome.value
                self.edited.emit()

        if self._jobs is None:
            done(JobOutcome(work(UNWATCHED)))
        else:
            self._jobs.start("Putting the matrix in order", work, done)

    def filter(self, side: Side, passing: FilterResult | None) -> None:
        """Show only what passes the filter of one tree; ``None`` for everything."""
        now = self.arrangement
        before = now.columns if side is Side.EXTRACTION else now.rows
        if before is not None and passing is not None and _is_same(before, passing):
            return  # a tree tells again after every edit what passes
        is_same_text = before is not None and passing is not None and before.text == passing.text
        is_columns = side is Side.EXTRACTION
        after = replace(now, columns=passing) if is_columns else replace(now, rows=passing)
        self._rearrange(after, keeps_open=is_same_text)

    def order(self, order: SortOrder) -> None:
        """Sort columns and rows in another way."""
        self._rearrange(replace(self.arrangement, order=order), keeps_open=True)

    def show_relevant(self, is_relevant_only: bool) -> None:
        """Hide what has no element, or show it again."""
        self._rearrange(replace(self.arrangement, is_relevant_only=is_relevant_only))

    def fold(self, side: Side, nodes: Iterable[NodeRef]) -> None:
        """Hide schemas, entities or versions; when they are all hidden so already, show them again."""
        now = self.arrangement
        self._rearrange(replace(now, folded=_toggled(now.folded, side, nodes)))

    def pin(self, side: Side, nodes: Iterable[NodeRef]) -> None:
        """Keep schemas, entities or versions whatever a filter hides; when they are all kept already, do so no more."""
        now = self.arrangement
        self._rearrange(replace(now, pinned=_toggled(now.pinned, side, nodes)), keeps_open=True)

    def unfold_all(self) -> None:
        """Fold and pin nothing any more."""
        self.fold_and_pin(frozenset(), frozenset())

    def fold_and_pin(self, folded: frozenset[tuple[Side, NodeRef]], pinned: frozenset[tuple[Side, NodeRef]]) -> None:
        """Fold and pin these schemas, entities and versions, and no others."""
        self._rearrange(replace(self.arrangement, folded=folded, pinned=pinned), keeps_open=True)

    def folded(self, side: Side) -> frozenset[NodeRef]:
        """Return what is folded of one tree."""
        return frozenset(node for each, node in self.arrangement.folded if each is side)

    def pinned(self, side: Side) -> frozenset[NodeRef]:
        """Return what is pinned of one tree."""
        return frozenset(node for each, node in self.arrangement.pinned if each is side)

    def count_of(self, nodes: Iterable[tuple[Side, NodeRef]]) -> int:
        """Count the nodes that the project has: one that an undo took away may come back, and is folded then."""
        trees = {side: self._document.tree(side) for side in Side}
        return sum(
            trees[side].find_schema(node.schema) is not None
            if node.version is None
            else trees[side].has_version(node.version)
            for side, node in nodes
        )

    def switch_everything(self) -> None:
        """Show everything; once more, hide again what was hidden; with nothing to hide, hide what has no element."""
        if not self.arrangement.hides:
            self.show_relevant(is_relevant_only=True)
            return
        self.shows_everything = not self.shows_everything
        self._arrange(self._document)

    def _rearrange(self, arrangement: Arrangement, keeps_open: bool = False) -> None:
        self.shows_everything = self.shows_everything and keeps_open
        self.arrangement = arrangement
        self._arrange(self._document)

    def _arrange(self, document: Document, waits: bool = False) -> None:
        """Lay out another document, or the same in another way; what is edited meanwhile is added when it is done."""
        self._document = document
        self._edited_since = set()
        self._asked = mine = object()
        now = self.arrangement
        plain = Arrangement(order=now.order)
        asked = now if self.hides else plain
        before = self.whole

        def work(watch: Watch) -> tuple[PlaneContent, PlaneContent]:
            is_known = before is not None and before.document is document and before.arrangement.order is now.order
            whole = before if is_known and before is not None else arranged(document, plain, watch)
            return whole, arranged(document, asked, watch) if asked.hides else whole

        if self._jobs is None or waits or document.matrix.ones < (_PLAIN_AT_ONCE if asked.is_plain else _AT_ONCE):
            self._take(work(UNWATCHED))
            return

        def done(outcome: JobOutcome[tuple[PlaneContent, PlaneContent]]) -> None:
            if outcome.value is not None and self._asked is mine:
                whole = self._followed(outcome.value[0])
                self._take((whole, whole if outcome.value[1] is outcome.value[0] else self._followed(outcome.value[1])))

        self._jobs.start("Arranging the matrix", work, done)

    def _followed(self, content: PlaneContent) -> PlaneContent:
        """Lay out what was edited since the content was asked for."""
        return content_after(content, self._document, self._edited_since)

    def _take(self, planes: tuple[PlaneContent, PlaneContent]) -> None:
        self.whole, self.shown = planes
        self.arranged.emit()


def _toggled(
    known: frozenset[tuple[Side, NodeRef]], side: Side, nodes: Iterable[NodeRef]
) -> frozenset[tuple[Side, NodeRef]]:
    wanted = frozenset((side, node) for node in nodes)
    return known - wanted if wanted <= known else known | wanted


def _is_same(one: FilterResult, other: FilterResult) -> bool:
    """Whether the same passes two filters."""
    return (
        one.text == other.text
        and one.schema_count == other.schema_count
        and np.array_equal(one.schemas, other.schemas)
        and np.array_equal(one.attributes, other.attributes)
    )


class Banner(QFrame):
    """Follows what the planes hide.

    Signals:
        switched: everything is to be shown, or what was hidden is to be hidden again.
    """

    switched = Signal()

    def __init__(self, planes: PlaneArranger, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._planes = planes
        self.setProperty("surface", "banner")
        self.setAccessibleName("What the matrix hides")
        self.words = QLabel()
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.switch = KeyButton("Show everything", "H", "link")
        self.switch.set_height(24)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 2, 6, 2)
        row.setSpacing(8)
        row.addWidget(self.words, 1)
        row.addWidget(self.switch)
        self.switch.clicked.connect(self.switched)
        planes.arranged.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Say what is hidden now, or that it is shown for now."""
        now = self._planes.arrangement
        folded, pinned = self._planes.count_of(now.folded), self._planes.count_of(now.pinned)
        self.setVisible(now.is_filtered or now.is_relevant_only or folded > 0)
        parts = [result.words for result in (now.columns, now.rows) if result is not None]
        parts += ["only what is mapped or waits"] if now.is_relevant_only else []
        parts += [f"all but {folded:,} folded"] if folded else []
        parts += [f"{pinned:,} pinned"] if pinned else []
        if self._planes.shows_everything:
            self.words.setText(f"Everything is shown for now ({', '.join(parts)} otherwise)")
            self.switch.setText("Hide it again")
        else:
            self.words.setText(f"Shown: {', '.join(parts)}. Nothing is deleted.")
            self.switch.setText("Show everything")
        self.switch.updateGeometry()
