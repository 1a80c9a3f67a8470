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

import contextlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.runs.kafka import parse_address
from metl_gui.errors import RunCancelled, RunError, near_names
from metl_gui.values import Value
from metl_gui.workbench.lanes.control import Lane
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.core.runs.lanes import LoadProgress
    from metl_gui.engine.lanes.committed_offsets import Committed
    from metl_gui.engine.lanes.loads import LoadOrder

POSTGRESQL, BEGINNING, DEBEZIUM = "postgresql", "beginning", "debezium"
WAYS = (POSTGRESQL, BEGINNING, DEBEZIUM)


class LoadRequest(Value):
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


class TableLoad(Value):
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


class Loadable(Value):
    """A table whose changes a lane reads.

    Args:
        topic: of its changes.
        newest: its newest load, that goes on or is over; None where it was never loaded.
    """

    topic: str
    newest: LoadProgress | None = None


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
        from metl_gui.engine.lanes import load_control

        orders = self.begin(table, watch)
        if not orders:
            return ()
        load_control.order(self.lane.servers, self.lane.group, orders)
        return (_ended(self.lane, table.table, orders, watch),)


def plan_load(workbench: Workbench, lane: Lane, request: LoadRequest, watch: Watch = UNWATCHED) -> LoadPlan:
    """Inspect what a load would do; nothing is changed yet.

    Args:
        workbench: the project.
        lane: a fast lane of it that lives.
        request: what is to be loaded.
        watch: progress and cancel.

    Raises:
        UserError: a table has no topic in the lane, or its rows cannot be said in the words of its topic.
    """
    _refuse_dead(lane)
    topics = _topics_of(lane, request.tables)
    _refuse_twice(lane, topics, request.way)
    match request.way:
        case "beginning":
            from metl_gui.workbench.lanes.load_methods import plan_beginning

            return plan_beginning(lane, topics)
        case "debezium":
            from metl_gui.workbench.lanes.load_methods import plan_signal

            return plan_signal(lane, request, topics)
        case _:
            from metl_gui.workbench.lanes.load_methods import plan_rows

            return plan_rows(workbench, lane, request, topics, watch)


def loads_of(lane: Lane) -> tuple[LoadProgress, ...]:
    """Return how far the newest load of each table is, and clear away what those need no more that are through.

    Raises:
        RunError: the servers do not answer.
    """
    from metl_gui.engine.lanes import load_control

    servers, group = lane.servers, lane.group
    orders = load_control.ordered(servers, group)
    known = load_control.ended(servers, group)
    with contextlib.closing(_committed(lane)) as committed:
        found = load_control.progress(committed, orders, lane.run_id)
    for one in found:
        parts = [order for order in orders if order.id == one.id]
        known[one.changes] = load_control.end(servers, group, parts, one) if one.is_done else one
    return tuple(known[changes] for changes in sorted(known))


def give_up(lane: Lane, tables: Sequence[str], watch: Watch = UNWATCHED) -> tuple[LoadProgress, ...]:
    """Let a lane take no more rows of loads; what it mapped of them stays.

    Args:
        lane: a lane that lives.
        tables: ``schema.table`` each.
        watch: progress and cancel of the waiting for its tasks.

    Raises:
        RunError: no load of a table is going on, the lane does not live, or the servers do not answer.
    """
    from metl_gui.engine.lanes import load_control

    _refuse_dead(lane)
    going_on = load_control.ordered(lane.servers, lane.group)
    done = []
    for table, topic in _topics_of(lane, tables).items():
        orders = [msgspec.structs.replace(one, is_given_up=True) for one in going_on if one.changes == topic]
        if not orders:
            raise RunError(f"No load of {table} is going on.", hint="See metl load PROJECT --status.")
        load_control.order(lane.servers, lane.group, orders)
        done.append(_ended(lane, table, orders, watch))
    return tuple(done)


def new_id() -> str:
    """Return the id of a new load."""
    return secrets.token_hex(4)


def loadables(lane: Lane) -> tuple[Loadable, ...]:
    """Return the tables whose changes a lane reads.

    Raises:
        RunError: the servers do not answer.
    """
    known = {one.changes: one for one in loads_of(lane)}
    return tuple(Loadable(topic, known.get(topic)) for topic in _topics(lane))


def _topics(lane: Lane) -> list[str]:
    from metl_gui.engine.kafka.offsets import Lister

    lister = Lister(lane.servers, parse_address(lane.run.order.spec.source.address), is_strict=False)
    return sorted({topic for topic, _ in lister.places()})


def _topics_of(lane: Lane, tables: Sequence[str]) -> dict[str, str]:
    """Return the topic of each table, as ``schema.table``, among those that the lane reads."""
    topics = _topics(lane)
    found: dict[str, str] = {}
    for table in tables:
        fitting = [topic for topic in topics if topic == table] or [one for one in topics if one.endswith(f".{table}")]
        name = ".".join(fitting[0].split(".")[-2:]) if fitting[:1] == [table] else table
        if len(fitting) != 1 or name in found:
            what = f"It reads {', '.join(fitting or topics)[:300]}."
            hint = near_names(table, topics) or "Name tables as schema.table, or by their topics."
            count = "more than one topic" if fitting else "no topic"
            raise RunError(f"The lane reads {count} of the table {table}.", what, hint)
        found[name] = fitting[0]
    return found


def _refuse_dead(lane: Lane) -> None:
    if not lane.run.is_alive:
        raise RunError(
            f"The lane {lane.run_id} does not run.",
            "Rows are mapped by the tasks that map the changes of the table.",
            f"Let it go on first: metl runs PROJECT --resume {lane.run_id}",
        )


def _refuse_twice(lane: Lane, topics: Mapping[str, str], way: str) -> None:
    known = {one.changes: one for one in loads_of(lane)}
    for table, topic in topics.items():
        load = known.get(topic)
        if load is not None and not load.is_done:
            raise RunError(
                f"A load of {table} is going on already.",
                f"{load.done:,} of {load.rows:,} rows are mapped.",
                f"Wait until it is through, or give it up: metl load PROJECT --tables {table} --give-up --yes",
            )
        if load is not None and load.done and way == BEGINNING:
            raise RunError(
                f"Rows of {table} were loaded before.",
                "What the topic held before the lane began is older than they, and would put them back.",
                "Load them from the database (--from postgresql), or from the connector (--from debezium).",
            )


def _ended(lane: Lane, table: str, orders: Sequence[LoadOrder], watch: Watch) -> LoadProgress:
    """Wait until a load is through, and clear it away.

    Raises:
        RunError: the lane ended.
        RunCancelled: nobody wants to wait any more.
    """
    from metl_gui.engine.lanes import load_control

    def tell(found: LoadProgress) -> bool:
        watch.tell(f"The lane maps the rows of {table}", found.done, found.rows)
        if not lane.run.is_alive:
            raise RunError(
                "The lane ended in the middle of the load.",
                f"{found.done:,} of {found.rows:,} rows of {table} are mapped.",
                f"Let it go on: metl runs PROJECT --resume {lane.run_id}; the load goes on with it.",
            )
        return not watch.is_cancelled

    with contextlib.closing(_committed(lane)) as committed:
        found = load_control.wait_for(lambda: load_control.newest_progress(committed, orders, lane.run_id), tell)
    if not found.is_done:
        raise RunCancelled("The lane goes on with the load; see metl load PROJECT --status.")
    return found if found.ended_ms else load_control.end(lane.servers, lane.group, orders, found)


def _committed(lane: Lane) -> Committed:
    from metl_gui.engine.kafka.offsets import Lister
    from metl_gui.engine.lanes.committed_offsets import Committed as Asking

    lister = Lister(lane.servers, parse_address(lane.run.order.spec.source.address), is_strict=False)
    return Asking(lister, lane.group)


def as_json(found: LoadProgress) -> dict[str, Any]:
    """Return what ``metl load`` prints of a load."""
    document: dict[str, Any] = msgspec.to_builtins(found)
    return document
