"""Suggestions that a person refused: they are not made again until they are restored.

Source: ux.md §2; not part of a state (dmm.md §9).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
        self._between: dict[tuple[int, int], list[Refusal]] = {}
        for refusal in refusals:
            self._between.setdefault((refusal.schema_id, refusal.entity_id), []).append(refusal)

    def pairs(
        self, schema_id: int, sources: Sequence[Attribute], entity_id: int, targets: Sequence[Attribute]
    ) -> Iterator[tuple[int, int]]:
        """Yield the refused pairs among some attributes, by their positions."""
        for refusal in self._between.get((schema_id, entity_id), ()):
            rows = [at for at, a in enumerate(sources) if refusal.p_lineage == a.lineage or refusal.from_path == a.path]
            columns = [
                at for at, a in enumerate(targets) if refusal.q_lineage == a.lineage or refusal.to_path == a.path
            ]
            yield from ((row, column) for row in rows for column in columns)


NONE_REFUSED = Refusals()
