"""Tables as statements of SQL make and change them: their columns in order, types, keys, and what was renamed.

Types of columns are those that Debezium's connectors write, by dialect: those of PostgreSQL are seen in what the real
connector writes (``registry.postgres_types``); the others follow the type tables of Debezium's documentation, with the
connectors' defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.core.trees.paths import escape
from metl_gui.errors import SchemaError
from metl_gui.registry.postgres_types import DECIMAL, NO_MODIFIER, ConnectType, Modes, array_type, connect_type

if TYPE_CHECKING:
    from sqlglot import exp


_TIME, _DATA = "io.debezium.time.", "io.debezium.data."
_DEFAULTS = Modes()
_STRING, _BYTES = ConnectType("string"), ConnectType("bytes")
_ZONED = ConnectType("string", f"{_TIME}ZonedTimestamp")
_VARIABLE = ConnectType("struct", f"{_DATA}VariableScaleDecimal")

_NATIVE: Mapping[str, str] = {
    "SMALLINT": "int2", "INT": "int4", "BIGINT": "int8", "SMALLSERIAL": "int2", "SERIAL": "int4", "BIGSERIAL": "int8",
    "DECIMAL": "numeric", "FLOAT": "float4", "DOUBLE": "float8", "BOOLEAN": "bool", "VARCHAR": "varchar",
    "CHAR": "bpchar", "VARBINARY": "bytea",
}  # fmt: skip
"""What the parser calls a type of PostgreSQL, to what the database calls it, where that differs in more than case."""

SERIALS = frozenset({"SMALLSERIAL", "SERIAL", "BIGSERIAL"})


def type_of(dialect: str, kind: exp.DataType, named: Mapping[str, ConnectType | None]) -> ConnectType | None:
    """Return the type of a column, ``None`` where the connector leaves it out.

    Args:
        dialect: sqlglot's name of it.
        kind: the type as it was parsed.
        named: enumerations and domains that were made before, by their names.
    """
    numbers = [int(str(one.this)) for one in kind.expressions if str(one.this).isdecimal()]
    name = kind_name(kind)
    if dialect == "postgres":
        return _of_postgres(kind, name, numbers, named)
    if dialect == "oracle":
        return _of_oracle(kind, name, numbers)
    found = (_TSQL if dialect == "tsql" else _MYSQL).get(name)
    return found(numbers) if found is not None else None


def _of_postgres(
    kind: exp.DataType, name: str, numbers: list[int], named: Mapping[str, ConnectType | None]
) -> ConnectType | None:
    if name == "ARRAY":
        members = [one for one in kind.expressions if hasattr(one, "is_type")]
        inner = members[0] if members else None
        while inner is not None and kind_name(inner) == "ARRAY":
            inner = inner.expressions[0]
        if inner is None:
            return None
        name = kind_name(inner)
        native = own_name(inner) if name == "USERDEFINED" else _NATIVE.get(name, name.lower())
        is_enum = named.get(native) == connect_type("enum", NO_MODIFIER, _DEFAULTS)
        return array_type("enum" if is_enum else native, _modifier(native, _numbers(inner)), _DEFAULTS)
    native = own_name(kind) if name == "USERDEFINED" else _NATIVE.get(name, name.lower())
    if native in named:
        return named[native]
    return connect_type(native, _modifier(native, numbers), _DEFAULTS)


def kind_name(kind: exp.DataType) -> str:
    """Return what the parser calls a type, upper case."""
    found = kind.this
    return found.upper() if isinstance(found, str) else str(found.name)


def own_name(kind: exp.DataType) -> str:
    """Return the name of a type that the parser does not know, without its schema."""
    written = kind.args.get("kind")
    text = written if isinstance(written, str) else getattr(written, "name", "")
    return str(text).rpartition(".")[2].strip('"').lower()


def _numbers(kind: exp.DataType) -> list[int]:
    return [int(str(one.this)) for one in kind.expressions if str(one.this).isdecimal()]


def _modifier(native: str, numbers: list[int]) -> int:
    if not numbers:
        return 1 if native == "bit" else NO_MODIFIER
    if native == "numeric":
        return ((numbers[0] << 16) | (numbers[1] if len(numbers) > 1 else 0)) + 4
    return numbers[0]


def _of_oracle(kind: exp.DataType, name: str, numbers: list[int]) -> ConnectType | None:
    if name == "USERDEFINED":
        return _BYTES if own_name(kind) in ("raw", "blob") else None
    if name == "DECIMAL":
        return _oracle_number(numbers)
    found = _ORACLE.get(name)
    return found(numbers) if found is not None else None


def _oracle_number(numbers: list[int]) -> ConnectType:
    """Return the type of a NUMBER: an integer where it is small enough and has no digits behind the point."""
    if not numbers:
        return _VARIABLE
    digits, scale = numbers[0], numbers[1] if len(numbers) > 1 else 0
    if scale:
        return ConnectType("bytes", DECIMAL, scale)
    for limit, name in ((3, "int8"), (5, "int16"), (10, "int32"), (19, "int64")):
        if digits < limit:
            return ConnectType(name)
    return ConnectType("bytes", DECIMAL, 0)


def _always(type_: str, logical: str = "", scale: int | None = None) -> Callable[[list[int]], ConnectType]:
    return lambda _: ConnectType(type_, logical, scale)


def _decimal(default_scale: int) -> Callable[[list[int]], ConnectType]:
    def scaled(numbers: list[int]) -> ConnectType:
        return ConnectType("bytes", DECIMAL, numbers[1] if len(numbers) > 1 else 0 if numbers else default_scale)

    return scaled


def _bits(numbers: list[int]) -> ConnectType:
    return ConnectType("boolean") if not numbers or numbers[0] == 1 else ConnectType("bytes", f"{_DATA}Bits")


def _timestamp(default_digits: int) -> Callable[[list[int]], ConnectType]:
    return lambda numbers: ConnectType("int64", f"{_TIME}{_unit(numbers, default_digits)}Timestamp")


def _time(default_digits: int) -> Callable[[list[int]], ConnectType]:
    def timed(numbers: list[int]) -> ConnectType:
        unit = _unit(numbers, default_digits)
        return ConnectType("int64" if unit else "int32", f"{_TIME}{unit}Time")

    return timed


def _unit(numbers: list[int], default_digits: int) -> str:
    digits = numbers[0] if numbers else default_digits
    return "" if digits <= 3 else "Micro" if digits <= 6 else "Nano"


_TEXTS = ("CHAR", "VARCHAR", "NCHAR", "NVARCHAR", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT")
_BINARIES = ("BINARY", "VARBINARY", "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "IMAGE", "ROWVERSION")
_COMMON: Mapping[str, Callable[[list[int]], ConnectType]] = {
    **dict.fromkeys(_TEXTS, lambda _: _STRING),
    **dict.fromkeys(_BINARIES, lambda _: _BYTES),
    "SMALLINT": _always("int16"),
    "INT": _always("int32"),
    "BIGINT": _always("int64"),
    "DOUBLE": _always("double"),
    "DATE": _always("int32", f"{_TIME}Date"),
}
_MYSQL: Mapping[str, Callable[[list[int]], ConnectType]] = {
    **_COMMON,
    "TINYINT": _always("int16"),
    "UTINYINT": _always("int16"),
    "BOOLEAN": _always("int16"),
    "USMALLINT": _always("int32"),
    "MEDIUMINT": _always("int32"),
    "UMEDIUMINT": _always("int32"),
    "UINT": _always("int64"),
    "UBIGINT": _always("int64"),
    "FLOAT": _always("float"),
    "DECIMAL": _decimal(0),
    "UDECIMAL": _decimal(0),
    "BIT": _bits,
    "YEAR": _always("int32", f"{_TIME}Year"),
    "TIME": _always("int64", f"{_TIME}MicroTime"),
    "DATETIME": _timestamp(0),
    "TIMESTAMP": _timestamp(0),
    "TIMESTAMPTZ": lambda _: _ZONED,
    "JSON": _always("string", f"{_DATA}Json"),
    "ENUM": _always("string", f"{_DATA}Enum"),
    "SET": _always("string", f"{_DATA}EnumSet"),
    "POINT": _always("struct", f"{_DATA}geometry.Point"),
    "GEOMETRY": _always("struct", f"{_DATA}geometry.Geometry"),
}
_TSQL: Mapping[str, Callable[[list[int]], ConnectType]] = {
    **_COMMON,
    "BIT": _always("boolean"),
    "BOOLEAN": _always("boolean"),
    "TINYINT": _always("int16"),
    "UTINYINT": _always("int16"),
    "FLOAT": lambda numbers: ConnectType("float" if numbers and numbers[0] <= 24 else "double"),
    "DECIMAL": _decimal(0),
    "MONEY": _always("bytes", DECIMAL, 4),
    "SMALLMONEY": _always("bytes", DECIMAL, 4),
    "TIME": _time(7),
    "DATETIME": _timestamp(3),
    "SMALLDATETIME": _timestamp(0),
    "DATETIME2": _timestamp(7),
    "TIMESTAMPTZ": lambda _: _ZONED,
    "UUID": _always("string", f"{_DATA}Uuid"),
    "XML": _always("string", f"{_DATA}Xml"),
}
_ORACLE: Mapping[str, Callable[[list[int]], ConnectType]] = {
    **_COMMON,
    "INT": _always("bytes", DECIMAL, 0),
    "SMALLINT": _always("bytes", DECIMAL, 0),
    "FLOAT": lambda _: _VARIABLE,
    "DATE": _timestamp(0),
    "TIMESTAMP": _timestamp(6),
    "TIMESTAMPTZ": lambda _: _ZONED,
    "TIMESTAMPLTZ": lambda _: _ZONED,
    "INTERVAL": _always("int64", f"{_TIME}MicroDuration"),
}


Name = tuple[str, ...]
"""A table with its schema or database before it, where that is known."""


@dataclass(slots=True)
class ColumnDefinition:
    """One column.

    Args:
        name: its own.
        type: ``None`` where the connector leaves it out.
        written: its type as it is written.
        is_required: null is not allowed.
        comment: what people wrote of it.
        was: what it was called before the statements that were not told yet.
    """

    name: str
    type: ConnectType | None
    written: str
    is_required: bool = False
    comment: str = ""
    was: tuple[str, ...] = ()


@dataclass(slots=True)
class TableDefinition:
    """One table.

    Args:
        name: with its schema or database.
        columns: in order.
        key: columns of the primary key.
        unique: names and columns of the unique indexes, the one that the connector takes first.
        was: names that it had before.
        is_told: nothing has changed since its version was told.
    """

    name: Name
    columns: dict[str, ColumnDefinition] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    unique: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    was: list[Name] = field(default_factory=list)
    is_told: bool = False

    @property
    def attributes(self) -> tuple[AttributeDeclaration, ...]:
        """What the connector will declare."""
        return tuple(
            AttributeDeclaration(
                escape(column.name),
                column.type.type,
                column.type.logical,
                column.type.scale,
                not (column.is_required or column.name in self.key),
                column.comment,
                tuple(escape(name) for name in column.was),
            )
            for column in self.columns.values()
            if column.type is not None
        )

    @property
    def left_out(self) -> list[str]:
        """The columns that the connector leaves out, with their types."""
        return [f"{column.name} ({column.written})" for column in self.columns.values() if column.type is None]


class TableDefinitions:
    """All tables, after the statements so far.

    Args:
        dialect: sqlglot's name of it.
        default: the schema of a table that is written without one; empty where there is none.
    """

    def __init__(self, dialect: str, default: str = "") -> None:
        self.tables: dict[Name, TableDefinition] = {}
        self._dialect = dialect
        self._named: dict[str, ConnectType | None] = {}
        self._required: set[str] = set()
        self._database = default

    def do(self, statement: exp.Expr) -> None:
        """Add what a statement changes; most say nothing of tables.

        Raises:
            SchemaError: it makes a table of which it does not state the columns.
        """
        match statement:
            case exp.Create(kind="TABLE"):
                self._create(statement)
            case exp.Create(kind="TYPE"):
                if isinstance(statement.expression, exp.DataType) and kind_name(statement.expression) == "ENUM":
                    self._named[statement.this.name.lower()] = ConnectType("string", "io.debezium.data.Enum")
            case exp.Create(kind="INDEX") if statement.args.get("unique"):
                self._index(statement)
            case exp.Alter(kind="TABLE"):
                self._alter(statement)
            case exp.Drop(kind="TABLE"):
                for table in statement.args.get("tables") or [statement.this]:
                    self.tables.pop(self._name(table), None)
            case exp.Comment() if statement.args.get("kind") == "COLUMN":
                self._comment(statement)
            case exp.Use() if self._dialect == "mysql" and statement.this:
                self._database = self._text(statement.this.this)
            case _:
                return

    def domain(self, name: str, kind: exp.DataType, *, is_required: bool) -> None:
        """Add a name for a type."""
        self._named[name.lower()] = type_of(self._dialect, kind, self._named)
        if is_required:
            self._required.add(name.lower())

    def _create(self, statement: exp.Create) -> None:
        schema = statement.this
        properties = statement.args.get("properties")
        if properties is not None and properties.find(exp.PartitionedOfProperty):
            return  # its rows come under the name of the whole
        if not isinstance(schema, exp.Schema):
            shown = ".".join(self._name(schema.find(exp.Table) or schema))
            raise SchemaError(f"The columns of {shown} are not stated.", "It is made of a query or of another table.")
        name = self._name(schema.this)
        if name in self.tables and statement.args.get("exists"):
            return
        table = TableDefinition(name)
        for part in schema.expressions:
            if isinstance(part, exp.ColumnDef):
                self._add(table, part)
            else:
                self._constrain(table, part)
        inherited = properties.find(exp.InheritsProperty) if properties is not None else None
        for parent in inherited.expressions if inherited is not None else ():
            known = self.tables.get(self._name(parent))
            table.columns = {**(known.columns if known is not None else {}), **table.columns}
        self.tables[name] = table

    def _add(self, table: TableDefinition, part: exp.ColumnDef) -> None:
        name, kind = self._text(part.this), part.args.get("kind")
        found = type_of(self._dialect, kind, self._named) if isinstance(kind, exp.DataType) else None
        is_required = isinstance(kind, exp.DataType) and (
            kind_name(kind) in SERIALS or own_name(kind) in self._required
        )
        column = ColumnDefinition(name, found, kind.sql(self._dialect) if kind is not None else "none", is_required)
        for constraint in part.args.get("constraints") or ():
            match constraint.kind:
                case exp.NotNullColumnConstraint():
                    column.is_required = not constraint.kind.args.get("allow_null")
                case exp.PrimaryKeyColumnConstraint():
                    table.key = (name,)
                case exp.UniqueColumnConstraint():
                    self._add_unique(table, (name,), constraint.args.get("this"))
                case exp.GeneratedAsIdentityColumnConstraint():
                    column.is_required = True
                case exp.CommentColumnConstraint():
                    column.comment = constraint.kind.name.strip()
                case _:
                    pass
        table.columns[name] = column

    def _constrain(self, table: TableDefinition, part: exp.Expr) -> None:
        for key in part.find_all(exp.PrimaryKey):
            table.key = self._columns(key.expressions)
        for unique in part.find_all(exp.UniqueColumnConstraint):
            if isinstance(unique.this, exp.Schema):
                named = unique.parent.this if isinstance(unique.parent, exp.Constraint) else None
                self._add_unique(table, self._columns(unique.this.expressions), named)
        # SQL Server says how the rows lie between the words and the columns.
        laid = part.find(exp.ClusteredColumnConstraint, exp.NonClusteredColumnConstraint)
        if laid is not None and isinstance(laid.this, list):
            if part.find(exp.PrimaryKeyColumnConstraint):
                table.key = self._columns(laid.this)
            else:
                self._add_unique(table, self._columns(laid.this), None)

    def _columns(self, parts: Iterable[exp.Expr]) -> tuple[str, ...]:
        found = (part if isinstance(part, exp.Identifier) else part.find(exp.Identifier) for part in parts)
        return tuple(self._text(one) for one in found if one is not None)

    def _index(self, statement: exp.Create) -> None:
        index = statement.this
        table = self.tables.get(self._name(index.args["table"])) if index.args.get("table") else None
        params = index.args.get("params")
        if table is not None and params is not None:
            # One that holds for some rows only counts too, as the connector does not look at that.
            parts = [one.this if isinstance(one, exp.Ordered) else one for one in params.args.get("columns") or ()]
            columns = tuple(self._columns([one])[0] if isinstance(one, exp.Column) else "" for one in parts)
            self._add_unique(table, columns, index.args.get("this"), "idx")
            table.is_told = False

    def _add_unique(
        self, table: TableDefinition, columns: tuple[str, ...], name: exp.Expr | None, ending: str = "key"
    ) -> None:
        """Note a unique index; what is an expression is a column without a name. PostgreSQL's are listed by name."""
        made = self._text(name) if name is not None else "_".join((table.name[-1], *columns, ending))
        table.unique.append((made, columns))
        if self._dialect == "postgres":
            table.unique.sort()

    def _comment(self, statement: exp.Comment) -> None:
        column = statement.this
        parts = [self._text(one) for one in column.find_all(exp.Identifier)] if column is not None else []
        written = [self._text(column.args[part]) for part in ("catalog", "db", "table") if column.args.get(part)]
        table = self.tables.get(self._whole(written)) if parts else None
        found = table.columns.get(self._text(column.this)) if table is not None else None
        if found is not None:
            found.comment = statement.expression.name.strip()

    def _alter(self, statement: exp.Alter) -> None:
        table = self.tables.get(self._name(statement.this))
        if table is None:
            return  # of a table that no file makes
        for action in statement.args.get("actions") or ():
            self._act(table, action)
        table.is_told = False

    def _act(self, table: TableDefinition, action: exp.Expr) -> None:
        match action:
            case exp.ColumnDef():
                self._add(table, action)
            case exp.Schema():
                for part in action.expressions:
                    self._act(table, part)
            case exp.Drop(kind="COLUMN"):
                for one in action.args.get("tables") or [action.this]:
                    table.columns.pop(self._columns([one])[0], None)
            case exp.AlterColumn():
                self._alter_column(table, action)
            case exp.ModifyColumn():
                was = action.args.get("rename_from")
                if was is not None:
                    self._rename(table, self._text(was), self._text(action.this.this))
                before = table.columns.get(self._text(action.this.this))
                self._add(table, action.this)
                if before is not None:
                    table.columns[before.name].was = before.was
            case _:
                self._act_by_name(table, action)

    def _act_by_name(self, table: TableDefinition, action: exp.Expr) -> None:
        match action:
            case exp.RenameColumn():
                self._rename(table, self._columns([action.this])[0], self._columns([action.args["to"]])[0])
            case exp.AlterRename():
                self._rename_table(table, action.this)
            case exp.AddConstraint():
                self._constrain(table, action)
            case _:
                return

    def _alter_column(self, table: TableDefinition, action: exp.AlterColumn) -> None:
        column = table.columns.get(self._text(action.this))
        if column is None:
            return
        kind = action.args.get("dtype")
        if isinstance(kind, exp.DataType):
            column.type, column.written = type_of(self._dialect, kind, self._named), kind.sql(self._dialect)
        if action.args.get("allow_null") is not None:
            # DROP NOT NULL and SQL Server's NULL allow it, SET NOT NULL and NOT NULL do not.
            column.is_required = not (action.args.get("drop") or action.args["allow_null"])

    def _rename(self, table: TableDefinition, old: str, new: str) -> None:
        if old not in table.columns or old == new:
            return
        renamed = table.columns[old]
        renamed.name, renamed.was = new, (old, *renamed.was)
        table.columns = {column.name: column for column in table.columns.values()}
        table.key = tuple(new if name == old else name for name in table.key)
        table.unique = [(own, tuple(new if name == old else name for name in one)) for own, one in table.unique]

    def _rename_table(self, table: TableDefinition, to: exp.Expr) -> None:
        written = self._written(to)
        name = (*table.name[: len(table.name) - len(written)], *written)
        del self.tables[table.name]
        table.was.append(table.name)
        table.name = name
        self.tables[name] = table

    def _name(self, table: exp.Expr) -> Name:
        return self._whole(self._written(table))

    def _whole(self, written: list[str]) -> Name:
        return tuple(written) if len(written) > 1 or not self._database else (self._database, *written)

    def _written(self, table: exp.Expr) -> list[str]:
        found = table.find(exp.Table) or table
        return [self._text(found.args[part]) for part in ("catalog", "db", "this") if found.args.get(part)]

    def _text(self, identifier: object) -> str:
        """Return a name as the database keeps it: what is not quoted loses its case in some of them."""
        if not isinstance(identifier, exp.Identifier):
            return identifier.name if isinstance(identifier, exp.Expr) else str(identifier)
        text = str(identifier.this)
        if identifier.args.get("quoted"):
            return text
        return {"postgres": text.lower(), "oracle": text.upper()}.get(self._dialect, text)


def key_of(table: TableDefinition, paths: Mapping[str, object] | set[str]) -> tuple[str, ...] | None:
    """Return the key of a table: the primary one, else the first unique one; ``None`` where a column is left out."""
    columns = table.key or next((columns for _, columns in table.unique), ())
    key = tuple(escape(name) for name in columns)
    return key if set(key) <= set(paths) else None
