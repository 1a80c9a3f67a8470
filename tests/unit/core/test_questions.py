"""Searches, checks, partition, paths and types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.matrix.blocks import Element, conflicts
from metl_gui.core.matrix.canonical import dusb_content, matrix_content, state_hash
from metl_gui.core.matrix.partition import largest_permutation
from metl_gui.core.matrix.sequential import map_sequentially
from metl_gui.core.search.checks import check
from metl_gui.core.search.lineage_search import BlockChangeKind, forward_search, reverse_search, version_progress
from metl_gui.core.trees.nodes import Attribute
from metl_gui.core.trees.paths import join, split
from metl_gui.core.trees.types import is_readable, is_widening
from tests.helpers.world import World


@pytest.fixture
def world() -> World:
    world = World()
    world.schema("orders", "1", "id", "code")
    world.schema("orders", "2", "id", "code", "day")
    world.schema("refunds", "1", "id")
    world.entity("payment", "1", "id", "code")
    world.entity("audit", "1", "id")
    world.map("orders@1:payment@1", id="id", code="code")
    world.map("orders@2:payment@1", id="id")
    world.map("refunds@1:payment@1", code="id")
    return world


def test_reverse_search_finds_every_version_of_every_schema(world: World) -> None:
    entity = world.document.cdm.named("payment")
    assert entity is not None
    found = reverse_search(world.document, entity.id, "code")
    assert [f.block.key for f in found] == [world.key("orders@1:payment@1"), world.key("refunds@1:payment@1")]
    assert len(reverse_search(world.document, entity.id)) == 4


def test_forward_search_follows_one_attribute_through_all_versions(world: World) -> None:
    schema = world.document.extraction.named("orders")
    assert schema is not None
    assert len(forward_search(world.document, schema.id, "id")) == 2


def test_version_progress_tells_first_smaller_and_larger(world: World) -> None:
    schema = world.document.extraction.named("orders")
    assert schema is not None
    world.schema("orders", "3", "id", "code", "day", "x")
    world.map("orders@3:payment@1", code="day")
    assert [(p.elements, p.change) for p in version_progress(world.document, schema.id)] == [
        (2, BlockChangeKind.FIRST),
        (1, BlockChangeKind.SMALLER),
        (2, BlockChangeKind.LARGER),
    ]


def test_checks_name_an_entity_that_nothing_feeds(world: World) -> None:
    assert [(p.code, p.place) for p in check(world.document)] == [("cdm.never-fed", "audit@1")]


def test_sequential_mapping_makes_a_message_for_every_entity_with_nulls(world: World) -> None:
    version = world.key("orders@1:payment@1")[0]
    messages = map_sequentially(world.document, version, {"id": "7"})
    assert [(m.entity, m.payload) for m in messages] == [
        ("payment", {"id": "7", "code": None}),
        ("audit", {"id": None}),
    ]


def test_equal_states_have_equal_hashes_whatever_their_numbers(world: World) -> None:
    before = state_hash(world.document)
    undone = world.map("orders@2:payment@1", code="day")
    assert state_hash(world.document) != before
    world.undo(undone)
    assert state_hash(world.document) == before


def test_exports_hold_back_blocks_under_review(world: World) -> None:
    world.schema("orders", "3", "code")
    held = [block for block in matrix_content(world.document)["blocks"] if block.get("held")]
    assert [(block["schema"], block["version"], block["elements"]) for block in held] == [("orders", "3", [])]
    kept = {g["schema"]: [k["version"] for k in g["kept"]] for g in dusb_content(world.document)["groups"]}
    assert kept == {"orders": ["1", "2", "3"], "refunds": ["1"]}


elements = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)).map(lambda pair: Element(*pair)), max_size=14)


@given(elements)
def test_the_largest_permutation_is_one_to_one_and_cannot_be_extended(ones: list[Element]) -> None:
    found = largest_permutation(ones)
    assert conflicts(found.kept) == []
    assert sorted((*found.kept, *found.outside)) == sorted(set(ones))
    for element in found.outside:
        assert conflicts((*found.kept, element))


def test_the_largest_permutation_beats_the_greedy_choice() -> None:
    found = largest_permutation([Element(1, 1), Element(1, 2), Element(2, 1)])
    assert found.kept == (Element(1, 2), Element(2, 1))
    assert found.outside == (Element(1, 1),)


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_paths_survive_joining_and_splitting(names: list[str]) -> None:
    assert split(join(names)) == tuple(names)


@pytest.mark.parametrize("path", ["a\\", "a\\b"])
def test_a_stray_backslash_in_a_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="backslash"):
        split(path)


DECIMAL = "org.apache.kafka.connect.data.Decimal"


@pytest.mark.parametrize(
    ("before", "after", "widens"),
    [
        (("int32", "", None), ("int64", "", None), True),
        (("int64", "", None), ("int32", "", None), False),
        (("int32", "", None), ("string", "", None), False),
        (("bytes", "Decimal", 2), ("bytes", "Decimal", 4), True),
        (("bytes", "Decimal", 4), ("bytes", "Decimal", 2), False),
        (("int32", "io.debezium.time.Date", None), ("int64", "io.debezium.time.Timestamp", None), False),
        (("unknown", "", None), ("string", "", None), True),
        (("integer", "int32", None), ("integer", "int64", None), True),
        (("integer", "int64", None), ("integer", "int32", None), False),
        (("number", "float", None), ("number", "double", None), True),
        (("integer", "", None), ("number", "", None), True),
        (("number", "", None), ("integer", "", None), False),
        (("int64", "", None), ("double", "", None), False),
        (("int32", "", None), ("int64", "io.debezium.time.Timestamp", None), False),
        (("int64", "", None), ("int64", "io.debezium.time.MicroTimestamp", None), False),
        (("int64", "io.debezium.time.Timestamp", None), ("int64", "io.debezium.time.MicroTimestamp", None), False),
        (("int64", "io.debezium.time.Timestamp", None), ("string", "io.debezium.time.ZonedTimestamp", None), False),
        (("string", "io.debezium.time.ZonedTimestamp", None), ("string", "", None), False),
        (("string", "io.debezium.data.Enum", None), ("string", "", None), True),
        (("string", "", None), ("string", "io.debezium.data.Enum", None), False),
        (("string", "io.debezium.data.Uuid", None), ("string", "io.debezium.data.Json", None), False),
        (("string", "uri", None), ("string", "", None), True),
        (("string", "date-time", None), ("string", "", None), False),
        (("string", "date", None), ("string", "date-time", None), False),
        (("bytes", "org.apache.kafka.connect.data.Decimal", 2), ("double", "", None), False),
        (("struct", "io.debezium.data.VariableScaleDecimal", None), ("bytes", DECIMAL, 2), False),
        (("int16", "", None), ("boolean", "", None), False),
        (("array", "", None), ("string", "", None), False),
        (("string", "", None), ("array", "", None), False),
        (("struct", "", None), ("map", "", None), False),
        (("string", "", None), ("union", "", None), True),
    ],
)
def test_widening_is_compatible_and_narrowing_is_not(
    before: tuple[str, str, int | None], after: tuple[str, str, int | None], widens: bool
) -> None:
    one, other = (Attribute(1, "x", t, 1, logical, scale) for t, logical, scale in (before, after))
    assert is_widening(one, other) is widens


@pytest.mark.parametrize(
    ("source", "target", "reads"),
    [
        (("bytes", "org.apache.kafka.connect.data.Decimal"), ("number", ""), True),
        (("bytes", "org.apache.kafka.connect.data.Decimal"), ("string", ""), False),
        (("string", "io.debezium.time.ZonedTimestamp"), ("string", "date-time"), True),
        (("string", "io.debezium.data.Uuid"), ("string", "date-time"), False),
        (("int64", "io.debezium.time.MicroTimestamp"), ("string", "date-time"), False),
        (("int32", "io.debezium.time.Date"), ("integer", ""), False),
        (("int32", ""), ("integer", ""), True),
        (("double", ""), ("integer", ""), False),
        (("string", ""), ("string", "email"), True),
        (("boolean", ""), ("string", ""), False),
    ],
)
def test_values_read_as_the_target_only_where_they_are_written_that_way(
    source: tuple[str, str], target: tuple[str, str], reads: bool
) -> None:
    one, other = (Attribute(1, "x", type_, 1, logical) for type_, logical in (source, target))
    assert is_readable(one, other) is reads
