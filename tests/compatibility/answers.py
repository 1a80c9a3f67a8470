"""What commands say of a kept project, and whether what they say today holds all of what they said then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.compatibility.installed import Installed

ORDERS = "fx.payments.orders"

QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "runs": ("runs",),  # first, as it takes up what was killed
    "show": ("show",),
    "history": ("history",),
    "history-of-a-block": ("history", "--of", f"{ORDERS}@5:payment@2.0.0"),
    "history-of-an-attribute": ("history", "--of", f"{ORDERS}.customer_ref"),
    "review": ("review", "--list"),
    "comments": ("comment",),
    "entities": ("entity", "show"),
    "search-forward": ("search", "--forward", ORDERS),
    "search-reverse": ("search", "--reverse", "refund"),
    "search-versions": ("search", "--versions", ORDERS),
    "suggest": ("suggest",),
    "check": ("check",),
    "samples": ("samples",),
}
"""By the name of the answer: a command, and what stands behind the project."""


def ask(installed: Installed, name: str) -> Any:
    """Ask one of the questions."""
    command, *rest = QUESTIONS[name]
    return installed.metl(command, installed.project, *rest)


def lacking(then: Any, now: Any, place: str = "") -> Iterator[str]:
    """Name what an answer of today does not say as it was said then; what it says besides is no matter."""
    if isinstance(then, dict) and isinstance(now, dict):
        for name, value in then.items():
            if name not in now:
                yield f"{place}.{name} is gone"
            else:
                yield from lacking(value, now[name], f"{place}.{name}")
    elif isinstance(then, list) and isinstance(now, list):
        if len(then) != len(now):
            yield f"{place} has {len(now)} entries, not {len(then)}"
        for at, (one, other) in enumerate(zip(then, now, strict=False)):
            yield from lacking(one, other, f"{place}[{at}]")
    elif then != now:
        yield f"{place} is {now!r}, not {then!r}"
