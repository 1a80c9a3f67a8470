"""When a load of a followed source is due."""

from __future__ import annotations

from metl_gui.core.dimensional.loads.load_policy import EVERY_SECONDS, LoadPolicy


def test_nothing_said_loads_every_minute() -> None:
    policy = LoadPolicy.of(None, None, when_asked=False)
    assert policy == LoadPolicy(EVERY_SECONDS, 0, when_asked=False)
    assert not policy.is_due(1_000_000, EVERY_SECONDS - 1, is_asked=True)
    assert policy.is_due(1, EVERY_SECONDS)


def test_what_is_said_takes_the_place_of_the_default() -> None:
    policy = LoadPolicy.of(None, 10, when_asked=False)
    assert not policy.is_due(9, 1e9)
    assert policy.is_due(10, 0)
    assert LoadPolicy.of(None, None, when_asked=True).is_due(1, 0, is_asked=True)
    assert not LoadPolicy.of(None, None, when_asked=True).is_due(1, 1e9)


def test_any_of_several_is_enough() -> None:
    policy = LoadPolicy.of(30.0, 10, when_asked=True)
    assert policy.is_due(1, 30)
    assert policy.is_due(10, 0)
    assert policy.is_due(1, 0, is_asked=True)
    assert not policy.is_due(9, 29)
