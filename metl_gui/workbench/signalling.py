"""Asking Debezium for an incremental snapshot: its rows come among the changes, after a rule of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from metl_gui.engine.loading import lane_loads
from metl_gui.errors import RunError
from metl_gui.registry.postgres_snapshot import insert_signal
from metl_gui.workbench.lanes import Lane
from metl_gui.workbench.loading import LoadPlan, LoadRequest, TableLoad, new_id
from metl_gui.workbench.profiles import find_database
from metl_gui.workbench.progress import Watch

if TYPE_CHECKING:
    from metl_gui.engine.lanes.loads import LoadOrder

TOPIC = "kafka:"


def plan_signal(lane: Lane, request: LoadRequest, topics: Mapping[str, str]) -> LoadPlan:
    """Look at a load by the connector itself; see ``loading.plan_load``."""
    if not request.signal:
        raise RunError(
            "Where the connector takes signals is not known.",
            "It snapshots tables when it is asked in its signalling table or topic.",
            "Name it: --signal schema.table (its setting signal.data.collection) or --signal kafka:TOPIC "
            "(signal.kafka.topic).",
        )
    place = None if request.signal.startswith(TOPIC) else find_database(request.database)
    tables = tuple(
        TableLoad(table, topic, len(lane_loads.ends(lane.servers, topic))) for table, topic in topics.items()
    )

    def begin(table: TableLoad, watch: Watch) -> Sequence[LoadOrder]:
        watch.step(f"Asking the connector for the rows of {table.table}")
        id_ = f"metl-{new_id()}"
        data = json.dumps({"data-collections": [table.table], "type": "incremental"})
        if place is None:
            prefix = table.topic.removesuffix(f".{table.table}")
            signal = json.dumps({"id": id_, "type": "execute-snapshot", "data": json.loads(data)})
            lane_loads.send_signal(lane.servers, request.signal.removeprefix(TOPIC), prefix, signal)
        else:
            insert_signal(place, request.signal, (id_, "execute-snapshot", data))
        return ()

    says = (
        "The connector is asked for an incremental snapshot. Its rows come into the same topics among the changes, and "
        "the lane maps them as it maps these; the connector leaves out what changed meanwhile. Where none come, it "
        "does not take signals there: see its settings signal.data.collection and signal.enabled.channels."
    )
    return LoadPlan(lane, tables, begin, says)
