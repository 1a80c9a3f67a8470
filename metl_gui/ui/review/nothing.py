"""What the Review page says while nothing waits: what it is for, and where to go from there."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.ui.naming import number_of
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label

_NOTHING = (
    "Nothing waits for a decision",
    "When a new version of a schema loses mapped attributes, it stands here with a reason for each.",
)
_ONE_WAITS = "Its records are set aside, and none of them is lost. The card at the head of the list adds it."
_MORE_WAIT = "Their records are set aside, and none of them is lost. The cards at the head of the list add them."


class NothingWaits(QWidget):
    """Two lines and two ways on.

    Signals:
        wanted: the id of an action.
    """

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.title, self.text = plain_label(_NOTHING[0], "title"), plain_label(_NOTHING[1], "dim")
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
        for label in (self.title, self.text):
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

    def show_tasks(self, count: int) -> None:
        """Say that versions wait to be added, so many as there are cards at the head of the list."""
        title, text = _NOTHING
        if count:
            title = f"{number_of(count, 'version')} {'waits' if count == 1 else 'wait'} to be added"
            text = _ONE_WAITS if count == 1 else _MORE_WAIT
        self.title.setText(title)
        self.text.setText(text)

    def let_edit(self, is_for_editing: bool) -> None:
        """Offer the ways, or none while only reading is possible."""
        for button in self.buttons.values():
            button.setEnabled(is_for_editing)

    def _import(self) -> None:
        self.wanted.emit("import_schema")

    def _publish(self) -> None:
        self.wanted.emit("publish")
