"""Names as they are: what looks like markup or like a key in them is none.

Names, documentation, comments and paths come from other people's files. Qt takes a text that begins like HTML for HTML,
and an ampersand in a menu for a key, unless it is told otherwise; here it is told. Names may be long without a space,
and written from right to left: sentences with them are broken within them, and keep their own direction.
"""

from __future__ import annotations

import re
from html import escape
from urllib.parse import unquote

from PySide6.QtGui import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

_LINK = re.compile(r"\bmetl://[!-~]{1,2000}")
_ENDS = ".,;:!?)]}>'\""
"""What ends a sentence behind a link, and belongs to no link."""

_BREAKS = re.compile(r"[.@=:/_-]")
_MOST_NAMED = 120
_TAG = re.compile(r"<[A-Za-z/!]")

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_LEFT_MARK, _BREAK = "\u200e", "\u200b"
_JOINTS = re.compile("\\s[→·]\\s")
_LONG_WORD = re.compile(r"\S{25,}")
_PARTS = re.compile(r"[.@=:/\\_-]+(?=\w)|[^.@=:/\\_-]{24}(?=[^.@=:/\\_-])")


class PlainLabel(QLabel):
    """A label that shows its words to the letter, breaks long names where it wraps, and reads from left to right.

    What people can select, to copy it, and what is rich text has no signs in it but those that were given.
    """

    def __init__(self, words: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(words)

    def setText(self, words: str) -> None:
        """Show other words."""
        super().setText(words)
        self._words = super().text()  # what is no text is as Qt can show it
        self._show_in_lines()

    def clear(self) -> None:
        """Show nothing."""
        self.setText("")

    def text(self) -> str:
        """Return the words as they were given."""
        return self._words

    def setTextInteractionFlags(self, flags: Qt.TextInteractionFlag) -> None:
        """Say what people can do with the words."""
        super().setTextInteractionFlags(flags)
        self._show_in_lines()

    def _show_in_lines(self) -> None:
        is_copied = bool(self.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse)
        is_plain = self.textFormat() is Qt.TextFormat.PlainText and not is_copied
        shown = breakable(left_to_right(self._words)) if is_plain else self._words
        if shown != super().text():
            super().setText(shown)


def left_to_right(words: str) -> str:
    """Return a sentence such that names written from right to left in it do not turn it round, nor its arrows."""
    if not _RIGHT_TO_LEFT.search(words):
        return words
    return _LEFT_MARK + _JOINTS.sub(rf"{_LEFT_MARK}\g<0>{_LEFT_MARK}", words)


def breakable(words: str) -> str:
    """Return words such that a line can end within a long name, between its parts."""
    return _LONG_WORD.sub(lambda found: _PARTS.sub(rf"\g<0>{_BREAK}", found[0]), words)


def plain_label(words: str = "", kind: str = "", parent: QWidget | None = None) -> QLabel:
    """Make a label of a kind of the style sheet that shows its words to the letter."""
    label = PlainLabel(words, parent)
    if kind:
        label.setProperty("kind", kind)
    return label


def wrapped_label(kind: str = "") -> QLabel:
    """Make a label of several lines that never insists on width, however long a word is."""
    label = plain_label(kind=kind)
    label.setWordWrap(True)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return label


def plain_tip(words: str) -> str:
    """Return what a tooltip must be given to show these words to the letter.

    Qt looks at the beginning only; what stands further on is written so too, as whoever shows it may put it elsewhere.
    """
    return str(Qt.convertFromPlainText(words)) if _TAG.search(words) or Qt.mightBeRichText(words) else words


def plain_entry(words: str) -> str:
    """Return what a menu or a button must be given to show these words to the letter."""
    return words.replace("&", "&&")


def linked(words: str) -> str:
    """Return words as rich text in which the links to places of a project can be clicked; all else stays words.

    A link shows the names that stand in it, and may be broken into lines between them.
    """
    parts, at = [], 0
    for found in _LINK.finditer(words):
        link = found[0].rstrip(_ENDS)
        named = _BREAKS.sub(r"\g<0>&#8203;", escape(unquote(link.partition("#")[2])[:_MOST_NAMED] or link))
        parts += [escape(words[at : found.start()]), f'<a href="{escape(link)}" title="{escape(link)}">{named}</a>']
        at = found.start() + len(link)
    return "".join([*parts, escape(words[at:])]).replace("\n", "<br>")


def has_link(words: str) -> bool:
    """Whether there is a link to a place of a project in some words."""
    return _LINK.search(words) is not None
