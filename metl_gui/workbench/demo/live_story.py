"""What happens in the live demo, whoever decides: servers, shop, project, lane, releases, a count at the end.

The project is set up from what flows: tables from their first messages, elements from suggestions. The production run
is a fast lane, watched as anybody may, and ended with the demo.
"""

from __future__ import annotations

import secrets
import signal
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from metl_gui.core.progress import Watch
from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.core.runs.events import LaneProgressed, LaneTroubled, RunFailed
from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.run_spec import RunPolicy, SinkSpec, SourceSpec
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.runs.event_log import EventTail
from metl_gui.errors import ProjectError, RunError
from metl_gui.packaged import sample_projects
from metl_gui.values import Value
from metl_gui.workbench.demo.sample import SampleFolder, fresh_folder
from metl_gui.workbench.importing.schema_import import import_sources
from metl_gui.workbench.importing.version_tasks import collect_tasks, version_tasks
from metl_gui.workbench.live import (
    ADDED_COLUMN,
    RENAMED_COLUMN,
    SERVICE,
    Capture,
    GuardedProcess,
    Release,
    Servers,
    Shop,
    start_servers,
)
from metl_gui.workbench.mapping.acceptance import accept_best
from metl_gui.workbench.mapping.suggestions import SuggestionQuery, suggest
from metl_gui.workbench.mapping.table import MapMode, import_mapping
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.review.decisions import confirm_unconfirmed
from metl_gui.workbench.runs.mapping_run import PRODUCTION, RunRequest
from metl_gui.workbench.runs.production import LiveRun, start_production, stop_run
from metl_gui.workbench.runs.topics import make_topics, topics_wanted
from metl_gui.workbench.session import Workbench

LEAST_SCORE = 0.6
"""What is suggested with less is left to the mapping table, as it would be to a person."""
_EACH = 50
_FLOW_SECONDS = 60.0
_LOOK_SECONDS = 0.2


class Made(Value):
    """What was set up.

    Args:
        tables: how many tables were found in the messages.
        entities: how many the canonical model has.
        suggested: elements that were suggested well enough to be taken.
        by_hand: elements that the mapping table added.
        state: the state that was published.
    """

    tables: int
    entities: int
    suggested: int
    by_hand: int
    state: int


def set_up(
    workbench: Workbench, sample: SampleFolder, servers: KafkaServers, feeds: Mapping[str, str], watch: Watch
) -> Made:
    """Fill an empty project and publish it.

    Args:
        workbench: the project, open for editing.
        sample: where the canonical model and the mapping table lie.
        servers: where the messages are.
        feeds: the topics, and the entity that each is for.
        watch: progress and cancel.

    Raises:
        ProjectError: no messages come, or they are not what they should be.
        RunError: the servers do not answer.
    """
    entities = import_sources(workbench, Side.CDM, [sample.canonical_model], watch=watch)
    with tempfile.TemporaryDirectory(prefix="metl-first-") as folder:
        path = Path(folder) / "first.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in _first(servers, tuple(feeds), watch)))
        tables = import_sources(workbench, Side.EXTRACTION, [path], watch=watch)
    refused = (*entities.refused, *tables.refused)
    if refused:
        raise ProjectError("What the demo begins with was refused.", f"{refused[0].source}: {refused[0].reason}")
    taken = sum(_take_suggestions(workbench, topic, entity, watch) for topic, entity in feeds.items())
    mapped = import_mapping(workbench, sample.mapping, MapMode.REPLACE, watch=watch)
    if mapped.conflicts:
        first = mapped.conflicts[0]
        raise ProjectError("The mapping of the demo does not fit.", f"Line {first.line}: {first.reason}")
    confirm_unconfirmed(workbench, "Looked through when the demo began")
    published = publish(workbench, name="As the demo began")
    return Made(len(tables.added), len(entities.added), taken, mapped.set, published.state)


def _take_suggestions(workbench: Workbench, schema: str, entity: str, watch: Watch) -> int:
    asked = SuggestionQuery(schema=schema, entity=entity)
    return accept_best(workbench, suggest(workbench.document, asked, watch=watch), LEAST_SCORE).set


def _first(servers: KafkaServers, topics: tuple[str, ...], watch: Watch) -> list[bytes]:
    """Read the first messages of topics as soon as each has some."""
    from metl_gui.engine.kafka.inspection import first_records

    end = time.monotonic() + _FLOW_SECONDS
    while True:
        found = {topic: first_records(servers, (topic,), _EACH) for topic in topics}
        if all(found.values()):
            return [line for lines in found.values() for line in lines]
        if time.monotonic() > end:
            missing = next(topic for topic, lines in found.items() if not lines)
            raise ProjectError(f"No messages come from {missing}.", "Debezium has written none so far.")
        watch.step("Waiting for the first messages")
        time.sleep(_LOOK_SECONDS)


UNKNOWN = "unknown_version"
_LANE_LOOK_SECONDS = 0.1
_STOP_SECONDS = 15.0
_PATIENCE_SECONDS = 240.0


@dataclass(slots=True)
class DemoLane:
    """The run.

    Args:
        run: its process.
        mark: what its processes carry in their environment.
        newest: how far it is, ``None`` before it is anywhere.
        trouble: what it said last that keeps it from going on.
    """

    run: LiveRun
    mark: str
    newest: LaneProgressed | None = None
    trouble: str = ""
    _tail: EventTail = field(init=False)

    def __post_init__(self) -> None:
        self._tail = EventTail(self.run.folder / "events.jsonl")

    @property
    def state(self) -> int:
        """The newest state that it maps with."""
        return self.newest.state if self.newest is not None else 0

    @property
    def read(self) -> int:
        """How many records it has read."""
        return self.newest.tally.read if self.newest is not None else 0

    @property
    def unknown(self) -> int:
        """How many records it set aside because nobody has imported their version."""
        return self.newest.tally.by_reason.get(UNKNOWN, 0) if self.newest is not None else 0

    @property
    def lag(self) -> int:
        """How many records are there that it has not read."""
        return sum(one.lag for one in self.newest.partitions) if self.newest is not None else 0

    @property
    def told(self) -> str:
        """How far it is, in a line."""
        if self.newest is None:
            return "nothing is mapped so far"
        tally, seconds = self.newest.tally, self.newest.latency.p95
        late = f", 95 of 100 within {seconds:.0f} ms" if seconds is not None else ""
        return (
            f"{tally.read:,} read, {tally.mapped:,} mapped, {tally.set_aside:,} set aside, "
            f"{self.lag:,} behind, state {self.state}{late}"
        )

    def look(self) -> None:
        """Read what it tells.

        Raises:
            RunError: it failed, or its process is gone.
        """
        for event in self._tail.read():
            if isinstance(event, LaneProgressed):
                self.newest = event
                self.trouble = ""
            elif isinstance(event, LaneTroubled):
                self.trouble = event.text
            elif isinstance(event, RunFailed):
                raise RunError(event.title, event.text, event.hint)
        if not self.run.is_alive:
            failure = self.run.report().failure
            raise RunError("The lane ended.", failure, f"See {self.run.folder / 'process.log'}.")

    def wait(self, is_so: Callable[[], bool], text: str, watch: Watch, seconds: float = _PATIENCE_SECONDS) -> None:
        """Wait until something is so.

        Args:
            is_so: asked after each look.
            text: what is waited for.
            watch: progress and cancel.
            seconds: how long.

        Raises:
            RunError: the lane ended, or it took too long.
        """
        end = time.monotonic() + seconds
        while True:
            self.look()
            if is_so():
                return
            if time.monotonic() > end:
                raise RunError(f"{text} took longer than {seconds:.0f} seconds.", self.trouble or self.told)
            watch.step(f"{text}: {self.told}")
            time.sleep(_LANE_LOOK_SECONDS)

    def stop(self) -> None:
        """End it in order; what does not end is killed."""
        if self.run.is_alive:
            stop_run(self.run, _STOP_SECONDS)
        guarded = GuardedProcess(self.run.process.holder.process_id, self.mark)
        guarded.end(is_alive=self.run.is_alive)
        guarded.release()


def request_of(servers: Servers) -> RunRequest:
    """Return what is asked of the run."""
    return RunRequest(
        source=SourceSpec(address=servers.source, follow=True, group="shop-canonical"),
        sink=SinkSpec(address=servers.sink, errors=servers.errors),
        policy=RunPolicy(mode=PRODUCTION, lane="fast"),
    )


def start_lane(workbench: Workbench, servers: Servers, watch: Watch) -> tuple[DemoLane, tuple[str, ...]]:
    """Make the topics of the run and start it.

    Returns:
        The run, and the topics that were made for it.

    Raises:
        UserError: it cannot be started.
    """
    request = request_of(servers)
    plans = topics_wanted(workbench, request)
    make_topics(request, plans)
    mark = secrets.token_hex(8)
    # The run is a process that outlives whoever starts it; this one is ended by its mark, whatever becomes of us.
    run = start_production(workbench, request, watch, GuardedProcess.environment(mark))
    GuardedProcess(run.process.holder.process_id, mark, signal.SIGTERM).begin()
    return DemoLane(run, mark), tuple(plan.name for plan in plans)


SAMPLE = "shop"
RELEASES = (ADDED_COLUMN, RENAMED_COLUMN)
_FLOWING = 200
_FEW = 3
_TASK_SECONDS = 60.0

_END_SECONDS = 45.0

Tell = Callable[[str, str], None]
"""Takes what happens, and what to look at; the latter may be empty."""


class RowCounts(Value):
    """How many rows of an entity there are.

    Args:
        in_tables: in PostgreSQL.
        in_topic: as the messages in the entity's topic leave them.
    """

    in_tables: int
    in_topic: int

    @property
    def are_equal(self) -> bool:
        """Whether nothing was lost and nothing is there twice."""
        return self.in_tables == self.in_topic


@dataclass(slots=True)
class Story:
    """One live demo.

    Args:
        tell: takes what happens, as it happens.
        watch: progress and cancel.
        stack: ends everything that is started.
    """

    tell: Tell
    watch: Watch
    stack: ExitStack
    path: Path = field(init=False)
    servers: Servers = field(init=False)
    shop: Shop = field(init=False)
    connector: Capture = field(init=False)
    lane: DemoLane = field(init=False)

    def begin(self, servers: Servers | None = None) -> None:
        """Start everything, up to a lane in production through which records flow.

        Args:
            servers: servers that run already; by default new ones.

        Raises:
            UserError: something is missing, or does not start.
            RunCancelled: the watch was cancelled.
        """
        sample = SampleFolder(sample_projects() / SAMPLE)
        self.servers = servers or self._start_servers()
        self.tell(
            f"They run: {self.servers.postgres.address}, Kafka at {self.servers.kafka.bootstrap}, "
            f"Connect at {self.servers.connect.url}.",
            "",
        )
        self.shop = Shop(self.servers.postgres, sample.path)
        self.shop.make()
        self.stack.callback(self.shop.close)
        self.shop.open()
        self.connector = self.servers.watch_tables(self.watch)
        self.tell(
            "A shop is open: customers sign up, order, pay and cancel, and Debezium writes each change of its four "
            f"tables into Kafka topics {SERVICE}.*",
            "",
        )
        folder = fresh_folder(f"{SAMPLE}-live")
        self.path = folder.project
        with Workbench.create(self.path) as workbench:
            made = set_up(workbench, sample, self.servers.kafka.servers, self.servers.feeds, self.watch)
            self._tell_made(made)
            self.lane, topics = start_lane(workbench, self.servers, self.watch)
        self.stack.callback(self.lane.stop)
        self.tell(
            f"Topics were made for what is mapped and for what cannot be: {', '.join(topics)}. "
            f"A fast lane starts on Spark: run {self.lane.run.run_id}.",
            "",
        )
        self.lane.wait(lambda: self.lane.read >= _FLOWING and self.lane.lag < _FLOWING, "Records flow", self.watch)
        self.tell(f"Records flow: {self.lane.told}.", "")

    def _start_servers(self) -> Servers:
        self.tell("Starting PostgreSQL, Kafka, and Connect with Debezium.", "")
        return start_servers(self.stack, self.watch)

    def _tell_made(self, made: Made) -> None:
        self.tell(
            f"A project was set up from what flows: {made.tables} tables, each with the version that its messages "
            f"carry, and {made.entities} entities of a canonical model. Of the mapping {made.suggested} elements are "
            f"suggestions that scored {LEAST_SCORE} or more, {made.by_hand} were set by hand. State {made.state} is "
            "published.",
            f"The project is {self.path}.",
        )

    def deploy(self, release: Release) -> int:
        """Deploy a release of the shop while records flow, and wait until the lane meets its messages.

        Returns:
            How many records of unknown versions there were before.
        """
        before = self.lane.unknown
        self.shop.deploy(release)
        self.tell(f"Release of the {release.service} service: {release.says}. Nobody told the lane.", "")
        self.lane.wait(
            lambda: self.lane.unknown >= before + _FEW,
            "Records come that the mapping does not know",
            self.watch,
        )
        return before

    def find_task(self, release: Release) -> VersionTask:
        """Inspect what was set aside and return the task for the version of a release.

        Raises:
            ProjectError: it does not show.
        """
        schema, end = f"{SERVICE}.{release.table}", time.monotonic() + _TASK_SECONDS
        while time.monotonic() < end:
            with Workbench.open(self.path, for_editing=False) as workbench:
                collect_tasks(workbench, self.servers.errors, self.lane.run.run_id)
                task = next((one for one in version_tasks(workbench) if one.schema == schema), None)
            if task is not None:
                return task
            self.watch.step(f"Waiting for a task for {schema}")
            time.sleep(_LOOK_SECONDS)
        raise ProjectError(f"No version task for {schema} shows.", self.lane.told)

    def end(self) -> dict[str, RowCounts]:
        """Close the shop, wait until all of its messages are through, and count.

        Returns:
            For each entity the rows in PostgreSQL and those that stand in its topic.

        Raises:
            RunError: the lane ended, or servers do not answer.
        """
        from metl_gui.engine.kafka.inspection import count_live_rows

        self.shop.close()
        told = self.shop.counts()
        end = time.monotonic() + _END_SECONDS
        while True:
            self.lane.look()
            found = {
                entity: RowCounts(
                    count,
                    count_live_rows(self.servers.kafka.servers, self.servers.kafka.address(f"canonical.{entity}")),
                )
                for entity, count in told.items()
            }
            if all(rows.are_equal for rows in found.values()) or time.monotonic() > end:
                return found
            self.watch.step("Waiting until all messages of the shop are through")
            time.sleep(_LOOK_SECONDS)
