"""Epochs of a target: the answers that are known, and the question where a log went back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from metl_gui.core.dimensional.rows.epochs import MOST_EPOCHS, EpochStart, Fall, head, start_of
from metl_gui.core.dimensional.rows.messages import Position
from metl_gui.core.dimensional.rows.replays import WHOLE
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.plans.histories.epoch_plan import CREATE_SPANS, EPOCHS, SPANS, starts_query
from metl_gui.warehouse.plans.statements import name

_SHOWN = 5


class LogFellError(TargetError):
    """A log of a source went back, and nobody said why."""

    @classmethod
    def at(cls, title: str, falls: Sequence[Fall], mode: str) -> LogFellError:
        """Return the question.

        Args:
            title: of the target.
            falls: one for each part of a log.
            mode: of the runs that it takes.
        """
        schema = falls[0].schema
        places = " ".join(f"--from '{shown(one.position)}'" for one in falls if one.schema == schema)
        of_mode = "" if mode == "test" else f" --mode {mode}"
        more = f" and {len(falls) - 1} more" if len(falls) > 1 else ""
        return cls(
            f"The log of {schema} went back",
            f"{shown(falls[0].position)}{more} was written before messages that lie before it in {title}. "
            "Was it a failover, a restore, or a new connector?",
            f"Then: metl warehouse epoch PROJECT {schema} --target T {places}{of_mode}. "
            "If old messages were sent again, add --same.",
        )


def shown(position: Position) -> str:
    """Return a position as people write it; names of files begin with a mark."""
    log, partition, offset = position
    return f"{log}@{offset}" if log.startswith("#") else f"{log}/{partition}/{offset}"


def known_starts(target: WarehouseTarget) -> tuple[EpochStart, ...]:
    """Return the answers that a target has."""
    found = target.rows(starts_query())
    return tuple(EpochStart(s, Position(log, int(part), int(first)), int(n)) for s, log, part, first, n in found)


def prepare_spans(target: WarehouseTarget) -> bool:
    """Make the table of epochs that plans ask, and return whether there are any."""
    target.run(CREATE_SPANS)
    starts = known_starts(target)
    for start, behind in _spans(starts):
        values = [start.schema, *start.position, behind, head(start.epoch)]
        target.run(f"INSERT INTO {name(SPANS)} VALUES (?, ?, ?, ?, ?, ?)", values)
    return bool(starts)


def check_falls(target: WarehouseTarget, falls: str, mode: str) -> None:
    """Refuse a batch in which a log went back.

    Args:
        target: within a transaction.
        falls: table of what was found.
        mode: of the runs that the target takes.

    Raises:
        LogFellError: it did; the error names where, and the command that answers.
    """
    query = f"SELECT * FROM {name(falls)} ORDER BY 1, 2, 3 LIMIT {_SHOWN}"
    found = [Fall(schema, Position(log, int(part), int(offset))) for schema, log, part, offset in target.rows(query)]
    if found:
        raise LogFellError.at(target.title, found, mode)


def keep_starts(target: WarehouseTarget, schema: str, positions: Sequence[Position], *, is_same: bool) -> int:
    """Keep an answer, and return the epoch that begins.

    Args:
        target: within a transaction.
        schema: whose log went back.
        positions: from which on, one a partition or file.
        is_same: old messages were sent again: their epoch goes on.

    Raises:
        TargetError: an answer is known from there on or from behind there, or there are too many.
    """
    starts = known_starts(target)
    for position in positions:
        later = [one for one in starts if _is_behind(one, schema, position)]
        if later:
            text = f"From {shown(later[0].position)} on, {schema} is in epoch {later[0].epoch}."
            raise TargetError("An epoch is known that begins there or later", text, "Name a position behind it.")
    epoch = max((one.epoch for one in starts if one.schema == schema), default=0) + 1
    if epoch > MOST_EPOCHS:
        raise TargetError("There are too many epochs", f"{schema} has {epoch - 1}.", "Load into another target.")
    for position in positions:
        number = start_of(schema, position, starts).epoch if is_same else epoch
        target.run(f"INSERT INTO {EPOCHS} VALUES (?, ?, ?, ?, ?)", [schema, *position, number])
    return epoch


def _is_behind(start: EpochStart, schema: str, position: Position) -> bool:
    same = (start.schema, *start.position[:2]) == (schema, *position[:2])
    return same and start.position.offset >= position.offset


def _spans(starts: Sequence[EpochStart]) -> Iterator[tuple[EpochStart, int]]:
    """Yield each start with the offset before which it holds."""
    for _, of_log in groupby(starts, key=lambda one: (one.schema, *one.position[:2])):
        found = list(of_log)
        behind = [*(one.position.offset for one in found[1:]), WHOLE]
        yield from zip(found, behind, strict=True)
