"""Fast lanes as people see and order them: who maps with what, freeze, roll back, wait.

The lanes of a project on one Kafka cluster agree on the state they map with, on whatever computers they run; so what is
ordered about the state holds for all of them. Offsets are those of one lane: see ``offset_reset``.
Source: METL §3.4; docs/guide/production.md, "Change it without stopping it".
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.runs.kafka import KafkaServers, parse_address
from metl_gui.core.runs.lanes import MemberFigures
from metl_gui.errors import RunError, UserError
from metl_gui.values import Value
from metl_gui.workbench.runs.mapping_run import PRODUCTION, PinnedState, pin, servers_of
from metl_gui.workbench.runs.production import LiveRun, find_run, processes
from metl_gui.workbench.session import Workbench, person

if TYPE_CHECKING:
    from metl_gui.core.runs.run_spec import RunSpec
    from metl_gui.engine.lanes.coordination.state import CoordinationState

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 0.1


class CoordinationStatus(Value):
    """What the lanes of a project on one cluster agree on.

    Args:
        in_force: the state that all map with; None before the first lane has started.
        pending: a state that was announced and that not all are ready for, or that is frozen.
        is_frozen: newly announced states wait.
        frozen_by: who froze it, or allowed it again; empty when nobody ever did.
        members: the tasks of all lanes, those that died lately included.
        taken_up: by lane (its consumer group) the states that it took up, the first of them first.
    """

    in_force: int | None
    pending: int | None
    is_frozen: bool
    frozen_by: str
    members: tuple[MemberFigures, ...]
    taken_up: dict[str, tuple[int, ...]]

    @property
    def waited_for(self) -> tuple[MemberFigures, ...]:
        """Members that live and are not ready for what is pending."""
        return tuple(one for one in self.members if one.is_alive and one.ready_for != self.pending)


@dataclass(frozen=True, slots=True)
class Lane:
    """A fast lane of this project that was started on this computer.

    Args:
        run: its production run.
        group: its consumer group.
        servers: where it is, with secrets.
        agreement: what it agrees on with all others; None while its servers do not answer.
        trouble: why they do not.
    """

    run: LiveRun
    group: str
    servers: KafkaServers = field(repr=False)
    agreement: CoordinationStatus | None
    trouble: str = ""

    @property
    def run_id(self) -> str:
        """The run."""
        return self.run.run_id

    @property
    def matrix(self) -> str:
        """The id of its project."""
        return self.run.order.spec.mapping.matrix

    @property
    def keeps_its_state(self) -> bool:
        """Whether it was started to stay with its state, whatever the others agree on."""
        return self.run.order.spec.mapping.is_frozen

    def as_json(self) -> dict[str, Any]:
        """Return what ``metl lane list`` prints of it."""
        agreed = self.agreement
        return {
            "run_id": self.run_id,
            "phase": str(self.run.process.phase) if self.run.process.lives else "gone",
            "source": self.run.order.spec.source.address,
            "sink": self.run.order.spec.sink.address,
            "group": self.group,
            "servers": self.servers.shown,
            "keeps_its_state": self.keeps_its_state,
            "state": agreed.in_force if agreed else None,
            "pending": agreed.pending if agreed else None,
            "frozen": agreed.is_frozen if agreed else None,
            "members": [member_json(one) for one in agreed.members] if agreed else [],
            "trouble": self.trouble,
        }


def lanes(workbench: Workbench) -> tuple[Lane, ...]:
    """Return the fast lanes of a project that were ever started on this computer, the newest first.

    Cost: asks each Kafka cluster once, seconds where one does not answer.
    """
    return _lanes([run for run in processes(workbench.project_id) if run.order.spec.is_lane])


def find_lane(workbench: Workbench, run_id: str = "", *, for_all: bool = False) -> Lane:
    """Return a lane by its run; without one the only lane that lives, or else the only one there is.

    Args:
        workbench: the project.
        run_id: the run; empty for the only one.
        for_all: what is ordered holds for all lanes that agree with it, so any of those on one cluster will do.

    Raises:
        RunError: there is no such lane, or more than one.
    """
    if run_id:
        run = find_run(workbench.project_id, run_id)
        if not run.order.spec.is_lane:
            raise RunError(f"Run {run_id} is no fast lane.", hint="See metl lane list PROJECT.")
        return _lanes([run])[0]
    all_runs = [run for run in processes(workbench.project_id) if run.order.spec.is_lane]
    found = [run for run in all_runs if run.process.lives] or all_runs
    if len(found) == 1:
        return _lanes(found)[0]
    agreeing = [run for run in found if not run.order.spec.mapping.is_frozen]
    if for_all and agreeing and len({_hosts_of(run) for run in agreeing}) == 1:
        return _lanes(agreeing[:1])[0]
    if not found:
        raise RunError(
            f"No fast lane of {workbench.path.name} was started on this computer.",
            hint="Start one: metl run PROJECT --mode production --follow --lane fast --source kafka://... ",
        )
    shown = ", ".join(run.run_id for run in found[:5])
    raise RunError(f"There are {len(found)} lanes.", f"They are {shown}.", "Name one of them.")


def freeze(lane: Lane) -> CoordinationStatus:
    """Let newly announced states wait, for all lanes that agree with this one.

    Returns:
        What is agreed on then: what was taken up before everybody heard of it is in force.

    Raises:
        RunError: the servers do not answer, or the lane agrees with nobody.
    """
    return _set_frozen(lane, is_frozen=True)


def unfreeze(lane: Lane) -> CoordinationStatus:
    """Let announced states be taken up again; results and errors as of ``freeze``."""
    return _set_frozen(lane, is_frozen=False)


def roll_back(workbench: Workbench, lane: Lane, state: int) -> None:
    """Take all lanes that agree with this one to a published state, also while they are frozen.

    Nothing is repeated: records from then on are mapped with it, until something is published anew.

    Raises:
        UserError: the state is not published.
        RunError: the servers do not answer, somebody announced another at the same moment, or the lane agrees with
            nobody.
    """
    from metl_gui.engine.lanes.coordination.announcements import announce_again

    _refuse_alone(lane)
    pinned = pin(workbench, PRODUCTION, state, lane.run.order.include_unconfirmed)
    if not announce_again(lane.servers, lane.matrix, pinned.mapping, person()):
        raise RunError(
            f"State {state} was announced, and another one in the same moment after it.",
            hint="See what is in force with metl lane list, and try again.",
        )


def wait_for_state(lane: Lane, state: int | None, seconds: float, watch: Watch = UNWATCHED) -> CoordinationStatus:
    """Wait until a state is in force and every member that lives maps with it.

    Args:
        lane: the lane.
        state: its number; None for whatever is announced.
        seconds: how long at most.
        watch: progress and cancel.

    Raises:
        RunError: it took longer; the error says who is waited for.
    """
    end = time.monotonic() + seconds
    while True:
        agreed = agreement(lane.servers, lane.matrix)
        wanted = (agreed.pending if agreed.pending is not None else agreed.in_force) if state is None else state
        behind = [one for one in agreed.members if one.is_alive and one.state != wanted]
        alive = sum(1 for one in agreed.members if one.is_alive)
        if agreed.in_force == wanted and wanted is not None and alive and not behind:
            return agreed
        watch.step(f"Waiting for state {wanted}: members that map with it", alive - len(behind), alive)
        if time.monotonic() > end:
            raise RunError(
                f"State {wanted} is not mapped with by all after {seconds:g} s.", _why_not(agreed), "metl lane list"
            )
        time.sleep(_LOOK_SECONDS)


def agreement(servers: KafkaServers, matrix: str) -> CoordinationStatus:
    """Read what the lanes of a project agree on.

    Raises:
        RunError: the servers do not answer.
    """
    return _told(fold_of(servers, matrix))


def following(workbench: Workbench) -> tuple[str, ...]:
    """Return the runs of this computer's lanes that live and take up what is published; asks no servers."""
    runs = [run for run in processes(workbench.project_id) if run.order.spec.is_lane and run.process.lives]
    return tuple(run.run_id for run in runs if run.order.follows_published)


def announce_live(workbench: Workbench, address: str) -> bool:
    """Announce the state that is live to all lanes of the project on some servers, wherever they were started.

    Lanes whose processes see the project file hear of it by themselves, within a second.

    Args:
        workbench: the project.
        address: ``kafka://host:port`` or ``kafka://@profile``.

    Returns:
        As of ``announce_pinned``.

    Raises:
        UserError: nothing is published.
        RunError: the servers do not answer, or the address is none.
    """
    from metl_gui.engine.lanes.coordination.announcements import announce

    pinned = pin(workbench, PRODUCTION)
    return announce(servers_of(address)[0], workbench.project_id, pinned.mapping, person())


def announce_pinned(spec: RunSpec, pinned: PinnedState) -> bool:
    """Announce a newly published state to all lanes that agree with a run.

    Args:
        spec: the run.
        pinned: the state.

    Returns:
        Whether it is what all are to take up; else another copy of the project has published something newer.

    Raises:
        RunError: the servers do not answer.
    """
    from metl_gui.engine.lanes.coordination.announcements import announce

    is_newest = announce(servers_of(spec.source.address)[0], spec.mapping.matrix, pinned.mapping, person())
    if is_newest:
        _log.info("state %s was published and is announced to all lanes", pinned.document.state)
    else:
        _log.warning("state %s is not taken up: lanes were told of something newer", pinned.document.state)
    return is_newest


def _hosts_of(run: LiveRun) -> tuple[str, str]:
    address = parse_address(run.order.spec.source.address)
    return address.bootstrap, address.profile


def _lanes(runs: list[LiveRun]) -> tuple[Lane, ...]:
    return tuple(_each_lane(runs))


def _each_lane(runs: list[LiveRun]) -> Iterator[Lane]:
    from metl_gui.engine.lanes.order import group_of

    asked: dict[tuple[str, str], CoordinationStatus | str] = {}
    for run in runs:
        spec = run.order.spec
        group = group_of(spec.source.group, run.run_id)
        try:
            servers = servers_of(spec.source.address)[0]
        except UserError as error:
            yield Lane(run, group, KafkaServers(bootstrap=""), None, f"{error.title} {error.text}".strip())
            continue
        key = (servers.bootstrap, servers.profile)
        if key not in asked:
            try:
                asked[key] = agreement(servers, spec.mapping.matrix)
            except UserError as error:
                asked[key] = f"{error.title} {error.text}".strip()
        found = asked[key]
        yield Lane(run, group, servers, *((None, found) if isinstance(found, str) else (found, "")))


def fold_of(servers: KafkaServers, matrix: str) -> CoordinationState:
    """Read the log that the lanes of a project agree by.

    Raises:
        RunError: the servers do not answer.
    """
    from metl_gui.engine.lanes.coordination.records import topic_of
    from metl_gui.engine.lanes.coordination.topic import read_state

    return read_state(servers, topic_of(matrix))


def _told(fold: CoordinationState) -> CoordinationStatus:
    in_force, pending = fold.state_in_force, fold.pending
    taken_up: dict[str, dict[int, int]] = {}
    for key, change in fold.changes.items():
        taken_up.setdefault(key.lane, {})[key.announced_at] = change.state
    late_ms = max(0, round(time.time() * 1000) - fold.time_ms) if fold.offset >= 0 else 0
    return CoordinationStatus(
        in_force=in_force.state if in_force else None,
        pending=pending.state if pending else None,
        is_frozen=fold.is_frozen,
        frozen_by=fold.frozen.who if fold.frozen else "",
        members=fold.figures(late_ms),
        taken_up={lane: tuple(places[place] for place in sorted(places)) for lane, places in taken_up.items()},
    )


def _set_frozen(lane: Lane, *, is_frozen: bool) -> CoordinationStatus:
    from metl_gui.engine.lanes.coordination import announcements

    _refuse_alone(lane)
    return _told(announcements.freeze(lane.servers, lane.matrix, is_frozen=is_frozen, who=person()))


def _refuse_alone(lane: Lane) -> None:
    if lane.keeps_its_state:
        raise RunError(
            f"Lane {lane.run_id} was started to stay with state {lane.run.order.spec.mapping.state}.",
            "It takes up nothing that the others agree on.",
            "Stop it and start it without --freeze and --state.",
        )


def _why_not(agreed: CoordinationStatus) -> str:
    if agreed.in_force is None:
        return "No lane has taken up any state yet."
    if agreed.is_frozen and agreed.pending is not None:
        return f"State {agreed.pending} waits, as {agreed.frozen_by or 'somebody'} froze the lanes."
    waited = [f"{one.instance}{f' ({one.trouble})' if one.trouble else ''}" for one in agreed.waited_for]
    if agreed.pending is not None and waited:
        return f"Waited for: {', '.join(waited[:5])}."
    behind = f"In force is state {agreed.in_force}"
    return f"{behind}." if any(one.is_alive for one in agreed.members) else f"{behind}, and no task lives."


def member_json(member: MemberFigures) -> dict[str, Any]:
    """Return what ``metl lane`` prints of a member."""
    document: dict[str, Any] = msgspec.to_builtins(member)
    return document
