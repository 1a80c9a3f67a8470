"""Writes a change as text, in every carrier that records come in, spelled as chance has it."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, TypeAlias

from tests.helpers.by_hand import Row, Told

Tree: TypeAlias = "dict[str, str | Tree]"
Carrier: TypeAlias = Callable[[Random, Told, str], bytes]
"""Writes a change of a table called ``srv.public.t``; the text is its Connect schema, empty for none."""

NAME = "srv.public.t"
_GAPS = ("", "", "", " ", "\n", "\t", " \r\n ")


def members(dice: Random, found: Mapping[str, str]) -> str:
    """Write an object: its members in any order, any space around its tokens."""
    texts = [f"{json.dumps(name)}{dice.choice(_GAPS)}:{dice.choice(_GAPS)}{text}" for name, text in found.items()]
    dice.shuffle(texts)
    return (
        "{" + dice.choice(_GAPS) + f"{dice.choice(_GAPS)},{dice.choice(_GAPS)}".join(texts) + dice.choice(_GAPS) + "}"
    )


def row_text(dice: Random, row: Row | None) -> str:
    """Write a row of nested objects; an object of nulls may be a null itself where it has all of its leaves."""
    if row is None:
        return "null"
    tree: Tree = {}
    for path, text in row.items():
        *parents, leaf = path.split(".")
        place = tree
        for parent in parents:
            below = place.setdefault(parent, {})
            assert isinstance(below, dict)
            place = below
        place[leaf] = text
    return _tree_text(dice, tree)


def _tree_text(dice: Random, tree: Tree) -> str:
    return members(dice, {n: below if isinstance(below, str) else _tree_text(dice, below) for n, below in tree.items()})


def envelope(dice: Random, told: Told) -> str:
    """Write an envelope."""
    source = members(dice, {"name": '"srv"', "schema": '"public"', "table": '"t"', "lsn": "5"})
    parts = {"op": f'"{told.op}"', "source": source, "ts_ms": "7"}
    parts |= {"after": "null" if told.op == "d" else row_text(dice, told.after)}
    if told.before is not None or dice.random() < 0.5:
        parts["before"] = row_text(dice, told.before)
    return members(dice, parts)


def with_schema(dice: Random, text: str, schema: str) -> str:
    """Write a value with its Connect schema."""
    return members(dice, {"schema": schema, "payload": text}) if schema else text


def bare(dice: Random, told: Told, schema: str) -> bytes:
    """Write a bare envelope."""
    return (dice.choice(_GAPS) + with_schema(dice, envelope(dice, told), schema) + dice.choice(_GAPS)).encode()


def wrapped(dice: Random, told: Told, schema: str) -> bytes:
    """Write an envelope in a wrapper."""
    return _in_wrapper(dice, with_schema(dice, envelope(dice, told), schema), told)


def flattened(dice: Random, told: Told, schema: str) -> bytes:
    """Write a flattened row in a wrapper, a delete as the rewriting modes do."""
    row = told.before if told.op == "d" else told.after
    text = row_text(dice, row)
    more = {
        "__deleted": '"true"' if told.op == "d" else '"false"',
        "__op": f'"{told.op}"',
        "__lsn": "5",
        "__ts_ms": "7",
    }
    inner = members(dice, more)[1:]
    return _in_wrapper(dice, with_schema(dice, text[:-1] + ("," if row else "") + inner, schema), told)


def cloud_event(dice: Random, told: Told, schema: str) -> bytes:
    """Write a CloudEvent."""
    data = members(dice, {"before": row_text(dice, told.before), "after": row_text(dice, told.after)})
    attributes = {"id": '"1"', "specversion": '"1.0"', "type": '"io.debezium.connector.postgresql.DataChangeEvent"'}
    attributes |= {"iodebeziumop": f'"{told.op}"', "iodebeziumname": '"srv"', "iodebeziumschema": '"public"'}
    attributes |= {"iodebeziumtable": '"t"', "iodebeziumlsn": '"5"', "iodebeziumtsms": '"7"'}
    text = members(dice, attributes | {"data": with_schema(dice, data, schema)})
    return text.encode() if told.key is None else _in_wrapper(dice, text, told)


def _in_wrapper(dice: Random, text: str, told: Told) -> bytes:
    value: dict[str, str] = dice.choice(
        (
            {"value": json.dumps(text, ensure_ascii=dice.random() < 0.5)},
            {"value": text},
            {"value_b64": f'"{base64.b64encode(text.encode()).decode()}"'},
        )
    )
    key = row_text(dice, told.key)
    parts = {
        "topic": json.dumps(NAME),
        "key": key if told.key is None or dice.random() < 0.5 else json.dumps(key),
        **value,
    }
    return members(dice, parts).encode()


CARRIERS: Mapping[str, Carrier] = {
    "bare": bare,
    "wrapped": wrapped,
    "flattened": flattened,
    "cloud event": cloud_event,
}


def schema_of(paths: tuple[str, ...], required: tuple[str, ...], kind: str) -> dict[str, Any]:
    """Write the Connect schema of a row whose leaves are all of one type."""
    fields: list[dict[str, Any]] = []
    for path in paths:
        *parents, leaf = path.split(".")
        place = fields
        for parent in parents:
            struct = next((field for field in place if field["field"] == parent), None)
            if struct is None:
                struct = {"field": parent, "type": "struct", "optional": False, "fields": []}
                place.append(struct)
            place = struct["fields"]
        place.append({"field": leaf, "type": kind, "optional": path not in required})
    return {"type": "struct", "name": f"{NAME}.Value", "optional": False, "fields": fields}
