"""The report of a run: what was read and what became of each record (contract.md §5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from metl_gui.engine.kernel_figures import KernelFigures
from metl_gui.errors import BugError


class Tally(msgspec.Struct, kw_only=True):
    """What was counted so far; one a task, added up for the run.

    Each record is in exactly one of ``mapped``, ``filtered``, ``set_aside`` and ``skipped``. ``by_version`` counts
    those whose version was told, whatever became of them, by ``schema@version``; ``by_attribute`` the messages in which
    a mapped attribute of ``entity@version`` is not null, by its CDM path.

    Units:
        bytes_in: bytes of the records read. bytes_out: bytes of the messages sent. Line ends are not counted.
    """

    read: int = 0
    mapped: int = 0
    filtered: int = 0
    set_aside: int = 0
    skipped: int = 0
    messages_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    from_unreviewed: dict[str, int] = {}
    by_entity: dict[str, int] = {}
    by_reason: dict[str, int] = {}
    by_skip: dict[str, int] = {}
    by_version: dict[str, int] = {}
    by_attribute: dict[str, dict[str, int]] = {}
    kernel: KernelFigures = msgspec.field(default_factory=KernelFigures)

    def add(self, other: Tally) -> None:
        """Add what another task counted."""
        for name in self.__struct_fields__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, int):
                setattr(self, name, mine + theirs)
            elif isinstance(mine, KernelFigures):
                mine.add(theirs)
            elif name == "by_attribute":
                self.by_attribute = {
                    entity: _added(mine.get(entity, {}), theirs.get(entity, {})) for entity in mine | theirs
                }
            else:
                setattr(self, name, _added(mine, theirs))


def _added(mine: Mapping[str, int], theirs: Mapping[str, int]) -> dict[str, int]:
    # A lane adds up after every few records; two counters take ten times as long.
    total = dict(mine)
    for name, count in theirs.items():
        total[name] = total.get(name, 0) + count
    return total


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report of one finished run.

    Args:
        source: what was read.
        is_replay: it was an error store, and what was read had been set aside before.
        outputs: the folder (or topic pattern) that the messages went to, empty for ``noop``.
        errors: the folder of the error store, empty when nothing was set aside.
        problems: what a person should know although the run finished (a file that grew, files left out).
        batches: how many batches are in place, 0 for a run that was done all at once.
        states: every state that it mapped with, in the order of use, where there is more than one.
        checkpoint: the folder from which it can go on.
        is_stopped: somebody stopped it, or it died; what its batches put in place is counted.
        failure: why it ended before its time, empty when it did not.
        outcome: how it ended where it did not reach its end and cannot go on; what was counted until then is counted.
        format: how the messages were written there.
    """

    run_id: str
    mode: str
    spark: str
    state: int
    hash: str
    seconds: float
    read: int
    mapped: int
    filtered: int
    set_aside: int
    skipped: int
    messages_out: int
    from_unreviewed: dict[str, int]
    bytes_in: int
    bytes_out: int
    by_entity: dict[str, int]
    by_reason: dict[str, int]
    by_skip: dict[str, int]
    records_per_second: float
    by_version: dict[str, int] = {}
    by_attribute: dict[str, dict[str, int]] = {}
    kernel: KernelFigures = msgspec.field(default_factory=KernelFigures)
    outputs: str = ""
    errors: str = ""
    problems: tuple[str, ...] = ()
    source: str = ""
    is_replay: bool = False
    batches: int = 0
    states: tuple[int, ...] = ()
    checkpoint: str = ""
    is_stopped: bool = False
    failure: str = ""
    outcome: Literal["", "cancelled", "killed"] = ""
    format: str = "jsonl"

    def as_json(self) -> dict[str, Any]:
        """Return the document of contract.md §5 with ``outputs`` and ``errors``."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


def check_sums(tally: Tally) -> None:
    """Prove that every record is counted once and every part adds up to its whole.

    Raises:
        BugError: a sum is off; then no report is written.
    """
    sums = {
        "read": (tally.read, tally.mapped + tally.filtered + tally.set_aside + tally.skipped),
        "messages_out": (tally.messages_out, sum(tally.by_entity.values())),
        "set_aside": (tally.set_aside, sum(tally.by_reason.values())),
        "skipped": (tally.skipped, sum(tally.by_skip.values())),
    }
    wrong = [f"{name} is {whole}, its parts make {parts}" for name, (whole, parts) in sums.items() if whole != parts]
    if wrong:
        raise BugError(f"the counts of the run do not add up: {'; '.join(wrong)}")
