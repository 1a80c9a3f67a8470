"""The block editor: follows the selection, shows one block as two lists or as its versions, asks for edits.

Its few controls stand in the title line of its dock.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.rename_proposals import best_proposals
from metl_gui.core.search.super_block import super_block
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.block.attribute_rows import note_words, status_words
from metl_gui.ui.block.lines import RowLink
from metl_gui.ui.block.two_lists import TwoLists
from metl_gui.ui.block.version_strip import VersionStrip
from metl_gui.ui.matrix.input.hit_test import Cell
from metl_gui.ui.matrix.painting.overlay import Ghost
from metl_gui.ui.project.block_lists import BlockLists, ListOrder, RefusedWords, lists_of, neighbour, takes_all
from metl_gui.ui.project.document import DocumentChange, OpenProject
from metl_gui.ui.project.notes import SampleWords, notes_of
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.selection import Dragged, NodeRef, Selected, Selection, block_meant, place_of_version
from metl_gui.ui.project.text import block_words
from metl_gui.ui.trees.node import action_named, node_menu
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.hint_line import HintLine
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label, plain_tip


class BlockTools(QWidget):
    """Previous and next block, and the switch to the versions.

    Signals:
        stepped: how many blocks further, -1 or 1.
    """

    stepped = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.back = _button("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "Previous block of this schema")
        self.forward = _button("\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}", "Next block of this schema")
        self.versions = _button("Versions", "How this block changed from version to version")
        self.versions.setCheckable(True)
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(2)
        for button in (self.back, self.forward, self.versions):
            self.row.addWidget(button)
        self.back.clicked.connect(self._go_back)
        self.forward.clicked.connect(self._go_forward)

    def say_keys(self, action_named: Callable[[str], QAction | None]) -> None:
        """Say in the tooltips by which keys the buttons can be had, as a person may have changed them."""
        names = {"previous_block": self.back, "next_block": self.forward, "block_versions": self.versions}
        for name, button in names.items():
            action = action_named(name)
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText) if action is not None else ""
            what = button.accessibleName()
            button.setToolTip(f"{what} ({keys})" if keys else what)

    def _go_back(self) -> None:
        self.stepped.emit(-1)

    def _go_forward(self) -> None:
        self.stepped.emit(1)


def _button(words: str, what: str) -> QPushButton:
    button = QPushButton(words)
    button.setProperty("kind", "quiet")
    button.setAccessibleName(what)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    return button


_MOST_LOSSES = 60
"""New names of more lost attributes than these are not looked for here, which takes a while; the review list does."""
_EMPTY, _LISTS, _VERSIONS = range(3)


class BlockPanel(Surface):
    """Shows the selected block; a block of zeros is two lists without lines.

    Signals:
        toggle_wanted: a ``Cell`` to set or to clear.
        dropped: (``Dragged``, ``Place``) of fields of a tree and the row they were dropped on.
        review_wanted: the ``BlockKey`` whose lost elements a person must decide on.
        retold: title, pill, kind of the pill and facts for the title line changed, see ``told``.
    """

    toggle_wanted = Signal(object)
    dropped = Signal(object)
    review_wanted = Signal(object)
    retold = Signal()

    def __init__(self, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("panel", (600, 290), parent, share=(1.0, 0.36))
        self._project = project
        self._selection = selection
        self._ghosts: tuple[Ghost, ...] = ()
        self._shown: tuple[Document, BlockKey, tuple[Ghost, ...]] | None = None
        self.key: BlockKey | None = None
        self.told = ("Block", "", "plain", "")
        self.why_not_confirm: Callable[[Block], str] = _nothing_against
        self.values_of: Callable[[BlockKey], tuple[SampleWords, SampleWords]] = _no_values
        self.refused: RefusedWords = takes_all
        self.tools = BlockTools()
        self.lists = TwoLists()
        self.versions = VersionStrip()
        self._build()
        self.lists.picked.connect(self._picked)
        self.lists.set_wanted.connect(self._want)
        self.lists.clear_wanted.connect(self._want)
        self.lists.dropped.connect(self._dropped)
        self.versions.chosen.connect(self.go_to)
        self.confirm.clicked.connect(self._confirm)
        self.filter.textChanged.connect(self._arrange)
        self.filter.returnPressed.connect(self.take_focus)
        self.lists.menu_wanted.connect(self._show_menu)
        self.lists.everything_wanted.connect(self.filter.clear)
        self.order.currentIndexChanged.connect(self._arrange)
        self.tools.stepped.connect(self.step)
        self.tools.versions.toggled.connect(self._show_view)
        project.opened.connect(self.refresh)
        PanelUpdater(project, self, self.refresh, self._is_touched, catches_up=False)
        project.looked.connect(self._offer_again)
        project.commented.connect(self.read_again)
        project.refusals_changed.connect(self.read_again)
        project.samples_changed.connect(self.read_again)
        selection.changed.connect(self.refresh)

    # what is shown

    def refresh(self, _what: object = None) -> None:
        """Show the selected block as it is now; while nobody can see it, only its name is worked out."""
        document = self._project.value
        self.key = block_meant(document, self._selection.current)
        block = document.matrix.block(*self.key) if self.key is not None else None
        self._tell(document, block)
        if self.isVisible():
            self._show(document, block)

    def _is_touched(self, changed: DocumentChange) -> bool:
        """Whether a change touches what is shown: a block of the same schema or entity, or anything of the trees."""
        key, blocks = self.key, changed.blocks
        if key is None or blocks is None or not changed.same_trees:
            return True
        document = changed.after
        source, target = document.extraction.schema_of(key[0]), document.cdm.schema_of(key[1])
        return any(document.extraction.schema_of(v) == source or document.cdm.schema_of(w) == target for v, w in blocks)

    def read_again(self) -> None:
        """Show the block anew: what is known beside it is another one now."""
        self._shown = None
        self.refresh()

    def show_values(self) -> None:
        """Show sample values as they are known now."""
        if self._shown is not None:
            left, right = self.values_of(self._shown[1])
            self.lists.left.rows.show_values(left.beside, left.tips)
            self.lists.right.rows.show_values(right.beside, right.tips)

    def show_ghosts(self, ghosts: tuple[Ghost, ...]) -> None:
        """Show suggestions as dashed lines; those of other blocks are not for this panel."""
        self._ghosts = ghosts
        self.refresh()

    def cell_box(self, key: BlockKey, element: Element) -> QRect | None:
        """Return where an element's rows stand in this panel, ``None`` when they are not in sight."""
        box = self.lists.room_between(element) if key == self.key and self.lists.isVisible() else None
        return box.translated(self.lists.mapTo(self, QPoint())) if box is not None else None

    def show_versions(self, is_on: bool) -> None:
        """Show the versions side by side, or the two lists."""
        self.tools.versions.setChecked(is_on)

    def go_to(self, key: BlockKey) -> None:
        """Select another block; an attribute stays selected where the block has it."""
        document, current = self._project.value, self._selection.current
        source, target = current.source, current.target
        p = _same(document, Side.EXTRACTION, source, key[0])
        q = _same(document, Side.CDM, target, key[1])
        chosen = place_of_version(document, Side.EXTRACTION, key[0], p)
        self._selection.choose(Selected(chosen, place_of_version(document, Side.CDM, key[1], q)))

    def step(self, step: int) -> None:
        """Go to the block some steps before or after, along the versions while those are shown."""
        along = self.tools.versions.isChecked()
        found = neighbour(self._project.value, self.key, step, along_versions=along) if self.key is not None else None
        if found is not None:
            self.go_to(found)

    def take_focus(self) -> None:
        """Put the keyboard on what is shown."""
        if self.tools.versions.isChecked():
            self.versions.parts.setFocus()
        else:
            self.lists.focus_side(Side.EXTRACTION)

    def showEvent(self, event: QShowEvent) -> None:
        """Show what changed while nobody could see it."""
        super().showEvent(event)
        self.tools.say_keys(lambda name: action_named(self, name))
        self.refresh()

    def _build(self) -> None:
        self.filter = HintLine("Filter both lists")
        self.filter.setAccessibleName("Filter the attributes of the block")
        self.filter.setClearButtonEnabled(True)
        self.filter.setMaximumWidth(260)
        self.order = ThemedComboBox()
        self.order.setAccessibleName("Order of the attributes")
        for order in ListOrder:
            self.order.addItem(order.value.capitalize(), order)
        self.found = plain_label(kind="small")
        self.note = Elided(kind="small")
        self.confirm = KeyButton("Confirm", kind="primary")
        empty = QLabel("Select a schema and an entity, or a cell or tile of the matrix, to see their block.")
        empty.setProperty("kind", "dim")
        empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        empty.setWordWrap(True)
        self._bar = QWidget()
        bar = QHBoxLayout(self._bar)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.setSpacing(8)
        bar.addWidget(self.filter, 2)
        bar.addWidget(self.order)
        bar.addWidget(self.found)
        bar.addWidget(self.note, 3)
        bar.addWidget(self.confirm)
        self._stack = QStackedWidget()
        for page in (empty, self.lists, self.versions):
            self._stack.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 2, 12, 8)
        layout.setSpacing(6)
        layout.addWidget(self._bar)
        layout.addWidget(self._stack, 1)
        self._show_view()

    def _tell(self, document: Document, block: Block | None) -> None:
        told = ("Block", "", "plain", "")
        if self.key is not None:
            pill, kind, facts = status_words(block)
            told = (block_words(document, self.key), pill, kind, facts)
        if told != self.told:
            self.told = told
            self.retold.emit()

    def _show(self, document: Document, block: Block | None) -> None:
        self.tools.setEnabled(self.key is not None)
        if self.key is None:
            self._shown = None
            self._show_view()
            return
        shown, now = self._shown, (document, self.key, self._ghosts)
        if shown is None or shown[0] is not document or shown[1:] != now[1:]:
            self._shown = now
            self._fill(document, self.key, block)
        current = self._selection.current
        self.lists.choose(
            _attribute(current.source, self.key[0]),
            _attribute(current.target, self.key[1]),
        )

    def _fill(self, document: Document, key: BlockKey, block: Block | None) -> None:
        lists = lists_of(document, key, notes_of(self._project, key), self.refused)
        self.lists.show_lists(lists, self._links(lists, block), block.status if block is not None else None)
        self.show_values()
        said = self._project.comments().of_block(key)
        self.note.setText(note_words(block, _is_newest(document, key), said[-1].text if said else ""))
        self._offer(block)
        self._count()
        self._show_view()

    def _links(self, lists: BlockLists, block: Block | None) -> tuple[RowLink, ...]:
        """Return the elements, then the suggestions: those of the matrix, and new names of what is lost."""
        document, key = self._project.value, lists.key
        comments = self._project.comments()
        links = {e: RowLink(e) for e in lists.elements}
        for e in links if len(comments) else ():
            links[e] = RowLink(e, said="\n".join(c.text for c in comments.of_element(key, e)))
        for ghost in self._ghosts:
            if ghost.key == key:
                links.setdefault(
                    ghost.element, RowLink(ghost.element, f"{ghost.score:.2f}", ghost.is_current, ghost.reason)
                )
        version, target = document.extraction.version(key[0]), document.cdm.version(key[1])
        asks = block is not None and 0 < len(block.open_losses) <= _MOST_LOSSES
        refused, values = self._project.refused_renames(), self._project.rename_values(version.schema_id)
        best = best_proposals(document, block, refused, values) if block is not None and asks else {}
        for loss, proposal in best.items():
            source, end = version.at_path(proposal.candidate), target.of_lineage(loss.q_lineage)
            if source is not None and end is not None:
                element = Element(end.id, source.id)
                links.setdefault(element, RowLink(element, f"rename? {proposal.score:.2f}", said=proposal.reason))
        return tuple(links.values())

    def _offer(self, block: Block | None) -> None:
        lost = len(block.open_losses) if block is not None else 0
        waits = block is not None and block.status in (Status.UNCONFIRMED, Status.NEEDS_REVIEW)
        self.confirm.setVisible(waits)
        why_not = self.why_not_confirm(block) if block is not None and waits and not lost else ""
        words = "Waits for a second person" if why_not else "Confirm the block"
        self.confirm.setText(f"Review {number_of(lost, 'lost element')}" if lost else words)
        self.confirm.setEnabled(bool(lost) or (self._project.can_edit and not why_not))
        self.confirm.setToolTip(plain_tip(why_not))
        self.confirm.updateGeometry()

    def _offer_again(self) -> None:
        """Offer to confirm what is shown, or only to read it: another state is looked at, or the newest again."""
        if self._shown is not None:
            document, key, _ = self._shown
            self._offer(document.matrix.block(*key))

    def _show_view(self) -> None:
        shows_versions = self.tools.versions.isChecked()
        says_something = bool(self.note.text()) or not self.confirm.isHidden()
        self._bar.setVisible(self.key is not None and (says_something or not shows_versions))
        for only_lists in (self.filter, self.order, self.found):
            only_lists.setVisible(not shows_versions)
        if self.key is None:
            self._stack.setCurrentIndex(_EMPTY)
            return
        for step, button in ((-1, self.tools.back), (1, self.tools.forward)):
            found = neighbour(self._project.value, self.key, step, along_versions=shows_versions)
            button.setEnabled(found is not None)
        self._stack.setCurrentIndex(_VERSIONS if shows_versions else _LISTS)
        if shows_versions:
            document = self._project.value
            schema = document.extraction.version(self.key[0]).schema_id
            self.versions.show_block(super_block(document, schema, self.key[1]), self.key)

    def _arrange(self) -> None:
        order = self.order.currentData()
        self.lists.arrange(ListOrder(order), self.filter.text())
        self._count()

    def _count(self) -> None:
        """Say how much the filter lets through."""
        (left, right), lists = self.lists.shown, self.lists.lists
        words = f"{left} of {len(lists.left)}, {right} of {len(lists.right)}" if left or right else "Nothing found"
        self.found.setText(words if self.filter.text().strip() else "")

    # what is wished for

    def _picked(self, pick: tuple[Side, int]) -> None:
        side, attribute = pick
        if self.key is None:
            return
        document, selected = self._project.value, self._selection.current
        for each, id_ in ((Side.EXTRACTION, self.key[0]), (Side.CDM, self.key[1])):
            place = selected.on(each)
            if each is side:
                selected = selected.with_place(each, place_of_version(document, each, id_, attribute))
            elif place is None or place.version is None:
                selected = selected.with_place(each, place_of_version(document, each, id_))
        self._selection.choose(selected)

    def _want(self, element: Element) -> None:
        if self.key is not None:
            self.toggle_wanted.emit(Cell(self.key, element))

    def _dropped(self, drop: tuple[Side, int, Dragged]) -> None:
        side, attribute, dragged = drop
        if self.key is not None:
            version = self.key[0] if side is Side.EXTRACTION else self.key[1]
            self.dropped.emit((dragged, place_of_version(self._project.value, side, version, attribute)))

    def _show_menu(self, wanted: tuple[Side, QPoint]) -> None:
        side, at = wanted
        self._selection.turn_to(side)
        place = self._selection.current.on(side)
        menu = node_menu(self, side, place) if place is not None else None
        if menu is not None:
            menu.popup(at)

    def _confirm(self) -> None:
        block = self._project.value.matrix.block(*self.key) if self.key is not None else None
        if block is None:
            return
        if block.open_losses:
            self.review_wanted.emit(block.key)
        else:
            self._project.do(ConfirmBlock(block.key))


def _nothing_against(_block: Block) -> str:
    return ""


def _no_values(_key: BlockKey) -> tuple[SampleWords, SampleWords]:
    return SampleWords(), SampleWords()


def _attribute(place: NodeRef | None, version_id: int) -> int | None:
    return place.attribute if place is not None and place.version == version_id else None


def _same(document: Document, side: Side, place: NodeRef | None, version_id: int) -> int | None:
    """Find the attribute of a version that is the same as the one selected now."""
    if place is None or place.version is None or place.attribute is None:
        return None
    selected = document.tree(side).version(place.version).attribute(place.attribute)
    same = document.tree(side).version(version_id).of_lineage(selected.lineage) if selected is not None else None
    return same.id if same is not None and document.tree(side).version(version_id).schema_id == place.schema else None


def _is_newest(document: Document, key: BlockKey) -> bool:
    entity = document.cdm.schema(document.cdm.version(key[1]).schema_id)
    return entity.setting("policy") == "parallel" or entity.version_ids[-1] == key[1]
