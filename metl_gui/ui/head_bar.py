"""The bar below the menus: pages, undo, search, the state of Spark, the test run."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QLineEdit, QSizePolicy, QWidget

from metl_gui.ui import theme as themes
from metl_gui.ui.pill import KeyButton

PAGES = ("Map", "Review", "Run")
_LONGEST_TITLE_PX = 280


class HeadBar(QWidget):
    """One row of quiet controls.

    Signals:
        page_wanted: number of a page.
        undo_wanted, run_wanted: a button was pressed.
    """

    page_wanted = Signal(object)
    undo_wanted = Signal()
    run_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("headBar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.pages = [KeyButton(name, kind="segment") for name in PAGES]
        self._group = QButtonGroup(self)
        self.undo = KeyButton("↶  Nothing to undo")
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search everywhere     Ctrl+F")
        self.search.setAccessibleName("Search everywhere")
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(160)
        self.search.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.spark = QLabel()
        self.spark.setProperty("kind", "dim")
        self.run = KeyButton("▶  Test run", "F5", "primary")
        self._spark_words = "local[*] · not started"
        self._build()
        self.dress()
        self.undo.clicked.connect(self.undo_wanted)
        self.run.clicked.connect(self.run_wanted)
        self._group.idClicked.connect(self._tell_page)

    def show_page(self, number: int) -> None:
        """Check the button of a page."""
        self.pages[number].setChecked(True)

    def show_waiting(self, count: int) -> None:
        """Show how many decisions wait."""
        self.pages[1].show_count(f"{count:,}" if count else "")

    def show_undo(self, title: str | None) -> None:
        """Say what undo takes back."""
        self.undo.setEnabled(title is not None)
        words = "↶  Nothing to undo"
        if title is not None:
            metrics = QFontMetricsF(themes.scaled(1.0, bold=True))
            words = f"↶  Undo {title[:1].lower()}{title[1:]}"
            words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, themes.px(_LONGEST_TITLE_PX))
        self.undo.setText(words)
        self.undo.setToolTip(title or "")
        self.undo.updateGeometry()

    def show_spark(self, words: str) -> None:
        """Say how Spark is."""
        self._spark_words = words
        theme = themes.current()
        state = words.rpartition(" · ")[2]
        colour = theme.good if state == "ready" else theme.dim
        self.spark.setText(f"<span style='color:{colour.name()}'>●</span> {words}")

    def dress(self) -> None:
        """Follow theme and scale."""
        self.setFixedHeight(themes.px(46))
        self.search.setMaximumWidth(themes.px(380))
        self.show_spark(self._spark_words)

    def _tell_page(self, number: int) -> None:
        self.page_wanted.emit(number)

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 14, 6)
        row.setSpacing(10)
        segments = QHBoxLayout()
        segments.setSpacing(0)
        for at, button in enumerate(self.pages):
            button.setCheckable(True)
            button.setProperty("edge", ("first", "middle", "last")[at])
            self._group.addButton(button, at)
            segments.addWidget(button)
        row.addLayout(segments)
        row.addWidget(self.undo)
        row.addStretch(1)
        row.addWidget(self.search, 2)
        row.addStretch(1)
        row.addWidget(self.spark)
        row.addWidget(self.run)
