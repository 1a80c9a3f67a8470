"""What an answer sheet would do, row by row, before anything is done."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListView, QVBoxLayout, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.naming import number_of
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.ui.review.choice_rows import ChoiceRows, Choosable
from metl_gui.ui.review.headed import HeadedDelegate
from metl_gui.ui.two_lines import TwoLines
from metl_gui.workbench.answers import AnswersTaken, TakenRow

_SIZE_PX = (680, 480)


class AnswersDialog(QDialog):
    """Lists the rows that are not clear, those that are taken, and those that were decided meanwhile.

    Args:
        taken: what the sheet would do.
        can_edit: whether it may be done.

    Signals:
        wanted: the path of the sheet whose answers are to be taken; by then this is hidden.
    """

    wanted = Signal(object)

    def __init__(self, taken: AnswersTaken, can_edit: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Answers")
        self._path = taken.path
        does_something = bool(taken.answered) or bool(taken.assigned)
        title = plain_label(f"{taken.path.name}: {_counts(taken)}", "heading")
        title.setWordWrap(True)
        self.model = ChoiceRows(self)
        self.model.show_rows(
            [
                *_rows(taken.unclear, "Not clear: nothing is done for these", "not clear", "review"),
                *_rows(taken.answered, "Will be done, as one step that can be undone", "", "plain"),
                *_rows(taken.ignored, "Decided meanwhile: left as they are", "ignored", "plain"),
            ]
        )
        self.view = QListView()
        self.view.setAccessibleName("Rows of the answer sheet")
        self.view.setModel(self.model)
        self.view.setItemDelegate(HeadedDelegate(self.view))
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        nothing = plain_label("No row of it has an answer.", "dim")
        nothing.setVisible(not self.model.rows)
        self.take = KeyButton(f"Take {number_of(len(taken.answered), 'answer')}", "", "primary")
        if not taken.answered and taken.assigned:
            self.take.setText(f"Assign {number_of(taken.assigned, 'item')}")
        self.take.setEnabled(can_edit and does_something)
        self.take.setDefault(does_something)
        self.take.clicked.connect(self._take)
        self.cancel = KeyButton("Cancel" if does_something else "Close", "Esc")
        self.cancel.setAutoDefault(not does_something)
        self.cancel.clicked.connect(self.reject)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.take)
        foot.addWidget(self.cancel)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 14)
        layout.setSpacing(10)
        layout.addWidget(title)
        layout.addWidget(nothing)
        layout.addWidget(self.view, 1)
        layout.addLayout(foot)
        self.view.setVisible(bool(self.model.rows))
        width, height = (themes.px(size) for size in _SIZE_PX)
        self.resize(width, height if self.model.rows else self.sizeHint().height())

    def _take(self) -> None:
        self.accept()
        self.wanted.emit(self._path)


def _counts(taken: AnswersTaken) -> str:
    parts = [number_of(len(taken.answered), "answer")]
    parts += [f"{number_of(len(taken.unclear), 'row')} not clear"] if taken.unclear else []
    parts += [f"{number_of(len(taken.ignored), 'row')} decided meanwhile"] if taken.ignored else []
    parts += [f"{number_of(taken.assigned, 'item')} assigned anew"] if taken.assigned else []
    parts += [f"{number_of(taken.empty, 'row')} left empty"] if taken.empty else []
    return ", ".join(parts)


def _rows(rows: tuple[TakenRow, ...], section: str, pill: str, kind: str) -> list[Choosable]:
    return [Choosable(TwoLines(row.words, f"Row {row.number}", pill, kind), row, section) for row in rows]
