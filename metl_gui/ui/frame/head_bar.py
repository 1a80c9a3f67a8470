"""The bar below the menus: pages, undo, search, the state of Spark, the test run.

Everything in it keeps its place whatever it says: only the width of the window and the scale move it.
"""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from metl_gui.ui.context.app_context import PAGES
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.hint_line import HintLine
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_tip

_LONGEST_TITLE_PX, _TITLE_SHARE = 280, 0.12
_ROOM_FOR_SPARK_PX = 1_320
_ROOM_FOR_TITLE_PX = 900
_ROOM_FOR_LIVE_PX, _ROOM_FOR_CHANGES_PX = 1_450, 1_200
_LONGEST_LIVE_PX, _SHORT_LIVE_PX, _LEAST_LIVE_PX = 330, 150, 110
_SPARK_PX = 170
_UNDO_PAD_PX = 28
_LONGEST_COUNT = "999"
_SEARCH_PX, _LEAST_SEARCH_PX = 210, 90
_FORMS = 6
"""How many ways there are to be narrower than what the width alone leaves out."""


class HeadBar(QWidget):
    """One row of quiet controls.

    Signals:
        page_wanted: number of a page.
        undo_wanted, run_wanted: a button was pressed.
        live_wanted: what is live is to be compared with what is shown.
    """

    page_wanted = Signal(object)
    undo_wanted = Signal()
    run_wanted = Signal()
    live_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("headBar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.pages = [KeyButton(name, kind="segment") for name in PAGES]
        self.pages[1].reserve_count(_LONGEST_COUNT)
        self._group = QButtonGroup(self)
        self.undo = KeyButton("↶  Nothing to undo")
        self.search = HintLine("Search everywhere     Ctrl+F")
        self.search.setAccessibleName("Search everywhere")
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(_SEARCH_PX)
        self.search.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.live = KeyButton("", kind="number")
        self.live.setAccessibleDescription("Compare what is live with what is shown")
        self.live.hide()
        self._live_slot = QWidget()
        self.spark = QLabel()
        self.spark.setProperty("kind", "dim")
        self.run = KeyButton("▶  Test run", "F5", "primary")
        self.run.setAccessibleName("Test run")
        self._spark_words = "local[*] · not started"
        self._undo_title: str | None = None
        self._why_no_undo = ""
        self._live_words = ("", "", "")
        self._run_key, self._form = "F5", 0
        self.menu = QToolButton()
        self.menu.setProperty("kind", "pages")
        self.menu.setAccessibleName("Pages")
        self.menu.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._build()
        self.dress()
        self.undo.clicked.connect(self.undo_wanted)
        self.run.clicked.connect(self.run_wanted)
        self.live.clicked.connect(self.live_wanted)
        self._group.idClicked.connect(self._tell_page)

    def show_page(self, number: int) -> None:
        """Check the button of a page."""
        self.pages[number].setChecked(True)
        self._fit()

    def show_waiting(self, count: int) -> None:
        """Show how many decisions wait."""
        self.pages[1].show_count(f"{count:,}" if count else "")

    def show_undo(self, title: str | None, why_not: str = "") -> None:
        """Say what undo takes back.

        Args:
            title: of the edit, ``None`` for none.
            why_not: why nothing can be undone now, where there may well be something.
        """
        self._undo_title, self._why_no_undo = title, why_not
        self.undo.setEnabled(title is not None)
        nothing = "Undo" if why_not else "Nothing to undo"
        words = nothing if title is None else f"Undo {title[:1].lower()}{title[1:]}"
        self.undo.setAccessibleName(words)
        self.undo.setToolTip(plain_tip(title or why_not))
        if self._is_narrow:
            words = "Undo"
        if self._form >= 3:
            words = ""
        metrics = QFontMetricsF(themes.scaled(1.0, bold=True))
        longest = min(themes.px(_LONGEST_TITLE_PX), round(self.width() * _TITLE_SHARE))
        longest = max(longest, themes.px(24))
        if title is None and metrics.horizontalAdvance(f"↶  {words}") > longest:
            words = "Undo" if self._form < 3 else ""
        self.undo.setFixedWidth(longest + themes.px(_UNDO_PAD_PX))
        self.undo.setText(metrics.elidedText(f"↶  {words}".rstrip(), Qt.TextElideMode.ElideRight, longest))
        self.undo.updateGeometry()

    def show_keys(self, keys: dict[str, str]) -> None:
        """Show the keys that actions have now, by the actions' ids."""
        self._run_key = keys["run"]
        self._fit()
        find = keys.get("find", "")
        self.search.show_hint(f"Search everywhere     {find}".rstrip())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what can be read elsewhere when there is no room for it."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def show_live(self, words: str, short: str, tip: str) -> None:
        """Say what production uses; empty words while nothing is published.

        Args:
            words: which state, and how much was changed since.
            short: the same where there is little room.
            tip: who published it, and when.
        """
        self._live_words = words, short, tip
        state = short.partition(", ")[0]  # 12,345 has a comma, too
        forms, room = [state, state.replace("state ", "")], _LEAST_LIVE_PX
        if self.width() >= themes.px(_ROOM_FOR_CHANGES_PX):
            forms, room = [short, *forms], _SHORT_LIVE_PX
        if self.width() >= themes.px(_ROOM_FOR_LIVE_PX):
            forms, room = [words, *forms], _LONGEST_LIVE_PX
        slot = themes.px(room + _UNDO_PAD_PX)
        for form in forms:  # what is cut in two says nothing, or another state: the tip has all of it
            self.live.setText(f"▲  {form}")
            if self.live.sizeHint().width() <= slot:
                break
        self.live.setAccessibleName(words)
        self.live.setToolTip(plain_tip(f"{words}\n{tip}"))
        self.live.setVisible(bool(words))
        self.live.updateGeometry()
        self._live_slot.setFixedWidth(slot)
        self._live_slot.setVisible(self._form < 2)

    @property
    def _is_narrow(self) -> bool:
        return self.width() < themes.px(_ROOM_FOR_TITLE_PX)

    def show_spark(self, words: str) -> None:
        """Say how Spark is."""
        self._spark_words = words
        theme = themes.current()
        state = words.rpartition(" · ")[2]
        colour = theme.good if state == "ready" else theme.dim
        room = themes.px(_SPARK_PX)
        self.spark.setFixedWidth(room)
        metrics = QFontMetricsF(themes.scaled(1.0))  # the label's own, which is dressed later where it is hidden now
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, room - metrics.horizontalAdvance("● ") - 4)
        self.spark.setText(f"{themes.coloured('●', colour)} {escape(shown)}")
        self.spark.setAccessibleName(words)
        self.spark.setToolTip(plain_tip(words))

    def dress(self) -> None:
        """Follow theme and scale."""
        self.setFixedHeight(themes.px(46))
        self.search.setMaximumWidth(themes.px(380))
        self.show_spark(self._spark_words)
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Ask for no width: what is in the bar gives way."""
        return QSize(0, self.height())

    def _fit(self) -> None:
        """Leave out as much as the rest needs: keys, what is live, words of buttons, names of pages."""
        self.spark.setVisible(self.width() >= themes.px(_ROOM_FOR_SPARK_PX))
        for form in range(_FORMS):
            self._form = form
            self.search.setMinimumWidth(themes.px(_LEAST_SEARCH_PX if form else _SEARCH_PX))
            self.run.key = "" if form else self._run_key
            self.run.setText("▶" if form >= 4 else "▶  Test run")
            self.run.updateGeometry()
            for button in self.pages:
                button.setVisible(form < 5 or button.isChecked())
            self.menu.setVisible(form >= 5)
            self.show_undo(self._undo_title, self._why_no_undo)
            self.show_live(*self._live_words)
            self._row.invalidate()
            if self._row.minimumSize().width() <= self.width():
                break

    def _page_chosen(self, action: QAction) -> None:
        self.page_wanted.emit(action.data())

    def _tell_page(self, number: int) -> None:
        self.page_wanted.emit(number)

    def _build(self) -> None:
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 14, 6)
        row.setSpacing(10)
        segments = QHBoxLayout()
        segments.setSpacing(0)
        for at, button in enumerate(self.pages):
            button.setCheckable(True)
            button.setProperty("edge", "first" if at == 0 else "last" if at == len(self.pages) - 1 else "middle")
            self._group.addButton(button, at)
            segments.addWidget(button)
        segments.addWidget(self.menu)
        row.addLayout(segments)
        pages = QMenu(self)
        for at, name in enumerate(PAGES):
            pages.addAction(name).setData(at)
        pages.triggered.connect(self._page_chosen)
        self.menu.setMenu(pages)
        self.menu.hide()
        row.addWidget(self.undo)
        row.addStretch(1)
        row.addWidget(self.search, 2)
        row.addStretch(1)
        slot = QHBoxLayout(self._live_slot)
        slot.setContentsMargins(0, 0, 0, 0)
        slot.addStretch(1)
        slot.addWidget(self.live)
        row.addWidget(self._live_slot)
        row.addWidget(self.spark)
        row.addWidget(self.run)
