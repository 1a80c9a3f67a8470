"""What stands in the window while no project is open: make one, open one, try the sample."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label, plain_tip


class StartPage(QWidget):
    """The first page.

    Signals:
        new_wanted, open_wanted, sample_wanted, registry_wanted: a button was pressed.
        recent_wanted: path of a recent project.
    """

    new_wanted = Signal()
    open_wanted = Signal()
    sample_wanted = Signal()
    registry_wanted = Signal()
    recent_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        title, text = QLabel("METL Workbench"), QLabel(_ABOUT)
        title.setProperty("kind", "figure")
        text.setProperty("kind", "dim")
        text.setWordWrap(True)
        text.setMinimumWidth(520)
        self.sample = KeyButton("Open the sample project", kind="primary")
        self.open = KeyButton("Open a project…", "Ctrl+O")
        self.new = KeyButton("New project…", "Ctrl+N")
        self.registry = KeyButton("Import from a registry…", "Ctrl+Shift+I")
        self.recent: list[KeyButton] = []
        self._recents = QVBoxLayout()
        self._recents.setSpacing(2)
        column = QVBoxLayout()
        column.setSpacing(14)
        column.addStretch(1)
        column.addWidget(title)
        column.addWidget(text)
        buttons = QHBoxLayout()
        buttons.setSpacing(10)
        for button in (self.sample, self.open, self.new, self.registry):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column.addLayout(buttons)
        column.addSpacing(10)
        column.addLayout(self._recents)
        hint = QLabel("Or drop files anywhere: a project, schemas, a mapping table, messages. They are only looked at.")
        hint.setProperty("kind", "small")
        column.addSpacing(10)
        column.addWidget(hint)
        column.addStretch(1)
        row = QHBoxLayout(self)
        row.addStretch(2)
        row.addLayout(column)
        row.addStretch(3)
        self.sample.clicked.connect(self.sample_wanted)
        self.open.clicked.connect(self.open_wanted)
        self.new.clicked.connect(self.new_wanted)
        self.registry.clicked.connect(self._want_registry)

    def _want_registry(self) -> None:
        self.registry_wanted.emit()

    def show_keys(self, keys: dict[str, str]) -> None:
        """Show the keys that actions have now, by the actions' ids."""
        for button, id_ in ((self.open, "open"), (self.new, "new"), (self.registry, "import_registry")):
            button.key = keys[id_]
            button.updateGeometry()

    def show_recent(self, paths: list[Path]) -> None:
        """List recent projects; missing ones cannot be pressed."""
        while (item := self._recents.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self.recent = []
        if paths:
            heading = QLabel("Recent projects")
            heading.setProperty("kind", "panelTitle")
            self._recents.addWidget(heading)
        for path in paths:
            button = KeyButton(path.stem, kind="link")
            button.setToolTip(plain_tip(str(path)))
            button.setEnabled(path.is_file())
            button.setObjectName(str(path))
            button.clicked.connect(self._pressed)
            line = QHBoxLayout()
            folder = str(path.parent) if path.is_file() else f"{path.parent}: it is not there any more"
            where = plain_label(folder, "small")
            holder = QWidget()
            holder.setLayout(line)
            line.setContentsMargins(0, 0, 0, 0)
            line.addWidget(button)
            line.addWidget(where)
            line.addStretch(1)
            self._recents.addWidget(holder)
            self.recent.append(button)

    def _pressed(self) -> None:
        button = self.sender()
        if button is not None:
            self.recent_wanted.emit(Path(button.objectName()))


_ABOUT = (
    "Map the schemas of many services to one canonical data model, keep the mapping when they change, "
    "and run it on Spark. The sample is a small bank with real change messages and one schema version that waits."
)
