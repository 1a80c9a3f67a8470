"""Warehouse models as YAML that people write: the kind of a table is the key whose value is its name.

What may stand where follows from the types of ``core.warehouse_model``. Every mistake is told with its line.

Source: docs/reference/warehouse-model.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from metl_gui.core.warehouse_model import ColumnTest, Model, Table, Test, plain
from metl_gui.errors import SchemaError, near_names
from metl_gui.formats.yaml_nodes import Mapping, Node, Scalar, Sequence, read_nodes, shown

_MOST_TOLD = 20
_FAILED = object()
"""In place of a value that cannot be read; why is noted."""

_SEE = "docs/reference/warehouse-model.md lists all keys."
_KIND = "kind"
_TEST = "is"


def read_model(text: str) -> Model:
    """Read a model.

    Raises:
        SchemaError: names every mistake with its line.
    """
    reader = _Reader()
    found = reader.value(read_nodes(text), inspect.type_info(Model), "the model")
    if reader.mistakes:
        raise _refusal(sorted(reader.mistakes))
    try:
        return msgspec.convert(found, Model)
    except msgspec.ValidationError as error:
        raise SchemaError("The warehouse model cannot be read.", f"{error}.") from error


def write_model(model: Model) -> str:
    """Write a model as a person would; it reads back equal."""
    content = plain(model)
    lines = [f"warehouse: {_scalar(content['warehouse'])}"]
    if "entities" in content:
        lines.append(f"entities: {_flow(content['entities'])}")
    lines += ["tables:"] if content.get("tables") else []
    for number, table in enumerate(content.get("tables", ())):
        lines += ([""] if number else []) + list(_table_lines(table))
    return "\n".join(lines) + "\n"


def with_values(table: Table, values: Iterable[tuple[str, str]]) -> Table:
    """Return a table with other values of some of its members.

    Args:
        table: as it is.
        values: by member, what a file would say behind its key; empty for the default. A member of a column, reference
            or event time is named by both: ``columns.country.history``.

    Raises:
        SchemaError: names every member and value that cannot be.
    """
    reader, content = _Reader(), plain(table)
    for name, text in values:
        reader.set_member(content, inspect.type_info(type(table)), name, text, f"{content[_KIND]} {table.name}")
    if reader.mistakes:
        told = "\n".join(mistake for _, mistake in reader.mistakes)
        raise SchemaError(f"{table.name} cannot be changed so.", told, _SEE)
    return msgspec.convert(content, type(table))


def tests_text(tests: tuple[Test, ...]) -> str:
    """Write the tests of a column as they stand between the brackets of a file."""
    return ", ".join(_test(one) for one in plain(tests))


def member_text(table: Table, member: str) -> str:
    """Write what a member of a table is, its default too, as ``with_values`` takes it."""
    fields = {field.encode_name: field.name for field in msgspec.structs.fields(table)}
    value = plain(getattr(table, fields[member]))
    return value if isinstance(value, str) else _flow(value, member) if value not in (None, []) else ""


def _refusal(mistakes: list[tuple[int, str]]) -> SchemaError:
    told = [f"Line {line}: {mistake}" for line, mistake in mistakes[:_MOST_TOLD]]
    more = len(mistakes) - len(told)
    return SchemaError(
        "The warehouse model cannot be read.",
        "\n".join(told) + (f"\nAnd {more} more." if more else ""),
        _SEE,
    )


class _Reader:
    """Reads nodes as the types of the model say, and notes what does not fit."""

    def __init__(self) -> None:
        self.mistakes: list[tuple[int, str]] = []

    def value(self, node: Node, info: inspect.Type, what: str) -> Any:
        """Return a value as ``msgspec.convert`` takes it, ``_FAILED`` where it cannot be read."""
        match info:
            case inspect.UnionType(types=types):
                return self._choice(node, types, what)
            case inspect.StructType() if isinstance(node, Mapping):
                return self._struct(node, info, what)
            case inspect.VarTupleType(item_type=item) if isinstance(node, Mapping) and _is_pair(item):
                return self._pairs(node, what)
            case inspect.VarTupleType(item_type=item) if isinstance(node, Sequence) and not _is_pair(item):
                return self._items(node, item, what)
            case inspect.StrType() if isinstance(node, Scalar) and not node.is_null:
                return node.text
            case inspect.BoolType() if isinstance(node, Scalar) and node.text.lower() in _BOOLEANS:
                return _BOOLEANS[node.text.lower()]
            case inspect.IntType() if isinstance(node, Scalar) and re.fullmatch("-?[0-9]{1,9}", node.text):
                return int(node.text)
            case inspect.LiteralType(values=values) if isinstance(node, Scalar):
                return self._word(node, values, what)
        return self._refuse(node, f"{what} must be {_wanted(info)}, not {_found(node)}.")

    def set_member(self, content: dict[str, Any], info: inspect.Type, name: str, text: str, what: str) -> None:
        """Put the value that a text says in the place of a member, in plain values of a struct.

        Args:
            content: the plain values, which are changed.
            info: the struct.
            name: of the member, behind it what it leads to.
            text: the value; empty for the default.
            what: names the struct in a mistake.
        """
        fields = {field.encode_name: field for field in info.fields} if isinstance(info, inspect.StructType) else {}
        first, _, rest = name.partition(".")
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            self._refuse(_NOWHERE, f"the value of {shown(name)} is no text of UTF-8.")
        elif first not in fields:
            hint = near_names(first[:80], fields) or f"Its keys are {', '.join(fields)}."
            self._refuse(_NOWHERE, f"{what} has no key {shown(first)}. {hint}")
        elif rest:
            self._set_item(content, fields[first], rest, text, what)
        elif text:
            is_text = isinstance(fields[first].type, inspect.StrType)  # which may well look like something else in YAML
            content[first] = text if is_text else self.value(read_nodes(text), fields[first].type, f"{first} of {what}")
        elif fields[first].required:
            self._refuse(_NOWHERE, f"{what} lacks the key {first}.")
        else:
            content.pop(first, None)

    def _set_item(self, content: dict[str, Any], field: inspect.Field, name: str, text: str, what: str) -> None:
        items = content.get(field.encode_name)
        structs = [one for one in _listed_structs(field.type) if isinstance(one, inspect.StructType)]
        named, _, member = name.rpartition(".")
        found = [one for one in items if _name_of(one) == named] if isinstance(items, list) and structs else []
        if not found:
            self._refuse(_NOWHERE, f"{what} has nothing called {shown(named or name)} in {field.encode_name}.")
        else:
            self.set_member(found[0], structs[0], member, text, f"{named} of {what}")

    def _choice(self, node: Node, types: tuple[inspect.Type, ...], what: str) -> Any:
        """Read a value of the one of several types that it looks like."""
        structs = [one for one in types if isinstance(one, inspect.StructType)]
        if structs and issubclass(structs[0].cls, ColumnTest):
            return self._test(node, structs)
        if structs:
            return self._table(node, structs)
        if isinstance(node, Scalar) and node.is_null and any(isinstance(one, inspect.NoneType) for one in types):
            return None
        others = [one for one in types if not isinstance(one, inspect.NoneType)]
        is_scalar = isinstance(node, Scalar)
        fitting = [one for one in others if isinstance(one, inspect.StrType | inspect.LiteralType) == is_scalar]
        return self.value(node, (fitting or others)[0], what)

    def _table(self, node: Node, kinds: list[inspect.StructType]) -> Any:
        by_tag = {str(kind.tag): kind for kind in kinds}
        if not isinstance(node, Mapping):
            return self._refuse(node, f"a table must be keys and values, not {_found(node)}.")
        named = {key.text: value.text for key, value in node.pairs if key.text in by_tag and isinstance(value, Scalar)}
        members = {tag: {field.encode_name for field in by_tag[tag].fields} for tag in named}
        found = [tag for tag in named if not any(tag in members[other] for other in named)]  # a fact has a key junk
        if len(found) != 1:
            return self._refuse(node, _kind_mistake(node, found, list(by_tag)))
        tag = found[0]
        return self._struct(node, by_tag[tag], f"{tag} {shown(named[tag])}", _KIND, {"name": tag})

    def _test(self, node: Node, kinds: list[inspect.StructType]) -> Any:
        """Read a test: its word, or its word with what it takes."""
        by_tag = {str(kind.tag): kind for kind in kinds}
        word = node.text if isinstance(node, Scalar) else ""
        inner: Node | None = None
        if isinstance(node, Mapping) and len(node.pairs) == 1:
            (key, inner) = node.pairs[0]
            word = key.text
        if word not in by_tag:
            hint = near_names(word[:80], by_tag)
            return self._refuse(node, f"there is no test {shown(word)}; tests are {', '.join(by_tag)}. {hint}".strip())
        kind = by_tag[word]
        if [field.encode_name for field in kind.fields] == ["values"]:
            inner = Mapping(node.line, [(Scalar(node.line, "values"), inner)] if inner is not None else [])
        return self._struct(inner or Mapping(node.line), kind, f"the test {word}", _TEST)

    def _struct(
        self,
        node: Node,
        info: inspect.StructType,
        what: str,
        tag_field: str = "",
        renamed: dict[str, str] | None = None,
    ) -> Any:
        """Read keys and values as the members of a struct.

        Args:
            node: the mapping.
            info: the struct.
            what: names it in a mistake.
            tag_field: where its kind is kept; empty for none.
            renamed: members that stand under another key.
        """
        if not isinstance(node, Mapping):
            return self._refuse(node, f"{what} must be keys and values, not {_found(node)}.")
        known = {(renamed or {}).get(field.encode_name, field.encode_name): field for field in info.fields}
        made: dict[str, Any] = {tag_field: info.tag} if tag_field else {}
        for key, value in node.pairs:
            field = known.get(key.text)
            if field is None:
                hint = near_names(key.text[:80], known) or f"Its keys are {', '.join(known)}."
                self._refuse(key, f"{what} has no key {shown(key.text)}. {hint}")
            else:
                made[field.encode_name] = self.value(value, field.type, f"{key.text} of {what}")
        for name, field in known.items():
            if field.required and field.encode_name not in made:
                self._refuse(node, f"{what} lacks the key {name}.")
        return made

    def _pairs(self, node: Mapping, what: str) -> Any:
        """Read keys and texts as pairs."""
        return [[key.text, self._plain_text(value, f"{shown(key.text)} in {what}")] for key, value in node.pairs]

    def _plain_text(self, node: Node, what: str) -> Any:
        if isinstance(node, Scalar) and not node.is_null:
            return node.text
        return self._refuse(node, f"{what} must be a text, not {_found(node)}.")

    def _items(self, node: Sequence, item: inspect.Type, what: str) -> Any:
        return [self.value(one, item, f"item {number} in {what}") for number, one in enumerate(node.items, 1)]

    def _word(self, node: Scalar, values: tuple[object, ...], what: str) -> Any:
        found = next((value for value in values if str(value) == node.text and value != ""), None)
        if found is None:
            choices = ", ".join(str(value) for value in values if value != "")
            return self._refuse(node, f"{what} cannot be {shown(node.text)}; choose one of {choices}.")
        return found

    def _refuse(self, node: Node, mistake: str) -> Any:
        self.mistakes.append((node.line, mistake))
        return _FAILED


_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}


_NOWHERE = Scalar(0, "")
"""In place of a node, for what was not read from a file."""


def _listed_structs(info: inspect.Type) -> list[inspect.Type]:
    """Return what the items of a member are, where it may be a list."""
    types = info.types if isinstance(info, inspect.UnionType) else (info,)
    return [one.item_type for one in types if isinstance(one, inspect.VarTupleType)]


def _name_of(item: Any) -> str:
    """Return what an item of a list is called: its name, or the role of a reference."""
    found = item.get("name") or item.get("role") or item.get("dimension") if isinstance(item, dict) else ""
    return str(found)


def _is_pair(info: inspect.Type) -> bool:
    return isinstance(info, inspect.TupleType)


def _kind_mistake(node: Mapping, found: list[str], kinds: list[str]) -> str:
    if len(found) > 1:
        return f"a table is of one kind, not {' and '.join(found)}."
    hints = (near_names(key.text[:80], kinds) for key, _ in node.pairs)
    hint = next(filter(None, hints), "")
    return f"the kind of a table is missing: a key of {', '.join(kinds)} with its name. {hint}".strip()


def _wanted(info: inspect.Type) -> str:
    match info:
        case inspect.VarTupleType(item_type=inspect.TupleType()) | inspect.StructType():
            return "keys and values"
        case inspect.VarTupleType():
            return "a list such as [a, b]"
        case inspect.LiteralType(values=values):
            return " or ".join(str(value) for value in values if value != "")
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "a whole number"
        case inspect.NoneType():
            return "nothing"
    return "a text"


def _found(node: Node) -> str:
    if isinstance(node, Scalar):
        return "nothing" if node.is_null else shown(node.text) or "an empty text"
    return "a list" if isinstance(node, Sequence) else "keys and values"


_WIDTH = 120
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_PAIRS = ("on", "unknown", "not_applicable")
"""Members that are pairs and written as keys and values."""


def _table_lines(table: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a table, one where it is short."""
    content = {table[_KIND]: table["name"]} | {key: table[key] for key in table if key not in (_KIND, "name")}
    line = f"  - {_flow(content)}"
    if len(line) <= _WIDTH and not any(_is_nested(value) for value in content.values()) and len(content) < _MANY:
        yield line
        return
    for number, (key, value) in enumerate(content.items()):
        yield from _member_lines("  - " if number == 0 else "    ", key, value)


_MANY = 6


def _member_lines(indent: str, key: str, value: Any) -> Iterator[str]:
    line = f"{indent}{key}: {_flow(value, key)}"
    if len(line) <= _WIDTH and not (isinstance(value, list) and len(value) > 1 and _is_nested(value)):
        yield line
    elif isinstance(value, list) and _is_nested(value) and key not in _PAIRS:
        yield f"{indent}{key}:"
        yield from (f"      - {_flow(item)}" for item in value)
    else:
        yield line


def _is_nested(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, list | dict) for item in value)


def _flow(value: Any, key: str = "") -> str:
    """Write a value in one line."""
    if isinstance(value, dict) and _TEST in value:
        return _test(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_flow(each, name)}' for name, each in value.items())}}}"
    if isinstance(value, list) and key in _PAIRS:
        return f"{{{', '.join(f'{_name(left)}: {_scalar(right)}' for left, right in value)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return _scalar(value)


def _test(value: dict[str, Any]) -> str:
    rest = {name: each for name, each in value.items() if name != _TEST}
    if not rest:
        return str(value[_TEST])
    return f"{{{value[_TEST]}: {_flow(rest['values'] if list(rest) == ['values'] else rest)}}}"


_LONGEST_KEY = 250
"""What parsers of YAML take for a key without a mark before it has an end; letters may be written by ten."""


def _name(text: str) -> str:
    written = _scalar(text)
    return written if len(written) <= _LONGEST_KEY else f"? {written}"


@cache
def _escape(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if ord(letter) < 1 << 16 else f"\\U{ord(letter):08x}"


def _scalar(value: object) -> str:
    """Write a value plain where nothing else could be read of it, in quotes otherwise."""
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    text = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else _escape(letter) for letter in text)
