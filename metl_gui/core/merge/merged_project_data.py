"""Merge what three sides keep beside their states: what one side put, changed or took away is done in ours.

What both changed differently is joined where that loses nothing (samples, what runs saw), and else ours is kept, with
a word that says both. What ours has no place for is told by name, never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.node_matches import SameIds
from metl_gui.core.merge.sides import MergeConflict, ThreeWay, settled, settled_set
from metl_gui.core.project.project_data import (
    Entries,
    Gathered,
    IncludedSamples,
    ItemKind,
    Key,
    LazyNames,
    NamedItem,
    Naming,
    ProjectDataChange,
    ProjectItem,
    StateName,
    entries,
    with_thing,
)
from metl_gui.core.project.sample_profiles import SchemaProfile
from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.values import Value

_NOTHING = {
    ItemKind.SETTING: "the default",
    ItemKind.ASSIGNMENT: "nobody",
    ItemKind.STATE_NAME: "no name",
}
"""What a side says that has no entry; elsewhere it has none."""


class LeftThere(Value):
    """Something of theirs that is not in the result, though nobody decided against it.

    Args:
        kind: what it is.
        place: what it is about, with what it says.
        reason: why it is left where it is.
    """

    kind: str
    place: str
    reason: str


class MergedProjectData(Value):
    """What becomes of what lies beside the states.

    Args:
        entries: the result.
        change: what is done in ours.
        conflicts: what both changed differently.
        left: what theirs changed and ours has no place for.
    """

    entries: Entries
    change: ProjectDataChange
    conflicts: tuple[MergeConflict, ...] = ()
    left: tuple[LeftThere, ...] = ()


class ProjectDataSide(Value):
    """What one side keeps.

    Args:
        document: what its ids are of.
        things: what lies beside it.
        project_id: which project it is a copy of; ids that copies have of what was before they parted are the same.
    """

    document: Document
    things: tuple[ProjectItem, ...] = ()
    project_id: str = ""


def named_for(result: Document, sides: ThreeWay[ProjectDataSide]) -> ThreeWay[Entries]:
    """Return what three sides keep in names of the result of the merge of their documents."""
    base, ours, theirs = sides
    here = SameIds(result)
    base_to_ours, base_to_theirs = LazyNames(ours.document, base.document), LazyNames(theirs.document, base.document)
    ours_to_base, theirs_to_base = LazyNames(base.document, ours.document), LazyNames(base.document, theirs.document)
    theirs_to_result = LazyNames(result, theirs.document)
    naming = Naming(base.document, result, ((base_to_ours, here), (base_to_theirs, theirs_to_result)))

    def of(side: ProjectDataSide, routes: tuple[tuple[SameIds | LazyNames, ...], ...], to_base: LazyNames) -> Naming:
        is_copy = side.project_id != "" and side.project_id == base.project_id
        return Naming(side.document, result, routes, naming, to_base, is_copy=is_copy)

    return ThreeWay(
        entries(base.things, naming),
        entries(ours.things, of(ours, ((here,),), ours_to_base)),
        entries(theirs.things, of(theirs, ((theirs_to_result,), (theirs_to_base, base_to_ours, here)), theirs_to_base)),
    )


def merge_project_data(
    sides: ThreeWay[Entries],
    has_state: Callable[[StateName], bool],
    hidden: Callable[[Gathered], Gathered] = lambda thing: thing,
) -> MergedProjectData:
    """Merge what three sides keep.

    Args:
        sides: each side's entries, named for one document.
        has_state: whether ours has the state that is named, not another one of its number.
        hidden: takes out of what was gathered from messages what the result masks.
    """
    base, ours, theirs = sides
    result = dict(ours)
    conflicts: list[MergeConflict] = []
    left: list[LeftThere] = []
    for key in (*theirs, *(key for key in base if key not in theirs)):
        trio = ThreeWay(base.get(key), ours.get(key), theirs.get(key))
        said = ThreeWay(*(None if entry is None else entry.says for entry in trio))
        _, is_other = settled(said)
        if said.theirs in (said.base, said.ours):
            continue
        found = _joined(trio) if is_other else trio.theirs
        if found is None and is_other:
            conflicts.append(_conflict(key, trio))
        elif found is None:
            del result[key]
        elif (reason := _why_not(found, has_state)) is not None:
            left.append(LeftThere(key[0].value, f"{found.place}: {found.words}", reason))
        else:
            result[key] = _in_place_of(trio.ours, found)
    for key, entry in result.items():
        thing = entry.kept.thing if entry.kept is not None else None
        if isinstance(thing, Gathered) and (now := hidden(thing)) != thing:
            result[key] = with_thing(entry, now)
    put = tuple(e.kept for key, e in result.items() if e.kept is not None and ours.get(key) is not e)
    removed = tuple(entry.own for key, entry in ours.items() if key not in result)
    return MergedProjectData(result, ProjectDataChange(put, removed), tuple(conflicts), tuple(left))


def _why_not(entry: NamedItem, has_state: Callable[[StateName], bool]) -> str | None:
    """Explain why ours has no place for something, ``None`` where it has."""
    if entry.kept is None:
        return "What it is about is not in the result."
    thing = entry.kept.thing
    if isinstance(thing, StateName) and not has_state(thing):
        return "Ours has not that state: its number is another state there, or none."
    return None


def _in_place_of(ours: NamedItem | None, entry: NamedItem) -> NamedItem:
    """Let a task of theirs be the one that ours has under its key; rows of other things are known by their keys."""
    if entry is ours or entry.kept is None or not isinstance(entry.kept.thing, VersionTask):
        return entry
    own = ours.own.thing if ours is not None else None
    return with_thing(entry, replace(entry.kept.thing, id=own.id if isinstance(own, VersionTask) else 0))


def _conflict(key: Key, trio: ThreeWay[NamedItem | None]) -> MergeConflict:
    words = [entry.words if entry is not None else _NOTHING.get(key[0], "none") for entry in trio]
    place = next(entry.place for entry in trio if entry is not None)
    return MergeConflict(key[0], place, f"Ours says {words[1]}, theirs {words[2]}; ours is kept.")


def _joined(trio: ThreeWay[NamedItem | None]) -> NamedItem | None:
    """Put both sides together where that loses nothing, ``None`` where a person must choose."""
    base, ours, theirs = trio
    if theirs is None or ours is None:
        # What runs gathered again after the other side dropped it is there again; all else is for people.
        found = ours or theirs
        return found if found is not None and found.kind in (ItemKind.PROFILE, ItemKind.VERSION_TASK) else None
    mine, other = ours.own.thing, theirs.own.thing
    old = base.own.thing if base is not None else None
    match mine, other:
        case SchemaProfile(), SchemaProfile():
            return max(ours, theirs, key=lambda entry: (entry.own.when_ms, entry.says))
        case VersionTask(), VersionTask():
            return with_thing(ours, _task(old if isinstance(old, VersionTask) else None, mine, other))
        case IncludedSamples(), IncludedSamples():
            lines = settled_set(
                ThreeWay(old.lines if isinstance(old, IncludedSamples) else [], mine.lines, other.lines)
            )
            both = replace(mine, text=b"".join(line + b"\n" for line in lines))
            return None if both.is_too_much else with_thing(ours, both)
        case _:
            return None


def _task(base: VersionTask | None, ours: VersionTask, theirs: VersionTask) -> VersionTask:
    """Put together what runs of both sides saw of one version; who dismissed it on one side dismissed it."""
    declaration, _ = settled(ThreeWay(base.declaration if base else None, ours.declaration, theirs.declaration))
    samples, _ = settled(ThreeWay(base.samples if base else None, ours.samples, theirs.samples))
    dismissed_by, _ = settled(ThreeWay(base.dismissed_by if base else None, ours.dismissed_by, theirs.dismissed_by))
    waits = settled_set(ThreeWay(base.waits if base else (), ours.waits, theirs.waits))
    return replace(
        ours,
        declaration=declaration or ours.declaration,
        samples=samples or ours.samples,
        waits=tuple(waits),
        dismissed_by=dismissed_by,
    )
