"""What the many ways of writing a JSON Schema node come to: its types, its properties, whether null is allowed.

References inside one document are followed, whether they are pointers, anchors or embedded ids; ``allOf`` is merged;
alternatives (``oneOf``, ``anyOf``) come to null or not, to one shape, to properties that may be missing, or to a union.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import unquote, urldefrag, urljoin

from metl_gui.errors import SchemaError

Node: TypeAlias = Any
"""A schema node: an object or a boolean, once it is known to be valid."""

DATA_KEYWORDS = frozenset({"enum", "const", "examples", "example", "default"})
"""What stands under these is data, not schemas."""


class References:
    """The local targets of one document.

    Args:
        document: the parsed document.
        referred: other documents, by the names that references call them.

    Source: JSON Schema draft-04 to 2020-12, on identifiers; ``id`` is the older spelling of ``$id``.
    """

    def __init__(self, document: Node, referred: Mapping[str, Node] | None = None) -> None:
        self._document = document
        self._referred = dict(referred or {})
        self._targets: dict[str, Node] = {}
        self._homes: dict[int, tuple[Node, str]] = {}
        self._index()

    def resolve(self, reference: object, holder: Node) -> Node:
        """Return the node that a reference in ``holder`` names.

        Raises:
            SchemaError: it leads out of the document or nowhere.
        """
        if not isinstance(reference, str):
            raise SchemaError("A reference is not text.", f"It is {reference!r:.100}.", "Write $ref as a text.")
        home, base = self._homes.get(id(holder), (self._document, ""))
        address, fragment = urldefrag(_join(base, reference))
        start = home if address == urldefrag(base)[0] else self._targets.get(address)
        if start is None:
            # A registry's name of what is referred to may be the reference as it is written, or where it leads.
            start = self._referred.get(urldefrag(reference)[0], self._referred.get(address))
        if start is None:
            raise SchemaError(
                f"It refers to {reference}, which is not in the file.",
                "References are followed within one file, and to what a registry names beside it.",
                "Import a version with its references resolved.",
            )
        target = self._by_fragment(start, address, unquote(fragment))
        if target is None:
            raise SchemaError(
                f"It refers to {reference}, which does not exist.", "", "Mend the reference or add what it names."
            )
        return target

    def _by_fragment(self, start: Node, address: str, fragment: str) -> Node | None:
        if not fragment:
            return start
        if not fragment.startswith("/"):
            return self._targets.get(f"{address}#{fragment}")
        node = start
        for part in fragment[1:].split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and name in node:
                node = node[name]
            elif isinstance(node, list) and name.isdecimal() and len(name) < 9 and int(name) < len(node):
                node = node[int(name)]
            else:
                return None
        return node

    def _index(self) -> None:
        waiting: list[tuple[Node, Node, str]] = [(other, other, name) for name, other in self._referred.items()]
        waiting.append((self._document, self._document, ""))
        seen: set[int] = set()
        while waiting:
            node, home, base = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, list):
                waiting.extend((item, home, base) for item in node if isinstance(item, dict | list))
            elif isinstance(node, dict):
                home, base = self._note(node, home, base)
                waiting.extend(
                    (value, home, base)
                    for name, value in node.items()
                    if isinstance(value, dict | list) and name not in DATA_KEYWORDS
                )

    def _note(self, node: dict[str, Any], home: Node, base: str) -> tuple[Node, str]:
        """Remember the ids and anchors of one node; return the resource that its members belong to."""
        for keyword in ("$id", "id"):
            named = node.get(keyword)
            if isinstance(named, str) and named:
                address, anchor = urldefrag(_join(base, named))
                if anchor:
                    self._targets.setdefault(f"{address}#{anchor}", node)
                else:
                    home, base = node, address
                    self._targets.setdefault(address, node)
        for keyword in ("$anchor", "$dynamicAnchor"):
            plain_name = node.get(keyword)
            if isinstance(plain_name, str):
                self._targets.setdefault(f"{urldefrag(base)[0]}#{plain_name}", node)
        self._homes[id(node)] = (home, base)
        return home, base


def _join(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


Trail: TypeAlias = frozenset[int]
"""Identities of the nodes on the way down to a node: meeting one again is a recursion."""

Place: TypeAlias = tuple[Node, Trail]

MAX_STEPS = 200_000
"""Nodes visited for one schema; references that multiply end here."""

MAX_CHAIN = 150
"""References and ``allOf`` followed in a row; also keeps the call stack small."""

TYPES = frozenset({"string", "integer", "number", "boolean", "null", "object", "array"})
ALTERNATIVES = ("oneOf", "anyOf")
CONDITIONAL = ("then", "else")
REFERENCES = ("$ref", "$recursiveRef", "$dynamicRef")


@dataclass(slots=True)
class Shape:
    """One node after merging.

    Args:
        types: allowed types, ``None`` when nothing restricts them.
        properties: what speaks about each property, in order of appearance; all of it holds.
        possible: the same for properties that only some alternatives have.
        required: names of properties that must be there.
        is_nullable: null is allowed besides ``types``.
        is_open: further properties of a declared kind are allowed.
        is_recursive: the node leads back to one that it lies in.
        words: description, title, format and the like, first come first kept.
    """

    types: frozenset[str] | None = None
    properties: dict[str, list[Place]] = field(default_factory=dict)
    possible: dict[str, list[Place]] = field(default_factory=dict)
    required: set[str] = field(default_factory=set)
    is_nullable: bool = False
    is_open: bool = False
    is_recursive: bool = False
    words: dict[str, Any] = field(default_factory=dict)

    @property
    def plain_types(self) -> frozenset[str] | None:
        """The allowed types apart from null."""
        return None if self.types is None else self.types - {"null"}

    @property
    def says_something(self) -> bool:
        """Whether more is known than which values or names are allowed."""
        return self.types is not None or bool(self.properties) or bool(self.possible) or self.is_recursive

    def restrict(self, types: frozenset[str] | None) -> None:
        """Allow only what both this shape and ``types`` allow."""
        if types is not None:
            self.types = types if self.types is None else _common(self.types, types)


class Shapes:
    """Makes shapes of the nodes of one document.

    Args:
        references: where references lead.
    """

    def __init__(self, references: References) -> None:
        self._references = references
        self._steps = 0
        self._depth = 0

    def shape(self, places: Iterable[Place], *, is_root: bool = False) -> Shape:
        """Merge everything that speaks about one value.

        Raises:
            SchemaError: a node is malformed, or a reference cannot be followed.
        """
        shape = Shape()
        groups: list[tuple[list[Node], Trail]] = []
        for node, trail in places:
            self._collect(node, trail, shape, groups)
        if shape.types is None and shape.properties:
            shape.types = frozenset({"object"})
        for alternatives, trail in groups:
            self._choose(shape, alternatives, trail, is_root)
        if shape.types is None and (shape.properties or shape.possible):
            shape.types = frozenset({"object"})
        return shape

    def property_shape(self, shape: Shape, name: str) -> Shape:
        """Return the shape of one property of a shape."""
        if name in shape.properties:
            return self.shape(shape.properties[name])
        places = shape.possible[name]
        if len(places) == 1:
            return self.shape(places)
        return self._united([self.shape([place]) for place in places])

    def _collect(self, node: Node, trail: Trail, shape: Shape, groups: list[tuple[list[Node], Trail]]) -> None:
        """Add one node, what it refers to and its ``allOf`` to a shape; keep its alternatives for later."""
        self._steps += 1
        if self._steps > MAX_STEPS or self._depth > MAX_CHAIN:
            raise SchemaError(
                "Its references lead too far.",
                f"More than {MAX_STEPS:,} steps, or {MAX_CHAIN} in a row.",
                "Simplify it.",
            )
        if isinstance(node, bool):
            return
        if not isinstance(node, dict):
            raise SchemaError("A part of it is no schema.", f"It is {node!r:.100}.", "Write an object or a boolean.")
        if id(node) in trail:
            shape.is_recursive = True
            shape.restrict(_declared_types(node))
            return
        self._depth += 1
        self._collect_parts(node, trail | {id(node)}, shape, groups)
        self._depth -= 1

    def _collect_parts(
        self, node: dict[str, Any], inside: Trail, shape: Shape, groups: list[tuple[list[Node], Trail]]
    ) -> None:
        self._own_words(node, inside, shape)
        for keyword in REFERENCES:
            if keyword in node:
                self._collect(self._references.resolve(node[keyword], node), inside, shape, groups)
        for member in _list_of(node, "allOf"):
            self._collect(member, inside, shape, groups)
        groups.extend((_list_of(node, keyword), inside) for keyword in ALTERNATIVES if _list_of(node, keyword))
        for part in _conditional_parts(node):
            _add_possible(shape, self.shape([(part, inside)]))

    def _own_words(self, node: dict[str, Any], inside: Trail, shape: Shape) -> None:
        shape.restrict(_declared_types(node))
        shape.is_nullable = shape.is_nullable or node.get("nullable") is True
        for name, value in _properties(node).items():
            if value is not False:
                shape.properties.setdefault(name, []).append((value, inside))
        required = node.get("required")
        if isinstance(required, list):
            shape.required.update(name for name in required if isinstance(name, str))
        extra = node.get("additionalProperties")
        shape.is_open = (
            shape.is_open or bool(node.get("patternProperties")) or (isinstance(extra, dict) and bool(extra))
        )
        for keyword, value in node.items():
            if keyword not in shape.words and not isinstance(value, dict):
                shape.words[keyword] = value

    def _choose(self, shape: Shape, alternatives: list[Node], trail: Trail, is_root: bool) -> None:
        """Bring one list of alternatives into a shape."""
        shapes = [self.shape([(alternative, trail)]) for alternative in alternatives if alternative is not False]
        spoken = [one for one in shapes if one.says_something]
        if any(one.types is not None and "null" in one.types for one in spoken) and shape.types is None:
            shape.is_nullable = True
        spoken = [one for one in spoken if one.types != frozenset({"null"})]
        if not spoken:
            return
        if len(spoken) == 1 and len(shapes) == len(spoken) + sum(one.types == frozenset({"null"}) for one in shapes):
            _absorb(shape, spoken[0])
        elif is_root or shape.properties:
            for one in spoken:
                _add_possible(shape, one)
        elif shape.types is None or _are_objects(shape):
            united = self._united(spoken)
            shape.types = united.types
            shape.is_open = shape.is_open or united.is_open
            shape.words = {**united.words, **shape.words}

    def _united(self, shapes: list[Shape]) -> Shape:
        """Return the shape of a value that has one of several shapes."""
        united = Shape(is_nullable=any(one.is_nullable for one in shapes))
        if any(one.types is None for one in shapes):
            return united
        types = frozenset().union(*(one.types for one in shapes if one.types is not None))
        united.is_nullable = united.is_nullable or "null" in types
        several_objects = sum("object" in (one.types or ()) for one in shapes) > 1
        united.types = types | {"union"} if several_objects else types
        formats = {one.words.get("format") for one in shapes}
        if len(formats) == 1:
            united.words["format"] = formats.pop()
        return united


def _add_possible(shape: Shape, one: Shape) -> None:
    """Let a shape have the properties of another that holds only sometimes."""
    for properties in (one.properties, one.possible):
        for name, places in properties.items():
            if name not in shape.properties:
                shape.possible.setdefault(name, []).extend(places)


def _conditional_parts(node: dict[str, Any]) -> list[Node]:
    """Return the parts of a node that hold only when something else does."""
    parts = [node.get(keyword) for keyword in CONDITIONAL]
    for keyword in ("dependentSchemas", "dependencies"):
        dependants = node.get(keyword)
        if isinstance(dependants, dict):
            parts.extend(dependants.values())
    return [part for part in parts if isinstance(part, dict)]


def _absorb(shape: Shape, one: Shape) -> None:
    """Let everything that holds for ``one`` hold for ``shape``."""
    shape.restrict(one.types)
    for name, places in one.properties.items():
        shape.properties.setdefault(name, []).extend(places)
    for name, places in one.possible.items():
        shape.possible.setdefault(name, []).extend(places)
    shape.required |= one.required
    shape.is_nullable = shape.is_nullable or one.is_nullable
    shape.is_open = shape.is_open or one.is_open
    shape.is_recursive = shape.is_recursive or one.is_recursive
    shape.words = {**one.words, **shape.words}


def _common(some: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """Return the types in both sets; every integer is a number."""
    both = some & others
    if "number" not in both and "integer" in some | others and "number" in some | others:
        mixed = ("integer" in some and "number" in others) or ("number" in some and "integer" in others)
        return both | {"integer"} if mixed else both
    return both


def _are_objects(shape: Shape) -> bool:
    return shape.plain_types == frozenset({"object"})


def _declared_types(node: dict[str, Any]) -> frozenset[str] | None:
    written = node.get("type")
    if written is None:
        return _types_of_values(node)
    types = written if isinstance(written, list) else [written]
    for name in types:
        if not isinstance(name, str) or name not in TYPES | {"any"}:
            raise SchemaError(
                f"It has the type {name!r:.100}.",
                "JSON Schema has no such type.",
                f"Use one of {', '.join(sorted(TYPES))}.",
            )
    return None if "any" in types or not types else frozenset(types)


def _types_of_values(node: dict[str, Any]) -> frozenset[str] | None:
    """Return the types of the values that a node lists, or what its keywords are about."""
    values = node["enum"] if isinstance(node.get("enum"), list) else [node["const"]] if "const" in node else None
    if values:
        return frozenset(_type_of(value) for value in values)
    if isinstance(node.get("properties"), dict) and node["properties"]:
        return frozenset({"object"})
    return frozenset({"array"}) if "items" in node or "prefixItems" in node else None


def _type_of(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _properties(node: dict[str, Any]) -> dict[str, Node]:
    properties = node.get("properties", {})
    if not isinstance(properties, dict):
        raise SchemaError("Its properties are not an object.", f"They are {properties!r:.100}.", "Mend it there.")
    return properties


def _list_of(node: dict[str, Any], keyword: str) -> list[Node]:
    members = node.get(keyword, [])
    if not isinstance(members, list):
        raise SchemaError(f"Its {keyword} is not a list.", f"It is {members!r:.100}.", "Mend it there.")
    return members
