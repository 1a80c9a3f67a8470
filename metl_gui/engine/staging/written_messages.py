"""Canonical messages as METL writes them, staged by their layouts: no message is made an object.

What another program wrote, or wrote again with its members in another order or with space between them, is left; so is
what does not fit, to be told by whoever reads it. A layout is learned from a message: it is taken where the values of
the message, written by it, are the message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from msgspec import Raw
from numpy.typing import NDArray

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.runs.report import Tally
from metl_gui.core.trees.paths import escape, split
from metl_gui.engine.kernel.machine_code import MachineCode
from metl_gui.engine.kernel.message_layout import Layout, MessageKind, MessagePaths, Nested, tree_of
from metl_gui.engine.kernel.message_records import MessageRecords, RecordBatch
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import EntityPlan, version_name
from metl_gui.engine.sinks.parquet import by_version
from metl_gui.engine.staging.canonical_messages import CanonicalMessage, read_one
from metl_gui.engine.staging.history_rows import HistoryRows
from metl_gui.errors import RecordError
from metl_gui.formats.json_text import NULL, is_null, members_unless_repeated, quoted

if TYPE_CHECKING:
    from metl_gui.engine.kernel.compiled.matching.layout_tree import LayoutTree

Place: TypeAlias = tuple[str, str]
TreeCode: TypeAlias = "MachineCode[ModuleType]"
WORTH_MESSAGES = 4096
"""As for the kernel: loading machine code takes as long as reading many times as many messages without it."""

_MOST_TRIES, _LEAST_TRIES = 64, 4
"""Messages of unknown layouts that are looked at of one batch; fewer where nothing was learned from those before."""

_ROUNDS = 4
_LEARNED_BYTES = 64 << 10
"""Nothing is learned from a message that is longer: it may be as large as people like."""

_REPLAYED_END = b',"replayed":true}'
_WORDS = {None: NULL, True: b"true", False: b"false"}


def _load() -> ModuleType:
    from metl_gui.engine.kernel.compiled.matching import layout_tree

    return layout_tree


def tree_code(worth_messages: int | None = WORTH_MESSAGES) -> TreeCode:
    """Return what a process knows of the module ``layout_tree``; the argument is explained above."""
    return MachineCode(_load, worth_messages)


TREE_CODE = tree_code()
"""That of this process."""


class WrittenBatch(NamedTuple):
    """What became of the messages of a batch that have a known layout.

    Args:
        tally: their counts; none of them is set aside.
        tables: rows, each table with the entity that it is of.
        left: the records that are to be read in another way.
    """

    tally: Tally
    tables: list[tuple[str, pa.Table]]
    left: NDArray[np.int64]


class WrittenMessages:
    """Stages messages by their layouts, once machine code for it is there.

    Args:
        plans: of entity versions.
        histories: by their entities.
        rows_of: makes what makes rows of an entity version.
        other_entity: what messages of an entity without a history are counted as.
        code: of trees of layouts.
    """

    def __init__(
        self,
        plans: Mapping[Place, EntityPlan],
        histories: Mapping[str, EntityHistory],
        rows_of: Callable[[EntityPlan], HistoryRows],
        other_entity: str,
        code: TreeCode,
    ) -> None:
        self._plans = plans
        self._histories = histories
        self._rows_of = rows_of
        self._other_entity = other_entity
        self._code = code
        self._tree: LayoutTree | None = None
        self._rows: dict[Place, HistoryRows] = {}
        self._trees: dict[Place, tuple[tuple[str, ...], Nested | None]] = {}
        self._tries = _MOST_TRIES
        self._looks = 0

    def stage(self, records: RecordBatch) -> WrittenBatch:
        """Stage those messages of a batch that have a known layout."""
        code = self._code.after(len(records))
        if code is None:
            return WrittenBatch(Tally(), [], np.arange(len(records)))
        tree = self._tree = self._tree or code.LayoutTree()
        text = code.padded(records)
        found, left = tree.find(records, text)
        for _ in range(_ROUNDS):
            if not (len(left) and self._learn(tree, records, left)):
                break
            found, left = tree.find(records, text)
        return self._staged(records, found, left)

    def _staged(self, records: RecordBatch, found: MappedBatch, left: NDArray[np.int64]) -> WrittenBatch:
        tables: list[tuple[str, pa.Table]] = []
        skipped = 0
        kept = np.ones(len(found), np.bool_)
        by_entity: Counter[str] = Counter()
        for place, alike in by_version(found).items():
            if place[0] not in self._histories:
                for one in alike:
                    kept[one.rows] = False
                    skipped += len(one.rows)
                continue
            table, numbers, refused = self._rows_for(place).table(found, alike)
            if refused:
                misfits = numbers[list(refused)]
                kept[misfits] = False
                left = np.union1d(left, found.records[misfits])
                table = table.filter(pa.array(~np.isin(numbers, misfits)))
            tables.append((place[0], table))
            by_entity[place[0]] += table.num_rows
        taken = np.ones(len(records), np.bool_)
        taken[left] = False
        lengths = records.lengths
        count = int(kept.sum())
        tally = Tally(
            read=count + skipped,
            mapped=count,
            messages_out=count,
            skipped=skipped,
            by_skip={self._other_entity: skipped} if skipped else {},
            bytes_in=int(lengths[taken].sum()),
            bytes_out=int(lengths[found.records[kept]].sum()),
            by_entity=dict(+by_entity),
            by_version=_by_version(found, kept),
        )
        return WrittenBatch(tally, tables, left)

    def _rows_for(self, place: Place) -> HistoryRows:
        found = self._rows.get(place)
        if found is None:
            found = self._rows[place] = self._rows_of(self._plans[place])
        return found

    def _learn(self, tree: LayoutTree, records: RecordBatch, left: NDArray[np.int64]) -> bool:
        """Learn from some messages of unknown layouts; return whether there is a layout more."""
        step = -(-len(left) // self._tries)
        self._looks += 1  # where tries are few, each batch shows others
        learned = 0
        for record in left[self._looks % step :: step].tolist():
            layout = self._layout_in(records, record)
            learned += layout is not None and tree.add(layout)
        self._tries = _MOST_TRIES if learned else max(_LEAST_TRIES, self._tries // 2)
        return learned > 0

    def _layout_in(self, records: RecordBatch, record: int) -> Layout | None:
        text = records.value(record) if isinstance(records, MessageRecords) else records.raw(record)
        if text is None or len(text) > _LEARNED_BYTES or not records.is_whole(record):
            return None
        message = read_one(text)
        if isinstance(message, RecordError) or message.version is None:
            return None
        plan = self._plans.get((message.entity, message.version))
        if plan is None:
            return None
        place = plan.entity, plan.version
        if place not in self._trees:
            paths = tuple(one.path for one in plan.columns)
            found = tree_of(paths)
            self._trees[place] = paths, found if _is_plain(found, paths) else None
        paths, tree = self._trees[place]
        return None if tree is None else layout_in(text, message, paths, tree)


def layout_in(text: bytes, message: CanonicalMessage, paths: Sequence[str], tree: Nested) -> Layout | None:
    """Return the layout of a message; ``None`` where writing its values by one does not make its text.

    Args:
        text: of the message.
        message: what it says.
        paths, tree: of the attributes of its entity version.
    """
    source = message.source
    payload, values_of_payload = [], []
    try:
        for number, value in _leaves(message.payload, tree):
            payload.append(paths[number])
            values_of_payload.append(value)
        key, origin, old_key = (_members(raw) for raw in (message.key, source.origin, source.old_key))
    except (RecordError, KeyError):
        return None
    if not set(payload).isdisjoint(message.unchanged):
        return None
    kind = MessageKind(
        message.entity,
        message.version,
        message.state,
        message.op,
        source.schema,
        source.version,
        source.publication,
        text.endswith(_REPLAYED_END),
    )
    paths_of = MessagePaths(tuple(key), tuple(origin), tuple(old_key), tuple(payload), tuple(message.unchanged))
    layout = Layout.of(kind, paths_of)  # kept by nobody else: messages may be of ever other ones
    values = [
        *key.values(),
        bytes(message.ts_ms),
        quoted(source.position or "")[1:-1],
        *origin.values(),
        bytes(source.committed_at_ms),
        _WORDS[source.snapshot],
        *old_key.values(),
        *values_of_payload,
    ]
    return layout if layout.write([values[number] for number in layout.order]) == text else None


def _is_plain(tree: Nested, paths: Sequence[str]) -> bool:
    """Return whether each path leads through objects: one that another runs through stands whole as a name."""
    for number, path in enumerate(paths):
        place: Nested | int | None = tree
        for name in split(path):
            place = place.get(name) if isinstance(place, dict) else None
        if place != number:
            return False
    return True


def _leaves(text: bytes | Raw, tree: Nested) -> Iterator[tuple[int, bytes]]:
    """Yield the values of a payload with the numbers of their paths.

    Raises:
        RecordError: an object is none.
        KeyError: there is no such attribute.
    """
    for name, value in members_unless_repeated(text).items():
        below = tree[name]
        if isinstance(below, int):
            yield below, bytes(value)
        else:
            yield from _leaves(value, below)


def _members(text: bytes | Raw) -> dict[str, bytes]:
    """Return the values of an object by their paths, none of null."""
    found = {} if is_null(text) else members_unless_repeated(text)
    return {escape(name): bytes(value) for name, value in found.items()}


def _by_version(found: MappedBatch, kept: NDArray[np.bool_]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    numbers, times = np.unique(found.layouts[kept], return_counts=True)
    for number, count in zip(numbers.tolist(), times.tolist(), strict=True):
        kind = found.layout(number).kind
        if kind.version is not None:
            counts[version_name(kind.schema, kind.version)] += count
    return dict(counts)
