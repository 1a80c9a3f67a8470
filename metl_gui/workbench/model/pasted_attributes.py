"""Attributes of a new entity as people have them already: a list of names and types, or those of a schema version.

A list has one attribute a line: its path, its type and, behind these, whether it is required and what it means. Columns
are parted by tabs, semicolons, commas, a colon or spaces, as in spreadsheets, CSV files and ``CREATE TABLE``. Types are
those of this program or of databases; an attribute whose type is neither is a string.

Source: docs/guide/mapping.md, "Own the model".
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable

from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.types import read_type
from metl_gui.errors import EditError
from metl_gui.values import Value

MOST_ATTRIBUTES = 5_000
_MOST_LETTERS = 4_000
_HEADS = frozenset({"name", "path", "attribute", "column", "column_name", "field"})
_NO_ATTRIBUTES = (
    "create ",
    "primary ",
    "foreign ",
    "constraint ",
    "unique ",
    "index ",
    "key ",
    "check ",
    "#",
    "--",
    ")",
)
_REQUIRED = frozenset({"required", "yes", "true", "y", "x", "1", "not null", "mandatory"})
_NEED_WORDS = frozenset({"optional", "no", "false", "n", "0", "null", "nullable", ""}) | _REQUIRED
_OF_DATABASES = {
    "string": ("varchar", "varchar2", "char", "character", "nvarchar", "nchar", "text", "clob", "enum", "str"),
    "int64": ("bigint", "bigserial", "long"),
    "int32": ("int", "int4", "serial", "mediumint"),
    "int16": ("smallint", "int2", "tinyint", "short"),
    "number": ("decimal", "numeric", "money", "dec"),
    "double": ("real", "float8"),
    "boolean": ("bool", "bit"),
    "bytes": ("blob", "bytea", "binary", "varbinary"),
    "date-time": ("timestamp", "timestamptz", "datetime", "datetime2"),
    "uuid": ("uniqueidentifier", "guid"),
    "object": ("json", "jsonb"),
}
_KNOWN = {alias: type_ for type_, aliases in _OF_DATABASES.items() for alias in aliases}
_OUTSIDE_BRACKETS = re.compile(r",(?![^(]*\))")
_QUOTES = "\"'`[] "
_QUOTED_CELL = re.compile(r'\s*"(?:[^"]|"")+"\s*,')
_QUOTED = re.compile(r"""("[^"]+"|`[^`]+`|\[[^]]+])(?:\s*:)?\s+(.*)""")
_PRIMARY_KEY = re.compile(r"(?:constraint\s+\S+\s+)?primary\s+key[^(]*\(([^)]*)\)", re.IGNORECASE)
_IN_KEY = re.compile(r"\bprimary\s+key\b", re.IGNORECASE)
_REMARK = re.compile(r",?\s*--\s.*")


class PastedAttributes(Value):
    """What was read of a list.

    Args:
        attributes: in their order; of several with one path the first.
        unknown: what stood in the place of a type and is none, each once.
        left: how many lines were left out: more than one attribute has the path, or it is too long.
        key: paths of the attributes that ``CREATE TABLE`` calls its primary key.
    """

    attributes: tuple[AttributeDeclaration, ...]
    unknown: tuple[str, ...] = ()
    left: int = 0
    key: tuple[str, ...] = ()


def read_attributes(text: str) -> PastedAttributes:
    """Read a list of names and types; lines that are none, as the first one of a table, are passed over."""
    found: dict[str, AttributeDeclaration] = {}
    unknown: dict[str, None] = {}
    left, key = 0, dict[str, None]()
    for at, line in enumerate(text.splitlines()):
        if len(line) > _MOST_LETTERS:
            left += 1
            continue
        columns = _columns(line)
        path = columns[0].strip(_QUOTES) if columns else ""
        key |= dict.fromkeys(_key_of(line, path))
        if not path or line.strip().casefold().startswith(_NO_ATTRIBUTES):
            continue
        written = columns[1].strip() if len(columns) > 1 else ""
        type_ = _type_of(written.removesuffix("!"))
        if type_ is None and not at and path.casefold() in _HEADS:
            continue
        if path in found or len(found) == MOST_ATTRIBUTES:
            left += 1
            continue
        if type_ is None:
            unknown[written] = None
        is_required = written.endswith("!") or any(each.strip().casefold() in _REQUIRED for each in columns[2:3])
        doc = next((each.strip() for each in columns[2:] if each.strip().casefold() not in _NEED_WORDS), "")
        found[path] = AttributeDeclaration(path, *(type_ or ("string", "", None)), not is_required, doc)
    known = tuple(each for each in key if each in found)
    return PastedAttributes(tuple(found.values()), tuple(unknown), left, known if len(known) == len(key) else ())


def _key_of(line: str, path: str) -> list[str]:
    """Return the paths that a line of ``CREATE TABLE`` puts into the primary key."""
    of_table = _PRIMARY_KEY.match(line.strip())
    if of_table is not None:
        return [each.strip(_QUOTES) for each in of_table[1].split(",")]
    is_column = not line.strip().casefold().startswith(_NO_ATTRIBUTES)
    return [path] if path and is_column and _IN_KEY.search(_REMARK.sub("", line)) else []


def like(attributes: Iterable[Attribute]) -> tuple[AttributeDeclaration, ...]:
    """Return attributes of an entity like those of a schema version, all optional as nothing feeds them yet."""
    return tuple(AttributeDeclaration(a.path, a.type, a.logical, a.scale, doc=a.doc) for a in attributes)


def _columns(line: str) -> list[str]:
    """Part a line: path, type, whether it is required, what it means."""
    line = line.strip().rstrip(",").strip()
    for mark in ("\t", ";"):
        if mark in line:
            return _cells(line, mark) or line.split(mark)
    parts = _OUTSIDE_BRACKETS.split(line)
    is_cell = _QUOTED_CELL.match(line) is not None if line.startswith('"') else " " not in parts[0].strip()
    if len(parts) > 1 and is_cell:
        return _cells(line, ",") or parts
    line = _REMARK.sub("", line)
    path, colon, rest = line.partition(":")
    if quoted := _QUOTED.fullmatch(line):
        path, rest = quoted.groups()
    elif not colon:
        path, _, rest = line.partition(" ")
    return [path, *_type_and_need(rest.strip())]


def _cells(line: str, mark: str) -> list[str]:
    """Part a line as CSV files are, with marks inside quotation marks; none where it has no such, or is no such line.

    Brackets outside of quotation marks, as of ``numeric(10,2)``, are not parted either.
    """
    if '"' not in line:
        return []
    try:
        cells = next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])
    except csv.Error:
        return []
    if len(cells) > 2 and cells[1].count("(") > cells[1].count(")"):
        cells[1:3] = [mark.join(cells[1:3])]
    return cells if len(cells) > 1 else []


def _type_and_need(rest: str) -> list[str]:
    """Part what stands behind a path, as ``CREATE TABLE`` writes it."""
    need = "required" if re.search(r"\bnot\s+null\b|\bprimary\s+key\b|\brequired\b", rest, re.IGNORECASE) else ""
    words = re.sub(r"\s*\(", "(", rest).split()
    return [words[0] if words else "", need]


def _type_of(written: str) -> tuple[str, str, int | None] | None:
    """Return plain type, logical name and scale of what is written, ``None`` where that is no type."""
    if not written:
        return "string", "", None
    word = re.split(r"[\s(]", written.casefold(), maxsplit=1)[0]
    for text in (written, word, _KNOWN.get(word, "")):
        try:
            if "(" not in text or "/" in text:
                return read_type(text)
        except EditError:
            continue
    return None
