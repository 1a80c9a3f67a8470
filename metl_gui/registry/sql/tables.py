"""Tables as statements of SQL make and change them: their columns in order, types, keys, and what was renamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from metl_gui.core.trees.declarations import AttributeDeclaration
from metl_gui.core.trees.paths import escape
from metl_gui.errors import SchemaError
from metl_gui.registry.messages.schema_changes import ColumnRenamed, Renamed
from metl_gui.registry.postgres_types import ConnectType
from metl_gui.registry.sql.column_types import SERIALS, kind_name, own_name, type_of

_NO_TYPES = frozenset({"INVISIBLE", "VISIBLE", "ENCRYPT", "DECRYPT"})
"""Words of Oracle that the parser takes for a type where they stand alone behind the name of a column."""

_KEEPS = "The column stays as it was before. Write its type as the database does."

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
        key_name: what the primary key is called.
        unique: names and columns of the unique indexes, the one that the connector takes first.
        was: names that it had before.
        is_told: nothing has changed since its version was told.
        is_in_set_schema: it was made without a schema, where a statement had set one.
    """

    name: Name
    columns: dict[str, ColumnDefinition] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    key_name: str = ""
    unique: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    was: list[Name] = field(default_factory=list)
    is_told: bool = False
    is_in_set_schema: bool = False

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
        self._database = self._default = default

    def use(self, name: str) -> None:
        """Let tables that are written without a schema be in one; in the default where it has no name."""
        self._database = name or self._default

    def unset(self, name: Name) -> Name:
        """Return what a table would be called if no statement had set a schema."""
        return (self._default, name[-1]) if self._default else name[-1:]

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
                self.use(self._text(statement.this.this))
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
        table.is_in_set_schema = self._database != self._default and len(self._written(schema.this)) == 1
        for part in schema.expressions:
            if isinstance(part, exp.ColumnDef):
                self._add(table, part)
            elif isinstance(part, exp.LikeProperty):
                self._add_alike(table, part)
            else:
                self._constrain(table, part)
        inherited = properties.find(exp.InheritsProperty) if properties is not None else None
        for parent in inherited.expressions if inherited is not None else ():
            known = self.tables.get(self._name(parent))
            if known is not None:
                own, table.columns = table.columns, {}
                self._take_columns(table, known)
                table.columns |= own
        self.tables[name] = table

    def _add_alike(self, table: TableDefinition, part: exp.LikeProperty) -> None:
        """Add the columns of another table, with its key where that is wanted.

        Raises:
            SchemaError: no file makes the other one.
        """
        other = self.tables.get(self._name(part.this))
        if other is None:
            shown = ".".join(table.name), ".".join(self._name(part.this))
            raise SchemaError(f"The columns of {shown[0]} are not stated.", f"They are those of {shown[1]}.")
        self._take_columns(table, other)
        words = [f"{one.this} {one.args['value']}".upper() for one in part.expressions]
        if {"INCLUDING ALL", "INCLUDING INDEXES"}.intersection(words):
            self._set_key(table, other.key, None)
            table.unique = list(other.unique)

    def _take_columns(self, table: TableDefinition, other: TableDefinition) -> None:
        """Add columns as another table has them; those of its key are without null, as they are there."""
        for column in other.columns.values():
            is_required = column.is_required or column.name in other.key
            table.columns[column.name] = replace(column, is_required=is_required, was=())

    def modify(self, stated: exp.Expr) -> None:
        """Change columns of a table to what is stated of them, as Oracle does.

        Args:
            stated: a table of the columns that change; one without a type keeps the type that it has.

        Raises:
            SchemaError: the type of one is unknown; nothing is changed.
        """
        table = self.tables.get(self._name(stated.this))
        if table is None:
            return  # of a table that no file makes
        for part in stated.this.expressions:
            self._refuse_unknown_type(table, part)
        for part in stated.this.expressions:
            before = table.columns.get(self._text(part.this))
            if before is None:
                continue
            self._add(table, part)
            now = table.columns[before.name]
            now.was, now.comment = before.was, before.comment
            kind, allows_null = part.args.get("kind"), _allows_null(part)
            if kind is None or kind_name(kind) == "NULL" or _is_no_type(kind):
                now.type, now.written = before.type, before.written
            now.is_required = now.is_required or (before.is_required and not allows_null)
        table.is_told = False

    def rename(self, renamed: Renamed) -> None:
        """Give a column or a table another name; nothing where no file makes the table."""
        written = renamed.table if isinstance(renamed, ColumnRenamed) else renamed.old
        table = self.tables.get(self._whole(list(written)))
        if table is None:
            return
        if isinstance(renamed, ColumnRenamed):
            self._rename(table, renamed.old, renamed.new)
        else:
            self._rename_table(table, list(renamed.new))
        table.is_told = False

    def _set_key(self, table: TableDefinition, columns: tuple[str, ...], name: exp.Expr | None) -> None:
        table.key = columns
        table.key_name = self._text(name) if name is not None else f"{table.name[-1]}_pkey"

    def _drop_key(self, table: TableDefinition) -> None:
        """Take the primary key away; but for Oracle its columns stay without null."""
        for name in table.key if self._dialect != "oracle" else ():
            if name in table.columns:
                table.columns[name].is_required = True
        table.key, table.key_name = (), ""

    def _drop_constraint(self, table: TableDefinition, name: str) -> None:
        if table.key and name == table.key_name:
            self._drop_key(table)
        table.unique = [(own, columns) for own, columns in table.unique if own != name]

    def _drop_column(self, table: TableDefinition, name: str) -> None:
        """Take a column away, with the keys that it was a part of."""
        table.columns.pop(name, None)
        if name in table.key:
            self._drop_key(table)
        table.unique = [(own, columns) for own, columns in table.unique if name not in columns]

    def _add(self, table: TableDefinition, part: exp.ColumnDef) -> None:
        name, kind = self._text(part.this), part.args.get("kind")
        if part.args.get("exists") and name in table.columns:
            return  # is added only if it is not there
        found = type_of(self._dialect, kind, self._named) if isinstance(kind, exp.DataType) else None
        is_required = isinstance(kind, exp.DataType) and (
            kind_name(kind) in SERIALS or own_name(kind) in self._required
        )
        written = kind.sql(self._dialect).removeprefix("SYS.") if kind is not None else "none"
        column = ColumnDefinition(name, found, written, is_required)
        for constraint in part.args.get("constraints") or ():
            match constraint.kind:
                case exp.NotNullColumnConstraint():
                    column.is_required = not constraint.kind.args.get("allow_null")
                case exp.PrimaryKeyColumnConstraint():
                    self._set_key(table, (name,), constraint.args.get("this"))
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
            self._set_key(table, self._columns(key.expressions), _constraint_name(key))
        for unique in part.find_all(exp.UniqueColumnConstraint):
            if isinstance(unique.this, exp.Schema):
                self._add_unique(table, self._columns(unique.this.expressions), _constraint_name(unique))
        # SQL Server says how the rows lie between the words and the columns.
        laid = part.find(exp.ClusteredColumnConstraint, exp.NonClusteredColumnConstraint)
        if laid is not None and isinstance(laid.this, list):
            if part.find(exp.PrimaryKeyColumnConstraint):
                self._set_key(table, self._columns(laid.this), _constraint_name(laid))
            else:
                self._add_unique(table, self._columns(laid.this), _constraint_name(laid))

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
            self._refuse_unknown_type(table, action)
        to = next((one for one in statement.args.get("options") or () if isinstance(one, exp.ToTableProperty)), None)
        for action in statement.args.get("actions") or ():
            if to is not None and isinstance(action, exp.AlterRename):  # PostgreSQL may leave out the word COLUMN
                self._rename(table, self._text(action.this.this), self._text(to.this.this))
            else:
                self._act(table, action)
        table.is_told = False

    def _refuse_unknown_type(self, table: TableDefinition, action: exp.Expr) -> None:
        """Refuse a change of a column that is there to what is no type that we know: it would leave its table.

        PostgreSQL alone says with a word of its own that a type follows.

        Raises:
            SchemaError: the type is unknown.
        """
        part = action.this if isinstance(action, exp.ModifyColumn) else action
        if self._dialect == "postgres" or not isinstance(part, exp.ColumnDef | exp.AlterColumn):
            return
        kind, name = part.args.get("dtype") or part.args.get("kind"), self._text(part.this)
        if name not in table.columns or not isinstance(kind, exp.DataType) or kind_name(kind) != "USERDEFINED":
            return
        if not _is_no_type(kind) and type_of(self._dialect, kind, self._named) is None:
            shown = f"{'.'.join(table.name)}: {name} {kind.sql(self._dialect)}"
            raise SchemaError(f"The new type of a column is not known ({shown}).", hint=_KEEPS)

    def _act(self, table: TableDefinition, action: exp.Expr) -> None:
        match action:
            case exp.ColumnDef():
                self._add(table, action)
            case exp.Schema():
                for part in action.expressions:
                    self._act(table, part)
            case exp.Drop(kind="COLUMN"):
                for one in action.args.get("tables") or [action.this]:
                    self._drop_column(table, self._columns([one])[0])
            case exp.Drop(kind="CONSTRAINT" | "INDEX"):
                for one in action.args.get("tables") or [action.this]:
                    self._drop_constraint(table, self._text(one.this))
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
                self._rename_table(table, self._written(action.this))
            case exp.DropPrimaryKey():
                self._drop_key(table)
            case exp.Command() if " ".join(action.sql().upper().split()).startswith("DROP PRIMARY KEY"):
                self._drop_key(table)
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
            if self._dialect == "tsql":  # allows null unless it says otherwise, whatever the column did before
                column.is_required = False
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

    def _rename_table(self, table: TableDefinition, written: list[str]) -> None:
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


def _allows_null(part: exp.ColumnDef) -> bool:
    """Return whether a column is said to allow null; the parser takes the word alone for a type."""
    kind, constraints = part.args.get("kind"), part.args.get("constraints") or ()
    is_alone = isinstance(kind, exp.DataType) and kind_name(kind) == "NULL"
    return is_alone or any(constraint.kind.args.get("allow_null") for constraint in constraints)


def _is_no_type(kind: exp.DataType) -> bool:
    return kind_name(kind) == "USERDEFINED" and own_name(kind).upper() in _NO_TYPES


def _constraint_name(part: exp.Expr) -> exp.Expr | None:
    return part.parent.this if isinstance(part.parent, exp.Constraint) else None


def key_of(table: TableDefinition, paths: Mapping[str, object] | set[str]) -> tuple[str, ...] | None:
    """Return the key of a table: the primary one, else the first unique one; ``None`` where a column is left out."""
    columns = table.key or next((columns for _, columns in table.unique), ())
    key = tuple(escape(name) for name in columns)
    return key if set(key) <= set(paths) else None
