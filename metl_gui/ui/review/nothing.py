"""What the Review page says while nothing waits: what it is for, and where to go from there."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label


class NothingWaits(QWidget):
    """Two lines and two ways on.

    Signals:
        wanted: the id of an action.
    """

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        title = plain_label("Nothing waits for a decision", "title")
        text = plain_label(
            "When a new version of a schema loses mapped attributes, it stands here with a reason for each.", "dim"
        )
        self.buttons = {
            "import_schema": KeyButton("Import extraction schemas…"),
            "publish": KeyButton("Publish this state…"),
        }
        self.buttons["import_schema"].clicked.connect(self._import)
        self.buttons["publish"].clicked.connect(self._publish)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        for button in self.buttons.values():
            row.addWidget(button)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        for label in (title, text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            layout.addWidget(label)
        layout.addSpacing(8)
        layout.addLayout(row)
        layout.addStretch(1)

    def show_keys(self, keys: dict[str, str]) -> None:
        """Show the keys that actions have now, by the actions' ids."""
        for id_, button in self.buttons.items():
            button.key = keys.get(id_, "")
            button.updateGeometry()

    def let_edit(self, is_for_editing: bool) -> None:
        """Offer the ways, or none while only reading is possible."""
        for button in self.buttons.values():
            button.setEnabled(is_for_editing)

    def _import(self) -> None:
        self.wanted.emit("import_schema")

    def _publish(self) -> None:
        self.wanted.emit("publish")
