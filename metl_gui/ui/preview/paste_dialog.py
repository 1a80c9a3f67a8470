"""A message of one's own: pasted, judged while it is typed by the rules that every message meets, used as a sample."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from metl_gui.engine.kernel.outcomes import Fate
from metl_gui.ui import theme as themes
from metl_gui.ui.pause import pause
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.workbench.preview import Preview, Previews
from metl_gui.workbench.sample_cache import MOST_SAMPLE_BYTES

_WAIT_MS = 120
_SIZE = (620, 420)


class PasteDialog(QDialog):
    """Takes one message.

    Args:
        previews: judges the message by the document on the screen.

    Signals:
        used: the message as bytes.
    """

    used = Signal(object)

    def __init__(self, previews: Previews, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Paste a message")
        self._previews = previews
        self.box = QPlainTextEdit()
        self.box.setFont(themes.mono())
        self.box.setTabChangesFocus(True)
        self.box.setAccessibleName("Message")
        self.box.setPlaceholderText("An envelope, a row, a CloudEvent, or a record with topic, key and value")
        self.verdict = plain_label(kind="dim")
        self.verdict.setWordWrap(True)
        self.verdict.setMinimumHeight(themes.px(38))
        self.use = KeyButton("Use as sample", kind="primary")
        self.cancel = KeyButton("Cancel", "Esc")
        heading = plain_label("Paste a message", "heading")
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.use)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(heading)
        layout.addWidget(self.box, 1)
        layout.addWidget(self.verdict)
        layout.addLayout(foot)
        self.resize(themes.px(_SIZE[0]), themes.px(_SIZE[1]))
        self._timer = pause(self, _WAIT_MS, self.judge)
        self.box.textChanged.connect(self._timer.start)
        self.use.clicked.connect(self._use)
        self.cancel.clicked.connect(self.reject)
        copied = QGuiApplication.clipboard().text()
        if copied.lstrip()[:1] in ("{", "[") and len(copied) <= MOST_SAMPLE_BYTES:
            self.box.setPlainText(copied)
        self.judge()
        self.box.setFocus()

    @property
    def raw(self) -> bytes:
        """The message."""
        return self.box.toPlainText().strip().encode("utf-8", "surrogatepass")

    def judge(self) -> None:
        """Say what would become of the message, or why it is none."""
        self._timer.stop()
        raw = self.raw
        if not raw:
            self._say("Nothing is kept before it is used.", is_possible=False)
        elif len(raw) > MOST_SAMPLE_BYTES:
            self._say(f"A sample has at most {MOST_SAMPLE_BYTES >> 10:,} kB.", is_possible=False)
        else:
            found = self._previews.of(raw)
            self._say(_words(found), is_possible=found.reason not in ("malformed", "undecodable"))

    def _say(self, words: str, *, is_possible: bool) -> None:
        self.verdict.setText(words)
        self.use.setEnabled(is_possible)

    def _use(self) -> None:
        self.judge()
        if self.use.isEnabled():
            raw = self.raw
            self.accept()
            self.used.emit(raw)


def _words(found: Preview) -> str:
    where = f"{found.schema} {found.version}".strip()
    head = " · ".join(part for part in (where, found.op_words) if part)
    entities = ", ".join(dict.fromkeys(f"{each.entity} {each.version}" for each in found.messages))
    tail = f" {entities}." if found.fate is Fate.MAPPED else ""
    return f"{head}. {found.words}{tail}" if head else found.words
