"""Rows of an initial load that a table's topic held before the lane began."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metl_gui.engine.kafka.listing import EARLIEST
from metl_gui.engine.lanes.loads import LoadOrder
from metl_gui.engine.loading import lane_loads
from metl_gui.errors import RunError
from metl_gui.workbench.lanes import Lane
from metl_gui.workbench.loading import LoadPlan, TableLoad, new_id
from metl_gui.workbench.progress import Watch

_SAYS = (
    "What the topics held before the lane began is mapped, up to the first record that it mapped; keys that it has "
    "mapped since are left out."
)


def plan_beginning(lane: Lane, topics: Mapping[str, str]) -> LoadPlan:
    """Look at a load of what topics held before; see ``loading.plan_load``."""
    tables = []
    firsts: dict[str, dict[int, int]] = {}
    for table, topic in topics.items():
        begins = lane_loads.ends(lane.servers, topic, EARLIEST)
        firsts[topic] = lane_loads.first_mapped(lane.servers, lane.matrix, lane.group, topic)
        if len(firsts[topic]) < len(begins):
            raise RunError(
                f"Nobody knows where the lane began in {topic}.",
                f"It has told so of {len(firsts[topic])} of {len(begins)} partitions.",
                "Wait until each has mapped a record; or load the rows from the database.",
            )
        records = sum(max(firsts[topic][number] - begin, 0) for number, begin in enumerate(begins))
        tables.append(TableLoad(table, topic, len(begins), records))

    def begin(table: TableLoad, _watch: Watch) -> Sequence[LoadOrder]:
        id_ = new_id()
        progress = lane_loads.rows_topic(id_, table.topic)
        lane_loads.make_rows_topic(lane.servers, progress, table.partitions)
        starts = lane_loads.ends(lane.servers, table.topic, EARLIEST)
        return lane_loads.orders_of_beginning(id_, table.topic, progress, starts, firsts[table.topic])

    return LoadPlan(lane, tuple(tables), begin, _SAYS)
