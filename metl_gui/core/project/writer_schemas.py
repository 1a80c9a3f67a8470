"""Writer schemas: what registries call the bytes of messages by, and what is needed to read these bytes.

An id never changes its meaning, so writer schemas stand beside the states and are not undone. What hangs on the state
is the version that one belongs to: the version of its schema with the same fingerprint, if the trees have it.

Source: docs/architecture/model.md, "Trees, versions, lineages" (ids belong to versions); docs/reference/cdc.md, "Avro
on the wire".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metl_gui.core.trees.nodes import Side, Version
from metl_gui.values import Value

if TYPE_CHECKING:
    from metl_gui.core.matrix.document import Document  # with libraries that workers of a cluster do not have

AVRO, JSON = "avro", "json"
RABIN = "rabin:"
"""Begins what single-object encoding calls a schema."""

_OF_REGISTRY = re.compile(r"(?:content:|global:)?\d{1,20}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)

FRAMINGS = ("auto", "confluent", "apicurio4", "apicurio8", "none")
"""How the values of a topic say which schema wrote them; the first one tells by trying."""


class WriterSchema(Value):
    """One writer schema.

    Args:
        id: what messages call it: a number as text, ``content:`` or ``global:`` and a number, a GUID, or ``rabin:``
            and the fingerprint of single-object encoding.
        kind: ``avro``, or ``json`` where the value is JSON text behind its frame.
        text: the schema, which refers to nothing outside; empty for JSON.
        schema: name of the schema of the trees whose rows, keys or events it writes.
        fingerprint: of the version whose rows it writes, empty where it writes none.
    """

    id: str
    kind: str
    text: str
    schema: str
    fingerprint: str = ""

    @property
    def is_of_registry(self) -> bool:
        """Whether a registry gave it its id."""
        return not self.id.startswith(RABIN)


def is_registry_id(text: str) -> bool:
    """Return whether a text can be an id that a registry gave; in headers of messages there may stand anything."""
    return _OF_REGISTRY.fullmatch(text) is not None


def of_content(number: int | str) -> str:
    """Name a schema by a content id."""
    return f"content:{number}"


def of_global(number: int | str) -> str:
    """Name a schema by a global id."""
    return f"global:{number}"


def of_rabin(fingerprint: int) -> str:
    """Name a schema by its fingerprint in single-object encoding."""
    return f"{RABIN}{fingerprint:016x}"


def version_of(document: Document, wire: WriterSchema) -> Version | None:
    """Find the version whose rows a schema writes, ``None`` where the trees do not have it."""
    schema = document.tree(Side.EXTRACTION).named(wire.schema) if wire.fingerprint else None
    if schema is None:
        return None
    versions = document.tree(Side.EXTRACTION).versions(schema.id)
    return next((version for version in versions if version.fingerprint == wire.fingerprint), None)
