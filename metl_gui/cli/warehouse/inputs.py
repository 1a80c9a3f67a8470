"""The commands of ``warehouse`` that tell a target what no message does: forgotten keys, epochs of logs, compaction."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from metl_gui.cli.commands import DONE, Run
from metl_gui.cli.output import Output

if TYPE_CHECKING:
    from metl_gui.workbench.loads.forgotten_keys import ForgottenReport

NewAction: TypeAlias = Callable[[str, Run, str], argparse.ArgumentParser]
"""Adds a command by its name, what runs it, and a sentence."""


def register(action: NewAction) -> tuple[argparse.ArgumentParser, ...]:
    """Add the commands, and return their parsers."""
    forget = action(
        "forget", run_forget, "take a key out of a target, for good: its messages are left out from then on"
    )
    forget.add_argument("entity", metavar="ENTITY", help="whose key it is")
    forget.add_argument("--key", required=True, metavar="JSON", help="the key as messages have it, an object")
    epoch = action("epoch", run_epoch, "say why the log of a schema went back, where a load asked")
    epoch.add_argument("schema", metavar="SCHEMA", help="its name")
    epoch.add_argument(
        "--from",
        dest="positions",
        action="append",
        required=True,
        metavar="POSITION",
        help="where it went back, as the load named it; again for each partition or file",
    )
    epoch.add_argument("--same", action="store_true", help="old messages were sent again: their log goes on")
    compact = action("compact", run_compact, "keep one state of what each row was before a time, for good")
    compact.add_argument("--before", required=True, metavar="TIME", help="in ISO 8601; UTC where it names no zone")
    return forget, epoch, compact


def run_forget(arguments: argparse.Namespace, out: Output) -> int:
    """Forget a key."""
    from metl_gui.workbench.loads.forgotten_keys import forget_key
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        done = forget_key(workbench, arguments.target, arguments.entity, arguments.key, arguments.model, arguments.mode)
    out.result(done.as_json(), _forgotten_lines(done))
    return DONE


def run_epoch(arguments: argparse.Namespace, out: Output) -> int:
    """Begin an epoch."""
    from metl_gui.workbench.loads.epochs import begin_epoch
    from metl_gui.workbench.loads.warehouse_loads import table_lines
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench:
        done = begin_epoch(
            workbench,
            arguments.target,
            arguments.schema,
            arguments.positions,
            arguments.model,
            arguments.mode,
            is_same=arguments.same,
        )
    where = ", ".join(arguments.positions)
    told = "goes on" if arguments.same else f"is in epoch {done.epoch}"
    out.result(done.as_json(), [f"From {where} on, the log of {done.schema} {told}.", *table_lines(done.load)])
    return DONE


def run_compact(arguments: argparse.Namespace, out: Output) -> int:
    """Compact a target."""
    from metl_gui.workbench.loads.compaction import compact_warehouse
    from metl_gui.workbench.loads.warehouse_loads import table_lines
    from metl_gui.workbench.session import Workbench

    with Workbench.open(Path(arguments.project), for_editing=False) as workbench, out.watching() as watch:
        done = compact_warehouse(
            workbench, arguments.target, arguments.before, arguments.model, arguments.mode, watch=watch
        )
    out.result(done.as_json(), [f"Messages that were taken out: {done.purged:,}.", *table_lines(done)])
    return DONE


def _forgotten_lines(done: ForgottenReport) -> list[str]:
    from metl_gui.workbench.loads.warehouse_loads import table_lines

    purge = done.purge
    messages = f"messages: {done.load.purged:,}, of them set aside: {purge.set_aside:,}"
    rest = f"numbers: {purge.numbers:,}, former keys that other messages named: {purge.links:,}"
    lines = [f"{done.entity}, taken out: {messages}, {rest}.", *table_lines(done.load)]
    lines += [f"Its row had another key too, which is not forgotten: {key}" for key in purge.linked]
    return lines + [f"Left: {one.place}, {one.until}." for one in done.remainders]
