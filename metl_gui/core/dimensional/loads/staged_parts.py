"""Staged messages: what a part says of each message, in files that any room can read.

A part is a Parquet file of one entity, in the folder of that entity: ``COLUMNS``, then one column for each column of
its history. The reader takes ``batch`` for its own; a place in the log has no epoch before it yet.
"""

from __future__ import annotations

import msgspec

COLUMNS = (
    *("schema", "row_key", "order_key", "op", "publication", "schema_version", "entity_version", "committed_at"),
    *("seen_at", "position_log", "position_partition", "position_offset", "snapshot", "old_key", "absent"),
)
"""Columns of every part, in this order; ``absent`` names the columns of the history that a message does not carry."""

INFINITE_TIMES = (-9_223_372_036_832_400_000, 9_223_372_036_825_200_000)
"""Microseconds that stand for infinite times in columns of timestamps and instants.

They are those that Debezium sends for them where times are numbers. All other times lie in the years 1 to 9999.
"""

INFINITE_DATES = (-625_821_272, -622_191_234)
"""Days that stand for dates before and after all others, as Debezium sends them: both lie far in the past."""


class StagedPart(msgspec.Struct, frozen=True):
    """One part.

    Args:
        entity: whose messages it holds.
        path: the file.
        rows: how many its task wrote.
        checksum: CRC-32 of the bytes that it wrote; ``None`` where nobody said.
    """

    entity: str
    path: str
    rows: int
    checksum: int | None = None
