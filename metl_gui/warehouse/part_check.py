"""Hold staged parts against what their tasks said of them, within the transaction of a load."""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.own_files import checksum_of
from metl_gui.warehouse.databases.target import TargetError

_HINT = "Nothing of this load was kept. Load again: messages are staged anew."


class StagedPartError(TargetError):
    """A staged part is not what its task wrote."""


def check_bytes(parts: Sequence[StagedPart]) -> None:
    """Compare the bytes of parts with their checksums.

    Raises:
        StagedPartError: one is gone, cannot be read, or is another than its task wrote.
    """
    for part in parts:
        try:
            is_same = part.checksum is None or checksum_of(part.path) == part.checksum
        except OSError as error:
            raise StagedPartError("A staged part cannot be read", f"{part.path}: {error.strerror}.", _HINT) from error
        if not is_same:
            text = f"{part.path} has other bytes than the task that staged it wrote."
            raise StagedPartError("A staged part is damaged", text, _HINT)


def check_rows(parts: Sequence[StagedPart], rows: int) -> None:
    """Compare how many rows a target has of parts with how many their tasks wrote.

    Raises:
        StagedPartError: they differ.
    """
    written = sum(part.rows for part in parts)
    if rows != written:
        text = f"Tasks wrote {written:,} messages of {parts[0].entity if parts else 'nothing'}, {rows:,} came in."
        raise StagedPartError("Not all that was staged came in", text, _HINT)
