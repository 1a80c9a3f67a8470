"""The sheet that says what dropped files are; nothing happens to them unless a button is pressed.

``parts_of`` puts them into words, part by part with what each offers, as plain values.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.text import some_lines
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton, ValueButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.values import Value
from metl_gui.workbench.importing.dropped_files import Novelty, RecognizedFiles, likely_side, novelty

_PARTS_SHOWN = 3
_NEW_SHOWN = 4
_LABELS_SHOWN = 6


_TREES = {Side.EXTRACTION: "extraction tree", Side.CDM: "canonical model"}


class Act(StrEnum):
    """What a button of the sheet does."""

    OPEN = "open"
    ADD_EXTRACTION = "add-extraction"
    ADD_CDM = "add-cdm"
    ADD_TABLE = "add-table"
    READ_ANSWERS = "read-answers"
    ADD_FROM_MESSAGES = "add-from-messages"
    USE = "use"
    TRY = "try"
    ONLY_TRY = "only-try"
    TRY_MESSAGES = "try-messages"


class DropOffer(Value):
    """One button.

    Args:
        act: what it does.
        words: what it says.
        path: the file that it is about, where there are several.
        why_not: why it cannot be pressed now, empty when it can.
    """

    act: Act
    words: str
    path: Path | None = None
    why_not: str = ""


class DroppedPart(Value):
    """One kind of file among those that were dropped.

    Args:
        title: what it is.
        text: numbers.
        offers: its buttons, the likeliest first.
    """

    title: str
    text: str
    offers: tuple[DropOffer, ...]


def parts_of(
    found: RecognizedFiles, document: Document, why_not: str, has_project: bool, onto: Side | None = None
) -> tuple[DroppedPart, ...]:
    """Put what was found into words.

    Args:
        found: what the files are.
        document: the document of the open project.
        why_not: why nothing can be added to it, empty when it can.
        has_project: whether there is one at all.
        onto: the tree that they were dropped on, ``None`` for none.
    """
    parts = [
        DroppedPart(f"The project {path.stem}", _end_of(str(path)), (DropOffer(Act.OPEN, "Open it", path),))
        for path in found.projects
    ]
    if found.schemas.declarations:
        side = onto or likely_side(found.schemas, document)
        parts.append(_schemas(found, document, side, why_not, has_project))
    for table in found.tables:
        lines = f"; {number_of(table.problems, 'line')} cannot be used" if table.problems else ""
        text = f"{number_of(table.rows, 'element')} in {table.path.name}{lines}"
        parts.append(
            DroppedPart("A mapping table", text, (DropOffer(Act.ADD_TABLE, "Add its elements", table.path, why_not),))
        )
    for unread in found.unread_tables:
        titles = ", ".join(some_lines(unread.titles, _LABELS_SHOWN))
        text = f"{number_of(len(unread.titles), 'column')} in {unread.path.name}: {titles}. "
        text += "It is a mapping table once you say which of them is what."
        offer = DropOffer(Act.ADD_TABLE, "Say which column is what…", unread.path, why_not)
        parts.append(DroppedPart("A table of another shape", text, (offer,)))
    for sheet in found.sheets:
        text = f"{number_of(sheet.answered, 'answer')} in {number_of(sheet.rows, 'row')} of {sheet.path.name}"
        offer = DropOffer(Act.READ_ANSWERS, "See what they would do", sheet.path, "" if has_project else why_not)
        parts.append(DroppedPart("An answer sheet", text, (offer,)))
    if found.messages:
        parts.append(_messages(found, document, why_not, has_project))
    return tuple(parts)


def refusal_words(found: RecognizedFiles, most: int) -> list[str]:
    """Return a line for each file that cannot be used, the last one for those that are not listed."""
    return some_lines((f"{Path(refused.source).name}: {refused.reason}" for refused in found.refused), most)


def _schemas(found: RecognizedFiles, document: Document, likely: Side, why_not: str, has_project: bool) -> DroppedPart:
    facts = novelty(found.schemas, document, likely)
    text = f"{number_of(facts.versions, 'version')} of {number_of(facts.schemas, 'schema')} in "
    text += f"{number_of(found.schema_files, 'file')}. {_what_is_new(facts, _TREES[likely])}"
    if found.schemas.wire:
        text += " Binary messages that name them can be read then."
    offers = {
        Side.EXTRACTION: DropOffer(Act.ADD_EXTRACTION, "Add to the extraction tree", None, why_not),
        Side.CDM: DropOffer(Act.ADD_CDM, "Add to the canonical model", None, why_not),
    }
    other = Side.CDM if likely is Side.EXTRACTION else Side.EXTRACTION
    no_try = "" if has_project else why_not
    return DroppedPart(
        "Schemas", text, (offers[likely], offers[other], DropOffer(Act.ONLY_TRY, "Only try", None, no_try))
    )


def _what_is_new(facts: Novelty, tree: str) -> str:
    if not facts.new_versions:
        return f"The {tree} has all of them already."
    words = f"{number_of(facts.new_versions, 'version')} {_is_are(facts.new_versions)} new to the {tree}"
    words += f", {number_of(facts.new_schemas, 'schema')} by name too" if facts.new_schemas else ""
    return f"{words}: {_new_names(facts)}."


def _new_names(facts: Novelty) -> str:
    """Name the first schemas of which versions are new, with these."""
    named = []
    for name, labels in facts.new[:_NEW_SHOWN]:
        known = [label for label in labels if label]
        more = len(known) - _LABELS_SHOWN
        shown = ", ".join(known[:_LABELS_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
        named.append(f"{name} {shown}".rstrip())
    left = len(facts.new) - _NEW_SHOWN
    return "; ".join([*named, f"{number_of(left, 'other schema')}"] if left > 0 else named)


def _messages(found: RecognizedFiles, document: Document, why_not: str, has_project: bool) -> DroppedPart:
    no_run = "" if has_project else why_not
    text = f"{number_of(len(found.messages), 'file')}, {_size(found.message_bytes)}, "
    text += f"read from {_end_of(found.message_source)}"
    offers = [
        DropOffer(Act.TRY, "Test run", None, no_run),
        DropOffer(Act.USE, "Use as sample", None, no_run),
        DropOffer(Act.ADD_FROM_MESSAGES, "Add their schemas", None, why_not),
    ]
    if found.message_schemas is not None and found.message_schemas.declarations:
        facts = novelty(found.message_schemas, document, Side.EXTRACTION)
        text += f". They are of {number_of(facts.versions, 'version')} of {number_of(facts.schemas, 'schema')}. "
        text += _what_is_new(facts, _TREES[Side.EXTRACTION])
        offers.append(DropOffer(Act.TRY_MESSAGES, "Only try", None, no_run))
    return DroppedPart("Messages", text, tuple(offers))


def _end_of(path: str) -> str:
    """Return the end of a path, which tells most; a whole one is wider than the sheet."""
    return str(Path(*Path(path).parts[-_PARTS_SHOWN:]))


def _is_are(number: int) -> str:
    return "is" if number == 1 else "are"


def _size(number: int) -> str:
    size = float(number)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"


_WIDTH_PX = 600


class DropSheet(FittedDialog):
    """One part for each kind of file, with its buttons.

    Args:
        parts: what was found.
        refused: a line for each file that cannot be used.

    Signals:
        wanted: the ``DropOffer`` whose button was pressed; connect it queued, so that the sheet is closed by then.
    """

    wanted = Signal(object)

    def __init__(self, parts: tuple[DroppedPart, ...], refused: list[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("What was dropped")
        self.buttons: list[tuple[DropOffer, ValueButton]] = []
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(12)
        layout.addWidget(_label("What was dropped" if parts else "Nothing here can be used", "heading"))
        for part in parts:
            layout.addWidget(self._card(part))
        if refused:
            self.refused = _label("\n".join(refused), "dim")
            layout.addWidget(_label("Cannot be used" if parts else "Why", "panelTitle"))
            layout.addWidget(self.refused)
        self.cancel = KeyButton("Cancel" if parts else "Close", "Esc")
        self.cancel.setAutoDefault(not parts)
        self.cancel.clicked.connect(self.reject)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        layout.addLayout(foot)
        self.setFixedWidth(themes.px(_WIDTH_PX))
        self.resize(self.width(), layout.totalHeightForWidth(self.width()))
        self.cancel.setFocus()

    def _card(self, part: DroppedPart) -> QFrame:
        frame = QFrame()
        frame.setProperty("surface", "card")
        column = QVBoxLayout(frame)
        column.setContentsMargins(14, 10, 14, 12)
        column.setSpacing(6)
        column.addWidget(_label(part.title, "heading"))
        column.addWidget(_label(part.text, "dim"))
        row = QHBoxLayout()
        row.setSpacing(10)
        for at, offer in enumerate(part.offers):
            button = ValueButton(offer, offer.words, kind="primary" if at == 0 else "")
            button.setEnabled(not offer.why_not)
            button.setAutoDefault(False)
            button.setAccessibleDescription(f"{part.title}: {part.text}")
            button.chosen.connect(self._choose)
            self.buttons.append((offer, button))
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        for why_not in dict.fromkeys(offer.why_not for offer in part.offers if offer.why_not):
            column.addWidget(_label(why_not, "small"))
        return frame

    def _choose(self, offer: DropOffer) -> None:
        self.accept()
        self.wanted.emit(offer)


def _label(words: str, kind: str) -> QLabel:
    label = plain_label(words, kind)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return label
