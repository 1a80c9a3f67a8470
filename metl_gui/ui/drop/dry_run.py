"""A dry run: what schemas that are not live yet would do, tried beside the window; nothing is changed.

``DryRunController`` tries them, ``DryRunSheet`` shows what was found. The functions put it into rows and words, as
plain values.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TypeAlias

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.progress import Watch
from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.context.app_context import AppContext
from metl_gui.ui.importing.commands import ImportCommands
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob, Task
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.dialogs import show_about
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import VERDICT_KINDS, KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.two_line_list import LineModel, TwoLines, line_view
from metl_gui.workbench.importing.dropped_files import likely_side
from metl_gui.workbench.importing.dry_run import LostSource, SourceDryRun, TriedBlock, try_reading
from metl_gui.workbench.importing.schema_import import read_sources
from metl_gui.workbench.importing.warehouse_effects import BrokenPart

Finding: TypeAlias = "LostSource | TriedBlock | BrokenPart"
_NAMED = 3


def heading_of(trial: SourceDryRun) -> str:
    """Say in one sentence what would happen."""
    if trial.is_all_refused:
        return "Nothing could be tried"
    if not trial.added:
        return "The project has all of these versions already"
    if not trial.blocks:
        parts = len(trial.warehouse)
        return f"{number_of(parts, 'part')} of warehouse tables would change" if parts else "Nothing would be lost"
    required = sum(lost.required for lost in trial.sources_lost)
    words = f"{number_of(len(trial.blocks), 'block')} would need a decision"
    if required:
        return f"{words}, {number_of(required, 'required attribute')} would stay empty"
    return words


def sentence_of(trial: SourceDryRun) -> str:
    """Say what was tried."""
    known = (
        f", {len(trial.unchanged):,} {'are' if len(trial.unchanged) != 1 else 'is'} known" if trial.unchanged else ""
    )
    refused = f", {number_of(len(trial.refused), 'source')} refused" if trial.refused else ""
    tried = f"{number_of(len(trial.added), 'new version')} tried against state {trial.state:,}{known}{refused}"
    return f"{tried}. Nothing was changed."


def rows_of(trial: SourceDryRun) -> tuple[tuple[TwoLines, Finding], ...]:
    """List what would be lost: sources first, required ones before the others, then blocks, then parts of tables."""
    return (
        *((_source_row(each), each) for each in trial.sources_lost),
        *((_block_row(each), each) for each in trial.blocks),
        *((_part_row(each), each) for each in trial.warehouse),
    )


def details_of(found: Finding) -> str:
    """Say all of one finding."""
    if isinstance(found, LostSource):
        need = "is required and" if found.required else "is optional and"
        feeds = "feed it" if len(found.fed_by) != 1 else "feeds it"
        return (
            f"{found.attribute} of {found.entity} {found.entity_version} {need} would have no source any more.\n"
            f"{', '.join(found.fed_by)} {feeds} today, with its newest version."
        )
    if isinstance(found, BrokenPart):
        return f"{found.part} {found.name} of the table {found.table}, warehouse model {found.model}\n{found.words}"
    return "\n".join(_block_details(found))


def text_of(trial: SourceDryRun) -> str:
    """Write everything as text, to be sent to somebody."""
    lines = [heading_of(trial), sentence_of(trial)]
    lines += [f"{each.name} {each.version}: new, {number_of(each.attributes, 'attribute')}" for each in trial.added]
    lines += [f"{each.source}: refused. {each.reason}" for each in trial.refused]
    for _, found in rows_of(trial):
        lines += ["", details_of(found)]
    return "\n".join(lines) + "\n"


def _source_row(lost: LostSource) -> TwoLines:
    title = f"{lost.entity} {lost.entity_version} · {lost.attribute}"
    facts = f"would lose its last source, {', '.join(lost.fed_by[:_NAMED])}"
    return TwoLines(title, facts, "required" if lost.required else "optional", "bad" if lost.required else "review")


def _part_row(part: BrokenPart) -> TwoLines:
    said = "no more rows" if part.breaks_table else part.part
    return TwoLines(f"{part.table} · {part.name}", part.words, said, "bad" if part.breaks_table else "review")


def _block_row(tried: TriedBlock) -> TwoLines:
    item, name = tried.entry, tried.entry.block
    title = f"{name.schema} {name.version} → {name.entity} {name.entity_version}"
    lost = [each.element.to_path for each in item.lost]
    parts = [f"would lose {', '.join(lost[:_NAMED])}"] if lost else []
    parts[-1:] = [f"{parts[-1]} and {len(lost) - _NAMED} more"] if len(lost) > _NAMED else parts
    changes = sum(not change.is_compatible for change in item.type_changes)
    parts += [number_of(changes, "type change")] if changes else []
    parts += [] if tried.was_confirmed else ["not confirmed today"]
    return TwoLines(title, " · ".join(parts), item.verdict, VERDICT_KINDS.get(item.verdict, "plain"))


def _block_details(tried: TriedBlock) -> Iterator[str]:
    item = tried.entry
    yield f"{item.block}: {item.verdict}"
    yield f"{number_of(len(item.kept), 'element')} would stay."
    for lost in item.lost:
        yield f"{lost.element.from_path} → {lost.element.to_path} would be lost: {lost.reason}."
    for change in item.type_changes:
        tail = "" if change.is_compatible else ", which is not read the same way"
        yield f"{change.path} would change from {change.before} to {change.after}{tail}."
    best = {proposal.lost: proposal for proposal in reversed(item.proposals)}
    for proposal in best.values():
        yield f"Perhaps {proposal.lost} is called {proposal.candidate} there: {proposal.reason}."
    if item.new_attributes:
        yield f"New: {', '.join(item.new_attributes)}."


_SIZE, _DETAILS_PX = (760, 560), 96


class DryRunSheet(FittedDialog):
    """What would be lost, one row each, and all of the current one below.

    Args:
        trial: what was found.
        side: the tree that was tried.
        why_not: why the versions cannot be added now, empty when they can.

    Signals:
        add_wanted: add the versions that were tried; connect it queued, so that the sheet is closed by then.
    """

    add_wanted = Signal(object)

    def __init__(self, trial: SourceDryRun, side: Side, why_not: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Only tried")
        self._trial, self._side = trial, side
        self.heading = plain_label(heading_of(trial), "title")
        self.sentence = plain_label(sentence_of(trial), "dim")
        self.model: LineModel[Finding] = LineModel(self)
        self.view = line_view(self.model, "What would be lost")
        self.details = plain_label()
        self.add = KeyButton("Add them now", kind="" if trial.blocks else "primary")
        self.add.setEnabled(bool(trial.added) and not why_not)
        self.add.setToolTip(why_not)
        self.copy = KeyButton("Copy as text")
        self.cancel = KeyButton("Close", "Esc")
        self._build()
        self.add.clicked.connect(self._add)
        self.copy.clicked.connect(self._copy)
        self.cancel.clicked.connect(self.reject)
        self.view.selectionModel().currentChanged.connect(self._show_details)
        self.model.show_rows(rows_of(trial))
        self._first()

    def _build(self) -> None:
        for label in (self.heading, self.sentence, self.details):
            label.setWordWrap(True)
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.details.setContentsMargins(12, 8, 12, 8)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(self.details)
        area.setAccessibleName("The chosen one in detail")
        foot = QHBoxLayout()
        foot.addWidget(self.copy)
        foot.addStretch(1)
        for button in (self.add, self.cancel):
            foot.addWidget(button)
        for button in (self.add, self.copy, self.cancel):
            button.setAutoDefault(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(self.heading)
        layout.addWidget(self.sentence)
        has_rows = bool(self._trial.blocks or self._trial.sources_lost or self._trial.warehouse)
        if has_rows:
            area.setMinimumHeight(themes.px(_DETAILS_PX))
            layout.addWidget(self.view, 4)
            layout.addWidget(area, 1)
            self.resize(*(themes.px(length) for length in _SIZE))
        else:
            self.details.setText("\n".join(f"{each.source}: {each.reason}" for each in self._trial.refused))
            layout.addWidget(area, 1)
            area.setVisible(bool(self._trial.refused))
            self.setMinimumWidth(themes.px(_SIZE[0] * 2 // 3))
        layout.addLayout(foot)

    def _first(self) -> None:
        if self.model.rows:
            flag = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.view.selectionModel().setCurrentIndex(self.model.index(0, 0), flag)
            self.view.setFocus()
        else:
            self.cancel.setFocus()

    def _show_details(self, index: QModelIndex) -> None:
        found = self.model.at(index)
        self.details.setText(details_of(found) if found is not None else "")

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(text_of(self._trial))

    def _add(self) -> None:
        self.accept()
        self.add_wanted.emit(self._side)


class DryRunController(QObject):
    """The dry runs of one window."""

    def __init__(self, context: AppContext, imports: ImportCommands) -> None:
        super().__init__(context.window)
        self._context, self._imports = context, imports
        self._trying = NewestJob(context.jobs, self)
        self._reading = ReaderResult()

    def ask_and_try(self) -> None:
        """Ask for schema files and try them."""
        folder = str(self._context.project.folder)
        names, _ = QFileDialog.getOpenFileNames(self._context.window, "Schemas to try, nothing is added", folder)
        if names:
            self.try_files([Path(name) for name in names])

    def try_files(self, paths: list[Path]) -> None:
        """Read files and try the versions in them."""
        aside = self._context.jobs.worker.call
        self._start(lambda watch: aside(partial(read_sources, tuple(paths), "auto"), watch))

    def try_reading(self, reading: ReaderResult, onto: Side | None = None) -> None:
        """Try versions that were read already, in the tree that is named or in the likelier one."""
        self._start(lambda _watch: reading, onto)

    def _start(self, read: Task[ReaderResult], onto: Side | None = None) -> None:
        document = self._context.project.value
        if self._context.project.workbench is None:
            return
        refused = self._context.project.refused_renames()

        def task(watch: Watch) -> tuple[ReaderResult, Side, SourceDryRun]:
            reading = read(watch)
            side = onto or likely_side(reading, document)
            return reading, side, try_reading(document, side, reading, refused, watch)

        self._trying.start("Trying schemas", task, self._show)

    def _show(self, outcome: JobOutcome[tuple[ReaderResult, Side, SourceDryRun]]) -> None:
        if outcome.error is not None:
            dialogs.tell(outcome.error, self._context.window)
        if outcome.value is None:
            return
        self._reading, side, trial = outcome.value
        why_not = self._context.project.why_not
        sheet = DryRunSheet(trial, side, why_not, self._context.window)
        sheet.add_wanted.connect(self._add, Qt.ConnectionType.QueuedConnection)
        show_about(self._context.project, sheet)

    def _add(self, side: Side) -> None:
        self._imports.add_schemas(side, self._reading)
