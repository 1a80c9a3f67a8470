"""Version tasks at the head of the review list: versions that messages showed and nobody has added yet.

The sheet of one task shows what the unknown version holds, and records that show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.version_tasks import ValueProfile, VersionTask, attribute_words, nearest_version
from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.ui.review.card_strip import CardStrip
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.two_line_list import LineModel, TwoLines, line_view


class TaskStrip(CardStrip[VersionTask]):
    """One card for each task, the heaviest first.

    Signals:
        add_wanted: the ``VersionTask`` whose version is to be added.
        dismiss_wanted: the ``VersionTask`` that nobody wants.
        look_wanted: the ``VersionTask`` whose attributes and records are to be seen.
    """

    add_wanted = Signal(object)
    dismiss_wanted = Signal(object)
    look_wanted = Signal(object)

    def show_tasks(self, tasks: tuple[VersionTask, ...], can_edit: bool) -> None:
        """Show other tasks."""
        self.show_cards(tuple(sorted(tasks, key=lambda task: -task.records)), can_edit)

    def more_words(self, count: int) -> str:
        """Say how many more versions there are."""
        return f"and {count:,} more versions that nobody knows"

    def card_of(self, task: VersionTask) -> QFrame:
        """Make the card of a task."""
        facts = (
            f"a version nobody knows · {number_of(task.records, 'record')} {'waits' if task.records == 1 else 'wait'}"
        )
        add = KeyButton("Add this version")
        add.setAccessibleDescription(f"{task.schema}: {facts}")
        dismiss = KeyButton("Dismiss")
        dismiss.setAccessibleDescription(f"{task.schema}: its records stay set aside")
        look = KeyButton("See it…")
        look.setAccessibleDescription(f"{task.schema}: its attributes and some of its records")
        add.clicked.connect(partial(self.add_wanted.emit, task))
        dismiss.clicked.connect(partial(self.dismiss_wanted.emit, task))
        look.clicked.connect(partial(self.look_wanted.emit, task))
        tip = [f"Seen: {task.seen}", *attribute_words(task)]
        return self.lay_out(task.schema, facts, tip, {add: True, look: False, dismiss: True})


_SIZE = (720, 600)
_MOST_CHARACTERS = 20_000
NO_RECORDS = "The records are not there any more: what a run sets aside in your cache is kept for 30 days."


def attribute_rows(document: Document, task: VersionTask) -> tuple[tuple[TwoLines, AttributeDeclaration], ...]:
    """Describe each attribute, and mark those that no version of the schema has yet."""
    nearest = nearest_version(document, task)
    known = {attribute.path for attribute in nearest.attributes} if nearest is not None else set()
    told = {sample.path: sample for sample in task.samples}
    return tuple(
        (
            TwoLines(
                attribute.path,
                _facts(attribute, told.get(attribute.path)),
                "new" if nearest is not None and attribute.path not in known else "",
                "good",
            ),
            attribute,
        )
        for attribute in task.declaration.attributes
    )


def missing_words(document: Document, task: VersionTask) -> str:
    """Name the attributes of the nearest known version that this one lacks."""
    nearest = nearest_version(document, task)
    if nearest is None:
        return "Nobody has imported this schema yet."
    gone = [attribute.path for attribute in nearest.attributes if attribute.path not in task.paths]
    return f"Not there any more, compared with version {nearest.label}: {', '.join(gone)}." if gone else ""


class TaskSheet(FittedDialog):
    """What messages of an unknown version hold; values of masked columns are hidden.

    Args:
        document: the state to compare with.
        task: the version task.
        records: some of its records as text, read from the error store.

    Signals:
        add_wanted: the ``VersionTask`` whose version is to be added; connect it queued.
    """

    add_wanted = Signal(object)

    def __init__(
        self,
        document: Document,
        task: VersionTask,
        records: Sequence[str],
        can_edit: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._task = task
        self.setWindowTitle("A version nobody knows")
        self.heading = plain_label(task.schema, "heading")
        waiting = f"{number_of(task.records, 'record')} {'waits' if task.records == 1 else 'wait'} for it."
        self.words = plain_label(f"{waiting} {missing_words(document, task)}".strip(), "dim")
        self.model: LineModel[AttributeDeclaration] = LineModel(self)
        self.model.show_rows(attribute_rows(document, task))
        self.view = line_view(self.model, "Its attributes")
        self.records = QPlainTextEdit()
        self.records.setReadOnly(True)
        self.records.setFont(themes.mono())
        self.records.setAccessibleName("Records that show it")
        self.records.setTabChangesFocus(True)
        self.records.setPlainText(_shown(records))
        self.add = KeyButton("Add this version", kind="primary")
        self.add.setEnabled(can_edit)
        self.close_button = KeyButton("Close", "Esc")
        self._build()
        self.add.clicked.connect(self._add)
        self.close_button.clicked.connect(self.reject)
        self.view.setFocus()

    def _build(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(10)
        self.words.setWordWrap(True)
        for label in (self.heading, self.words):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(label)
        layout.addWidget(self.view, 3)
        layout.addWidget(plain_label("Records that show it", "panelTitle"))
        layout.addWidget(self.records, 2)
        foot = QHBoxLayout()
        foot.addStretch(1)
        for button in (self.add, self.close_button):
            button.setAutoDefault(False)
            foot.addWidget(button)
        layout.addLayout(foot)
        self.resize(*(themes.px(length) for length in _SIZE))

    def _add(self) -> None:
        self.accept()
        self.add_wanted.emit(self._task)


def _facts(attribute: AttributeDeclaration, sample: ValueProfile | None) -> str:
    parts = [attribute.logical.rsplit(".", 1)[-1] or attribute.type]
    if sample is not None:
        parts.append(f"filled in {sample.filled:.0%} of the records looked at")
        parts += [f"like {' or '.join(sample.patterns)}"] if sample.patterns else []
    return " · ".join(parts)


def _shown(records: Sequence[str]) -> str:
    cut = (text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…" for text in records)
    return "\n\n".join(cut) or NO_RECORDS
