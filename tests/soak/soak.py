"""The soak: a load, releases and kills beside each other, and what became of it all."""

from __future__ import annotations

import os
import subprocess
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Any

from metl_gui.errors import MetlError, RunError, SetupError
from tests.soak.consuming import Consuming
from tests.soak.faults import FAULTS
from tests.soak.lane import Lane, Memory, resident
from tests.soak.load import Load
from tests.soak.load import start as start_load
from tests.soak.project import Project
from tests.soak.servers import Servers
from tests.soak.tables import LEDGER, Release, Table, tables
from tests.soak.telling import Teller

_LOOK_SECONDS = 1.0
_TELL_SECONDS = 30.0
_MEMORY_SECONDS = 300.0
_FIRST_ROWS = 400
_TAKEN_UP_SECONDS = 240.0
_FLOWS_SECONDS = 300.0
_QUIET_SECONDS = 90.0
_DRAIN_SECONDS = 900.0
_LAST_SECONDS = 30.0
_LONG_ENOUGH_SECONDS = 15.0
_SILENT_SECONDS = 2.0
_KINDS = ("add", "rename", "drop")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a soak.

    Args:
        minutes: how long rows are written.
        rate: changed rows a second.
        change_every, kill_every: minutes between two releases, and between two kills.
        wait_seconds: how long a partition waits for an unknown version.
        has_schemas: whether messages carry their schemas.
        faults: what is killed, in turn.
    """

    minutes: float
    rate: float
    change_every: float
    kill_every: float
    wait_seconds: float
    has_schemas: bool
    faults: tuple[str, ...] = tuple(FAULTS)


@dataclass(slots=True)
class Figures:
    """What was noted on the way.

    Args:
        replayed: records that replays mapped.
        again: records that replays set aside again.
        problems: what went wrong in the soak itself or in a command.
        memory: what the lane's processes held, by minute.
        recoveries: what was killed, and seconds until records flowed again.
        most_lag: records that were behind at the worst moment that was looked at.
    """

    replayed: int = 0
    again: int = 0
    problems: list[str] = field(default_factory=list)
    memory: list[tuple[float, Memory]] = field(default_factory=list)
    recoveries: list[tuple[str, float]] = field(default_factory=list)
    releases: int = 0
    most_lag: int = 0


class Soak:
    """One soak.

    Args:
        wanted: what is asked.
        servers: what it runs on.
        folder: where the project and everything of the lane goes.
        teller: says what happens.
    """

    def __init__(self, wanted: Wanted, servers: Servers, folder: Path, teller: Teller) -> None:
        self.wanted = wanted
        self.servers = servers
        self.say = teller.say
        self.tables: tuple[Table, ...] = tables()
        self.project = Project(folder / "soak.metl", servers.postgres.address, self.tables)
        self.lane = Lane(servers, self.project.path, folder, wanted.wait_seconds)
        self.figures = Figures()
        self.consuming: Consuming | None = None
        self._is_over = threading.Event()
        self._hands = threading.Lock()  # who operates all this does one thing after the other
        self._last_fault = "none"
        self._told = (time.monotonic(), 0, 0)

    @property
    def topics(self) -> list[str]:
        """The topics of the entities."""
        return [f"canonical.{entity}" for entity in self.project.entities]

    def begin(self) -> Consuming:
        """Make the tables, the project and the lane, up to records that flow."""
        postgres = self.servers.postgres
        postgres.execute(LEDGER + "".join(table.made() for table in self.tables))
        for table in self.tables:
            # Rows that Debezium finds are read as they are then: what became of them before is nowhere.
            postgres.execute(f"SELECT {table.function}({_FIRST_ROWS}, 0, 0);")
        self.servers.watch_tables([table.name for table in self.tables], has_schemas=self.wanted.has_schemas)
        state = self.project.make()
        self.say(f"The project has state {state} published: {self.project.path}.")
        self._wait(self._are_topics_there, "the first records")
        self.lane.start()
        self.say(f"The lane is run {self.lane.run_id}.")
        self.consuming = Consuming(self.servers.kafka.servers, self.topics, self.servers.error_topic, self.tables)
        self._wait(lambda: self.consuming is not None and self.consuming.plain > 0, "the first messages")
        return self.consuming

    def go(self) -> None:
        """Write, release and kill until the time is over, then let everything come to its end."""
        load = start_load(Load(self.servers.postgres.url, self.wanted.rate))
        end = time.monotonic() + 60 * self.wanted.minutes
        threads = [
            threading.Thread(target=self._in_turn, args=(minutes, end, steps), name=name, daemon=True)
            for name, minutes, steps in (
                ("releases", self.wanted.change_every, self._releases()),
                ("kills", self.wanted.kill_every, self._kills()),
            )
        ]
        for thread in threads:
            thread.start()
        try:
            self._watch(lambda: time.monotonic() > end and not any(thread.is_alive() for thread in threads))
        finally:
            self._is_over.set()
            load.terminate()
            load.wait()
        self.say(f"Nothing is written any more: {self.ledger()}.")
        self._drain()

    def ledger(self) -> dict[str, tuple[int, int, int]]:
        """Return what is committed by table: inserted, updated, deleted."""
        rows = self.servers.postgres.execute("SELECT name, inserted, updated, deleted FROM soak.ledger ORDER BY name;")
        return {str(name): (int(str(new)), int(str(old)), int(str(gone))) for name, new, old, gone in rows}

    def written(self) -> int:
        """Return how many changes are committed in the database."""
        return sum(sum(counts) for counts in self.ledger().values())

    def _are_topics_there(self) -> bool:
        from confluent_kafka.admin import AdminClient

        known = AdminClient(dict(self.servers.kafka.servers.client_settings)).list_topics(timeout=10).topics
        return all(table.topic in known for table in self.tables)

    def _watch(self, is_over: Callable[[], bool]) -> None:
        """Tell how far it is until something is so."""
        told = remembered = 0.0
        while not is_over():
            now = time.monotonic()
            self._look()
            if now - told > _TELL_SECONDS:
                told = now
                self._tell()
            if now - remembered > _MEMORY_SECONDS:
                remembered = now
                self._remember()
            time.sleep(_LOOK_SECONDS)

    def _look(self) -> None:
        self.lane.look()
        self.servers.mend()
        self.figures.most_lag = max(self.figures.most_lag, self.lane.lag)
        while self.lane.troubles:
            self.say(f"The lane says: {self.lane.troubles.pop(0)}")

    def _tell(self) -> None:
        lane, consuming = self.lane, self.consuming
        if consuming is None:
            return
        try:
            written = self.written()
        except (SetupError, subprocess.TimeoutExpired):
            written = self._told[1]  # the database is away
        now, before = time.monotonic(), self._told
        seconds = now - before[0]
        self._told = (now, written, consuming.plain)
        figures = lane.newest.latency if lane.newest is not None else None
        own = f"{figures.p50} / {figures.p99} ms" if figures is not None else "-"
        self.say(
            f"{(written - before[1]) / seconds:,.0f}/s written, {(consuming.plain - before[2]) / seconds:,.0f}/s "
            f"consumed; {written:,} changes, {lane.read:,} read, lag {lane.lag:,}, waiting "
            f"{lane.waiting:,}, set aside {lane.set_aside:,}, replayed "
            f"{self.figures.replayed:,}; state {lane.state}; lane p50/p99 {own}, connector to consumer "
            f"{consuming.latencies()}; last fault {self._last_fault}"
        )

    def _remember(self) -> None:
        memory = self.lane.memory()
        self.figures.memory.append((time.monotonic(), memory))
        self.say(f"Memory: {memory}; this program {resident(os.getpid()):,} MiB")

    def _in_turn(self, minutes: float, end: float, steps: Iterator[tuple[str, Callable[[], None]]]) -> None:
        """Do one step after the other, each at its time before the end; what fails is kept as a problem."""
        began = time.monotonic()
        for number, (name, step) in enumerate(steps, 1):
            at = max(began + number * minutes * 60, time.monotonic())
            if at > end - _LAST_SECONDS or self._is_over.wait(at - time.monotonic()):
                return
            try:
                step()
            except (MetlError, AssertionError, OSError, ValueError) as error:
                self.figures.problems.append(f"{name}: {error}")
                self.say(f"PROBLEM in {name}: {error}\n{traceback.format_exc()}")

    def _releases(self) -> Iterator[tuple[str, Callable[[], None]]]:
        for number in count():
            table, kind = self.tables[number % len(self.tables)], _KINDS[number % len(_KINDS)]
            yield f"release {number + 1}", partial(self._release, number + 1, table, kind)

    def _release(self, number: int, table: Table, kind: str) -> None:
        """Release, and take the project along: every other time before its records are given up, or after."""
        release = table.release(number, kind)
        with self._hands:
            self.servers.postgres.execute(release.sql, seconds=300)
        self.say(f"Release {number}: {release.says}{'.' if release.is_new else ', and is as it was before.'}")
        if release.is_new:
            self._take_along(release, number)
        self.figures.releases += 1
        if self.lane.set_aside > self.figures.replayed:
            self._replay()

    def _take_along(self, release: Release, number: int) -> None:
        """Import the version that a release made, decide, publish, and wait until the lane maps with it."""
        began = time.monotonic()
        if number % 2:
            how = "from the catalogue"
            with self._hands:
                state = self.project.meet(release)
        else:
            how = "from its task"
            state = self.project.meet_task(release, self.servers.errors, self.lane.run_id)
        published = time.monotonic()
        self._wait(lambda: self.lane.state == state, f"state {state}", _TAKEN_UP_SECONDS)
        self.say(
            f"Release {number} is imported {how}: state {state} published after {published - began:.1f} s and taken "
            f"up {time.monotonic() - published:.1f} s later; {self.lane.set_aside:,} set aside so far."
        )

    def _replay(self) -> bool:
        """Map what was set aside; whether there was something that could be."""
        with self._hands:
            began = time.monotonic()
            report = self.lane.replay()
        self.figures.replayed += report["mapped"]
        self.figures.again += report["set_aside"]
        self.say(
            f"Replayed: {report['mapped']:,} of {report['read']:,} records are mapped, {report['set_aside']:,} set "
            f"aside again, in {time.monotonic() - began:.0f} s."
        )
        return bool(report["mapped"])

    def _kills(self) -> Iterator[tuple[str, Callable[[], None]]]:
        for name in cycle(self.wanted.faults):
            yield f"kill of {name}", partial(self._kill, name)

    def _kill(self, name: str) -> None:
        with self._hands:
            began = time.monotonic()
            self.say(f"Kill: {name}.")
            self._last_fault = f"{name} at {time.strftime('%H:%M:%S')}"
            FAULTS[name](self.servers, self.lane)
        seconds = self._caught_up(began)
        self.figures.recoveries.append((name, seconds))
        self.say(f"After the kill of {name} the lane had caught up in {seconds:.0f} s.")

    def _caught_up(self, began: float) -> float:
        """Wait until the lane has stayed close behind for a while, and return after how long it was close again."""
        far = time.monotonic()
        while (now := time.monotonic()) - far < _LONG_ENOUGH_SECONDS:
            self.lane.look()
            if self.lane.silent_seconds > _SILENT_SECONDS or self.lane.lag - self.lane.waiting > self.wanted.rate:
                far = now
            if now - began > _FLOWS_SECONDS:
                raise RunError(
                    f"The lane has not caught up for {_FLOWS_SECONDS:.0f} s.", f"Its lag is {self.lane.lag}."
                )
            time.sleep(_LOOK_SECONDS / 4)
        return far - began

    def _wait(self, is_so: Callable[[], bool], what: str, seconds: float = 300.0) -> None:
        end = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > end:
                raise RunError(f"{what} did not come within {seconds:.0f} s.")
            self.lane.look()
            time.sleep(_LOOK_SECONDS / 4)

    def _drain(self) -> None:
        """Wait until consumers have everything, or nothing comes any more."""
        consuming, wanted = self.consuming, self.written()
        if consuming is None:
            return
        began = moved = told = time.monotonic()
        last, is_hopeful = -1, True
        while (now := time.monotonic()) - began < _DRAIN_SECONDS and now - moved < _QUIET_SECONDS:
            self._look()
            if now - told > _TELL_SECONDS:
                told = now
                self._tell()
            if is_hopeful and self.lane.lag == 0 and self.lane.set_aside > self.figures.replayed:
                is_hopeful = self._replay()
            if consuming.distinct == wanted and self.lane.lag == 0:
                break
            if consuming.plain != last:
                last, moved = consuming.plain, now
            time.sleep(_LOOK_SECONDS)
        time.sleep(_LOOK_SECONDS * 5)  # repeats that may still come
        self._tell()
        self._remember()
        self.say(f"Everything came to its end within {time.monotonic() - began:.0f} s.")

    def end(self) -> Mapping[str, Any]:
        """Stop the lane and return its report."""
        self.lane.stop()
        self._wait(lambda: not self.lane.process_id, "the end of the lane", 120)
        return self.lane.report()
