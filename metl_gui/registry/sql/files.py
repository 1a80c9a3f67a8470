"""Files of SQL to versions: every file in order, each that changes a table makes a version of it.

So a folder of migrations becomes the history of its tables, with what was renamed, and a dump their present state.
Statements that are not about tables are passed over; those about tables that cannot be read are told.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.core.project.reader_result import ReaderResult, SchemaSuccession, SkippedSource
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.schema_names import label_order
from metl_gui.errors import SchemaError
from metl_gui.registry.documents import decode, read_bytes
from metl_gui.registry.messages.schema_changes import renames
from metl_gui.registry.sql.spellings import modified_columns, says_nothing_of_types, with_known_words, without_storage

if TYPE_CHECKING:
    from sqlglot import Dialect, exp

DIALECTS = {
    "sql": "",
    "sql-postgresql": "postgres",
    "sql-mysql": "mysql",
    "sql-sqlserver": "tsql",
    "sql-oracle": "oracle",
}
"""sqlglot's dialects by format; empty to tell by what stands in the files."""

DEFAULT_SCHEMAS = {"postgres": "public", "tsql": "dbo"}
MAX_STATEMENTS = 50_000

_TELLING = {
    "mysql": re.compile(r"`\w|\bENGINE\s*=|\bAUTO_INCREMENT\b", re.IGNORECASE),
    "tsql": re.compile(r"\[dbo\]|^[^\S\n]*GO[^\S\n]*$|\bNVARCHAR\b|\bIDENTITY\s*\(\d", re.IGNORECASE | re.MULTILINE),
    "oracle": re.compile(r"\bVARCHAR2\b|\bNUMBER\s*\(|\bCLOB\b", re.IGNORECASE),
}
_COPY, _COPIED = re.compile(r"COPY\s.*FROM\s+stdin;", re.IGNORECASE), "\\."
_GO = re.compile(r"^[^\S\n]*GO[^\S\n]*;?[^\S\n]*$", re.IGNORECASE | re.MULTILINE)
_RENAMES = re.compile(r"\s*(?:RENAME\s|(?:EXEC(?:UTE)?\s+)?(?:\[?sys\]?\s*\.\s*)?\[?sp_rename\b)", re.IGNORECASE)
_TABLE = re.compile(r"\s*(?:CREATE|ALTER)\s", re.IGNORECASE)
_SETS_SCHEMA = re.compile(
    r"\s*SET\s+(?:(?:SESSION|LOCAL)\s+)?search_path\s*(?:=|\bTO\b)"
    r"\s*(?:(?P<quoted>[\"'])(?P<name>.*?)(?P=quoted)|(?P<plain>\w+)).*",
    re.IGNORECASE | re.DOTALL,
)
_MOVES = re.compile(
    r"(?P<alter>\s*ALTER\s+TABLE\s+.*?)(?P<own>\"[^\"]*\"|\b\w+)\s+SET\s+SCHEMA\s+(?P<schema>\"[^\"]*\"|\w+)\s*",
    re.IGNORECASE | re.DOTALL,
)
_CONNECTORS = {"mysql": "mysql", "tsql": "sqlserver"}
_ABOUT_TABLES = re.compile(
    r"\s*(?:CREATE\s+(?:(?:GLOBAL|LOCAL|UNLOGGED)\s+)*(?:TABLE|TYPE|DOMAIN|UNIQUE)|ALTER\s+TABLE|DROP\s+TABLE"
    r"|COMMENT\s+ON\s+COLUMN|USE|RENAME|SET\s+(?:(?:SESSION|LOCAL)\s+)?search_path)\b",
    re.IGNORECASE,
)
_DOMAIN = re.compile(
    r"\s*CREATE\s+DOMAIN\s+(?:\"?\w+\"?\.)?\"?(\w+)\"?\s+(?:AS\s+)?([\w ]+(?:\([\d, ]+\))?(?:\[\])*)([^;]*)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[uUvV]?(\d{1,18}(?:[._-]\d{1,18})*)(?:__|[_-])")
_CHANGES_COLUMNS = re.compile(
    r"\s*(?:CREATE\s+TABLE|ALTER\s+TABLE\s.*\b(?:ADD|MODIFY|DROP)\b)", re.IGNORECASE | re.DOTALL
)
_BACK = re.compile(r"\.down\.sql$|^U\d[\d._]*__", re.IGNORECASE)
"""Migrations that undo another one, as the usual tools name them."""

_NOT_NULL = re.compile(r"\bNOT\s+NULL\b", re.IGNORECASE)
_NOT_TYPES = re.compile(r"(?<!\s)\s+(?:NOT|NULL|DEFAULT|CHECK|CONSTRAINT|COLLATE)\b.*", re.IGNORECASE)


def read(files: Sequence[tuple[Path, str]], dialect: str = "", prefix: str = "") -> ReaderResult:
    """Read files together, in their order.

    Args:
        files: paths, each with its path below the folder that is imported.
        dialect: sqlglot's; empty to tell by what stands in the files.
        prefix: what topics begin with.
    """
    texts, refused = [], []
    for path, relative in _ordered(files):
        try:
            if _BACK.search(path.name):
                raise SchemaError("It takes a migration back, so it was passed over.")
            texts.append((path, relative, decode(read_bytes(path))))
        except SchemaError as error:
            refused.append(SkippedSource(str(path), str(error)))
    known = dialect or next((_dialect_of(text) for _, _, text in texts if _dialect_of(text)), "postgres")
    declared: list[VersionDeclaration] = []
    migrations = _MigrationFiles(known, prefix)
    for path, relative, text in texts:
        found, wrong = migrations.take(str(path), _label(relative) if len(texts) > 1 else None, text)
        declared += found
        refused += [SkippedSource(str(path), reason) for reason in wrong]
    return ReaderResult(tuple(declared), tuple(refused), tuple(migrations.continuations))


class _MigrationFiles:
    """The tables over all files."""

    def __init__(self, dialect: str, prefix: str) -> None:
        from metl_gui.registry.sql.tables import TableDefinitions

        self.continuations: list[SchemaSuccession] = []
        self._dialect = dialect
        self._prefix = prefix
        self._tables = TableDefinitions(dialect, DEFAULT_SCHEMAS.get(dialect, ""))
        self._grammar = _grammar(dialect)

    def take(self, source: str, label: str | None, text: str) -> tuple[list[VersionDeclaration], list[str]]:
        """Add a file, and return the versions that it makes and what of it cannot be read."""
        from metl_gui.registry.sql.tables import key_of

        if self._dialect == "postgres":  # each migration is a session of its own
            self._tables.use("")
        wrong = list(self._do(text))
        declared = []
        for table in self._tables.tables.values():
            if table.is_told:
                continue
            table.is_told = True
            attributes = table.attributes
            if table.left_out:
                columns = ", ".join(table.left_out)
                wrong.append(f"The connector leaves out columns of {'.'.join(table.name)}: {columns}.")
            name, was = self._name(table.name), tuple(self._name(one) for one in table.was)
            if was:
                self.continuations.append(SchemaSuccession(name, was))
            if table.is_in_set_schema:
                unset = tuple(self._name(self._tables.unset(one)) for one in (table.name, *table.was))
                self.continuations.append(SchemaSuccession(name, unset, is_same=True))
            table.was, table.is_in_set_schema = [], False
            if attributes:
                key = key_of(table, {attribute.path for attribute in attributes})
                declared.append(VersionDeclaration(name, attributes, label, (), key, source=source))
            for column in table.columns.values():
                column.was = ()
        return declared, wrong or ([] if declared else ["No statement in it makes or changes a table."])

    def _name(self, name: tuple[str, ...]) -> str:
        return ".".join((self._prefix, *name) if self._prefix else name)

    def _do(self, text: str) -> Iterator[str]:
        from sqlglot.errors import SqlglotError

        try:
            statements = list(_statements(text, self._dialect))
        except (SqlglotError, RecursionError, ValueError) as error:
            yield f"It cannot be taken apart as {self._dialect}: {_first_line(error)}"
            return
        with _silent():
            for line, written in statements:
                try:
                    self._one(written)
                except SchemaError as error:
                    yield f"Line {line}: {error}"
                except (SqlglotError, RecursionError, LookupError, AttributeError, ValueError) as error:
                    yield f"Line {line} cannot be read as {self._dialect}: {_first_line(error)}"

    def _one(self, written: str) -> None:
        import sqlglot
        from sqlglot import exp
        from sqlglot.errors import SqlglotError

        domain = _DOMAIN.match(written)
        if domain:
            kind = exp.DataType.build(_NOT_TYPES.sub("", domain[2]).strip(), dialect=self._dialect, udt=True)
            is_required = _NOT_NULL.search(domain[2] + domain[3]) is not None
            self._tables.domain(domain[1], kind, is_required=is_required)
            return
        if _RENAMES.match(written):
            self._rename(written)
            return
        schema = _SETS_SCHEMA.fullmatch(written) if self._dialect == "postgres" else None
        if schema is not None:
            name = (schema["plain"] or "").lower() or schema["name"]
            self._tables.use("" if name.lower() in ("$user", "default") else name)
            return
        moved = _MOVES.fullmatch(written) if self._dialect == "postgres" else None
        if moved is not None:
            written = f"{moved['alter']}{moved['own']} RENAME TO {moved['schema']}.{moved['own']}"
        if not _TABLE.match(written):
            self._tables.do(sqlglot.parse_one(written, dialect=self._grammar))
            return
        if says_nothing_of_types(written):
            return
        written = with_known_words(written, self._dialect)
        modified = modified_columns(written) if self._dialect == "oracle" else None
        if modified is None:
            self._tables.do(self._parsed(written))
            return
        try:
            stated = self._parsed(modified)
        except SqlglotError:
            raise _not_understood() from None
        self._tables.modify(stated)

    def _rename(self, written: str) -> None:
        """Do what a statement says that does nothing but rename."""
        import sqlglot

        if self._dialect == "oracle":  # whether a name is quoted decides about its case
            written = f"ALTER TABLE {re.sub('(?i)^RENAME', '', written)}"
            written = re.sub(r"(?i)\sTO\s", " RENAME TO ", written, count=1)
            self._tables.do(sqlglot.parse_one(written, dialect=self._grammar))
            return
        for renamed in renames(written, _CONNECTORS.get(self._dialect, "")):
            self._tables.rename(renamed)

    def _parsed(self, written: str) -> exp.Expr:
        """Parse a statement, without what it says of storage where it cannot be read as it is.

        Raises:
            SchemaError: it changes columns, and is not understood.
            sqlglot.errors.SqlglotError: it cannot be parsed.
        """
        import sqlglot
        from sqlglot import exp
        from sqlglot.errors import SqlglotError

        plain = without_storage(written, self._dialect)
        parsed: exp.Expr | None = None
        try:
            parsed = sqlglot.parse_one(written, dialect=self._grammar)
        except SqlglotError:
            if plain == written:
                raise
        if parsed is None or (plain != written and isinstance(parsed, exp.Command)):
            parsed = sqlglot.parse_one(plain, dialect=self._grammar)
        if isinstance(parsed, exp.Command) and _CHANGES_COLUMNS.match(written):
            raise _not_understood()
        return parsed


def _not_understood() -> SchemaError:
    return SchemaError("The statement is not understood.", hint="Write each change of a column by itself.")


def _grammar(dialect: str) -> Dialect:
    """Return what statements are parsed by: a type that the parser does not know is one all the same."""
    from sqlglot import Dialect

    grammar = Dialect.get_or_raise(dialect)
    grammar.SUPPORTS_USER_DEFINED_TYPES = True
    return grammar


def _statements(text: str, dialect: str) -> Iterator[tuple[int, str]]:
    """Yield the statements about tables, each with the line it begins in; a semicolon ends one.

    Raises:
        sqlglot.errors.TokenError: the text cannot be taken apart.
    """
    from sqlglot import Dialect, TokenType

    if dialect == "postgres":
        text = _without_rows(text)
    if dialect == "tsql":
        text = _GO.sub(";", text)
    tokens = Dialect.get_or_raise(dialect).tokenize(text)
    begin, count = 0, 0
    for at in range(len(tokens) + 1):
        if at < len(tokens) and tokens[at].token_type is not TokenType.SEMICOLON:
            continue
        if at > begin:
            count += 1
            written = text[tokens[begin].start : tokens[at - 1].end + 1]
            if _ABOUT_TABLES.match(written) or _RENAMES.match(written):
                yield tokens[begin].line, written
            if count > MAX_STATEMENTS:
                raise ValueError(f"it has more than {MAX_STATEMENTS:,} statements")
        begin = at + 1


def _without_rows(text: str) -> str:
    """Leave the rows of a dump and the commands of its program out; lines keep their numbers."""
    lines = text.split("\n")
    end = max((at for at, line in enumerate(lines) if line.rstrip() == _COPIED), default=0)
    kept, is_row = [], False
    for at, line in enumerate(lines):
        is_row = is_row or (at < end and _COPY.fullmatch(line.rstrip()) is not None)
        kept.append("" if is_row or line.startswith("\\") else line)
        is_row = is_row and line.rstrip() != _COPIED
    return "\n".join(kept)


def _ordered(files: Sequence[tuple[Path, str]]) -> Sequence[tuple[Path, str]]:
    """Sort migrations by their versions, 2 before 2.1 and 10; files without a version keep their places."""
    labels = [_label(relative) for _, relative in files]
    places = [at for at, label in enumerate(labels) if label]
    ordered = list(files)
    for place, at in zip(places, sorted(places, key=lambda at: label_order(labels[at] or "")), strict=True):
        ordered[place] = files[at]
    return ordered


def _dialect_of(text: str) -> str:
    return next((dialect for dialect, telling in _TELLING.items() if telling.search(text)), "")


def _label(relative: str) -> str | None:
    """Return the version that a migration is called by: ``V2_1__add.sql`` is 2.1, ``2026-01-05-more.sql`` 2026.1.5."""
    found = _LABEL.match(Path(relative).name)
    if found is None:
        return None
    return ".".join(str(int(part)) for part in re.split(r"[._-]", found[1]))


def _first_line(error: Exception) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip() or type(error).__name__
    return f"{text.splitlines()[0][:200].rstrip('.')}."


@contextmanager
def _silent() -> Iterator[None]:
    """Keep the parser from telling on the log what we tell in words."""
    log = logging.getLogger("sqlglot")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(level)
