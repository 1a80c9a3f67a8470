"""What databases write of columns and the parser does not know, in words that it does.

``with_known_words`` is for every statement: types that have another name, or mean something else, to the parser.
``without_storage`` is for what cannot be read otherwise: it leaves out what says how rows and indexes are kept, and
nothing of columns. Neither changes what stands in quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

Spelling: TypeAlias = tuple[str, Callable[[re.Match[str]], str]]
"""What is written, as a pattern, and what is read instead."""

_QUOTED = r"""(?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`)"""
_QUOTED_WITH_BACKSLASH = r"""(?P<quoted>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`[^`]*`)"""
_AS_TYPE = r"""(?<=[\w"`\]])(?P<space>\s+)"""
"""A type stands behind the name of its column; what begins a definition is a name."""

_NO_NAME_BEFORE = "".join(rf"(?<!\b{word})" for word in ("ADD", "COLUMN", "CONSTRAINT", "EXISTS", "TABLE", "TO"))
_BEHIND = rf"""(?<=[\w)\]"'`]){_NO_NAME_BEFORE}\s*"""
"""A clause stands behind something of its definition, or of the one before; what begins one is a name."""

_PARENTHESES = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_TEXT = r"'(?:[^']|'')*'"
_REST = rf"(?:[^,()]|{_PARENTHESES})*"
"""What is left of a definition."""


def _type(written: str, read: str) -> Spelling:
    return rf"{_AS_TYPE}{written}", lambda found: found.expand(rf"\g<space>{read}")


def _clause(written: str, read: str = "") -> Spelling:
    return rf"{_BEHIND}{written}", lambda _: f" {read}"


def _each_dropped(found: re.Match[str]) -> str:
    """Return a list of columns to drop as one action for each."""
    return ", ".join(f"DROP COLUMN {name.strip()}" for name in found["columns"].split(","))


def _rounded(found: re.Match[str]) -> str:
    """Return a number that is rounded before its point by how many digits it may have."""
    return f"{found['space']}NUMBER({int(found['digits']) + int(found['scale'])})"


_KNOWN: dict[str, Sequence[Spelling]] = {
    "postgres": (
        _type(r"BIT\s+VARYING\b", "VARBIT"),
        _type(r"NATIONAL\s+(?=CHAR)", ""),
        _type(r"SERIAL2\b", "SMALLSERIAL"),
        _type(r"SERIAL4\b", "SERIAL"),
        _type(r"SERIAL8\b", "BIGSERIAL"),
        _type(r"INTERVAL\s+(?:YEAR|MONTH|DAY|HOUR|MINUTE|SECOND)\b(?:\s+TO\s+\w+)?(?:\s*\(\d+\))?", "INTERVAL"),
    ),
    "mysql": (
        _type(r"INT8\b", "BIGINT"),
        _type(r"NATIONAL\s+(?=(?:VAR)?CHAR)", ""),
        _type(
            r"(?P<kind>FLOAT|DOUBLE(?:\s+PRECISION)?|REAL)(?P<size>\s*\([\d\s,]*\))?\s+UNSIGNED\b(?:\s+ZEROFILL\b)?",
            r"\g<kind>\g<size>",
        ),
    ),
    "tsql": (_type(r"(?:REAL\b|\[real\])", "FLOAT(24)"),),
    "oracle": (
        (rf"{_AS_TYPE}NUMBER\s*\(\s*(?P<digits>\d{{1,3}})\s*,\s*-\s*(?P<scale>\d{{1,3}})\s*\)", _rounded),
        _type(r"BINARY_FLOAT\b", "SYS.BINARY_FLOAT"),
        _type(r"BINARY_DOUBLE\b", "SYS.BINARY_DOUBLE"),
        _type(r"DOUBLE\s+PRECISION\b", "FLOAT"),
        _type(r"LONG(?:\s+RAW)?\b", "SYS.LONG"),
        (r"\bDROP\s*\((?P<columns>[^()]+)\)", _each_dropped),
        _type(r"INTERVAL\s+(?:DAY|YEAR)\s*(?:\(\d+\)\s*)?TO\s+(?:SECOND|MONTH)\b(?:\s*\(\d+\))?", "SYS.INTERVAL"),
    ),
}
_STORAGE: dict[str, Sequence[Spelling]] = {
    "postgres": (_clause(r"\b(?:COMPRESSION|STORAGE)\s+\w+"),),
    "mysql": (_clause(r"\bSRID\s+\d+"),),
    "tsql": (
        _clause(r"\b(?:ROWGUIDCOL|SPARSE)\b"),
        _clause(rf"\bMASKED\s+WITH\s*{_PARENTHESES}"),
        _clause(r"\bPRIMARY\s+KEY\s+(?:NON)?CLUSTERED\b(?!\s*\()", "PRIMARY KEY"),
    ),
    "oracle": (
        _clause(rf",\s*SUPPLEMENTAL\s+LOG\b{_REST}"),
        _clause(rf"\bUSING\s+INDEX\b{_REST}"),
        _clause(rf"\bGENERATED\s+(?:ALWAYS|BY\s+DEFAULT(?:\s+ON\s+NULL)?)\s+AS\s+IDENTITY\b{_REST}", "NOT NULL"),
        _clause(r"\b(?:(?:NOT\s+)?DEFERRABLE|INITIALLY\s+(?:IMMEDIATE|DEFERRED)|(?:NO)?RELY|(?:NO)?VALIDATE)\b"),
        _clause(rf"\bENCRYPT\b(?:\s+(?:USING|IDENTIFIED\s+BY|NO|SALT)\b|\s+{_TEXT})*"),
        _clause(r"\b(?:ENABLE|DISABLE|INVISIBLE|VISIBLE|VIRTUAL|DECRYPT)\b"),
    ),
}


def with_known_words(statement: str, dialect: str) -> str:
    """Write a statement in words that the parser knows.

    Args:
        statement: one that makes or changes a table.
        dialect: sqlglot's name of it.
    """
    return _respelled(statement, dialect, _KNOWN.get(dialect, ()))


def without_storage(statement: str, dialect: str) -> str:
    """Leave out how rows and indexes are kept.

    Args:
        statement: one that makes or changes a table.
        dialect: sqlglot's name of it.
    """
    plain = _respelled(statement, dialect, _STORAGE.get(dialect, ()))
    return _without_options(plain) if dialect == "oracle" else plain


def _respelled(statement: str, dialect: str, spellings: Sequence[Spelling]) -> str:
    quoted = _QUOTED_WITH_BACKSLASH if dialect == "mysql" else _QUOTED
    for written, read in spellings:
        pattern = re.compile(f"{quoted}|{written}", re.IGNORECASE)
        statement = pattern.sub(partial(_unless_quoted, read), statement)
    return statement


def _unless_quoted(read: Callable[[re.Match[str]], str], found: re.Match[str]) -> str:
    return found[0] if found["quoted"] is not None else read(found)


_CREATED = re.compile(r"\s*CREATE\s+(?:GLOBAL\s+TEMPORARY\s+)?TABLE\s+[^\s(]+\s*\(", re.IGNORECASE)
_SIGNS = re.compile(rf"{_QUOTED}|[()]")


def _without_options(statement: str) -> str:
    """Leave out what stands behind the columns of a new table."""
    made = _CREATED.match(statement)
    if made is None:
        return statement
    depth = 1
    for sign in _SIGNS.finditer(statement, made.end()):
        depth += {"(": 1, ")": -1}.get(sign[0], 0)
        if not depth:
            return statement[: sign.end()]
    return statement


_NAME = r"""(?:\[[^\]]*\]|"[^"]*"|[^\s\["(),])+"""
_MASKED = rf"MASKED(?:\s+WITH\s*\(\s*FUNCTION\s*=\s*N?{_TEXT}\s*\))?"
_OF_CONSTRAINT = r"(?:ENABLE|DISABLE|(?:NOT\s+)?DEFERRABLE|INITIALLY|(?:NO)?RELY|(?:NO)?VALIDATE|USING)\b"
_OF_PARTITION = (
    r"(?:ADD|DROP|REBUILD|UNUSABLE|COALESCE|MAPPING|SHRINK|(?:DE)?ALLOCATE|LOB|OVERFLOW|(?:NO)?COMPRESS|(?:NO)?LOGGING"
    r"|PCTFREE|INITRANS|STORAGE|INDEXING)\b"
)
_SAYS_NOTHING = re.compile(
    rf"\s*ALTER\s+TABLE\s+(?:ONLY\s+)?{_NAME}\s+(?:(?:ADD\s+(?:CONSTRAINT\s+{_NAME}\s+)?DEFAULT\b"
    rf"|ADD\s+SUPPLEMENTAL\s+LOG\b|ALTER\s+(?:COLUMN\s+)?{_NAME}\s+ADD\s+GENERATED\b"
    rf"|MODIFY\s+(?:(?:PRIMARY\s+KEY|UNIQUE\s*\([^()]*\)|CONSTRAINT\s+{_NAME})\s+{_OF_CONSTRAINT}"
    rf"|(?:SUB)?PARTITION\s+{_NAME}\s+{_OF_PARTITION}|LOB\s*(?=\()|NESTED\s+TABLE\b|DEFAULT\s+ATTRIBUTES\b)){_REST}"
    rf"|ALTER\s+COLUMN\s+{_NAME}\s+(?:ADD|DROP)\s+"
    rf"(?:{_MASKED}|SPARSE|ROWGUIDCOL|PERSISTED|HIDDEN|NOT\s+FOR\s+REPLICATION)\s*)",
    re.IGNORECASE,
)
_MODIFIES = re.compile(rf"\s*ALTER\s+TABLE\s+(?P<table>{_NAME})\s+MODIFY\b\s*", re.IGNORECASE)
_LISTED = re.compile(rf"{_PARENTHESES}\s*")


def says_nothing_of_types(statement: str) -> bool:
    """Return whether a statement only says how columns are kept, shown or filled, or what is checked of them."""
    return _SAYS_NOTHING.fullmatch(statement) is not None


def modified_columns(statement: str) -> str | None:
    """Return what Oracle's MODIFY states of columns as a new table of them; ``None`` of any other statement."""
    found = _MODIFIES.match(statement)
    if found is None:
        return None
    stated = statement[found.end() :]
    return f"CREATE TABLE {found['table']} {stated if _LISTED.fullmatch(stated) else f'({stated})'}"
