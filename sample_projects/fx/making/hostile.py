"""Lines that no well-behaved producer writes, made from good ones."""

from __future__ import annotations

import json
from typing import Any

from making.captured import Record

EVERY = 3
"""So many good lines stand between two hostile ones."""


def _line(topic: str, key: Any, value: str | None, number: int, **more: Any) -> bytes:
    key_text = None if key is None else json.dumps(key, separators=(",", ":"))
    wrapper = {"topic": topic, "key": key_text, "value": value, **more, "partition": 0, "offset": 900_000 + number}
    return json.dumps(wrapper, separators=(",", ":")).encode()


def hostile_lines(row: Record) -> list[tuple[str, bytes]]:
    """Return each hostile line with what is wrong with it.

    Args:
        row: a good record, schemas off, with a full row of ``accounts.account`` in its newest version.
    """
    topic, value = row.topic, row.off["value"]
    good = json.loads(value)
    key = {"id": good["after"]["id"]}
    iban = json.dumps(good["after"]["iban"])
    deep = "[" * 70 + "]" * 70

    def with_row(**changes: Any) -> str:
        return json.dumps({**good, "after": {**good["after"], **changes}}, separators=(",", ":"))

    def with_envelope(**changes: Any) -> str:
        return json.dumps({**good, **changes}, separators=(",", ":"))

    values: list[tuple[str, str, Any, str | None]] = [
        ("the same field twice in the row", topic, key, value.replace('"iban":', f'"iban":{iban},"iban":', 1)),
        ("a lone surrogate in a string of the row", topic, key, value.replace(iban, '"\\ud800"', 1)),
        ("arrays nested deeper than 64", topic, key, with_row(limits="@").replace('"@"', deep)),
        ("a topic nobody knows", "fx.treasury.deal", {"deal_id": 7}, with_envelope(after={"deal_id": 7})),
        ("a version nobody knows", topic, key, with_row(loyalty_tier="gold")),
        ("a value that is not JSON", topic, key, "BEGIN;INSERT"),
        ("a value that is an array", topic, key, "[1,2,3]"),
        ("an operation nobody knows", topic, key, with_envelope(op="x")),
        ("a delete with neither key nor row", topic, None, with_envelope(op="d", before=None, after=None)),
        ("something after the end of the value", topic, key, value + "}"),
        ("a number that JSON does not have", topic, key, with_row(balance="@").replace('"@"', "NaN")),
    ]
    lines = [(what, _line(to, with_key, text, number)) for number, (what, to, with_key, text) in enumerate(values)]
    whole = _line(topic, key, value, 100)
    lines += [
        ("a line cut in the middle", whole[: len(whole) // 2]),
        ("bytes that are no UTF-8", whole.replace(good["after"]["iban"].encode(), b"\xc3\x28\xff", 1)),
        ("an empty object", b"{}"),
        ("a bare number", b"42"),
    ]
    return lines


def hostile_file(good: list[bytes], row: Record) -> tuple[bytes, list[dict[str, Any]]]:
    """Return the file of good and hostile lines, and which lines are hostile (counted from 1)."""
    waiting = hostile_lines(row)
    lines: list[bytes] = []
    places: list[dict[str, Any]] = []
    for number, line in enumerate(good):
        lines.append(line)
        if number % EVERY == 0 and waiting:
            what, bad = waiting.pop(0)
            lines.append(bad)
            places.append({"line": len(lines), "what": what})
    if waiting:
        raise SystemExit(f"{len(waiting)} hostile lines found no place among {len(good)} good ones")
    return b"\n".join(lines) + b"\n", places
