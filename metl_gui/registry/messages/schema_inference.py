"""Versions read off rows that come without a schema.

Rows with the same paths are one version; nulls decide nothing: a null parent goes with any version that has leaves
below it. Types are what the values show. Where an object's names keep changing it is an open map and one leaf.

A converter without schemas writes every column of a row, null or not. So ``optional`` of an inferred attribute says
whether its *path* may be missing (below a parent that was null); null itself can never be excluded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.core.trees.paths import escape
from metl_gui.values import Value

Signature: TypeAlias = tuple[Any, ...]
"""Names of a row with the names below its objects: what two rows of one tree have in common."""

PLACEHOLDER = "__debezium_unavailable_value"
"""Stands for a large value that did not change; says nothing about its column.

Source: docs/reference/cdc.md, "Values that are not the value".
"""

MAX_SHAPES = 5_000
MAX_NAME_SETS = 8
"""More different sets of names than this below one path, and the object there is an open map."""

MAX_DEPTH = 64

LOGICAL_STRUCTS = {
    frozenset({"scale", "value"}): "io.debezium.data.VariableScaleDecimal",
    frozenset({"x", "y", "wkb", "srid"}): "io.debezium.data.geometry.Point",
    frozenset({"wkb", "srid"}): "io.debezium.data.geometry.Geometry",
}
"""Structs that one column's value consists of, by their names (docs/reference/cdc.md, "Types")."""

_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}


class InferredVersion(Value):
    """One version read off rows.

    Args:
        attributes: its leaves.
        source: where its first row came from.
    """

    attributes: tuple[AttributeDeclaration, ...]
    source: str


@dataclass(slots=True)
class _Observed:
    """What was seen at one path: kinds of values (none for null) and what lies below objects."""

    kinds: set[str] = field(default_factory=set)
    logical: set[str] = field(default_factory=set)
    below: dict[str, _Observed] = field(default_factory=dict)
    was_null: bool = False
    source: str = ""


class RowInference:
    """Gathers the rows of one schema and tells the versions among them."""

    def __init__(self) -> None:
        self._shapes: dict[Signature, _Observed] = {}
        self.is_overflown = False

    def add(self, row: Mapping[str, Any], source: str = "") -> None:
        """Take one row into account."""
        signature = _signature(row, 1)
        observed = self._shapes.get(signature)
        if observed is None:
            if len(self._shapes) >= MAX_SHAPES:
                self.is_overflown = True
                return
            observed = self._shapes[signature] = _Observed(source=source)
        _observe_names(observed, row, 1)

    def versions(self) -> list[InferredVersion]:
        """Return the versions in order of appearance."""
        shapes = list(self._shapes.values())
        _close_open_maps(shapes)
        versions: list[_Observed] = []
        by_names: dict[frozenset[str], list[_Observed]] = {}
        for shape in shapes:
            alike = by_names.setdefault(frozenset(shape.below), [])
            home = next((version for version in reversed(alike) if _are_one(version, shape)), None)
            if home is None:
                versions.append(shape)
                alike.append(shape)
            else:
                _join(home, shape)
        return [InferredVersion(tuple(_attributes(one, "", False)), one.source) for one in versions if one.below]


def have_same_paths(declared: AbstractSet[str], inferred: Iterable[AttributeDeclaration]) -> bool:
    """Return whether rows that inferred attributes were read off are rows of a version with certain paths.

    A leaf of the version may be an object in the rows, and a null in the rows may have leaves in the version.

    Args:
        declared: the paths of the version.
        inferred: attributes of an inferred version.
    """
    covered: set[str] = set()
    for attribute in inferred:
        path = attribute.path
        home = path if path in declared else next((one for one in declared if path.startswith(one + ".")), None)
        if home is not None:
            covered.add(home)
            continue
        below = {one for one in declared if one.startswith(path + ".")}
        if not below or attribute.type != "unknown":
            return False
        covered |= below
    return covered == declared


def _signature(row: Mapping[str, Any], depth: int) -> Signature:
    parts = []
    for name in sorted(row):
        value = row[name]
        is_nested = isinstance(value, dict) and _is_nested(value, depth)
        parts.append((name, _signature(value, depth + 1)) if is_nested else name)
    return tuple(parts)


def _is_nested(value: Mapping[str, Any], depth: int) -> bool:
    return bool(value) and depth < MAX_DEPTH and frozenset(value) not in LOGICAL_STRUCTS and PLACEHOLDER not in value


def _observe_names(observed: _Observed, row: Mapping[str, Any], depth: int) -> None:
    for name, value in row.items():
        one = observed.below.get(name)
        if one is None:
            one = observed.below[name] = _Observed()
        _observe(one, value, depth)


def _observe(one: _Observed, value: object, depth: int) -> None:
    if value is None or value == PLACEHOLDER:
        one.was_null = one.was_null or value is None
    elif not isinstance(value, dict):
        one.kinds.add(_KINDS.get(type(value), "number"))
    elif _is_nested(value, depth):
        _observe_names(one, value, depth + 1)
    else:
        logical = LOGICAL_STRUCTS.get(frozenset(value))
        if logical is None:
            one.was_null = True
        else:
            one.kinds.add("struct")
            one.logical.add(logical)


def _are_one(version: _Observed, shape: _Observed) -> bool:
    """Return whether two trees have the same paths, apart from what lies below nulls."""
    if version.below.keys() != shape.below.keys():
        return False
    for name, one in version.below.items():
        other = shape.below[name]
        if one.below and other.below:
            if not _are_one(one, other):
                return False
        elif (one.below and other.kinds) or (other.below and one.kinds):
            return False
    return True


def _join(version: _Observed, shape: _Observed) -> None:
    for name, other in shape.below.items():
        one = version.below.get(name)
        if one is None:
            version.below[name] = other
            continue
        one.kinds |= other.kinds
        one.logical |= other.logical
        one.was_null = one.was_null or other.was_null
        _join(one, other)


def _close_open_maps(shapes: list[_Observed]) -> None:
    """Turn objects whose names keep changing into leaves, outermost first."""
    below = [shape.below for shape in shapes if shape.below]
    for name in dict.fromkeys(name for names in below for name in names):
        ones = [names[name] for names in below if name in names]
        name_sets = {frozenset(one.below) for one in ones if one.below}
        if len(name_sets) > MAX_NAME_SETS:
            for one in ones:
                if one.below:
                    one.below = {}
                    one.kinds.add("map")
        else:
            _close_open_maps(ones)


def _attributes(observed: _Observed, prefix: str, is_optional: bool) -> Iterator[AttributeDeclaration]:
    for name, one in observed.below.items():
        path = prefix + escape(name)
        if one.below:
            yield from _attributes(one, path + ".", is_optional or one.was_null)
        else:
            logical = next(iter(one.logical)) if len(one.logical) == 1 and one.kinds == {"struct"} else ""
            yield AttributeDeclaration(path, _type(one.kinds), logical, optional=is_optional)


def _type(kinds: set[str]) -> str:
    if not kinds:
        return "unknown"
    if kinds == {"integer", "number"}:
        return "number"
    return next(iter(kinds)) if len(kinds) == 1 else "union"
