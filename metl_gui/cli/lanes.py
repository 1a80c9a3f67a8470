"""The commands about fast lanes and initial loads: ``lane`` and ``load``."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, FOUND, Commands, add_project, seconds, wrong_usage
from metl_gui.cli.output import Output
from metl_gui.core.counted import number_of

if TYPE_CHECKING:
    from metl_gui.core.runs.lanes import LoadProgress, PartitionReset
    from metl_gui.workbench.lanes.control import CoordinationStatus, Lane
    from metl_gui.workbench.lanes.offset_reset import OffsetResetResult
    from metl_gui.workbench.session import Workbench


_LANE_HELP = (
    "The lanes of a project on one Kafka cluster agree on the state that they map with, wherever they run. `list` "
    "shows them; `freeze` lets newly published states wait, `unfreeze` lets them be taken up again; "
    "`roll-back --state N` takes all of them to a published state, until something is published anew; "
    "`set-back --to WHERE` sets the offsets of one lane back, alive or stopped; `wait` ends once a state is mapped "
    "with by all. Without --yes the four that change something only say what they would do and what would be "
    "repeated, and end with 3."
)
_SHOWN = 40


def register_lane(commands: Commands) -> None:
    """Add ``lane``."""
    parser = commands.add("lane", run_lane, "look at fast lanes that run, and order them", _LANE_HELP)
    parser.add_argument("action", choices=[*_ACTIONS])
    add_project(parser)
    parser.add_argument("lane", nargs="?", default="", metavar="RUN", help="the run of a lane, where there are several")
    parser.add_argument("--state", type=int, metavar="N", help="roll-back: to this state; wait: for this state")
    parser.add_argument(
        "--to",
        default="",
        metavar="WHERE",
        help="set-back: earliest, a time like 2026-11-22T05:00:00Z, topic/partition/offset with commas between, or "
        "state:N for where the lane took up state N",
    )
    parser.add_argument(
        "--seconds", type=seconds, default=60.0, metavar="N", help="wait, set-back: how long at most (default: 60)"
    )
    parser.add_argument("--yes", action="store_true", help="do it, instead of saying what it would do")


def run_lane(arguments: argparse.Namespace, out: Output) -> int:
    """Do what is asked with lanes."""
    from metl_gui.workbench.session import Workbench

    for option, action in (("state", "roll-back"), ("to", "set-back")):
        if arguments.action == action and not (getattr(arguments, option) or getattr(arguments, option) == 0):
            wrong_usage(arguments, f"{action} needs --{option}")
    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        return _ACTIONS[arguments.action](workbench, arguments, out)


def _list(workbench: Workbench, _arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.lanes.control import lanes

    found = lanes(workbench)
    lines = [line for lane in found for line in _lane_lines(lane)]
    out.result({"lanes": [lane.as_json() for lane in found]}, lines or ["No fast lane was started on this computer."])
    return DONE


def _freeze(workbench: Workbench, arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.lanes.control import find_lane, freeze, unfreeze

    lane = find_lane(workbench, arguments.lane, for_all=True)
    is_freezing = arguments.action == "freeze"
    if not arguments.yes:
        return _asked(out, lane, _freeze_text(lane, is_freezing=is_freezing))
    agreed = (freeze if is_freezing else unfreeze)(lane)
    out.result({"done": True, **_agreed_json(agreed)}, list(_agreed_lines(agreed)))
    return DONE


def _freeze_text(lane: Lane, *, is_freezing: bool) -> str:
    state = f"state {lane.agreement.in_force}" if lane.agreement else "the state that they map with"
    if is_freezing:
        return f"All lanes of the project stay with {state}; what is published waits. Nothing is repeated."
    pending = lane.agreement.pending if lane.agreement else None
    then = f"State {pending} waits and is taken up" if pending is not None else "What is published is taken up again"
    return f"{then} between two transactions, once all are ready. Nothing is repeated."


def _roll_back(workbench: Workbench, arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.lanes.control import agreement, find_lane, roll_back
    from metl_gui.workbench.lanes.offset_reset import repeated_since
    from metl_gui.workbench.publishing.publication import production_document

    lane = find_lane(workbench, arguments.lane, for_all=True)
    if not arguments.yes:
        production_document(workbench, arguments.state)
        since = repeated_since(lane)
        count = sum(back.records for back in since)
        in_force = lane.agreement.in_force if lane.agreement else None
        text = (
            f"All lanes of the project map with state {arguments.state} from then on, until something is published "
            "anew. Nothing is repeated."
        )
        if count and in_force != arguments.state:
            text += (
                f" This lane mapped up to {number_of(count, 'record')} with state {in_force}; to map them again "
                f"afterwards: metl lane set-back "
                f"{shlex.quote(arguments.project)} {lane.run_id} --to state:{in_force} --yes"
            )
        return _asked(out, lane, text, since)
    roll_back(workbench, lane, arguments.state)
    agreed = agreement(lane.servers, lane.matrix)
    out.result(
        {"done": True, **_agreed_json(agreed)},
        [f"State {arguments.state} is announced; lanes take it up once all are ready.", *_agreed_lines(agreed)],
    )
    return DONE


def _set_back(workbench: Workbench, arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.lanes.control import find_lane
    from metl_gui.workbench.lanes.offset_reset import set_back

    plan = set_back(find_lane(workbench, arguments.lane), arguments.to)
    if not arguments.yes:
        out.result({"done": False, **plan.as_json()}, [*_back_lines(plan.partitions), *_hint(plan.records)])
        return FOUND if plan.records else DONE
    with out.watching() as watch:
        done = plan.do(watch, arguments.seconds)
    out.result(
        {"done": True, **plan.as_json(), "set_back": done.done, "waiting": done.waiting},
        [*_back_lines(plan.partitions), *_done_lines(done)],
    )
    return DONE


def _wait(workbench: Workbench, arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.lanes.control import find_lane, wait_for_state

    lane = find_lane(workbench, arguments.lane, for_all=True)
    with out.watching() as watch:
        agreed = wait_for_state(lane, arguments.state, arguments.seconds, watch)
    out.result(_agreed_json(agreed), list(_agreed_lines(agreed)))
    return DONE


_ACTIONS = {
    "list": _list,
    "freeze": _freeze,
    "unfreeze": _freeze,
    "roll-back": _roll_back,
    "set-back": _set_back,
    "wait": _wait,
}


def _asked(out: Output, lane: Lane, text: str, repeated: tuple[PartitionReset, ...] = ()) -> int:
    """Print what would be done; return the exit code of a check that found something."""
    document = {"done": False, "run_id": lane.run_id, "would": text, "records": sum(back.records for back in repeated)}
    out.result(document, [text, "Nothing is done yet: say it again with --yes."])
    return FOUND


def _lane_lines(lane: Lane) -> Iterator[str]:
    spec, process = lane.run.order.spec, lane.run.process
    life = "runs" if process.lives else ("died" if process.has_died else "ended")
    yield f"{lane.run_id}  {life}  {spec.source.address} -> {spec.sink.address}  group {lane.group}"
    if lane.trouble:
        yield f"  {lane.trouble}"
    if lane.keeps_its_state:
        yield f"  stays with state {spec.mapping.state}, whatever is published"
    if lane.agreement is not None:
        yield from (f"  {line}" for line in _agreed_lines(lane.agreement))


def _agreed_lines(agreed: CoordinationStatus) -> Iterator[str]:
    if agreed.in_force is None:
        yield "No state is in force yet."
    else:
        frozen = f", frozen by {agreed.frozen_by or 'somebody'}" if agreed.is_frozen else ""
        yield f"State {agreed.in_force} is in force{frozen}."
    if agreed.pending is not None:
        yield f"State {agreed.pending} waits{' until the lanes are unfrozen' if agreed.is_frozen else ''}."
    for member in agreed.members[:_SHOWN]:
        state = "no state yet" if member.state is None else f"state {member.state}"
        alive = "" if member.is_alive else f", silent for {member.seconds_silent:.0f} s and not waited for"
        trouble = f"; {member.trouble}" if member.trouble else ""
        yield f"  {member.instance}: maps with {state}, ready for {member.ready_for}{alive}{trouble}"
    if len(agreed.members) > _SHOWN:
        yield f"  and {len(agreed.members) - _SHOWN} more"


def _agreed_json(agreed: CoordinationStatus) -> dict[str, object]:
    from metl_gui.workbench.lanes.control import member_json

    return {
        "state": agreed.in_force,
        "pending": agreed.pending,
        "frozen": agreed.is_frozen,
        "members": [member_json(one) for one in agreed.members],
    }


def _back_lines(backs: tuple[PartitionReset, ...]) -> Iterator[str]:
    for back in backs[:_SHOWN]:
        place = f"{back.topic}/{back.partition}"
        if not back.records:
            yield f"{place}: stays at {back.position:,}"
            continue
        when = f", the first of {_time(back.from_ms)}" if back.from_ms is not None else ""
        yield f"{place}: from {back.position:,} to {back.to:,}, up to {number_of(back.records, 'record')} again{when}"
        if back.gone:
            yield f"  {number_of(back.gone, 'offset is', 'offsets are')} gone from the topic before that"
    if len(backs) > _SHOWN:
        yield f"and {len(backs) - _SHOWN} partitions more"
    records = number_of(sum(back.records for back in backs), "record")
    yield f"Up to {records} would be mapped and sent again, each at its position."


def _hint(records: int) -> list[str]:
    return ["Nothing is done yet: say it again with --yes."] if records else ["There is nothing to set back."]


def _done_lines(done: OffsetResetResult) -> Iterator[str]:
    yield f"{done.done} partitions are set back."
    if done.waiting:
        yield f"{done.waiting} more are ordered and follow once their tasks get to it."


def _time(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


_LOAD_HELP = (
    "Map all existing rows of tables once, through the matrix of a fast lane that goes on meanwhile; no row is lost, "
    "and none is put back to an older value. The rows come from the database (--from postgresql), from what the topics "
    "held before the lane began (--from beginning), or from the connector (--from debezium). Without --yes it says "
    "what it would do and ends with 3. Ends with 3 too when rows were left out whose changes leave out large values."
)


def register_load(commands: Commands) -> None:
    """Add ``load``."""
    parser = commands.add("load", run_load, "load the existing rows of tables while a lane runs", _LOAD_HELP)
    add_project(parser)
    parser.add_argument("lane", nargs="?", default="", metavar="RUN", help="the run of a lane, where there are several")
    parser.add_argument("--tables", default="", metavar="T,...", help="schema.table, with commas between")
    parser.add_argument(
        "--from",
        dest="way",
        choices=("postgresql", "beginning", "debezium"),
        default="postgresql",
        help="where the rows come from (default: postgresql)",
    )
    parser.add_argument(
        "--database", default="", metavar="URL", help="postgresql://user@host:port/database or @PROFILE"
    )
    parser.add_argument("--slot", default="", metavar="NAME", help="the replication slot of the connector")
    parser.add_argument("--driver", default="", metavar="JAR", help="PostgreSQL's JDBC driver (default: fetch it once)")
    parser.add_argument(
        "--signal", default="", metavar="WHERE", help="where the connector takes signals: schema.table or kafka:TOPIC"
    )
    parser.add_argument("--status", action="store_true", help="say how far loads are")
    parser.add_argument("--give-up", action="store_true", help="take no more rows of the loads of --tables")
    parser.add_argument("--yes", action="store_true", help="do it, instead of saying what it would do")


def run_load(arguments: argparse.Namespace, out: Output) -> int:
    """Load, or say what would be loaded, or how far loads are."""
    from metl_gui.workbench.lanes.control import find_lane
    from metl_gui.workbench.session import Workbench

    if not arguments.status:
        if not arguments.tables:
            wrong_usage(arguments, "name the tables with --tables")
        has_place = arguments.database or arguments.signal.startswith("kafka:") or arguments.way == "beginning"
        if not has_place and not arguments.give_up:
            wrong_usage(arguments, f"--from {arguments.way} needs --database")
    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        lane = find_lane(workbench, arguments.lane)
        if arguments.status:
            return _status(lane, out)
        return _give_up(lane, arguments, out) if arguments.give_up else _load(workbench, lane, arguments, out)


def _load(workbench: Workbench, lane: Lane, arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.lanes.initial_load import LoadRequest, as_json, plan_load

    request = LoadRequest(
        _tables(arguments), arguments.way, arguments.database, arguments.slot, arguments.driver, arguments.signal
    )
    with out.watching() as watch:
        plan = plan_load(workbench, lane, request, watch)
    head = [*(table.text for table in plan.tables), plan.says]
    if not arguments.yes:
        told = [
            {"table": one.table, "topic": one.topic, "rows": one.records, "checked": one.checked} for one in plan.tables
        ]
        out.result({"done": False, "tables": told, "says": plan.says}, [*head, "Nothing is done yet; add --yes."])
        return FOUND
    with out.watching() as watch:
        done = plan.do(watch)
    lines = [line for one in done for line in lines_of(one)]
    out.result({"done": True, "loads": [as_json(one) for one in done]}, lines or [plan.says])
    return FOUND if any(one.superseded_partly or one.is_given_up for one in done) else DONE


def _give_up(lane: Lane, arguments: argparse.Namespace, out: Output) -> int:
    from metl_gui.workbench.lanes.initial_load import as_json, give_up

    tables = _tables(arguments)
    if not arguments.yes:
        says = "The lane takes no more rows of the loads; what it mapped of them stays."
        out.result({"done": False, "tables": list(tables), "says": says}, [says, "Nothing is done yet; add --yes."])
        return FOUND
    with out.watching() as watch:
        done = give_up(lane, tables, watch)
    out.result(
        {"done": True, "loads": [as_json(one) for one in done]}, [line for one in done for line in lines_of(one)]
    )
    return DONE


def _tables(arguments: argparse.Namespace) -> tuple[str, ...]:
    return tuple(filter(None, (each.strip() for each in arguments.tables.split(","))))


def _status(lane: Lane, out: Output) -> int:
    from metl_gui.workbench.lanes.initial_load import as_json, loads_of

    found = loads_of(lane)
    lines = [line for one in found for line in lines_of(one)]
    out.result({"loads": [as_json(one) for one in found]}, lines or ["Nothing was loaded yet."])
    return DONE


def lines_of(one: LoadProgress) -> list[str]:
    """Describe how far a load is, or what became of it."""
    state = "given up" if one.is_given_up else "loaded" if one.is_done else "loading"
    lines = [f"{one.changes}: {state}, {one.done:,} of {one.rows:,} rows."]
    if one.superseded:
        lines.append(f"  {one.superseded:,} were left out, as a change of the row was mapped.")
    if one.superseded_partly:
        lines.append(
            f"  {one.superseded_partly:,} were left out although their changes leave out large values that did not "
            "change: load once more, or set REPLICA IDENTITY FULL."
        )
    return lines
