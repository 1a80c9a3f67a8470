"""Version tasks: versions that messages showed and the trees do not know, to be imported by a person.

A run sets such messages aside. What they show (the schema in them, or else their rows) is one task for each schema and
shape; shapes that a single version explains, because it has all their members and some may be missing, are one task.
Of values a task knows types, how often they are there, and patterns, never the values themselves.
Source: dmm.md §8, contract.md §2.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from metl_gui.core.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.document import Document
from metl_gui.core.nodes import Side, Version
from metl_gui.core.sample_profiles import pattern_of

MOST_SHAPES = 200
"""Rows of one schema with more shapes than this are taken for one version with optional members."""

_SEEN_DIGITS = 12
_MOST_PATTERNS = 3


@dataclass(frozen=True, slots=True)
class ValueProfile:
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


@dataclass(frozen=True, slots=True)
class Waiting:
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


@dataclass(frozen=True, slots=True)
class VersionTask:
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
    """Say whether the trees have a version by now that takes the records of a task."""
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
    """Tell which shapes a single version explains: one has all members of the other, or theirs are seen together.

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
