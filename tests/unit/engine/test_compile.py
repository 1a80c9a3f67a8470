"""What a document becomes as a plan."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.matrix.canonical import matrix_content
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.core.warehouse_model import Bridge, Dates, Dimension, Fact, Model
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import DEFAULT_PLACEHOLDER, BlockPlan, Plan, SchemaPlan, SourceType
from metl_gui.engine.mapping.plan_compiler import compile_plan, staging_plan
from tests.helpers.histories import Steps, steps, world_of
from tests.helpers.world import World


def world() -> World:
    """Make a schema of two versions, the second of which lost a mapped attribute."""
    world = World()
    world.schema("s", "1", "a", "b")
    world.entity("e", "7", "y", "x")
    world.map("s@1:e@7", x="a", y="b")
    world.schema("s", "2", "a", "c")
    return world


def schema(plan: Plan) -> SchemaPlan:
    """Return the only schema of a plan."""
    (found,) = plan.schemas
    return found


def test_elements_are_in_the_order_of_the_entity_version() -> None:
    first = schema(compile_plan(world().document)).versions[0]
    assert first.blocks == (BlockPlan("e", "7", (("b", "y"), ("a", "x"))),)
    assert (first.label, first.paths) == ("1", ("a", "b"))


def test_a_block_under_review_is_held_and_unreviewed() -> None:
    second = schema(compile_plan(world().document)).versions[1]
    waits = "b was removed in version 2"
    assert second.blocks == (BlockPlan("e", "7", (("a", "x"),), is_held=True, is_unreviewed=True, waits=waits),)


def test_production_counts_a_block_that_nobody_confirmed_as_null() -> None:
    made = world()
    made.entity("f", "1", "z")
    made.do(replace(made.setting("s@1:f@1", z="a"), status=Status.UNCONFIRMED))
    entities = [
        [block.entity for block in schema(compile_plan(made.document, "", is_whole)).versions[0].blocks]
        for is_whole in (False, True)
    ]
    assert entities == [["e"], ["e", "f"]]


@pytest.mark.parametrize("meanwhile", ["hold", "map what is left"])
def test_production_neither_maps_with_nor_waits_for_a_block_that_nobody_ever_confirmed(meanwhile: str) -> None:
    made = World()
    made.schema("s", "1", "a", "b")
    made.entity("e", "1", "x", "y")
    made.do(replace(made.setting("s@1:e@1", x="a", y="b"), status=Status.UNCONFIRMED))
    made.do(SetSettings(Side.EXTRACTION, made.key("s@1:e@1")[0], (("meanwhile", meanwhile),)))
    made.schema("s", "2", "a")
    block = made.block("s@2:e@1")
    assert (block.status, block.unconfirmed, len(block.elements)) == (Status.NEEDS_REVIEW, True, 1)
    assert schema(compile_plan(made.document, include_unconfirmed=False)).versions[1].blocks == ()
    (asked,) = schema(compile_plan(made.document, include_unconfirmed=True)).versions[1].blocks
    assert (asked.is_held, asked.is_unreviewed) == (meanwhile == "hold", True)


def test_production_keeps_a_block_that_needs_review_whether_held_or_not() -> None:
    second = schema(compile_plan(world().document, include_unconfirmed=False)).versions[1]
    assert [block.is_held for block in second.blocks] == [True]


def test_a_schema_that_maps_what_is_left_holds_nothing() -> None:
    made = world()
    found = made.document.extraction.named("s")
    assert found is not None
    made.do(SetSettings(Side.EXTRACTION, found.id, (("meanwhile", "map what is left"),)))
    second = schema(compile_plan(made.document)).versions[1]
    assert [(block.is_held, block.is_unreviewed) for block in second.blocks] == [(False, True)]


def test_settings_of_the_schema_reach_the_plan() -> None:
    made = world()
    found = made.document.extraction.named("s")
    assert found is not None
    assert schema(compile_plan(made.document)).placeholder == DEFAULT_PLACEHOLDER
    chosen = (("key", "a"), ("placeholder", "hex:00"), ("replica_identity", "full"), ("version_field", "v"))
    made.do(SetSettings(Side.EXTRACTION, found.id, chosen))
    plan = schema(compile_plan(made.document))
    assert (plan.placeholder, plan.has_full_images, plan.version_field) == ("hex:00", True, "v")
    assert {version.key for version in plan.versions} == {("a",)}
    made.do(SetSettings(Side.EXTRACTION, found.id, (("key", "a,Name\\, Vorname"),)))
    assert {version.key for version in schema(compile_plan(made.document)).versions} == {("a", "Name, Vorname")}


def test_typed_sinks_are_told_where_local_times_of_a_source_hold() -> None:
    made = World()
    local = AttributeDeclaration("at", "int64", "io.debezium.time.MicroTimestamp")
    made.do(AddVersion(Side.EXTRACTION, VersionDeclaration("s", (local,), "1")))
    made.do(AddVersion(Side.CDM, VersionDeclaration("e", (AttributeDeclaration("at", "string", "date-time"),), "7")))
    made.map("s@1:e@7", at="at")
    found = made.document.extraction.named("s")
    assert found is not None
    for stated, zone in (("", UNSET), ("Europe/Berlin", "Europe/Berlin"), ("none", UNSET)):
        made.do(SetSettings(Side.EXTRACTION, found.id, (("time_zone", stated),)))
        (entity,) = compile_plan(made.document).entities
        assert entity.sources == (SourceType("s", "1", "at", local.type, local.logical, time_zone=zone),)


def test_staging_knows_what_fed_a_version_of_an_entity_that_a_newer_one_has_replaced() -> None:
    made = World()
    made.do(AddVersion(Side.EXTRACTION, VersionDeclaration("s", (AttributeDeclaration("y", *YEAR),), "1")))
    for label, path in (("7", "since"), ("8", "began")):
        same = ("since",) if label == "8" else ()
        declared = AttributeDeclaration(path, "string", "date", equivalent_to=same)
        made.do(AddVersion(Side.CDM, VersionDeclaration("e", (declared,), label)))
        if label == "7":
            made.map("s@1:e@7", since="y")
    assert [one.version for one in compile_plan(made.document).entities] == ["8"]
    told = {one.version: one.sources for one in staging_plan(made.document).entities}
    assert told == {"7": (SourceType("s", "1", "since", *YEAR),), "8": (SourceType("s", "1", "began", *YEAR),)}


YEAR = ("int32", "io.debezium.time.Year")
MILLIS = ("int64", "io.debezium.time.Timestamp")
LOCAL, ZONED = ("int64", "io.debezium.time.MicroTimestamp"), ("string", "io.debezium.time.ZonedTimestamp")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (("at", *LOCAL), ("at", *ZONED), [("1", LOCAL), ("2", ZONED), ("2", LOCAL)]),
        (("at", *ZONED), ("at", *LOCAL), [("1", ZONED), ("2", LOCAL), ("2", ZONED)]),
        (("at", *LOCAL), ("at", *MILLIS), [("1", LOCAL), ("2", MILLIS)]),
        (("when", *LOCAL), ("at", *ZONED), [("2", ZONED)]),
    ],
)  # fmt: skip
def test_with_a_zone_sinks_are_told_what_values_are_that_came_before_a_change_of_type_only(
    before: tuple[str, str, str], after: tuple[str, str, str], told: list[tuple[str, tuple[str, str]]]
) -> None:
    made = World()
    for label, attribute in (("1", before), ("2", after)):
        made.do(AddVersion(Side.EXTRACTION, VersionDeclaration("s", (AttributeDeclaration(*attribute),), label)))
    made.do(AddVersion(Side.CDM, VersionDeclaration("e", (AttributeDeclaration("at", "string", "date-time"),), "7")))
    for label, attribute in (("1", before), ("2", after)):
        if attribute[0] == "at":
            made.map(f"s@{label}:e@7", at="at")
    (entity,) = compile_plan(made.document).entities
    assert [one.version for one in entity.sources] == sorted({label for label, _ in told})
    found = made.document.extraction.named("s")
    assert found is not None
    made.do(SetSettings(Side.EXTRACTION, found.id, (("time_zone", "UTC"),)))
    (entity,) = compile_plan(made.document).entities
    assert [(one.version, (one.type, one.logical)) for one in entity.sources] == told


def test_a_plan_without_zones_is_what_it_was_before_there_were_any() -> None:
    text = b'{"schema":"s","version":"1","path":"at","type":"int64","logical":"","scale":null}'
    assert msgspec.json.encode(SourceType("s", "1", "at", "int64")) == text
    assert msgspec.json.decode(text, type=SourceType) == SourceType("s", "1", "at", "int64")


def test_blocks_of_entities_that_a_warehouse_uses_filter_nothing_and_all_others_are_as_before() -> None:
    document = world().document
    dates = Dates(name="day", first="2026-01-01", last="2026-12-31")
    for tables, is_used in (
        ((), False),
        ((dates,), False),
        ((dates, Fact(name="f", entity="other")), False),
        ((Dimension(name="d", entity="e"), dates), True),
        ((Fact(name="f", entity="e"),), True),
        ((Bridge(name="b", entity="e"),), True),
    ):
        plan = compile_plan(replace(document, models=(Model(name="fx", tables=tables),)))
        blocks = [block for version in schema(plan).versions for block in version.blocks]
        assert {block.is_unfiltered for block in blocks} == {True if is_used else UNSET}
        assert (b"is_unfiltered" in plans.encode(plan)) == is_used


def test_a_plan_comes_back_from_its_text_as_it_was() -> None:
    plan = compile_plan(world().document, "abc")
    assert plans.decode(plans.encode(plan)) == plan
    assert (plan.state, plan.hash) == (world().document.state, "abc")


@settings(max_examples=60, deadline=None)
@given(steps, st.booleans())
@example([("map", 0), ("ask", 186), ("add", 1)], True)  # emptied, and waiting under "map what is left"
@example([("map", 0), ("ask", 186), ("add", 1)], False)
def test_production_maps_with_and_holds_exactly_what_exports_carry_with_elements_or_hold(
    history: Steps, include_unconfirmed: bool
) -> None:
    document = world_of(history).document
    plan = compile_plan(document, "", include_unconfirmed)
    mapped = [
        (found.name, version.label, block.entity, block.entity_version, block.is_held)
        for found in plan.schemas
        for version in found.versions
        for block in version.blocks
    ]
    carried = matrix_content(document, include_unconfirmed)["blocks"]
    names = ("schema", "version", "entity", "entity_version")
    wanted = [
        (*(block[name] for name in names), "held" in block)
        for block in carried
        if block["elements"] or "held" in block  # nothing is left of the others, which wait for a decision
    ]
    assert sorted(mapped) == sorted(wanted)
