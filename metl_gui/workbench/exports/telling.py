"""By which columns a query tells the rows of one version from those of the others, as production tells them by paths.

A version fits a row when the row has its required columns and no others than its own; of several that fit and give the
same messages it is the newest; where they differ it is none. Of two versions that can both fit, a condition on the
columns in which they differ is enough. Source: contract.md §5 (which version a message has).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from metl_gui.core.trees.nodes import Version
from metl_gui.core.trees.paths import split
from metl_gui.workbench.exports.carried import Carried
from metl_gui.workbench.exports.mappable import Mapped


@dataclass(frozen=True, slots=True)
class Not:
    """A version that fits too unless one of these columns is missing, or one of those is there; always without any."""

    missing: tuple[str, ...]
    there: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What a row of one version must look like.

    Args:
        required: columns that are there.
        own: columns that may be there.
        others: versions that must not fit.
        labels: what the version field may say instead, where the schema has one.
    """

    required: tuple[str, ...]
    own: tuple[str, ...]
    others: tuple[Not, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Keyed:
    """A delete that fits no version by its columns, which the newest one with its key takes.

    Args:
        key: columns that are there.
        shapes: required and own columns of every version, none of which fits.
        others: keys of other versions, none of which is there as a whole.
    """

    key: tuple[str, ...]
    shapes: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    others: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Telling:
    """By what the rows of one version are told: full images apart from deletes, which give the key alone.

    Args:
        images, deletes: ``None`` where they cannot be told from those of another version.
        keyed: deletes that it takes by their key alone.
        why: the reason in words, where neither can be.
    """

    images: Told | None
    deletes: Told | None
    keyed: Keyed | None = None
    why: str = ""


@dataclass(slots=True)
class _Shape:
    """A version as a query sees it: by the outermost names of its rows."""

    version: Version
    mapped: Mapped | None
    own: dict[str, None] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)


def tell_versions(versions: Sequence[Version], mapped: Mapping[int, Mapped]) -> dict[int, Telling]:
    """Say for each version by what its rows are told.

    Args:
        versions: all versions of one schema, oldest first.
        mapped: what is carried of them, by id.
    """
    shapes = [_shape(version, mapped.get(version.id)) for version in versions]
    return {shape.version.id: _telling(at, shapes) for at, shape in enumerate(shapes)}


def _telling(at: int, shapes: list[_Shape]) -> Telling:
    images, deletes = (_told(at, shapes, by_key=by_key) for by_key in (False, True))
    keyed = _keyed(at, shapes)
    is_none = isinstance(deletes, str) and keyed is None
    return Telling(
        images=None if isinstance(images, str) else images,
        deletes=None if isinstance(deletes, str) else deletes,
        keyed=keyed,
        why=images if is_none and isinstance(images, str) else "",
    )


def _keyed(at: int, shapes: list[_Shape]) -> Keyed | None:
    """Say which deletes a version takes by their key; none where another one takes them, or nobody could tell."""
    own, mapped = _key(shapes[at]), shapes[at].mapped
    if mapped is None or not own or mapped.schema.setting("version_field"):
        return None
    others = list[tuple[str, ...]]()
    for place, other in enumerate(shapes):
        key = _key(other)
        if place == at or not key:
            continue
        is_same = _output(shapes[at], other, by_key=True) == _output(other, shapes[at], by_key=True)
        if place > at or not is_same:
            if set(key) <= set(own):
                return None
            others.append(key)
    fits = ((tuple(shape.required), tuple(shape.own)) for shape in shapes)
    return Keyed(own, tuple(dict.fromkeys(fits)), tuple(dict.fromkeys(others)))


def _key(shape: _Shape) -> tuple[str, ...]:
    """Return the outermost names of a version's key."""
    key = shape.mapped.key if shape.mapped else shape.version.key
    return tuple(dict.fromkeys(split(path)[0] for path in key or ()))


def _shape(version: Version, mapped: Mapped | None) -> _Shape:
    shape = _Shape(version, mapped)
    for attribute in version.attributes:
        name = split(attribute.path)[0]
        shape.own[name] = None
        if not attribute.optional:
            shape.required[name] = None
    return shape


def _told(at: int, shapes: list[_Shape], *, by_key: bool) -> Told | str:
    shape, others = shapes[at], list[Not]()
    labels = shape.version.labels if shape.mapped and shape.mapped.schema.setting("version_field") else ()
    for place, other in enumerate(shapes):
        if other is shape or not _can_both_fit(shape, other):
            continue
        is_same = _output(shape, other, by_key=by_key) == _output(other, shape, by_key=by_key)
        if place < at and is_same:
            continue
        missing = tuple(name for name in other.required if name not in shape.required)
        there = tuple(name for name in shape.own if name not in other.own)
        if not (missing or there or labels):
            label = other.version.label
            if is_same:
                return f"its rows are read as those of version {label}, which they fit too"
            return f"its rows cannot be told from those of version {label}"
        others.append(Not(missing, there))
    return Told(tuple(shape.required), tuple(shape.own), tuple(others), labels)


def _can_both_fit(one: _Shape, other: _Shape) -> bool:
    return one.required.keys() <= other.own.keys() and other.required.keys() <= one.own.keys()


def _output(shape: _Shape, other: _Shape, *, by_key: bool) -> object:
    """Return what decides the messages of rows that both could have, by the columns that both have, or by the key."""
    mapped = shape.mapped
    if mapped is None:
        return None
    if by_key and mapped.schema.setting("replica_identity") != "full":
        decisive = {split(path)[0] for path in mapped.key or ()}
    else:
        decisive = set(other.own)
    blocks = frozenset(
        (*block.names[2:], block.is_held, frozenset(pair for name, pair in _pairs(block) if name in decisive))
        for block in mapped.blocks
    )
    return blocks, mapped.key, mapped.has_held


def _pairs(block: Carried) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the outermost name of each source beside the two paths."""
    for line in block.lines:
        yield split(line.source.path)[0], (line.source.path, line.target.path)
