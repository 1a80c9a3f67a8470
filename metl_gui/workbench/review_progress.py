"""How far a review is: blocks that are confirmed, and the share of a run's records that they map.

Source: ux.md §4, contract.md §5 (what a run counts by version).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import ReviewItem
from metl_gui.workbench.session import Workbench

_RUNS_LOOKED_AT = 10


@dataclass(frozen=True, slots=True)
class ReviewProgress:
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
        """Say how far it is."""
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
