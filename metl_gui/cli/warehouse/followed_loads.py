"""Options and words of a source that is followed into a warehouse, for the commands that do it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from metl_gui.cli.commands import duration, keeps_session, positive, wrong_usage
from metl_gui.cli.output import Output

if TYPE_CHECKING:
    from metl_gui.core.dimensional.loads.load_policy import LoadPolicy
    from metl_gui.core.dimensional.loads.load_report import LoadReport
    from metl_gui.workbench.loads.warehouse_loads import LoadedRun
    from metl_gui.workbench.runs.mapping_run import RunRequest
    from metl_gui.workbench.session import Workbench


def add_policy(parser: argparse.ArgumentParser) -> None:
    """Add the options that say when what a followed source has brought is loaded into a warehouse."""
    policy = parser.add_argument_group(
        "following into a warehouse",
        "With --follow a load is due when any of these says so; by default every 60 s. The target knows how far it was "
        "loaded: the same command goes on there.",
    )
    policy.add_argument("--every", type=duration, metavar="TIME", help="after so long: 30s, 5min, 2h")
    policy.add_argument("--when-waiting", type=positive, metavar="N", help="once N messages wait")
    policy.add_argument("--when-asked", action="store_true", help="when somebody asks: metl warehouse ask")


def policy_of(arguments: argparse.Namespace) -> LoadPolicy:
    """Return when loads are due."""
    from metl_gui.core.dimensional.loads.load_policy import LoadPolicy

    return LoadPolicy.of(arguments.every, arguments.when_waiting, when_asked=arguments.when_asked)


def refuse_policy(arguments: argparse.Namespace) -> None:
    """Refuse options that would do nothing."""
    if arguments.every is not None or arguments.when_waiting or arguments.when_asked:
        wrong_usage(arguments, "--every, --when-waiting and --when-asked are for --follow into a warehouse")


def followed(
    workbench: Workbench, request: RunRequest, target: str, arguments: argparse.Namespace, out: Output
) -> tuple[LoadedRun, bool]:
    """Follow a source into a warehouse until it is interrupted, and print each load as it is done."""
    from metl_gui.workbench.loads.followed_loads import Following, follow_warehouse
    from metl_gui.workbench.loads.warehouse_loads import load_lines

    def tell(load: LoadReport) -> None:
        out.note(f"{load.load}: {load_lines(load)[0]}")

    with out.watching() as watch:
        done = follow_warehouse(
            workbench,
            request,
            target,
            arguments.model,
            Following(policy_of(arguments), tell),
            watch=watch,
            keeps_session=keeps_session(arguments),
        )
        return done, watch.is_cancelled
