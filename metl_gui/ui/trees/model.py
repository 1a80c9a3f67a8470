"""A tree as Qt sees it: a thin adapter over a frozen tree, with integer ids and children made when asked for."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from metl_gui.core.document import Document
from metl_gui.core.nodes import Schema, Side, Version
from metl_gui.ui.document import Changed
from metl_gui.ui.matrix.axis import group_of
from metl_gui.ui.selection import Place
from metl_gui.ui.trees.facts import RowFacts, VersionFacts, attribute_row, schema_row, version_facts, version_row
from metl_gui.ui.trees.query import Query, passes

FACTS_ROLE = int(Qt.ItemDataRole.UserRole)
Index: TypeAlias = QModelIndex | QPersistentModelIndex
Key: TypeAlias = tuple[str, int | str]
"""("group", prefix), ("schema", id), ("version", id) or ("attribute", id)."""

_ROOT = 0


@dataclass(slots=True)
class _Node:
    key: Key
    parent: int
    version: int = 0
    children: list[int] | None = None


class TreeModel(QAbstractItemModel):
    """One of the two trees.

    Args:
        side: which one.
    """

    def __init__(self, side: Side, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.side = side
        self._document = Document()
        self._query = Query()
        self._facts: dict[int, VersionFacts] = {}
        self._passing: dict[int, bool] = {}
        self._waiting: dict[int, int] = {}
        self._nodes: dict[int, _Node] = {_ROOT: _Node(("root", 0), _ROOT)}
        self._next = 1

    # what is shown

    def show_document(self, document: Document) -> None:
        """Show another project."""
        self.beginResetModel()
        self._take(document)
        self._nodes = {_ROOT: _Node(("root", 0), _ROOT)}
        self.endResetModel()

    def filter(self, query: Query) -> None:
        """Show only what passes, with everything above it."""
        self.beginResetModel()
        self._query = query
        self._passing = {}
        self._nodes = {_ROOT: _Node(("root", 0), _ROOT)}
        self.endResetModel()

    def follow(self, changed: Changed) -> None:
        """Show the next state: rows come and go by difference, the others are looked at again."""
        passing = self._passing
        self._take(changed.after)
        if changed.same_trees and changed.blocks is not None:
            self._passing = passing  # only the schemas of edited blocks can pass another way than before
            for key in changed.blocks:
                version = changed.after.tree(self.side).find_version(key[0 if self.side is Side.EXTRACTION else 1])
                if version is not None:
                    passing.pop(version.schema_id, None)
        self._follow_children(_ROOT)
        for id_, node in list(self._nodes.items()):
            if id_ in self._nodes and node.children:
                parent = self._index(id_)
                last = len(node.children) - 1
                self.dataChanged.emit(self.index(0, 0, parent), self.index(last, 0, parent))

    def place(self, index: Index) -> Place | None:
        """Return the node of a row, ``None`` for a group."""
        node = self._nodes[self._id(index)]
        kind, id_ = node.key
        if kind == "schema":
            return Place(int(id_))
        if kind in ("version", "attribute"):
            version = self._version(node.version)
            return Place(version.schema_id, version.id, int(id_) if kind == "attribute" else None)
        return None

    def index_of(self, place: Place) -> QModelIndex:
        """Return the row of a node, the one nearest to it above when the filter hides it."""
        found = _ROOT
        for key in self._way_to(place):
            child = next((c for c in self._children(found) if self._nodes[c].key == key), None)
            if child is None:
                break
            found = child
        return self._index(found)

    @property
    def shown_count(self) -> tuple[int, int]:
        """How many schemas pass the filter, and how many there are."""
        schemas = self._document.tree(self.side).schemas()
        if self._query.is_empty:
            return len(schemas), len(schemas)
        return sum(1 for schema in schemas if self._schema_passes(schema)), len(schemas)

    # Qt's questions

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 - Qt's own default
        """Return a row's index."""
        if column != 0 or row < 0 or (parent.isValid() and parent.column() != 0):
            return QModelIndex()
        children = self._children(self._id(parent))
        return self.createIndex(row, 0, children[row]) if row < len(children) else QModelIndex()

    def parent(self, child: Index = QModelIndex()) -> Any:  # noqa: B008 - Qt overloads parent()
        """Return the row above."""
        if not child.isValid():
            return QModelIndex()
        return self._index(self._nodes[self._id(child)].parent)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Count the rows below a row, making them when they are asked for first."""
        if parent.isValid() and parent.column() != 0:
            return 0
        return len(self._children(self._id(parent)))

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """One column; details are painted into it."""
        return 1

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008 - Qt's own default
        """Whether there is anything below, without making it."""
        node = self._nodes[self._id(parent)]
        return node.key[0] != "attribute" and (node.children is None or bool(node.children))

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a row's words, tooltip or facts."""
        if not index.isValid():
            return None
        if role not in (FACTS_ROLE, Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        facts = self._row(self._nodes[self._id(index)])
        if role == FACTS_ROLE:
            return facts
        return facts.tip if role == Qt.ItemDataRole.ToolTipRole else facts.name

    # nodes

    def _take(self, document: Document) -> None:
        self._document = document
        self._facts = {}
        self._passing = {}
        waiting: dict[int, int] = defaultdict(int)
        for version, entity_version in document.matrix.waiting():
            node = version if self.side is Side.EXTRACTION else entity_version
            waiting[document.tree(self.side).version(node).schema_id] += 1
        self._waiting = waiting

    def _id(self, index: Index) -> int:
        return index.internalId() if index.isValid() else _ROOT

    def _index(self, id_: int) -> QModelIndex:
        if id_ == _ROOT:
            return QModelIndex()
        siblings = self._nodes[self._nodes[id_].parent].children or []
        return self.createIndex(siblings.index(id_), 0, id_)

    def _version(self, id_: int) -> Version:
        return self._document.tree(self.side).version(id_)

    def _facts_of(self, version_id: int) -> VersionFacts:
        if version_id not in self._facts:
            self._facts[version_id] = version_facts(self._document, self.side, self._version(version_id))
        return self._facts[version_id]

    def _children(self, id_: int) -> list[int]:
        node = self._nodes[id_]
        if node.children is None:
            node.children = [self._new(key, id_, version) for key, version in self._keys_below(node)]
        return node.children

    def _new(self, key: Key, parent: int, version: int) -> int:
        id_ = self._next
        self._next += 1
        self._nodes[id_] = _Node(key, parent, version)
        return id_

    def _keys_below(self, node: _Node) -> list[tuple[Key, int]]:
        kind, id_ = node.key
        if kind == "root":
            return self._top_keys()
        if kind == "group":
            return [(("schema", s.id), 0) for s in self._schemas() if group_of(s.name) == id_]
        if kind == "schema":
            return self._below_schema(int(id_))
        if kind == "version":
            return self._below_version(node.version)
        return []

    def _schemas(self) -> list[Schema]:
        schemas = self._document.tree(self.side).schemas()
        if self.side is Side.EXTRACTION:
            schemas = sorted(schemas, key=lambda schema: schema.name)
        return schemas if self._query.is_empty else [s for s in schemas if self._schema_passes(s)]

    def _top_keys(self) -> list[tuple[Key, int]]:
        keys: dict[Key, None] = {}
        for schema in self._schemas():
            prefix = group_of(schema.name)
            keys[("group", prefix) if prefix else ("schema", schema.id)] = None
        return [(key, 0) for key in keys]

    def _below_schema(self, schema_id: int) -> list[tuple[Key, int]]:
        versions = self._document.tree(self.side).versions(schema_id)[::-1]
        first: list[tuple[Key, int]] = []
        if self.side is Side.CDM and versions:
            first, versions = self._below_version(versions[0].id), versions[1:]
        kept = [v for v in versions if self._query.is_empty or self._below_version(v.id)]
        return first + [(("version", v.id), v.id) for v in kept]

    def _below_version(self, version_id: int) -> list[tuple[Key, int]]:
        version = self._version(version_id)
        attributes = version.attributes
        if not self._query.is_empty:
            name = self._document.tree(self.side).schema(version.schema_id).name
            facts = self._facts_of(version_id) if self._query.states else None
            attributes = tuple(
                a
                for a in attributes
                if passes(self._query, a.path, name, a.type_text, facts.states_of(a) if facts else frozenset())
            )
        return [(("attribute", a.id), version_id) for a in attributes]

    def _schema_passes(self, schema: Schema) -> bool:
        """Tell whether anything of a schema passes; kept until the query or the schema changes."""
        if schema.id not in self._passing:
            self._passing[schema.id] = any(self._below_version(id_) for id_ in schema.version_ids)
        return self._passing[schema.id]

    def _way_to(self, place: Place) -> list[Key]:
        tree = self._document.tree(self.side)
        schema = tree.find_schema(place.schema)
        if schema is None:
            return []
        prefix = group_of(schema.name)
        way: list[Key] = [("group", prefix)] if prefix else []
        way.append(("schema", place.schema))
        is_flat = self.side is Side.CDM and place.version == schema.version_ids[-1]
        if place.version is not None and not is_flat:
            way.append(("version", place.version))
        if place.attribute is not None:
            way.append(("attribute", place.attribute))
        return way

    def _row(self, node: _Node) -> RowFacts:
        kind, id_ = node.key
        if kind == "group":
            schemas = [s for s in self._schemas() if group_of(s.name) == id_]
            waiting = sum(self._waiting.get(s.id, 0) for s in schemas)
            pill = (str(waiting), "review") if waiting else ("", "plain")
            name = str(id_).rpartition(".")[2]
            return RowFacts(
                name,
                f"{len(schemas)} schema{'' if len(schemas) == 1 else 's'}",
                None,
                pill,
                is_strong=True,
                tip=str(id_),
            )
        tree = self._document.tree(self.side)
        if kind == "schema":
            schema = tree.schema(int(id_))
            newest = tree.newest(schema.id)
            name = schema.name.rpartition(".")[2] if self.side is Side.EXTRACTION else schema.name
            label = newest.label if newest else ""
            return schema_row(schema, name, label, self._waiting.get(schema.id, 0), self.side)
        version = self._version(node.version)
        if kind == "version":
            return version_row(version, self._facts_of(version.id))
        attribute = version.attribute(int(id_))
        if attribute is None:
            return RowFacts("")
        is_newest = tree.schema(version.schema_id).version_ids[-1] == version.id
        return attribute_row(attribute, self._facts_of(version.id), self.side, is_newest)

    # differences

    def _follow_children(self, id_: int) -> None:
        node = self._nodes[id_]
        if node.children is None:
            return
        wanted = self._keys_below(node)
        self._remove_gone(id_, node.children, {key for key, _ in wanted})
        self._insert_new(id_, node.children, wanted)
        for child in list(node.children):
            self._follow_children(child)

    def _remove_gone(self, id_: int, children: list[int], wanted: set[Key]) -> None:
        for row in range(len(children) - 1, -1, -1):
            if self._nodes[children[row]].key not in wanted:
                self.beginRemoveRows(self._index(id_), row, row)
                self._forget(children.pop(row))
                self.endRemoveRows()

    def _insert_new(self, id_: int, children: list[int], wanted: list[tuple[Key, int]]) -> None:
        for row, (key, version) in enumerate(wanted):
            if row < len(children) and self._nodes[children[row]].key == key:
                continue
            known = {self._nodes[child].key: child for child in children[row:]}
            if key in known:
                self._remove_gone(id_, children, {self._nodes[c].key for c in children} - {key})
            self.beginInsertRows(self._index(id_), row, row)
            children.insert(row, self._new(key, id_, version))
            self.endInsertRows()

    def _forget(self, id_: int) -> None:
        for child in self._nodes[id_].children or []:
            self._forget(child)
        del self._nodes[id_]
