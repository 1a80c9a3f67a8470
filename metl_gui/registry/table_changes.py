"""What schema change events say of tables: renamed columns and tables, and keys.

Their topic is another one than those of the rows, so nothing is known of the order between the two: a version follows a
rename when it has the new name and the version before it has not.
Source: cdc-formats.md §1 and §7 (schema change records), dmm.md §7.2.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.paths import join, split
from metl_gui.registry.ddl import Name, Renamed, TableRenamed, renames
from metl_gui.registry.reading import Continuation

_QUOTED = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')
_SIGNS = re.compile(r"[^0-9a-z]")


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One schema change event.

    Args:
        prefix: name of the connector's server, which topics begin with.
        database, schema: where the statement was run, either may be empty.
        renamed: what its statements rename.
        keys: tables with the columns of their primary keys.
    """

    prefix: str
    database: str
    schema: str
    renamed: tuple[Renamed, ...]
    keys: tuple[tuple[Name, tuple[str, ...]], ...]

    def names_of(self, table: Name) -> tuple[str, ...]:
        """Return what the schema of a table may be called, the likeliest first."""
        *above, last = table
        places = [tuple(above)] if above else []
        if len(above) < 2:
            known = [part for part in (self.database, self.schema) if part]
            inner = tuple(above) or ((self.schema,) if self.schema else ())
            places += [(self.database, *inner)] if self.database and self.database not in inner else []
            places += [] if above else [(part,) for part in known]
        elif len(above) == 2:
            places.append((above[1],))
        named = (".".join(part for part in (self.prefix, *place, last) if part) for place in places)
        return tuple(dict.fromkeys(named))


def read_change(found: Mapping[str, Any], topic: str) -> SchemaChange:
    """Read a schema change event; whatever is not as documented says nothing.

    Args:
        found: the members of its payload, decoded.
        topic: the topic of the record, empty when it names none.
    """
    source = found.get("source")
    source = source if isinstance(source, dict) else {}
    ddl = _text(found, "ddl")
    return SchemaChange(
        _text(source, "name") or topic,
        _text(found, "databaseName") or _text(source, "db"),
        _text(found, "schemaName") or _text(source, "schema"),
        renames(ddl, _text(source, "connector")) if ddl else (),
        tuple(_keys(found.get("tableChanges"))),
    )


class StatedChanges:
    """Everything that the schema change events of one reading say."""

    def __init__(self, changes: Iterable[SchemaChange] = ()) -> None:
        self._columns: dict[str, list[tuple[str, str]]] = {}
        self._keys: dict[str, set[tuple[str, ...]]] = {}
        self._tables: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        for change in changes:
            for renamed in change.renamed:
                self._note(change, renamed)
            for table, key in change.keys:
                for name in change.names_of(table):
                    self._keys.setdefault(name.casefold(), set()).add(key)

    def _note(self, change: SchemaChange, renamed: Renamed) -> None:
        if isinstance(renamed, TableRenamed):
            self._tables.append((change.names_of(renamed.old), change.names_of(renamed.new)))
            return
        for name in change.names_of(renamed.table):
            self._columns.setdefault(name.casefold(), []).append((renamed.old, renamed.new))

    def told(self, versions: Sequence[VersionDeclaration]) -> list[VersionDeclaration]:
        """Return the versions of one schema, in order, with what was renamed before each, and their key."""
        if not versions:
            return []
        names = {name.casefold() for version in versions for name in (version.name, *version.aliases)}
        renamed = [pair for name in sorted(names) for pair in self._columns.get(name, ())]
        keys = {key for name in names for key in self._keys.get(name, ())}
        found: list[VersionDeclaration] = []
        for version in versions:
            before = found[-1] if found else None
            told = _with_equivalents(version, before, renamed) if renamed else version
            found.append(_with_key(told, next(iter(keys))) if told.key is None and len(keys) == 1 else told)
        return found

    def continuations(self, known: Collection[str]) -> tuple[Continuation, ...]:
        """List the tables that go on under another name.

        A name that another table took over at once (the swap at the end of an online schema change) continues nothing.

        Args:
            known: names of the schemas of this reading.
        """
        spelled = {name.casefold(): name for name in known}
        found = []
        for at, (old, new) in enumerate(self._tables):
            taken = {name.casefold() for _, names in self._tables[at:] for name in names}
            if taken.isdisjoint(name.casefold() for name in old):
                name = next((spelled[each.casefold()] for each in new if each.casefold() in spelled), new[0])
                found.append(Continuation(name, tuple(spelled.get(each.casefold(), each) for each in old)))
        return tuple(found)


def _keys(changes: object) -> Iterator[tuple[Name, tuple[str, ...]]]:
    for change in changes if isinstance(changes, list) else ():
        table = change.get("table") if isinstance(change, dict) else None
        key = table.get("primaryKeyColumnNames") if isinstance(table, dict) else None
        if isinstance(key, list) and key and all(isinstance(column, str) for column in key):
            name = tuple((quoted or bare).replace('""', '"') for quoted, bare in _QUOTED.findall(_text(change, "id")))
            if name:
                yield name, tuple(key)


def _with_equivalents(
    version: VersionDeclaration, before: VersionDeclaration | None, renamed: Sequence[tuple[str, str]]
) -> VersionDeclaration:
    """Note for each attribute whose column was renamed what it was called in the version before."""
    here, there = _columns(version), _columns(before) if before is not None else {}
    attributes: list[AttributeDeclaration] = []
    for attribute in version.attributes:
        column, *below = split(attribute.path)
        olds = [] if _plain(column) in there else _older_names(column, renamed)
        stated: list[str] = []
        for old in olds:
            if _plain(old) not in here:
                spellings = [there[_plain(old)]] if _plain(old) in there else [old, old.upper(), old.lower()]
                stated += [join((spelling, *below)) for spelling in spellings]
        equivalents = tuple(dict.fromkeys((*attribute.equivalent_to, *stated)))
        attributes.append(replace(attribute, equivalent_to=equivalents) if stated else attribute)
    return replace(version, attributes=tuple(attributes))


def _older_names(column: str, renamed: Sequence[tuple[str, str]]) -> list[str]:
    """List what a column was called before, the newest name first."""
    found: list[str] = []
    seen = {_plain(column)}
    name = _plain(column)
    for old, new in reversed(renamed):
        if _plain(new) == name and _plain(old) not in seen:
            found.append(old)
            name = _plain(old)
            seen.add(name)
    return found


def _with_key(version: VersionDeclaration, key: tuple[str, ...]) -> VersionDeclaration:
    columns = _columns(version)
    paths = tuple(join((columns.get(_plain(column), column),)) for column in key)
    return replace(version, key=paths) if {a.path for a in version.attributes}.issuperset(paths) else version


def _columns(version: VersionDeclaration) -> dict[str, str]:
    """Columns of a row by their plain names."""
    return {_plain(column): column for column in (split(a.path)[0] for a in version.attributes)}


def _plain(name: str) -> str:
    """Bring a name into the form that databases and converters leave alone: case and signs do not count."""
    return _SIGNS.sub("_", name.casefold())


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""
