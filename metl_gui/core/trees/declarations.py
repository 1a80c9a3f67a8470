"""What a source (registry, file, message, person) says about one version of a schema or entity, before it has ids.

Readers produce these values and edits consume them; nothing in between.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from metl_gui.values import Value

KeyPaths: TypeAlias = tuple[str, ...] | None
"""Key paths in key order; ``()`` means "has no key", ``None`` means "not known"."""

TYPES = (
    "string",
    "boolean",
    "integer",
    "number",
    "int8",
    "int16",
    "int32",
    "int64",
    "float",
    "double",
    "bytes",
    "array",
    "map",
    "struct",
    "union",
    "any",
    "null",
    "unknown",
)
"""The plain types, those that people want first in front."""


EQUIVALENT_KEYWORDS = ("equivalent_to", "x-equivalent-to")
"""Under these a schema says what an attribute, or a struct with all that is in it, was called before."""


class AttributeDeclaration(Value):
    """One leaf of a declared version.

    Args:
        path: dotted path, escaped (see ``trees.paths``).
        type: the plain type, one of ``TYPES``.
        logical: logical type name (``io.debezium.time.Date``, ``date-time``), empty when there is none.
        scale: decimal scale where the logical type has one.
        optional: whether null or absence is allowed.
        doc: documentation, may be empty.
        equivalent_to: paths of the previous version that the source itself calls the same attribute (aliases).
    """

    path: str
    type: str
    logical: str = ""
    scale: int | None = None
    optional: bool = True
    doc: str = ""
    equivalent_to: tuple[str, ...] = ()


class VersionDeclaration(Value):
    """One version of a schema or entity as its source declares it.

    Args:
        name: schema name or entity name.
        attributes: leaves in source order, paths unique.
        label: the source's own version text, ``None`` when it has none.
        aliases: further names that the schema answers to (topic, subject, record name).
        key: key paths.
        inferred: types were read off data, not declared.
        source: where it came from, for people (file name, topic).
    """

    name: str
    attributes: tuple[AttributeDeclaration, ...]
    label: str | None = None
    aliases: tuple[str, ...] = ()
    key: KeyPaths = None
    inferred: bool = False
    source: str = ""

    @property
    def fingerprint(self) -> str:
        """The identity of this version's content."""
        return fingerprint(self.attributes)


def stated_equivalents(words: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the older paths that a node of a schema states, by one path or a list of them."""
    for keyword in EQUIVALENT_KEYWORDS:
        stated = words.get(keyword)
        if isinstance(stated, str) and stated:
            return (stated,)
        if isinstance(stated, list):
            return tuple(path for path in stated if isinstance(path, str) and path)
    return ()


def fingerprint(attributes: Iterable[AttributeDeclaration]) -> str:
    """Hash the set of (path, type, logical name, scale, optional); order, defaults and docs do not count.

    Source: docs/architecture/model.md, "Trees, versions, lineages".

    Returns:
        32 hexadecimal digits.
    """
    digest = hashlib.blake2b(digest_size=16)
    facts = sorted((a.path, a.type, a.logical, -1 if a.scale is None else a.scale, a.optional) for a in attributes)
    digest.update(repr(facts).encode())
    return digest.hexdigest()
