"""Suggestions that a person refused: they are not made again until they are restored.

Source: ux.md §2; not part of a state (dmm.md §9).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from metl_gui.core.nodes import Attribute


@dataclass(frozen=True, slots=True, order=True)
class Refusal:
    """An attribute of a schema that does not mean an attribute of an entity, in any version of either.

    Args:
        schema_id, p_lineage: the source: its schema and lineage.
        entity_id, q_lineage: the target: its entity and lineage.
        from_path, to_path: their paths when they were refused.
    """

    schema_id: int
    p_lineage: int
    entity_id: int
    q_lineage: int
    from_path: str = field(default="", compare=False)
    to_path: str = field(default="", compare=False)


class Refusals:
    """The refusals of a project, asked for a pair of attributes.

    A pair stays refused while its lineages or its paths are those that were refused, so that neither a later version
    nor a corrected lineage brings it back.
    """

    def __init__(self, refusals: Iterable[Refusal] = ()) -> None:
        self._lineages: set[tuple[int, int, int, int]] = set()
        self._paths: set[tuple[int, str, int, str]] = set()
        for r in refusals:
            self._lineages.add((r.schema_id, r.p_lineage, r.entity_id, r.q_lineage))
            self._paths.add((r.schema_id, r.from_path, r.entity_id, r.to_path))

    def __contains__(self, pair: tuple[int, Attribute, int, Attribute]) -> bool:
        schema_id, source, entity_id, target = pair
        return (schema_id, source.lineage, entity_id, target.lineage) in self._lineages or (
            schema_id,
            source.path,
            entity_id,
            target.path,
        ) in self._paths
