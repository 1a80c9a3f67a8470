"""``python -m tests.fuzz``: plays rounds until enough messages were mapped or the time is over."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

_EVERY_SECONDS = 10.0


def main() -> int:
    """Run the fuzzer; return 3 when the kernels differed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Hold both kernels to the same outcome.")
    parser.add_argument("--messages", type=int, default=100_000, help="how many to map (default: 100000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so many seconds")
    parser.add_argument("--seed", default="1", help="draws everything (default: 1)")
    parser.add_argument("--round", type=int, help="play this round only")
    parser.add_argument("--from-round", type=int, default=0, help="begin with this round")
    parser.add_argument("--checked", action="store_true", help="check every load and store of the compiled kernel")
    parser.add_argument("--alone", action="store_true", help="watch the compiled kernel without the reference")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="where failures are written")
    parser.add_argument("--most", type=int, default=5, help="give up after so many failures (default: 5)")
    parser.add_argument("--again", type=Path, help="map the batches of a written failure again, and nothing else")
    arguments = parser.parse_args()
    if arguments.checked:
        os.environ["METL_KERNEL_CHECKED"] = "1"
    return _again(arguments.again) if arguments.again else _play(arguments)


def _play(arguments: argparse.Namespace) -> int:
    from tests.fuzz.kernels import Pair
    from tests.fuzz.minimise import minimised, write_failure
    from tests.fuzz.rounds import BATCHES, play

    kernels, batches = Pair, BATCHES
    if arguments.alone:
        from tests.fuzz.sweeping import Alone

        kernels, batches = Alone, 10 * BATCHES
    began = said = time.monotonic()
    messages = hits = failures = 0
    number = arguments.from_round if arguments.round is None else arguments.round
    while messages < arguments.messages and time.monotonic() - began < arguments.seconds:
        played = play(f"{arguments.seed}:{number}", kernels, batches)
        messages, hits = messages + played.messages, hits + played.hits
        if played.failure is not None:
            failures += 1
            path = write_failure(minimised(played.failure), arguments.findings)
            _say(f"round {number}: {played.failure.found[0][:200]} -> {path}")
        if time.monotonic() - said > _EVERY_SECONDS:
            said = time.monotonic()
            _say(f"{messages} messages, {hits} compiled, {messages / (said - began):.0f}/s, round {number}")
        number += 1
        if failures >= arguments.most or arguments.round is not None:
            break
    _say(f"{messages} messages, {hits} compiled, {failures} failures, rounds to {number - 1} of seed {arguments.seed}")
    return 3 if failures else 0


def _again(path: Path) -> int:
    from tests.fuzz.kernels import Pair
    from tests.fuzz.minimise import read_failure

    failure = read_failure(path)
    pair = Pair(failure.setting)
    found = [line for records in failure.batches for line in pair.differ(records)]
    _say("\n".join(found) or "the kernels agree")
    return 3 if found else 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(main())
