"""Questions and messages: short dialogs that say what happened, to what, and what to do.

``show`` and ``show_about`` show a dialog over its window; nobody waits for it to be closed, and it is deleted when it
is.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from metl_gui.errors import MetlError, UserError, in_sentences
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import ValueButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.window_words import in_window


class QuestionDialog(FittedDialog):
    """A title, a text, and one button for each answer; Esc is the last one.

    Args:
        title, text: what is asked.
        answers: (id, words) of the buttons, the primary one first.
    """

    def __init__(self, title: str, text: str, answers: list[tuple[str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.answer = answers[-1][0]
        self._heading, self._body = plain_label(title, "heading"), plain_label(text, "dim")
        for label in (self._heading, self._body):
            label.setWordWrap(True)
        self._body.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(self._heading)
        layout.addWidget(self._body)
        self._more = QVBoxLayout()
        layout.addLayout(self._more)
        layout.addSpacing(4)
        row = QHBoxLayout()
        row.addStretch(1)
        self.buttons: dict[str, ValueButton] = {}
        for at, (id_, words) in enumerate(answers):
            button = ValueButton(id_, words, kind="primary" if at == 0 else "")
            button.setDefault(at == 0)
            button.setObjectName(id_)
            button.chosen.connect(self._pressed)
            row.addWidget(button)
            self.buttons[id_] = button
        layout.addLayout(row)
        self.setMinimumWidth(440)

    def say(self, title: str, text: str) -> None:
        """Ask something else."""
        self.setWindowTitle(title)
        self._heading.setText(title)
        self._body.setText(text)

    @property
    def body(self) -> str:
        """What is asked, below the title."""
        return self._body.text()

    def insert(self, *widgets: QWidget) -> None:
        """Show more below the text."""
        for widget in widgets:
            self._more.addWidget(widget)

    def _pressed(self, answer: str) -> None:
        self.answer = answer
        self.accept()


def ask(title: str, text: str, answers: list[tuple[str, str]], parent: QWidget | None = None) -> str:
    """Ask and return the id of the answer; closing the dialog is the last one."""
    question = QuestionDialog(title, text, answers, parent)
    question.exec()
    answer = question.answer
    question.deleteLater()
    return answer


def ask_text(title: str, text: str, answer: str, parent: QWidget | None = None, given: str = "") -> str:
    """Ask for a line of text and return it, empty where none is given.

    Args:
        title, text: what is asked.
        answer: words of the button that takes the text.
        given: what stands there already.
    """
    question = QuestionDialog(title, text, [("take", answer), ("cancel", "Cancel")], parent)
    line = QLineEdit(given)
    line.setAccessibleName(title)
    question.insert(line)
    line.setFocus()
    question.exec()
    typed = line.text().strip() if question.answer == "take" else ""
    question.deleteLater()
    return typed


def tell(error: MetlError, parent: QWidget | None = None) -> None:
    """Show an error with its hint."""
    title, text = words_of(error)
    ask(title, text, [("close", "Close")], parent)


def words_of(error: MetlError) -> tuple[str, str]:
    """Return the title of an error, and the rest of it, as the window says them."""
    if isinstance(error, UserError):
        return in_window(error.title), in_window("\n".join(part for part in (error.text, error.hint) if part))
    return "Something went wrong inside METL Workbench", f"{error}\nThe log has the details."


def in_one_line(error: MetlError) -> str:
    """Return an error as sentences of one line, for where there is room for words alone."""
    return in_sentences(*words_of(error)).replace("\n", " ")


def lay_out(
    dialog: QDialog,
    above: Sequence[QWidget],
    body: QLayout,
    buttons: Sequence[QPushButton],
    beside: QWidget | None = None,
) -> None:
    """Lay a dialog out: words above, what it shows below them, at the foot its buttons.

    Args:
        dialog: gets the layout.
        above, body: from the top to the foot; the body takes the room that is left.
        buttons: at the right of the foot; none is the default one, as each has its key.
        beside: at the left of the foot.
    """
    foot = QHBoxLayout()
    if beside is not None:
        foot.addWidget(beside)
    foot.addStretch(1)
    for button in buttons:
        button.setAutoDefault(False)
        foot.addWidget(button)
    layout = QVBoxLayout(dialog)
    layout.setContentsMargins(20, 16, 20, 16)
    layout.setSpacing(8)
    for widget in above:
        layout.addWidget(widget)
    layout.addLayout(body, 1)
    layout.addLayout(foot)


def show(dialog: QDialog) -> None:
    """Show a dialog."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def show_about(project: OpenProject, dialog: QDialog) -> None:
    """Show a dialog about the open project; when that is closed, or another one comes, it goes unanswered."""
    project.opened.connect(dialog.close)
    show(dialog)
