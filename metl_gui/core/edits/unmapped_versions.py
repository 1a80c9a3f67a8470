"""Map versions of which nobody has decided anything as the other versions of their schemas are mapped.

Versions that come after a mapped one take its mapping over by themselves; those that arrive after a newer one do not.

Source: docs/architecture/model.md, "Edits of several versions".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.version_scope import ScopePlan, VersionScope, carried
from metl_gui.core.matrix.blocks import BlockKey, Status
from metl_gui.core.matrix.document import Document
from metl_gui.values import Value


class LikeOthers(Value):
    """Versions that can be mapped like the others of their schemas.

    Args:
        models: what the blocks that they are mapped like hold, as edits.
        blocks: the blocks that nobody has decided on.
        plan: what mapping these means.
    """

    models: tuple[SetElements, ...]
    blocks: frozenset[BlockKey]
    plan: ScopePlan

    @property
    def versions(self) -> int:
        """How many versions would be mapped."""
        return len({edit.key[0] for edit in self.plan.edits})


def plan_like_others(document: Document, versions: Iterable[int]) -> LikeOthers:
    """Work out how versions can be mapped as the newest mapped version of their schema is, to each entity version.

    Only blocks that are not there take part: none that has elements, waits, or was retired. One of which all elements
    were cleared is as one that never had any.

    Args:
        document: the state.
        versions: ids of versions of schemas.

    Cost: the blocks and the lineages of all versions of these schemas, once for each entity version they are mapped to.
    """
    extraction, matrix = document.extraction, document.matrix
    schemas: dict[int, list[int]] = {}
    for version in versions:
        schemas.setdefault(extraction.schema_of(version), []).append(version)
    models, blocks = [], set()
    for schema, wanted in schemas.items():
        for model in _newest_mapped(document, schema):
            open_ = {(v, model.key[1]) for v in wanted if matrix.block(v, model.key[1]) is None}
            if open_:
                models.append(model)
                blocks |= open_
    return LikeOthers(tuple(models), frozenset(blocks), carried(document, models, VersionScope.ALL, only=blocks))


def _newest_mapped(document: Document, schema: int) -> Iterator[SetElements]:
    """Yield, for each entity version that a schema is mapped to, what its newest mapped version has there."""
    found: set[int] = set()
    for version in reversed(document.extraction.schema(schema).version_ids):
        for block in document.matrix.column_set(version):
            if not block.is_null and block.status is not Status.RETIRED and block.key[1] not in found:
                found.add(block.key[1])
                status = Status.UNCONFIRMED if block.is_unconfirmed else Status.CONFIRMED
                yield SetElements(block.key, block.elements, status=status)
