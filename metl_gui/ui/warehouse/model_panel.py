"""The middle of the Warehouse page: the star diagram below a line of what one may do with the model.

Until there is a model, another widget says what the page is for and offers the two ways to one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from metl_gui.core.search.problems import Problem, Severity
from metl_gui.ui.warehouse.star_view import StarView
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.dock import FocusRing
from metl_gui.ui.widgets.empty_place import EmptyPlace
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton, Pill

_LONGEST_NAME = 24
"""Letters for which the box of models makes room."""


class EmptyWarehouse(EmptyPlace):
    """Says what the page is for and offers what fills it.

    Signals:
        propose_wanted, import_wanted: a button was pressed.
    """

    propose_wanted = Signal()
    import_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        text = "It says which dimensions and facts the messages of each entity become."
        super().__init__(parent, "No warehouse model yet", text)
        self.propose = KeyButton("Propose a model", kind="primary")
        self.bring = KeyButton("Import YAML…")
        self.propose.clicked.connect(self.propose_wanted)
        self.bring.clicked.connect(self.import_wanted)
        self.lay_out([self.propose, self.bring])

    def show_can_edit(self, can_edit: bool) -> None:
        """Offer the buttons where something can be made."""
        for button in (self.propose, self.bring):
            button.setEnabled(can_edit)


class ModelLine(QWidget):
    """Which model is shown, what checks say of it, and what can be done with it.

    Signals:
        model_chosen: the name of a model.
        problems_wanted: the count of problems was followed.
    """

    model_chosen = Signal(object)
    problems_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = Elided("", "heading", is_snug=True)
        self.models = ThemedComboBox()
        self.models.setAccessibleName("Warehouse model")
        self.models.setSizeAdjustPolicy(ThemedComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.models.setMinimumContentsLength(_LONGEST_NAME // 2)
        self.problems = KeyButton("", kind="link")
        self.right = Pill()
        self.bring = KeyButton("Import YAML…")
        self.export = KeyButton("Export YAML…")
        self.dictionary = KeyButton("Dictionary…")
        self.dictionary.setToolTip("Write the diagram and the data dictionary as one page for a browser")
        self.sql = KeyButton("SQL of the plan")
        self.models.activated.connect(self._choose)
        self.problems.clicked.connect(self.problems_wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 12, 6)
        row.setSpacing(8)
        for widget in (self.title, self.models, self.right, self.problems):
            row.addWidget(widget)
        row.addStretch(1)
        for button in (self.bring, self.export, self.dictionary, self.sql):
            button.set_height(26)
            row.addWidget(button)

    def show_models(self, names: Sequence[str], current: str, can_edit: bool) -> None:
        """Offer the models of the project; one alone needs no choice."""
        self.models.clear()
        self.models.addItems(list(names))
        self.models.setCurrentText(current)
        self.models.setVisible(len(names) > 1)
        self.title.setText(current if len(names) == 1 else "")
        self.title.setVisible(len(names) == 1)
        self.bring.setEnabled(can_edit)

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Say how many there are."""
        found = Counter(one.severity for one in problems)
        parts = [f"{n:,} {one.value}{'' if n == 1 else 's'}" for one in Severity if (n := found[one])]
        self.problems.setText(", ".join(parts))
        self.problems.setVisible(bool(parts))
        self.problems.updateGeometry()
        self.right.say("" if parts else "no problems", "good")

    def _choose(self, number: int) -> None:
        self.model_chosen.emit(self.models.itemText(number))


class ModelPanel(QStackedWidget):
    """The diagram with its line, or what stands in their place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty, self.line, self.star = EmptyWarehouse(), ModelLine(), StarView()
        FocusRing(self.star)
        shown = QWidget()
        layout = QVBoxLayout(shown)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(1)
        layout.addWidget(self.line)
        layout.addWidget(self.star, 1)
        self.addWidget(self.empty)
        self.addWidget(shown)

    def show_model(self, is_there: bool) -> None:
        """Show the diagram, or what offers one."""
        self.setCurrentIndex(int(is_there))

    @property
    def at_hand(self) -> QWidget:
        """What gets the keyboard when the page comes to the front."""
        return self.star if self.currentIndex() else self.empty.propose
