"""What a tree keeps of its versions beside their attributes, as columns: a million versions without an object each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.trees.declarations import KeyPaths
from metl_gui.core.trees.trees import TextTable, VersionMetadata

Ints = NDArray[np.int32]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class VersionColumns(Sequence[VersionMetadata]):
    """The facts of n versions, made into values where they are asked for.

    Shape: ``label``, ``key`` and ``source`` int32 of n, rows of ``labels``, ``keys`` and ``sources``; ``inferred``
    bool of n; ``fingerprints`` has n texts.
    """

    label: Ints
    key: Ints
    source: Ints
    inferred: NDArray[np.bool_]
    fingerprints: TextTable
    labels: tuple[tuple[str, ...], ...]
    keys: tuple[KeyPaths, ...]
    sources: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.label)

    def picked(self, rows: NDArray[np.int64]) -> VersionColumns:
        """Return the facts of some versions, in the order asked for."""
        if len(rows) == len(self) and bool((np.diff(rows) > 0).all()):
            return self
        fingerprints = TextTable.of(self.fingerprints[row] for row in rows.tolist())
        columns = self.label[rows], self.key[rows], self.source[rows], self.inferred[rows]
        return VersionColumns(*columns, fingerprints, self.labels, self.keys, self.sources)

    def joined(self, other: VersionColumns) -> VersionColumns:
        """Return these facts and others behind them."""
        labels, of_label = _merged(self.labels, other.labels)
        keys, of_key = _merged(self.keys, other.keys)
        sources, of_source = _merged(self.sources, other.sources)
        mine, theirs = self.fingerprints, other.fingerprints
        return VersionColumns(
            np.concatenate([self.label, of_label[other.label]]),
            np.concatenate([self.key, of_key[other.key]]),
            np.concatenate([self.source, of_source[other.source]]),
            np.concatenate([self.inferred, other.inferred]),
            TextTable(mine.blob + theirs.blob, np.concatenate([mine.offsets, theirs.offsets[1:] + len(mine.blob)])),
            labels,
            keys,
            sources,
        )

    @overload
    def __getitem__(self, at: int) -> VersionMetadata: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[VersionMetadata, ...]: ...
    def __getitem__(self, at: int | slice) -> VersionMetadata | tuple[VersionMetadata, ...]:
        if isinstance(at, slice):
            return tuple(self[row] for row in range(*at.indices(len(self))))
        row = range(len(self))[at]
        return VersionMetadata(
            self.labels[self.label[row]],
            self.fingerprints[row],
            self.keys[self.key[row]],
            bool(self.inferred[row]),
            self.sources[self.source[row]],
        )


def as_columns(facts: Sequence[VersionMetadata]) -> VersionColumns:
    """Return facts as columns, as they are when they are columns already."""
    return facts if isinstance(facts, VersionColumns) else version_columns(facts)


def version_columns(facts: Iterable[VersionMetadata]) -> VersionColumns:
    """Put facts into columns."""
    found = tuple(facts)
    labels = {labels: row for row, labels in enumerate(dict.fromkeys(f.labels for f in found))}
    keys = {key: row for row, key in enumerate(dict.fromkeys(f.key for f in found))}
    sources = {source: row for row, source in enumerate(dict.fromkeys(f.source for f in found))}
    return VersionColumns(
        np.array([labels[f.labels] for f in found], np.int32),
        np.array([keys[f.key] for f in found], np.int32),
        np.array([sources[f.source] for f in found], np.int32),
        np.array([f.inferred for f in found], np.bool_),
        TextTable.of(f.fingerprint for f in found),
        tuple(labels),
        tuple(keys),
        tuple(sources),
    )


def _merged(ours: tuple[T, ...], theirs: tuple[T, ...]) -> tuple[tuple[T, ...], Ints]:
    """Join two tables of distinct values, and tell where those of the second stand."""
    rows = {value: row for row, value in enumerate(ours)}
    places = np.array([rows.setdefault(value, len(rows)) for value in theirs], np.int32)
    return tuple(rows), places
