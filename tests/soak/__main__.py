"""An hour of production, with releases and kills, and a count at its end: ``python -m tests.soak --minutes 60``.

PostgreSQL, Kafka, Connect with Debezium and a fast lane in production are real. What the database committed is counted
in the database; what a lane made of it is counted by a consumer that reads what is committed. Ends with 1 when one of
the checks at the end does not hold.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from metl_gui.stack import component
from tests.soak.checks import Check, checks
from tests.soak.faults import FAULTS
from tests.soak.servers import start_servers
from tests.soak.soak import Soak, Wanted
from tests.soak.telling import Teller


def main(arguments: list[str]) -> int:
    """Do what is asked; 0 when every check holds."""
    asked = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # everything is ended on the way out
    teller = Teller(asked.log)
    wanted = Wanted(
        asked.minutes, asked.rate, asked.change_every, asked.kill_every, asked.wait, not asked.bare, tuple(asked.kill)
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="metl-soak-")))
        component.guard_folder(folder)
        servers = start_servers(stack)
        os.environ["PGPASSWORD"] = servers.postgres.password
        soak = Soak(wanted, servers, folder, teller)
        stack.callback(soak.lane.end)
        teller.say(f"{wanted}")
        consuming = soak.begin()
        stack.callback(consuming.close)
        soak.go()
        report = soak.end()
        consuming.stop()
        found = list(checks(soak, consuming, report))
        _tell(teller, soak, found)
    return 0 if all(check.is_right for check in found) else 1


def _tell(teller: Teller, soak: Soak, found: list[Check]) -> None:
    figures = soak.figures
    for line in soak.lane.said():
        teller.say(f"The lane's log: {line}")
    for problem in figures.problems:
        teller.say(f"Problem: {problem}")
    for name, seconds in figures.recoveries:
        teller.say(f"Kill of {name}: caught up after {seconds:.0f} s")
    teller.say(
        f"{figures.releases} releases; at most {figures.most_lag:,} records behind; the connector was started again "
        f"{soak.servers.restarts} times"
    )
    width = max(len(check.what) for check in found)
    teller.say(f"      {'':<{width}} {'wanted':>14} {'found':>14}")
    for check in found:
        mark = "     " if check.is_told_only else "ok   " if check.is_right else "WRONG"
        teller.say(f"{mark} {check.what:<{width}} {check.wanted!s:>14} {check.found!s:>14}")
    wrong = sum(not check.is_right for check in found)
    teller.say("Everything holds." if not wrong else f"{wrong} of {len(found)} checks do not hold.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long rows are written")
    parser.add_argument("--rate", type=float, default=2000.0, help="changed rows a second")
    parser.add_argument("--change-every", type=float, default=5.0, metavar="MINUTES", help="between two releases")
    parser.add_argument("--kill-every", type=float, default=7.0, metavar="MINUTES", help="between two kills")
    parser.add_argument("--kill", nargs="+", choices=sorted(FAULTS), default=list(FAULTS), help="what, in turn")
    parser.add_argument("--wait", type=float, default=20.0, metavar="SECONDS", help="as of metl run")
    parser.add_argument("--bare", action="store_true", help="messages without their schemas")
    parser.add_argument("--log", type=Path, help="a file that gets everything that is printed too")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
