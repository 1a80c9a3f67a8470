"""Lists of names and types as spreadsheets, CSV files, people and CREATE TABLE write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.trees.declarations import TYPES
from metl_gui.core.trees.types import type_name
from metl_gui.workbench.model.pasted_attributes import MOST_ATTRIBUTES, PastedAttributes, read_attributes


def told(found: PastedAttributes) -> list[tuple[str, str, bool, str]]:
    return [(a.path, type_name(a), not a.optional, a.doc) for a in found.attributes]


@pytest.mark.parametrize(
    "text",
    [
        "path\ttype\trequired\tdocumentation\nid\tint64\tyes\twhat it is\nowner.name\tvarchar(20)\tno\t\n",
        "name;type;required;doc\nid;int64;required;what it is\nowner.name;string",
        "id,int64,x,what it is\nowner.name,VARCHAR(20),nullable\n",
    ],
)
def test_columns_of_tables_are_path_type_need_and_meaning(text: str) -> None:
    assert told(read_attributes(text)) == [
        ("id", "int64", True, "what it is"),
        ("owner.name", "string", False, ""),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'path,type,required,doc\npayer_id,string,yes,"Who pays, by number"\n"amount","number","yes","In euro"',
            [("payer_id", "string", True, "Who pays, by number"), ("amount", "number", True, "In euro")],
        ),
        (
            '"first name";"string";"no";"as ""given""; else empty"',
            [("first name", "string", False, 'as "given"; else empty')],
        ),
        ('"a\tb"\tstring\tyes\t"tabs\tin it"', [("a\tb", "string", True, "tabs\tin it")]),
        (
            '"Name, Vorname",string\n"first name",uuid',
            [("Name, Vorname", "string", False, ""), ("first name", "uuid", False, "")],
        ),
        ('"Last Name, First",string', [("Last Name, First", "string", False, "")]),
        ('"order, id" numeric(10,2) not null,', [("order, id", "number", True, "")]),
        ('rate,numeric(10,2),yes,"net, in euro"', [("rate", "number", True, "net, in euro")]),
        ('size;string;no;5" pipes; long ones', [("size", "string", False, '5" pipes')]),
        ('"open\tstring', [("open", "string", False, "")]),
        ('"amount" numeric(10,2) DEFAULT 0, -- in euro, net', [("amount", "number", False, "")]),
    ],
)
def test_what_stands_in_quotation_marks_is_one_cell(text: str, expected: list[tuple[str, str, bool, str]]) -> None:
    assert told(read_attributes(text)) == expected


def test_what_create_table_lists_becomes_attributes_and_its_keys_do_not() -> None:
    found = read_attributes(
        """CREATE TABLE payment (
          id bigint NOT NULL,
          "amount" decimal(10, 2),
          booked_at timestamp with time zone not null,
          `memo` text,
          -- a remark
          state char(1), -- one letter
          "paid by" int,
          [paid to] int not null, -- whoever that is
          PRIMARY KEY (id)
        );"""
    )
    assert found.key == ("id",)
    assert told(found) == [
        ("id", "int64", True, ""),
        ("amount", "number", False, ""),
        ("booked_at", "date-time", True, ""),
        ("memo", "string", False, ""),
        ("state", "string", False, ""),
        ("paid by", "int32", False, ""),
        ("paid to", "int32", True, ""),
    ]


def test_names_alone_are_strings_and_a_colon_or_mark_is_read_as_the_command_line_does() -> None:
    found = read_attributes("iban\n\nopened_on: date\nbalance:number!\nkind uuid")
    assert told(found) == [
        ("iban", "string", False, ""),
        ("opened_on", "date", False, ""),
        ("balance", "number", True, ""),
        ("kind", "uuid", False, ""),
    ]


def test_what_is_no_type_becomes_a_string_and_is_told() -> None:
    found = read_attributes("a geography\nb geography\nc xml\na int")
    assert [row[1] for row in told(found)] == ["string", "string", "string"]
    assert found.unknown == ("geography", "xml")
    assert found.left == 1, "a path once more"


def test_no_more_attributes_are_read_than_one_can_look_at() -> None:
    found = read_attributes("\n".join(f"a{at} int" for at in range(MOST_ATTRIBUTES + 7)))
    assert (len(found.attributes), found.left) == (MOST_ATTRIBUTES, 7)


def test_a_line_too_long_for_an_attribute_is_left_out_unread() -> None:
    found = read_attributes("a int\n" + "{}," * 10**6 + "\nb int")
    assert ([a.path for a in found.attributes], found.left) == (["a", "b"], 1)


@given(st.text(max_size=200))
def test_whatever_is_on_the_clipboard_every_path_stands_once_and_every_type_is_one(text: str) -> None:
    found = read_attributes(text)
    paths = [a.path for a in found.attributes]
    assert len(set(paths)) == len(paths)
    assert all(a.type in TYPES for a in found.attributes)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("a int primary key,\nb int", ("a",)),
        ('a int,\nb int,\nconstraint pk PRIMARY KEY ("b", `a`)', ("b", "a")),
        ("a int,\nprimary key (a, gone)", ()),
        ("a int -- no primary key\nb int", ()),
        ("a\tint64\nb\tint64", ()),
    ],
)
def test_the_primary_key_of_create_table_is_the_key(text: str, key: tuple[str, ...]) -> None:
    assert read_attributes(text).key == key
