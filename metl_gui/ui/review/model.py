"""The rows of the review list: items below the names they have in common, put into words when they are looked at."""

from __future__ import annotations

from itertools import groupby
from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.feeders import LastSources
from metl_gui.core.review.query import Grouping, ReviewFacts, group_of
from metl_gui.ui.moments import ago
from metl_gui.ui.naming import block_words, number_of
from metl_gui.ui.pill import VERDICT_KINDS
from metl_gui.ui.review.headed import HEADING_ROLE, Heading
from metl_gui.ui.two_lines import WORDS_ROLE, TwoLines

Entry: TypeAlias = ReviewFacts | Heading

_FEW = 40
"""So many rows go one by one, so that the view stays where it is; more are a new list."""


def entries_of(facts: list[ReviewFacts], grouping: Grouping) -> list[Entry]:
    """Put a heading above each group of items, unless there is one group only or groups have hardly one item each."""
    groups = [(name, list(members)) for name, members in groupby(facts, key=lambda one: group_of(one, grouping))]
    has_later = any(is_later for (is_later, _), _ in groups)
    if 2 * len(groups) > len(facts) + 1 and grouping is not Grouping.NONE:
        return entries_of(facts, Grouping.NONE)
    if len(groups) < 2 and not has_later:
        return list(facts)
    entries: list[Entry] = []
    for (is_later, name), members in groups:
        lost = sum(len(one.item.losses) for one in members)
        words = f"Later: {name}" if is_later and name else name or ("Later" if is_later else "Now")
        entries.append(Heading(words, f"{len(members):,} · {lost:,} lost"))
        entries += members
    return entries


def row_words(document: Document, facts: ReviewFacts, starved: tuple[str, ...] = ()) -> TwoLines:
    """Say what a row says.

    Args:
        document: where it is.
        facts: of the item.
        starved: the required attributes that lost their last source.
    """
    item = facts.item
    parts = [f"{len(item.losses):,} lost"] if item.losses else []
    parts += [_starved_words(starved)] if starved else []
    counts = ((len(item.new_attributes), "new attribute"), (len(item.type_changes), "type change"))
    parts += [number_of(count, what) for count, what in counts if count]
    parts += [f"and {number_of(len(item.chain), 'later version')}"] if item.chain else []
    parts += [number_of(facts.records, "record")] if facts.records else []
    parts += [f"for {facts.assigned}"] if facts.assigned else []
    parts += ["postponed"] if item.block.postponed else []
    parts += [ago(item.block.when_ms)] if item.block.when_ms else []
    kind = VERDICT_KINDS.get(facts.verdict, "plain")
    title = block_words(document, item.key)
    return TwoLines(title, " · ".join(parts), facts.verdict, kind, _short(title, facts))


def _starved_words(starved: tuple[str, ...]) -> str:
    first, *more = starved
    if not more:
        return f"mandatory {first} loses its last source"
    return f"mandatory {first} and {len(more):,} more lose their last source"


def _short(title: str, facts: ReviewFacts) -> str:
    """Leave out the groups that a schema is in; its own name tells it from others."""
    last = facts.schema.rpartition(".")[2]
    return f"…{title[len(facts.schema) - len(last) :]}" if last != facts.schema else ""


class ReviewModel(QAbstractListModel):
    """The rows that pass the filter."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: list[Entry] = []
        self._document = Document()
        self._sources = LastSources(self._document)
        self._rows: dict[BlockKey, int] = {}
        self._words: dict[BlockKey, tuple[ReviewFacts, TwoLines]] = {}  # of this document only

    @property
    def items(self) -> list[ReviewFacts]:
        """The items among the rows."""
        return [entry for entry in self.entries if isinstance(entry, ReviewFacts)]

    def show_entries(self, document: Document, entries: list[Entry]) -> None:
        """Show other rows: those that are gone go, the rest is looked at again."""
        if document is not self._document:
            self._document, self._sources, self._words = document, LastSources(document), {}
        shown, names = [_name(entry) for entry in self.entries], [_name(entry) for entry in entries]
        wanted = set(names)
        gone = [at for at, name in enumerate(shown) if name not in wanted]
        if len(gone) <= _FEW:
            for at in reversed(gone):
                self.beginRemoveRows(QModelIndex(), at, at)
                del self.entries[at], shown[at]
                self._number()
                self.endRemoveRows()
        if shown == names:
            self.entries = entries
            if entries:
                self.dataChanged.emit(self.index(0), self.index(len(entries) - 1))
            return
        self.beginResetModel()
        self.entries = entries
        self._number()
        self._words = {}
        self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own
        """Count the rows."""
        return 0 if parent.isValid() else len(self.entries)

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Only items can be chosen."""
        return super().flags(index) if self.at(index.row()) is not None else Qt.ItemFlag.NoItemFlags

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        """Return a row, or its words."""
        if not index.isValid() or index.row() >= len(self.entries):
            return None
        entry = self.entries[index.row()]
        if isinstance(entry, Heading):
            said = {HEADING_ROLE: entry, int(Qt.ItemDataRole.DisplayRole): f"{entry.words}, {entry.facts}"}
            return said.get(role)
        if role == Qt.ItemDataRole.UserRole:
            return entry
        if role == WORDS_ROLE:
            return self._said(entry)
        if role == Qt.ItemDataRole.DisplayRole:
            words = self._said(entry)
            return f"{words.title}, {words.pill}, {words.facts}"
        return None

    def at(self, row: int) -> ReviewFacts | None:
        """Return the item of a row; ``None`` for a heading."""
        entry = self.entries[row] if 0 <= row < len(self.entries) else None
        return entry if isinstance(entry, ReviewFacts) else None

    def row_of(self, key: BlockKey) -> int | None:
        """Return the row of a block."""
        return self._rows.get(key)

    def _number(self) -> None:
        pairs = ((entry, at) for at, entry in enumerate(self.entries))
        self._rows = {entry.item.key: at for entry, at in pairs if isinstance(entry, ReviewFacts)}

    def _said(self, facts: ReviewFacts) -> TwoLines:
        known = self._words.get(facts.item.key)
        if known is None or known[0] != facts:
            words = row_words(self._document, facts, self._sources.lost_by(facts.item))
            known = self._words[facts.item.key] = facts, words
        return known[1]


def _name(entry: Entry) -> object:
    return entry.words if isinstance(entry, Heading) else entry.item.key
