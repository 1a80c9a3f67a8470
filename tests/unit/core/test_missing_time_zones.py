"""Schemas that state no time zone and need one: those whose local times feed instants, read off the document alone."""

from __future__ import annotations

import random

from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.time_zones import TIME_ZONE
from metl_gui.core.review.missing_time_zones import MappedLocalTime, MissingTimeZone, missing_time_zones
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.logical_types import Conversion, conversion, time_type
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.types import read_type
from tests.helpers.world import World

LOCAL, NANOS, INSTANT, DAY = (
    "int64/io.debezium.time.MicroTimestamp",
    "int64/local-timestamp-nanos",
    "date-time",
    "int32/io.debezium.time.Date",
)


def add(world: World, side: Side, name: str, label: str, **types: str) -> None:
    """Add a version; each attribute is given with its type in one word."""
    attributes = tuple(AttributeDeclaration(path, *read_type(text)) for path, text in types.items())
    world.do(AddVersion(side, VersionDeclaration(name, attributes, label)))


def state(world: World, schema: str, zone: str) -> None:
    found = world.document.extraction.named(schema)
    assert found is not None
    world.do(SetSettings(Side.EXTRACTION, found.id, ((TIME_ZONE, zone),)))


def shop() -> World:
    """One schema of two versions whose local time feeds an instant, one that has none, and one that is not mapped."""
    world = World()
    add(world, Side.CDM, "sale", "1", sold_at=INSTANT, ended_at=INSTANT, day=DAY)
    for name, type_ in (("orders", LOCAL), ("days", DAY), ("free", LOCAL)):
        add(world, Side.EXTRACTION, name, "1", created=type_, closed=type_)
    add(world, Side.EXTRACTION, "orders", "2", created=LOCAL, closed=LOCAL, note="string")
    world.map("orders@1:sale@1", sold_at="created")
    world.map("orders@2:sale@1", sold_at="created", ended_at="closed")
    world.map("days@1:sale@1", day="created")
    return world


ORDERS = ("orders", {("created", "sale", "sold_at"), ("closed", "sale", "ended_at")})


def named(found: tuple[MissingTimeZone, ...]) -> list[tuple[str, set[tuple[str, str, str]]]]:
    return [(one.schema, {(m.path, m.entity, m.target) for m in one.attributes}) for one in found]


def test_a_schema_is_named_once_with_each_of_its_local_times_that_feed_instants() -> None:
    world = shop()
    (one,) = missing_time_zones(world.document)
    assert named((one,)) == [ORDERS]
    assert one.local_times == 2
    assert one.attributes == (
        MappedLocalTime("closed", "sale", "ended_at"),
        MappedLocalTime("created", "sale", "sold_at"),
    )


def test_stating_a_zone_or_that_there_is_none_takes_a_schema_off_and_undo_puts_it_back() -> None:
    for zone in ("Europe/Berlin", "none"):
        world = shop()
        state(world, "orders", zone)
        assert missing_time_zones(world.document) == ()
        world.undo(world.log[-1])
        assert named(missing_time_zones(world.document)) == [ORDERS]


def test_what_a_zone_does_not_help_with_asks_for_none() -> None:
    world = World()
    add(world, Side.CDM, "e", "1", instant=INSTANT, local=LOCAL, day=DAY, nanos="int64/timestamp-nanos")
    add(world, Side.EXTRACTION, "s", "1", a=INSTANT, b=LOCAL, c=DAY, d=LOCAL, e=NANOS)
    world.map("s@1:e@1", instant="a", local="b", day="c", nanos="d")  # microseconds are no nanoseconds, in any zone
    assert missing_time_zones(world.document) == ()
    world.do(world.clearing("s@1:e@1", "d", "nanos"))
    world.map("s@1:e@1", nanos="e")
    assert named(missing_time_zones(world.document)) == [("s", {("e", "e", "nanos")})]


def test_an_empty_document_asks_for_none() -> None:
    assert missing_time_zones(Document()) == ()


def test_after_any_edits_and_merged_it_is_what_a_walk_over_all_elements_finds() -> None:
    for seed in range(12):
        chance = random.Random(seed)
        world = shop()
        for number in range(20):
            edit_somehow(world, chance, number)
            if chance.random() < 0.2:
                world.document = world.document.merged()
            assert named(missing_time_zones(world.document)) == walked(world.document)


def edit_somehow(world: World, chance: random.Random, number: int) -> None:
    versions = {
        side: [(tree.schema(v.schema_id).name, v) for v in tree.all_versions()]
        for side, tree in ((side, world.document.tree(side)) for side in Side)
    }
    name, version = chance.choice(versions[Side.EXTRACTION])
    match chance.randrange(5):
        case 0:
            types = {path: chance.choice((LOCAL, DAY, INSTANT)) for path in ("created", "closed", f"n{number}")}
            add(world, Side.EXTRACTION, chance.choice((name, f"new{number}")), f"v{number}", **types)
        case 1:
            state(world, name, chance.choice(("", "UTC", "none")))
        case 2 if len(versions[Side.EXTRACTION]) > 2:
            world.remove_schema(name, version.label)
        case _:
            entity, entity_version = chance.choice(versions[Side.CDM])
            source, target = chance.choice(version.attributes), chance.choice(entity_version.attributes)
            block = f"{name}@{version.label}:{entity}@{entity_version.label}"
            taken = world.pairs(block)
            if not any(source.path == p or target.path == q for q, p in taken):
                world.map(block, **{target.path: source.path})


def walked(document: Document) -> list[tuple[str, set[tuple[str, str, str]]]]:
    found: dict[str, set[tuple[str, str, str]]] = {}
    for block in document.matrix.blocks():
        version, entity_version = document.extraction.version(block.version), document.cdm.version(block.entity_version)
        schema = document.extraction.schema(version.schema_id)
        for element in block.elements:
            p, q = version.attribute(element.p), entity_version.attribute(element.q)
            assert p is not None
            assert q is not None
            one, other = time_type(p.type, p.logical), time_type(q.type, q.logical)
            if one and other and conversion(one, other) is Conversion.BY_ZONE and not schema.setting(TIME_ZONE):
                entity = document.cdm.schema(entity_version.schema_id).name
                found.setdefault(schema.name, set()).add((p.path, entity, q.path))
    return sorted(found.items())
