"""What a rebuild of a target would do, and how long it would take, by what loads of that target took."""

from __future__ import annotations

import msgspec

from metl_gui.core.counted import number_of


class RebuildCost(msgspec.Struct, frozen=True, kw_only=True):
    """What a rebuild makes anew, by what stands in the target.

    Args:
        tables: how many.
        rows: in all of them.
        versions: rows of dimensions among them.
        facts: rows of facts whose keys are looked up anew.
        minutes: estimated; ``None`` where no load was measured.
    """

    tables: int
    rows: int
    versions: int
    facts: int
    minutes: float | None = None

    @property
    def words(self) -> str:
        """It in a line: ``12 rows in 3 tables anew, 5 versions, 4 facts re-keyed, under a minute``."""
        counts = f"{number_of(self.rows, 'row')} in {number_of(self.tables, 'table')} anew"
        parts = [counts, number_of(self.versions, "version"), f"{number_of(self.facts, 'fact')} re-keyed"]
        if self.minutes is not None:
            parts.append("under a minute" if self.minutes < 1 else f"about {number_of(round(self.minutes), 'minute')}")
        return ", ".join(parts)
