"""What is loaded into which target, how far a load is, and what it and an audit found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.counted import number_of
from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.progress import Progress
from metl_gui.core.runs.run_spec import RunPolicy, SinkSpec, SourceSpec
from metl_gui.ui.run.head import show_share
from metl_gui.ui.warehouse.target_mode import TargetMode
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton, Pill
from metl_gui.ui.widgets.plain_text import plain_tip, wrapped_label
from metl_gui.ui.widgets.two_line_list import LineModel, TwoLines, line_view
from metl_gui.values import Value
from metl_gui.workbench.runs.mapping_run import RunRequest

if TYPE_CHECKING:
    from metl_gui.workbench.loads.warehouse_loads import AuditReport

_HOLDS = ("Captured changes", "Canonical messages")
_MESSAGES = 1
_MOST_LETTERS = 2_000
_Said: TypeAlias = tuple[str, str, str]
"""What a pill says, its kind, and the words below it."""
Place: TypeAlias = tuple[str, str]
"""A target as it is written, and the mode of the runs that it takes."""


class FoundRows(Value):
    """Rows of which an audit found something.

    Args:
        table: where.
        keys: business keys or grains of some of them.
    """

    table: str
    keys: tuple[tuple[str, ...], ...]


class LoadPanel(Surface):
    """Fields, buttons and results.

    Signals:
        load_wanted, plan_wanted, stop_wanted, audit_wanted, rebuild_wanted: a button was pressed.
        followed: the name of a table in what was found, or ``FoundRows`` of an audit.
        offered: other buttons can be pressed than before.
        held: a target, as it is written, that was loaded or rebuilt.
    """

    load_wanted = Signal()
    plan_wanted = Signal()
    stop_wanted = Signal()
    audit_wanted = Signal()
    rebuild_wanted = Signal()
    followed = Signal(object)
    offered = Signal()
    held = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", (340, 600), parent, share=(0.28, 1.0))
        self.source, self.target = QLineEdit(), QLineEdit()
        self.source.setPlaceholderText("A file, a folder, or topics")
        self.target.setPlaceholderText("duckdb:FILE")
        self.holds = ThemedComboBox()
        self.holds.addItems(list(_HOLDS))
        self.holds.setAccessibleName("What the source holds")
        self.file = KeyButton("File…", kind="link")
        self.folder = KeyButton("Folder…", kind="link")
        self.into = KeyButton("File…", kind="link")
        for button, name in ((self.file, "Choose a file"), (self.folder, "Choose a folder"), (self.into, "Choose")):
            button.setAccessibleName(f"{name} to load" if button is not self.into else "Choose the file of the target")
        self.mode = TargetMode()
        self.load = KeyButton("Load", kind="primary")
        self.plan = KeyButton("Plan")
        self.plan.setToolTip("Find out what a load would do; nothing is written")
        self.stop = KeyButton("Stop")
        self.audit = KeyButton("Audit")
        self.rebuild = KeyButton("Rebuild")
        self.rebuild.setToolTip("Make the tables anew from the histories, after the model was changed")
        self.pill, self.words = Pill(), wrapped_label("small")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the load")
        self.found: LineModel[str | FoundRows] = LineModel(self)
        self._found_in, self._told = self.place, ""
        self.results = line_view(self.found, "What was found, by table")
        self._is_busy = self._has_model = False
        self._build()
        self.file.clicked.connect(self._choose_file)
        self.folder.clicked.connect(self._choose_folder)
        self.into.clicked.connect(self._choose_target)
        self.load.clicked.connect(self.load_wanted)
        self.plan.clicked.connect(self.plan_wanted)
        self.stop.clicked.connect(self.stop_wanted)
        self.audit.clicked.connect(self.audit_wanted)
        self.rebuild.clicked.connect(self.rebuild_wanted)
        for line in (self.source, self.target):
            line.textChanged.connect(self._offer)
        self.target.textChanged.connect(self._forget)
        self.mode.changed.connect(self._forget)
        self.results.activated.connect(self._follow)
        self.results.clicked.connect(self._follow)
        self.clear()

    def request(self, spark: str, state: int | None) -> RunRequest:
        """Return the run that the fields ask for.

        Args:
            spark: where Spark is.
            state: an earlier one that is looked at; ``None`` for now. Production maps with the state that it says.
        """
        live = self.mode.live
        policy, state = RunPolicy(mode=self.mode.mode), state if live is None else live.state
        address = self.source.text().strip()
        if self.holds.currentIndex() == _MESSAGES:
            source = SourceSpec(address=address, holds="messages")
        else:
            source = SourceSpec(address=address)
        return RunRequest(source, SinkSpec(), policy=policy, spark=spark, state=state)

    @property
    def target_text(self) -> str:
        """The target as it is written; a path alone is a file of DuckDB."""
        text = self.target.text().strip()
        return text if not text or text.startswith(("duckdb:", "postgresql:", "delta:", "@")) else f"duckdb:{text}"

    @property
    def place(self) -> Place:
        """The target as it is written, and which runs it takes."""
        return self.target_text, self.mode.mode

    # what is shown

    def show_model(self, *, has_model: bool) -> None:
        """Offer loads where there is a model."""
        self._has_model = has_model
        self._offer()

    def show_busy(self, is_busy: bool) -> None:
        """Offer to stop while a run goes on, else to load."""
        had_focus = self.load.hasFocus() or self.stop.hasFocus()
        self._is_busy = is_busy
        self.mode.setEnabled(not is_busy)
        self.load.setVisible(not is_busy)
        self.stop.setVisible(is_busy)
        self.bar.setVisible(False)
        self._offer()
        if had_focus:
            (self.stop if is_busy else self.load).setFocus()

    def show_progress(self, progress: Progress) -> None:
        """Say how far a load or an audit is."""
        self.say(self.pill.text() or "loading", "accent", progress.text)
        self.bar.setVisible(True)
        show_share(self.bar, progress.done / progress.total if progress.total else -1.0)

    def say(self, state: str, kind: str, words: str) -> None:
        """Say how things are, in a pill and in words."""
        self.pill.say(state, kind)
        self.words.setText(words[:_MOST_LETTERS])
        self.words.setToolTip(plain_tip(words[:_MOST_LETTERS]))
        self.bar.setVisible(False)

    def show_load(self, load: LoadReport, place: Place | None = None, *, is_dry: bool = False) -> None:
        """Show what a load did, or would do.

        Args:
            load: what it did.
            place: its target, which may be another one than is chosen now.
            is_dry: nothing was written.
        """
        rows = [(TwoLines(name, count.words), name) for name, count in load.tables.items()]
        self._tell(_load_words(load, is_dry=is_dry), rows, place)
        if not is_dry:
            target, _ = place or self.place
            self.held.emit(target)

    def show_audit(self, report: AuditReport, place: Place | None = None) -> None:
        """Show what an audit found.

        Args:
            report: what it found.
            place: its target, which may be another one than is chosen now.
        """
        said = "is right", "good", "Every row follows from the histories, and every rule holds."
        if report.problems:
            words = "Rules that are broken, and how often. Choose one to see its rows."
            said = number_of(len(report.problems), "problem"), "bad", words
        rows = []
        for one in report.problems:
            words = _row_words(one.table, one.keys, one.shown)
            rows.append((TwoLines(one.rule, words, f"{one.rows:,}", "bad"), FoundRows(one.table, one.keys)))
        self._tell(said, rows, place)

    def _tell(self, said: _Said, rows: Sequence[tuple[TwoLines, str | FoundRows]], place: Place | None) -> None:
        """Say what came of something, with its rows while its target is chosen, else with the name of that."""
        state, kind, words = said
        if place is None or place == self.place:
            self.say(state, kind, words)
            self._show_results(rows)
            return
        self.say(state, kind, f"{place[0]}: {words} Another target is chosen now.")
        self._show_results(())

    def clear(self) -> None:
        """Forget what was found."""
        self.say("", "plain", "Nothing was loaded yet." if self._has_model else "")
        self.results.setVisible(False)
        self.show_busy(self._is_busy)

    def _forget(self) -> None:
        """Show nothing any more that was found in another target than the fields say now."""
        if self._told and self._found_in != self.place:
            self.found.show_rows(())
            self.results.setVisible(False)
            if self.pill.text() == self._told:
                self.say("", "plain", "")
            self._told = ""

    def _show_results(self, rows: Sequence[tuple[TwoLines, str | FoundRows]]) -> None:
        self._found_in, self._told = self.place, self.pill.text()
        self.found.show_rows(rows)
        self.results.setVisible(bool(rows))

    def _follow(self, index: QModelIndex) -> None:
        found = self.found.at(index)
        if found:
            self.followed.emit(found)

    def _offer(self) -> None:
        can = self._has_model and bool(self.target.text().strip()) and not self._is_busy
        before = self.load.isEnabled(), self.audit.isEnabled()
        for button in (self.audit, self.rebuild):
            button.setEnabled(can)
        for button in (self.load, self.plan):
            button.setEnabled(can and bool(self.source.text().strip()))
        if before != (self.load.isEnabled(), self.audit.isEnabled()):
            self.offered.emit()

    # choosing

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Messages to load", self._start())
        if path:
            self.source.setText(path)

    def _choose_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(self, "Folder of messages to load", self._start())
        if path:
            self.source.setText(path)

    def _choose_target(self) -> None:
        options = QFileDialog.Option.DontConfirmOverwrite
        here = self.target_text.partition(":")[2]
        path, _ = QFileDialog.getSaveFileName(self, "File of the warehouse", here, "DuckDB (*.duckdb)", options=options)
        if path:
            self.target.setText(f"duckdb:{path}")

    def _start(self) -> str:
        found = Path(self.source.text().strip() or ".").expanduser()
        return str(found if found.is_dir() else found.parent)

    # building

    def _build(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 2, 12, 10)
        layout.setSpacing(4)
        layout.addLayout(_field("From", self.source, self.file, self.folder))
        layout.addWidget(self.source)
        layout.addWidget(self.holds)
        layout.addSpacing(4)
        layout.addLayout(_field("Target", self.target, self.into))
        layout.addWidget(self.target)
        layout.addWidget(self.mode)
        layout.addSpacing(8)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (self.load, self.stop):
            buttons.addWidget(button, 1)
        others = QHBoxLayout()
        others.setSpacing(8)
        for button in (self.plan, self.audit, self.rebuild):
            others.addWidget(button, 1)
        layout.addLayout(buttons)
        layout.addSpacing(2)
        layout.addLayout(others)
        layout.addSpacing(6)
        state = QHBoxLayout()
        state.setSpacing(8)
        state.addWidget(self.pill)
        state.addWidget(self.bar, 1)
        state.addStretch(0)
        layout.addLayout(state)
        layout.addWidget(self.words)
        layout.addWidget(self.results, 1)
        layout.addStretch(0)


def _field(words: str, line: QLineEdit, *links: KeyButton) -> QHBoxLayout:
    label = Elided(words, "small")
    line.setAccessibleName(words)
    row = QHBoxLayout()
    row.setSpacing(6)
    row.addWidget(label, 1)
    for link in links:
        link.set_height(20)
        row.addWidget(link)
    return row


def _load_words(load: LoadReport, *, is_dry: bool) -> _Said:
    if is_dry:
        return "planned", "accent", f"Nothing was written. {_message_words(load)}"
    if load.is_repeated:
        return "done before", "plain", f"Nothing was changed. {_message_words(load)}"
    if load.messages:
        return "loaded", "good", _message_words(load)
    return "rebuilt", "good", "The tables are those of the model."


def _row_words(table: str, keys: Sequence[Sequence[str]], shown: Sequence[str]) -> str:
    """Return a table with the key of a row of it that breaks a rule, or else what is shown of one."""
    if not keys:
        return " · ".join((table, *shown[:1]))
    return f"{table} {', '.join(keys[0])}{' and others' if len(keys) > 1 else ''}"


def _message_words(load: LoadReport) -> str:
    parts = [f"{load.appended:,} appended", f"{load.repeated:,} repeated", f"{load.set_aside:,} set aside"]
    if load.void:
        parts.insert(2, f"{load.void:,} void")
    waiting = f" Facts that wait for their members: {load.waiting:,}." if load.waiting else ""
    notes = "".join(f" {note}" for note in load.notes)
    return f"{number_of(load.messages, 'message')}: {', '.join(parts)}.{waiting}{notes}"
