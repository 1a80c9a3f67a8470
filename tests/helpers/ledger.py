"""A ledger of what becomes of every element: read off whole documents, it knows nothing of how edits are made.

Every element that is there before an edit must be there after it, or must have ended by something that a person said
(cleared, retired, a version removed, a policy that names its block, an undo), or must be carried to where the edit
made a copy, or be a lost element there, open and with a reason. Lost elements are followed in the same way until
somebody answers them. What the books cannot explain is an ``AssertionError`` in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum

from metl_gui.core.changes.draft import Edit, Transition
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements, block_name
from metl_gui.core.edits.entities import ChangeEntity, CreateAndMap
from metl_gui.core.edits.lineages import JoinLineages, SplitLineage
from metl_gui.core.edits.revert import Revert
from metl_gui.core.edits.review import AcceptLosses, ConfirmBlock, RenameLost, RetireBlock
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.versions import AddVersion, RemoveVersion
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Loss, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import find_item, review_items
from metl_gui.core.trees.nodes import Side, Version

RESTORING = (RenameLost, JoinLineages, SetElements, CreateAndMap)
ANSWERING = (ConfirmBlock, AcceptLosses, RetireBlock, CompositeEdit, *RESTORING)
ADDING = (AddVersion, ChangeEntity, CreateAndMap)


class Fate(StrEnum):
    """What an edit did to an element, or to a lost element."""

    MAPPED = "mapped by a person"
    COPIED = "copied into a new version"
    LOST = "lost, open and with a reason"
    INHERITED = "inherited as a lost element"
    ANSWERED = "answered by a person"
    CLEARED = "cleared by a person"
    RETIRED = "retired with its block"
    REMOVED = "removed with its version"
    NAMED = "removed by a policy that names its block"
    UNDONE = "taken back or brought again by an undo"
    MOVED = "moved to another entity version"


class Ledger:
    """The books of one history.

    Args:
        document: the document at its beginning.
    """

    def __init__(self, document: Document) -> None:
        self.counts: Counter[Fate] = Counter()
        self.began = document.matrix.ones
        self.opened = 0
        self.closed = 0

    def follow(self, edit: Edit, transition: Transition) -> None:
        """Book what an edit did.

        Raises:
            AssertionError: an element, or a lost one, came or went without anybody having said so.
        """
        page = _Page(edit, transition)
        for fate, came, went in page.entries():
            self.counts[fate] += 1
            self.opened += came
            self.closed += went
        assert self.began + self.opened - self.closed == transition.after.matrix.ones, "the books do not balance"
        _require_items(transition.after)


class _Page:
    """One edit in the books."""

    def __init__(self, edit: Edit, transition: Transition) -> None:
        self.edit, self.title = edit, transition.title
        self.before, self.after = transition.before, transition.after
        self.old = {block.key: block for block in self.before.matrix.blocks()}
        self.new = {block.key: block for block in self.after.matrix.blocks()}
        self.added = {
            side: [
                version
                for version in self.after.tree(side).all_versions()
                if self.before.tree(side).find_version(version.id) is None
            ]
            for side in Side
        }
        self.is_update = isinstance(edit, ADDING)
        members = edit.edits if isinstance(edit, CompositeEdit) else (edit,)
        self.confirmed = [each.key for each in members if isinstance(each, ConfirmBlock)]

    def entries(self) -> Iterator[tuple[Fate, int, int]]:
        """Yield what became of everything: (fate, elements that came, elements that went)."""
        expected: set[tuple[BlockKey, Element]] = set()
        for key, block in self.old.items():
            for element in block.elements:
                if element not in self._elements(key):
                    yield self._ended(block, element, expected), 0, 1
            for loss in block.open_losses:
                found = self._open(key, loss)
                if found is None:
                    yield self._closed(block, loss), 0, 0
                else:
                    assert found.reason, f"{self._words(block, loss)} has no reason any more"
            self._follow_waits(block)
        for copy, source in self._copies():
            for element in source.elements:
                yield self._copied(source, copy, element, expected), 0, 0
            for loss in source.open_losses:
                self._require_open(copy, loss, source)
                yield Fate.INHERITED, 0, 0
            waits = self.new[copy].waits if copy in self.new else ()
            assert set(source.waits) <= set(waits), f"{self._name(copy)} does not wait for what {source.key} waits for"
        for key, block in self.new.items():
            known = self.old[key].elements if key in self.old else ()
            for element in block.elements:
                if element not in known:
                    yield self._came(key, element, expected), 1, 0

    def _elements(self, key: BlockKey) -> tuple[Element, ...]:
        return self.new[key].elements if key in self.new else ()

    def _ended(self, block: Block, element: Element, expected: set[tuple[BlockKey, Element]]) -> Fate:
        edit, after = self.edit, self.new.get(block.key)
        if isinstance(edit, Revert):
            changed = next((c for c in edit.change.blocks if c.key == block.key), None)
            assert changed, f"{self._name(block.key)} is no part of what was taken back"
            return Fate.UNDONE
        if isinstance(edit, RemoveVersion) and edit.side is Side.EXTRACTION and edit.version_id == block.version:
            return Fate.REMOVED
        target = self._moved_to(block.key)
        if target is not None and after is None:
            self._copied(block, target, element, expected)
            return Fate.MOVED
        if isinstance(edit, RemoveVersion) and edit.side is Side.CDM and edit.version_id == block.entity_version:
            return Fate.REMOVED
        if isinstance(edit, SetSettings) and after is None:
            assert block_name(self.before, block.key) in self.title, f"{self.title} does not name {block.key}"
            return Fate.NAMED
        if isinstance(edit, SetElements) and edit.key == block.key and element in edit.zeros:
            return Fate.CLEARED
        if isinstance(edit, RetireBlock) and after is not None and element in after.retired:
            return Fate.RETIRED
        if isinstance(edit, SplitLineage) and after is not None:
            p_path, q_path = self._paths(self.before, block.key, element)
            fresh = [x for x in after.open_losses if x.reason and x not in block.losses]
            if any((x.to_path == q_path) if edit.side is Side.EXTRACTION else (x.from_path == p_path) for x in fresh):
                return Fate.LOST
        raise AssertionError(f"{self.title}: {self._paths(self.before, block.key, element)} vanished")

    def _moved_to(self, key: BlockKey) -> BlockKey | None:
        """Where policy 3 puts a block whose entity version is not, or no longer, the newest one."""
        entity = self.before.cdm.schema(self.before.cdm.version(key[1]).schema_id)
        left = self.after.cdm.find_schema(entity.id)
        is_update = self.is_update or (isinstance(self.edit, RemoveVersion) and self.edit.side is Side.CDM)
        if left is None or entity.setting("policy") == "parallel" or not is_update:
            return None
        newest = left.version_ids[-1]
        return (key[0], newest) if newest != key[1] and entity.version_ids[-1] == key[1] else None

    def _copies(self) -> Iterator[tuple[BlockKey, Block]]:
        """Yield what the update must have filled: the key of the copy, and the block it is a copy of."""
        if not self.is_update:
            return
        for version in self.added[Side.EXTRACTION]:
            previous = self.after.extraction.previous(version)
            blocks = self.before.matrix.column_set(previous.id) if previous else ()
            yield from (((version.id, b.entity_version), b) for b in blocks if b.status is not Status.RETIRED)
        for version in self.added[Side.CDM]:
            entity = self.after.cdm.schema(version.schema_id)
            previous = self.after.cdm.previous(version)
            if previous is None or (entity.setting("policy") != "parallel" and entity.version_ids[-1] != version.id):
                continue
            blocks = self.before.matrix.row_set(previous.id)
            yield from (((b.version, version.id), b) for b in blocks if b.status is not Status.RETIRED)

    def _copied(self, source: Block, copy: BlockKey, element: Element, expected: set[tuple[BlockKey, Element]]) -> Fate:
        """Find the element in the copy through the lineages of both ends, else its loss."""
        q_lineage, p_lineage = self._lineages(self.before, source.key, element)
        version, entity_version = self._versions(self.after, copy)
        p, q = version.of_lineage(p_lineage), entity_version.of_lineage(q_lineage)
        if p is not None and q is not None:
            assert Element(q.id, p.id) in self._elements(copy), f"{p.path} to {q.path} was not carried by {self.title}"
            expected.add((copy, Element(q.id, p.id)))
            return Fate.COPIED
        known = (x for x in self._losses(copy) if x.is_open or self._was_meant(copy, x))
        found = [x for x in known if x.lineages == (q_lineage, p_lineage)]
        assert found, f"{self.title}: {self._paths(self.before, source.key, element)} was lost in silence"
        assert all(x.reason for x in found), f"{self.title}: a loss without a reason"
        return Fate.LOST if found[0].is_open else Fate.ANSWERED

    def _was_meant(self, key: BlockKey, loss: Loss) -> bool:
        """Whether the edit took the target away by name, and so answered for what was mapped to it."""
        entity_version = self._versions(self.after, key)[1]
        is_gone = entity_version.of_lineage(loss.q_lineage) is None
        return isinstance(self.edit, ChangeEntity) and loss.answer == "accepted" and is_gone

    def _losses(self, key: BlockKey) -> tuple[Loss, ...]:
        return self.new[key].losses if key in self.new else ()

    def _open(self, key: BlockKey, loss: Loss) -> Loss | None:
        """Find a lost element after the edit; a join or split may have given its ends other lineages."""
        ends = loss.from_path, loss.to_path
        return next((x for x in self._losses(key) if x.is_open and (x.from_path, x.to_path) == ends), None) or next(
            (x for x in self._losses(key) if x.is_open and x.lineages == loss.lineages), None
        )

    def _require_open(self, key: BlockKey, loss: Loss, source: Block) -> None:
        is_mapped_too = isinstance(self.edit, CreateAndMap)
        known = (
            x
            for x in self._losses(key)
            if x.is_open or (is_mapped_too and x.answer == "mapped") or self._was_meant(key, x)
        )
        found = [x for x in known if x.chain == loss.chain and x.reason]
        assert found, f"{self.title}: {self._words(source, loss)} was not handed on to {self._name(key)}"

    def _closed(self, block: Block, loss: Loss) -> Fate:
        edit, after = self.edit, self.new.get(block.key)
        if isinstance(edit, Revert):
            assert any(c.key == block.key for c in edit.change.blocks), f"{self._words(block, loss)} was not touched"
            return Fate.UNDONE
        if isinstance(edit, RemoveVersion) and edit.version_id == block.key[edit.side is Side.CDM]:
            target = self._moved_to(block.key)
            if target is not None:
                self._require_open(target, loss, block)
            return Fate.REMOVED if target is None else Fate.MOVED
        target = self._moved_to(block.key)
        if target is not None and after is None:
            self._require_open(target, loss, block)
            return Fate.MOVED
        if isinstance(edit, SetSettings) and after is None:
            assert block_name(self.before, block.key) in self.title, f"{self.title} does not name {block.key}"
            return Fate.NAMED
        assert isinstance(edit, ANSWERING), f"{self.title} answered {self._words(block, loss)}"
        if self.confirmed:
            asked = {x.chain for key in self.confirmed for x in self._asked(key)[0]}
            assert loss.chain in asked, f"{self.title} hid {self._words(block, loss)}"
        assert after is not None, f"{self.title}: {self._words(block, loss)} went with its block"
        answers = {x.answer for x in after.losses if (x.p, x.q, x.since) == (loss.p, loss.q, loss.since)}
        assert answers & {"accepted", "renamed", "mapped"}, f"{self._words(block, loss)} is forgotten"
        if isinstance(edit, RESTORING):
            assert len(after.elements) > len(block.elements) or edit_maps(edit, block.key), "answered by no element"
        return Fate.ANSWERED

    def _asked(self, key: BlockKey) -> tuple[tuple[Loss, ...], tuple[int, ...]]:
        """What the item of a block named; of a block in the middle of a chain, all that it waits for."""
        item = find_item(self.before, key)
        return (item.losses, item.waits) if item is not None else (self.old[key].open_losses, self.old[key].waits)

    def _follow_waits(self, block: Block) -> None:
        after, edit = self.new.get(block.key), self.edit
        if after is None or isinstance(edit, Revert | RetireBlock):
            return
        gone = set(block.waits) - set(after.waits)
        if self.confirmed:
            asked = {wait for key in self.confirmed for wait in self._asked(key)[1]}
            assert gone <= asked, f"{self.title} ended another wait"
        elif isinstance(edit, AddVersion):
            assert len(after.waits) == len(block.waits), f"{self.title} ended a wait"
        else:
            assert not gone, f"{self.title} ended a wait"

    def _came(self, key: BlockKey, element: Element, expected: set[tuple[BlockKey, Element]]) -> Fate:
        edit = self.edit
        if (key, element) in expected:
            return Fate.COPIED
        if isinstance(edit, Revert):
            assert any(c.key == key for c in edit.change.blocks), f"{self._name(key)} was not touched"
            return Fate.UNDONE
        assert isinstance(edit, RESTORING), f"{self.title} invented {self._paths(self.after, key, element)}"
        return Fate.MAPPED

    def _versions(self, document: Document, key: BlockKey) -> tuple[Version, Version]:
        return document.extraction.version(key[0]), document.cdm.version(key[1])

    def _lineages(self, document: Document, key: BlockKey, element: Element) -> tuple[int, int]:
        version, entity_version = self._versions(document, key)
        p, q = version.attribute(element.p), entity_version.attribute(element.q)
        assert p is not None
        assert q is not None
        return q.lineage, p.lineage

    def _paths(self, document: Document, key: BlockKey, element: Element) -> tuple[str, str]:
        version, entity_version = self._versions(document, key)
        p, q = version.attribute(element.p), entity_version.attribute(element.q)
        return (p.path if p else "?"), (q.path if q else "?")

    def _name(self, key: BlockKey) -> str:
        return f"block {key}"

    def _words(self, block: Block, loss: Loss) -> str:
        return f"the lost {loss.from_path} to {loss.to_path} of block {block.key}"


def edit_maps(edit: Edit, key: BlockKey) -> bool:
    """Whether an edit sets elements of one block itself, which it may clear others of."""
    return isinstance(edit, SetElements) and edit.key == key and bool(edit.ones)


def _require_items(document: Document) -> None:
    """Every lost element and every wait of every block belongs to exactly one review item."""
    asked: Counter[tuple[BlockKey, object]] = Counter()
    blocks = {block.key: block for block in document.matrix.blocks() if block.status is not Status.RETIRED}
    for item in review_items(document):
        for key in (item.key, *item.chain):
            named = {loss.chain for loss in item.losses}
            asked.update((key, loss.chain) for loss in blocks[key].open_losses if loss.chain in named)
            asked.update((key, wait) for wait in blocks[key].waits if wait in item.waits)
    there: Counter[tuple[BlockKey, object]] = Counter()
    there.update((key, loss.chain) for key, block in blocks.items() for loss in block.open_losses)
    there.update((key, wait) for key, block in blocks.items() for wait in block.waits)
    assert asked == there, f"not asked about once: {(asked - there) + (there - asked)}"
