"""Version tasks at the head of the review list: versions that messages showed and nobody has added yet."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from metl_gui.core.project.version_tasks import VersionTask, attribute_words
from metl_gui.ui.elided import Elided
from metl_gui.ui.naming import number_of
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label, plain_tip

_SHOWN = 2
_PATHS_IN_TIP = 12


class TaskStrip(QWidget):
    """One card for each task, the heaviest first; a few, and how many more there are.

    Signals:
        add_wanted: the ``VersionTask`` whose version is to be added.
        dismiss_wanted: the ``VersionTask`` that nobody wants.
        look_wanted: the ``VersionTask`` whose attributes and records are to be seen.
    """

    add_wanted = Signal(object)
    dismiss_wanted = Signal(object)
    look_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tasks: tuple[VersionTask, ...] = ()
        self.buttons: list[KeyButton] = []
        self._can_edit = True
        self._shows_all = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(10, 0, 10, 0)
        self._column.setSpacing(6)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()

    def show_tasks(self, tasks: tuple[VersionTask, ...], can_edit: bool) -> None:
        """Show other tasks."""
        ranked = tuple(sorted(tasks, key=lambda task: -task.records))
        if ranked == self.tasks and can_edit == self._can_edit:
            return
        self.tasks, self._can_edit = ranked, can_edit
        self._shows_all = self._shows_all and bool(ranked)
        self._fill()

    def _fill(self) -> None:
        while (taken := self._column.takeAt(0)) is not None:
            widget = taken.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.buttons = []
        shown = self.tasks if self._shows_all else self.tasks[:_SHOWN]
        for task in shown:
            self._column.addWidget(self._card(task))
        more = len(self.tasks) - len(shown)
        if more > 0:
            button = KeyButton(f"and {more:,} more versions that nobody knows", kind="link")
            button.clicked.connect(self._show_all)
            self._column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self.setVisible(bool(self.tasks))

    def _show_all(self) -> None:
        self._shows_all = True
        self._fill()

    def _card(self, task: VersionTask) -> QFrame:
        card = QFrame()
        card.setProperty("surface", "reviewcard")
        title = Elided(task.schema, "heading", is_snug=True)
        facts = (
            f"a version nobody knows · {number_of(task.records, 'record')} {'waits' if task.records == 1 else 'wait'}"
        )
        lines = attribute_words(task)
        more = [f"and {len(lines) - _PATHS_IN_TIP} more"] if len(lines) > _PATHS_IN_TIP else []
        card.setToolTip(plain_tip("\n".join([f"Seen: {task.seen}", *lines[:_PATHS_IN_TIP], *more])))
        words = plain_label(facts, "small")
        words.setWordWrap(True)
        add = KeyButton("Add this version")
        add.setAccessibleDescription(f"{task.schema}: {facts}")
        dismiss = KeyButton("Dismiss")
        dismiss.setAccessibleDescription(f"{task.schema}: its records stay set aside")
        add.clicked.connect(partial(self.add_wanted.emit, task))
        dismiss.clicked.connect(partial(self.dismiss_wanted.emit, task))
        look = KeyButton("See it…")
        look.setAccessibleDescription(f"{task.schema}: its attributes and some of its records")
        look.clicked.connect(partial(self.look_wanted.emit, task))
        for button in (add, dismiss):
            button.setEnabled(self._can_edit)
        self.buttons += [add, dismiss, look]
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(add)
        row.addWidget(look)
        row.addWidget(dismiss)
        row.addStretch(1)
        column = QVBoxLayout(card)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        column.addWidget(title)
        column.addWidget(words)
        column.addLayout(row)
        return card
