"""What people do to the mapping from the Map page: set, clear, run, drop, map and unmap what is chosen.

Every act is one undo step with a title; what could not be done is said in numbers. Only an end that is taken asks, and
a new version of an entity. The chosen nodes of the trees stand for attributes by version; a schema stands for its
newest version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from metl_gui.core.changes.draft import Edit, perform
from metl_gui.core.counted import number_of
from metl_gui.core.edits.attribute_pairs import Chosen, Pairing, PairingPlan, by_name, by_position, plan, plan_pairs
from metl_gui.core.edits.block_copy import plan_copy
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.entities import ChangeEntity, CreateAndMap, RenameEntity, declared
from metl_gui.core.edits.lineages import AttributeKey
from metl_gui.core.edits.version_scope import ScopePlan, VersionScope, carried
from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.errors import EditError
from metl_gui.ui.jobs.jobs import CommandResult, Jobs, work_out
from metl_gui.ui.map.conflict import ConflictAnswer, ElementConflict, toggle
from metl_gui.ui.map.planes import PlaneArranger
from metl_gui.ui.map.scoped_edits import Instead, ScopedEdits, left_words, result, taken_words
from metl_gui.ui.matrix.input.hit_test import Cell
from metl_gui.ui.matrix.input.selected_content import box_of, box_shown, elements_in, nodes_in, shown_of
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import Dragged, NodeRef, Selected, Selection
from metl_gui.ui.project.text import block_words, path_of, schema_name, some_lines, version_words
from metl_gui.values import Value


def chosen_on(document: Document, side: Side, places: Iterable[NodeRef]) -> tuple[Chosen, ...]:
    """Return the attributes of some nodes, by version in the order in which the versions first come."""
    tree = document.tree(side)
    found: dict[int, set[int] | None] = {}
    for place in places:
        schema = tree.find_schema(place.schema)
        version = place.version if place.version is not None else schema.version_ids[-1] if schema else None
        if version is None or tree.find_version(version) is None:
            continue
        if place.attribute is None:
            found[version] = None
        else:
            some = found.setdefault(version, set())
            if some is not None:
                some.add(place.attribute)
    return tuple(Chosen(version, _ordered(document, side, version, ids)) for version, ids in found.items())


def blocks_of(document: Document, selected: Selected) -> tuple[BlockKey, ...]:
    """Return the blocks that the chosen nodes make: every chosen version with every chosen entity version."""
    sources = chosen_on(document, Side.EXTRACTION, selected.sources)
    targets = chosen_on(document, Side.CDM, selected.targets)
    return tuple((one.version, other.version) for one in sources for other in targets)


def elements_between(
    document: Document, sources: tuple[Chosen, ...], targets: tuple[Chosen, ...]
) -> dict[BlockKey, tuple[Element, ...]]:
    """Return the elements between chosen nodes; with nodes on one side only, all elements of theirs.

    Cost: the column sets or row sets of the chosen versions.
    """
    ps = {one.version: set(one.attributes) for one in sources}
    qs = {other.version: set(other.attributes) for other in targets}
    if sources:
        keys = [key for v in ps for key in document.matrix.column_keys(v) if not qs or key[1] in qs]
    else:
        keys = [key for w in qs for key in document.matrix.row_keys(w)]
    found: dict[BlockKey, tuple[Element, ...]] = {}
    for key in keys:
        block = document.matrix.block(*key)
        p, q = ps.get(key[0]), qs.get(key[1])
        inside = (
            [e for e in block.elements if (not ps or (p and e.p in p)) and (not qs or (q and e.q in q))]
            if block
            else []
        )
        if inside:
            found[key] = tuple(inside)
    return found


def _ordered(document: Document, side: Side, version: int, ids: set[int] | None) -> tuple[int, ...]:
    attributes = document.tree(side).version(version).attributes
    return tuple(a.id for a in attributes if ids is None or a.id in ids)


_NAMED = 4
_MOST_BLOCKS = 2_000
_AT_ONCE = 50
"""So many blocks are paired between two events; more of them are a job."""


class EditQuestion(Value):
    """A conflict that waits for an answer, and what an answer does."""

    conflict: ElementConflict
    answered: Callable[[ConflictAnswer], object]


class VersionQuestion(Value):
    """A new version of an entity that waits for an answer.

    Args:
        title, text: what is asked.
        make: makes the version.
        answer: the words that say so.
    """

    title: str
    text: str
    make: Callable[[], object]
    answer: str = "Make it and map"


class MappingController(QObject):
    """The commands of one window.

    Args:
        project: what is edited.
        selection: what is chosen.
        planes: the plane as it is shown, and with nothing hidden.
        edits: what does edits with what they mean in other versions.
        jobs: what works out large plans, ``None`` to wait for them.

    Signals:
        said: a ``CommandResult``.
        asked: an ``EditQuestion``.
        version_asked: a ``VersionQuestion``.
    """

    said = Signal(object)
    asked = Signal(object)
    version_asked = Signal(object)

    def __init__(
        self,
        project: OpenProject,
        selection: Selection,
        planes: PlaneArranger,
        edits: ScopedEdits,
        jobs: Jobs | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._project = project
        self._selection = selection
        self._planes = planes
        self._edits = edits
        self._jobs = jobs

    # single cells

    def toggle(self, cell: Cell) -> None:
        """Set or clear an element; where an end is taken, ask what to do."""
        meant = toggle(self._project.value, cell.key, cell.element)
        if isinstance(meant, ElementConflict):
            self._ask(meant)
        else:
            self._edits.do((meant,))

    def set(self, cell: Cell) -> None:
        """Set an element, never clear it."""
        block = self._project.value.matrix.block(*cell.key)
        if block is not None and cell.element in block.elements:
            self._say(f"{self._pair(cell)} is mapped already.", is_good=False)
        else:
            self.toggle(cell)

    def clear_cell(self, cell: Cell) -> None:
        """Clear an element, never set it."""
        block = self._project.value.matrix.block(*cell.key)
        if block is not None and cell.element in block.elements:
            self._edits.do((SetElements(cell.key, zeros=(cell.element,)),))

    def run(self, cells: tuple[tuple[Cell, ...], tuple[Cell, ...]]) -> None:
        """Set the cells of a run, which lie in one block, and say which were left out."""
        wanted, refused = cells
        if not wanted:
            self._say(f"Nothing mapped: {len(refused):,} left out because an end is taken.", is_good=False)
            return
        key = wanted[0].key
        ones = tuple(sorted(cell.element for cell in wanted))
        title = f"Map {number_of(len(ones), 'attribute')} of {block_words(self._project.value, key)}"
        left = f"{len(wanted):,} mapped, {len(refused):,} left out because an end is taken" if refused else ""
        self._edits.do((SetElements(key, ones),), title if len(ones) > 1 else "", left)

    # chosen nodes

    def map_chosen(self) -> None:
        """Map what is chosen: one attribute each is the cell, many are paired by name."""
        sources, targets = self._chosen()
        ones = _single(sources), _single(targets)
        if ones[0] is not None and ones[1] is not None:
            self.set(Cell((ones[0][0], ones[1][0]), Element(ones[1][1], ones[0][1])))
        else:
            self.map_by_name()

    def map_by_name(self) -> None:
        """Pair what is chosen on both sides by equal names."""
        self._pair_chosen(by_name, "by name", "By position instead", by_position)

    def map_by_position(self) -> None:
        """Pair what is chosen on both sides by its order."""
        self._pair_chosen(by_position, "by position", "By name instead", by_name)

    def apply_to_others(self) -> None:
        """Map all other versions of the schema as the chosen block is mapped."""
        key = self._chosen_block()
        if key is not None:
            self._edits.apply_to_others(key)

    def map_like_before(self) -> None:
        """Map the chosen block as the version before is mapped, as far as its ends are free."""
        key, document = self._chosen_block(), self._project.value
        if key is None:
            return
        before = document.extraction.previous(document.extraction.version(key[0]))
        if before is None:
            self._say("It is the first version of its schema.", is_good=False)
            return
        done = plan_copy(document, (before.id, key[1]), (key,))
        what = f"{number_of(done.copied, 'attribute')} mapped as in version {before.label}"
        if not done.edits:
            self._say(f"Nothing more is mapped in version {before.label} that has a free place here.", is_good=False)
            return
        left = f", {len(done.unplaced):,} could not be placed" if done.unplaced else ""
        title = f"Map {block_words(document, key)} like version {before.label}"
        self._edits.do(done.edits, title, f"{what}{left}", scope=VersionScope.THIS)

    def unmap_chosen(self) -> None:
        """Clear the elements between what is chosen on both sides, or all of what is chosen on one side."""
        sources, targets = self._chosen()
        if not sources and not targets:
            self._say("Nothing is chosen: choose fields in a tree, or a cell.", is_good=False)
            return
        found = elements_between(self._project.value, sources, targets)
        self._clear(found, "Unmap", "unmapped")

    def clear(self) -> None:
        """Clear the elements of the chosen rectangle, or the current one; versions are never removed."""
        selected = self._selection.current
        whole = self._planes.whole
        if selected.cells is not None and whole is not None:
            box = box_of(whole, selected.cells)
            self._clear(elements_in(whole, box) if box is not None else {}, "Clear", "cleared")
        elif selected.block is not None and selected.element is not None:
            self.clear_cell(Cell(selected.block, selected.element))

    # what is dropped

    def drop(self, dragged: Dragged, onto: NodeRef, is_by_name: bool = True) -> None:
        """Map fields of one tree to a node of the other.

        Args:
            dragged: the fields.
            onto: an attribute takes the first field, further ones go to the attributes behind it; an entity takes the
                fields as attributes that are created for them.
            is_by_name: whether it was dropped on the node's name and not on a tile, which stands for many nodes.
        """
        fields = dragged.attributes
        if not fields:
            self._say("Drag single fields: a schema or version cannot be mapped as a whole.", is_good=False)
        elif onto.attribute is not None and onto.version is not None:
            self._drop_on_attribute(dragged.side, fields, onto)
        elif not is_by_name:
            self._say("Zoom in until rows have names, then drop on one of them.", is_good=False)
        elif dragged.side is Side.EXTRACTION:
            self._create_and_map(fields, onto)
        else:
            self._say("Schemas come from their services: drop on one of their fields.", is_good=False)

    def _drop_on_attribute(self, side: Side, fields: tuple[NodeRef, ...], onto: NodeRef) -> None:
        document = self._project.value
        if len(fields) == 1:
            source, target = (fields[0], onto) if side is Side.EXTRACTION else (onto, fields[0])
            self.set(Cell(_key(source, target), Element(target.attribute or 0, source.attribute or 0)))
            return
        other = Side.CDM if side is Side.EXTRACTION else Side.EXTRACTION
        version = document.tree(other).version(onto.version or 0)
        rest = [a.id for a in version.attributes]
        rest = rest[rest.index(onto.attribute or 0) :] if onto.attribute in rest else []
        pairs: dict[BlockKey, list[tuple[int, int]]] = {}
        for field, id_ in zip(fields, rest, strict=False):
            place = NodeRef(onto.schema, onto.version, id_)
            source, target = (field, place) if side is Side.EXTRACTION else (place, field)
            pairs.setdefault(_key(source, target), []).append((source.attribute or 0, target.attribute or 0))
        parts = [plan_pairs(document, key, own) for key, own in pairs.items()]
        without = len(fields) - sum(len(own) for own in pairs.values())
        self._carry_out(_joined(parts, without), "")

    def _create_and_map(self, fields: tuple[NodeRef, ...], entity: NodeRef) -> None:
        """Ask before an entity gets a new version; what is refused anyway is told without a question."""
        leaves = tuple(AttributeKey(place.version or 0, place.attribute or 0) for place in fields)
        edit, document = CreateAndMap(entity.schema, leaves), self._project.value
        newest = self._newest_after(edit, entity)
        if newest is None:
            self._edits.perform(edit)
            return
        name = schema_name(document, Side.CDM, entity.schema)
        made = f"{number_of(len(leaves), 'attribute')} more, mapped from {_sources(document, fields)}"
        others = len(self._created(edit)[1].edits)
        made += f" and in {number_of(others, 'other version')}" if others else ""
        text = f"Version {newest.label} has {made}. What is mapped to {name} now is carried over to it."
        self.version_asked.emit(VersionQuestion(f"Make a new version of {name}?", text, lambda: self._make(edit, name)))

    def _created(self, edit: CreateAndMap) -> tuple[Edit, ScopePlan]:
        """Return an edit that creates attributes with what it means in the versions that are in scope.

        Raises:
            EditError: it is refused.
        """
        document, version = self._project.value, edit.sources[0].version
        after, fields = perform(document, edit).after, {leaf.attribute for leaf in edit.sources}
        key = version, after.cdm.schema(edit.entity_id).version_ids[-1]
        block = after.matrix.block(*key) or Block(*key)
        ones = tuple(each for each in block.elements if each.p in fields)
        plan = carried(after, (SetElements(key, ones),), self._edits.scope)
        if not plan.edits:
            return edit, plan
        title = f"{edit.title(document)}, and in {number_of(len(plan.edits), 'other version')}"
        return CompositeEdit(title, (edit, *plan.edits)), plan

    def _newest_after(self, edit: CreateAndMap | ChangeEntity, entity: NodeRef) -> Version | None:
        """Return the newest version of an entity after an edit, ``None`` where that is refused."""
        try:
            after = perform(self._project.value, edit).after if self._project.can_edit else None
        except EditError:
            after = None
        return after.cdm.newest(entity.schema) if after is not None else None

    def rename(self, place: NodeRef, path: str) -> None:
        """Rename an entity at once; ask before an attribute gets another path, by a new version of its entity."""
        if place.attribute is None:
            self._rename_entity(place.schema, path)
            return
        document, edit = self._project.value, self._renaming(place, path)
        if edit is None or place.version is None:
            return
        old = path_of(document, Side.CDM, place.version, place.attribute)
        name = schema_name(document, Side.CDM, place.schema)
        newest = self._newest_after(edit, place)
        if newest is None:
            self._edits.perform(edit)
            return
        text = f"In version {newest.label} {old} is called {path}. What is mapped to it stays mapped."

        def make() -> None:
            before, now = self._project.value, self._renaming(place, path)  # what was done meanwhile stays
            if now is None:
                self._say(f"{old} was not renamed: {name} has got a newer version meanwhile.", is_good=False)
            elif self._edits.perform(now):
                said = f"{old} is called {path} in a new version of {name}."
                self._say(f"{said} {taken_words(before, self._project.value)}".strip())

        self.version_asked.emit(VersionQuestion(f"Make a new version of {name}?", text, make, "Make it"))

    def _rename_entity(self, entity: int, name: str) -> None:
        old = schema_name(self._project.value, Side.CDM, entity)
        if self._edits.perform(RenameEntity(entity, name)):
            self._say(
                f"{old} is called {name}, and is found by both names. Once this is published, "
                f"files and topics of runs go by {name}."
            )

    def _renaming(self, place: NodeRef, path: str) -> ChangeEntity | None:
        """Return the edit that gives an attribute another path; ``None`` where its version is not the newest one."""
        newest = self._project.value.cdm.newest(place.schema)
        if newest is None or place.version != newest.id:
            return None
        old = next((each.path for each in newest.attributes if each.id == place.attribute), None)
        renamed = tuple(replace(each, path=path) if each.path == old else each for each in declared(newest))
        return ChangeEntity(place.schema, renamed)

    def _make(self, edit: CreateAndMap, name: str) -> None:
        before = self._project.value
        try:
            whole, plan = self._created(edit)
        except EditError:
            whole, plan = edit, ScopePlan()
        if self._edits.perform(whole):
            said = f"{number_of(len(edit.sources), 'attribute')} created in a new version of {name} and mapped"
            said += f", here and in {number_of(len(plan.edits), 'other version')}." if plan.edits else "."
            self._say(" ".join(filter(None, (said, left_words(plan.left), taken_words(before, self._project.value)))))

    # inside

    def _chosen(self) -> tuple[tuple[Chosen, ...], tuple[Chosen, ...]]:
        """Return what is chosen on both sides: nodes, or those that a rectangle implies, as far as they are shown."""
        document, selected = self._project.value, self._selection.current
        shown = self._planes.shown
        whole = self._planes.whole
        box = box_shown(shown, whole, selected.cells) if selected.cells is not None and shown is not None else None
        if shown is not None and box is not None:
            return nodes_in(shown, Side.EXTRACTION, box), nodes_in(shown, Side.CDM, box)
        return (
            chosen_on(document, Side.EXTRACTION, selected.sources),
            chosen_on(document, Side.CDM, selected.targets),
        )

    def _chosen_block(self) -> BlockKey | None:
        keys = blocks_of(self._project.value, self._selection.current)
        if len(keys) != 1:
            self._say("Choose one block first: a version and an entity.", is_good=False)
            return None
        return keys[0]

    def _pair_chosen(self, pairing: Pairing, how: str, other: str, other_pairing: Pairing) -> None:
        sources, targets = self._chosen()
        if not sources or not targets:
            self._say("Choose fields in both trees first.", is_good=False)
        elif len(sources) * len(targets) > _MOST_BLOCKS:
            self._say(f"That would be {len(sources) * len(targets):,} blocks: choose fewer versions.", is_good=False)
        else:
            instead = self.map_by_position if other_pairing is by_position else self.map_by_name
            document = self._project.value

            def carry_out(done: PairingPlan) -> None:
                self._carry_out(done, how, Instead(other, lambda: self._try_instead(done, instead)))

            is_large = len(sources) * len(targets) > _AT_ONCE
            work_out(
                self._jobs if is_large else None,
                "Pairing fields",
                lambda: plan(document, sources, targets, pairing),
                self._project.while_open(carry_out),
            )

    def _try_instead(self, done: PairingPlan, instead: Callable[[], object]) -> None:
        if done.mapped:
            self._project.undo()
        instead()

    def _carry_out(self, done: PairingPlan, how: str, instead: Instead | None = None) -> None:
        words = [f"{done.mapped:,} mapped{f' {how}' if how else ''}"]
        words += [f"{done.already:,} mapped already"] if done.already else []
        words += [f"{done.taken:,} left out because an end is taken"] if done.taken else []
        words += [f"{done.without_partner:,} without a partner"] if done.without_partner else []
        said = ", ".join(words)
        if not done.edits:
            self.said.emit(result(f"{said}.", instead, is_good=False))
            return
        title = f"Map {number_of(done.mapped, 'attribute')} {self._of(edit.key for edit in done.edits)}"
        self._edits.do(done.edits, title if done.mapped > 1 else "", said, instead)

    def _clear(self, elements: Mapping[BlockKey, tuple[Element, ...]], verb: str, done: str) -> None:
        """Clear the elements that are shown, and say how many are not."""
        shown = self._planes.shown
        hides = shown is not None and shown is not self._planes.whole
        kept = shown_of(shown, elements) if hides and shown is not None else dict(elements)
        count, hidden = _total(kept), _total(elements) - _total(kept)
        left = f", {hidden:,} hidden left" if hidden else ""
        if not count:
            self._say(f"Nothing to clear here{left}.", is_good=False)
            return
        edits = tuple(SetElements(key, zeros=own) for key, own in kept.items())
        title = f"{verb} {number_of(count, 'element')} {self._of(kept)}" if count > 1 else ""
        self._edits.do(edits, title, f"{count:,} {done}{left}" if count > 1 or hidden else "")

    def _of(self, keys: Iterable[BlockKey]) -> str:
        """Name the blocks of an edit: one by its versions, several by their number."""
        found = list(keys)
        if len(found) != 1:
            return f"in {len(found):,} blocks"
        document = self._project.value
        source = version_words(document, Side.EXTRACTION, found[0][0])
        return f"of {source} to {version_words(document, Side.CDM, found[0][1])}"

    def _ask(self, conflict: ElementConflict) -> None:
        document = self._project.value

        def answered(answer: ConflictAnswer) -> None:
            if self._project.value is document:
                self._edits.do((conflict.swap() if answer is ConflictAnswer.SWAP else conflict.replace(),))

        self.asked.emit(EditQuestion(conflict, answered))

    def _pair(self, cell: Cell) -> str:
        document, block = self._project.value, Block(*cell.key)
        source = path_of(document, Side.EXTRACTION, block.version, cell.element.p)
        return f"{source} to {path_of(document, Side.CDM, block.entity_version, cell.element.q)}"

    def _say(self, text: str, is_good: bool = True) -> None:
        self.said.emit(CommandResult(text, is_good=is_good))


def _single(chosen: tuple[Chosen, ...]) -> tuple[int, int] | None:
    """Return (version, attribute) when nothing but one attribute is chosen."""
    if len(chosen) != 1 or len(chosen[0].attributes) != 1:
        return None
    return chosen[0].version, chosen[0].attributes[0]


def _key(source: NodeRef, target: NodeRef) -> BlockKey:
    return source.version or 0, target.version or 0


def _joined(parts: list[PairingPlan], without_partner: int) -> PairingPlan:
    return PairingPlan(
        tuple(edit for part in parts for edit in part.edits),
        sum(part.mapped for part in parts),
        sum(part.already for part in parts),
        sum(part.taken for part in parts),
        without_partner,
    )


def _sources(document: Document, fields: tuple[NodeRef, ...]) -> str:
    """Name the fields of a version, the first few of many."""
    paths = [path_of(document, Side.EXTRACTION, field.version or 0, field.attribute or 0) for field in fields]
    named = ", ".join(some_lines(paths, _NAMED))
    return f"{named} of {version_words(document, Side.EXTRACTION, fields[0].version or 0)}"


def _total(elements: Mapping[BlockKey, tuple[Element, ...]]) -> int:
    return sum(len(own) for own in elements.values())
