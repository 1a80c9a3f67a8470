"""How far a review is: confirmed blocks, the share of a run's records that they map, what was settled lately.

``settled_since`` reads from the newest states of the log back to a moment. Source: docs/guide/change.md, "Reviewing";
docs/reference/report.md (what a run counts by version).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, time

from msgspec.structs import replace

from metl_gui.core.changes.draft import BlockChange
from metl_gui.core.matrix.blocks import Block
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.review.items import ReviewItem, group_of
from metl_gui.core.review.settled import PastEdit, ResolvedBlock, ResolvedBlocks
from metl_gui.store.edit_log import LoggedEdit
from metl_gui.values import Value
from metl_gui.workbench.session import Workbench

_RUNS_LOOKED_AT = 10


class ReviewProgress(Value):
    """How far a review is.

    Args:
        confirmed, blocks: blocks that a person has confirmed, of all.
        settled_records, records: records of the newest run whose version waits for nothing, of all that it counted;
            both 0 when no run has counted them by version.
    """

    confirmed: int
    blocks: int
    settled_records: int = 0
    records: int = 0

    @property
    def share(self) -> float:
        """How much is done, by records where they are known.

        Units: 0 to 1.
        """
        if self.records:
            return self.settled_records / self.records
        return self.confirmed / self.blocks if self.blocks else 1.0

    def words(self) -> str:
        """Describe how far it is."""
        said = f"{self.confirmed:,} of {self.blocks:,} block{'' if self.blocks == 1 else 's'} confirmed"
        return f"{said} · {percent(self.share)} of the last run's records" if self.records else said


def percent(share: float) -> str:
    """Write a share such that only all is 100 and only nothing is 0."""
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return f"{min(max(share * 100, 0.1), 99.9):.1f} %".replace(".0 %", " %")


def records_by_version(workbench: Workbench) -> dict[str, int]:
    """Return how many records of each version the newest whole run counted, by ``schema@version``; empty for none."""
    for run in workbench.kept.runs.newest(_RUNS_LOOKED_AT):
        counted = run.report.get("by_version")
        is_part = run.report.get("is_replay") or run.report.get("outcome")  # of what was left, or until it was ended
        if isinstance(counted, dict) and counted and not is_part:
            return {str(name): int(count) for name, count in counted.items() if isinstance(count, int)}
    return {}


def records_by_id(document: Document, counted: Mapping[str, int]) -> dict[int, int]:
    """Find the versions that a run counted; those that are gone are left out."""
    found: dict[int, int] = {}
    for name, count in counted.items():
        schema_name, _, label = name.rpartition("@")
        schema = document.extraction.named(schema_name)
        version = document.extraction.labelled(schema.id, label) if schema is not None else None
        if version is not None:
            found[version.id] = found.get(version.id, 0) + count
    return found


def review_progress(
    document: Document, items: tuple[ReviewItem, ...], records: Mapping[int, int] | None = None
) -> ReviewProgress:
    """Count how far a review is.

    Args:
        document: the state.
        items: what waits in it.
        records: records of a run by schema version id.
    """
    matrix = document.matrix
    if not records:
        return ReviewProgress(matrix.confirmed, matrix.block_count)
    waiting = {key[0] for item in items for key in (item.key, *item.chain)}
    total = sum(records.values())
    settled = total - sum(count for version, count in records.items() if version in waiting)
    return ReviewProgress(matrix.confirmed, matrix.block_count, settled, total)


_READ_AT_ONCE = 200


def midnight_ms(now_ms: int) -> int:
    """Return when the day of a moment began, as the clock on the wall has it, in milliseconds since 1970."""
    day = datetime.fromtimestamp(now_ms / 1000).astimezone()
    return int(datetime.combine(day.date(), time.min).astimezone().timestamp() * 1000)


def settled_since(
    workbench: Workbench, since_ms: int, known: ResolvedBlocks | None = None, watch: Watch = UNWATCHED
) -> ResolvedBlocks:
    """Return what was settled since a moment.

    Cost: the states made since then, or since the newest one that is known already.

    Args:
        workbench: the opened project.
        since_ms: the moment.
        known: what was found before; the same moment and an earlier state of the same project.
        watch: cancel.

    Raises:
        ProjectError: the log was compacted meanwhile.
        RunCancelled: it was stopped.
    """
    newest = workbench.document.state
    start = known if known is not None and known.since_ms == since_ms and known.state <= newest else None
    found = start if start is not None else ResolvedBlocks(since_ms)
    after = found.after(_edits(workbench, found.state, since_ms, watch))
    return replace(after, state=max(after.state, newest))


def decided_with(workbench: Workbench, settled: ResolvedBlock) -> int:
    """Count the other blocks that were changed by one gesture or command with a block that was settled.

    Later blocks that the decision itself applies to are not counted: they wait for the same.

    Raises:
        EditError: it is taken back already, or the log was compacted over it.
    """
    changes = workbench.change_of_group(settled.state).blocks
    document = workbench.document
    own = next((each.before for each in changes if each.key == settled.key), None)
    asked = _asked(own)

    def is_later(change: BlockChange) -> bool:
        trees = zip((document.extraction, document.cdm), change.key, strict=True)
        is_here = all(tree.has_version(id_) for tree, id_ in trees)
        is_of_both = is_here and group_of(document, change.key) == group_of(document, settled.key)
        return is_of_both and not asked.isdisjoint(_asked(change.before))

    return sum(each.key != settled.key and not is_later(each) for each in changes)


def _asked(block: Block | None) -> frozenset[object]:
    """Return what a block waits for, by what its later blocks have in common with it."""
    return frozenset((*(loss.chain for loss in block.open_losses), *block.waits)) if block is not None else frozenset()


def _edits(workbench: Workbench, above: int, since_ms: int, watch: Watch) -> list[PastEdit]:
    """Read the edits of states above one, no older than a moment, the oldest first."""
    wanted: list[LoggedEdit] = []
    below: int | None = None
    while True:
        watch.step("Reading what was settled")
        page = workbench.log(_READ_AT_ONCE, below)
        fresh = [each for each in page if each.state > above and each.when_ms >= since_ms]
        wanted += fresh
        if len(page) < _READ_AT_ONCE or len(fresh) < len(page):
            break
        below = page[-1].state
    edits: list[PastEdit] = []
    for each in reversed(wanted):
        watch.step("Reading what was settled")
        change = workbench.change_between(each.state - each.states, each.state)
        edits.append(PastEdit(each.state, each.title, each.who, each.when_ms, change.blocks))
    return edits
