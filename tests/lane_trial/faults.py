"""What goes wrong around a lane in a trial: done for real, once, while records flow."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping

import msgspec

from metl_gui.core.runs.run_spec import PlanState
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.lanes.coordination.announcements import announce
from metl_gui.stack.kafka import KafkaBroker
from tests.benchmarks.live_load import plan_of_versions
from tests.helpers.killing import WORKER, below, command_of
from tests.lane_trial.trial import Trial

_PAUSED_SECONDS = 30.0
_AWAY_SECONDS = 2.0
NEXT_STATE = 18


def broker_killed(trial: Trial, broker: KafkaBroker) -> None:
    """Kill the broker, and start it again."""
    del trial
    broker.kill()
    time.sleep(_AWAY_SECONDS)
    broker.restart()


def broker_paused(trial: Trial, broker: KafkaBroker) -> None:
    """Stop the broker in the middle of whatever it does, and let it go on after half a minute."""
    del trial
    broker.pause()
    time.sleep(_PAUSED_SECONDS)
    broker.go_on()


def worker_killed(trial: Trial, broker: KafkaBroker) -> None:
    """Kill a Python worker: Spark starts the task again."""
    del broker
    daemons = _of(trial, WORKER)
    workers = [one for one in daemons if any(one in below(other) for other in daemons)]
    os.kill(workers[-1], signal.SIGKILL)


def jvm_killed(trial: Trial, broker: KafkaBroker) -> None:
    """Kill Spark's Java: the run fails, and is gone on with."""
    del broker
    os.kill(_of(trial, "java")[0], signal.SIGKILL)


def driver_killed(trial: Trial, broker: KafkaBroker) -> None:
    """Kill the process that holds the run: it is gone on with in another."""
    del broker
    os.kill(trial.spark.process_id or 0, signal.SIGKILL)


def state_changed(trial: Trial, broker: KafkaBroker) -> None:
    """Publish another state, which is no fault: the lane goes over to it while records flow."""
    del broker
    plan = msgspec.structs.replace(plan_of_versions(trial.wanted.versions), state=NEXT_STATE)
    state = PlanState(state=NEXT_STATE, hash="1" * 64, plan=plans.encode(plan), publication=1)
    announce(trial.topics.servers, trial.topics.group, state)


FAULTS: Mapping[str, Callable[[Trial, KafkaBroker], None]] = {
    "broker-killed": broker_killed,
    "broker-paused": broker_paused,
    "worker-killed": worker_killed,
    "jvm-killed": jvm_killed,
    "driver-killed": driver_killed,
    "state-changed": state_changed,
}


def _of(trial: Trial, sign: str) -> list[int]:
    return [one for one in below(trial.spark.process_id or 0) if sign in command_of(one)]
