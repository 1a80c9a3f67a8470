"""YAML events to plain values, without recursion and within budgets.

The parser of libyaml gives the events; values are built here because a schema needs less than YAML offers: names are
always text (``no`` is a column, not a truth), only null, booleans and numbers of the core schema are more than text,
aliases share what they name, and an alias inside its own anchor is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from metl_gui.errors import SchemaError

MAX_EVENTS = 2_000_000
MAX_MERGED = 100_000

_NULL = re.compile(r"(?:~|null|Null|NULL)?")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]{1,400}")
_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_CORE_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = ("!", _CORE_TAG + "str", _CORE_TAG + "timestamp")
_TAGS = frozenset({*_TEXT_TAGS, *(_CORE_TAG + kind for kind in ("null", "bool", "int", "float", "map", "seq"))})


@dataclass(slots=True)
class _OpenCollection:
    """A collection under construction; ``name`` is a mapping's name that waits for its value."""

    value: Any
    anchor: str | None
    name: str | None = None
    merged: list[Any] = field(default_factory=list)


class _Unfinished:
    """What an anchor names until its collection ends."""


def build_yaml(text: str, max_nesting: int) -> Any:
    """Build the value of a text that holds one YAML document.

    Raises:
        SchemaError: the text is not one valid document or goes beyond the limits.
    """
    builder = _Builder(max_nesting)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for number, event in enumerate(yaml.parse(text, Loader=loader)):
            if number > MAX_EVENTS:
                raise _refusal("it holds too many values", f"More than {MAX_EVENTS:,}.")
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise _refusal("it is not valid", f"{error.problem or error.context}{place}.") from error
    except yaml.YAMLError as error:
        raise _refusal("it is not valid", str(error).splitlines()[0] + ".") from error
    return builder.result()


class _Builder:
    """Takes events one by one and keeps the collections that are still open."""

    def __init__(self, max_nesting: int) -> None:
        self._max_nesting = max_nesting
        self._open: list[_OpenCollection] = []
        self._anchors: dict[str, Any] = {}
        self._documents: list[Any] = []
        self._merged = 0

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._place(self._named(event))
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            _check_tag(event.tag)
            self._start({} if isinstance(event, yaml.MappingStartEvent) else [], event.anchor)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._end()

    def result(self) -> Any:
        if len(self._documents) != 1:
            raise _refusal(f"it holds {len(self._documents)} documents", "One file is one schema.")
        return self._documents[0]

    def _start(self, value: Any, anchor: str | None) -> None:
        if len(self._open) >= self._max_nesting:
            raise _refusal("it is nested too deeply", f"More than {self._max_nesting} levels.")
        if self._open and isinstance(self._open[-1].value, dict) and self._open[-1].name is None:
            raise _refusal("a name in it is not text", "Names in a schema are plain text.")
        if anchor is not None:
            self._anchors[anchor] = _Unfinished
        self._open.append(_OpenCollection(value, anchor))

    def _end(self) -> None:
        collection = self._open.pop()
        for source in collection.merged:
            self._merge(collection.value, source)
        if collection.anchor is not None:
            self._anchors[collection.anchor] = collection.value
        self._place(collection.value)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        collection = self._open[-1] if self._open else None
        is_name = collection is not None and isinstance(collection.value, dict) and collection.name is None
        value = event.value if is_name else _plain_value(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        self._place(value)

    def _named(self, event: yaml.AliasEvent) -> Any:
        value = self._anchors.get(event.anchor or "", _Unfinished)
        if value is _Unfinished:
            raise _refusal(f"the alias *{event.anchor} stands in or before what it names", "It can never be resolved.")
        return value

    def _place(self, value: Any) -> None:
        if not self._open:
            self._documents.append(value)
            return
        collection = self._open[-1]
        if isinstance(collection.value, list):
            collection.value.append(value)
        elif collection.name is None:
            collection.name = value if isinstance(value, str) else str(value)
        else:
            self._set(collection, value)

    def _set(self, collection: _OpenCollection, value: Any) -> None:
        name, collection.name = collection.name, None
        if name == "<<" and isinstance(value, dict | list):
            collection.merged.extend(value if isinstance(value, list) else [value])
        elif name in collection.value:
            raise _refusal(f"the name {name!r} stands twice in one mapping", "Only one of them can be meant.")
        else:
            collection.value[name] = value

    def _merge(self, target: dict[str, Any], source: Any) -> None:
        if not isinstance(source, dict):
            raise _refusal("it merges (<<) something that is not a mapping", "Only mappings can be merged.")
        self._merged += len(source)
        if self._merged > MAX_MERGED:
            raise _refusal("its merges (<<) multiply", f"More than {MAX_MERGED:,} names.")
        for name, value in source.items():
            target.setdefault(name, value)


def _check_tag(tag: str | None) -> None:
    if tag is not None and tag not in _TAGS:
        raise _refusal(f"it uses the tag {tag}", "Tags of programs are not read.")


def _plain_value(event: yaml.ScalarEvent) -> Any:
    text = event.value
    if event.tag is not None:
        _check_tag(event.tag)
        if event.tag in _TEXT_TAGS:
            return text
    elif not event.implicit[0]:
        return text
    if _NULL.fullmatch(text):
        return None
    if _BOOLEAN.fullmatch(text):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _refusal(what: str, text: str) -> SchemaError:
    return SchemaError(f"This YAML file cannot be used: {what}.", text, "Mend it there.")
