"""Where the references inside one JSON Schema document lead: pointers, anchors and embedded ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias
from urllib.parse import unquote, urldefrag, urljoin

from metl_gui.errors import SchemaError

Node: TypeAlias = Any
"""A schema node: an object or a boolean, once it is known to be valid."""

DATA_KEYWORDS = frozenset({"enum", "const", "examples", "example", "default"})
"""What stands under these is data, not schemas."""


class References:
    """The local targets of one document.

    Args:
        document: the parsed document.
        referred: other documents, by the names that references call them.

    Source: JSON Schema draft-04 to 2020-12, on identifiers; ``id`` is the older spelling of ``$id``.
    """

    def __init__(self, document: Node, referred: Mapping[str, Node] | None = None) -> None:
        self._document = document
        self._referred = dict(referred or {})
        self._targets: dict[str, Node] = {}
        self._homes: dict[int, tuple[Node, str]] = {}
        self._index()

    def resolve(self, reference: object, holder: Node) -> Node:
        """Return the node that a reference in ``holder`` names.

        Raises:
            SchemaError: it leads out of the document or nowhere.
        """
        if not isinstance(reference, str):
            raise SchemaError("A reference is not text.", f"It is {reference!r:.100}.", "Write $ref as a text.")
        home, base = self._homes.get(id(holder), (self._document, ""))
        address, fragment = urldefrag(_join(base, reference))
        start = home if address == urldefrag(base)[0] else self._targets.get(address)
        if start is None:
            start = self._referred.get(urldefrag(reference)[0])
        if start is None:
            raise SchemaError(
                f"It refers to {reference}, which is not in the file.",
                "References are followed within one file, and to what a registry names beside it.",
                "Import a version with its references resolved.",
            )
        target = self._by_fragment(start, address, unquote(fragment))
        if target is None:
            raise SchemaError(
                f"It refers to {reference}, which does not exist.", "", "Mend the reference or add what it names."
            )
        return target

    def _by_fragment(self, start: Node, address: str, fragment: str) -> Node | None:
        if not fragment:
            return start
        if not fragment.startswith("/"):
            return self._targets.get(f"{address}#{fragment}")
        node = start
        for part in fragment[1:].split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and name in node:
                node = node[name]
            elif isinstance(node, list) and name.isdecimal() and len(name) < 9 and int(name) < len(node):
                node = node[int(name)]
            else:
                return None
        return node

    def _index(self) -> None:
        waiting: list[tuple[Node, Node, str]] = [(other, other, name) for name, other in self._referred.items()]
        waiting.append((self._document, self._document, ""))
        seen: set[int] = set()
        while waiting:
            node, home, base = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, list):
                waiting.extend((item, home, base) for item in node if isinstance(item, dict | list))
            elif isinstance(node, dict):
                home, base = self._note(node, home, base)
                waiting.extend(
                    (value, home, base)
                    for name, value in node.items()
                    if isinstance(value, dict | list) and name not in DATA_KEYWORDS
                )

    def _note(self, node: dict[str, Any], home: Node, base: str) -> tuple[Node, str]:
        """Remember the ids and anchors of one node; return the resource that its members belong to."""
        for keyword in ("$id", "id"):
            named = node.get(keyword)
            if isinstance(named, str) and named:
                address, anchor = urldefrag(_join(base, named))
                if anchor:
                    self._targets.setdefault(f"{address}#{anchor}", node)
                else:
                    home, base = node, address
                    self._targets.setdefault(address, node)
        for keyword in ("$anchor", "$dynamicAnchor"):
            plain_name = node.get(keyword)
            if isinstance(plain_name, str):
                self._targets.setdefault(f"{urldefrag(base)[0]}#{plain_name}", node)
        self._homes[id(node)] = (home, base)
        return home, base


def _join(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference
