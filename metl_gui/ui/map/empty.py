"""What stands where the matrix will be, until there is something on both sides to map."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.pill import KeyButton


class EmptyMap(QWidget):
    """Says what the place is for and offers what fills it.

    Signals:
        import_wanted: the ``Side`` whose button was pressed.
        entity_wanted: an entity is to be made by hand.
    """

    import_wanted = Signal(object)
    entity_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.is_needed = True
        self.title, self.text = QLabel(), QLabel()
        self.title.setProperty("kind", "title")
        self.text.setProperty("kind", "dim")
        for label in (self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
        self.sources = KeyButton("Import extraction schemas…", kind="primary")
        self.targets = KeyButton("Import the canonical model…", kind="primary")
        self.by_hand = KeyButton("New entity…")
        self.by_hand.clicked.connect(self.entity_wanted)
        self.sources.clicked.connect(self._sources_pressed)
        self.targets.clicked.connect(self._targets_pressed)
        buttons = QHBoxLayout()
        buttons.setSpacing(10)
        buttons.addStretch(1)
        buttons.addWidget(self.sources)
        buttons.addWidget(self.targets)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 20, 20, 20)
        layout.setSpacing(10)
        layout.addStretch(1)
        layout.addWidget(self.title)
        layout.addWidget(self.text)
        layout.addSpacing(6)
        layout.addLayout(buttons)
        layout.addWidget(self.by_hand, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)

    def show_document(self, document: Document, looks_back: bool = False) -> None:
        """Offer what a document still lacks; an earlier state lacks it for ever."""
        has_sources, has_targets = (document.tree(side).has_schemas for side in (Side.EXTRACTION, Side.CDM))
        self.is_needed = not (has_sources and has_targets)
        self.sources.setVisible(not has_sources and not looks_back)
        self.targets.setVisible(not has_targets and not looks_back)
        self.by_hand.setVisible(not has_targets and not looks_back)
        if looks_back:
            sides = (("extraction schema", has_sources), ("entity", has_targets))
            lacking = " and no ".join(words for words, is_there in sides if not is_there)
            words = "Nothing to map in this state", f"There was no {lacking} then."
        elif has_sources:
            words = "No canonical model yet", "Its entities are the rows of the matrix."
        elif has_targets:
            words = "No extraction schemas yet", "Their attributes, version by version, are the columns of the matrix."
        else:
            words = "Nothing to map yet", "Columns are the attributes of extraction schemas, rows those of entities."
        self.title.setText(words[0])
        self.text.setText(words[1])

    def show_keys(self, keys: dict[str, str]) -> None:
        """Show the keys that actions have now, by the actions' ids."""
        buttons = {"import_schema": self.sources, "import_cdm": self.targets, "new_entity": self.by_hand}
        for id_, button in buttons.items():
            button.key = keys[id_]
            button.updateGeometry()

    def _sources_pressed(self) -> None:
        self.import_wanted.emit(Side.EXTRACTION)

    def _targets_pressed(self) -> None:
        self.import_wanted.emit(Side.CDM)
