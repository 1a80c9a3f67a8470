"""Files of SQL to the history of their tables, in the dialects of the databases that Debezium reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.project.source_formats import Format
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.registry.files import sources
from metl_gui.workbench.importing.remote_sources import ImportFilter
from metl_gui.workbench.importing.schema_import import import_sources
from metl_gui.workbench.session import Workbench


def read(folder: Path, format_: Format = Format.AUTO, prefix: str = "", **files: str) -> ReaderResult:
    for name, text in files.items():
        (folder / f"{name}.sql").write_text(text)
    return sources.read([folder], format_, prefix=prefix)


def types(declaration: VersionDeclaration) -> dict[str, tuple[object, ...]]:
    own = declaration.attributes
    return {one.path: (one.type, one.logical.rpartition(".")[2], one.scale, one.optional) for one in own}


def test_each_migration_that_changes_a_table_is_a_version_of_it_with_what_was_renamed(tmp_path: Path) -> None:
    reading = read(
        tmp_path,
        prefix="shop",
        V1__init="CREATE TABLE orders (id bigserial PRIMARY KEY, amount int); CREATE TABLE other (a int);",
        V2__rename="ALTER TABLE orders RENAME COLUMN amount TO total; ALTER TABLE orders ALTER total SET NOT NULL;",
        V2_1__more="ALTER TABLE ONLY public.orders ADD note text NOT NULL DEFAULT 'x', DROP COLUMN total;",
        V10__gone="DROP TABLE other; -- and nothing else\n",
        U1__back="DROP TABLE orders;",
    )
    orders = [one for one in reading.declarations if one.name == "shop.public.orders"]
    assert [(one.label, [attribute.path for attribute in one.attributes]) for one in orders] == [
        ("1", ["id", "amount"]),
        ("2", ["id", "total"]),
        ("2.1", ["id", "note"]),
    ]
    assert orders[1].attributes[1].equivalent_to == ("amount",)
    assert types(orders[1])["total"] == ("int32", "", None, False)
    assert all(one.key == ("id",) for one in orders)
    assert [one.source.rpartition("/")[2] for one in reading.refused] == ["U1__back.sql", "V10__gone.sql"]


def test_a_dump_is_read_through_its_data_and_functions(tmp_path: Path) -> None:
    dump = (
        "\\connect shop\nSET search_path = '';\n"
        "CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN; RETURN NEW; END; $$ LANGUAGE plpgsql;\n"
        'CREATE TABLE public."Orders" (id integer NOT NULL, "when" timestamp(3) without time zone);\n'
        'COPY public."Orders" (id) FROM stdin;\n1\tit\'s; CREATE TABLE evil (a int);\n\\.\n'
        'ALTER TABLE ONLY public."Orders" ADD CONSTRAINT p PRIMARY KEY (id);\n'
        "COMMENT ON COLUMN public.\"Orders\".id IS 'its number';\n"
    )
    (found,) = read(tmp_path, dump=dump).declarations
    assert (found.name, found.key, found.label) == ("public.Orders", ("id",), None)
    assert types(found) == {"id": ("int32", "", None, False), "when": ("int64", "Timestamp", None, True)}
    assert found.attributes[0].doc == "its number"


@pytest.mark.parametrize(
    "filling", ["\n" * 300_000, "COPY t FROM stdin;\n" * 30_000, f"CREATE DOMAIN d AS int{' ' * 300_000};"]
)
def test_what_makes_patterns_look_again_and_again_is_passed_through_to_the_tables_behind_it(
    tmp_path: Path, filling: str
) -> None:
    written = f"{filling}\nCREATE TABLE t (id int PRIMARY KEY);\n"
    (found,) = read(tmp_path, Format.SQL, odd=written).declarations
    assert (found.name, found.key) == ("public.t", ("id",))


@pytest.mark.parametrize(
    ("statements", "key"),
    [
        ("CREATE UNIQUE INDEX z ON t (b); CREATE UNIQUE INDEX y ON t (a) WHERE c > 0;", ("a",)),
        ("CREATE UNIQUE INDEX u ON t (b); ALTER TABLE t ADD UNIQUE (c, a);", ("c", "a")),
        ("ALTER TABLE t ADD UNIQUE (c); ALTER TABLE t ADD CONSTRAINT s UNIQUE (b);", ("b",)),
        ("CREATE UNIQUE INDEX ON t (b); ALTER TABLE t RENAME COLUMN b TO bee;", ("bee",)),
        ("CREATE UNIQUE INDEX a ON t (lower(d)); CREATE UNIQUE INDEX b ON t (b);", None),
        ("CREATE UNIQUE INDEX a ON t (a); ALTER TABLE t ADD PRIMARY KEY (b);", ("b",)),
    ],
)
def test_of_several_unique_indexes_of_postgresql_the_first_by_name_is_the_key(
    tmp_path: Path, statements: str, key: tuple[str, ...] | None
) -> None:
    table = "CREATE TABLE t (a int NOT NULL, b int NOT NULL, c int, d text);"
    (found,) = read(tmp_path, t=table + statements).declarations
    assert found.key == key


def test_types_of_mysql_are_those_of_its_connector(tmp_path: Path) -> None:
    table = (
        "CREATE TABLE `db`.`t` (`id` int unsigned NOT NULL AUTO_INCREMENT, b tinyint(1), c decimal(8,3), d datetime(6),"
        " e enum('a','b') COMMENT 'why', f set('a'), g year, h timestamp NULL, i json, j bit(3), k time, l float,"
        " m mediumint unsigned, n longblob, PRIMARY KEY (`id`)) ENGINE=InnoDB;"
        "ALTER TABLE db.t CHANGE b bee smallint NOT NULL;"
    )
    (found,) = read(tmp_path, prefix="inv", t=table).declarations
    assert (found.name, found.key) == ("inv.db.t", ("id",))
    assert types(found) == {
        "id": ("int64", "", None, False),
        "bee": ("int16", "", None, False),
        "c": ("bytes", "Decimal", 3, True),
        "d": ("int64", "MicroTimestamp", None, True),
        "e": ("string", "Enum", None, True),
        "f": ("string", "EnumSet", None, True),
        "g": ("int32", "Year", None, True),
        "h": ("string", "ZonedTimestamp", None, True),
        "i": ("string", "Json", None, True),
        "j": ("bytes", "Bits", None, True),
        "k": ("int64", "MicroTime", None, True),
        "l": ("float", "", None, True),
        "m": ("int32", "", None, True),
        "n": ("bytes", "", None, True),
    }


def test_types_of_sql_server_and_oracle_are_those_of_their_connectors(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    tsql = (
        "CREATE TABLE [dbo].[t] ([id] int IDENTITY(1,1) NOT NULL, a nvarchar(max), b datetime2, c money,"
        " d datetimeoffset, e time(3), f uniqueidentifier, g bit,"
        " CONSTRAINT [PK] PRIMARY KEY CLUSTERED ([id] ASC))\nGO\n"
        "ALTER TABLE dbo.t ADD h decimal(9,1)\nGO\n"
    )
    (found,) = read(tmp_path / "a", t=tsql).declarations
    assert (found.name, found.key) == ("dbo.t", ("id",))
    assert [value[:2] for value in types(found).values()] == [
        ("int32", ""), ("string", ""), ("int64", "NanoTimestamp"), ("bytes", "Decimal"), ("string", "ZonedTimestamp"),
        ("int32", "Time"), ("string", "Uuid"), ("boolean", ""), ("bytes", "Decimal"),
    ]  # fmt: skip
    oracle = (
        "CREATE TABLE hr.t (id NUMBER(10) NOT NULL, b NUMBER, c NUMBER(10,2), d VARCHAR2(20 CHAR), e DATE, f TIMESTAMP,"
        " g NUMBER(4), h RAW(16), CONSTRAINT pk PRIMARY KEY (id));"
    )
    (found,) = read(tmp_path / "b", Format.SQL_ORACLE, t=oracle).declarations
    assert (found.name, found.key) == ("HR.T", ("ID",))
    assert [value[:2] for value in types(found).values()] == [
        ("int64", ""), ("struct", "VariableScaleDecimal"), ("bytes", "Decimal"), ("string", ""), ("int64", "Timestamp"),
        ("int64", "MicroTimestamp"), ("int16", ""), ("bytes", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CREATE TABLE t (a int", "Line 1 cannot be read"),
        ("\n\nCREATE TABLE t AS SELECT 1", "Line 3: The columns of public.t are not stated"),
        ("SELECT 1;", "No statement in it makes or changes a table"),
        ("CREATE TABLE t (a int, b line, c geometry_nobody_knows)", "leaves out columns of public.t: b (line)"),
        ("'never ended", "cannot be taken apart"),
        ("(" * 5000, "No statement"),
        ("CREATE TABLE t (a int DEFAULT " + "(" * 3000 + "1" + ")" * 3000 + ")", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    reading = read(tmp_path, t=text)
    assert said in " ".join(one.reason for one in reading.refused)


def test_a_table_that_was_renamed_goes_on_in_the_project(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1_a.sql").write_text("CREATE TABLE orders (id int, a text);")
    (tmp_path / "in" / "2_b.sql").write_text("ALTER TABLE orders RENAME TO sales; ALTER TABLE sales ADD b text;")
    with Workbench.create(tmp_path / "p.metl") as workbench:
        import_sources(workbench, Side.EXTRACTION, [tmp_path / "in"], choice=ImportFilter(prefix="shop"))
        tree = workbench.document.tree(Side.EXTRACTION)
        assert tree.named("shop.public.sales") == tree.named("shop.public.orders")
        (schema,) = tree.schemas()
        assert len(schema.version_ids) == 2


def test_what_one_statement_renames_is_renamed_in_every_dialect(tmp_path: Path) -> None:
    made = "CREATE TABLE orders (id int PRIMARY KEY, customer varchar(9));"
    for format_, statement, name, column in (
        (Format.SQL_POSTGRESQL, "ALTER TABLE orders RENAME Customer TO Client", "public.orders", "client"),
        (Format.SQL_SQLSERVER, "EXEC sp_rename 'orders.customer', 'client', 'COLUMN'", "dbo.orders", "client"),
        (Format.SQL_SQLSERVER, "EXEC sys.sp_rename N'[dbo].[orders]', N'sales'", "dbo.sales", "customer"),
        (Format.SQL_ORACLE, "RENAME orders TO sales", "SALES", "CUSTOMER"),
        (Format.SQL_MYSQL, "RENAME TABLE orders\nTo x, x TO `Sales`", "Sales", "customer"),
    ):
        folder = tmp_path / f"{format_.value}-{name}"
        folder.mkdir()
        reading = read(folder, format_, t=f"{made}\n{statement};")
        assert [(one.name, one.attributes[1].path) for one in reading.declarations] == [(name, column)], statement
        assert not reading.refused, statement


def test_a_file_without_a_version_does_not_change_the_order_of_the_others(tmp_path: Path) -> None:
    reading = read(
        tmp_path,
        R__views="CREATE VIEW v AS SELECT 1;",
        V1__init="CREATE TABLE t (a int);",
        V2_1__later="ALTER TABLE t RENAME COLUMN b TO c;",
        V2__first="ALTER TABLE t RENAME COLUMN a TO b;",
    )
    assert [(one.label, one.attributes[0].path) for one in reading.declarations] == [
        ("1", "a"),
        ("2", "b"),
        ("2.1", "c"),
    ]


def test_columns_that_are_those_of_another_table_are_there(tmp_path: Path) -> None:
    reading = read(
        tmp_path,
        t="CREATE TABLE a (id int PRIMARY KEY, x text); CREATE TABLE b (LIKE a INCLUDING ALL, y text);"
        " CREATE TABLE c (LIKE a); CREATE TABLE d (LIKE nobody, z text);",
    )
    _, b, c = reading.declarations
    assert (b.key, types(b)) == (
        ("id",),
        {"id": ("int32", "", None, False), "x": ("string", "", None, True), "y": ("string", "", None, True)},
    )
    assert (c.key, types(c)["id"]) == ((), ("int32", "", None, False))
    assert "The columns of public.d are not stated" in reading.refused[0].reason


def test_tables_are_read_as_oracle_itself_writes_them(tmp_path: Path) -> None:
    table = (
        'CREATE TABLE "HR"."T" ("ID" NUMBER(*,0) GENERATED BY DEFAULT ON NULL AS IDENTITY MINVALUE 1 NOT NULL ENABLE,'
        ' "A" NUMBER(1,0) DEFAULT 0 NOT NULL ENABLE, "B" BINARY_FLOAT, "C" NUMBER(5,-2), "D" LONG RAW,'
        ' "E" INTERVAL DAY (2) TO SECOND (6), "F" VARCHAR2(9 CHAR) DEFAULT \'long enable\', "G" DOUBLE PRECISION,'
        ' CONSTRAINT "PK" PRIMARY KEY ("ID") USING INDEX PCTFREE 10 STORAGE(INITIAL 65536) TABLESPACE "U" ENABLE,'
        " SUPPLEMENTAL LOG DATA (ALL) COLUMNS) SEGMENT CREATION IMMEDIATE PCTFREE 10 STORAGE(INITIAL 65536);"
        "ALTER TABLE HR.T MODIFY (F VARCHAR2(20) NOT NULL, A NULL);"
        "ALTER TABLE HR.T DROP (B, E);"
    )
    reading = read(tmp_path, Format.SQL_ORACLE, t=table)
    (found,) = reading.declarations
    assert (found.name, found.key) == ("HR.T", ("ID",))
    assert types(found) == {
        "ID": ("bytes", "Decimal", 0, False),
        "A": ("int8", "", None, True),
        "C": ("int32", "", None, True),
        "F": ("string", "", None, False),
        "G": ("struct", "VariableScaleDecimal", None, True),
    }
    assert [one.reason for one in reading.refused] == ["The connector leaves out columns of HR.T: D (LONG)."]


def test_types_that_the_parser_does_not_know_cost_no_table(tmp_path: Path) -> None:
    for format_, column, expected in (
        (Format.SQL_MYSQL, "p POINT NOT NULL SRID 4326", ("struct", "Point", None, False)),
        (Format.SQL_MYSQL, "p multipolygon", ("struct", "Geometry", None, True)),
        (Format.SQL_MYSQL, "p float(7,4) unsigned NOT NULL", ("float", "", None, False)),
        (Format.SQL_MYSQL, "p double unsigned COMMENT 'it\\'s a float unsigned'", ("double", "", None, True)),
        (Format.SQL_MYSQL, "p float(53)", ("double", "", None, True)),
        (Format.SQL_MYSQL, "p int8", ("int64", "", None, True)),
        (Format.SQL_SQLSERVER, "p real", ("float", "", None, True)),
        (Format.SQL_SQLSERVER, "p [uniqueidentifier] ROWGUIDCOL NOT NULL", ("string", "Uuid", None, False)),
        (Format.SQL_POSTGRESQL, "p bit varying(8)", ("bytes", "Bits", None, True)),
        (Format.SQL_POSTGRESQL, "p serial8", ("int64", "", None, False)),
        (Format.SQL_POSTGRESQL, "p text COMPRESSION lz4 NOT NULL", ("string", "", None, False)),
        (Format.SQL_POSTGRESQL, "p interval day to second(3)", ("int64", "MicroDuration", None, True)),
    ):
        (found,) = read(tmp_path, format_, t=f"CREATE TABLE s.t (a int, {column});").declarations
        assert types(found)["p"] == expected, column


@pytest.mark.parametrize(
    ("format_", "statement"),
    [
        (Format.SQL_SQLSERVER, "ALTER TABLE [dbo].[t] ADD  CONSTRAINT [DF]  DEFAULT ((0)) FOR [a]"),
        (Format.SQL_POSTGRESQL, "ALTER TABLE t ALTER COLUMN a ADD GENERATED ALWAYS AS IDENTITY (START WITH 1)"),
        (Format.SQL_ORACLE, "ALTER TABLE t ADD SUPPLEMENTAL LOG DATA (ALL) COLUMNS"),
    ],
)
def test_what_says_nothing_of_types_is_no_complaint(tmp_path: Path, format_: Format, statement: str) -> None:
    assert not read(tmp_path, format_, t=f"CREATE TABLE t (a int NOT NULL); {statement};").refused


def test_what_changes_columns_and_is_not_understood_is_told(tmp_path: Path) -> None:
    statement = "ALTER TABLE t ALTER a ADD GENERATED ALWAYS AS IDENTITY, ADD COLUMN b int"
    (refused,) = read(tmp_path, t=f"CREATE TABLE t (a int NOT NULL); {statement};").refused
    assert "Line 1: The statement is not understood" in refused.reason


@pytest.mark.parametrize(
    ("format_", "statement", "is_optional"),
    [
        (Format.SQL_POSTGRESQL, "ALTER TABLE t DROP CONSTRAINT t_pkey", False),
        (
            Format.SQL_POSTGRESQL,
            "ALTER TABLE t ADD CONSTRAINT p PRIMARY KEY (a); ALTER TABLE t DROP CONSTRAINT p",
            False,
        ),
        (Format.SQL_MYSQL, "ALTER TABLE t DROP PRIMARY KEY", False),
        (Format.SQL_ORACLE, "ALTER TABLE t DROP PRIMARY KEY", True),
    ],
)
def test_a_key_that_is_dropped_is_none(tmp_path: Path, format_: Format, statement: str, is_optional: bool) -> None:
    (found,) = read(tmp_path, format_, t=f"CREATE TABLE t (a int PRIMARY KEY, b int); {statement};").declarations
    assert found.key == ()
    assert found.attributes[0].optional is is_optional


def test_a_key_column_that_is_dropped_takes_the_key_with_it(tmp_path: Path) -> None:
    table = "CREATE TABLE t (a int PRIMARY KEY, b int UNIQUE); ALTER TABLE t DROP COLUMN a, DROP COLUMN b, ADD c int;"
    (found,) = read(tmp_path, t=table).declarations
    assert (found.key, [one.path for one in found.attributes]) == ((), ["c"])


def test_a_dump_of_mysql_names_its_database_in_backticks(tmp_path: Path) -> None:
    dump = "CREATE DATABASE `shop`;\nUSE `shop`;\nCREATE TABLE `t` (`a` int);\n"
    (found,) = read(tmp_path, Format.SQL_MYSQL, t=dump).declarations
    assert found.name == "shop.t"


def test_a_column_of_sql_server_that_gets_another_type_allows_null_again(tmp_path: Path) -> None:
    table = "CREATE TABLE dbo.t (a int NOT NULL, b int NOT NULL);"
    changes = "ALTER TABLE dbo.t ALTER COLUMN a bigint; ALTER TABLE dbo.t ALTER COLUMN b bigint NOT NULL;"
    (found,) = read(tmp_path, Format.SQL_SQLSERVER, t=table + changes).declarations
    assert [one.optional for one in found.attributes] == [True, False]


def test_migrations_that_are_called_by_their_days_are_versions_of_their_own(tmp_path: Path) -> None:
    files = {
        "2024-01-05-init": "CREATE TABLE t (a int);",
        "2024-02-05-add": "ALTER TABLE t ADD b int;",
        "2024-02-05_2-more": "ALTER TABLE t ADD c int;",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.sql").write_text(text)
    reading = sources.read([tmp_path])
    assert [one.label for one in reading.declarations] == ["2024.1.5", "2024.2.5", "2024.2.5.2"]
    assert not reading.refused


def test_tables_of_postgresql_are_in_the_schema_that_their_file_sets(tmp_path: Path) -> None:
    reading = read(
        tmp_path,
        V1='CREATE SCHEMA shop; SET search_path TO "Shop", public; CREATE TABLE t (a int);',
        V2="CREATE TABLE u (a int); SET SESSION search_path = ''; CREATE TABLE v (a int);",
        V3="ALTER TABLE u SET SCHEMA shop; ALTER TABLE shop.u ADD b int;",
    )
    assert [one.name for one in reading.declarations] == ["Shop.t", "public.u", "public.v", "shop.u"]
    assert [one.path for one in reading.declarations[-1].attributes] == ["a", "b"]
    assert [(one.name, one.of, one.is_same) for one in reading.continuations] == [
        ("Shop.t", ("public.t",), True),
        ("shop.u", ("public.u",), False),
    ]


@pytest.mark.parametrize(
    ("before", "sets"), [("public.", "SET search_path TO app;"), ("", "USE `app`;")], ids=["postgresql", "mysql"]
)
@pytest.mark.parametrize("what", ["same", "other columns", "other folder"])
def test_a_table_goes_on_that_was_imported_before_the_schema_of_its_file_was_followed(
    tmp_path: Path, before: str, sets: str, what: str
) -> None:
    columns = "(id int, b int)" if what == "other columns" else "(id int, a text)"
    renamed = "ALTER TABLE t RENAME TO u; ALTER TABLE u ADD e int;"
    choice = ImportFilter(prefix="shop")
    format_ = Format.SQL_POSTGRESQL if before else Format.SQL_MYSQL
    with Workbench.create(tmp_path / "p.metl") as workbench:
        for folder, texts in (
            ("db", (f"CREATE TABLE {before}t (id int, a text);", f"ALTER TABLE {before}t ADD c int;")),
            (
                "other" if what == "other folder" else "db",
                (f"{sets} CREATE TABLE t {columns};", f"{sets} ALTER TABLE t ADD c int;", f"{sets} {renamed}"),
            ),
        ):
            (tmp_path / folder).mkdir(exist_ok=True)
            for at, text in enumerate(texts, 1):
                (tmp_path / folder / f"{at}_x.sql").write_text(text)
            result = import_sources(workbench, Side.EXTRACTION, [tmp_path / folder], format_, choice=choice)
            assert not result.refused
        tree = workbench.document.extraction
        found = {schema.name: [version.label for version in tree.versions(schema.id)] for schema in tree.schemas()}
        old = f"shop.{before}t"
        is_one = what == "same"
        assert found == ({old: ["1", "2", "3"]} if is_one else {old: ["1", "2"], "shop.app.t": ["1", "2", "3"]})
        assert tree.named("shop.app.u") == tree.named("shop.app.t")


def test_two_tables_of_schemas_that_files_set_do_not_become_one(tmp_path: Path) -> None:
    with Workbench.create(tmp_path / "p.metl") as workbench:
        for texts in ({"1_x": ""}, {"1_x": "SET search_path TO eu;", "2_x": "SET search_path TO us;"}):
            for name, sets in texts.items():
                (tmp_path / f"{name}.sql").write_text(f"{sets} CREATE TABLE orders (id int);")
            paths = [tmp_path / f"{name}.sql" for name in texts]
            import_sources(workbench, Side.EXTRACTION, paths, Format.SQL_POSTGRESQL)
        names = {schema.name for schema in workbench.document.extraction.schemas()}
        assert names == {"public.orders", "us.orders"}
        assert workbench.document.extraction.named("eu.orders") == workbench.document.extraction.named("public.orders")


def test_a_table_goes_on_by_what_it_was_called_before_a_file_that_renames_it_twice(tmp_path: Path) -> None:
    twice = "ALTER TABLE a RENAME TO b; ALTER TABLE b RENAME TO c;"
    reading = read(tmp_path, Format.SQL_POSTGRESQL, V1="CREATE TABLE a (x int);", V2=twice)
    assert [(one.name, one.of[0]) for one in reading.continuations] == [("public.c", "public.a")]


@pytest.mark.parametrize(
    "change",
    [
        "ALTER COLUMN mail ADD MASKED WITH (FUNCTION = 'email()')",
        "ALTER COLUMN [mail] ADD MASKED WITH (FUNCTION = 'partial(1, \"X)\", 0)')",
        "ALTER COLUMN mail DROP MASKED",
        "ALTER COLUMN mail ADD ROWGUIDCOL",
        "ALTER COLUMN mail ADD SPARSE",
        "ALTER COLUMN mail DROP NOT FOR REPLICATION",
    ],
)
def test_what_sql_server_says_of_the_keeping_of_a_column_leaves_it_as_it_is(tmp_path: Path, change: str) -> None:
    table = "CREATE TABLE dbo.t (id int PRIMARY KEY, mail nvarchar(9) NOT NULL);"
    reading = read(tmp_path, Format.SQL_SQLSERVER, t=f"{table} ALTER TABLE dbo.t {change};")
    assert not reading.refused
    assert types(reading.declarations[0])["mail"] == ("string", "", None, False)


@pytest.mark.parametrize(
    "change",
    [
        "(a INVISIBLE)",
        "a VISIBLE",
        "a ENCRYPT",
        "(a ENCRYPT USING 'AES256' NO SALT)",
        "(a DECRYPT)",
        "CONSTRAINT c ENABLE NOVALIDATE",
        "PRIMARY KEY DISABLE",
        "PARTITION p ADD VALUES (3)",
        "LOB (a) (CACHE)",
        "DEFAULT ATTRIBUTES TABLESPACE x",
    ],
)
def test_what_oracle_modifies_beside_types_leaves_columns_as_they_are(tmp_path: Path, change: str) -> None:
    table = "CREATE TABLE s.t (a VARCHAR2(9) NOT NULL, b NUMBER(3));"
    reading = read(tmp_path, Format.SQL_ORACLE, t=f"{table} ALTER TABLE s.t MODIFY {change};")
    assert not reading.refused
    assert types(reading.declarations[0])["A"] == ("string", "", None, False)


@pytest.mark.parametrize(
    ("format_", "change"),
    [
        (Format.SQL_ORACLE, "MODIFY (a VARCHAR2(50) NOT NULL) ADD (c NUMBER(3))"),
        (Format.SQL_ORACLE, "MODIFY (a NOT NULL) MODIFY (b NOT NULL)"),
        (Format.SQL_ORACLE, "MODIFY a NOT NULL MODIFY b NOT NULL"),
        (Format.SQL_ORACLE, "MODIFY (b NOT NULL, a WHATEVER)"),
        (Format.SQL_SQLSERVER, "ALTER COLUMN a WHATEVER"),
        (Format.SQL_MYSQL, "MODIFY b bigint, MODIFY a WHATEVER"),
    ],
)
def test_a_change_that_is_read_in_part_alone_is_refused_as_a_whole(
    tmp_path: Path, format_: Format, change: str
) -> None:
    reading = read(tmp_path, format_, t=f"CREATE TABLE s.t (a varchar(9), b int); ALTER TABLE s.t {change};")
    (before,) = read(tmp_path, format_, t="CREATE TABLE s.t (a varchar(9), b int);").declarations
    assert [one.attributes for one in reading.declarations] == [before.attributes]
    (refused,) = reading.refused
    said = "is not known (s.t: a WHATEVER)" if "WHATEVER" in change else "The statement is not understood"
    assert said.casefold() in refused.reason.casefold()


@pytest.mark.parametrize(
    ("format_", "columns"),
    [
        (Format.SQL_POSTGRESQL, "storage text, compression int, a text COMPRESSION lz4 NOT NULL"),
        (Format.SQL_ORACLE, "enable NUMBER(1), virtual NUMBER(1), a NUMBER(1) NOT NULL ENABLE"),
        (Format.SQL_SQLSERVER, "rowguidcol int, sparse int, a uniqueidentifier ROWGUIDCOL NOT NULL"),
    ],
)
def test_a_column_may_be_called_as_a_word_about_storage_is(tmp_path: Path, format_: Format, columns: str) -> None:
    (found,) = read(tmp_path, format_, t=f"CREATE TABLE s.t ({columns});").declarations
    assert [one.path.lower() for one in found.attributes] == [part.split()[0] for part in columns.split(", ")]
    assert not found.attributes[-1].optional


@pytest.mark.parametrize(
    ("format_", "added"),
    [
        (Format.SQL_ORACLE, "visible NUMBER(1) DEFAULT 1 NOT NULL ENABLE"),
        (Format.SQL_POSTGRESQL, "COLUMN storage text COMPRESSION lz4 NOT NULL"),
        (Format.SQL_POSTGRESQL, "COLUMN IF NOT EXISTS storage text COMPRESSION lz4 NOT NULL"),
    ],
)
def test_a_column_that_is_added_may_be_called_so_too(tmp_path: Path, format_: Format, added: str) -> None:
    (found,) = read(tmp_path, format_, t=f"CREATE TABLE s.t (id int); ALTER TABLE s.t ADD {added};").declarations
    assert [one.path.lower() for one in found.attributes][1:] in (["visible"], ["storage"])
    assert not found.attributes[-1].optional


def test_a_table_that_inherits_has_columns_of_its_own(tmp_path: Path) -> None:
    made = "CREATE TABLE a (id int PRIMARY KEY, x text); CREATE TABLE b (y int) INHERITS (a);"
    changed = "ALTER TABLE b ALTER x SET NOT NULL; ALTER TABLE b RENAME x TO z;"
    parent, child = read(tmp_path, Format.SQL_POSTGRESQL, t=made + changed).declarations
    assert [(one.path, one.optional) for one in parent.attributes] == [("id", False), ("x", True)]
    assert [(one.path, one.optional) for one in child.attributes] == [("id", False), ("z", False), ("y", True)]


def test_patterns_pass_through_long_statements_once(tmp_path: Path) -> None:
    long = "a" * 200_000
    odd = f"ALTER TABLE {long} {' ' * 200_000} SET;\nALTER TABLE t ADD {'(' * 200} {long};\nSET search_path = {long}"
    (found,) = read(tmp_path, Format.SQL_POSTGRESQL, t=f"{odd};\nCREATE TABLE public.t (id int);").declarations
    assert found.name == "public.t"


@pytest.mark.parametrize("format_", [Format.SQL_POSTGRESQL, Format.SQL_MYSQL])
def test_a_column_that_is_there_is_not_added_again(tmp_path: Path, format_: Format) -> None:
    table = "CREATE TABLE t (a int, b bigint NOT NULL);"
    added = "ALTER TABLE t ADD COLUMN IF NOT EXISTS b text, ADD COLUMN IF NOT EXISTS c int;"
    (found,) = read(tmp_path, format_, t=table + added).declarations
    assert list(types(found).items())[1:] == [("b", ("int64", "", None, False)), ("c", ("int32", "", None, True))]
