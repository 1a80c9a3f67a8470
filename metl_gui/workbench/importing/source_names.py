"""Names that changed at the source: attributes adjusted to Avro, schemas that go on under another name.

``traced`` finds the columns of attributes whose names Debezium adjusted to what Avro allows: the same table may be
known by its catalogue or by JSON messages, with the names of its columns, and by Avro, where ``unit-price`` is
``unit_price``. Where the names leave no doubt, the one goes on as the other.

``continued``: where the source says that a schema goes on under another name, its versions are those of the schema it
continues.

Source: docs/reference/cdc.md, "Avro on the wire" (names); docs/architecture/model.md, "Trees, versions, lineages".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from msgspec.structs import replace

from metl_gui.core.edits.settings import AddAlias
from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.paths import join, split
from metl_gui.core.trees.trees import ReadableTree
from metl_gui.registry.schemas.avro import adjusted, is_adjusted, unescaped


def traced(tree: ReadableTree, reading: ReaderResult) -> ReaderResult:
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


def continued(tree: ReadableTree, reading: ReaderResult) -> ReaderResult:
    """Give the versions of a renamed schema to the one that it continues, with the new name as an alias.

    A name that the tree has already is left alone: somebody has decided what it means. Order: the versions of a renamed
    schema come behind those of the one that it continues.
    """
    if not reading.continuations:
        return reading
    named = {declaration.name for declaration in reading.declarations}
    home: dict[str, str] = {}
    same = _read_as_other(tree, reading)
    for one in reading.continuations:
        if tree.named(one.name) is not None or one.name in home:
            continue
        of = same.get(one.name, ()) if one.is_same else one.of
        known = [home.get(name, name) for name in of if name in home or tree.named(name) or name in named]
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


def _read_as_other(tree: ReadableTree, reading: ReaderResult) -> dict[str, list[str]]:
    """Return by what other names the tree has what an older reader read of the same sources, by their names now.

    A name that two of them could go on is left to neither.
    """
    wanted = {one.name for one in reading.continuations if one.is_same}
    contents: dict[str, set[tuple[str, str]]] = {}
    for each in reading.declarations:
        if each.name in wanted:
            contents.setdefault(each.name, set()).add((each.fingerprint, each.source))
    named = {each.name for each in reading.declarations}
    found: dict[str, list[str]] = {}
    for one in reading.continuations:
        if not one.is_same or tree.named(one.name) is not None:
            continue
        for name in one.of:
            schema = tree.named(name) if name not in named else None
            known = tree.versions(schema.id) if schema is not None else ()
            if any((version.fingerprint, version.source) in contents.get(one.name, ()) for version in known):
                found.setdefault(one.name, []).append(name)
    claims = Counter(name for names in found.values() for name in set(names))
    return {name: [other for other in others if claims[other] == 1] for name, others in found.items()}


def alias_edits(tree: ReadableTree, side: Side, reading: ReaderResult) -> Iterator[AddAlias]:
    """Yield the edits that let known schemas answer to the names that they got, where no version has done so."""
    given: set[str] = set()
    for one in reading.continuations:
        if one.is_same:
            continue  # has it from its versions, where it goes on
        schema = next((found for name in one.of if (found := tree.named(name)) is not None), None)
        if schema is not None and one.name not in given and tree.named(one.name) is None:
            given.add(one.name)
            yield AddAlias(side, schema.id, one.name)
