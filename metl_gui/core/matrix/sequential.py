"""Sparse sequential mapping (A1): the slow oracle that the engine is compared with.

Never on a production path: it looks at every entity version, mapped or not. Source: docs/architecture/model.md,
"Algorithms" (A1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from metl_gui.core.matrix.document import Document
from metl_gui.values import Value

T = TypeVar("T")


class SequentialMessage(Value, Generic[T]):
    """One outgoing message: every attribute of an entity version, null where nothing is mapped."""

    entity: str
    entity_version: str
    payload: dict[str, T | None]


def map_sequentially(document: Document, version_id: int, values: Mapping[str, T]) -> tuple[SequentialMessage[T], ...]:
    """Map the values of one message to every entity version.

    Args:
        document: the state to map with.
        version_id: the schema version v of the message.
        values: value by attribute path; missing means null.

    Returns:
        One message for each block of the column of v, zero or not, in the order of the CDM tree.
    """
    paths = {a.id: a.path for a in document.extraction.version(version_id).attributes}
    messages: list[SequentialMessage[T]] = []
    for entity in document.cdm.schemas():
        for entity_version in document.cdm.versions(entity.id):
            block = document.matrix.block(version_id, entity_version.id)
            source = {q: paths[p] for q, p in block.elements} if block else {}
            payload = {a.path: values.get(source[a.id]) if a.id in source else None for a in entity_version.attributes}
            messages.append(SequentialMessage(entity.name, entity_version.label, payload))
    return tuple(messages)
