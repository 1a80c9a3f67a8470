"""The production run of the live demo: a fast lane, watched as anybody may, and ended with the demo."""

from __future__ import annotations

import secrets
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from metl_gui.engine.event_tail import EventTail
from metl_gui.engine.events import LaneProgressed, LaneTroubled, RunFailed
from metl_gui.errors import RunError
from metl_gui.workbench.components import guard, guarding
from metl_gui.workbench.live_demo.servers import Servers
from metl_gui.workbench.production import LiveRun, start_production, stop_run
from metl_gui.workbench.progress import Watch
from metl_gui.workbench.running import PRODUCTION, RunRequest
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.topics import make_topics, topics_wanted

UNKNOWN = "unknown_version"
_LOOK_SECONDS = 0.1
_STOP_SECONDS = 15.0
_PATIENCE_SECONDS = 240.0


@dataclass(slots=True)
class Lane:
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
            time.sleep(_LOOK_SECONDS)

    def stop(self) -> None:
        """End it in order; what does not end is killed."""
        if self.run.is_alive:
            stop_run(self.run, _STOP_SECONDS)
        number = self.run.process.holder.process_id
        guard.end(number if self.run.is_alive else 0, self.mark)
        guarding.release_process(number)


def request_of(servers: Servers) -> RunRequest:
    """Return what is asked of the run."""
    return RunRequest(
        source=servers.source,
        sink=servers.sink,
        errors=servers.errors,
        mode=PRODUCTION,
        follow=True,
        lane="fast",
        group="shop-canonical",
    )


def start_lane(workbench: Workbench, servers: Servers, watch: Watch) -> tuple[Lane, tuple[str, ...]]:
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
    run = start_production(workbench, request, watch, {guard.MARK: mark})
    guarding.guard_process(run.process.holder.process_id, mark, signal.SIGTERM)
    return Lane(run, mark), tuple(plan.name for plan in plans)
