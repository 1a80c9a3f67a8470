"""Suggestions on the gold mapping of real schemas: how often they are right must not fall unnoticed."""

from __future__ import annotations

from collections import defaultdict

import pytest

from metl_gui.core.suggest.block import suggest_block
from metl_gui.core.suggest.entities import EntityIndex
from tests.benchmarks.gold import Table, document_of, perturbed, tables, versions_of
from tests.benchmarks.suggest import by_equal_names, ours, precision
from tests.helpers.shared import shared


@pytest.fixture
def gold() -> tuple[Table, ...]:
    shared("real-schemas", "iglu-central", "gold-mapping.csv")
    return tables()


def asked(found: tuple[Table, ...]) -> list[Table]:
    return [table for table in found if table.is_asked]


def test_with_the_entity_given_they_are_as_good_as_equal_names(gold: tuple[Table, ...]) -> None:
    assert sum(len(table.pairs) for table in asked(gold)) == 1203
    assert precision(asked(gold), ours) >= precision(asked(gold), by_equal_names)


def test_with_120_entities_and_none_given_the_right_one_comes_first(gold: tuple[Table, ...]) -> None:
    document = document_of(gold)
    index = EntityIndex(document)
    for at, table in enumerate(gold):
        version, right = versions_of(document, at)
        assert index.rank(document, version)[0].entity_version == right.id, table.schema


def test_names_spelled_another_way_are_found_nine_times_of_ten(gold: tuple[Table, ...]) -> None:
    assert gold
    assert precision(asked(perturbed()), ours) >= 0.95
    assert precision(asked(perturbed(is_heavy=True)), ours) >= 0.8


def test_of_those_scored_nine_tenths_nine_of_ten_are_right(gold: tuple[Table, ...]) -> None:
    assert gold
    right: dict[bool, int] = defaultdict(int)
    for table in asked(perturbed(seed=3)):
        document = document_of([table])
        version, entity_version = versions_of(document, 0)
        sources, targets = ({a.id: a.path for a in side.attributes} for side in (version, entity_version))
        for each in suggest_block(document, (version.id, entity_version.id)):
            if each.score >= 0.85:
                right[table.pairs.get(sources[each.element.p]) == targets[each.element.q]] += 1
    assert right[True] > 9 * right[False]
    assert right[True] > 600
