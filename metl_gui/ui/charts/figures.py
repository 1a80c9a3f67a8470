"""The five figures of a run, each with its words below; a press leads to what it counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from metl_gui.ui.project.text import amount, duration_ns
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.plain_text import plain_label

RATE, READ, MAPPED, ASIDE, KERNEL = "rate", "read", "mapped", "aside", "kernel"
_NONE = "-"


class Figure(QPushButton):
    """A large number and what it counts.

    Args:
        id_: its name in code.
        words: what it counts.
        leads_to: where a press leads, for people who do not see it.
        short: the words where there is no room for more.

    Signals:
        followed: its id, at each press.
    """

    followed = Signal(object)

    def __init__(self, id_: str, words: str, leads_to: str, short: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._id = id_
        self.clicked.connect(self._follow)
        self.setProperty("kind", "card")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleDescription(leads_to)
        self.setToolTip(leads_to)
        self._plain_words = self._all_words = words
        self._short: tuple[str, ...] = (short,) if short else ()
        self._fewer_words: tuple[str, ...] = self._short
        self.value = plain_label(_NONE, "figure")
        self.words = Elided(words, "dim")
        for label in (self.value, self.words):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(14, 9, 6, 9)
        self._lines.setSpacing(1)
        self._lines.addWidget(self.value)
        self._lines.addWidget(self.words)
        self.clear()

    def say(self, value: str, words: str, needs_a_look: bool = False, fewer: tuple[str, ...] = ()) -> None:
        """Show another number, and of the words the first that there is room for; amber when a person should look."""
        self.value.setText(value)
        self._all_words, self._fewer_words = words, fewer or self._short
        self._fit()
        self.setAccessibleName(f"{value} {words}")
        kind = "figurereview" if needs_a_look else "figure"
        if self.value.property("kind") != kind:
            self.value.setProperty("kind", kind)
            self.value.style().polish(self.value)

    def _follow(self) -> None:
        self.followed.emit(self._id)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say it in fewer words where there is no room."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        metrics, room = self.words.fontMetrics(), self.words.width()
        ways = (self._all_words, *self._fewer_words)
        self.words.setText(next((words for words in ways if metrics.horizontalAdvance(words) <= room), ways[-1]))

    def clear(self) -> None:
        """Show that nothing was counted."""
        self.say(_NONE, self._plain_words)

    def sizeHint(self) -> QSize:
        """As high as both lines."""
        return self._lines.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """The number is never cut, the words may be."""
        return self._lines.minimumSize()


class Figures(QWidget):
    """Rate, read, mapped, set aside, time in the kernel.

    Signals:
        followed: ``RATE``, ``READ``, ``MAPPED``, ``ASIDE`` or ``KERNEL`` was pressed.
    """

    followed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rate = Figure(RATE, "records in", "Show the course of the run")
        self.read = Figure(READ, "read", "Show which schemas and versions they are of")
        self.mapped = Figure(MAPPED, "mapped", "Show the messages by entity")
        self.aside = Figure(ASIDE, "set aside", "Show what was set aside", "set aside")
        self.kernel = Figure(KERNEL, "per message in the kernel", "Show how fast the kernel was", "a message, kernel")
        self._figures = (self.rate, self.read, self.mapped, self.aside, self.kernel)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)  # the numbers are never cut
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for figure in self._figures:
            row.addWidget(figure, 1)
            figure.followed.connect(self.followed)

    def show_counts(self, counts: Mapping[str, Any], rate: float) -> None:
        """Show the counts of a run, live or finished, as the report names them."""
        aside, skipped = int(counts["set_aside"]), int(counts["skipped"])
        self.rate.say(f"{rate:,.0f} /s", "records in")
        filtered = int(counts["filtered"])
        self.read.say(
            f"{counts['read']:,}",
            f"read · {skipped:,} skipped" if skipped else "read",
            fewer=(f"read · {amount(skipped)} skipped", "read") if skipped else (),
        )
        self.mapped.say(
            f"{counts['mapped']:,}",
            f"mapped · {filtered:,} filtered",
            fewer=(f"mapped · {amount(filtered)} filtered", "mapped"),
        )
        self.aside.say(f"{aside:,}", "set aside · nothing lost", needs_a_look=aside > 0)
        kernel = counts.get("kernel") or {}
        if kernel.get("records"):
            self.kernel.say(duration_ns(kernel["nanoseconds"] / kernel["records"]), "per message in the kernel")
        else:
            self.kernel.clear()

    def clear(self) -> None:
        """Show that nothing was run."""
        for figure in self._figures:
            figure.clear()
