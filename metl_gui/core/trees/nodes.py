"""The nodes of the extraction tree and the CDM tree: schema or entity, version, attribute.

Ids are positive integers that never change and are never used again. Schema, version, attribute and lineage ids are
counted apart, and apart for each tree.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec.structs import replace

from metl_gui.core.trees.declarations import KeyPaths
from metl_gui.values import Value


class Side(StrEnum):
    """Which of the two trees: columns (extraction) or rows (CDM)."""

    EXTRACTION = "extraction"
    CDM = "cdm"

    __hash__ = str.__hash__  # that of enumerations is Python code, and sides are keys everywhere


class Attribute(Value):
    """A leaf of one version: a_p in the extraction tree, c_q in the CDM tree.

    Args:
        id: p or q.
        path: dotted path, escaped (``trees.paths``).
        type: plain type (``trees.declarations.AttributeDeclaration``).
        lineage: id of the lineage; equal lineages of one tree mean equivalent attributes.
        logical, scale, optional, doc: as declared.
    """

    id: int
    path: str
    type: str
    lineage: int
    logical: str = ""
    scale: int | None = None
    optional: bool = True
    doc: str = ""

    @property
    def type_text(self) -> str:
        """The type as people read it: the logical name's last part when there is one, with its scale."""
        name = self.logical.rsplit(".", 1)[-1] if self.logical else self.type
        return name if self.scale is None else f"{name}({self.scale})"


class Version(Value):
    """A version of a schema or entity.

    Args:
        id: v or w, unique within its tree.
        schema_id: the schema or entity it belongs to.
        labels: every label the version goes by, the first one is shown. Never empty.
        attributes: in source order.
        fingerprint: identity of the content (``trees.declarations.fingerprint``).
        key: key paths in key order, ``()`` for none, ``None`` for unknown.
        inferred: types were read off data.
        source: where it came from.
    """

    id: int
    schema_id: int
    labels: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    fingerprint: str
    key: KeyPaths = None
    inferred: bool = False
    source: str = ""

    @property
    def label(self) -> str:
        """The label shown to people and written into messages."""
        return self.labels[0]

    def attribute(self, id_: int) -> Attribute | None:
        """Find an attribute of this version by id."""
        return next((a for a in self.attributes if a.id == id_), None)

    def at_path(self, path: str) -> Attribute | None:
        """Find an attribute of this version by its dotted path."""
        return next((a for a in self.attributes if a.path == path), None)

    def of_lineage(self, lineage: int) -> Attribute | None:
        """Find the one attribute of this version that belongs to a lineage."""
        return next((a for a in self.attributes if a.lineage == lineage), None)


class IgnoredAttribute(Value, order=True):
    """An attribute that a person said is never to be mapped, in any version.

    Args:
        lineage: of the attribute.
        reason: why, in the person's words.
        who, when_ms: who said so, and when (milliseconds since 1970).
    """

    lineage: int
    reason: str = ""
    who: str = ""
    when_ms: int = 0


class Schema(Value):
    """An extraction schema s_o or, in the CDM tree, a business entity be_r.

    Args:
        id: o or r, unique within its tree.
        name: schema name or entity name.
        version_ids: ids of its versions, oldest first.
        aliases: further names it answers to.
        settings: sorted (name, value) pairs: ``key``, ``replica_identity``, ``version_field``, ``placeholder``,
            ``framing``, ``time_zone``, ``ask``, ``meanwhile`` for schemas, ``policy`` (``newest`` | ``parallel``) for
            entities, ``mask`` for both.
        succeeds: (newer, older) pairs of lineages of which one took over from the other without being the same.
        ignored: attributes that are never to be mapped, by lineage; nothing maps any of them.
    """

    id: int
    name: str
    version_ids: tuple[int, ...]
    aliases: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    succeeds: tuple[tuple[int, int], ...] = ()
    ignored: tuple[IgnoredAttribute, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Every name it answers to."""
        return frozenset((self.name, *self.aliases))

    @property
    def ignored_lineages(self) -> frozenset[int]:
        """Lineages of the attributes that are never to be mapped."""
        return frozenset(each.lineage for each in self.ignored)

    def setting(self, name: str, default: str = "") -> str:
        """Return one setting, or the default when it was never set."""
        return next((value for key, value in self.settings if key == name), default)

    def with_setting(self, name: str, value: str) -> Schema:
        """Return the schema with one setting changed; an empty value takes it away."""
        merged = {**dict(self.settings), name: value}
        return replace(self, settings=tuple(sorted((key, text) for key, text in merged.items() if text)))
