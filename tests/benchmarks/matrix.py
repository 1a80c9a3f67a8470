"""What edits of the matrix cost at 10^5 and at 10^7 ones, against the size of what they touch.

The baseline of an edit at 10^7 ones is the same edit, touching as much, at 10^5 ones: a ratio near 1 says that the
cost does not grow with the matrix. The other baseline is the round trip group by group.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from metl_gui.core.changes.draft import Edit, perform
from metl_gui.core.changes.touched_groups import touched_versions
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion, RemoveVersion
from metl_gui.core.matrix.compact import ElementColumns, GroupKey, compact_all, compact_group, decompact, decompact_all
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from tests.benchmarks.harness import Case, figure, paired, single
from tests.benchmarks.sizes import ATTRIBUTES, DESIGN, STRETCH, VERSIONS, Size, build

_REPEATS = 50
_SCHEMA = 3


@dataclass(frozen=True, slots=True)
class Subject:
    """One edit, made for a document."""

    name: str
    make: Callable[[Document], Edit]


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Measure every operation at both sizes."""
    small = build(DESIGN)
    yield from _whole(DESIGN, small, rounds)
    yield _groups_baseline(small, rounds)
    if quick:
        for subject in SUBJECTS:
            yield _edit(subject, DESIGN, small, rounds)
        return
    tracemalloc.start()
    large = build(STRETCH)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    for subject in SUBJECTS:
        yield _edit(subject, DESIGN, small, rounds)
        yield _compared(subject, small, large, rounds)
    yield from _memory(STRETCH, large, held)
    yield from _whole(STRETCH, large, rounds)


def _add_version(document: Document) -> Edit:
    version = document.extraction.newest(_SCHEMA)
    assert version is not None
    kept = tuple(AttributeDeclaration(a.path, a.type) for a in version.attributes[1:])
    name = document.extraction.schema(_SCHEMA).name
    return AddVersion(Side.EXTRACTION, VersionDeclaration(name, (*kept, AttributeDeclaration("fresh", "string")), "11"))


def _remove_version(document: Document) -> Edit:
    return RemoveVersion(Side.EXTRACTION, document.extraction.schema(_SCHEMA).version_ids[-1])


def _set_element(document: Document) -> Edit:
    (block,) = document.matrix.column_set(document.extraction.schema(_SCHEMA).version_ids[0])
    return SetElements(block.key, zeros=block.elements[:1])


SUBJECTS = (
    Subject("add a version", _add_version),
    Subject("delete a version", _remove_version),
    Subject("set an element", _set_element),
)


def _repeated(edit: Edit, document: Document) -> Callable[[], None]:
    def work() -> None:
        for _ in range(_REPEATS):
            perform(document, edit)

    return work


def _touched(edit: Edit, document: Document) -> str:
    transition = perform(document, edit)
    change = transition.change
    parts = len(change.schemas) + len(change.versions) + len(change.blocks)
    return f"touches {len(change.blocks)} blocks, {parts} parts, {len(touched_versions(transition))} groups"


def _edit(subject: Subject, size: Size, document: Document, rounds: int) -> Case:
    edit = subject.make(document)
    work = _repeated(edit, document)
    work()
    name = f"{subject.name}, {size.ones:.0e} ones"
    return single(name, work, unit="us", per=1e6 / _REPEATS, rounds=rounds, note=_touched(edit, document))


def _compared(subject: Subject, small: Document, large: Document, rounds: int) -> Case:
    edits = subject.make(large), subject.make(small)
    notes = _touched(edits[0], large), _touched(edits[1], small)
    if notes[0] != notes[1]:
        raise AssertionError(f"not the same work: {notes[0]} and {notes[1]}")
    return paired(
        f"{subject.name}, {STRETCH.ones:.0e} ones against {DESIGN.ones:.0e}",
        _repeated(edits[0], large),
        _repeated(edits[1], small),
        unit="us",
        per=1e6 / _REPEATS,
        target=0.5,
        rounds=rounds,
        note=notes[0],
    )


def _whole(size: Size, document: Document, rounds: int) -> Iterator[Case]:
    tree, base = document.extraction.base, document.matrix.base
    compact = compact_all(tree, base)
    _check_round_trip(decompact_all(tree, compact), base)
    note = f"{size.ones:,} ones, {len(compact.q):,} kept"
    per = 1e9 / size.ones
    name = f"{size.ones:.0e} ones"
    yield single(
        f"compact all, {name}", lambda: compact_all(tree, base), unit="ns a one", per=per, rounds=rounds, note=note
    )
    yield single(
        f"decompact all, {name}",
        lambda: decompact_all(tree, compact),
        unit="ns a one",
        per=per,
        rounds=rounds,
        note=note,
    )


def _check_round_trip(dense: ElementColumns, base: object) -> None:
    for name in ("version", "entity_version", "start", "q", "p"):
        if not np.array_equal(getattr(dense, name), getattr(base, name)):
            raise AssertionError(f"decompact(compact(DPM)) differs in {name}")


def _groups_baseline(document: Document, rounds: int) -> Case:
    tree, base = document.extraction.base, document.matrix.base

    def by_group() -> int:
        count = 0
        for schema in document.extraction.schemas():
            versions = document.extraction.versions(schema.id)
            for _, w in document.matrix.column_keys(schema.version_ids[0]):
                kept = compact_group(versions, document.matrix, GroupKey(schema.id, w))
                count += sum(len(elements) for elements in decompact(versions, kept).values())
        return count

    def at_once() -> int:
        return len(decompact_all(tree, compact_all(tree, base)).q)

    if by_group() != at_once():
        raise AssertionError("group by group and at once find different elements")
    return paired(
        "compact and decompact all at once against group by group",
        at_once,
        by_group,
        unit="ms",
        per=1e3,
        target=10,
        rounds=rounds,
        note=f"{document.matrix.ones:,} ones",
    )


def _memory(size: Size, document: Document, held: int) -> Iterator[Case]:
    base = document.matrix.base
    attributes = size.schemas * VERSIONS * ATTRIBUTES
    matrix = base.size_bytes / size.ones
    yield figure(
        "memory of the matrix with both indexes", matrix, unit="bytes a one", target=24, note=f"{size.ones:.0e} ones"
    )
    trees = (held - (base.size_bytes - base.by_entity_version.nbytes * 2)) / attributes
    yield figure(
        "memory of the trees", trees, unit="bytes an attribute", target=100, note=f"{attributes:.0e} attributes"
    )
