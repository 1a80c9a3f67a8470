"""Schemas that go on under another name, as their source says: their versions are those of the schema they continue.

Source: dmm.md §2 (aliases, *this continues S*), §7.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from metl_gui.core.edits.settings import AddAlias
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.trees import TreeView
from metl_gui.registry.reading import Reading


def continued(tree: TreeView, reading: Reading) -> Reading:
    """Give the versions of a renamed schema to the one that it continues, with the new name as an alias.

    A name that the tree has already is left alone: somebody has decided what it means. Order: the versions of a renamed
    schema come behind those of the one that it continues.
    """
    names = {declaration.name for declaration in reading.declarations}
    home: dict[str, str] = {}
    for one in reading.continuations:
        if tree.named(one.name) is not None or one.name in home:
            continue
        known = [home.get(name, name) for name in one.of if name in home or tree.named(name) or name in names]
        if known and known[0] != one.name:
            home[one.name] = known[0]
    if not home:
        return reading
    own = [d for d in reading.declarations if d.name not in home]
    moved = [
        replace(d, name=home[d.name], aliases=tuple(dict.fromkeys((*d.aliases, d.name))))
        for d in reading.declarations
        if d.name in home
    ]
    return replace(reading, declarations=(*own, *moved))


def alias_edits(tree: TreeView, side: Side, reading: Reading) -> Iterator[AddAlias]:
    """Yield the edits that let known schemas answer to the names that they got, where no version has done so."""
    given: set[str] = set()
    for one in reading.continuations:
        schema = next((found for name in one.of if (found := tree.named(name)) is not None), None)
        if schema is not None and one.name not in given and tree.named(one.name) is None:
            given.add(one.name)
            yield AddAlias(side, schema.id, one.name)
