"""The three ways of an initial load, one function each; see ``initial_load``.

- ``plan_rows``: the rows of tables from PostgreSQL, staged by Spark for the tasks of a lane.
- ``plan_signal``: Debezium is asked for an incremental snapshot; its rows come among the changes, after a rule of its
  own.
- ``plan_beginning``: the rows that a table's topic held before the lane began.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from metl_gui.core.progress import Watch
from metl_gui.core.runs.target import Target
from metl_gui.core.trees.paths import split
from metl_gui.engine.kafka.offsets import EARLIEST_OFFSET
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.lanes import load_control
from metl_gui.engine.lanes.load_control import Example
from metl_gui.engine.lanes.loads import LoadOrder
from metl_gui.engine.loading.row_template import RowTemplate, has_placeholder
from metl_gui.engine.loading.staged_rows import RowForm, StagingOrder, is_by_key, stage
from metl_gui.errors import RunError
from metl_gui.formats.connect_schema import declare, row_of
from metl_gui.formats.table_columns import TableColumn
from metl_gui.registry.addresses import DatabasePlace
from metl_gui.registry.remote.catalogue import read_catalogue
from metl_gui.registry.remote.snapshot import Snapshot, insert_signal, open_snapshot, parts_of, passed, select_of, slots
from metl_gui.values import Value
from metl_gui.workbench.lanes.control import Lane
from metl_gui.workbench.lanes.initial_load import LoadPlan, LoadRequest, TableLoad, new_id
from metl_gui.workbench.profiles.saved_profiles import find_database
from metl_gui.workbench.runs.mapping_run import PRODUCTION, pin
from metl_gui.workbench.session import Workbench

if TYPE_CHECKING:
    from metl_gui.core.trees.declarations import AttributeDeclaration
    from metl_gui.core.trees.nodes import Attribute
    from metl_gui.engine.lanes.loads import LoadOrder


_LOOK_SECONDS = 0.5
_SENT_SECONDS = 300.0
_JDBC_SETTINGS = ("sslmode", "sslrootcert", "sslcert", "sslkey")
_WORKERS = 2
_DIGITS = 3
"""Days, seconds, milli- and microseconds differ by more."""


class _TableSource(Value):
    """Where the rows of a table are, and how they are written."""

    schema: str
    name: str
    columns: tuple[TableColumn, ...]
    mapped: frozenset[str]
    example: Example


def plan_rows(
    workbench: Workbench, lane: Lane, request: LoadRequest, topics: Mapping[str, str], watch: Watch
) -> LoadPlan:
    """Inspect the tables and topics of a load from PostgreSQL; see ``initial_load.plan_load``."""
    place = find_database(request.database)
    slot = _slot(place, request.slot)
    plan = plans.decode(pin(workbench, PRODUCTION).mapping.plan)
    sources: dict[str, _TableSource] = {}
    tables = []
    with open_snapshot(place, lambda: watch.is_cancelled) as snapshot:
        for table, topic in topics.items():
            watch.step(f"Looking at {table}")
            examples = load_control.newest_records(lane.servers, topic)
            partitions = len(load_control.ends(lane.servers, topic))
            source = _source(plan, snapshot, place, table, topic, examples)
            _check_partitions(topic, examples, partitions)
            checked = _check_rows(snapshot, source, examples)
            sources[table] = source
            rows = snapshot.about(source.schema, source.name)
            tables.append(TableLoad(table, topic, partitions, rows, checked))

    def begin(table: TableLoad, watch: Watch) -> Sequence[LoadOrder]:
        return _TableStaging(lane, place, slot, request.driver, sources[table.table], table).orders(watch)

    says = (
        f"The rows are read from {place.shown} as of one moment and wait in a topic of their own until the lane has "
        "mapped every change that they show; rows that change meanwhile are left out, as their changes are mapped."
    )
    return LoadPlan(lane, tuple(tables), begin, says)


class _TableStaging:
    """Reads one table into its topic and says what its lane has to do."""

    def __init__(
        self, lane: Lane, place: DatabasePlace, slot: str, driver: str, source: _TableSource, table: TableLoad
    ) -> None:
        self.lane, self.place, self.slot, self.driver = lane, place, slot, driver
        self.source, self.table = source, table
        self.id = new_id()
        self.rows_topic = load_control.rows_topic(self.id, table.topic)

    def orders(self, watch: Watch) -> Sequence[LoadOrder]:
        """Stage the rows; what is half-read is removed again."""
        servers, topic = self.lane.servers, self.table.topic
        driver = self.driver or _driver(watch)
        load_control.make_rows_topic(servers, self.rows_topic, self.table.partitions)
        try:
            noted_from = load_control.ends(servers, topic)
            watch.step("Waiting for transactions that are open in the database")
            with open_snapshot(self.place, lambda: watch.is_cancelled) as snapshot:
                self._stage(snapshot, driver, watch)
                end = snapshot.end
            self._wait_until_sent(end, watch)
            after = load_control.ends(servers, topic)
            ends = load_control.ends(servers, self.rows_topic)
        except BaseException:
            load_control.remove_rows_topic(servers, self.rows_topic)
            raise
        return tuple(
            LoadOrder(
                id=self.id,
                changes=topic,
                rows=self.rows_topic,
                progress=self.rows_topic,
                partition=partition,
                begin=0,
                end=ends[partition],
                noted_from=noted_from[partition],
                after=after[partition],
            )
            for partition in range(self.table.partitions)
        )

    def _stage(self, snapshot: Snapshot, driver: str, watch: Watch) -> None:
        source = self.source
        tables = [
            (select_of(table, source.columns), tuple(parts_of(table)))
            for table in snapshot.tables(source.schema, source.name)
        ]
        order = StagingOrder(
            target=Target(master=f"local[{_WORKERS}]"),
            driver=driver,
            url=_jdbc_url(self.place),
            properties=_jdbc_properties(self.place),
            joining=snapshot.joining,
            tables=tuple(tables),
            form=RowForm(
                value=source.example.value,
                key=source.example.key,
                columns=source.columns,
                mapped=source.mapped,
                end=snapshot.end,
            ),
            servers=self.lane.servers,
            topic=self.rows_topic,
        )
        _run(order, self.table, watch)

    def _wait_until_sent(self, end: str, watch: Watch) -> None:
        stop = time.monotonic() + _SENT_SECONDS
        while not passed(self.place, self.slot, end):
            watch.step("Waiting until the connector has sent every change that the rows show")
            if time.monotonic() > stop:
                raise RunError(
                    "The connector does not get on.",
                    f"Its slot {self.slot} has not reached {end} in {_SENT_SECONDS:.0f} s.",
                    "Look at the connector; with heartbeat.interval.ms it confirms sooner. Then load again.",
                )
            time.sleep(_LOOK_SECONDS)


def _slot(place: DatabasePlace, wanted: str) -> str:
    found = slots(place)
    if wanted in found:
        return wanted
    if not wanted and len(found) == 1:
        return found[0]
    shown = ", ".join(found) or "none"
    raise RunError(
        f"Which replication slot the connector reads is not known: {place.shown} has {shown}.",
        f"{wanted} is none of them." if wanted else "",
        "Name it with --slot; it is the connector's setting slot.name.",
    )


def _source(
    plan: plans.Plan, snapshot: Snapshot, place: DatabasePlace, table: str, topic: str, examples: Sequence[Example]
) -> _TableSource:
    schema, _, name = table.rpartition(".")
    schema = schema or "public"
    natives = snapshot.natives(schema, name)
    if not natives:
        raise RunError(f"There is no table {schema}.{name}.", place.shown, "Name tables as schema.table.")
    newest = newest_row(topic, f"{schema}.{name}", examples)
    declared = {one.path: one for one in _declared(newest.value, place, f"{schema}.{name}")}
    columns = tuple(
        TableColumn(column, native, one.type, one.logical, one.scale, one.optional)
        for column, native in natives.items()
        if (one := declared.get(column)) is not None
    )
    return _TableSource(schema, name, columns, _mapped(plan, topic), newest)


def _declared(value: bytes, place: DatabasePlace, table: str) -> Sequence[AttributeDeclaration | Attribute]:
    """Return what the topic says of its columns: by its own schema, else by what the database has."""
    document = msgspec.json.decode(value)
    if isinstance(document, dict) and document.keys() == {"schema", "payload"}:
        return declare(row_of(document["schema"]))
    reading = read_catalogue(place, (table,))
    if not reading.declarations:
        raise RunError(f"The columns of {table} cannot be read.", "; ".join(one.reason for one in reading.refused))
    return reading.declarations[0].attributes


def newest_row(topic: str, table: str, examples: Sequence[Example]) -> Example:
    """Return the newest change of a row, after whose example rows are written.

    Raises:
        RunError: there is none, or the topic holds no JSON.
    """
    rows = [one for one in examples if _row(one.value) is not None]
    if rows:
        return rows[-1]
    if examples and not any(_is_json(one.value) for one in examples):
        raise RunError(
            f"The records of {topic} are not JSON.",
            "Rows of a database are written after the example of the newest record, which takes JSON; these are Avro, "
            "or something else.",
            "Have the connector send the rows (--from debezium), or load what the topic held before the lane began "
            "(--from beginning).",
        )
    raise RunError(
        f"The topic {topic} holds no change of a row yet.",
        "Rows are written after the example of the newest change.",
        f"Change any row of {table}, then load again.",
    )


def _mapped(plan: plans.Plan, topic: str) -> frozenset[str]:
    """Return the columns that something is mapped from, in any version: the newest may get its block later."""
    schema = plan.by_name().get(topic)
    if schema is None:
        raise RunError(f"The matrix knows no schema {topic}.", hint="Import it first: metl import PROJECT ...")
    paths = {path for version in schema.versions for block in version.blocks for path, _ in block.targets}
    return frozenset(split(path)[0] for path in paths)


def _check_partitions(topic: str, examples: Sequence[Example], partitions: int) -> None:
    if partitions > 1 and not is_by_key(((one.key, one.partition) for one in examples), partitions):
        raise RunError(
            f"The records of {topic} are not placed by their keys as Kafka's own clients do.",
            "So nobody knows which task maps the changes of a row.",
            "Load the table from Debezium's own snapshot (--from debezium), or from the topic's beginning.",
        )


def _check_rows(snapshot: Snapshot, source: _TableSource, examples: Sequence[Example]) -> int:
    """Compare rows with what the topic says of them: a form that is not the connector's is found before it is sent.

    Values may differ, as rows change meanwhile; how they are written may not.

    Returns:
        How many rows were compared.

    Raises:
        RunError: a mapped column differs in most of them.
    """
    template = RowTemplate(source.example.value, source.example.key, source.columns, source.mapped, snapshot.end)
    key_names = template.key_names
    newest = {one.key: one for one in examples if _row(one.value) is not None and not has_placeholder(one.value)}
    texts = {key: _key_texts(key, key_names) for key in newest}
    asked = {key: told for key, told in texts.items() if told is not None}
    rows = snapshot.rows_with(source.schema, source.name, source.columns, key_names, [*asked.values()])
    same: Counter[str] = Counter()
    other: dict[str, str] = {}
    compared, differing = 0, Counter[str]()
    for row in rows:
        key, value = template.record(row)
        example = newest.get(key)
        sent, ours = _row(example.value if example else b"{}"), _row(value)
        if sent is None or ours is None:
            continue
        compared += 1
        for name in source.mapped & sent.keys() & ours.keys():
            if sent[name] == ours[name] or _form(sent[name]) == _form(ours[name]):
                same[name] += 1
            elif sent[name] is not None and ours[name] is not None:
                differing[name] += 1
                other[name] = f"{ours[name]!r} where the topic says {sent[name]!r}"
    wrong = [name for name, count in differing.items() if count > same[name]]
    if wrong:
        raise RunError(
            f"Rows of {source.schema}.{source.name} would not say what its changes say.",
            f"{wrong[0]} would be {other[wrong[0]][:300]}.",
            "Is the connector behind, or set to other forms (time.precision.mode, decimal.handling.mode)? For a topic "
            "without schemas give the profile of the database the same settings.",
        )
    return compared


def _form(value: Any) -> tuple[str, str]:
    """Return how a value is written: kind and size of a number, and how letters and digits alternate in a text."""
    if isinstance(value, str):
        return "text", re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "9", value))
    if isinstance(value, int) and not isinstance(value, bool):
        return "whole", str(len(str(abs(value))) // _DIGITS)
    return type(value).__name__, ""


def _is_json(value: bytes) -> bool:
    try:
        msgspec.json.decode(value)
    except msgspec.DecodeError:
        return False
    return True


def _row(value: bytes) -> dict[str, Any] | None:
    """Return the row of a change; None where it has none."""
    try:
        document = msgspec.json.decode(value)
    except msgspec.DecodeError:
        return None
    if isinstance(document, dict) and document.keys() == {"schema", "payload"}:
        document = document["payload"]
    if isinstance(document, dict) and "op" in document:
        document = document.get("after")
    return document if isinstance(document, dict) else None


def _key_texts(key: bytes, names: Sequence[str]) -> list[str] | None:
    """Return a key as the database prints it, where that is sure."""
    document = msgspec.json.decode(key)
    if isinstance(document, dict) and document.keys() == {"schema", "payload"}:
        document = document["payload"]
    if not isinstance(document, dict) or any(type(document.get(name)) not in (int, str) for name in names):
        return None
    return [str(document[name]) for name in names]


def _run(order: StagingOrder, table: TableLoad, watch: Watch) -> None:
    watch.step(f"Starting Spark to read {table.table}")
    with contextlib.closing(stage(order)) as parts:
        for staged in parts:
            watch.step(f"Reading the rows of {table.table}", staged.rows, table.records)


def _driver(watch: Watch) -> str:
    from metl_gui.workbench.live import fetch_jdbc_driver

    return str(fetch_jdbc_driver(watch))


def _jdbc_url(place: DatabasePlace) -> str:
    host = f"[{place.host}]" if ":" in place.host else place.host
    return f"jdbc:postgresql://{host}:{place.port}/{place.database or place.user}"


def _jdbc_properties(place: DatabasePlace) -> tuple[tuple[str, str], ...]:
    known = dict(place.settings)
    password = place.password or os.environ.get("PGPASSWORD", "")
    own = {"user": place.user or os.environ.get("PGUSER", ""), "password": password, "ApplicationName": "metl"}
    tls = {name: known[name] for name in _JDBC_SETTINGS if name in known}
    return tuple((name, value) for name, value in {**own, **tls}.items() if value)


TOPIC = "kafka:"


def plan_signal(lane: Lane, request: LoadRequest, topics: Mapping[str, str]) -> LoadPlan:
    """Inspect a load by the connector itself; see ``initial_load.plan_load``."""
    if not request.signal:
        raise RunError(
            "Where the connector takes signals is not known.",
            "It snapshots tables when it is asked in its signalling table or topic.",
            "Name it: --signal schema.table (its setting signal.data.collection) or --signal kafka:TOPIC "
            "(signal.kafka.topic).",
        )
    place = None if request.signal.startswith(TOPIC) else find_database(request.database)
    tables = tuple(
        TableLoad(table, topic, len(load_control.ends(lane.servers, topic))) for table, topic in topics.items()
    )

    def begin(table: TableLoad, watch: Watch) -> Sequence[LoadOrder]:
        watch.step(f"Asking the connector for the rows of {table.table}")
        id_ = f"metl-{new_id()}"
        data = json.dumps({"data-collections": [table.table], "type": "incremental"})
        if place is None:
            prefix = table.topic.removesuffix(f".{table.table}")
            signal = json.dumps({"id": id_, "type": "execute-snapshot", "data": json.loads(data)})
            load_control.send_signal(lane.servers, request.signal.removeprefix(TOPIC), prefix, signal)
        else:
            insert_signal(place, request.signal, (id_, "execute-snapshot", data))
        return ()

    says = (
        "The connector is asked for an incremental snapshot. Its rows come into the same topics among the changes, and "
        "the lane maps them as it maps these; the connector leaves out what changed meanwhile. Where none come, it "
        "does not take signals there: see its settings signal.data.collection and signal.enabled.channels."
    )
    return LoadPlan(lane, tables, begin, says)


_SAYS = (
    "What the topics held before the lane began is mapped, up to the first record that it mapped; keys that it has "
    "mapped since are left out."
)


def plan_beginning(lane: Lane, topics: Mapping[str, str]) -> LoadPlan:
    """Inspect a load of what topics held before; see ``initial_load.plan_load``."""
    tables = []
    firsts: dict[str, dict[int, int]] = {}
    for table, topic in topics.items():
        begins = load_control.ends(lane.servers, topic, EARLIEST_OFFSET)
        firsts[topic] = load_control.first_mapped(lane.servers, lane.matrix, lane.group, topic)
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
        progress = load_control.rows_topic(id_, table.topic)
        load_control.make_rows_topic(lane.servers, progress, table.partitions)
        starts = load_control.ends(lane.servers, table.topic, EARLIEST_OFFSET)
        return load_control.orders_of_beginning(id_, table.topic, progress, starts, firsts[table.topic])

    return LoadPlan(lane, tuple(tables), begin, _SAYS)
