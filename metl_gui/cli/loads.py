"""The command about initial loads: ``load``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, FOUND, Commands, add_project, wrong_usage
from metl_gui.cli.output import Output

if TYPE_CHECKING:
    from metl_gui.engine.loading.lane_loads import LoadProgress
    from metl_gui.workbench.lanes import Lane
    from metl_gui.workbench.session import Workbench

_MORE = (
    "Map all existing rows of tables once, through the matrix of a fast lane that goes on meanwhile; no row is lost, "
    "and none is put back to an older value. The rows come from the database (--from postgresql), from what the topics "
    "held before the lane began (--from beginning), or from the connector (--from debezium). Without --yes it says "
    "what it would do and ends with 3. Ends with 3 too when rows were left out whose changes leave out large values."
)


def register(commands: Commands) -> None:
    """Add ``load``."""
    parser = commands.add("load", run_load, "load the existing rows of tables while a lane runs", _MORE)
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
    from metl_gui.workbench.lanes import find_lane
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
    from metl_gui.workbench.loading import LoadRequest, as_json, plan_load

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
    from metl_gui.workbench.loading import as_json, give_up

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
    from metl_gui.workbench.loading import as_json, loads_of

    found = loads_of(lane)
    lines = [line for one in found for line in lines_of(one)]
    out.result({"loads": [as_json(one) for one in found]}, lines or ["Nothing was loaded yet."])
    return DONE


def lines_of(one: LoadProgress) -> list[str]:
    """Say how far a load is, or what became of it."""
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
