"""The blocks that a base of the matrix made last are the ones that it would make anew."""

from __future__ import annotations

import dataclasses
import pickle
import random

from msgspec.structs import replace

from metl_gui.core.matrix import matrix as matrices
from metl_gui.core.matrix.blocks import Block, Element
from metl_gui.core.matrix.matrix import Dpm, base_of


def some_blocks(count: int, size: int = 3) -> list[Block]:
    return [
        Block(v, w, tuple(Element(w * 100 + at, v * 100 + at) for at in range(size)), who="Ada", when_ms=v)
        for v, w in ((at // 4 + 1, at % 4 + 1) for at in range(count))
    ]


def test_asking_for_blocks_again_and_again_gives_what_the_columns_hold() -> None:
    blocks = some_blocks(40)
    base, rng = base_of(blocks), random.Random(4)
    for _ in range(200):
        block = rng.choice(blocks)
        assert base.at(block.key) == block
    assert base.at((999, 1)) is None


def test_the_blocks_kept_never_hold_far_more_than_so_many_elements() -> None:
    size = matrices._MOST_RECENT_ELEMENTS // 3
    base = base_of(some_blocks(12, size))
    for block in some_blocks(12, 0):
        base.at(block.key)
        assert sum(len(kept.elements) for kept in base._recent._blocks.values() if kept is not None) <= 4 * size


def test_a_base_with_other_records_does_not_answer_with_the_blocks_of_the_first() -> None:
    blocks = some_blocks(4)
    base = base_of(blocks)
    assert base.at(blocks[0].key) == blocks[0]
    commented = replace(blocks[0], comment="in cents")
    assert dataclasses.replace(base, records={commented.key: commented}).at(commented.key) == commented


def test_an_edited_block_hides_the_one_of_the_base() -> None:
    blocks = some_blocks(4)
    matrix = Dpm.of(blocks)
    assert matrix.block(*blocks[0].key) == blocks[0]
    draft = matrix.draft()
    draft.put(blocks[0].key, None)
    assert draft.block(*blocks[0].key) is None
    assert draft.finish().block(*blocks[0].key) is None
    assert matrix.block(*blocks[0].key) == blocks[0]


def test_another_process_gets_the_columns_without_the_blocks_made_here() -> None:
    blocks = some_blocks(8)
    base = base_of(blocks)
    alone = len(pickle.dumps(base))
    for block in blocks:
        base.at(block.key)
    assert len(pickle.dumps(base)) == alone
    assert pickle.loads(pickle.dumps(base)).at(blocks[3].key) == blocks[3]  # noqa: S301 - our own bytes
