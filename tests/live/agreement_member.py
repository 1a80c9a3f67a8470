"""A member of an agreement as a process of its own: ``python -m tests.live.agreement_member ORDER``, ORDER in JSON.

It prints one JSON line whenever what it may map with changes, and ends in order once its standard input is closed.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import msgspec

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.run_spec import PlanState
from metl_gui.engine.lanes.coordination.coordinator import StateCoordinator
from metl_gui.engine.lanes.coordination.member import CoordinationSettings


class MemberOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What a member is told.

    Args:
        bootstrap, matrix, instance: see ``StateMember``.
        state, publication: what it is started with.
        session_seconds: of its settings.
        hold: it prepares nothing while a file of this name is there, and notes in ``hold.seen`` that it is asked to.
    """

    bootstrap: str
    matrix: str
    instance: str
    state: int
    publication: int
    session_seconds: float
    hold: str = ""


class MemberLine(msgspec.Struct, frozen=True, kw_only=True):
    """What it prints.

    Args:
        state: what it maps with.
        may_map: whether it may.
        trouble: why not, or why not with what was announced.
        plan_bytes: how large the plan of the state is.
    """

    state: int
    may_map: bool
    trouble: str = ""
    plan_bytes: int = 0


def plan_of(state: int) -> PlanState:
    """Return a state whose plan nobody has to be told."""
    return PlanState(state=state, hash=f"hash of {state}", plan=b"plan of %d" % state, publication=state)


def main(order: MemberOrder) -> None:
    """Take part until standard input is closed."""
    is_over = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        is_over.set()

    threading.Thread(target=wait_for_end, daemon=True).start()

    def prepare(_state: PlanState) -> None:
        if order.hold and Path(order.hold).exists():
            Path(f"{order.hold}.seen").touch()
        while order.hold and Path(order.hold).exists():
            time.sleep(0.005)

    started_with = msgspec.structs.replace(plan_of(order.state), publication=order.publication)
    settings = CoordinationSettings(lane=order.instance.split("/")[0], session_seconds=order.session_seconds)
    servers = KafkaServers(bootstrap=order.bootstrap)
    member = StateCoordinator(servers, order.matrix, order.instance, started_with, settings, prepare)
    taken, said = started_with, None
    while not is_over.is_set():
        taken = member.poll() or taken
        line = MemberLine(state=taken.state, may_map=member.may_map, trouble=member.trouble, plan_bytes=len(taken.plan))
        if line != said:
            said = line
            sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
            sys.stdout.flush()
        time.sleep(0.001)
    member.close()


if __name__ == "__main__":
    main(msgspec.json.decode(sys.argv[1].encode(), type=MemberOrder))
