"""New attributes in the version of a review item, each with a way to map it and where it may go.

Beside them stands what else a person should know of the version. Where the new attributes of the item in front may go
is worked out by a job and shown in their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import RefusedRenames, RefusedSuggestions
from metl_gui.core.review.items import RestorableLoss, ReviewItem
from metl_gui.core.review.rename_proposals import best_proposals
from metl_gui.core.suggest.block import Candidate, suggest_block
from metl_gui.core.suggest.values import ValueEvidence
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.ui.context.app_context import AppContext
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.project.text import version_words
from metl_gui.ui.widgets.choice import ChoiceRow, Chooser
from metl_gui.ui.widgets.dialogs import show
from metl_gui.ui.widgets.labels import Elided, shortened
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import left_to_right, plain_tip
from metl_gui.ui.widgets.two_line_list import TwoLines

if TYPE_CHECKING:
    from metl_gui.ui.review.page import ReviewPage

_ROWS = 6
_BLOCKS = 4
_LEAST_PX = 60
_LONGEST_NAME = 32
_BUTTON_AT = 2
"""Where the button of a line stands, behind its words and its fact."""


class FreshRows(QWidget):
    """New attributes with their types, type changes, and which later versions the decision is about.

    Signals:
        map_wanted: the ``Element`` to be set.
        again_wanted: a later block's key and the ``Element`` to be set there, since both its ends are there again.
    """

    map_wanted = Signal(object)
    again_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons: list[KeyButton] = []
        self._item: ReviewItem | None = None
        self._document = Document()
        self._lines: dict[int, QHBoxLayout] = {}
        self._can_map = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(2, 0, 2, 0)
        self._column.setSpacing(4)

    def show_item(self, document: Document, item: ReviewItem, can_edit: bool) -> None:
        """Show what is new for another item."""
        while (taken := self._column.takeAt(0)) is not None:
            widget = taken.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        if self._item is not None and self._item.key != item.key:
            for chooser in self.findChildren(Chooser):
                chooser.reject()  # what it would choose is of the item before
        self._document, self._item, self.buttons, self._lines = document, item, [], {}
        version = document.extraction.version(item.key[0])
        free = self._free(item)
        fresh = [attribute for path in item.new_attributes if (attribute := version.at_path(path)) is not None]
        taken_ids = {element.p for element in item.block.elements}
        unmapped = [attribute for attribute in fresh if attribute.id not in taken_ids]
        self._can_map = can_edit and bool(free)
        for attribute in unmapped[:_ROWS]:
            self._column.addWidget(self._row(attribute, version.label))
        if len(unmapped) > _ROWS:
            rest = ", ".join(attribute.path for attribute in unmapped[_ROWS:])
            self._column.addWidget(Elided(f"and {len(unmapped) - _ROWS:,} more are new: {rest}", "dim"))
        for again in item.there_again[:_ROWS]:
            self._column.addWidget(self._again_row(again, can_edit))
        for words in _more_words(document, item):
            label = QLabel(words)
            label.setProperty("kind", "dim")
            label.setTextFormat(Qt.TextFormat.RichText)
            label.setWordWrap(True)
            self._column.addWidget(label)
        self.setVisible(self._column.count() > 0)

    @property
    def asked(self) -> tuple[int, ...]:
        """Ids of the new attributes that have a line."""
        return tuple(self._lines)

    def show_offers(self, offers: tuple[Candidate, ...]) -> None:
        """Say in the lines of new attributes where they may go, with a button that maps them there."""
        for offer in offers:
            line = self._lines.pop(offer.element.p, None)
            if line is not None:
                self._offer(line, offer)

    def _offer(self, line: QHBoxLayout, offer: Candidate) -> None:
        item = self._item
        source = self._document.extraction.version(item.key[0]).attribute(offer.element.p) if item is not None else None
        target = self._document.cdm.version(item.key[1]).attribute(offer.element.q) if item is not None else None
        if item is None or source is None or target is None:
            return
        where = version_words(self._document, Side.CDM, item.key[1])
        label = QLabel(f"· proposal <b>{escape(where)} {escape(target.path)}</b> {offer.score:.2f}")
        label.setTextFormat(Qt.TextFormat.RichText)
        label.setProperty("kind", "dim")
        label.setToolTip(plain_tip(f"{target.path}: {offer.reason}"))
        label.setMinimumWidth(_LEAST_PX)  # the buttons stay in sight beside long paths
        button = KeyButton("Map")
        button.setAccessibleName(f"Map {source.path} to {target.path}")
        button.setAccessibleDescription(f"{offer.score:.2f}, {offer.reason}")
        button.setEnabled(self._can_map)
        button.clicked.connect(partial(self._take, offer.element))
        item_there = line.itemAt(_BUTTON_AT)
        other = item_there.widget() if item_there is not None else None
        line.insertWidget(_BUTTON_AT, label)
        line.insertWidget(_BUTTON_AT + 1, button)
        if isinstance(other, KeyButton):
            other.setText("Elsewhere…")
            other.updateGeometry()
            QWidget.setTabOrder(button, other)
            self.buttons.insert(self.buttons.index(other), button)

    def _take(self, element: Element, _checked: bool = False) -> None:
        self.map_wanted.emit(element)

    def choose_target(self, attribute: Attribute) -> Chooser | None:
        """Ask where a new attribute goes: to what lost its source first."""
        item = self._item
        if item is None:
            return None
        lost = {loss.q_lineage for loss in item.block.open_losses}
        free = self._free(item)
        choices = [ChoiceRow(TwoLines(a.path, _facts(a)), a, "Lost its source") for a in free if a.lineage in lost] + [
            ChoiceRow(TwoLines(a.path, _facts(a)), a, "Not mapped in this block") for a in free if a.lineage not in lost
        ]
        target = version_words(self._document, Side.CDM, item.key[1])
        chooser = Chooser(f"Where does {attribute.path} go in {target}?", choices, self)
        chooser.chosen.connect(partial(self._chosen, attribute))
        show(chooser)
        return chooser

    def _row(self, attribute: Attribute, label: str) -> QWidget:
        words = f"New in version {escape(label)}, not mapped: <b>{escape(attribute.path)}</b>"
        pressed = partial(self._pressed, attribute)
        line = self._line(words, attribute.type_text, f"Map {attribute.path}…", self._can_map, pressed)
        layout = line.layout()
        if isinstance(layout, QHBoxLayout):
            self._lines[attribute.id] = layout
        return line

    def _line(self, words: str, fact: str, spoken: str, is_enabled: bool, pressed: Callable[[bool], object]) -> QWidget:
        """Make a line of rich text and a fact, with a button that says what it does in one word."""
        line = QWidget()
        layout = QHBoxLayout(line)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        name = QLabel(left_to_right(shortened(words, _LONGEST_NAME, bold_too=True)))
        name.setTextFormat(Qt.TextFormat.RichText)
        name.setToolTip(words)
        name.setProperty("kind", "dim")
        button = KeyButton("Map…" if spoken.endswith("…") else "Map again")
        button.setAccessibleName(spoken)
        button.setEnabled(is_enabled)
        button.clicked.connect(pressed)
        self.buttons.append(button)
        layout.addWidget(name)
        layout.addWidget(Elided(fact, "dim", is_snug=True))
        layout.addWidget(button)
        layout.addStretch(1)
        return line

    def _again_row(self, again: RestorableLoss, can_edit: bool) -> QWidget:
        where = version_words(self._document, Side.EXTRACTION, again.key[0])
        words = f"<b>{escape(again.from_path)}</b> is there again in {escape(where)}, and so is {escape(again.to_path)}"
        return self._line(words, "", f"Map {again.from_path} again", can_edit, partial(self._map_again, again))

    def _map_again(self, again: RestorableLoss, _checked: bool = False) -> None:
        source = self._document.extraction.version(again.key[0]).at_path(again.from_path)
        target = self._document.cdm.version(again.key[1]).at_path(again.to_path)
        if source is not None and target is not None:
            self.again_wanted.emit((again.key, Element(target.id, source.id)))

    def _pressed(self, attribute: Attribute, _checked: bool = False) -> None:
        self.choose_target(attribute)

    def _chosen(self, attribute: Attribute, target: object) -> None:
        if isinstance(target, Attribute):
            self.map_wanted.emit(Element(target.id, attribute.id))

    def _free(self, item: ReviewItem) -> list[Attribute]:
        mapped = {element.q for element in item.block.elements}
        return [a for a in self._document.cdm.version(item.key[1]).attributes if a.id not in mapped]


def _facts(attribute: Attribute) -> str:
    need = "optional" if attribute.optional else "required"
    return f"{attribute.type_text} · {need}{f' · {attribute.doc}' if attribute.doc else ''}"


def _more_words(document: Document, item: ReviewItem) -> list[str]:
    parts = []
    for change in item.type_changes:
        tail = "" if change.is_compatible else ": its values cannot be read as before"
        types = f"was {escape(change.before)} and is {escape(change.after)} now"
        parts.append(f"<b>{escape(change.path)}</b> {types}{tail}")
    if item.new_targets:
        parts.append(f"New in the entity: <b>{escape(', '.join(item.new_targets))}</b>")
    if item.chain:
        named = ", ".join(version_words(document, Side.EXTRACTION, key[0]) for key in item.chain[:_BLOCKS])
        more = f" and {len(item.chain) - _BLOCKS:,} more" if len(item.chain) > _BLOCKS else ""
        count = number_of(len(item.chain), "later version")
        parts.append(f"The decision holds for {count} too: {escape(named)}{more}")
    return parts


LEAST_SCORE = 0.5
"""What is less likely than this is found in the suggestions, and offered here by no button."""


def offers(
    document: Document,
    item: ReviewItem,
    asked: tuple[int, ...],
    refusals: RefusedSuggestions,
    refused: RefusedRenames,
    alike: Mapping[Element, ValueEvidence] | None = None,
) -> tuple[Candidate, ...]:
    """Return the best place of each new attribute in the block of an item, as far as one is likely.

    What a card proposes as a new name is left to the card, which joins the two names.

    Args:
        document: where the item is.
        item: the item.
        asked: ids of the attributes.
        refusals: suggestions that people refused.
        refused: renames that people refused.
        alike: how much alike the values of free attributes are.
    """
    version, target = document.extraction.version(item.key[0]), document.cdm.version(item.key[1])
    likely = [
        each
        for each in suggest_block(document, item.key, refusals, alike)
        if each.is_best and each.score >= LEAST_SCORE and each.element.p in asked
    ]
    if not likely:
        return ()
    proposed = best_proposals(document, item.block, refused).items()
    renamed = {(proposal.candidate, loss.q_lineage) for loss, proposal in proposed}
    paths = {attribute.id: attribute.path for attribute in version.attributes}
    lineages = {attribute.id: attribute.lineage for attribute in target.attributes}
    return tuple(each for each in likely if (paths[each.element.p], lineages[each.element.q]) not in renamed)


class NewAttributeController(QObject):
    """Asks anew for each item that comes to the front.

    Args:
        page: shows the offers.
    """

    def __init__(self, context: AppContext, page: ReviewPage) -> None:
        super().__init__(context.window)
        self._page, self._project = page, context.project
        self._newest = NewestJob(context.jobs, self)
        self._page.list.chosen.connect(self._chosen)

    def _chosen(self, item: ReviewItem | None) -> None:
        fresh, workbench, document = self._page.detail.fresh, self._project.workbench, self._project.value
        asked = fresh.asked
        if item is None or workbench is None or not asked or not self._page.isVisible():
            self._newest.cancel()
            return
        refused, shelf, newest = self._page.refused, self._project.samples, self._project.newest

        def done(outcome: JobOutcome[tuple[Candidate, ...]]) -> None:
            if outcome.value is not None and self._page.item is item and self._project.value is document:
                fresh.show_offers(outcome.value)

        self._newest.start(
            "Looking where new attributes go",
            lambda _watch: offers(
                document,
                item,
                asked,
                RefusedSuggestions(workbench.kept.refused_suggestions.all()),
                refused,
                shelf.alike(document, newest, item.key) if shelf is not None else None,
            ),
            done,
        )
