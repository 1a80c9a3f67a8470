"""The recorded path of the benchmark ``ui``: 300 steps of wheel, drag and hover, kept beside this module.

The steps were generated once by ``record`` and are read from ``ui_path.json``, so that every run of every machine does
the same. Run this module to write them again; a test compares the two.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.benchmarks.sizes import ATTRIBUTES, DESIGN, STRETCH, VERSIONS, Size

STEPS = 300
RECORDED = Path(__file__).with_name("ui_path.json")
TIMED = ("wheel", "drag", "hover", "header")
_NOTCH = 1.18
_CELL_PX = 27.0
_PLANE_PX = 1416.0


@dataclass(frozen=True, slots=True)
class Step:
    """One input event.

    Args:
        kind: ``wheel``, ``press``, ``drag`` (a move with the button down), ``release``, ``hover`` over the plane, or
            ``header`` (a hover over the columns' names).
        x, y: where, as shares of the plane's picture within its margin.
        turns: notches of the wheel, towards the screen when negative.
    """

    kind: str
    x: float
    y: float
    turns: int = 0


def record(size: Size, seed: int = 20261121) -> list[Step]:
    """Generate the path of a size: dive to an element, look about, come up, dive elsewhere, and back to everything."""
    rng = random.Random(seed)
    notches = math.ceil(math.log(_CELL_PX / (_PLANE_PX / size.ones)) / math.log(_NOTCH))
    steps: list[Step] = [*_hovers(rng, 8)]
    target = _element(size, rng)
    steps += _wheel(target, notches, 1)
    steps += [*_drags(rng, 30), *_hovers(rng, 16)]
    steps += _wheel((0.5, 0.5), notches // 2, -1)
    steps += _drags(rng, 20)
    steps += _wheel((rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.8)), notches // 3, 1)
    steps += _drags(rng, 10)
    while (left := STEPS - _timed(steps)) > 20 + notches // 3:
        steps += [*_drags(rng, 10), *_hovers(rng, 4)]
    out = max(0, left - 10)
    return steps + _wheel((0.5, 0.5), out, -1) + [*_drags(rng, STEPS - _timed(steps) - out)]


def recorded(size: Size) -> list[Step]:
    """Read the path of a size."""
    return [Step(*row) for row in json.loads(RECORDED.read_text("utf-8"))[size.name]]


def write() -> None:
    """Write the paths of both sizes, one step a line."""
    parts = []
    for size in (DESIGN, STRETCH):
        rows = ",\n".join(json.dumps(list(asdict(step).values())) for step in record(size))
        parts.append(f"{json.dumps(size.name)}: [\n{rows}\n]")
    RECORDED.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")


def _element(size: Size, rng: random.Random) -> tuple[float, float]:
    """Choose a place of the plane that holds an element: schemas stand by group and name, entities by group and id."""
    schema = rng.randrange(size.schemas // 3, size.schemas // 2)
    names = sorted((f"service{id_ % 97}", f"service{id_ % 97}.table{id_}", id_) for id_ in range(1, size.schemas + 1))
    column = next(at for at, name in enumerate(names) if name[2] == schema + 1)
    entities = sorted((f"entity{id_ % 97}", id_) for id_ in range(1, size.entities + 1))
    row = next(at for at, name in enumerate(entities) if name[1] == schema % size.entities + 1)
    wide = size.schemas * (VERSIONS * ATTRIBUTES + 0.4 * (VERSIONS - 1)) + 0.8 * (size.schemas - 1) + 0.8 * 96
    tall = size.entities * ATTRIBUTES + 0.8 * (size.entities - 1) + 0.8 * 96
    groups_x = sorted({name[0] for name in names}).index(names[column][0])
    groups_y = sorted({name[0] for name in entities}).index(entities[row][0])
    x = column * (VERSIONS * ATTRIBUTES + 0.4 * (VERSIONS - 1) + 0.8) + 0.8 * groups_x + 5 * ATTRIBUTES
    y = row * (ATTRIBUTES + 0.8) + 0.8 * groups_y + ATTRIBUTES / 2
    return x / wide, y / tall


def _wheel(at: tuple[float, float], count: int, turns: int) -> list[Step]:
    return [Step("wheel", *at, turns) for _ in range(count)]


def _hovers(rng: random.Random, count: int) -> Iterator[Step]:
    x, y = rng.uniform(0.2, 0.6), rng.uniform(0.2, 0.6)
    for at in range(count):
        x, y = x + rng.uniform(0.0, 0.03), y + rng.uniform(0.0, 0.03)
        yield Step("header" if at % 4 == 3 else "hover", round(x, 4), round(y, 4))


def _drags(rng: random.Random, moves: int) -> Iterator[Step]:
    """Drag in strokes of ten moves, each about as far as a hand goes between two frames."""
    for begin in range(0, moves, 10):
        x, y = rng.uniform(0.3, 0.7), rng.uniform(0.3, 0.7)
        dx, dy = rng.uniform(-0.03, 0.03), rng.uniform(-0.02, 0.02)
        yield Step("press", round(x, 4), round(y, 4))
        for _ in range(min(10, moves - begin)):
            x, y = x + dx, y + dy
            yield Step("drag", round(x, 4), round(y, 4))
        yield Step("release", round(x, 4), round(y, 4))


def _timed(steps: list[Step]) -> int:
    return sum(step.kind in TIMED for step in steps)


if __name__ == "__main__":
    write()
