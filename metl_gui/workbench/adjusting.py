"""Attributes whose names Debezium adjusted to what Avro allows, traced back to the columns that they are of.

The same table may be known by its catalogue or by JSON messages, with the names of its columns, and by Avro, where
``unit-price`` is ``unit_price``. Where the names leave no doubt, the one goes on as the other.

Source: cdc-formats.md §5 (names).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.paths import join, split
from metl_gui.core.trees.trees import TreeView
from metl_gui.registry.reading import Reading
from metl_gui.registry.subjects import adjusted, is_adjusted, unescaped


def traced(tree: TreeView, reading: Reading) -> Reading:
    """Note of each attribute that is an older one of the same schema under an adjusted name, or the other way round.

    An attribute that the version before has under the same name is left alone, and so are those of which two may be
    meant. Cost: linear in the attributes of the reading and of one version of each of its schemas.
    """
    before: dict[str, set[str]] = {}
    declarations = []
    for declaration in reading.declarations:
        if declaration.name not in before:
            schema = tree.named(declaration.name)
            newest = tree.newest(schema.id) if schema is not None else None
            before[declaration.name] = {attribute.path for attribute in newest.attributes} if newest else set()
        declarations.append(_traced(declaration, before[declaration.name]))
        before[declaration.name] = {attribute.path for attribute in declaration.attributes}
    return replace(reading, declarations=tuple(declarations))


def _traced(declaration: VersionDeclaration, before: set[str]) -> VersionDeclaration:
    own = {attribute.path for attribute in declaration.attributes}
    gone = before - own
    if not gone or not own - before:
        return declaration
    was: dict[str, list[str]] = defaultdict(list)
    for path in gone:
        was[_plain(path)].append(path)
    now: dict[str, list[str]] = defaultdict(list)
    for path in own - before:
        now[_plain(path)].append(path)
    told = {
        path: was[plain][0]
        for plain, (path, *others) in now.items()
        if not others and len(was.get(plain, ())) == 1 and _is_one(path, was[plain][0])
    }
    if not told:
        return declaration
    attributes = tuple(
        replace(one, equivalent_to=tuple(dict.fromkeys((*one.equivalent_to, told[one.path]))))
        if one.path in told
        else one
        for one in declaration.attributes
    )
    return replace(declaration, attributes=attributes)


def _plain(path: str) -> str:
    return join(adjusted(unescaped(part)) for part in split(path))


def _is_one(path: str, other: str) -> bool:
    pairs = zip(split(path), split(other), strict=False)
    return all(one == two or is_adjusted(one, two) or is_adjusted(two, one) for one, two in pairs)
