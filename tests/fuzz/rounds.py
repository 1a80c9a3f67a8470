"""One round: a plan, records of it, and batches of them through both kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

import numpy as np

from metl_gui.engine.kernel.records import Records
from tests.fuzz.kernels import Pair, Setting
from tests.fuzz.mutations import mutate
from tests.fuzz.plans import World, draw_world
from tests.fuzz.records import Writer
from tests.fuzz.samples import samples, world_of_samples

_POOL = 150
BATCHES = 12
_NAMES = ("f", "f", "f", 'odd "name"\n.jsonl', "é/😀.jsonl", "")


@dataclass(frozen=True, slots=True)
class Failure:
    """Batches after the last of which the kernels differ.

    Args:
        seed: draws the round again.
        setting: of the kernels.
        batches: what they mapped, the failing one last.
        found: what differs.
    """

    seed: str
    setting: Setting
    batches: tuple[Records, ...]
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Played:
    """What a round came to.

    Args:
        messages: how many records were mapped.
        hits: how many of them by the compiled kernel.
        failure: what was found, ``None`` for nothing.
    """

    messages: int
    hits: int
    failure: Failure | None


def play(seed: str, kernels: type[Pair] = Pair, count: int = BATCHES) -> Played:
    """Play the round of a seed.

    Args:
        seed: decides everything.
        kernels: what maps the batches.
        count: how many batches.
    """
    dice = Random(seed)
    world, pool = _drawn(dice)
    setting = Setting(
        world.plan, "production" if dice.random() < 0.4 else "test", dice.random() < 0.15, dice.choice((0, 0, 1, 2))
    )
    pair = kernels(setting)
    batches: list[Records] = []
    mapped = 0
    for _ in range(count):
        records = _batch(dice, pool, is_replay=setting.is_replay)
        batches.append(records)
        found = pair.differ(records)
        mapped += len(records)
        if found:
            return Played(mapped, pair.hits, Failure(seed, setting, tuple(batches), tuple(found)))
    return Played(mapped, pair.hits, None)


def _drawn(dice: Random) -> tuple[World, list[bytes]]:
    """Draw a world and records of it; one round in twelve takes what real connectors sent."""
    if dice.random() < 1 / 12:
        return world_of_samples(), list(dice.sample(samples(), min(_POOL, len(samples()))))
    world = draw_world(dice)
    writer = Writer(dice, world)
    pool = [writer.record() for _ in range(_POOL)]
    if dice.random() < 0.1:
        pool += dice.sample(samples(), min(20, len(samples())))
    return world, pool


def _batch(dice: Random, pool: Sequence[bytes], *, is_replay: bool) -> Records:
    """Draw records: as they are or mutated, of all kinds or many of a few, so that what was learned matters."""
    count = dice.choice((1, 3, 50, 300, 300, 1000, 1000))
    if dice.random() < 0.4:
        pool = dice.sample(pool, min(len(pool), dice.choice((1, 2, 5))))
    share = dice.choice((0.0, 0.2, 0.5, 0.5, 0.8, 1.0))
    raws = [mutate(dice, raw, pool) if dice.random() < share else raw for raw in dice.choices(pool, k=count)]
    return laid(dice, raws, is_replay=is_replay)


def laid(dice: Random, raws: Sequence[bytes], *, is_replay: bool) -> Records:
    """Lay records into a buffer: a line each, one right behind the other, or ending before their text does."""
    gap = dice.choice((b"\n", b"\n", b"", b"\r\n", b" ", b'"}', b"}}}}}}}}"))
    ends = list(accumulate((len(raw) + len(gap) for raw in raws), initial=0))
    starts = np.array(ends[:-1], np.int64)
    lengths = np.array([len(raw) for raw in raws], np.int64)
    if dice.random() < 0.1:
        lengths = np.maximum(lengths - np.array([dice.choice((0, 0, 1, 2, 9)) for _ in raws], np.int64), 0)
    buffer = gap.join(raws)
    sizes = None
    if dice.random() < 0.05:
        sizes = lengths + np.array([dice.choice((0, 0, 0, 5000)) for _ in raws], np.int64)
    name = dice.choice(_NAMES)
    names = [f"{name}{at % 3}" for at in range(len(raws))] if is_replay or dice.random() < 0.05 else []
    offsets = starts + dice.choice((0, 3, 1 << 40))
    return Records(buffer, starts, starts + lengths, offsets, name, names, sizes)
