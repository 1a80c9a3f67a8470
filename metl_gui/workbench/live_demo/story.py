"""What happens in the live demo, whoever decides: servers, a shop, a project, a lane, releases, a count at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.errors import ProjectError
from metl_gui.packaged import sample_projects
from metl_gui.workbench.components.connect import Connector
from metl_gui.workbench.live_demo.lane import Lane, start_lane
from metl_gui.workbench.live_demo.project import LEAST_SCORE, Made, set_up
from metl_gui.workbench.live_demo.servers import Servers, start_servers
from metl_gui.workbench.live_demo.shop import ADDED_COLUMN, RENAMED_COLUMN, SERVICE, Release, Shop
from metl_gui.workbench.progress import Watch
from metl_gui.workbench.sample import SampleFolder, fresh_folder
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.version_tasks import collect_tasks, version_tasks

SAMPLE = "shop"
RELEASES = (ADDED_COLUMN, RENAMED_COLUMN)
_FLOWING = 200
_FEW = 3
_LOOK_SECONDS = 0.2
_TASK_SECONDS = 60.0

_END_SECONDS = 45.0

Tell = Callable[[str, str], None]
"""Takes what happens, and what to look at; the latter may be empty."""


@dataclass(frozen=True, slots=True)
class Rows:
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
    connector: Connector = field(init=False)
    lane: Lane = field(init=False)

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
        """Look into what was set aside and return the task for the version of a release.

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

    def end(self) -> dict[str, Rows]:
        """Close the shop, wait until all of its messages are through, and count.

        Returns:
            For each entity the rows in PostgreSQL and those that stand in its topic.

        Raises:
            RunError: the lane ended, or servers do not answer.
        """
        from metl_gui.engine.kafka.standing import rows_standing

        self.shop.close()
        told = self.shop.counts()
        end = time.monotonic() + _END_SECONDS
        while True:
            self.lane.look()
            found = {
                entity: Rows(
                    count, rows_standing(self.servers.kafka.servers, self.servers.kafka.address(f"canonical.{entity}"))
                )
                for entity, count in told.items()
            }
            if all(rows.are_equal for rows in found.values()) or time.monotonic() > end:
                return found
            self.watch.step("Waiting until all messages of the shop are through")
            time.sleep(_LOOK_SECONDS)
