"""Why a row of a dimension or fact is as it is: which message brought the value of each column."""

from __future__ import annotations

from datetime import datetime

import msgspec


class MessageOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """A message, and where it came from.

    Args:
        schema, schema_version, entity_version: by which block it was mapped.
        row_key: of its source row.
        op: what was done.
        committed_at: by its source, as far as that can be right.
        log, partition, offset: of its topic or file.
        publication: of the mapping; of test runs the state.
        load: that brought it, which is named as its run.
    """

    schema: str
    schema_version: str
    entity_version: str
    row_key: str
    op: str
    committed_at: datetime
    log: str
    partition: int
    offset: int
    publication: int
    load: str = ""

    @property
    def places(self) -> tuple[str, ...]:
        """Return the position as runs may have written it: in a topic, or in a file; empty where it is not known."""
        if not self.log:
            return ()
        of_topic, of_file = f"{self.log}/{self.partition}/{self.offset}", f"{self.log}@{self.offset}"
        return (of_topic,) if self.partition else (of_topic, of_file)

    @property
    def words(self) -> str:
        """Return it in words."""
        where = f"{self.log}, partition {self.partition}, offset {self.offset}" if self.log else "no known position"
        time = self.committed_at.isoformat(" ", "milliseconds")[:23]
        return f"{self.op} of {self.schema}@{self.schema_version} {self.row_key}, {time}, {where}"


class ColumnReason(msgspec.Struct, frozen=True, kw_only=True):
    """Why a column has its value.

    Args:
        column: its name; of what a reference looks up its role.
        value: for people to read.
        how: which of all values it is, or that there is none.
        is_expression: it is made by an expression or a conversion.
        uses: columns of the history that it is made of.
        brought_by: by column of the history, the message that its value came with.
    """

    column: str
    value: str
    how: str
    is_expression: bool
    uses: tuple[str, ...]
    brought_by: dict[str, MessageOrigin]


class ReferringRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row because of which a member is inferred, the first by its time of those that refer to it by one reference.

    Args:
        table, key: the row, by its business key or grain.
        role: by which reference.
        rows: how many refer to the member by it.
        columns: what the reference looks up, and what brought it; empty where the row refers to another member today.
    """

    table: str
    key: tuple[str, ...]
    role: str
    rows: int
    columns: tuple[ColumnReason, ...] = ()

    @property
    def words(self) -> str:
        """Return it in words."""
        more = f", as {self.rows - 1:,} more {'rows do' if self.rows > 2 else 'row does'}" if self.rows > 1 else ""
        return f"{self.table} {', '.join(self.key)} refers to it by {self.role}{more}"


class RowReason(msgspec.Struct, frozen=True, kw_only=True):
    """Why a row is as it is.

    Args:
        table: the dimension or fact.
        key: values of its business key or grain.
        version: number of the version; 0 for a fact and an inferred member.
        since, until: when the version begins and ends; ``None`` for one that covers the time before it, or is open.
        is_inferred: no message brought the member, or what it was before its first version; something refers to it.
        opened_by: the message that opened the version.
        follows: dimensions of which a new version opened this one, in the place of a message.
        columns: one a column, then what references look up.
        inferred_by: of an inferred row, because of what it is there.
    """

    table: str
    key: tuple[str, ...]
    version: int = 0
    since: datetime | None = None
    until: datetime | None = None
    is_inferred: bool = False
    opened_by: MessageOrigin | None = None
    follows: tuple[str, ...] = ()
    columns: tuple[ColumnReason, ...] = ()
    inferred_by: tuple[ReferringRow, ...] = ()

    @property
    def inferred_words(self) -> str:
        """Return of an inferred row that it is one, in words."""
        if self.until is None:
            return "is inferred: no message brought it; it is there as something refers to it."
        return (
            f"before {self.until.isoformat()} is inferred: no message tells of that time, and something refers to it."
        )
