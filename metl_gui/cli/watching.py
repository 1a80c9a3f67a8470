"""The command about registries that announce versions: ``watch``."""

from __future__ import annotations

import argparse
import re
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from metl_gui.cli.commands import AT_FAULT, DONE, Commands, add_project
from metl_gui.cli.outcomes import CANCELLED
from metl_gui.cli.output import Output

if TYPE_CHECKING:
    from metl_gui.workbench.watching import WatchEvent

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([smh]?)")
_LEAST_SECONDS, _MOST_SECONDS = 1, 24 * 3600
_KEPT_EVENTS = 1000


def register(commands: Commands) -> None:
    """Add ``watch``."""
    parser = commands.add(
        "watch",
        run_watch,
        "watch a registry or a database and bring new versions into the project at once",
        "Each new version inherits the mapping of the one before, as with metl import; what happens is told as it "
        "happens. A registry that goes away is asked again, less and less often, until it is back. The project is "
        "held only while something is added: while somebody else edits it, new versions wait. Ctrl-C ends it. With "
        "--once it looks once, and ends with 1 when there was no answer or everything was refused.",
    )
    add_project(parser)
    parser.add_argument("source", metavar="PROFILE", help="@NAME of a profile, or an address as metl import takes it")
    parser.add_argument("--tree", default="extraction", choices=["extraction", "cdm"], help="where the schemas belong")
    parser.add_argument(
        "--every",
        default=10.0,
        type=_every,
        metavar="TIME",
        help="how often to look: 10s (the default), 5m ...",
    )
    parser.add_argument("--once", action="store_true", help="look once and end")
    parser.add_argument(
        "--only", action="append", default=[], metavar="PATTERN", help="only these subjects or tables; may come again"
    )
    parser.add_argument("--prefix", default="", metavar="NAME", help="what topics of a database's tables begin with")


def run_watch(arguments: argparse.Namespace, out: Output) -> int:
    """Look at a registry once, or again and again."""
    from metl_gui.core.trees.nodes import Side
    from metl_gui.workbench.remote_sources import Choice, check_source
    from metl_gui.workbench.session import Workbench
    from metl_gui.workbench.watching import Watcher, event_json, event_lines, into_file

    path = Path(arguments.project)
    check_source(arguments.source)
    with Workbench.open(path, for_editing=False):
        pass  # a project that is not there is told before anything is asked
    events: deque[WatchEvent] = deque(maxlen=_KEPT_EVENTS)

    def tell(event: WatchEvent) -> None:
        events.append(event)
        out.note("\n".join(event_lines(event)))

    choice = Choice(tuple(arguments.only), arguments.prefix)
    watcher = Watcher(arguments.source, into_file(path, Side(arguments.tree)), tell, arguments.every, choice)
    with out.watching() as watch:
        if arguments.once:
            watcher.look(watch)
        else:
            out.note(f"Watching {arguments.source} for {path.name}; Ctrl-C ends it.")
            watcher.follow(watch)
    line = f"Looked {watcher.looks} time{'' if watcher.looks == 1 else 's'}, added {watcher.added} versions."
    out.result({"looks": watcher.looks, "added": watcher.added, "events": [event_json(one) for one in events]}, [line])
    if out.was_interrupted:
        return CANCELLED
    return DONE if watcher.is_well else AT_FAULT


def _every(text: str) -> float:
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write it like 10s, 5m or 1h")
    number = float(found[1]) * _UNITS[found[2]]
    if not _LEAST_SECONDS <= number <= _MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"{text} is not between {_LEAST_SECONDS}s and {_MOST_SECONDS // 3600}h")
    return number
