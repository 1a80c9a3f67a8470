"""Questions to the matrix, by names: what feeds this, what does this feed, how did it change.

``find_ends`` says where ``source path -> target path`` leads, ``Completions`` how it may go on while somebody types it.
A path is a schema or entity name, then ``@`` and a version label if one is meant, then a dot and an attribute's dotted
path. Without a version the newest one that has the attribute is meant. Of a name its end is enough, as trees show it
below its group, where only one schema or entity ends so; version and attribute may stand behind spaces too, as the
window writes them.

Source: docs/reference/commands.md, "metl search".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from metl_gui.core.matrix.document import Document
from metl_gui.core.search.lineage_search import LineageMatch, forward_search, reverse_search, version_progress
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.errors import EditError
from metl_gui.values import Value
from metl_gui.workbench.addresses import (
    BlockName,
    ElementName,
    element_name,
    find_place,
    find_schema,
    known_block_name,
)
from metl_gui.workbench.json_results import JsonResult


class Answer(JsonResult):
    """One element that answers a search."""

    block: BlockName
    element: ElementName
    status: str


class Answers(JsonResult):
    """Everything that answers a search."""

    results: tuple[Answer, ...]


class VersionStep(JsonResult):
    """One block of a version progression."""

    version: str
    entity: str
    entity_version: str
    elements: int
    change: str


class VersionProgression(JsonResult):
    """How the mapping of a schema changed from version to version."""

    schema: str
    versions: tuple[VersionStep, ...]


def reverse(document: Document, place: str) -> Answers:
    """Find everything that feeds ``ENTITY`` or ``ENTITY.ATTRIBUTE``, in every version of every schema.

    Raises:
        EditError: there is no such entity or attribute.
    """
    entity, path = find_place(document, Side.CDM, place)
    return _answers(document, reverse_search(document, entity.id, path))


def forward(document: Document, place: str) -> Answers:
    """Find everything that ``SCHEMA`` or ``SCHEMA.ATTRIBUTE`` feeds.

    Raises:
        EditError: there is no such schema or attribute.
    """
    schema, path = find_place(document, Side.EXTRACTION, place)
    return _answers(document, forward_search(document, schema.id, path))


def versions(document: Document, name: str) -> VersionProgression:
    """Return how the mapping of a schema changed from version to version, entity by entity.

    Raises:
        EditError: there is no such schema.
    """
    schema = find_schema(document, Side.EXTRACTION, name)
    steps: list[VersionStep] = []
    for step in version_progress(document, schema.id):
        block = known_block_name(document, step.key)
        steps.append(VersionStep(block.version, block.entity, block.entity_version, step.elements, step.change.value))
    return VersionProgression(schema.name, tuple(steps))


def _answers(document: Document, found: Iterable[LineageMatch]) -> Answers:
    return Answers(
        tuple(
            Answer(
                known_block_name(document, each.block.key),
                element_name(document, each.block, each.element),
                each.block.status.value,
            )
            for each in found
        )
    )


ARROW = " -> "
_ARROWS = re.compile(r"\s*(?:->|→)\s*")
_SPOKEN = re.compile(r"(\S+) +(\S+)(?: +(.+))?")
"""A node as the window writes it: name, version, attribute."""


class SearchNode(Value):
    """A node: a schema or entity, one of its versions, or an attribute of that."""

    schema: int
    version: int | None = None
    attribute: int | None = None


def find_ends(document: Document, text: str) -> tuple[SearchNode | None, SearchNode | None]:
    """Find what ``source -> target`` names; either may be left out, and one alone may be of either tree.

    Raises:
        EditError: a name is not known; with near names.
    """
    source, arrow, target = _parted(text)
    if arrow:
        return (
            _find(document, Side.EXTRACTION, source) if source else None,
            _find(document, Side.CDM, target) if target else None,
        )
    try:
        return _find(document, Side.EXTRACTION, source), None
    except EditError as error:
        try:
            return None, _find(document, Side.CDM, source)
        except EditError:
            raise error from None


class Completions:
    """Proposes how a text may go on, for one document.

    Cost: a pass over the schema names, or over the attributes of one schema, for each letter.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._names: dict[Side, list[tuple[str, str]]] = {}

    def of(self, text: str, limit: int = 12) -> list[str]:
        """Return whole texts that the given one may become, the likeliest first."""
        source, arrow, target = _parted(text)
        side, word = (Side.CDM, target) if arrow else (Side.EXTRACTION, source)
        kept = f"{source}{ARROW}" if arrow else ""
        if arrow and not word.strip():
            names = [*self._mapped_to(source), *(name for _, name in self._of_side(side))]
            return [kept + name for name in names][:limit]
        schema = self._named_so_far(side, word)
        of_version = self._of_version(side, word, limit)
        if of_version is not None:
            found = of_version
        elif schema is not None:
            name, rest = schema
            paths = _ranked(self._paths(side, name), rest, limit)
            others = (each for each in self._of_side(side) if each[0].startswith(word.lower()))
            found = [*(f"{name.name}.{path}" for path in paths), *(other for _, other in others)][:limit]
        else:
            found = _ranked(self._of_side(side), word, limit)
        return [kept + each for each in found if each != word]

    def _mapped_to(self, source: str) -> list[str]:
        """Return the attributes that an attribute is mapped to, those of its newest version first."""
        document = self._document
        try:
            node = _find(document, Side.EXTRACTION, source.strip())
        except EditError:
            return []
        if node.version is None or node.attribute is None:
            return []
        attribute = document.extraction.version(node.version).attribute(node.attribute)
        path = attribute.path if attribute is not None else ""
        pairs: dict[str, None] = {}
        for version in reversed(document.extraction.versions(node.schema)):
            ids = {attribute.id for attribute in version.attributes if attribute.path == path}
            for key in document.matrix.column_keys(version.id) if ids else ():
                block, entity = document.matrix.block(*key), document.cdm.version(key[1])
                name = document.cdm.schema(entity.schema_id).name
                for element in block.elements if block is not None else ():
                    attribute = entity.attribute(element.q) if element.p in ids else None
                    if attribute is not None:
                        pairs[f"{name}.{attribute.path}"] = None
        return list(pairs)

    def _of_side(self, side: Side) -> list[tuple[str, str]]:
        if side not in self._names:
            names = (schema.name for schema in self._document.tree(side).schemas())
            self._names[side] = [(name.lower(), name) for name in names]
        return self._names[side]

    def _of_version(self, side: Side, word: str, limit: int) -> list[str] | None:
        """Return versions that begin as was typed behind ``@``, or attributes of the one that stands there."""
        tree = self._document.tree(side)
        for at in (at for at, letter in enumerate(word) if letter == "@"):
            schema = tree.named(word[:at]) or tree.named(_only_one_ending(self._of_side(side), word[:at]) or "")
            if schema is None:
                continue
            rest, found = word[at + 1 :], list[str]()
            versions = tuple(reversed(tree.versions(schema.id)))
            for version in sorted(versions, key=lambda version: -len(version.label)):
                if f"{rest}.".startswith(f"{version.label}."):
                    paths = [(each.path.lower(), each.path) for each in version.attributes]
                    ranked = _ranked(paths, rest[len(version.label) + 1 :], limit)
                    found += (f"{schema.name}@{version.label}.{path}" for path in ranked)
            labels = (version.label for version in versions if version.label.startswith(rest))
            return [*(f"{schema.name}@{label}" for label in labels), *found][:limit]
        return None

    def _named_so_far(self, side: Side, word: str) -> tuple[Schema, str] | None:
        """Return the schema whose name, or the end of it, was typed with a dot behind it, and what follows."""
        dots = [at for at in range(len(word) - 1, 0, -1) if word[at] == "."]
        tree = self._document.tree(side)
        for at in dots:
            schema = tree.named(word[:at])
            if schema is not None:
                return schema, word[at + 1 :]
        for at in dots:
            name = _only_one_ending(self._of_side(side), word[:at])
            schema = tree.named(name) if name is not None else None
            if schema is not None:
                return schema, word[at + 1 :]
        return None

    def _paths(self, side: Side, schema: Schema) -> list[tuple[str, str]]:
        versions = reversed(self._document.tree(side).versions(schema.id))
        paths = dict.fromkeys(a.path for version in versions for a in version.attributes)
        return [(path.lower(), path) for path in paths]


def _ranked(names: Iterable[tuple[str, str]], word: str, limit: int) -> list[str]:
    """Return names that hold a word: those that begin with it, then those of which a part does, then the others."""
    wanted = word.strip().lower()
    ranks: tuple[list[str], list[str], list[str]] = ([], [], [])
    for lower, name in names:
        at = lower.find(wanted)
        if at == 0:
            ranks[0].append(name)
            if len(ranks[0]) >= limit and not wanted:
                break
        elif at > 0:
            ranks[1 if f".{wanted}" in lower or f"_{wanted}" in lower else 2].append(name)
    return [*ranks[0], *ranks[1], *ranks[2]][:limit]


def _parted(text: str) -> tuple[str, str, str]:
    found = _ARROWS.search(text)
    if found is None:
        return text.strip(), "", ""
    return text[: found.start()].strip(), ARROW, text[found.end() :].strip()


def _only_one_ending(names: Iterable[tuple[str, str]], end: str) -> str | None:
    """Return the name that ends with whole parts of another one, ``None`` where several do."""
    wanted = end.lower()
    found = [name for lower, name in names if lower.endswith(wanted) and lower[: -len(wanted)].endswith((".", "/"))]
    return found[0] if wanted and len(found) == 1 else None


def _find(document: Document, side: Side, text: str) -> SearchNode:
    """Find what a text names or, where nothing is called so, what the end of a name stands for.

    Raises:
        EditError: the name is not known; with near names.
    """
    try:
        return _find_named(document, side, text)
    except EditError:
        spoken = _SPOKEN.fullmatch(text)
        if spoken is not None:
            return _find(document, side, f"{spoken[1]}@{spoken[2]}{'.' if spoken[3] else ''}{spoken[3] or ''}")
        names = [(schema.name.lower(), schema.name) for schema in document.tree(side).schemas()]
        for at in [len(text), *(at for at in range(len(text) - 1, 0, -1) if text[at] in ".@")]:
            name = _only_one_ending(names, text[:at])
            if name is not None:
                return _find_named(document, side, name + text[at:])
        raise


def _find_named(document: Document, side: Side, text: str) -> SearchNode:
    for at, letter in enumerate(text):
        schema = document.tree(side).named(text[:at]) if letter == "@" else None
        if schema is not None:
            found = _of_version(document, side, schema, text[at + 1 :])
            if found is not None:
                return found
    schema, path = find_place(document, side, text)
    if path is None:
        return SearchNode(schema.id)
    for version in reversed(document.tree(side).versions(schema.id)):
        attribute = version.at_path(path)
        if attribute is not None:
            return SearchNode(schema.id, version.id, attribute.id)
    return SearchNode(schema.id)


def _of_version(document: Document, side: Side, schema: Schema, text: str) -> SearchNode | None:
    """Return the version, or its attribute, that stands behind ``@``; the longest label that fits is meant."""
    fitting = [
        (len(label), version, text[len(label) + 1 :])
        for version in document.tree(side).versions(schema.id)
        for label in version.labels
        if text == label or text.startswith(f"{label}.")
    ]
    for _, version, path in sorted(fitting, key=lambda each: -each[0]):
        attribute = version.at_path(path) if path else None
        if attribute is not None or not path:
            return SearchNode(schema.id, version.id, attribute.id if attribute is not None else None)
    return None
