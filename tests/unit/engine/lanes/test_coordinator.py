"""A member of a lane prepares what is announced; what stands in the way of that for a moment is no refusal."""

from __future__ import annotations

import pytest

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.run_spec import PlanState
from metl_gui.engine.lanes.coordination import coordinator
from metl_gui.engine.lanes.coordination.coordinator import StateCoordinator
from metl_gui.engine.lanes.coordination.member import CoordinationSettings
from metl_gui.engine.lanes.coordination.records import Announced, digest_of
from metl_gui.errors import RunError

PLAN = b"{}"
ANNOUNCED = Announced(state=2, hash="h", digest=digest_of(PLAN), chunks=1)


@pytest.mark.logs("is read again")
def test_a_plan_that_cannot_be_read_while_servers_are_away_is_read_again_and_not_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    away = [RunError("What lanes agree on cannot be read to its end.")]

    def read(*_: object) -> bytes:
        if away:
            raise away.pop()
        return PLAN

    monkeypatch.setattr(StateCoordinator, "_live", lambda _member: None)  # no broker is asked for anything else
    monkeypatch.setattr(coordinator, "read_plan", read)
    monkeypatch.setattr(coordinator, "_AGAIN_SECONDS", 0.0)
    prepared: list[int] = []
    started_with = PlanState(state=1, hash="", plan=b"one")
    member = StateCoordinator(
        KafkaServers(bootstrap="127.0.0.1:1"),
        "m",
        "lane/0",
        started_with,
        CoordinationSettings(lane="lane"),
        lambda state: prepared.append(state.state),
    )
    member._make(ANNOUNCED)
    assert (prepared, member._membership.refused) == ([], {})
    member._make(ANNOUNCED)
    assert (prepared, ANNOUNCED.digest in member._membership.prepared) == ([2], True)
