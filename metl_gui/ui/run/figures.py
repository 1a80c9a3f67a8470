"""The five figures of a run, each with its words below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from metl_gui.ui.elided import Elided


class Figure(QFrame):
    """A large number and what it counts."""

    def __init__(self, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self.value = QLabel("-")
        self.value.setProperty("kind", "figure")
        self.words = Elided(words, "dim")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 10, 16, 10)
        layout.setSpacing(2)
        layout.addWidget(self.value)
        layout.addWidget(self.words)

    def say(self, value: str, words: str, needs_a_look: bool = False) -> None:
        """Show another number; amber when a person should look."""
        self.value.setText(value)
        self.words.setText(words)
        kind = "figurereview" if needs_a_look else "figure"
        if self.value.property("kind") != kind:
            self.value.setProperty("kind", kind)
            self.value.style().polish(self.value)


class Figures(QWidget):
    """Rate, read, mapped, set aside, messages."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rate, self.read = Figure("records per second"), Figure("read")
        self.mapped, self.aside = Figure("mapped"), Figure("set aside")
        self.messages = Figure("messages")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for figure in (self.rate, self.read, self.mapped, self.aside, self.messages):
            row.addWidget(figure, 1)

    def show_counts(self, counts: Mapping[str, Any], rate: float) -> None:
        """Show the counts of a run, live or finished, as the report names them."""
        aside, skipped = int(counts["set_aside"]), int(counts["skipped"])
        self.rate.say(f"{rate:,.0f} /s", "records in")
        self.read.say(f"{counts['read']:,}", f"read · {skipped:,} skipped" if skipped else "read")
        filtered = int(counts["filtered"])
        self.mapped.say(f"{counts['mapped']:,}", f"mapped · {filtered:,} filtered")
        self.aside.say(f"{aside:,}", "set aside · nothing lost", needs_a_look=aside > 0)
        unreviewed = sum(counts["from_unreviewed"].values())
        tail = f" · {unreviewed:,} unreviewed" if unreviewed else ""
        self.messages.say(f"{counts['messages_out']:,}", f"messages{tail}")

    def clear(self) -> None:
        """Show that nothing was run."""
        for figure in (self.rate, self.read, self.mapped, self.aside, self.messages):
            figure.say("-", figure.words.text().partition(" · ")[0])
