"""One dialog over all export formats: what each is, its options, what it cannot say, and how the writing goes.

``SaysPane`` has what an export cannot say, one sentence below the other, to be read and copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QItemSelectionModel, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QScrollArea, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.progress import Progress
from metl_gui.core.project.named_states import NamedState
from metl_gui.ui.exports.form import ExportForm
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.two_line_list import LineModel, TwoLines, line_view
from metl_gui.ui.widgets.window_words import in_window
from metl_gui.workbench.exports.files import ExportResult, export_published
from metl_gui.workbench.exports.format_spec import Export
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.session import Workbench


class SaysPane(QWidget):
    """A column of sentences."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sentences: tuple[str, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)

    def show_sentences(self, sentences: Sequence[str]) -> None:
        """Show other sentences."""
        self.sentences = tuple(sentences)
        while (item := self._column.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        for sentence in self.sentences:
            label = plain_label(sentence, "dim", self)
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._column.addWidget(label)


_LIST_PX = 340
_SIZE = (980, 600)
_OPENED = (".html", ".xlsx")
_BEFORE, _AFTER = "What it cannot say", "What it does not say"


class ExportDialog(FittedDialog):
    """Exports a published state in one format after another, until it is closed.

    Signals:
        exported: an ``ExportResult``, once something was written.

    Args:
        workbench: the open project.
        states: its published states, the live one first.
        jobs: where it is written.
        folder: where files go unless somebody says otherwise.
        format_name: the format that is chosen at first.
    """

    exported = Signal(object)

    def __init__(
        self,
        workbench: Workbench,
        states: Iterable[NamedState],
        jobs: Jobs,
        folder: Path,
        format_name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export the matrix")
        self._workbench, self._writing = workbench, NewestJob(jobs, self)
        self._is_writing = False
        self._written: set[Path] = set()
        self._result: ExportResult | None = None
        self.model: LineModel[Export] = LineModel(self)
        self.formats = line_view(self.model, "Formats")
        self.model.show_rows([(_row(export), export) for export in EXPORTS.values()])
        self.title = plain_label(kind="heading")
        self.form = ExportForm(list(states), folder, workbench.path.stem)
        self.says_title, self.says = plain_label(_BEFORE, "heading"), SaysPane()
        self.outcome = plain_label()
        self.open_folder, self.open_file = KeyButton("Open folder", "Ctrl+O"), KeyButton("Open it")
        self.page = QScrollArea()
        self.bar, self.words = QProgressBar(), Elided("", "small")
        self.do, self.leave = KeyButton("Export", "Ctrl+Enter", "primary"), KeyButton("Close", "Esc")
        self._build()
        self._connect()
        self._choose(format_name)
        self.formats.setFocus()

    @property
    def chosen(self) -> Export:
        """The format that is shown."""
        return self.model.at(self.formats.currentIndex()) or next(iter(EXPORTS.values()))

    def accept(self) -> None:
        """Write it."""
        path = self.form.path
        if self._is_writing or path is None or not self._may_replace(path):
            return
        export, workbench, choices = self.chosen, self._workbench, self.form.choices
        state = self.form.wanted_state
        self._show_result(None)
        self._set_writing(True)
        job = self._writing.start(
            f"Exporting {export.name}",
            lambda watch: export_published(workbench, export, path, state, choices, watch),
            self._end,
        )
        job.progressed.connect(self._tell)

    def reject(self) -> None:
        """Stop what is being written, or close."""
        if self._is_writing:
            self._writing.cancel()
            self._set_writing(False)
            self.words.setText("Stopped; nothing was written.")
            return
        super().reject()

    def done(self, result: int) -> None:
        """Write nothing any more."""
        self._writing.cancel()
        super().done(result)

    def _may_replace(self, path: Path) -> bool:
        """Ask before a file goes that this dialog has not written; folders are replaced only when they are exports."""
        if path in self._written or self.chosen.is_folder or not path.is_file():
            return True
        text = f"The export takes its place in {path.parent}."
        answers = [("replace", "Replace it"), ("keep", "Keep it")]
        return dialogs.ask(f"{path.name} is there already", text, answers, self) == "replace"

    def _end(self, outcome: JobOutcome[ExportResult]) -> None:
        self._set_writing(False)
        if outcome.value is not None:
            self._written.add(outcome.value.path)
            self._show_result(outcome.value)
            self.open_folder.setFocus()
            self.page.ensureWidgetVisible(self.outcome)
            self.exported.emit(outcome.value)
        elif outcome.error is not None:
            dialogs.tell(outcome.error, self)
        else:
            self.words.setText("Stopped; nothing was written.")

    def _tell(self, progress: Progress) -> None:
        self.words.setText(progress.text)
        self.bar.setRange(0, progress.total or 0)
        self.bar.setValue(progress.done)

    def _set_writing(self, is_writing: bool) -> None:
        self._is_writing = is_writing
        self.bar.setRange(0, 0)
        self.bar.setVisible(is_writing)
        self.words.setText("")
        self.formats.setEnabled(not is_writing)
        self.form.setEnabled(not is_writing)
        self.leave.setText("Stop" if is_writing else "Close")
        self.leave.updateGeometry()
        self._say_whether()

    def _show_result(self, result: ExportResult | None) -> None:
        self._result = result
        for widget in (self.outcome, self.open_folder):
            widget.setVisible(result is not None)
        self.open_file.setVisible(result is not None and result.path.suffix in _OPENED)
        self.says_title.setText(_BEFORE if result is None else _AFTER)
        sentences = self.chosen.limits if result is None else result.says
        self.says.show_sentences(
            [in_window(each) for each in sentences] or ["Nothing: it holds all that there is to say."]
        )
        if result is not None:
            self.outcome.setText(_result_words(result))

    def _choose(self, name: str) -> None:
        names = list(EXPORTS)
        index = self.model.index(names.index(name) if name in names else 0)
        self.formats.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def _show_format(self) -> None:
        export = self.chosen
        self.title.setText(export.title)
        self.form.show_format(export)
        self._show_result(None)
        self.words.setText("")
        self._say_whether()

    def _say_whether(self) -> None:
        self.do.setEnabled(not self._is_writing and self.form.path is not None)

    def _open_folder(self) -> None:
        if self._result is not None:
            path = self._result.path
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path if path.is_dir() else path.parent)))

    def _open_file(self) -> None:
        if self._result is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._result.path)))

    def _connect(self) -> None:
        self.formats.selectionModel().currentChanged.connect(self._show_format)
        self.form.changed.connect(self._say_whether)
        self.do.clicked.connect(self.accept)
        self.leave.clicked.connect(self.reject)
        self.open_folder.clicked.connect(self._open_folder)
        self.open_file.clicked.connect(self._open_file)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, self.accept)
        QShortcut(QKeySequence("Ctrl+O"), self, self._open_folder)

    def _build(self) -> None:
        self.formats.setFixedWidth(themes.px(_LIST_PX))
        for label in (self.title, self.outcome):
            label.setWordWrap(True)
        self.outcome.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        opening = QHBoxLayout()
        opening.addWidget(self.outcome, 1)
        for button in (self.open_file, self.open_folder):
            opening.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, themes.px(10), 0)
        column.setSpacing(12)
        column.addWidget(self.form)
        column.addLayout(opening)
        column.addWidget(self.says_title)
        column.addWidget(self.says)
        column.addStretch(1)
        self.page.setWidget(page)
        self.page.setWidgetResizable(True)
        self.page.setAccessibleName("Options of the format, and what it cannot say")
        self.page.setFrameShape(QFrame.Shape.NoFrame)
        right = QVBoxLayout()
        right.setSpacing(12)
        right.addWidget(self.title)
        right.addWidget(self.page, 1)
        upper = QHBoxLayout()
        upper.setSpacing(20)
        upper.addWidget(self.formats)
        upper.addLayout(right, 1)
        self.bar.setFixedWidth(themes.px(160))
        self.bar.setTextVisible(False)
        foot = QHBoxLayout()
        foot.addWidget(self.bar)
        foot.addWidget(self.words, 1)
        for button in (self.do, self.leave, self.open_folder, self.open_file):
            button.setAutoDefault(False)
        foot.addWidget(self.do)
        foot.addWidget(self.leave)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(12)
        layout.addLayout(upper, 1)
        layout.addLayout(foot)
        self.bar.hide()
        self.resize(themes.px(_SIZE[0]), themes.px(_SIZE[1]))


def _row(export: Export) -> TwoLines:
    return TwoLines(export.name, export.title, "folder" if export.is_folder else export.suffix)


def _result_words(result: ExportResult) -> str:
    held = f", {result.held:,} of them held until reviewed" if result.held else ""
    them = "it" if result.left_out == 1 else "them"
    out = f" {number_of(result.left_out, 'block')} left out, as nobody has confirmed {them}." if result.left_out else ""
    size = f"{result.size_bytes:,} bytes"
    return f"✓ {result.path.name}: {number_of(result.blocks, 'block')} of state {result.state:,}{held}; {size}.{out}"
