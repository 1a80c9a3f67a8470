"""The statements of a load, to be read."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label


class SqlDialog(FittedDialog):
    """A text that can be read, searched by eye and copied.

    Args:
        model: name of the warehouse model.
        lines: of its statements.
    """

    def __init__(self, model: str, lines: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"SQL of the plan: {model}")
        self.text = QPlainTextEdit("\n".join(lines))
        self.text.setReadOnly(True)
        self.text.setFont(themes.mono())
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName("Statements")
        self.copy, self.close_button = KeyButton("Copy"), KeyButton("Close", "Esc", "primary")
        self.copy.clicked.connect(self._copy)
        self.close_button.clicked.connect(self.reject)
        steps = sum(line.startswith("--") for line in lines)
        heading = plain_label(
            f"{steps:,} steps of a load into DuckDB, for messages that have everything in them", "dim"
        )
        heading.setWordWrap(True)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.copy)
        buttons.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 14)
        layout.setSpacing(10)
        layout.addWidget(heading)
        layout.addWidget(self.text, 1)
        layout.addLayout(buttons)
        self.resize(themes.px(820), themes.px(600))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())
