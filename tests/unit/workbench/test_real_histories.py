"""Real schema histories, version by version: nothing is lost in silence, and nobody is asked twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.changes.draft import Edit
from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from tests.benchmarks.replayed_histories import entity_of, histories, mapping_of_new, replay
from tests.helpers.ledger import Fate, Ledger
from tests.helpers.shared import shared
from tests.helpers.world import World

LOST = {"wikimedia-secondary": 23, "iglu-central": 280}
"""Mapped attributes that a version has no more; each is labelled in ``tests/benchmarks/gold_renames.csv``."""


@pytest.mark.parametrize("dataset", list(LOST))
def test_the_ledger_explains_every_element_of_real_histories(dataset: str) -> None:
    shared("real-schemas", dataset)
    lost = answered = left = 0
    for name, declarations in histories(dataset).items():
        world = World()
        ledger = Ledger(world.document)

        def follow(edit: Edit, world: World = world, ledger: Ledger = ledger) -> bool:
            try:
                ledger.follow(edit, world.do(edit))
            except EditError:  # an earlier version has this content
                return False
            return True

        follow(AddVersion(Side.CDM, entity_of(name, declarations)))
        for declaration in declarations:
            if not follow(AddVersion(Side.EXTRACTION, declaration)):
                continue
            schema = world.document.extraction.named(name)
            version = world.document.extraction.newest(schema.id) if schema else None
            assert version is not None
            new = mapping_of_new(world.document, version, world.document.cdm.version(1))
            if new is not None:
                follow(new)
        for item in review_items(world.document):
            follow(ConfirmBlock(item.key))
        lost, answered = lost + ledger.counts[Fate.LOST], answered + ledger.counts[Fate.ANSWERED]
        left += len(review_items(world.document))
    assert lost == LOST[dataset]
    assert answered >= lost
    assert left == 0


def test_an_import_of_a_real_history_asks_once_for_each_block_that_lost_something(tmp_path: Path) -> None:
    shared("real-schemas", "wikimedia-secondary")
    found = replay("wikimedia-secondary", tmp_path / "replayed.metl")
    assert found.silent == []
    assert len(found.lost) == LOST["wikimedia-secondary"]
    assert found.asked <= found.shrunk + found.retyped + 1
