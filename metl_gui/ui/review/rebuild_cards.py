"""Targets that have to be rebuilt, as cards at the head of the review list."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from metl_gui.core.counted import number_of
from metl_gui.core.dimensional.loads.rebuild_question import RebuildQuestion
from metl_gui.core.dimensional.models.model_changes import change_words
from metl_gui.ui.review.card_strip import CardStrip
from metl_gui.ui.widgets.pill import KeyButton


class RebuildStrip(CardStrip[RebuildQuestion]):
    """One card for each target.

    Signals:
        rebuild_wanted: the ``RebuildQuestion`` whose target is to be rebuilt.
        keep_wanted: the ``RebuildQuestion`` whose target stays as it is.
        later_wanted: the ``RebuildQuestion`` that is to be asked another time.
    """

    rebuild_wanted = Signal(object)
    keep_wanted = Signal(object)
    later_wanted = Signal(object)

    def more_words(self, count: int) -> str:
        """Say how many more targets there are."""
        return f"and {number_of(count, 'more warehouse')} to rebuild"

    def card_of(self, one: RebuildQuestion) -> QFrame:
        """Make the card of a target."""
        facts = f"made by another state of {one.model}: {change_words(one.changes)} · a rebuild makes {one.cost.words}"
        rebuild, keep, later = KeyButton("Rebuild"), KeyButton("Keep as it is"), KeyButton("Later")
        rebuild.setAccessibleDescription(f"{one.target}: {facts}")
        keep.setToolTip("Loads into it are refused; it is asked for again when the model changes once more")
        keep.setAccessibleDescription(f"{one.target}: loads into it are refused")
        later.setAccessibleDescription(f"{one.target}: asked for again when the project is opened")
        for button, wanted in (
            (rebuild, self.rebuild_wanted),
            (keep, self.keep_wanted),
            (later, self.later_wanted),
        ):
            button.clicked.connect(partial(wanted.emit, one))
        lines = [each.words for each in one.changes]
        return self.lay_out(one.target, facts, lines, {rebuild: False, keep: False, later: False})
