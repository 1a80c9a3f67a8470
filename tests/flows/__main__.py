"""Count the functions and modules between an event and its effect: ``python -m tests.flows [NAME...] [--json]``.

The baseline of a version, some minutes (the lane starts a real broker)::

    python -m tests.flows --record 0.1.1

``click``: a click on a free cell of the matrix to the commit and the repaint. ``import``: a file with a new version of
a schema, dropped on the window, to its review item on the screen. ``record``: one CDC message through a local run, by
the reference kernel and by the compiled one. ``lane``: one Kafka record through the task of a fast lane, in and out.

``first`` is the action for the first time after all has come to rest, ``again`` the same once more, ``idle`` what is
called while nobody does anything, which a flow may contain too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence

from tests.flows.commands import lane, record_flows
from tests.flows.counting import Flow
from tests.flows.window_flows import window_flow
from tests.helpers.baselines import record

FLOWS: dict[str, Callable[[], list[Flow]]] = {
    "click": lambda: [window_flow("click")],
    "import": lambda: [window_flow("import")],
    "record": record_flows,
    "lane": lambda: [lane()],
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the flows that are named, by default all."""
    parser = argparse.ArgumentParser(prog="python -m tests.flows", description="Count the functions of a flow.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(FLOWS)}; by default all")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--calls", action="store_true", help="name the functions too")
    parser.add_argument("--record", metavar="NAME", help="keep the result under this name")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.names) - set(FLOWS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(FLOWS)}")
    found: list[Flow] = []
    for name in chosen.names or FLOWS:
        for flow in FLOWS[name]():
            found.append(flow)
            print("\n".join(flow.lines(names=chosen.calls)), file=sys.stderr if chosen.json else sys.stdout, flush=True)
    if chosen.json:
        print(json.dumps([flow.as_json(names=chosen.calls) for flow in found], indent=1))
    if chosen.record:
        record(chosen.record, "flows", {flow.name: flow.as_json() for flow in found})
    return 0


if __name__ == "__main__":
    sys.exit(main())
