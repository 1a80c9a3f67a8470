"""A tree as Qt sees it: nodes known by integers, children as arrays, rows described when painted.

A node's integer is its kind and its id in the document, so that no object is needed. Ids of schemas, versions and
attributes never change and are never used again, each within one tree (``core.trees.nodes``); groups are numbered by
the model.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comments
from metl_gui.core.search.filters import FilterResult
from metl_gui.core.search.query import Query
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.schema_names import group_of
from metl_gui.ui.jobs.timers import GeneratorRunner
from metl_gui.ui.project.document import DocumentChange
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.trees.contents import TreeContents
from metl_gui.ui.trees.node import RowFacts
from metl_gui.ui.widgets.plain_text import plain_tip

ROOT = -1


class NodeKind(IntEnum):
    """What a node is."""

    GROUP = 0
    SCHEMA = 1
    VERSION = 2
    ATTRIBUTE = 3


def node_id(kind: NodeKind, id_: int) -> int:
    """Return the integer of a node."""
    return id_ << 2 | kind


def node_ids(kind: NodeKind, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the integers of many nodes of one kind."""
    return ids << 2 | kind


def kind_of(node: int) -> NodeKind:
    """Return what a node is."""
    return NodeKind(node & 3)


def id_of(node: int) -> int:
    """Return the id that a node has in the document, or the number of a group."""
    return node >> 2


FACTS_ROLE = int(Qt.ItemDataRole.UserRole)
_ROLES = (FACTS_ROLE, *map(int, (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.EditRole)))
Index: TypeAlias = QModelIndex | QPersistentModelIndex
Nodes: TypeAlias = NDArray[np.int64]

_NONE = np.zeros(0, np.int64)
_FIRST_LOOK = 4


class TreeModel(QAbstractItemModel):
    """One of the two trees.

    Signals:
        filled: what is shown was made anew or grew: after opening, after a filter, and while a long filter goes on.
        followed: a large tree that was read again is shown as it is now, by difference.
        rename_wanted: (``NodeRef``, text) of an entity or an attribute of one, and what was written in its row.

    Args:
        side: which one.
    """

    filled = Signal()
    followed = Signal()
    rename_wanted = Signal(object)

    def __init__(self, side: Side, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.side = side
        self._text = ""
        self._reading = TreeContents(side)
        self._next: TreeContents | None = None
        self.is_following = False
        """Rows come and go just now: a row that goes hands its place on, which is nobody's choice."""
        self._children: dict[int, Nodes] = {}
        self._parents: dict[int, int] = {}
        self._known_rows: dict[int, QModelIndex] = {}
        """Rows that Qt asks for again and again, until any row comes or goes."""
        self._groups: dict[str, int] = {}
        self._group_names: list[str] = []
        self._looks = 0
        self._steps = GeneratorRunner(self)
        self._steps.stepped.connect(self._look_between)
        self._steps.ended.connect(self._ended)
        self._is_prepared = True
        self._comments: Callable[[], Comments] = Comments

    # what is shown

    @property
    def document(self) -> Document:
        """The document that is shown."""
        return self._reading.document

    @property
    def is_being_read(self) -> bool:
        """Whether a large tree is not on the screen yet."""
        return not self._is_prepared

    def show_document(self, document: Document) -> None:
        """Show another project; a large one appears when it has been read, between two events."""
        self._next = None
        self.beginResetModel()
        self._reading.take(document)
        self._forget_all()
        self._is_prepared = False
        self.endResetModel()
        self._steps.start(self._reading.prepare(), self._reading.is_small)

    def filter(self, query: Query, text: str = "") -> None:
        """Show only what passes, with everything above it; a large tree fills step by step.

        Args:
            query: what is asked.
            text: what stands in the box, for the banner of other views.
        """
        self._text = text
        if self._next is not None:
            self._read_again(self._next.document, query)
            return
        if not self._is_prepared:
            self._reading.query = query
            return
        self._looks = 0
        self._steps.start(self._reading.filter(query), self._reading.is_small or query.is_empty)

    def follow(self, changed: DocumentChange) -> bool:
        """Show the next state: rows come and go by difference, the others are looked at again.

        Returns:
            Whether other rows may be there than before.
        """
        tree, filtering, outers = self._reading.tree, self._reading.filtering, self._reading.shelves.outers
        touched = self._reading.follow(changed) if self._is_prepared and not self._steps.is_busy else None
        if touched is None:
            self._take_anew(changed.after)
            return True
        if outers != self._reading.shelves.outers:
            self._fill()
            return True
        has_same_rows = filtering is None and tree is self._reading.tree
        if not has_same_rows:
            self._follow_children(ROOT, touched)
        self._look_again(touched)
        return not has_same_rows

    def ask_comments_of(self, comments: Callable[[], Comments]) -> None:
        """Name whom to ask for comments when a filter wants to know."""
        self._comments = self._reading.comments = comments

    def passing(self) -> FilterResult | None:
        """Return what passes the filter, ``None`` when everything does."""
        return self._reading.passing(self._text)

    def progress_words(self, schema_id: int) -> str:
        """Say how far mapping a schema or entity is; empty where it has no attributes."""
        progress = self._reading.progress(schema_id)
        return progress.words() if progress.attributes else ""

    def place(self, index: Index) -> NodeRef | None:
        """Return the node of a row, ``None`` for a group."""
        node = self._id(index)
        if node == ROOT or kind_of(node) is NodeKind.GROUP:
            return None
        kind, id_ = kind_of(node), id_of(node)
        if kind is NodeKind.SCHEMA:
            return NodeRef(id_)
        version = id_ if kind is NodeKind.VERSION else self._version_above(node)
        schema = self._reading.tree.version(version).schema_id
        return NodeRef(schema, version, id_ if kind is NodeKind.ATTRIBUTE else None)

    def index_of(self, place: NodeRef) -> QModelIndex:
        """Return the row of a node, the one nearest to it above when the filter hides it."""
        found = QModelIndex()
        for node in self._way_to(place):
            row = _row_in(self._below(self._id(found)), node)
            if row < 0:
                break
            found = self.index(row, 0, found)
        return found

    def first_open(self, most_rows: int, depth: int = 4) -> list[QModelIndex]:
        """Return rows to open so that some of what they hold is seen, from the top, until enough rows would show.

        Args:
            most_rows: how many rows are enough.
            depth: how many levels may be opened, groups within groups not counted.
        """
        opened: list[QModelIndex] = []
        waiting, rows = [(QModelIndex(), 0)], 0
        while waiting and rows < most_rows:
            parent, level = waiting.pop(0)
            count = self.rowCount(parent)
            rows += count
            if parent.isValid():
                opened.append(parent)
            if level < depth:
                inner = [self.index(row, 0, parent) for row in range(min(count, most_rows))]
                is_group = parent.isValid() and kind_of(parent.internalId()) is NodeKind.GROUP
                steps = [(i, 0 if is_group and kind_of(i.internalId()) is NodeKind.GROUP else 1) for i in inner]
                waiting = [(i, level + step) for i, step in steps if self.hasChildren(i)] + waiting
        return opened

    @property
    def shown_count(self) -> tuple[int, int]:
        """How many schemas pass the filter, and how many there are."""
        return self._reading.counts()

    # Qt's questions

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 - Qt's own default
        """Return a row's index."""
        if column != 0 or row < 0 or (parent.isValid() and parent.column() != 0):
            return QModelIndex()
        above = self._id(parent)
        children = self._below(above)
        if row >= len(children):
            return QModelIndex()
        node = int(children[row])
        self._parents[node] = above
        return self.createIndex(row, 0, node)

    def parent(self, child: Index = QModelIndex()) -> Any:  # noqa: B008 - Qt overloads parent()
        """Return the row above."""
        if not child.isValid():
            return QModelIndex()
        above = self._parents.get(child.internalId(), ROOT)
        found = self._known_rows.get(above)  # asked 10^4 times a paint while 10^3 rows are chosen
        return found if found is not None else self._index(above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the rows below a row."""
        return len(self._below(self._id(parent))) if not parent.isValid() or parent.column() == 0 else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """One column; details are painted into it."""
        return 1

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008 - Qt's own default
        """Whether there is anything below, without making it."""
        node = self._id(parent)
        if node != ROOT and kind_of(node) is NodeKind.ATTRIBUTE:
            return False
        return node not in self._children or bool(len(self._children[node]))

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let entities and the attributes of their newest versions be renamed; Qt asks of rows that go, too."""
        found, node = super().flags(index), self._id(index)
        if self.side is Side.CDM and node != ROOT and kind_of(node) is NodeKind.SCHEMA:
            found |= Qt.ItemFlag.ItemIsEditable
        elif self.side is Side.CDM and node != ROOT and kind_of(node) is NodeKind.ATTRIBUTE:
            version = self._reading.tree.find_version(self._version_above(node))
            if version is not None and version.id == self._reading.newest(version.schema_id):
                found |= Qt.ItemFlag.ItemIsEditable
        return found

    def setData(self, index: Index, value: Any, role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        """Ask for another name of an entity or path of an attribute; nothing changes here."""
        place, text = self.place(index), str(value).strip()
        if role == Qt.ItemDataRole.EditRole and place is not None and text and text != index.data():
            self.rename_wanted.emit((place, text))
        return False

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a row's words, tooltip or facts."""
        if not index.isValid():
            return None
        if role not in _ROLES:
            return None
        facts = self._row(self._id(index))
        if role == FACTS_ROLE:
            return facts
        return plain_tip(facts.tip) if role == Qt.ItemDataRole.ToolTipRole else facts.name

    # nodes

    def _id(self, index: Index) -> int:
        return index.internalId() if index.isValid() else ROOT

    def _index(self, node: int) -> QModelIndex:
        if node == ROOT:
            return QModelIndex()
        if node not in self._known_rows:
            row = _row_in(self._below(self._parents[node]), node)
            self._known_rows[node] = self.createIndex(row, 0, node)
        return self._known_rows[node]

    def _below(self, node: int) -> Nodes:
        if node not in self._children:
            self._children[node] = self._read_below(node)
        return self._children[node]

    def _read_below(self, node: int) -> Nodes:
        reading = self._reading
        if node == ROOT:
            if not self._is_prepared:
                return _NONE
            return self._in_group("")
        kind, id_ = kind_of(node), id_of(node)
        if kind is NodeKind.GROUP:
            return self._in_group(self._group_names[id_])
        if kind is NodeKind.SCHEMA:
            versions = node_ids(NodeKind.VERSION, np.array(reading.versions(id_), np.int64))
            newest = reading.newest(id_) if self.side is Side.CDM else None
            return versions if newest is None else np.concatenate([self._attributes(newest), versions])
        return self._attributes(id_) if kind is NodeKind.VERSION else _NONE

    def _in_group(self, name: str) -> Nodes:
        groups = np.array([self._group(each) for each in self._reading.groups_below(name)], np.int64)
        return np.concatenate([node_ids(NodeKind.SCHEMA, self._reading.schemas(name)), groups])

    def _attributes(self, version_id: int) -> Nodes:
        return node_ids(NodeKind.ATTRIBUTE, self._reading.attributes(version_id))

    def _group(self, name: str) -> int:
        if name not in self._groups:
            self._groups[name] = len(self._group_names)
            self._group_names.append(name)
        return node_id(NodeKind.GROUP, self._groups[name])

    def _version_above(self, attribute: int) -> int:
        above = self._parents[attribute]
        if kind_of(above) is NodeKind.VERSION:
            return id_of(above)
        newest = self._reading.newest(id_of(above))
        return newest if newest is not None else 0

    def _way_to(self, place: NodeRef) -> list[int]:
        schema = self._reading.tree.find_schema(place.schema)
        if schema is None:
            return []
        group = group_of(schema.name)
        way = [self._group(each) for each in (self._reading.shelves.outer(group), group) if each]
        way.append(node_id(NodeKind.SCHEMA, schema.id))
        is_flat = self.side is Side.CDM and place.version == self._reading.newest(schema.id)
        if place.version is not None and not is_flat:
            way.append(node_id(NodeKind.VERSION, place.version))
        if place.attribute is not None:
            way.append(node_id(NodeKind.ATTRIBUTE, place.attribute))
        return way

    def _row(self, node: int) -> RowFacts:
        kind, id_ = kind_of(node), id_of(node)
        match kind:
            case NodeKind.GROUP:
                return self._reading.group_row(self._group_names[id_])
            case NodeKind.SCHEMA:
                return self._reading.schema_row(id_)
            case NodeKind.VERSION:
                return self._reading.version_row(id_)
            case _:
                return self._reading.attribute_row(self._version_above(node), id_)

    def nodes(self, parent: Index, low: int, high: int) -> list[int]:
        """Return the internal ids of a run of rows below a row, the last one included."""
        found: list[int] = self._below(self._id(parent))[low : high + 1].tolist()
        return found

    # coming and going

    def _take_anew(self, document: Document) -> None:
        """Read everything again; what was shown stays meanwhile, and then changes by difference."""
        if self._is_prepared:
            self._read_again(document, self._reading.query)
        else:
            self.show_document(document)

    def _read_again(self, document: Document, query: Query) -> None:
        self._next = TreeContents(self.side)
        self._next.comments = self._comments
        self._next.take(document)
        self._next.query = query
        self._steps.start(self._next.prepare(), self._next.is_small)

    def _ended(self) -> None:
        """Show what was read."""
        before, after = self._reading, self._next
        if after is None:
            self._fill()
            return
        self._reading, self._next = after, None
        if after.query != before.query or after.shelves.outers != before.shelves.outers:
            self._fill()
            return
        self.is_following = True
        self._follow_children(ROOT, None)
        self._look_again(None)
        self.is_following = False
        self.followed.emit()

    def _forget_all(self) -> None:
        self._children = {}
        self._parents = {}
        self._known_rows = {}

    def _look_between(self) -> None:
        """Show what a long filter has found so far: soon after it began, then more and more seldom."""
        self._looks += 1
        is_due = self._looks >= _FIRST_LOOK and self._looks & (self._looks - 1) == 0
        if self._is_prepared and self._next is None and is_due:
            self._fill()

    def _fill(self) -> None:
        """Show what was read."""
        self.beginResetModel()
        self._is_prepared = self._is_prepared or not self._steps.is_busy
        self._forget_all()
        self.endResetModel()
        self.filled.emit()

    def _follow_children(self, node: int, touched: set[int] | None) -> None:
        """Bring what was read of a node to what is there now; inside schemas only where an edit touched them."""
        if node not in self._children:
            return
        is_inner = node != ROOT and kind_of(node) is not NodeKind.GROUP
        if is_inner and touched is not None and kind_of(node) is NodeKind.SCHEMA and id_of(node) not in touched:
            return
        before, wanted = self._children[node], self._read_below(node)
        if not np.array_equal(before, wanted):
            kept = before[np.isin(before, wanted)]
            if not np.array_equal(kept, wanted[np.isin(wanted, before)]):
                kept = _NONE  # some stand in another order now
            self._remove_rows(node, ~np.isin(before, kept))
            self._insert_rows(node, wanted, ~np.isin(wanted, kept))
        for child in wanted[np.isin(wanted, np.fromiter(self._children, np.int64))].tolist():
            self._follow_children(child, touched)

    def _remove_rows(self, node: int, is_gone: NDArray[np.bool_]) -> None:
        for low, high in reversed(_runs(is_gone)):
            self.beginRemoveRows(self._index(node), low, high - 1)
            children = self._children[node]
            for child in children[low:high].tolist():
                self._forget(child)
            self._children[node] = np.concatenate([children[:low], children[high:]])
            self._known_rows = {}
            self.endRemoveRows()

    def _insert_rows(self, node: int, wanted: Nodes, is_new: NDArray[np.bool_]) -> None:
        for low, high in _runs(is_new):
            self.beginInsertRows(self._index(node), low, high - 1)
            children = self._children[node]
            self._children[node] = np.concatenate([children[:low], wanted[low:high], children[low:]])
            self._known_rows = {}
            self.endInsertRows()

    def _forget(self, node: int) -> None:
        for child in self._children.pop(node, _NONE).tolist():
            self._forget(child)

    def _look_again(self, touched: set[int] | None) -> None:
        """Have the rows painted again that an edit may have changed."""
        for node in [node for node in self._children if node != ROOT]:
            if touched is None or kind_of(node) is NodeKind.GROUP or self._schema_of(node) in touched:
                self._tell(node)
        self._tell(ROOT)

    def _schema_of(self, node: int) -> int:
        return id_of(node if kind_of(node) is NodeKind.SCHEMA else self._parents[node])

    def _tell(self, node: int) -> None:
        count = len(self._children.get(node, _NONE))
        if count:
            parent = self._index(node)
            self.dataChanged.emit(self.index(0, 0, parent), self.index(count - 1, 0, parent))


def _row_in(children: Nodes, node: int) -> int:
    found = np.flatnonzero(children == node)
    return int(found[0]) if len(found) else -1


def _runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the (low, high) of each run of ones."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
