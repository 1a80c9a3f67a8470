"""JSON values in every spelling, most of them valid."""

from __future__ import annotations

import contextlib
import json
import re
from random import Random
from typing import Any

from metl_gui.errors import RecordError
from metl_gui.formats.json_text import accept

ATOMS = (
    *("0", "-0", "-0.0", "1", "7", "-1", "1.50", "0.1", "1e400", "-1E-400", "1e+9", "12345678", "123456789"),
    *("9223372036854775807", "18446744073709551616", "1234567890123456789012345678901234567"),
    *("12345678901234567890123456789012345.67", "0.0000000000000000000000000000000000001", "1634052484031"),
    *("true", "false", "null", "null", '""', '"x"', '"NaN"', '"Infinity"', '"null"', '"c"', '"é"', '"\\u00e9"'),
    *(
        '"\\ud83d\\ude00"',
        '"😀"',
        '"\\""',
        '"\\\\"',
        '"\\\\\\""',
        '"\\/"',
        '"a\\nb"',
        '"\\u0000"',
        '"\u2028"',
        '"\x7f"',
    ),
    *('"1234567"', '"12345678"', '"123456789"', '"1234567\\n"', '"123456\\\\"', '"1234567é"', '"123456é"'),
    *("[]", "{}", "[ ]", "{ }", '{"a":1,"a":2}', "[1,[2,[3]]]", '{"id":1}', '{"a":{"b":[{}]}}', '["]","}","{"]'),
    *('"{\\"id\\":1}"', "[ 1 , 2 ]", '{ "k" : "v" }', '"[[[[{{{{"', '"\\"}"', '"\uffff"', '"\U0010ffff"', '"a:b,c"'),
)
PLACEHOLDERS = (
    '"__debezium_unavailable_value"',
    '["__debezium_unavailable_value"]',
    "[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101]",
    '"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="',
    '{"__debezium_unavailable_value":"__debezium_unavailable_value"}',
    '"{\\"__debezium_unavailable_value\\":\\"__debezium_unavailable_value\\"}"',
    '"__debezium_unavailable_valuE"',
    '[ "__debezium_unavailable_value" ]',
    '"\\u005f_debezium_unavailable_value"',
    '"other_placeholder"',
)
BROKEN = (
    *("01", "1.", "+1", ".5", "NaN", "Infinity", "-", "1e", "1e+", "-a", "0x1", "1_0", "tru", "nul", "nulll", "True"),
    *(
        '"\\ud800"',
        '"\\udc00"',
        '"\\ud800\\u0041"',
        '"\\ud83d\\ud83d\\ude00"',
        '"\\x"',
        '"\x01"',
        '"\\u12"',
        '"\\u12g4"',
    ),
    *(
        "[1,]",
        "{,}",
        '{"a"}',
        "'a'",
        '"',
        "1 2",
        "[1 2]",
        '{"a":1,}',
        '{"a" 1}',
        "{a:1}",
        "[",
        "}",
        "",
        ",",
        '"\\',
        "//",
    ),
    *('"\n"', '"\t"', "\x00", '"\x00"', "\ufeff1", "\xa01", "[}", "{]", "--1", "1.e5", "00", "-01"),
)
GAPS = ("", "", "", "", " ", "\n", "\t", "\r\n", "  ")
_LENGTHS = (0, 1, 2, 6, 7, 8, 9, 14, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 200)
_LETTERS = ("a", "b", " ", "0", "é", "😀", "\\n", '\\"', "\\\\", "\\u00e9", "\\ud83d\\ude00", "/", "{", "}", ",", ":")


_UNIT = re.compile(r"\\u[0-9a-f]{4}")


def value(dice: Random, depth: int = 3) -> str:
    """Write one value; one in a hundred is broken, one in thirty a placeholder."""
    kind = dice.random()
    if kind < 0.01:
        return dice.choice(BROKEN)
    if kind < 0.04:
        return dice.choice(PLACEHOLDERS)
    if kind < 0.65 or not depth:
        return dice.choice(ATOMS)
    if kind < 0.72:
        return number(dice)
    if kind < 0.82:
        return string(dice)
    if kind < 0.83:
        return nested(dice, dice.choice((30, 58, 59, 60, 61, 62, 63, 64, 65, 70, 300)))
    inner = [value(dice, depth - 1) for _ in range(dice.randrange(4))]
    gap = dice.choice(GAPS)
    if kind < 0.91:
        return "[" + gap + f"{gap},{gap}".join(inner) + gap + "]"
    members = (f"{string(dice)}{gap}:{gap}{text}" for text in inner)
    return "{" + gap + f",{gap}".join(members) + gap + "}"


def is_valid(text: str) -> bool:
    """Say whether a value may stand in a record."""
    try:
        accept(text.encode())
    except (RecordError, UnicodeEncodeError):
        return False
    return True


def number(dice: Random) -> str:
    """Write a number of any length."""
    digits = str(dice.getrandbits(dice.choice((3, 10, 30, 53, 64, 65, 128, 400))))
    text = f"{dice.choice(('', '-'))}{digits}"
    if dice.random() < 0.4:
        text += f".{dice.getrandbits(dice.choice((3, 30, 100)))}"
    return (
        f"{text}{dice.choice('eE')}{dice.choice(('', '+', '-'))}{dice.randrange(1000)}" if dice.random() < 0.1 else text
    )


def string(dice: Random) -> str:
    """Write a string whose length lies near what is scanned at a time."""
    if dice.random() < 0.5:
        return f'"{dice.choice("abc") * dice.choice(_LENGTHS)}"'
    return '"' + "".join(dice.choices(_LETTERS, k=dice.choice(_LENGTHS))) + '"'


def nested(dice: Random, levels: int) -> str:
    """Write a value of so many levels."""
    opening = dice.choices(("[", '{"a":', '{"id":1,"b":', "[1,"), k=levels)
    closing = ("]" if text.startswith("[") else "}" for text in reversed(opening))
    return "".join(opening) + dice.choice(("1", '"x"', "null", "[]")) + "".join(closing)


def spelled(dice: Random, name: str) -> str:
    """Write a name, now and then with escapes that nobody needs."""
    how = dice.random()
    return json.dumps(name, ensure_ascii=False) if how < 0.96 else escaped(dice, name)


def escaped(dice: Random, name: str) -> str:
    """Write a name with escapes: all beyond ASCII, as many writers do, or any letter."""
    how = dice.random()
    if how < 0.5 or not name:
        text = json.dumps(name)
        return text if how < 0.3 else _UNIT.sub(lambda found: found[0].upper().replace("U", "u", 1), text)
    at = dice.randrange(len(name))
    units = "".join(f"\\u{unit:04x}" for unit in _units(name[at]))
    return json.dumps(name[:at], ensure_ascii=False)[:-1] + units + json.dumps(name[at + 1 :], ensure_ascii=False)[1:]


def written(dice: Random, members: list[tuple[str, str]], *, is_tidy: bool = True) -> str:
    """Write an object of (name, text of the value)."""
    if is_tidy:
        return "{" + ",".join([f"{json.dumps(name, ensure_ascii=False)}:{text}" for name, text in members]) + "}"
    if dice.random() < 0.5:
        dice.shuffle(members)
    if members and dice.random() < 0.04:
        members.insert(dice.randrange(len(members) + 1), (dice.choice(members)[0], dice.choice(ATOMS)))
    gap = dice.choice(GAPS)
    return "{" + f",{gap}".join([f"{spelled(dice, name)}{gap}:{gap}{text}" for name, text in members]) + gap + "}"


def respelled(dice: Random, text: str) -> str:
    """Write a value anew as another writer may: members in any order, names with escapes, numbers as they are.

    Raises:
        ValueError, RecursionError: it is no JSON.
    """
    return _again(dice, _parsed(text), dice.choice((0.0, 1.0, 1.0)), dice.choice((0.0, 0.0, 0.2, 1.0)))


class _Members(list[tuple[str, Any]]):
    """The members of an object."""


class _Text(str):
    """What is written as it came."""

    __slots__ = ()


def _parsed(text: str) -> Any:
    return json.loads(
        text, object_pairs_hook=_Members, parse_int=_Text, parse_float=_Text, parse_constant=_Text, strict=True
    )


def _again(dice: Random, value: Any, order: float, escapes: float) -> str:
    if isinstance(value, _Members):
        members = []
        for name, inner in dice.sample(value, len(value)) if dice.random() < order else value:
            spelling = escaped(dice, name) if dice.random() < escapes else json.dumps(name, ensure_ascii=False)
            members.append(f"{spelling}:{_again(dice, inner, order, escapes)}")
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_again(dice, inner, order, escapes) for inner in value) + "]"
    if isinstance(value, _Text):
        return str(value)
    if isinstance(value, str) and value.startswith("{"):
        with contextlib.suppress(ValueError, RecursionError):
            value = _again(dice, _parsed(value), order, escapes)
    return json.dumps(value, ensure_ascii=False)


def _units(letter: str) -> list[int]:
    encoded = letter.encode("utf-16-be")
    return [int.from_bytes(encoded[at : at + 2]) for at in range(0, len(encoded), 2)]
