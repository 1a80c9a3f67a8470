"""What schema change events say of tables: columns and tables that their DDL renamed, and keys.

Their topic is another one than those of the rows, so nothing is known of the order between the two: a version follows a
rename when it has the new name and the version before it has not.

DDL comes in the dialects of the databases that Debezium reads. Only its tokens are looked at: what quotes, comments and
brackets mean differs by dialect and is left to sqlglot, while types and options, of which each database has its own,
need not be understood. What cannot be read says nothing.

Source: docs/reference/cdc.md, "Kinds of record in a topic"; docs/architecture/model.md, "Trees, versions, lineages".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec.structs import replace

from metl_gui.core.project.reader_result import SchemaSuccession
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.paths import join, split
from metl_gui.values import Value

Name: TypeAlias = tuple[str, ...]
"""A table as it is written: with or without its database and schema before it."""

DIALECTS = {
    "mysql": "mysql",
    "mariadb": "mysql",
    "vitess": "mysql",
    "tidb": "mysql",
    "sqlserver": "tsql",
    "oracle": "oracle",
    "postgresql": "postgres",
}
"""Dialects by connector; other databases quote as the standard has it."""

MAX_LENGTH = 200_000
"""Longer statements create or fill tables; they rename nothing."""

_NO_NAMES = ("INDEX", "KEY", "CONSTRAINT", "PARTITION", "ATTRIBUTE", "VALUE")


class ColumnRenamed(Value):
    """A column has another name."""

    table: Name
    old: str
    new: str


class TableRenamed(Value):
    """A table has another name."""

    old: Name
    new: Name


Renamed: TypeAlias = ColumnRenamed | TableRenamed


class _Token(Value):
    """A token: its text, and what kind it is."""

    text: str
    is_word: bool
    is_text: bool

    def says(self, *keywords: str) -> bool:
        return self.is_word and self.text.upper() in keywords


def renames(ddl: str, connector: str = "") -> tuple[Renamed, ...]:
    """List the renames of the statements in a text, in order.

    Args:
        ddl: one or more statements.
        connector: name of the connector that captured it.
    """
    upper = ddl.upper()
    if len(ddl) > MAX_LENGTH or not any(word in upper for word in ("RENAME", "CHANGE")):
        return ()
    found: list[Renamed] = []
    for statement in _statements(ddl, DIALECTS.get(connector.lower(), "")):
        found += _of_statement(statement)
    return tuple(one for one in found if not isinstance(one, ColumnRenamed) or one.old != one.new)


def _statements(ddl: str, dialect: str) -> Iterator[list[_Token]]:
    words: list[_Token] = []
    for word in _words(ddl, dialect):
        if word.is_word and word.text == ";":
            yield words
            words = []
        else:
            words.append(word)
    yield words


def _words(text: str, dialect: str) -> Iterator[_Token]:
    """Cut text into tokens; nothing where it cannot be cut. What sqlglot leaves whole behind a command is cut too."""
    from sqlglot import TokenType
    from sqlglot.dialects import Dialect  # only who imports schema changes waits for it
    from sqlglot.errors import SqlglotError

    try:
        tokens = Dialect.get_or_raise(dialect or None).tokenize(text)
    except SqlglotError:
        return
    is_whole = False
    for token in tokens:
        is_text = token.token_type in (TokenType.STRING, TokenType.NATIONAL_STRING)
        if is_text and is_whole:
            yield from _words(token.text, dialect)
        else:
            yield _Token(token.text, not is_text and token.token_type is not TokenType.IDENTIFIER, is_text)
        is_whole = token.token_type is TokenType.RENAME  # at the beginning of a statement the rest is one text


def _of_statement(words: Sequence[_Token]) -> Iterator[Renamed]:
    if not words:
        return
    if words[0].says("ALTER") and len(words) > 2:
        at = next((at for at, word in enumerate(words[:4]) if word.says("TABLE")), -1)
        if at > 0:
            yield from _of_alter(words[at + 1 :])
    elif words[0].says("RENAME"):
        yield from _of_rename(words[1:])
    elif words[0].says("EXEC", "EXECUTE", "SP_RENAME"):
        yield from _of_procedure(words)


def _of_alter(words: Sequence[_Token]) -> Iterator[Renamed]:
    """Read ``[IF EXISTS] [ONLY] name action, action ...``."""
    at = 0
    while at < len(words) and words[at].says("IF", "EXISTS", "ONLY"):
        at += 1
    table, at = _name(words, at)
    if not table:
        return
    for action in _parts(words[at:]):
        if action[0].says("CHANGE"):
            yield from _of_change(table, action[1:])
        elif action[0].says("RENAME") and len(action) > 1:
            yield from _of_renaming(table, action[1:])


def _of_change(table: Name, action: Sequence[_Token]) -> Iterator[Renamed]:
    """Read ``[COLUMN] [IF EXISTS] old new type ...`` of MySQL."""
    rest = list(action)
    while len(rest) > 3 and rest[0].says("COLUMN", "IF", "EXISTS"):
        rest = rest[1:]
    if len(rest) > 2 and not rest[0].is_text:
        yield ColumnRenamed(table, rest[0].text, rest[1].text)


def _of_renaming(table: Name, action: Sequence[_Token]) -> Iterator[Renamed]:
    """Read what follows RENAME in an ALTER TABLE: a column, the table, or neither."""
    if action[0].says("COLUMN"):
        action = action[1:]
        while len(action) > 3 and action[0].says("IF", "EXISTS"):
            action = action[2:]
        if len(action) == 3 and action[1].says("TO"):
            yield ColumnRenamed(table, action[0].text, action[2].text)
    elif action[0].says("TO", "AS") or action[0].text == "=":
        new, _ = _name(action, 1)
        if new:
            yield TableRenamed(table, _beside(table, new))
    elif len(action) == 3 and action[1].says("TO") and not action[0].says(*_NO_NAMES):
        yield ColumnRenamed(table, action[0].text, action[2].text)
    elif not action[0].says(*_NO_NAMES):
        new, end = _name(action, 0)
        if new and end == len(action):
            yield TableRenamed(table, _beside(table, new))


def _of_rename(words: Sequence[_Token]) -> Iterator[Renamed]:
    """Read ``RENAME [TABLE] a TO b [, c TO d]`` and ``RENAME COLUMN table.a TO b``."""
    if not words:
        return
    is_column = words[0].says("COLUMN")
    if words[0].says("TABLE", "TABLES", "COLUMN"):
        words = words[1:]
    for part in _parts(words):
        at = 2 if part[0].says("IF") else 0
        old, at = _name(part, at)
        if at >= len(part) or not part[at].says("TO"):
            continue
        new, _ = _name(part, at + 1)
        if is_column and len(old) > 1 and len(new) == 1:
            yield ColumnRenamed(old[:-1], old[-1], new[0])
        elif not is_column and old and new:
            yield TableRenamed(old, _beside(old, new))


def _of_procedure(words: Sequence[_Token]) -> Iterator[Renamed]:
    """Read ``EXEC sp_rename 'schema.table.column', 'new', 'COLUMN'`` of SQL Server, arguments by place or by name."""
    at = next((at for at, word in enumerate(words) if word.text.upper() == "SP_RENAME"), -1)
    if at < 0:
        return
    arguments = [word.text for word in words[at + 1 :] if word.is_text]
    if len(arguments) < 2:
        return
    kind = arguments[2].upper() if len(arguments) > 2 else "OBJECT"
    old = tuple(_unbracketed(arguments[0]))
    if kind == "COLUMN" and len(old) > 1:
        yield ColumnRenamed(old[:-1], old[-1], arguments[1])
    elif kind == "OBJECT":
        yield TableRenamed(old, _beside(old, (arguments[1],)))


def _unbracketed(text: str) -> Iterator[str]:
    """Part ``[dbo].[orders].[a.b]`` at the dots outside its brackets or quotes."""
    name, end = "", ""
    for letter in text:
        if end:
            end, name = ("", name) if letter == end else (end, name + letter)
        elif letter in '["':
            end = "]" if letter == "[" else '"'
        elif letter == ".":
            yield name
            name = ""
        else:
            name += letter
    yield name


def _name(words: Sequence[_Token], at: int) -> tuple[Name, int]:
    """Read a dotted name; return it and where it ends, nothing where there is none."""
    parts: list[str] = []
    while at < len(words) and not words[at].is_text and words[at].text not in (",", "(", ")", "."):
        parts.append(words[at].text)
        at += 1
        if at >= len(words) or words[at].text != ".":
            return tuple(parts), at
        at += 1
    return (), at


def _parts(words: Sequence[_Token]) -> Iterator[list[_Token]]:
    """Part words at the commas outside parentheses; empty parts are left out."""
    depth = 0
    part: list[_Token] = []
    for word in words:
        is_sign = word.is_word
        if is_sign and word.text == "," and not depth:
            if part:
                yield part
            part = []
            continue
        depth += (word.text == "(") - (word.text == ")") if is_sign else 0
        part.append(word)
    if part:
        yield part


def _beside(old: Name, new: Name) -> Name:
    """Complete a new table name by the database and schema of the old one."""
    return new if len(new) >= len(old) else (*old[: len(old) - len(new)], *new)


_QUOTED = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')
_SIGNS = re.compile(r"[^0-9a-z]")


class SchemaChangeEvent(Value):
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


def read_change(found: Mapping[str, Any], topic: str) -> SchemaChangeEvent:
    """Read a schema change event; whatever is not as documented says nothing.

    Args:
        found: the members of its payload, decoded.
        topic: the topic of the record, empty when it names none.
    """
    source = found.get("source")
    source = source if isinstance(source, dict) else {}
    ddl = _text(found, "ddl")
    return SchemaChangeEvent(
        _text(source, "name") or topic,
        _text(found, "databaseName") or _text(source, "db"),
        _text(found, "schemaName") or _text(source, "schema"),
        renames(ddl, _text(source, "connector")) if ddl else (),
        tuple(_keys(found.get("tableChanges"))),
    )


class StatedChanges:
    """Everything that the schema change events of one reading say."""

    def __init__(self, changes: Iterable[SchemaChangeEvent] = ()) -> None:
        self._columns: dict[str, list[tuple[str, str]]] = {}
        self._keys: dict[str, set[tuple[str, ...]]] = {}
        self._tables: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        for change in changes:
            for renamed in change.renamed:
                self._note(change, renamed)
            for table, key in change.keys:
                for name in change.names_of(table):
                    self._keys.setdefault(name.casefold(), set()).add(key)

    def _note(self, change: SchemaChangeEvent, renamed: Renamed) -> None:
        if isinstance(renamed, TableRenamed):
            self._tables.append((change.names_of(renamed.old), change.names_of(renamed.new)))
            return
        for name in change.names_of(renamed.table):
            self._columns.setdefault(name.casefold(), []).append((renamed.old, renamed.new))

    def with_renames(self, versions: Sequence[VersionDeclaration]) -> list[VersionDeclaration]:
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

    def continuations(self, known: Collection[str]) -> tuple[SchemaSuccession, ...]:
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
                found.append(SchemaSuccession(name, tuple(spelled.get(each.casefold(), each) for each in old)))
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
