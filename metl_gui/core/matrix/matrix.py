"""The dynamic mapping matrix (DPM): every element with value 1, by block, with a column and a row index.

Order: blocks of the base are sorted by (schema version id, entity version id), elements within a block by (q, p).
Cost: reading or writing one block touches that block only, plus a search in sorted ids; the column set of a version
and the row set of an entity version cost what they hold. ``merged`` and ``arrays`` are linear in all ones.
Source: docs/glossary.md (dense set, column set, row set); docs/architecture/model.md, "The table that is never built".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from immutables import Map
from numpy.typing import NDArray

from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status, Verdict
from metl_gui.core.trees.columns import EMPTY, Readable, add, joined_rows, picked
from metl_gui.errors import BugError
from metl_gui.values import Value

_Scalar = TypeVar("_Scalar", bound=np.generic)

STATUSES = tuple(Status)
VERDICTS = tuple(Verdict)
_STATUS_CODE = {status: code for code, status in enumerate(STATUSES)}
_VERDICT_CODE = {verdict: code for code, verdict in enumerate(VERDICTS)}
Ints = NDArray[np.int32]
_MOST_RECENT_ELEMENTS = 50_000


_UNKNOWN = Block(0, 0)


class _Recent:
    """The blocks of a base that were made last, and keys without one: one edit asks for the same many times."""

    def __init__(self) -> None:
        self._blocks: dict[BlockKey, Block | None] = {}
        self._elements = 0

    def get(self, key: BlockKey) -> Block | None:
        return self._blocks.get(key, _UNKNOWN)

    def keep(self, key: BlockKey, block: Block | None) -> None:
        if self._elements > _MOST_RECENT_ELEMENTS:
            self._blocks, self._elements = {}, 0
        self._blocks[key] = block
        self._elements += 1 + (len(block.elements) if block is not None else 0)

    def __reduce__(self) -> tuple[type[_Recent], tuple[()]]:
        return _Recent, ()  # another process makes its own


@dataclass(frozen=True, eq=False)
class DpmBase:
    """The columnar part of the matrix.

    Shape: ``n`` blocks, ``m`` elements. ``version``, ``entity_version``, ``came_version``, ``came_entity_version``
    (0 for none), ``who`` are int32 of n; ``status`` and ``verdict`` uint8 of n; ``when_ms`` int64 of n;
    ``start`` int64 of n + 1; ``q`` and ``p`` int32 of m. ``records`` holds whole blocks of which more is known.
    """

    version: Ints
    entity_version: Ints
    start: NDArray[np.int64]
    q: Ints
    p: Ints
    status: NDArray[np.uint8]
    verdict: NDArray[np.uint8]
    came_version: Ints
    came_entity_version: Ints
    who: Ints
    when_ms: NDArray[np.int64]
    people: tuple[str, ...] = ("",)
    records: dict[BlockKey, Block] = field(default_factory=dict)
    _recent: _Recent = field(default_factory=_Recent, init=False, repr=False)

    @cached_property
    def by_entity_version(self) -> Ints:
        """Block rows sorted by entity version, then schema version: the row index; int32 of the blocks."""
        return np.argsort(self.entity_version, kind="stable").astype(np.int32)

    @cached_property
    def _sorted_entity_versions(self) -> Ints:
        return self.entity_version[self.by_entity_version]

    def column(self, version: int) -> range:
        """Rows of the blocks of one schema version."""
        ends = np.array((version, version + 1), np.int32)
        low, high = self.version.searchsorted(ends)  # np.searchsorted takes twice as long
        return range(int(low), int(high))

    def row(self, entity_version: int) -> list[int]:
        """Rows of the blocks of one entity version, by schema version id."""
        ends = np.array((entity_version, entity_version + 1), np.int32)
        low, high = np.searchsorted(self._sorted_entity_versions, ends)
        rows: list[int] = self.by_entity_version[low:high].tolist()
        return rows

    def find(self, key: BlockKey) -> int:
        """Row of one block, -1 when there is none."""
        column = self.column(key[0])
        at = column.start
        if column:
            at += int(self.entity_version[column.start : column.stop].searchsorted(np.int32(key[1])))
        return at if at < column.stop and int(self.entity_version[at]) == key[1] else -1

    def at(self, key: BlockKey) -> Block | None:
        """Return the block of a key, ``None`` when there is none."""
        found = self._recent.get(key)
        if found is _UNKNOWN:
            row = self.find(key)
            found = self.block(row) if row >= 0 else None
            self._recent.keep(key, found)
        return found

    def block(self, row: int) -> Block:
        """Make the block of one row."""
        key = int(self.version[row]), int(self.entity_version[row])
        record = self.records.get(key)
        if record is not None:
            return record
        low, high = int(self.start[row]), int(self.start[row + 1])
        elements = Element.many(self.q[low:high].tolist(), self.p[low:high].tolist())
        came = int(self.came_version[row])
        return Block(
            *key,
            elements,
            STATUSES[self.status[row]],
            VERDICTS[self.verdict[row]],
            (came, int(self.came_entity_version[row])) if came else None,
            who=self.people[self.who[row]],
            when_ms=int(self.when_ms[row]),
        )

    @property
    def size_bytes(self) -> int:
        """Memory of the columns and both indexes, without the whole records."""
        columns = (getattr(self, name) for name in self.__dataclass_fields__)
        arrays = [c for c in columns if isinstance(c, np.ndarray)]
        return sum(a.nbytes for a in (*arrays, self.by_entity_version, self._sorted_entity_versions))


def base_of(blocks: Iterable[Block]) -> DpmBase:
    """Build the columns from blocks in any order."""
    ordered = sorted(blocks, key=lambda block: block.key)
    people = {"": 0}
    for block in ordered:
        people.setdefault(block.who, len(people))
    came = [block.came_from or (0, 0) for block in ordered]
    starts = np.zeros(len(ordered) + 1, np.int64)
    np.cumsum([len(block.elements) for block in ordered], out=starts[1:])
    return DpmBase(
        version=np.array([b.version for b in ordered], np.int32),
        entity_version=np.array([b.entity_version for b in ordered], np.int32),
        start=starts,
        q=np.array([e.q for b in ordered for e in b.elements], np.int32),
        p=np.array([e.p for b in ordered for e in b.elements], np.int32),
        status=np.array([_STATUS_CODE[b.status] for b in ordered], np.uint8),
        verdict=np.array([_VERDICT_CODE[b.verdict] for b in ordered], np.uint8),
        came_version=np.array([v for v, _ in came], np.int32),
        came_entity_version=np.array([w for _, w in came], np.int32),
        who=np.array([people[b.who] for b in ordered], np.int32),
        when_ms=np.array([b.when_ms for b in ordered], np.int64),
        people=tuple(people),
        records={b.key: b for b in ordered if not b.is_plain},
    )


class DpmView:
    """How a matrix is read, whether frozen or open for an edit."""

    base: DpmBase
    ones: int
    block_count: int
    _blocks: Readable[BlockKey, Block | None]
    _columns: Readable[int, Map[int, bool]]
    _rows: Readable[int, Map[int, bool]]

    def block(self, version: int, entity_version: int) -> Block | None:
        """Return MB(o,v,r,w), ``None`` for a null block of which nothing is known."""
        key = version, entity_version
        found: Block | None = self._blocks.get(key)
        return found if found is not None or key in self._blocks else self.base.at(key)

    def blocks_at(self, keys: Iterable[BlockKey]) -> list[Block]:
        """Return the blocks of some keys, null blocks of which nothing is known left out."""
        edited, get, at = self._blocks, self._blocks.get, self.base.at
        found = [get(key) if key in edited else at(key) for key in keys]
        return [block for block in found if block is not None]

    def column_keys(self, version: int) -> list[BlockKey]:
        """Keys of the blocks of one schema version, by entity version id."""
        edited = self._columns.get(version, EMPTY)
        rows = self.base.column(version)
        ids = {w for w in self.base.entity_version[rows.start : rows.stop].tolist() if w not in edited}
        ids.update(w for w in edited if self._blocks.get((version, w)) is not None)
        return [(version, w) for w in sorted(ids)]

    def sort_rows(self) -> None:
        """Sort the blocks by entity version where nobody waits for it; the first question by it does so otherwise."""
        self.base.row(0)

    def row_keys(self, entity_version: int) -> list[BlockKey]:
        """Keys of the blocks of one entity version, by schema version id."""
        edited = self._rows.get(entity_version, EMPTY)
        ids = {v for v in self.base.version[self.base.row(entity_version)].tolist() if v not in edited}
        ids.update(v for v in edited if self._blocks.get((v, entity_version)) is not None)
        return [(v, entity_version) for v in sorted(ids)]

    def column_set(self, version: int) -> tuple[Block, ...]:
        """DCPM(o,v): all blocks of one schema version, null blocks under review or retired included."""
        return tuple(self._known(key) for key in self.column_keys(version))

    def row_set(self, entity_version: int) -> tuple[Block, ...]:
        """DRPM(r,w): all blocks of one entity version, null blocks under review or retired included."""
        return tuple(self._known(key) for key in self.row_keys(entity_version))

    def _known(self, key: BlockKey) -> Block:
        block = self.block(*key)
        if block is None:
            raise BugError(f"the indexes of the matrix name a block that is not there: {key}")
        return block


class Dpm(DpmView, Value, eq=False):
    """The matrix at one state: a columnar base and what was edited since.

    Args:
        ones: number of elements.
        block_count: number of blocks, null blocks of which something is known included.
        confirmed: number of blocks that a person has confirmed.
    """

    base: DpmBase
    ones: int = 0
    block_count: int = 0
    confirmed: int = 0
    _blocks: Map[BlockKey, Block | None] = EMPTY
    _columns: Map[int, Map[int, bool]] = EMPTY
    _rows: Map[int, Map[int, bool]] = EMPTY
    _waiting: Map[BlockKey, bool] = EMPTY

    @classmethod
    def of(cls, blocks: Iterable[Block] = ()) -> Dpm:
        """Build a matrix from blocks."""
        return cls.on(base_of(blocks))

    @classmethod
    def on(cls, base: DpmBase) -> Dpm:
        """Build a matrix on finished columns."""
        review = np.flatnonzero(base.status == _STATUS_CODE[Status.NEEDS_REVIEW])
        waiting: Map[BlockKey, bool] = Map({(int(base.version[r]), int(base.entity_version[r])): True for r in review})
        confirmed = int(np.count_nonzero(base.status == _STATUS_CODE[Status.CONFIRMED]))
        return cls(base, len(base.q), len(base.version), confirmed, _waiting=waiting)

    def waiting(self) -> list[BlockKey]:
        """Keys of the blocks that need review, sorted."""
        return sorted(self._waiting)

    def waiting_among(self, keys: Iterable[BlockKey]) -> list[BlockKey]:
        """Return those of some blocks that need review; no block is made to know it."""
        known = self._waiting
        return [key for key in keys if key in known] if known else []

    @property
    def waiting_count(self) -> int:
        """Number of blocks that need review."""
        return len(self._waiting)

    @property
    def edited_count(self) -> int:
        """Number of blocks in the overlay."""
        return len(self._blocks)

    def edited(self) -> Iterator[tuple[BlockKey, Block | None]]:
        """Yield the overlay: what differs from the base, removed blocks as ``None``."""
        yield from self._blocks.items()

    def blocks(self) -> Iterator[Block]:
        """Yield every block, those of the base first, then edited ones."""
        keys = zip(self.base.version.tolist(), self.base.entity_version.tolist(), strict=True)
        for row, key in enumerate(keys):
            if key not in self._blocks:
                yield self.base.block(row)
        yield from (block for _, block in self.edited() if block is not None)

    def merged(self) -> Dpm:
        """Return the same matrix with an empty overlay."""
        return Dpm.on(spliced_matrix(self.base, self._blocks))

    def draft(self) -> DpmDraft:
        """Open the matrix for one edit."""
        return DpmDraft(self)


def _is_confirmed(block: Block | None) -> bool:
    return block is not None and block.status is Status.CONFIRMED


class DpmDraft(DpmView):
    """A matrix open for one edit."""

    def __init__(self, matrix: Dpm) -> None:
        self.base = matrix.base
        self.ones = matrix.ones
        self.block_count = matrix.block_count
        self.confirmed = matrix.confirmed
        self._blocks = self._open_blocks = matrix._blocks.mutate()
        self._columns = self._open_columns = matrix._columns.mutate()
        self._rows = self._open_rows = matrix._rows.mutate()
        self._waiting = matrix._waiting.mutate()

    def put(self, key: BlockKey, block: Block | None) -> Block | None:
        """Set one block, or remove it with ``None``.

        Returns:
            The block as it was.
        """
        before = self.block(*key)
        self._open_blocks[key] = block
        add(self._open_columns, *key)
        add(self._open_rows, key[1], key[0])
        if block is not None and block.status is Status.NEEDS_REVIEW:
            self._waiting[key] = True
        elif key in self._waiting:
            del self._waiting[key]
        self.ones += (len(block.elements) if block else 0) - (len(before.elements) if before else 0)
        self.block_count += (block is not None) - (before is not None)
        self.confirmed += _is_confirmed(block) - _is_confirmed(before)
        return before

    def finish(self) -> Dpm:
        """Freeze what was edited."""
        return Dpm(
            self.base,
            self.ones,
            self.block_count,
            self.confirmed,
            self._open_blocks.finish(),
            self._open_columns.finish(),
            self._open_rows.finish(),
            self._waiting.finish(),
        )


def spliced_matrix(base: DpmBase, edited: Mapping[BlockKey, Block | None]) -> DpmBase:
    """Put blocks in place of others; ``None`` removes one."""
    extra = base_of(block for block in edited.values() if block is not None)
    found = [base.find(key) for key in edited]
    is_kept = np.ones(len(base.version), np.bool_)
    is_kept[[row for row in found if row >= 0]] = False
    kept = np.flatnonzero(is_kept)
    version = np.concatenate([base.version[kept], extra.version])
    entity_version = np.concatenate([base.entity_version[kept], extra.entity_version])
    order = np.lexsort((entity_version, version))
    start, at = joined_rows(base.start, kept, extra.start, order)
    people = {name: row for row, name in enumerate(base.people)}
    who = np.array([people.setdefault(name, len(people)) for name in extra.people], np.int32)

    def column(of_base: NDArray[_Scalar], of_extra: NDArray[_Scalar]) -> NDArray[_Scalar]:
        return np.concatenate([of_base[kept], of_extra])[order]

    return DpmBase(
        version[order],
        entity_version[order],
        start,
        picked(base.q, extra.q, at),
        picked(base.p, extra.p, at),
        column(base.status, extra.status),
        column(base.verdict, extra.verdict),
        column(base.came_version, extra.came_version),
        column(base.came_entity_version, extra.came_entity_version),
        column(base.who, who[extra.who]),
        column(base.when_ms, extra.when_ms),
        tuple(people),
        {key: block for key, block in base.records.items() if key not in edited} | extra.records,
    )
