"""The part of ``review`` about versions that messages showed and nobody has imported."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import DONE, positive, wrong_usage
from metl_gui.cli.output import Output
from metl_gui.cli.schemas import import_lines

if TYPE_CHECKING:
    from metl_gui.workbench.version_tasks import TaskEntry

_SHOWN = 12
DECISIONS = ("add_version", "dismiss_version")


def add_decisions(decision: argparse._MutuallyExclusiveGroup) -> None:
    """Add the decisions about version tasks."""
    decision.add_argument("--add-version", type=positive, metavar="ID", help="import a version that messages showed")
    decision.add_argument("--dismiss-version", type=positive, metavar="ID", help="take it off the list")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be said with ``--add-version``."""
    parser.add_argument("--continues", metavar="SCHEMA", help="with --add-version: it is a version of this schema")
    parser.add_argument("--label", metavar="TEXT", help="with --add-version: what the version is called")


def is_meant(arguments: argparse.Namespace) -> bool:
    """Say whether a version task is decided, and refuse options that need one."""
    if arguments.add_version is None and (arguments.continues or arguments.label):
        wrong_usage(arguments, "--continues and --label belong to --add-version ID")
    return arguments.add_version is not None or arguments.dismiss_version is not None


def decide(arguments: argparse.Namespace, out: Output) -> int:
    """Import the version of a task, or take the task off the list."""
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.version_tasks import accept_task, dismiss_task, task_of, waiting_stores

    with Workbench.open(Path(arguments.project)) as workbench:
        if arguments.dismiss_version is not None:
            task = task_of(workbench, arguments.dismiss_version)
            dismiss_task(workbench, task.id)
            out.result({"dismissed": task.id}, [f"The version of {task.schema} is not asked about any more."])
            return DONE
        task = task_of(workbench, arguments.add_version)
        continues, label = arguments.continues or "", arguments.label or ""
        done = accept_task(workbench, task.id, continues=continues, label=label)
        stores = waiting_stores(task)
    lines = list(import_lines(done, Path(arguments.project)))
    lines += [f"Map what waits: metl replay {_quoted(arguments.project)} --errors {_quoted(store)}" for store in stores]
    out.result({**done.as_json(), "errors": list(stores)}, lines)
    return DONE


def task_lines(tasks: tuple[TaskEntry, ...]) -> Iterator[str]:
    """Say in lines which versions messages showed."""
    for entry in tasks:
        task = entry.task
        what = "a schema" if entry.is_new_schema else "a version of it"
        yield f"{task.schema}  {what} that nobody has imported, {task.records:,} records wait"
        paths = [attribute.path for attribute in task.declaration.attributes]
        yield f"  has {_named(paths)}"
        if entry.new_attributes:
            yield f"  new: {_named(entry.new_attributes)}"
        if entry.gone_attributes:
            yield f"  gone: {_named(entry.gone_attributes)}"
        continued = f" --continues {_quoted(entry.continues.name)}" if entry.continues is not None else ""
        if entry.continues is not None:
            yield f"  perhaps it continues {entry.continues.name} ({entry.continues.score:.2f})"
        yield f"  import it: metl review PROJECT --add-version {task.id}{continued}"


def _named(paths: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more


def _quoted(text: str) -> str:
    return shlex.quote(str(text))
