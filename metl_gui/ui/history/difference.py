"""What differs between two states: a heading, how much, and a row for each thing, which leads to its cell.

The rows stand in groups, under the schema, entity or pair of both that they are about. They are worked out without Qt;
``DifferenceModel`` shows them in a view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QHeaderView, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.differences.document_difference import (
    BlockDifference,
    Difference,
    ModelDifference,
    TreeDifference,
    compare,
)
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.project.project_data import ProjectDataDifference
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ProjectError
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.matrix.painting.difference import ElementDifference, marks_of
from metl_gui.ui.project.selection import NodeRef, Selected, place_of_version, still_there
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.tree import BranchView, GroupedModel
from metl_gui.values import Value
from metl_gui.workbench.comparison.diff import ComparisonSide, difference_of, opened
from metl_gui.workbench.session import Workbench

CAME, WENT, OTHER = "+", "\N{MINUS SIGN}", "~"
"""The signs of what came, what went, and what is another one; shape first, colour second."""


class DifferenceRow(Value):
    """One thing that differs.

    Args:
        sign: ``CAME``, ``WENT`` or ``OTHER``.
        what: in words.
        where: the versions that it is about.
        key: the block that it is about, if it is about one.
        element: the cell.
        tree: what differs in a tree.
    """

    sign: str
    what: str
    where: str
    key: BlockKey | None = None
    element: Element | None = None
    tree: TreeDifference | None = None

    @property
    def leads_somewhere(self) -> bool:
        """Whether it is about a place that can be selected."""
        return self.key is not None or self.tree is not None


class DifferenceGroup(Value):
    """What differs of one schema, entity, or pair of both.

    Args:
        name: of it.
        facts: how much, in few words.
        rows: in the order of versions.
    """

    name: str
    facts: str
    rows: tuple[DifferenceRow, ...]


def groups_of(
    difference: Difference, before: Document, after: Document, is_one_project: bool = True
) -> tuple[DifferenceGroup, ...]:
    """Put a difference into groups: trees, blocks by schema and entity, then what lies beside the states by kind.

    Args:
        difference: of two documents.
        before, after: these.
        is_one_project: both are states of one project; else rows lead to what the one after has.
    """
    trees: dict[tuple[Side, str], list[DifferenceRow]] = {}
    for tree in difference.trees:
        trees.setdefault((tree.side, tree.name), []).append(_tree_row(tree))
    blocks: dict[tuple[str, str], list[DifferenceRow]] = {}
    for block in difference.blocks:
        blocks.setdefault((block.schema, block.entity), []).extend(_block_rows(block, before, after, is_one_project))
    found = [
        DifferenceGroup(name, "schema" if side is Side.EXTRACTION else "entity", tuple(rows))
        for (side, name), rows in trees.items()
    ]
    found += [
        DifferenceGroup(f"{schema} → {entity}", _counts(rows), tuple(rows)) for (schema, entity), rows in blocks.items()
    ]
    for name, models in groupby(difference.models, key=lambda told: told.model):
        rows = [DifferenceRow(_sign(told), told.words(), told.table or name) for told in models]
        found.append(DifferenceGroup(f"warehouse {name}", number_of(len(rows), "change"), tuple(rows)))
    for kind, things in groupby(difference.beside, key=lambda told: told.kind):
        rows = [DifferenceRow(_sign(told), told.words(), told.place) for told in things]
        found.append(DifferenceGroup(f"beside the states: {kind}", number_of(len(rows), "change"), tuple(rows)))
    return tuple(found)


def summary(difference: Difference) -> str:
    """Say how much differs, in one line."""
    if difference.is_empty:
        return "Nothing differs."
    parts = [f"{number_of(difference.added, 'element')} came"] if difference.added else []
    parts += [f"{number_of(difference.removed, 'element')} went"] if difference.removed else []
    silent = sum(not (block.added or block.removed) for block in difference.blocks)
    parts += [f"{number_of(silent, 'block')} with another status"] if silent else []
    parts += [f"{number_of(len(difference.trees), 'change')} in the trees"] if difference.trees else []
    parts += [f"{number_of(len(difference.models), 'change')} of warehouse models"] if difference.models else []
    parts += [f"{number_of(len(difference.beside), 'change')} beside the states"] if difference.beside else []
    return ", ".join(parts)


def as_text(title: str, groups: Iterable[DifferenceGroup]) -> str:
    """Return a difference as plain text, for messages and tickets."""
    lines = [title]
    for group in groups:
        lines += ["", f"{group.name} ({group.facts})"]
        lines += [f"  {row.sign} {row.what}" + (f"  [{row.where}]" if row.where else "") for row in group.rows]
    return "\n".join(lines) + "\n"


def selected_of(document: Document, row: DifferenceRow) -> Selected:
    """Return what of a row the shown document has, to select it."""
    if row.key is not None:
        v, w = row.key
        source = target = None
        if document.extraction.find_version(v) is not None:
            source = place_of_version(document, Side.EXTRACTION, v, row.element.p if row.element else None)
        if document.cdm.find_version(w) is not None:
            target = place_of_version(document, Side.CDM, w, row.element.q if row.element else None)
        return still_there(document, Selected(source, target))
    tree = row.tree
    schema = document.tree(tree.side).named(tree.name) if tree is not None else None
    if tree is None or schema is None:
        return Selected()
    version = document.tree(tree.side).labelled(schema.id, tree.version) if tree.version else None
    attribute = version.at_path(tree.path) if version is not None and tree.path else None
    place = NodeRef(schema.id, version.id if version else None, attribute.id if attribute else None)
    return Selected().with_place(tree.side, place)


def _sign(told: TreeDifference | ProjectDataDifference | ModelDifference) -> str:
    return CAME if told.is_gain else WENT if told.is_loss else OTHER


def _tree_row(tree: TreeDifference) -> DifferenceRow:
    is_said = not tree.version or f"version {tree.version}" in tree.words()
    return DifferenceRow(_sign(tree), tree.words(), "" if is_said else f"version {tree.version}", tree=tree)


def _block_rows(
    block: BlockDifference, before: Document, after: Document, is_one_project: bool
) -> Iterator[DifferenceRow]:
    where = f"{block.version} → {block.entity_version}"
    key = block.after or (block.before if is_one_project else None)
    if block.previous and not block.removed:
        carried = len(block.added) - len(block.gained)
        words = f"{number_of(carried, 'element')} carried over from version {block.previous}"
        yield DifferenceRow(CAME, words, where, key)
        added = set(block.gained)
        yield from (DifferenceRow(WENT, f"lost: {a} → {b}", where, key) for a, b in block.lost)
    else:
        added = set(block.added)
    for sign, pairs, elements, at, holder in (
        (WENT, block.removed, block.removed_elements, block.before, before),
        (CAME, block.added, block.added_elements, block.after, after),
    ):
        is_there = is_one_project or holder is after
        by_pair = _cells(holder, at, elements) if is_there else {}
        yield from (
            DifferenceRow(sign, f"{a} → {b}", where, at if is_there else key, by_pair.get((a, b)))
            for a, b in pairs
            if sign is WENT or (a, b) in added
        )
    if block.moved_from:
        yield DifferenceRow(OTHER, f"stands against version {block.entity_version}, not {block.moved_from}", where, key)
    if block.status_before is not block.status_after and block.status_before is not None:
        now = block.status_after.value if block.status_after is not None else "gone"
        yield DifferenceRow(OTHER, f"{block.status_before.value}, now {now}", where, key)
    elif block.waiting_before != block.waiting_after:
        yield DifferenceRow(OTHER, _waiting_words(block), where, key)


def _waiting_words(block: BlockDifference) -> str:
    if block.waiting_after > block.waiting_before:
        verb = "waits" if block.waiting_after == 1 else "wait"
        return f"{number_of(block.waiting_after, 'lost element')} {verb} for an answer"
    left = f", {block.waiting_after} still open" if block.waiting_after else ""
    return f"{number_of(block.waiting_before - block.waiting_after, 'lost element')} answered{left}"


def _cells(document: Document, key: BlockKey | None, elements: tuple[Element, ...]) -> dict[tuple[str, str], Element]:
    """Return elements of a block by their paths."""
    if key is None:
        return {}
    columns = {a.id: a.path for a in document.extraction.version(key[0]).attributes}
    rows = {a.id: a.path for a in document.cdm.version(key[1]).attributes}
    return {(columns[e.p], rows[e.q]): e for e in elements}


def _counts(rows: list[DifferenceRow]) -> str:
    counts = {sign: sum(row.sign == sign and row.element is not None for row in rows) for sign in (CAME, WENT)}
    words = " ".join(f"{sign}{count}" for sign, count in counts.items() if count)
    return words or number_of(len(rows), "change")


class DifferenceModel(GroupedModel[DifferenceGroup, DifferenceRow]):
    """What differs and where; what came and what went has a sign and its colour."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(("What differs", "Where"), parent)

    def group_words(self, group: DifferenceGroup, column: int) -> str:
        """Say what a group is of, and how much differs."""
        return group.facts if column else group.name

    def row_words(self, row: DifferenceRow, column: int) -> str:
        """Say what differs, and where."""
        return row.where if column else f"{row.sign}  {row.what}"

    def colour(self, row: DifferenceRow | None, column: int) -> Any:
        """Return the colour of what came and what went."""
        theme = themes.current()
        if column:
            return theme.dim
        if row is None:
            return None
        return theme.good if row.sign == CAME else theme.bad if row.sign == WENT else theme.text


_OPENED_ROWS = 200
_WHERE_PX = 150
_WHERE_SHARE = 0.26


class ComparisonRequest(Value):
    """Two states to compare.

    Args:
        title: what the comparison is called.
        before, after: their numbers; the newest state for ``None``, and for both where another file is compared.
        is_step: it is what one state changed, not a comparison that somebody asked for.
    """

    title: str
    before: int | None
    after: int | None
    is_step: bool = False


class ComparedStates(Value, eq=False):
    """What came of it; ``marks`` are ``None`` where another file is compared, whose cells the matrix does not have."""

    asked: ComparisonRequest
    difference: Difference
    groups: tuple[DifferenceGroup, ...]
    marks: tuple[ElementDifference, ...] | None


class DifferencePane(QWidget):
    """Compares two states beside the window, and lists what differs.

    Signals:
        told: a ``ComparedStates``, or ``None`` while there is none.
        chosen: the ``DifferenceRow`` to go to.

    Args:
        jobs: where they are compared.
    """

    told = Signal(object)
    chosen = Signal(object)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._comparing = NewestJob(jobs, self)
        self.compared: ComparedStates | None = None
        self.model = DifferenceModel(self)
        self.view = _view(self.model)
        self.heading, self.words = Elided(kind="heading"), plain_label(kind="dim")
        self.words.setWordWrap(True)
        self.copying = KeyButton("Copy", kind="quiet")
        self.copying.setToolTip("Copy what differs as text (Ctrl+C)")
        self.copying.set_height(22)
        top = QHBoxLayout()
        top.setContentsMargins(0, 0, 0, 0)
        top.addWidget(self.heading, 1)
        top.addWidget(self.copying)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(3)
        layout.addLayout(top)
        layout.addWidget(self.words)
        layout.addWidget(self.view, 1)
        layout.addStretch()  # words without a difference stand at the top, not apart over the whole height
        self.view.clicked.connect(self._choose)
        self.view.activated.connect(self._choose)
        self.copying.clicked.connect(self.copy)
        copying = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self.view, self.copy)
        copying.setContext(Qt.ShortcutContext.WidgetShortcut)
        self.say("", "")

    def ask(self, workbench: Workbench, asked: ComparisonRequest) -> None:
        """Compare two states; what stood there before goes when the answer has come."""
        now = workbench.document

        def task(watch: Watch) -> ComparedStates:
            watch.step("Comparing states")
            before = _at(workbench, now, asked.before)
            watch.step("Comparing states")
            after = _at(workbench, now, asked.after)
            difference = compare(before, after)
            groups, marks = groups_of(difference, before, after), marks_of(difference, before, after)
            return ComparedStates(asked, difference, groups, marks)

        self._comparing.start("Comparing states", task, self._show)

    def ask_file(self, workbench: Workbench, path: Path) -> None:
        """Compare another project or export with the newest state, and with what lies beside the states."""
        now = workbench.document

        def task(watch: Watch) -> ComparedStates:
            watch.step(f"Reading {path.name}")
            before = opened(str(path))
            after = ComparisonSide("", now, workbench.path, workbench.kept.data.read())
            watch.step(f"Comparing {path.name}")
            difference = difference_of(before, after)
            groups = groups_of(difference, before.document, now, is_one_project=False)
            title = f"From {before.title} to now, state {now.state:,}"
            return ComparedStates(ComparisonRequest(title, None, None), difference, groups, None)

        self._comparing.start(f"Comparing {path.name}", task, self._show)

    def say(self, title: str, words: str) -> None:
        """Show words where a difference would stand."""
        self._comparing.cancel()
        self.heading.setText(title)
        self.words.setText(words)
        self.copying.setVisible(False)
        self.view.setVisible(False)
        if self.model.groups:
            self.model.show_groups(())
        if self.compared is not None:
            self.compared = None
            self.told.emit(None)

    def copy(self) -> None:
        """Copy what differs as text."""
        if self.compared is not None:
            QGuiApplication.clipboard().setText(as_text(self.compared.asked.title, self.compared.groups))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the words most of the room."""
        super().resizeEvent(event)
        self.view.header().resizeSection(1, min(themes.px(_WHERE_PX), round(self.width() * _WHERE_SHARE)))

    def _show(self, outcome: JobOutcome[ComparedStates]) -> None:
        if outcome.value is None:
            if outcome.error is not None:
                title, text = dialogs.words_of(outcome.error)
                self.say(title, text)
            return
        found = self.compared = outcome.value
        self.heading.setText(found.asked.title)
        self.words.setText(summary(found.difference))
        self.copying.setVisible(True)
        self.view.setVisible(bool(found.groups))
        self.model.show_groups(found.groups)
        rows = 0
        for at, group in enumerate(found.groups):
            rows += 1 + len(group.rows)
            if rows > _OPENED_ROWS and at:
                break
            self.view.expand(self.model.index(at, 0))
        self.told.emit(found)

    def _choose(self, index: QModelIndex) -> None:
        row = self.model.row_of(index)
        if isinstance(row, DifferenceRow) and row.leads_somewhere:
            self.chosen.emit(row)


def _at(workbench: Workbench, now: Document, state: int | None) -> Document:
    if state is None or state == now.state:
        return now
    if state > now.state:
        raise ProjectError(f"There is no state {state} yet.")
    return workbench.at_state(state)


def _view(model: DifferenceModel) -> BranchView:
    view = BranchView()
    view.setModel(model)
    view.setAccessibleName("What differs")
    view.setAllColumnsShowFocus(True)
    view.setHeaderHidden(True)
    view.setTextElideMode(Qt.TextElideMode.ElideRight)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    header = view.header()
    header.setStretchLastSection(False)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    header.setSectionResizeMode(1, QHeaderView.ResizeMode.Interactive)
    return view
