"""YAML as nodes that know their lines, within budgets: for files whose mistakes are told where they stand.

Scalars stay text, for what reads them knows which type it wants: ``on`` is a name, ``2015-01-01`` what was written.
Anchors, aliases and tags are refused: nothing that people write here needs them, and few bytes of them become many.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec
import yaml

from metl_gui.errors import SchemaError
from metl_gui.values import Value

MAX_BYTES = 1 << 20
MAX_NESTING = 16
MAX_VALUES = 100_000

_TEXT_TAGS = (None, "!", "tag:yaml.org,2002:str")


class Scalar(Value):
    """A text.

    Args:
        line: where it begins, from 1.
        text: as it was written, without its quotes.
        is_plain: it has no quotes.
    """

    line: int
    text: str
    is_plain: bool = False

    @property
    def is_null(self) -> bool:
        """Whether there is nothing."""
        return self.is_plain and self.text in ("", "~", "null", "Null", "NULL")


class Sequence(Value):
    """A list."""

    line: int
    items: list[Node] = msgspec.field(default_factory=list)


class Mapping(Value):
    """Pairs, in the order of the text; no key stands there twice."""

    line: int
    pairs: list[tuple[Scalar, Node]] = msgspec.field(default_factory=list)

    def get(self, key: str) -> Node | None:
        """Return the value of a key, ``None`` where there is none."""
        return next((value for name, value in self.pairs if name.text == key), None)


Node: TypeAlias = Scalar | Sequence | Mapping


def read_nodes(text: str) -> Node:
    """Read a text that holds one YAML document.

    Raises:
        SchemaError: it is none, holds what is refused, or goes beyond the limits; with its line.
    """
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise SchemaError("The file is too large.", f"More than {MAX_BYTES:,} bytes.")
    builder = _Builder()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"Line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise SchemaError("The file is no YAML.", f"{place}{error.problem or error.context}.") from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise SchemaError("The file is no YAML.", f"{str(error).splitlines()[0]}.") from error
    return builder.result()


class _Builder:
    """Takes events one by one and keeps the collections that are still open."""

    def __init__(self) -> None:
        self._open: list[tuple[Sequence | Mapping, dict[str, int]]] = []
        self._key: list[Scalar | None] = []
        self._documents: list[Node] = []
        self._count = 0

    def take(self, event: yaml.Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _refusal(line, "anchors and aliases are not read here", "Write the values out.")
        if isinstance(event, yaml.ScalarEvent):
            if event.tag not in _TEXT_TAGS:
                raise _refusal(line, "tags are not read here", "Leave the ! and what follows it out.")
            self._place(Scalar(line, event.value, event.implicit[0]))
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._start(event, line)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._key.pop()
            self._place(self._open.pop()[0])

    def result(self) -> Node:
        if len(self._documents) != 1:
            raise SchemaError(f"The file holds {len(self._documents)} documents.", hint="One file is one document.")
        return self._documents[0]

    def _start(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, line: int) -> None:
        if event.tag not in (None, "!"):
            raise _refusal(line, "tags are not read here", "Leave the ! and what follows it out.")
        if len(self._open) >= MAX_NESTING:
            raise _refusal(line, f"it is nested more than {MAX_NESTING} levels deep")
        if self._open and isinstance(self._open[-1][0], Mapping) and self._key[-1] is None:
            raise _refusal(line, "a key is no text", "Write it in quotes.")
        made = Mapping(line) if isinstance(event, yaml.MappingStartEvent) else Sequence(line)
        self._open.append((made, {}))
        self._key.append(None)

    def _place(self, node: Node) -> None:
        self._count += 1
        if self._count > MAX_VALUES:
            raise _refusal(node.line, f"there are more than {MAX_VALUES:,} values")
        if not self._open:
            self._documents.append(node)
            return
        parent, lines = self._open[-1]
        key = self._key[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif key is not None:
            parent.pairs.append((key, node))
            self._key[-1] = None
        elif isinstance(node, Scalar):
            if node.text in lines:
                raise _refusal(node.line, f"{shown(node.text)} stands in line {lines[node.text]} already")
            lines[node.text] = node.line
            self._key[-1] = node


def shown(text: str) -> str:
    """Write a text of the file in an error, cut where it is long."""
    return text if len(text) <= 60 else f"{text[:60]}…"


def _refusal(line: int, why: str, hint: str = "") -> SchemaError:
    return SchemaError("The file cannot be read.", f"Line {line}: {why}.", hint)
