"""One business key of a dimension as it stands in a target: its messages in log order, and its versions."""

from __future__ import annotations

from datetime import datetime

from metl_gui.values import Value


class KeyMessage(Value, kw_only=True):
    """One message.

    Args:
        schema, row: its source row.
        op: what was done.
        holds_from: since when its state holds.
        is_void: a later publication holds in its place.
        values: what it carries of what the dimension uses, by column of the history.
        order_key: its place in the log of its source.
    """

    schema: str
    row: str
    op: str
    holds_from: datetime | None
    is_void: bool
    values: tuple[tuple[str, str], ...]
    order_key: str = ""


class KeyVersion(Value, kw_only=True):
    """One version.

    Args:
        number: of the version.
        since: when it begins; empty for all the time before.
        until: when it ends; empty while it is open.
        is_current, is_deleted, is_inferred: as in the table.
        values: of the columns of the dimension.
    """

    number: int
    since: datetime | None
    until: datetime | None
    is_current: bool
    is_deleted: bool
    is_inferred: bool
    values: tuple[tuple[str, str], ...]


class KeyHistory(Value, kw_only=True):
    """A business key.

    Args:
        table: the dimension.
        key: values of the business key.
        messages: in log order, of each source row in turn.
        versions: by when they begin.
        is_cut: there are more than were read.
    """

    table: str
    key: tuple[str, ...]
    messages: tuple[KeyMessage, ...] = ()
    versions: tuple[KeyVersion, ...] = ()
    is_cut: bool = False
