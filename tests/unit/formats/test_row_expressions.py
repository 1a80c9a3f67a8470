"""Row expressions: what may stand in them, which attributes they name, and that nothing else gets through."""

from __future__ import annotations

import pytest
from sqlglot import exp

from metl_gui.errors import EditError
from metl_gui.formats.row_expressions import FUNCTIONS, attributes_of, row_expression

ALLOWED = [
    ("case when vip then 'vip' else 'other' end", ("vip",)),
    ("cast(substr(payer_id, 3) as bigint)", ("payer_id",)),
    ("a.b.c.d.e.f = 1 and not z", ("a.b.c.d.e.f", "z")),
    ('"order"."first name"."c.d"', ("order.first name.c\\.d",)),
    ("coalesce(a, b, a) || upper(trim(c)) || 'x'", ("a", "b", "c")),
    ("amount / 2 + amount % 3 - -amount", ("amount",)),
    ("d between date '2026-01-01' and date_trunc('month', e)", ("d", "e")),
    ("extract(year from d) in (2025, 2026)", ("d",)),
    ("a::decimal(12, 2) <= greatest(b, least(c, 1e5))", ("a", "b", "c")),
    ("a is not null or a is distinct from b", ("a", "b")),
    ("name like 'K%'", ("name",)),
    ("null", ()),
]


@pytest.mark.parametrize(("text", "attributes"), ALLOWED)
def test_a_scalar_expression_names_its_attributes(text: str, attributes: tuple[str, ...]) -> None:
    assert attributes_of(row_expression(text)) == attributes


@pytest.mark.parametrize(("text", "_"), ALLOWED)
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_an_expression_is_written_for_every_target(text: str, _: object, dialect: str) -> None:
    assert row_expression(text).sql(dialect=dialect)


CALLS = {
    **dict.fromkeys(("left", "right"), "{}(a, 2)"),
    **dict.fromkeys(("lpad", "rpad"), "{}(a, 3, '0')"),
    **dict.fromkeys(("nullif", "starts_with", "greatest", "least", "coalesce", "concat"), "{}(a, 'b')"),
    **dict.fromkeys(("replace", "split_part"), "{}(a, 'b', 'c')"),
    **dict.fromkeys(("substr", "substring"), "{}(a, 1, 2)"),
    "cast": "{}(a as text)",
    "date_trunc": "{}('day', a)",
    "extract": "{}(month from a)",
}


@pytest.mark.parametrize(
    "type_",
    ["bigint", "integer", "decimal(9, 2)", "double", "boolean", "date", "time", "timestamp", "timestamptz", "text"],
)
def test_every_type_of_the_models_can_be_cast_to(type_: str) -> None:
    assert attributes_of(row_expression(f"cast(a as {type_})")) == ("a",)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_listed_function_can_be_called(name: str) -> None:
    found = row_expression(CALLS.get(name, "{}(a)").format(name))
    assert isinstance(found, FUNCTIONS[name])
    assert attributes_of(found) == ("a",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "No expression was parsed"),
        ("a b", "not one SQL expression"),
        ("a; b", "is not what all targets have"),
        ("a as b", "not one SQL expression"),
        ("select a", "not one SQL expression"),
        ("(select 1)", "A query cannot stand in it"),
        ("x in (select 1)", "must be written out"),
        ("x in unnest(y)", "must be written out"),
        ("exists(select 1)", "not one that all targets have"),
        ("count(*)", "about one row"),
        ("sum(a)", "about one row"),
        ("row_number() over ()", "about one row"),
        ("*", "A star cannot stand in it"),
        ("a.*", "A star cannot stand in it"),
        ("columns('a')", "not one that all targets have"),
        ("read_csv('/etc/passwd')", "The function read_csv is not one"),
        ("getenv('HOME')", "There is no function getenv"),
        ("coalese(a, b)", "There is no function coalese (did you mean coalesce?)"),
        ("nextval('x')", "There is no function nextval"),
        ("now()", "There is no function now"),
        ("random()", "not one that all targets have"),
        ("current_date", "not one that all targets have"),
        ("name.upper()", "behind a dot must be a name"),
        ("a[1]", "not what all targets have"),
        ("x -> x", "not one that all targets have"),
        ("?", "not what all targets have"),
        ("$1", "not what all targets have"),
        ("cast(a as blob)", "no type that all targets have"),
        ("a::varchar[]", "no type that all targets have"),
        ("lpad(a, 5, '')", "fill with one letter or more"),
        ("a +", "not one SQL expression"),
        ("'a", "Error tokenizing"),
        ("a" * 4_001, "more than 4,000 letters"),
        ("(" * 900 + "a" + ")" * 900, "nested more than 100 levels"),
        ("not " * 900 + "a", "nested more than 100 levels"),
        ("a + " * 900 + "a", "nested more than 100 levels"),
        ("a" + ".b" * 900, "nested more than 100 levels"),
    ],
)
def test_anything_else_is_refused_with_what_is_wrong_in_it(text: str, told: str) -> None:
    with pytest.raises(EditError) as refused:
        row_expression(text)
    assert told in refused.value.text


def test_a_comment_is_left_out_of_what_databases_get() -> None:
    found = row_expression("a /* '; drop table x */ || b -- c")
    assert isinstance(found, exp.DPipe)
    assert found.sql("duckdb") == "a || b"
