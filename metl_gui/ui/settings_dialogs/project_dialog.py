"""The settings of the whole project, and the name of the person who works in this window."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label

_SECOND = (
    "With a second person, blocks stay unconfirmed, and out of production, until somebody who has no part in them "
    "confirms them. This holds for the project, whoever opens it, and is not undone by undo."
)
_WIDTH_PX = 600
_CONFIRMS = ("Whoever maps it has confirmed it", "A second person confirms it")


class ProjectSettingsDialog(FittedDialog):
    """Asks for both.

    Signals:
        wanted: (name of the person, whether a second person confirms).

    Args:
        who: the person now.
        login: who it is without a name.
        needs_second: whether a second person confirms now, ``None`` where that cannot be changed.
    """

    wanted = Signal(object)

    def __init__(self, who: str, login: str, needs_second: bool | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Project settings")
        self.name = QLineEdit("" if who == login else who)
        self.name.setPlaceholderText(login)
        self.name.setAccessibleName("Your name")
        self.confirms = ThemedComboBox()
        self.confirms.setAccessibleName("What is mapped by hand")
        self.confirms.addItems(_CONFIRMS)
        self.confirms.setCurrentIndex(int(bool(needs_second)))
        self.confirms.setEnabled(needs_second is not None)
        self.do, self.cancel = KeyButton("Set it", "Enter", "primary"), KeyButton("Cancel", "Esc")
        self._build()
        self.do.clicked.connect(self.accept)
        self.cancel.clicked.connect(self.reject)

    def accept(self) -> None:
        """Tell what was given."""
        self.wanted.emit((self.name.text().strip(), self.confirms.currentIndex() == 1))
        super().accept()

    def _build(self) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(14)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignRight)
        for title, editor, words in (
            (
                "Your name",
                self.name,
                "Stands at every edit, comment and publication made in this window, in every project you open.",
            ),
            (
                "What is mapped by hand",
                self.confirms,
                _SECOND,
            ),
        ):
            column = QVBoxLayout()
            column.setContentsMargins(0, 0, 0, 8)
            column.setSpacing(2)
            column.addWidget(editor)
            said = plain_label(words, "small")
            said.setWordWrap(True)
            column.addWidget(said)
            label = plain_label(title)
            label.setBuddy(editor)
            label.setContentsMargins(0, 0, 0, 0)
            form.addRow(label, column)
        self.do.setDefault(True)
        self.cancel.setAutoDefault(False)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.do)
        foot.addWidget(self.cancel)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(plain_label("Project settings", "title"))
        layout.addLayout(form)
        layout.addStretch(1)
        layout.addLayout(foot)
        width = themes.px(_WIDTH_PX)
        self.resize(width, layout.totalHeightForWidth(width))
