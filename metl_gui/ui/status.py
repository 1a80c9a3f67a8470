"""The status bar: the cell under the pointer, what waits, the state, the running job."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QSizePolicy, QStatusBar, QWidget

from metl_gui.core.document import Document
from metl_gui.ui.jobs import Job
from metl_gui.ui.pill import KeyButton
from metl_gui.workbench.progress import Progress


class Status(QStatusBar):
    """Shows facts; the only control stops the running job."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.place = QLabel()
        self.place.setTextFormat(Qt.TextFormat.RichText)
        self.place.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.job_words = QLabel()
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(120)
        self.stop = KeyButton("Stop", kind="link")
        self.stop.set_height(20)
        self.blocks, self.state, self.mode = QLabel(), QLabel(), QLabel()
        self.addWidget(self.place, 1)
        for widget in (self.job_words, self.bar, self.stop, self.mode, self.blocks, self.state):
            self.addPermanentWidget(widget)
        self._job: Job | None = None
        self.stop.clicked.connect(self._stop)
        self.show_job(None)

    def show_place(self, words: str) -> None:
        """Show the full paths of what is pointed at or selected."""
        self.place.setText(words)
        self.place.setToolTip(words)

    def show_document(self, document: Document | None, waiting: int, is_read_only: bool) -> None:
        """Show counts and state."""
        if document is None:
            for label in (self.blocks, self.state, self.mode):
                label.clear()
            return
        blocks = document.matrix.block_count
        ones = document.matrix.ones
        words = f"{document.matrix.confirmed:,} of {blocks:,} block{'' if blocks == 1 else 's'} confirmed"
        self.blocks.setText(f"{ones:,} element{'' if ones == 1 else 's'} · {words}")
        self.blocks.setToolTip(f"{waiting} decisions wait")
        self.state.setText(f"State {document.state}")
        self.mode.setText("read only" if is_read_only else "")

    def show_job(self, job: Job | None) -> None:
        """Show the progress of a job, or none."""
        if self._job is not None and job is not self._job:
            self._job.progressed.disconnect(self._progress)
        if job is not None and job is not self._job:
            job.progressed.connect(self._progress)
            self.job_words.setText(f"{job.title}…")
            self.bar.setRange(0, 0)
        self._job = job
        for widget in (self.job_words, self.bar, self.stop):
            widget.setVisible(job is not None)

    def _progress(self, progress: Progress) -> None:
        # The bar has no numbers beside it, so it needs no unit.
        self.job_words.setText(progress.text.removesuffix("bytes").rstrip(":; "))
        if progress.total:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(1000 * progress.done / progress.total))

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()
