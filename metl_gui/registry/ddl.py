"""Renames that a DDL statement names, in the dialects of the databases that Debezium reads.

Only the tokens are looked at: what quotes, comments and brackets mean differs by dialect and is left to sqlglot, while
types and options, of which each database has its own, need not be understood. What cannot be read says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

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


@dataclass(frozen=True, slots=True)
class ColumnRenamed:
    """A column has another name."""

    table: Name
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class TableRenamed:
    """A table has another name."""

    old: Name
    new: Name


Renamed: TypeAlias = ColumnRenamed | TableRenamed


@dataclass(frozen=True, slots=True)
class _Word:
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


def _statements(ddl: str, dialect: str) -> Iterator[list[_Word]]:
    words: list[_Word] = []
    for word in _words(ddl, dialect):
        if word.is_word and word.text == ";":
            yield words
            words = []
        else:
            words.append(word)
    yield words


def _words(text: str, dialect: str) -> Iterator[_Word]:
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
            yield _Word(token.text, not is_text and token.token_type is not TokenType.IDENTIFIER, is_text)
        is_whole = token.token_type is TokenType.RENAME  # at the beginning of a statement the rest is one text


def _of_statement(words: Sequence[_Word]) -> Iterator[Renamed]:
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


def _of_alter(words: Sequence[_Word]) -> Iterator[Renamed]:
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


def _of_change(table: Name, action: Sequence[_Word]) -> Iterator[Renamed]:
    """Read ``[COLUMN] [IF EXISTS] old new type ...`` of MySQL."""
    rest = list(action)
    while len(rest) > 3 and rest[0].says("COLUMN", "IF", "EXISTS"):
        rest = rest[1:]
    if len(rest) > 2 and not rest[0].is_text:
        yield ColumnRenamed(table, rest[0].text, rest[1].text)


def _of_renaming(table: Name, action: Sequence[_Word]) -> Iterator[Renamed]:
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


def _of_rename(words: Sequence[_Word]) -> Iterator[Renamed]:
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


def _of_procedure(words: Sequence[_Word]) -> Iterator[Renamed]:
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


def _name(words: Sequence[_Word], at: int) -> tuple[Name, int]:
    """Read a dotted name; return it and where it ends, nothing where there is none."""
    parts: list[str] = []
    while at < len(words) and not words[at].is_text and words[at].text not in (",", "(", ")", "."):
        parts.append(words[at].text)
        at += 1
        if at >= len(words) or words[at].text != ".":
            return tuple(parts), at
        at += 1
    return (), at


def _parts(words: Sequence[_Word]) -> Iterator[list[_Word]]:
    """Part words at the commas outside parentheses; empty parts are left out."""
    depth = 0
    part: list[_Word] = []
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
