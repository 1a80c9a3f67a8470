"""The panel of a timeline: which key, its picture, and what is known of the message or version that is chosen."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from metl_gui.core.dimensional.loads.key_history import KeyHistory
from metl_gui.ui.warehouse.timeline import TimelineContent, TimelineView, timeline_of
from metl_gui.ui.widgets.dock import FocusRing, Surface
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton

_NOTHING = "Choose a key of the dimension: its messages stand above, its versions below."


class TimelinePanel(Surface):
    """One key at a time.

    Signals:
        key_wanted: a key is to be chosen.
    """

    key_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", (800, 280), parent, share=(1.0, 0.34))
        self.title, self.words = Elided("", "heading", is_snug=True), Elided(_NOTHING, "small")
        self.choose = KeyButton("Choose a key…")
        self.choose.set_height(26)
        self.view = TimelineView()
        FocusRing(self.view)
        self.area = QScrollArea()
        self.area.setWidget(self.view)
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.bring_into_view = self._bring_into_view
        self.view.picked.connect(self.words.setText)
        self.choose.clicked.connect(self.key_wanted)
        row = QHBoxLayout()
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(8)
        row.addWidget(self.title)
        row.addWidget(self.words, 1)
        row.addWidget(self.choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 2, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(row)
        layout.addWidget(self.area, 1)

    def show_dimension(self, name: str) -> None:
        """Offer keys of a dimension; nothing for tables that are none."""
        self.choose.setEnabled(bool(name))
        self.choose.setToolTip("" if name else "Only dimensions have versions")

    def show_history(self, history: KeyHistory) -> None:
        """Show a key."""
        self.title.setText(f"{history.table} {', '.join(history.key)}")
        void = sum(one.is_void for one in history.messages)
        facts = [f"{len(history.messages) - void:,} messages", f"{len(history.versions):,} versions"]
        facts += [f"{void:,} messages hold no more"] if void else []
        facts += ["and more than is shown"] if history.is_cut else []
        self.words.setText(", ".join(facts) + ".")
        self.view.show_content(timeline_of(history))

    def clear(self) -> None:
        """Show no key."""
        self.title.setText("")
        self.words.setText(_NOTHING)
        self.view.show_content(TimelineContent())

    def _bring_into_view(self, box: QRectF) -> None:
        at = box.center().toPoint()
        self.area.ensureVisible(at.x(), at.y(), 80, 20)
