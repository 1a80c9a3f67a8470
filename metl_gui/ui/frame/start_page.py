"""What stands in the window while no project is shown: the start page, and the opening of the first project.

The start page offers to make a project, open one or try the sample. The opening page has the project's name, how far it
is, and a way back.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from metl_gui.core.progress import Progress
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.dock import Scrolled
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton, ValueButton
from metl_gui.ui.widgets.plain_text import plain_label, plain_tip


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
        self.sample = KeyButton("Open the sample project", kind="primary")
        self.open = KeyButton("Open a project…", "Ctrl+O")
        self.new = KeyButton("New project…", "Ctrl+N")
        self.registry = KeyButton("Import from a registry…", "Ctrl+Shift+I")
        self.recent: list[ValueButton] = []
        self._recents = QVBoxLayout()
        self._recents.setSpacing(2)
        column = QVBoxLayout()
        column.setSpacing(14)
        column.addStretch(1)
        column.addWidget(title)
        column.addWidget(text)
        self._buttons = QGridLayout()
        self._buttons.setSpacing(10)
        column.addLayout(self._buttons)
        column.addSpacing(10)
        column.addLayout(self._recents)
        hint = QLabel("Or drop files anywhere: a project, schemas, a mapping table, messages. They are only looked at.")
        hint.setProperty("kind", "small")
        column.addSpacing(10)
        column.addWidget(hint)
        column.addStretch(1)
        hint.setWordWrap(True)
        inside = QWidget()
        inside.setObjectName("page")
        row = QHBoxLayout(inside)
        row.addStretch(2)
        row.addLayout(column, 8)
        row.addStretch(3)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(Scrolled(inside, gives_way=True))
        self._place_buttons(4)
        self.sample.clicked.connect(self.sample_wanted)
        self.open.clicked.connect(self.open_wanted)
        self.new.clicked.connect(self.new_wanted)
        self.registry.clicked.connect(self._want_registry)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put as many buttons into a line as have room."""
        super().resizeEvent(event)
        room = self.width() * 8 // 13
        self._place_buttons(next((count for count in (4, 2) if self._width_of(count) <= room), 1))

    def _width_of(self, count: int) -> int:
        buttons = (self.sample, self.open, self.new, self.registry)
        columns = [max(each.sizeHint().width() for each in buttons[at::count]) for at in range(count)]
        return sum(columns) + 10 * (count - 1)

    def _place_buttons(self, count: int) -> None:
        for at, button in enumerate((self.sample, self.open, self.new, self.registry)):
            self._buttons.addWidget(button, at // count, at % count, Qt.AlignmentFlag.AlignLeft)
        for column in range(5):
            self._buttons.setColumnStretch(column, int(column == count))

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
            button = ValueButton(path, path.stem, kind="link")
            button.setToolTip(plain_tip(str(path)))
            button.setEnabled(path.is_file())
            button.chosen.connect(self.recent_wanted)
            line = QHBoxLayout()
            folder = str(path.parent) if path.is_file() else f"{path.parent}: it is not there any more"
            where = Elided(folder, "small", is_snug=True)
            holder = QWidget()
            holder.setLayout(line)
            line.setContentsMargins(0, 0, 0, 0)
            line.addWidget(button)
            line.addWidget(where)
            line.addStretch(1)
            self._recents.addWidget(holder)
            self.recent.append(button)


_ABOUT = (
    "Map the schemas of many services to one canonical data model, keep the mapping when they change, "
    "and run it on Spark. The sample is a small bank with real change messages and one schema version that waits."
)


class OpeningPage(QWidget):
    """Shows the progress of one job.

    Signals:
        cancel_wanted: it was given up.
    """

    cancel_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = Elided(kind="title")
        self.words = plain_label(kind="dim")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of opening")
        self.cancel = KeyButton("Cancel", "Esc")
        self.cancel.clicked.connect(self.cancel_wanted)
        self.cancel.setShortcut("Esc")
        holder = self._holder = QWidget()
        column = QVBoxLayout(holder)
        column.setSpacing(10)
        for widget in (self.title, self.bar, self.words):
            column.addWidget(widget)
        row = QHBoxLayout()
        row.addWidget(self.cancel)
        row.addStretch(1)
        column.addLayout(row)
        middle = QVBoxLayout(self)
        middle.addStretch(2)
        middle.addWidget(holder, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addStretch(3)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take no more width than there is."""
        super().resizeEvent(event)
        self._holder.setFixedWidth(min(themes.px(420), max(self.width() - 24, 0)))

    def minimumSizeHint(self) -> QSize:
        """Ask for no width."""
        return QSize(0, super().minimumSizeHint().height())

    def show_name(self, name: str) -> None:
        """Say what is being opened; how far it is comes later."""
        self.title.setText(f"Opening {name}")
        self.words.setText("Reading the project file")
        self.bar.setRange(0, 0)

    def show_progress(self, progress: Progress) -> None:
        """Say how far it is."""
        self.words.setText(progress.text)
        if progress.total:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(1000 * progress.done / progress.total))
        else:
            self.bar.setRange(0, 0)
