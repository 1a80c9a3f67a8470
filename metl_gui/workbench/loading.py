"""Initial load: all existing rows of chosen tables once, through the matrix of a lane that goes on meanwhile.

Three ways, for what a table has:

    postgresql   the rows are read from the database as of one moment, by Spark, and put aside in a topic
    beginning    the rows are what the table's topic held before the lane began
    debezium     the connector is asked for an incremental snapshot, which comes among the changes by itself

The first two are mapped by the tasks of the lane after the rule of ``engine.lanes.loads``: no row is lost, none is put
back to an older value, whatever changes meanwhile. For the third the connector keeps the same promise.

Source: METL §3.4, §5.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from metl_gui.engine.kafka.servers import parse_address
from metl_gui.errors import RunCancelled, RunError, near_names
from metl_gui.workbench.lanes import Lane
from metl_gui.workbench.progress import UNWATCHED, Watch
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.engine.lanes.committed import Committed
    from metl_gui.engine.lanes.loads import LoadOrder
    from metl_gui.engine.loading.lane_loads import LoadProgress

POSTGRESQL, BEGINNING, DEBEZIUM = "postgresql", "beginning", "debezium"
WAYS = (POSTGRESQL, BEGINNING, DEBEZIUM)


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What is to be loaded.

    Args:
        tables: ``schema.table`` each.
        way: one of ``WAYS``.
        database: address or profile of the database, for all but ``beginning``.
        slot: the replication slot of the connector; empty where the database has only one.
        driver: the jar of PostgreSQL's JDBC driver; empty to fetch it.
        signal: where the connector takes signals: ``schema.table``, or a topic as ``kafka:TOPIC``.
    """

    tables: tuple[str, ...]
    way: str = POSTGRESQL
    database: str = ""
    slot: str = ""
    driver: str = ""
    signal: str = ""


@dataclass(frozen=True, slots=True)
class TableLoad:
    """One table of a load, before it begins.

    Args:
        table: ``schema.table``.
        topic: of its changes.
        partitions: of the topic.
        records: about how many rows there are; None where only the connector knows.
        checked: how many rows were compared with what the topic says of them.
    """

    table: str
    topic: str
    partitions: int
    records: int | None = None
    checked: int = 0

    @property
    def text(self) -> str:
        """The load of the table in one line."""
        rows = "" if self.records is None else f", about {self.records:,} rows"
        checked = f", {self.checked:,} of them compared with their changes" if self.checked else ""
        return f"{self.table} → {self.topic}{rows}{checked}"


class Begin(Protocol):
    """Puts everything in place for the load of one table, and returns what is ordered; nothing where nothing is."""

    def __call__(self, table: TableLoad, watch: Watch, /) -> Sequence[LoadOrder]:
        """Begin."""


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """A load that was looked at and has not begun.

    Args:
        lane: whose matrix it goes through.
        tables: each table.
        begin: begins one of them.
        says: what will be done, in words.
    """

    lane: Lane
    tables: tuple[TableLoad, ...]
    begin: Begin = field(repr=False)
    says: str = ""

    def do(self, watch: Watch = UNWATCHED) -> tuple[LoadProgress, ...]:
        """Load, and wait until the lane has mapped everything.

        Returns:
            What became of each table; nothing for those that the connector loads.

        Raises:
            UserError: the database, Spark or Kafka refuses; nothing half-read is mapped.
            RunCancelled: it was stopped; what the lane was told already it goes on with.
        """
        return tuple(found for table in self.tables for found in self._load(table, watch))

    def _load(self, table: TableLoad, watch: Watch) -> Sequence[LoadProgress]:
        from metl_gui.engine.loading import lane_loads

        orders = self.begin(table, watch)
        if not orders:
            return ()
        committed, run_id = _committed(self.lane), self.lane.run_id
        lane_loads.order(self.lane.servers, self.lane.group, orders)
        found = _waited(self.lane, table, lambda: lane_loads.progress(committed, orders, run_id), watch)
        _end(self.lane, orders)
        return (found,)


def plan_load(workbench: Workbench, lane: Lane, request: LoadRequest, watch: Watch = UNWATCHED) -> LoadPlan:
    """Look at what a load would do; nothing is changed yet.

    Args:
        workbench: the project.
        lane: a fast lane of it that lives.
        request: what is to be loaded.
        watch: progress and cancel.

    Raises:
        UserError: a table has no topic in the lane, or its rows cannot be said in the words of its topic.
    """
    if not lane.run.is_alive:
        raise RunError(
            f"The lane {lane.run_id} does not run.",
            "Rows are mapped by the tasks that map the changes of the table.",
            f"Let it go on first: metl runs PROJECT --resume {lane.run_id}",
        )
    topics = _topics_of(lane, request.tables)
    match request.way:
        case "beginning":
            return _from_beginning(lane, topics)
        case "debezium":
            from metl_gui.workbench.signalling import plan_signal

            return plan_signal(lane, request, topics)
        case _:
            from metl_gui.workbench.row_loading import plan_rows

            return plan_rows(workbench, lane, request, topics, watch)


def loads_of(lane: Lane) -> tuple[LoadProgress, ...]:
    """Say how far the loads of a lane are, and clear away those that are done.

    Raises:
        RunError: the servers do not answer.
    """
    from metl_gui.engine.loading import lane_loads

    orders = lane_loads.ordered(lane.servers, lane.group)
    found = lane_loads.progress(_committed(lane), orders, lane.run_id)
    for one in found:
        if one.is_done:
            _end(lane, [order for order in orders if order.id == one.id])
    return found


def new_id() -> str:
    """Return the id of a new load."""
    return secrets.token_hex(4)


def _topics_of(lane: Lane, tables: Sequence[str]) -> dict[str, str]:
    """Return the topic of each table among those that the lane reads."""
    from metl_gui.engine.kafka.listing import Lister

    lister = Lister(lane.servers, parse_address(lane.run.order.spec.source), is_strict=False)
    topics = sorted({topic for topic, _ in lister.places()})
    found = {}
    for table in tables:
        fitting = [topic for topic in topics if topic == table or topic.endswith(f".{table}")]
        if len(fitting) != 1:
            what = f"It reads {', '.join(fitting or topics)[:300]}."
            hint = near_names(table, topics) or "Name tables as schema.table, or by their topics."
            count = "more than one topic" if fitting else "no topic"
            raise RunError(f"The lane reads {count} of the table {table}.", what, hint)
        found[table] = fitting[0]
    return found


def _from_beginning(lane: Lane, topics: dict[str, str]) -> LoadPlan:
    from metl_gui.engine.kafka.listing import EARLIEST
    from metl_gui.engine.loading import lane_loads

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

    says = (
        "What the topics held before the lane began is mapped, up to the first record that it mapped; keys that it has "
        "mapped since are left out."
    )
    return LoadPlan(lane, tuple(tables), begin, says)


def _waited(lane: Lane, table: TableLoad, look: Callable[[], tuple[LoadProgress, ...]], watch: Watch) -> LoadProgress:
    from metl_gui.engine.loading.lane_loads import wait_for

    def tell(found: LoadProgress) -> bool:
        watch.tell(f"The lane maps the rows of {table.table}", found.done, found.rows)
        if not lane.run.is_alive:
            raise RunError(
                "The lane ended in the middle of the load.",
                f"{found.done:,} of {found.rows:,} rows of {table.table} are mapped.",
                f"Let it go on: metl runs PROJECT --resume {lane.run_id}; the load goes on with it.",
            )
        return not watch.is_cancelled

    found = wait_for(look, tell)
    if not found.is_done:
        raise RunCancelled("The lane goes on with the load; see metl load PROJECT --status.")
    return found


def _end(lane: Lane, orders: Sequence[LoadOrder]) -> None:
    from metl_gui.engine.loading import lane_loads

    lane_loads.forget(lane.servers, lane.group, orders)
    for topic in {order.progress for order in orders}:
        lane_loads.remove_rows_topic(lane.servers, topic)


def _committed(lane: Lane) -> Committed:
    from metl_gui.engine.kafka.listing import Lister
    from metl_gui.engine.lanes.committed import Committed as Asking

    lister = Lister(lane.servers, parse_address(lane.run.order.spec.source), is_strict=False)
    return Asking(lister, lane.group)


def as_json(found: LoadProgress) -> dict[str, Any]:
    """Return what ``metl load`` prints of a load."""
    return {name: getattr(found, name) for name in found.__struct_fields__}
