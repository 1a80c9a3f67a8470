"""Periods that are over: days, weeks or months in a declared time zone, up to the watermark of an entity.

A period is over once every schema that ever sent has committed something later: what comes late corrects it. None is
there that ended before the first commit: what was declared to hold earlier was not known then.

Source: docs/reference/warehouse-model.md, "Periodic facts".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from metl_gui.warehouse.plans.histories.arrivals import Batch
from metl_gui.warehouse.plans.histories.state_plan import COMMIT
from metl_gui.warehouse.plans.statements import Step, name, temporary, text

_UNITS = {"day": "DAY", "week": "WEEK", "month": "MONTH"}
_OLDEST = "CAST('1970-01-01 00:00:00+00' AS TIMESTAMPTZ)"
"""No log of changes is older: a commit of before comes from a clock that was not set."""


_FARTHEST = "CURRENT_TIMESTAMP + INTERVAL '24' HOUR"
"""How far clocks of sources may go ahead of that of the target: ``core.dimensional.rows.messages.MOST_AHEAD``."""


def watermark_plan(batch: Batch) -> Iterator[Step]:
    """Yield the steps that keep, for each schema of an entity, the first and the latest commit that was ever stored.

    The first is that of all messages whatever their order: a repeat that was seen earlier than was known counts. The
    latest is not far ahead of the time of the load, as nobody has sent yet what comes then.
    """
    entity = batch.entity
    commits = " UNION ALL ".join(
        f'SELECT h.schema, {COMMIT} AS "_at", {str(table == batch.came).upper()} AS is_new FROM {name(table)} AS h'
        for table in batch.placed
    )
    query = f"""SELECT schema, MAX(CASE WHEN is_new THEN "_at" END) AS latest, MIN("_at") AS earliest
        FROM ({commits}) AS c GROUP BY schema"""
    yield temporary(f"_commits_{entity}", query, f"Find how far sources of {entity} are")
    found, of = name(f"_commits_{entity}"), text(entity)
    yield Step(
        "Keep how far they are",
        f"""UPDATE metl_watermarks AS w SET latest = LEAST(GREATEST(w.latest, f.latest), {_FARTHEST}),
          earliest = LEAST(w.earliest, f.earliest)
        FROM {found} AS f WHERE w.entity = {of} AND w.schema = f.schema""",
    )
    yield Step(
        "Keep how far new ones are",
        f"""INSERT INTO metl_watermarks SELECT {of}, f.schema, LEAST(f.latest, {_FARTHEST}), f.earliest
        FROM {found} AS f
        WHERE NOT EXISTS (SELECT 1 FROM metl_watermarks AS w WHERE w.entity = {of} AND w.schema = f.schema)""",
    )


class Periods(NamedTuple):
    """The periods of a periodic fact.

    Args:
        table: the periodic fact.
        entity: of whose messages it is made in the end.
        every: ``day``, ``week`` or ``month``.
        time_zone: in which days end.
        first: query for when the first of its states begins.
    """

    table: str
    entity: str
    every: str
    time_zone: str
    first: str

    @property
    def over(self) -> str:
        """Return the name of the load's own table of the periods that are over: key, end, and whether it is new."""
        return f"_periods_{self.table}"

    @property
    def low(self) -> str:
        """Return the expression for the time up to which all sources have sent."""
        return f"(SELECT MIN(latest) FROM metl_watermarks WHERE entity = {text(self.entity)})"

    def known(self, column: str) -> str:
        """Return the expression for what was kept of the periods by the load before."""
        return f"(SELECT {column} FROM metl_periods WHERE periodic = {text(self.table)})"

    def plan(self) -> Iterator[Step]:
        """Yield the steps that find the periods that are over.

        Cost: a row a period.
        """
        zone = text(self.time_zone)
        earliest = f"(SELECT MIN(earliest) FROM metl_watermarks WHERE entity = {text(self.entity)})"
        first = f"GREATEST({self.first}, {earliest}, {_OLDEST})"
        start = self._began(first)
        opened = f"SELECT CASE WHEN {self.first} IS NOT NULL THEN {start} AT TIME ZONE {zone} END AS opened_from"
        yield temporary(self._opened, opened, f"Find since when {self.table} goes")
        yield temporary(self.over, self._query(), f"Find the periods of {self.table} that are over")

    @property
    def _opened(self) -> str:
        return f"_opened_{self.table}"

    def _began(self, time: str) -> str:
        """Return the expression for the local time at which the period of an instant began."""
        return f"DATE_TRUNC({text(self.every)}, CAST({time} AT TIME ZONE {text(self.time_zone)} AS TIMESTAMP))"

    def _query(self) -> str:
        zone, unit = text(self.time_zone), _UNITS[self.every]
        # A midnight that clocks skip is the hour behind it: later periods begin at midnight all the same.
        start = self._began(f"(SELECT opened_from FROM {name(self._opened)})")
        last = f"CAST({self.low} AT TIME ZONE {zone} AS TIMESTAMP)"
        day = "CAST(s.after - INTERVAL '1' DAY AS DATE)"
        number = f"EXTRACT(YEAR FROM {day}) * 10000 + EXTRACT(MONTH FROM {day}) * 100 + EXTRACT(DAY FROM {day})"
        end = f"s.after AT TIME ZONE {zone}"
        is_new = f"{end} > {self.known('closed_to')} OR {end} <= {self.known('opened_from')}"
        return f"""
            SELECT CAST({number} AS BIGINT) AS date_key, {end} AS period_end, COALESCE({is_new}, TRUE) AS is_new
            FROM (SELECT g.began + INTERVAL '1' {unit} AS after
                  FROM GENERATE_SERIES({start}, {last}, INTERVAL '1' {unit}) AS g(began)) AS s
            WHERE {end} <= {self.low}"""

    def changing(self, of: str) -> str:
        """Return the condition that a row, ``of``, is of a period that ended since, or of one that no longer has."""
        closed = self.known("closed_to")
        return f"({of}.period_end > LEAST({self.low}, {closed}) AND {of}.period_end <= GREATEST({self.low}, {closed}))"

    def among_new(self, of: str) -> str:
        """Return the condition that a row, ``of``, is of a period of which all rows are made."""
        return f"{of}.period_end IN (SELECT period_end FROM {name(self.over)} WHERE is_new)"

    def remember(self) -> Step:
        """Return the step that keeps which periods there are."""
        return Step(
            f"Remember up to when {self.table} goes",
            f"""UPDATE metl_periods SET closed_to = {self.low},
              opened_from = (SELECT opened_from FROM {name(self._opened)}) WHERE periodic = {text(self.table)}""",
        )

    def create(self) -> Step:
        """Return the step that begins without any period."""
        return Step(
            f"Remember up to when {self.table} goes",
            f"INSERT INTO metl_periods VALUES ({text(self.table)}, NULL, NULL)",
        )
