"""Messages as METL writes them, some of them broken: by their layouts they become what reading each makes of them.

``python -m tests.fuzz.written_messages SECONDS`` goes on until the time is over and prints what it found; with
``METL_KERNEL_CHECKED=1`` in the environment machine code proves every access.
"""

from __future__ import annotations

import sys
import time
from random import Random

from metl_gui.engine.kernel.compiled.memory import violations
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from tests.fuzz.mutations import mutate
from tests.helpers.staging_ways import in_both_ways
from tests.unit.engine.test_stage_sink import ORDER, ROW, TRUNCATE, plan_of, record

_ROWS = (
    ROW,
    ROW.replace("9007199254740993", "4").replace('"x\\u00e9"', '"gone"'),
    '{"id":3}',
    '{"id":4,"money":{"amount":"BNI="},"name":null,"tags":{"a":[{"b":"}],"}]}}',
    '{"id":5,"name":"a\\"b\\\\","rate":-0,"is_paid":false,"tags":null}',
    '{"tags":[],"id":6,"day":18000}',
)
_CHANGED = 0.3


def play(seed: str, count: int = 300) -> int:
    """Play one round and return how many of its messages were broken; raises where both ways differ."""
    dice = Random(seed)
    plan = plan_of()
    changes = [record(dice.choice(_ROWS), dice.choice("crud"), offset) for offset in range(count)]
    outcome = Kernel(plan, publication=dice.choice((0, 3)), is_replay=dice.random() < 0.2).map(
        Records.of([*changes, TRUNCATE], "f")
    )
    whole = outcome.messages()
    texts = [mutate(dice, text, whole) if dice.random() < _CHANGED else text for text in whole]
    in_both_ways(plan, (ORDER,), Records.of(texts, "m.jsonl"), is_production=dice.random() < 0.5)
    outside, address, size = violations()
    assert not outside, f"{size} bytes at {address:#x} are outside of what is allowed"
    return sum(text != other for text, other in zip(texts, whole, strict=True))


def main() -> int:
    """Play until the time is over."""
    until = time.monotonic() + (float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
    rounds = broken = 0
    while time.monotonic() < until:
        seed = f"written {time.time_ns()}"
        try:
            broken += play(seed)
        except AssertionError as error:
            sys.stdout.write(f"{seed}: {str(error)[:2000]}\n")
            return 1
        rounds += 1
    sys.stdout.write(f"{rounds} rounds, {broken} broken messages, without a difference\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
