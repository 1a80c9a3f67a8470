"""What is killed while the soak goes on, one after the other; each is brought back as whoever operates it does."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping

from tests.helpers.lanes import until
from tests.soak.lane import Lane, workers_of
from tests.soak.servers import Servers

_AWAY_SECONDS = 2.0


def kill_worker(servers: Servers, lane: Lane) -> None:
    """Kill a Python worker; Spark starts its task again."""
    del servers
    until(lambda: workers_of(lane.processes("workers")), "a worker")
    os.kill(workers_of(lane.processes("workers"))[-1], signal.SIGKILL)


def kill_java(servers: Servers, lane: Lane) -> None:
    """Kill Spark's Java; the process of the run starts it again."""
    del servers
    until(lambda: lane.processes("java"), "Spark's Java")
    os.kill(lane.processes("java")[0], signal.SIGKILL)


def kill_driver(servers: Servers, lane: Lane) -> None:
    """Kill the process of the run, and go on with it."""
    del servers
    number = lane.process_id
    os.kill(number, signal.SIGKILL)
    until(lambda: lane.process_id != number, "the end of the run")
    lane.resume()


def kill_broker(servers: Servers, lane: Lane) -> None:
    """Kill the broker, and start it again."""
    del lane
    servers.kafka.kill()
    time.sleep(_AWAY_SECONDS)
    servers.kafka.restart()


def kill_connect(servers: Servers, lane: Lane) -> None:
    """Kill Connect, and start it again: Debezium repeats what it wrote last."""
    del lane
    servers.connect.restart()


def kill_postgres(servers: Servers, lane: Lane) -> None:
    """Kill the database, and start it again."""
    del lane
    servers.postgres.kill()
    time.sleep(_AWAY_SECONDS)
    servers.postgres.restart()


FAULTS: Mapping[str, Callable[[Servers, Lane], None]] = {
    "worker": kill_worker,
    "java": kill_java,
    "driver": kill_driver,
    "broker": kill_broker,
    "connect": kill_connect,
    "postgres": kill_postgres,
}
