"""Version tasks: versions that messages showed and the trees do not know, to be imported by a person.

A run sets such messages aside. What they show (the schema in them, or else their rows) is one task for each schema and
shape; shapes that a single version explains, because it has all their members and some may be missing, are one task.
Of values a task knows types, how often they are there, and patterns, never the values themselves. ``collect`` puts
newly seen versions to the tasks that stand already.

Rows show less than a schema says. A version that was read off rows takes types from the version before it
(``with_known_types``): where the values that were seen are values of the type that an attribute had, it keeps that
type; so a version nobody declared is no type change by itself.

``similar_schema`` finds which known schema another name most likely continues: the one with the same columns, and then
the nearest name.

Source: docs/architecture/model.md, "Trees, versions, lineages" (aliases, table renames); docs/architecture/model.md,
"States, publishing, being out of step"; docs/reference/cdc.md, "Types" (how values stand in JSON).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from metl_gui.core.matrix.document import Document
from metl_gui.core.project.sample_profiles import pattern_of
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.values import Value

_INTEGERS = ("int8", "int16", "int32", "int64", "integer")
_SHOWN_AS: dict[str, frozenset[str]] = {
    **dict.fromkeys(_INTEGERS, frozenset({"integer"})),
    **dict.fromkeys(("float", "double", "number"), frozenset({"integer", "number"})),
    "bytes": frozenset({"string"}),
    "string": frozenset({"string"}),
    "boolean": frozenset({"boolean"}),
    "array": frozenset({"array"}),
    "map": frozenset({"map", "array"}),
    "struct": frozenset({"struct", "map"}),
}
"""By plain type: what rows show of its values."""

_DECIMAL = "org.apache.kafka.connect.data.Decimal"
_NUMBERS = frozenset({"integer", "number", "string"})


def with_known_types(declaration: VersionDeclaration, before: Version) -> VersionDeclaration:
    """Give attributes that were read off rows the types that they had in a version, where the rows allow it."""
    if not declaration.inferred:
        return declaration
    known = {attribute.path: attribute for attribute in before.attributes}
    return replace(declaration, attributes=tuple(_typed(one, known.get(one.path)) for one in declaration.attributes))


def _typed(seen: AttributeDeclaration, known: Attribute | None) -> AttributeDeclaration:
    if known is None or not _is_shown(known, seen.type):
        return seen
    return replace(seen, type=known.type, logical=known.logical, scale=known.scale, doc=seen.doc or known.doc)


def _is_shown(known: Attribute, seen: str) -> bool:
    if seen == "unknown":
        return True
    if known.logical == _DECIMAL:
        return seen in _NUMBERS  # bytes in base64, a number, or text, as the converter is set
    return seen in _SHOWN_AS.get(known.type, ())


MOST_SHAPES = 200
"""Rows of one schema with more shapes than this are taken for one version with optional members."""

_SEEN_DIGITS = 12
_MOST_PATTERNS = 3


class ValueProfile(Value):
    """What the values of one attribute look like.

    Args:
        path: of the attribute.
        filled: share of the rows looked at in which it is there and not null.
        patterns: forms of its texts, the commonest first: ``9`` for a digit, ``A`` and ``a`` for letters, ``+`` for
            more of them. Empty where values are masked, or no texts.
    """

    path: str
    filled: float
    patterns: tuple[str, ...] = ()


class Waiting(Value):
    """Where records of a task wait.

    Args:
        errors: the error store.
        run_id: the run that set them aside.
        mode, source: of that run; a later run of the same mode over the same source stands for the earlier one.
        records: how many.
    """

    errors: str
    run_id: str
    mode: str
    source: str
    records: int


class VersionTask(Value):
    """One version to import.

    Args:
        id: in the project; 0 before it is kept.
        schema: as the messages name it, or the schema of the tree that this is a version of.
        seen: what tells this version from others: its label, or the beginning of a fingerprint.
        declaration: what would be imported.
        samples: what its values look like, by attribute.
        waits: where its records wait.
        when_ms: when it was seen first (milliseconds since 1970).
        dismissed_by: who does not want it; ``None`` while it stands.
    """

    id: int
    schema: str
    seen: str
    declaration: VersionDeclaration
    samples: tuple[ValueProfile, ...] = ()
    waits: tuple[Waiting, ...] = ()
    when_ms: int = 0
    dismissed_by: str | None = None

    @property
    def records(self) -> int:
        """How many records wait for it."""
        return sum(wait.records for wait in self.waits)

    @property
    def errors(self) -> str:
        """The error store in which the newest of them wait."""
        return self.waits[-1].errors if self.waits else ""

    @property
    def paths(self) -> frozenset[str]:
        """The paths of its attributes."""
        return frozenset(attribute.path for attribute in self.declaration.attributes)


def seen_of(declaration: VersionDeclaration) -> str:
    """Return what tells a version from others of its schema; types that were read off data do not count."""
    if declaration.label is not None:
        return declaration.label
    if not declaration.inferred:
        return declaration.fingerprint[:_SEEN_DIGITS]
    paths = "\n".join(sorted(attribute.path for attribute in declaration.attributes))
    return hashlib.blake2b(paths.encode()).hexdigest()[:_SEEN_DIGITS]


def is_known(document: Document, task: VersionTask) -> bool:
    """Return whether the trees have a version by now that takes the records of a task."""
    schema = document.extraction.named(task.declaration.name) or document.extraction.named(task.schema)
    if schema is None:
        return False
    return any(_explains(version, task) for version in document.extraction.versions(schema.id))


def _explains(version: Version, task: VersionTask) -> bool:
    if version.fingerprint == task.declaration.fingerprint:
        return True
    if not (task.declaration.inferred or version.inferred):
        return False
    own = {attribute.path for attribute in version.attributes}
    required = {attribute.path for attribute in version.attributes if not attribute.optional}
    certain = {attribute.path for attribute in task.declaration.attributes if not attribute.optional}
    return task.paths <= own and required <= certain


def groups_of(shapes: Sequence[Sequence[AttributeDeclaration]]) -> list[list[int]]:
    """Return which shapes a single version explains: one has all members of the other, or theirs are seen together.

    Members that never stand in one row are those of two versions, as after a rename.

    Returns:
        Indexes of shapes by version, the largest shape first.
    """
    if len(shapes) > MOST_SHAPES:
        return [list(range(len(shapes)))]
    sets = [frozenset(attribute.path for attribute in shape) for shape in shapes]
    together: dict[str, set[str]] = {}
    for paths in sets:
        for path in paths:
            together.setdefault(path, set()).update(paths)
    groups: list[tuple[set[str], list[int]]] = []
    for at in sorted(range(len(sets)), key=lambda at: -len(sets[at])):
        home = next((one for one in groups if _are_one(one[0], sets[at], together)), None)
        if home is None:
            groups.append((set(sets[at]), [at]))
        else:
            home[0].update(sets[at])
            home[1].append(at)
    return [members for _, members in groups]


def _are_one(version: set[str], shape: frozenset[str], together: dict[str, set[str]]) -> bool:
    missing, fresh = version - shape, shape - version
    return all(missing <= together[path] | _around(path, missing) for path in fresh)


def _around(path: str, others: Iterable[str]) -> set[str]:
    """Return the paths that a null in one row and an object in another make of the same member."""
    return {other for other in others if other.startswith(path + ".") or path.startswith(other + ".")}


def joined(shapes: Sequence[Sequence[AttributeDeclaration]]) -> tuple[AttributeDeclaration, ...]:
    """Declare the one version that explains shapes; what one of them lacks is optional.

    Order: as the first shape has them, then what the others bring.
    """
    found: dict[str, AttributeDeclaration] = {}
    for shape in shapes:
        for attribute in shape:
            known = found.get(attribute.path)
            found[attribute.path] = attribute if known is None else _one_of(known, attribute)
    parents = {path for path in found if any(other.startswith(path + ".") for other in found)}
    everywhere = set.intersection(*({attribute.path for attribute in shape} for shape in shapes)) if shapes else set()
    return tuple(
        one if one.optional or path in everywhere else replace(one, optional=True)
        for path, one in found.items()
        if path not in parents
    )


def _one_of(one: AttributeDeclaration, other: AttributeDeclaration) -> AttributeDeclaration:
    optional = one.optional or other.optional
    if one.type in (other.type, "unknown"):
        return replace(other, optional=optional)
    if other.type == "unknown":
        return replace(one, optional=optional)
    type_ = "number" if {one.type, other.type} == {"integer", "number"} else "union"
    return replace(one, type=type_, logical="", scale=None, optional=optional)


def profile_of(path: str, values: Sequence[object]) -> ValueProfile:
    """Describe values without telling them.

    Args:
        path: of the attribute.
        values: one for each row, ``None`` where it is missing or null.
    """
    filled = sum(1 for value in values if value is not None) / len(values) if values else 0.0
    patterns = Counter(pattern_of(value) for value in values if isinstance(value, str))
    commonest = tuple(pattern for pattern, _ in patterns.most_common(_MOST_PATTERNS))
    return ValueProfile(path, round(filled, 3), commonest)


def attribute_words(task: VersionTask) -> list[str]:
    """Say of each attribute what its values look like: ``booked_on: string, 80 % filled, like 9999-99-99``."""
    told = {sample.path: sample for sample in task.samples}
    words = []
    for attribute in task.declaration.attributes:
        sample = told.get(attribute.path)
        share = f", {sample.filled:.0%} filled" if sample is not None and sample.filled < 1 else ""
        like = f", like {' or '.join(sample.patterns)}" if sample is not None and sample.patterns else ""
        words.append(f"{attribute.path}: {attribute.type}{share}{like}")
    return words


def without_masked(samples: Iterable[ValueProfile], masked: frozenset[str]) -> tuple[ValueProfile, ...]:
    """Take away the patterns of masked attributes."""
    return tuple(replace(one, patterns=()) if one.path in masked else one for one in samples)


def nearest_version(document: Document, task: VersionTask) -> Version | None:
    """Return the version of the task's own schema that comes nearest to it, ``None`` where the schema is new."""
    schema = document.tree(Side.EXTRACTION).named(task.schema)
    versions = document.extraction.versions(schema.id) if schema is not None else ()
    return max(versions, key=lambda version: overlap(version, task.paths), default=None)


def overlap(version: Version, paths: frozenset[str]) -> float:
    """Return the share of paths that a version and others have in common."""
    own = {attribute.path for attribute in version.attributes}
    return len(own & paths) / len(own | paths) if own or paths else 0.0


class CollectedTasks(Value):
    """How the tasks of a project change.

    Args:
        kept: tasks that are new (id 0) or other than before.
        removed: ids of tasks that have become part of another one.
    """

    kept: tuple[VersionTask, ...]
    removed: tuple[int, ...] = ()


def collect(standing: Sequence[VersionTask], seen: Iterable[VersionTask]) -> CollectedTasks:
    """Put versions that a run has seen to the tasks that stand.

    Args:
        standing: the tasks of the project, dismissed ones included.
        seen: what the run has seen, ids 0, each with one place where its records wait.
    """
    by_schema: dict[str, list[VersionTask]] = {}
    for task in seen:
        by_schema.setdefault(task.schema, []).append(task)
    kept: list[VersionTask] = []
    removed: list[int] = []
    for schema, fresh in by_schema.items():
        runs = {wait.run_id for task in fresh for wait in task.waits}
        there = [_without_runs(task, runs) for task in standing if task.schema == schema]
        for group in _grouped([*there, *fresh]):
            merged, gone = _merged(group)
            if merged is not None:
                kept.append(merged)
            removed.extend(gone)
    return CollectedTasks(tuple(kept), tuple(removed))


def _without_runs(task: VersionTask, runs: set[str]) -> VersionTask:
    """Forget what runs have shown before they are looked at again."""
    return replace(task, waits=tuple(wait for wait in task.waits if wait.run_id not in runs))


def _grouped(tasks: list[VersionTask]) -> Iterable[list[VersionTask]]:
    """Part the tasks of a schema by the version they are of: declared ones by what tells them, rows by their shapes."""
    declared: dict[str, list[VersionTask]] = {}
    for task in tasks:
        if not task.declaration.inferred:
            declared.setdefault(task.seen, []).append(task)
    yield from declared.values()
    inferred = [task for task in tasks if task.declaration.inferred]
    for group in groups_of([task.declaration.attributes for task in inferred]):
        yield [inferred[at] for at in sorted(group)]


def _merged(group: list[VersionTask]) -> tuple[VersionTask | None, list[int]]:
    """Make one task of a group: the oldest of those that stand, or a new one; None when nothing new was seen of it."""
    fresh = [task for task in group if task.id == 0]
    standing = sorted((task for task in group if task.id), key=lambda task: task.id)
    if not fresh:
        return None, []
    home = standing[0] if standing else fresh[0]
    declaration = home.declaration
    if declaration.inferred:
        declaration = replace(declaration, attributes=joined([task.declaration.attributes for task in group]))
    waits: tuple[Waiting, ...] = ()
    for task in group:
        waits = with_waits(waits, task.waits)
    is_more = any(not task.paths <= home.paths for task in fresh)
    merged = replace(
        home,
        seen=home.seen if home.id else seen_of(declaration),
        declaration=declaration,
        samples=fresh[-1].samples if len(fresh) == 1 else _widest(fresh).samples,
        waits=waits,
        dismissed_by=None if is_more else home.dismissed_by,
    )
    return merged, [task.id for task in standing[1:]]


def _widest(tasks: Sequence[VersionTask]) -> VersionTask:
    return max(tasks, key=lambda task: len(task.samples))


def with_waits(before: tuple[Waiting, ...], more: tuple[Waiting, ...]) -> tuple[Waiting, ...]:
    """Put places to others.

    A run stands for an earlier one of its mode over the same source, and for those in the error store that it has read:
    what it could not map waits in its own store now.
    """
    found = list(before)
    for wait in more:
        same_run = [one for one in found if one.run_id == wait.run_id and one.errors == wait.errors]
        found = [one for one in found if not _is_superseded(one, wait)]
        records = wait.records + sum(one.records for one in same_run)
        found.append(replace(wait, records=records))
    return tuple(found)


def _is_superseded(one: Waiting, by: Waiting) -> bool:
    return one.mode == by.mode and by.source in (one.source, one.errors)


LEAST_SCORE = 0.5
MOST_COMPARED = 2_000
"""Among more schemas, only those with the nearest names have their columns compared."""

_BY_NAME = 200
_SHARE_OF_NAME = 0.25


class SimilarSchema(Value):
    """A known schema and how alike it is, 0 to 1."""

    name: str
    score: float


def similar_schema(document: Document, name: str, paths: frozenset[str]) -> SimilarSchema | None:
    """Find the schema that a name with certain columns continues, ``None`` when none is alike enough.

    Args:
        document: the state to look at.
        name: what no schema answers to.
        paths: of the attributes seen under it.
    """
    from rapidfuzz import fuzz

    best: SimilarSchema | None = None
    for schema in _candidates(document, name):
        newest = document.extraction.newest(schema.id)
        shared = overlap(newest, paths) if newest is not None else 0.0
        if shared < LEAST_SCORE:
            continue
        score = (1 - _SHARE_OF_NAME) * shared + _SHARE_OF_NAME * fuzz.ratio(name, schema.name) / 100
        if best is None or score > best.score:
            best = SimilarSchema(schema.name, round(score, 2))
    return best


def _candidates(document: Document, name: str) -> list[Schema]:
    schemas = list(document.extraction.schemas())
    if len(schemas) <= MOST_COMPARED:
        return schemas
    from rapidfuzz import process

    found = process.extract(name, [schema.name for schema in schemas], limit=_BY_NAME)
    return [schemas[at] for _, _, at in found]
