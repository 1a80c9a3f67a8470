"""What the filter of the review list understands, and how items stand below each other."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from metl_gui.core.review.items import review_items
from metl_gui.core.review.query import (
    DAY_MS,
    Grouping,
    ReviewFacts,
    ReviewOrder,
    facts_of,
    group_of,
    parse_review_query,
    query_of,
    sorted_facts,
)
from tests.helpers.world import World

NOW = 100 * DAY_MS


@pytest.fixture
def facts() -> list[ReviewFacts]:
    """Three items: s1 lost one element towards be1, s2 lost all its two, s3 lost one and is Bob's."""
    world = World()
    world.entity("be1", "1", "a", "b")
    for name in ("s1", "s2", "s3"):
        world.schema(name, "1", "a", "b")
        world.map(f"{name}@1:be1@1", a="a", b="b")
    world.schema("s1", "2", "a")
    world.schema("s2", "2", "x")
    world.schema("s3", "2", "b")
    who = {"s3": "Bob Example"}
    records = {item.key[0]: at for at, item in enumerate(review_items(world.document))}
    found = [facts_of(world.document, item, "", records.__getitem__) for item in review_items(world.document)]
    return [ReviewFacts(one.item, one.schema, one.entity, who.get(one.schema, ""), one.records) for one in found]


def test_what_takes_the_last_source_of_a_required_attribute_stands_first_and_what_was_postponed_last(
    facts: list[ReviewFacts],
) -> None:
    starved = [replace(one, starved=("a",)) if one.schema == "s3" else one for one in facts]
    assert [one.schema for one in sorted_facts(starved, ReviewOrder.SCHEMA)] == ["s3", "s1", "s2"]
    assert [one.schema for one in sorted_facts(starved, ReviewOrder.WEIGHT)] == ["s3", "s2", "s1"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "s1 s2 s3"),
        ("schema:S1", "s1"),
        ("-schema:s1", "s2 s3"),
        ("entity:be", "s1 s2 s3"),
        ("verdict:empt", "s2"),
        ("verdict:", "s1 s2 s3"),
        ('assigned:"bob example"', "s3"),
        ("assigned:nobody", "s1 s2"),
        ("-assigned:nobody", "s3"),
        ("older:7", "s1 s2 s3"),
        ("older:7d", "s1 s2 s3"),
        ("older:200", ""),
        ("is:postponed", ""),
        ("bob", "s3"),
        ("b verdict:smaller", "s1 s3"),
        ("-", "s1 s2 s3"),
        ("verdict:nonsense", "s1 s2 s3"),
    ],
)
def test_a_text_lets_through_what_it_says(facts: list[ReviewFacts], text: str, names: str) -> None:
    query = parse_review_query(text)
    assert " ".join(one.schema for one in facts if query.passes(one, NOW)) == names


def test_what_means_nothing_is_named_and_asks_nothing() -> None:
    query = parse_review_query("verdict:large older:soon is:new rates")
    assert query.unknown == ("verdict:large", "older:soon", "is:new")
    assert query.terms == (("", "rates", False),)


def test_a_filter_says_in_words_what_it_lets_through() -> None:
    query = query_of(schema="rates", verdict="smaller", older=7, assigned="bob", text="-legacy")
    assert query.words() == "of rates, smaller, older than 7 days, assigned to bob, not with “legacy”"
    assert query_of(verdict="any").words() == ""


def test_the_heaviest_stands_first_by_records_then_by_lost_elements(facts: list[ReviewFacts]) -> None:
    assert [one.schema for one in sorted_facts(facts, ReviewOrder.WEIGHT)] == ["s3", "s2", "s1"]
    bare = [ReviewFacts(one.item, one.schema, one.entity) for one in facts]
    assert [one.schema for one in sorted_facts(bare, ReviewOrder.WEIGHT)] == ["s2", "s1", "s3"]


def test_the_oldest_stands_first_and_groups_stay_together(facts: list[ReviewFacts]) -> None:
    assert [one.schema for one in sorted_facts(facts[::-1], ReviewOrder.AGE)] == ["s1", "s2", "s3"]
    grouped = sorted_facts(facts, ReviewOrder.WEIGHT, Grouping.ENTITY)
    assert {group_of(one, Grouping.ENTITY) for one in grouped} == {(False, "be1")}
    assert [one.schema for one in grouped] == ["s3", "s2", "s1"]
