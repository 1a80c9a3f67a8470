"""Help > Glossary: the words of the program, searched as you type."""

from __future__ import annotations

from html import escape

from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QLineEdit, QTextBrowser, QVBoxLayout, QWidget

from metl_gui.core.glossary import WORDS, Word
from metl_gui.ui import theme as themes
from metl_gui.ui.pill import KeyButton


class Glossary(QDialog):
    """The words that hold what was typed, with what they mean.

    Args:
        word: what is looked up at first; empty for everything.
    """

    def __init__(self, word: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Glossary")
        heading = QLabel("Glossary")
        heading.setProperty("kind", "heading")
        self.box = QLineEdit(word)
        self.box.setPlaceholderText("Find a word")
        self.box.setAccessibleName("Find a word")
        self.box.setClearButtonEnabled(True)
        self.text = QTextBrowser()
        self.text.setAccessibleName("Words and what they mean")
        self.text.setProperty("surface", "clear")
        self.close_button = KeyButton("Close", "Esc")
        self.close_button.clicked.connect(self.reject)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(heading)
        layout.addWidget(self.box)
        layout.addWidget(self.text, 1)
        layout.addLayout(foot)
        self.resize(themes.px(640), themes.px(600))
        self.box.setFocus()
        self.box.textChanged.connect(self._show)
        self._show(word)

    def _show(self, text: str) -> None:
        words = words_for(text)
        lines = [f"<p><b>{escape(word.word)}</b><br>{escape(word.means)}</p>" for word in words]
        self.text.setHtml("".join(lines) or "<p>No word of the program holds this.</p>")


def words_for(text: str) -> tuple[Word, ...]:
    """Return the words that hold every part of a text in themselves or in their meaning, best first."""
    parts = text.lower().split()
    held = [word for word in WORDS if all(part in f"{word.word} {word.means}".lower() for part in parts)]
    exact = text.strip().lower()
    return tuple(sorted(held, key=lambda word: (word.word.lower() != exact, exact not in word.word.lower())))
