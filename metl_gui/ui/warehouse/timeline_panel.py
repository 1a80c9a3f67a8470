"""The panel of a timeline: which key, its picture, and what is known of the message or version that is chosen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.dimensional.loads.key_history import KeyHistory, KeyVersion
from metl_gui.ui.warehouse.timeline import LateMove, TimelineContent, TimelineView, moment_words, timeline_of
from metl_gui.ui.widgets.dock import FocusRing, Surface
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton

_TRY = "Drag a message, or Enter and arrows, to see what it would do late; Enter on a version tells why it is so."
_FACTS = "Facts have no versions. Choose one to be told why it is so."
_NOTHING = "Choose a key of the dimension: its messages stand above, its versions below."


class TimelinePanel(Surface):
    """One key at a time.

    Signals:
        key_wanted: a key is to be chosen.
        fact_wanted: a fact is to be chosen, of which is asked why it is so.
        why_wanted: why a version is so, a ``KeyHistory`` and a ``KeyVersion`` of it.
        offered: other buttons can be pressed than before.
        late_wanted: what a late message would do, a ``LateMove``; ``None`` when none is tried any more.
    """

    key_wanted = Signal()
    fact_wanted = Signal()
    why_wanted = Signal(object)
    offered = Signal()
    late_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("panel", (800, 280), parent, share=(1.0, 0.34))
        self.title, self.words = Elided("", "heading", is_snug=True), Elided(_NOTHING, "small")
        self.choose = KeyButton("Choose a key…")
        self.fact = KeyButton("Why a fact…")
        for button in (self.choose, self.fact):
            button.set_height(26)
        self.other = QLineEdit()
        self.other.setPlaceholderText("Other values: name=value, …")
        self.other.setAccessibleName("Values of the late message that are other ones")
        self.other.setToolTip("What the late message says otherwise than the one it is like")
        self.other.hide()
        self.title.hide()  # its margin would stand before the words
        self.view = TimelineView()
        FocusRing(self.view)
        self.area = QScrollArea()
        self.area.setWidget(self.view)
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.bring_into_view = self._bring_into_view
        self.view.picked.connect(self.words.setText)
        self.choose.clicked.connect(self.key_wanted)
        self.fact.clicked.connect(self.fact_wanted)
        self.view.tried.connect(self._try)
        self.other.textChanged.connect(self._ask)
        self.view.explained.connect(self._explain)
        self._move: LateMove | None = None
        self._history: KeyHistory | None = None
        row = QHBoxLayout()
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(8)
        row.addWidget(self.title)
        row.addWidget(self.words, 1)
        row.addWidget(self.other)
        row.addWidget(self.fact)
        row.addWidget(self.choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 2, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(row)
        layout.addWidget(self.area, 1)

    def show_table(self, *, is_dimension: bool, is_fact: bool) -> None:
        """Offer keys of a dimension, or facts; nothing for tables that are neither."""
        before = self.choose.isEnabled(), self.fact.isEnabled()
        self.choose.setEnabled(is_dimension)
        self.choose.setToolTip("" if is_dimension else "Only dimensions have versions")
        self.choose.setVisible(not is_fact)
        self.fact.setEnabled(is_fact)
        self.fact.setVisible(is_fact)
        if self._history is None:
            self.words.setText(_FACTS if is_fact else _NOTHING)
        if before != (is_dimension, is_fact):
            self.offered.emit()

    def show_history(self, history: KeyHistory) -> None:
        """Show a key."""
        self._move, self._history = None, history
        self.other.hide()
        self.title.setText(f"{history.table} {', '.join(history.key)}")
        self.title.show()
        void = sum(one.is_void for one in history.messages)
        facts = [number_of(len(history.messages) - void, "message"), number_of(len(history.versions), "version")]
        facts += [f"{number_of(void, 'message')} hold{'s' if void == 1 else ''} no more"] if void else []
        facts += ["and more than is shown"] if history.is_cut else []
        self.words.setText(f"{', '.join(facts)}. {_TRY if history.messages else ''}")
        self.view.show_content(timeline_of(history))

    def clear(self) -> None:
        """Show no key."""
        self._move = self._history = None
        self.other.hide()
        self.title.setText("")
        self.title.hide()
        self.words.setText(_FACTS if self.fact.isEnabled() else _NOTHING)
        self.view.show_content(TimelineContent())

    @property
    def other_values(self) -> dict[str, str]:
        """The values that the late message has instead, by attribute."""
        pairs = (part.partition("=") for part in self.other.text().split(","))
        return {name.strip(): value.strip() for name, equals, value in pairs if equals and name.strip()}

    def show_would_be(self, words: str, versions: Sequence[KeyVersion]) -> None:
        """Show what the message that is tried would do."""
        if self._move is not None:
            told = f"Since {moment_words(self._move.holds_from)}: {words}"
            self.words.setText(told)
            self.view.show_would_be(versions)
            self.view.say(told)

    def _explain(self, version: KeyVersion) -> None:
        if self._history is not None:
            self.why_wanted.emit((self._history, version))

    def _try(self, move: LateMove | None) -> None:
        self._move = move
        self.other.setVisible(move is not None)
        if move is None:
            self.words.setText(_TRY)
        self._ask()

    def _ask(self) -> None:
        self.late_wanted.emit(self._move)

    def _bring_into_view(self, box: QRectF) -> None:
        at = box.center().toPoint()
        self.area.ensureVisible(at.x(), at.y(), 80, 20)
