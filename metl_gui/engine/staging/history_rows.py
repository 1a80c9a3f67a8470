"""Messages whose values are found in their text, as rows of a history."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.loads.mask_key import MaskKey
from metl_gui.engine.kernel.message_fields import AlikeMessages, Places
from metl_gui.engine.kernel.message_layout import Layout, MessageKind
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import EntityPlan
from metl_gui.engine.sinks.message_columns import NAMED
from metl_gui.engine.sinks.sink import RejectedRecord
from metl_gui.engine.sinks.typed_rows import NAMED_COLUMNS, TypedRows
from metl_gui.engine.staging.columns import history_columns
from metl_gui.engine.staging.rows import ABSENT, TIME_COLUMNS, MessageHeads, absent_columns, staged_rows

_NAMED = tuple(TIME_COLUMNS.get(one.path, one) for one in NAMED_COLUMNS)
"""Messages as they say it of themselves, with times as times."""


def publication_or_state(kind: MessageKind) -> int:
    """Return the number of the publication; test runs, which have none, go by the number of the state."""
    return kind.state if kind.publication is None else kind.publication


class HistoryRows:
    """Makes rows of a history of the messages of one entity version.

    Args:
        plan: the entity version.
        history: of the entity.
        mask_key: of the hashes that the history keeps.
        publication: the number of the publication of messages.
    """

    def __init__(
        self,
        plan: EntityPlan,
        history: EntityHistory,
        mask_key: MaskKey | None,
        publication: Callable[[MessageKind], int] = publication_or_state,
    ) -> None:
        self.history, self.mask_key = history, mask_key
        found = history_columns(plan, history)
        self.names = [kept.name for kept, _ in found]
        self.rows = TypedRows(plan, [column for _, column in found], _NAMED)
        self._publication = publication

    def table(
        self, batch: MappedBatch, alike: Sequence[AlikeMessages]
    ) -> tuple[pa.Table, Places, dict[int, RejectedRecord]]:
        """Read messages into rows; see ``TypedRows.table``."""
        found, numbers, named, leaves, _, refused = self.rows.read(batch, alike)
        by_name = dict(zip(NAMED, named, strict=True))
        heads = MessageHeads(
            schema=found.shared(lambda layout: layout.kind.schema, pa.string()),
            schema_version=found.shared(lambda layout: layout.kind.version, pa.string()),
            entity_version=found.shared(lambda layout: layout.kind.entity_version, pa.string()),
            op=found.shared(lambda layout: layout.kind.op, pa.string()),
            publication=found.shared(lambda layout: self._publication(layout.kind), pa.int64()),
            key=by_name["key"],
            old_key=by_name["old_key"],
            origin=by_name["origin"],
            committed_at=by_name["committed_at_ms"],
            seen_at=by_name["ts_ms"],
            position=by_name["position"],
            snapshot=by_name["snapshot"],
            absent=found.shared(self._absent, ABSENT),
        )
        payload = dict(zip(self.names, leaves, strict=True))
        return staged_rows(self.history, heads, payload, self.mask_key), numbers, refused

    def _absent(self, layout: Layout) -> list[str]:
        return absent_columns(self.history, layout.kind.entity_version, layout.paths.payload)
