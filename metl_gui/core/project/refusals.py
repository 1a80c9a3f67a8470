"""Suggestions and rename proposals that a person refused: they are not made again until they are restored.

Source: docs/guide/mapping.md, "Be helped"; docs/reference/project-file.md, "States" (they are no part of one).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from metl_gui.core.trees.nodes import Attribute, Side


@dataclass(frozen=True, slots=True, order=True)
class RefusedSuggestion:
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


class RefusedSuggestions:
    """The refusals of a project, asked for a pair of attributes.

    A pair stays refused while its lineages or its paths are those that were refused, so that neither a later version
    nor a corrected lineage brings it back.
    """

    def __init__(self, refusals: Iterable[RefusedSuggestion] = ()) -> None:
        self._between: dict[tuple[int, int], list[RefusedSuggestion]] = {}
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


NONE_REFUSED = RefusedSuggestions()


@dataclass(frozen=True, slots=True, order=True)
class RefusedRename:
    """An attribute that is not the new name of another one, in any version of its schema or entity.

    Args:
        side, schema_id: the schema or entity of both.
        lost, candidate: their paths when it was refused.
        lost_lineage, candidate_lineage: their lineages then, 0 where nobody wrote them down.
    """

    side: Side
    schema_id: int
    lost: str
    candidate: str
    lost_lineage: int = field(default=0, compare=False)
    candidate_lineage: int = field(default=0, compare=False)


class RefusedRenames(AbstractSet[tuple[int, str, str]]):
    """The refused renames of a project, asked for a pair of attributes.

    A pair stays refused while its lineages or its paths are those that were refused: neither a later version nor an
    undone and repeated import, which gives new lineages, brings it back. As a set it holds (schema id, lost path,
    candidate path) of those between attributes of extraction schemas.
    """

    def __init__(self, refused: Iterable[RefusedRename] = ()) -> None:
        self.all = tuple(refused)
        self._of: dict[tuple[Side, int], list[RefusedRename]] = {}
        for one in self.all:
            self._of.setdefault((one.side, one.schema_id), []).append(one)
        self._named = frozenset((r.schema_id, r.lost, r.candidate) for r in self.all if r.side is Side.EXTRACTION)

    def covers(self, side: Side, schema_id: int, lost: Attribute, candidate: Attribute) -> bool:
        """Whether a pair of attributes of one schema or entity was refused."""
        return any(
            (one.lost == lost.path or one.lost_lineage == lost.lineage)
            and (one.candidate == candidate.path or one.candidate_lineage == candidate.lineage)
            for one in self._of.get((side, schema_id), ())
        )

    def __contains__(self, named: object) -> bool:
        return named in self._named

    def __iter__(self) -> Iterator[tuple[int, str, str]]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> AbstractSet[Any]:
        return frozenset(it)


NO_RENAMES_REFUSED = RefusedRenames()
