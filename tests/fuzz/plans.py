"""Random plans: nested paths, fan-out, held blocks, version fields, placeholders, aliases, none to many versions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from msgspec import UNSET

from metl_gui.core.trees.declarations import fingerprint
from metl_gui.core.trees.paths import join
from metl_gui.engine.kernel.plan import DEFAULT_PLACEHOLDER, BlockPlan, Plan, SchemaPlan, VersionPlan, WriterSchemaPlan
from metl_gui.formats.connect_schema import declare
from tests.fuzz.collisions import collisions, twins

Tree: TypeAlias = "dict[str, Tree | None]"
"""Names of a row; a leaf has nothing below it."""

_NAMES = (
    *("id", "a", "b", "c", "d", "amount", "op", "after", "before", "source", "value", "key", "type", "status", "topic"),
    *("payload", "schema", "message", "ts_ms", "data", "__x", "__op", "__deleted", "specversion", "ddl", "version"),
    *("é", "naïve", "😀", "a.b", "a\\", 'q"', "tab\t", "", " ", "null", "A", "ID", "created_at", "customer_id"),
    *("12345678", "123456789", "1234567", "12345678a", "12345678b", "a2345678", "x" * 16, "x" * 17, "x" * 300),
    *("87654321" * 2 + "12345678", "12345678" + "87654321" * 2, "ab" * 4 + "cd" * 4, "cd" * 4 + "ab" * 4),
)
_TYPES = ("int32", "int64", "string", "boolean", "double", "bytes")


@dataclass(frozen=True, slots=True)
class Version:
    """One version and what its messages are written from.

    Args:
        plan: as the kernel knows it.
        tree: names of a row.
        schema_text: the Connect schema of its row, which has the fingerprint of the version.
    """

    plan: VersionPlan
    tree: Tree
    schema_text: str


@dataclass(frozen=True, slots=True)
class Table:
    """One schema of a world."""

    plan: SchemaPlan
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class World:
    """A plan, and what records are written from that suit it."""

    plan: Plan
    tables: tuple[Table, ...]


def draw_world(dice: Random) -> World:
    """Draw a plan."""
    names = [*_NAMES, *collisions(dice)]
    tables = tuple(
        _table(dice, f"srv.db{number % 2}.t{number}", names) for number in range(dice.choice((1, 2, 2, 3, 5)))
    )
    if dice.random() < 0.1:
        odd = _table(dice, dice.choice(('od"d\n.x.t', "é.ü.😀", "t", "__debezium-heartbeat.t", "a" * 200)), names)
        tables = (*tables, odd)
    if dice.random() < 0.2:
        tables = (*tables, twin_table(dice, "srv.db0.twins"))
    wire = _wire(dice, tables) if dice.random() < 0.3 else ()
    plan = Plan(dice.choice((0, 17, 123456)), "", tuple(table.plan for table in tables), wire=wire)
    return World(plan, tables)


def twin_table(dice: Random, name: str) -> Table:
    """Draw a table of two versions whose rows have one hash."""
    leaves = [[(column,) for column in columns] for columns in twins(dice)]
    versions = tuple(_version(dice, name, str(number), found) for number, found in enumerate(leaves))
    return Table(SchemaPlan(name, tuple(version.plan for version in versions)), versions)


def _wire(dice: Random, tables: tuple[Table, ...]) -> tuple[WriterSchemaPlan, ...]:
    """Draw writer schemas: of JSON behind a frame, and of an Avro row of numbers."""
    found = [WriterSchemaPlan("5", "json", "", dice.choice(tables).plan.name)]
    for number, table in enumerate(tables):
        fields = [{"name": "id", "type": ["null", "long"]}, {"name": "a", "type": "string"}]
        text = json.dumps({"type": "record", "name": "Value", "namespace": table.plan.name, "fields": fields})
        found.append(WriterSchemaPlan(str(6 + number), "avro", text, table.plan.name))
    return tuple(found)


def _table(dice: Random, name: str, names: list[str]) -> Table:
    count = dice.choice((1, 1, 1, 2, 2, 3, 6)) if dice.random() < 0.95 else dice.choice((0, 40))
    base = _leaves(dice, names)
    versions = []
    for number in range(count):
        versions.append(_version(dice, name, str(number + 1), base))
        if dice.random() < 0.8:
            base = _changed(dice, base, names)
    plan = SchemaPlan(
        name=name,
        versions=tuple(version.plan for version in versions),
        aliases=tuple(f"alias.{name}" for _ in range(dice.random() < 0.3)),
        has_full_images=dice.random() < 0.3,
        version_field=dice.choice(("version", "a", "meta.v", "__version")) if dice.random() < 0.15 else "",
        placeholder=dice.choice(("other_placeholder", "hex:C0FFEE", "é"))
        if dice.random() < 0.1
        else DEFAULT_PLACEHOLDER,
    )
    return Table(plan, tuple(versions))


def _leaves(dice: Random, names: list[str]) -> list[tuple[str, ...]]:
    """Draw leaves, none of which lies within another."""
    count = dice.choice((1, 2, 3, 5, 8, 13)) if dice.random() < 0.95 else 120
    found: list[tuple[str, ...]] = [("id",)] if dice.random() < 0.7 else []
    for _ in range(count):
        depth = dice.choice((1, 1, 1, 1, 2, 2, 3, 5))
        leaf = tuple(dice.choice(names) for _ in range(depth))
        if dice.random() < 0.2 and found:
            leaf = (*dice.choice(found)[:-1], dice.choice(names))
        if not any(other[: len(leaf)] == leaf or leaf[: len(other)] == other for other in found):
            found.append(leaf)
    return found or [("id",)]


def _changed(dice: Random, leaves: list[tuple[str, ...]], names: list[str]) -> list[tuple[str, ...]]:
    kept = [leaf for leaf in leaves if dice.random() < 0.9]
    for leaf in _leaves(dice, names)[: dice.randrange(3)]:
        if not any(other[: len(leaf)] == leaf or leaf[: len(other)] == other for other in kept):
            kept.append(leaf)
    return kept or leaves


def _version(dice: Random, schema: str, label: str, leaves: Sequence[tuple[str, ...]]) -> Version:
    paths = [join(leaf) for leaf in leaves]
    required = [path for path in paths if dice.random() < 0.3]
    text = _schema_text(dice, schema, leaves, frozenset(required))
    key: tuple[str, ...] | None = tuple(dice.sample(paths, min(len(paths), dice.choice((1, 1, 2)))))
    if dice.random() < 0.3:
        key = dice.choice(((), None))
    plan = VersionPlan(
        label=dice.choice((label, label, f"v{label}", f'"{label}')),
        fingerprint=fingerprint(declare(json.loads(text))),
        paths=tuple(paths),
        required=tuple(required),
        key=key,
        blocks=tuple(_blocks(dice, paths)),
        labels=(label,),
        is_inferred=dice.random() < 0.1,
    )
    return Version(plan, _tree(leaves), text)


def _blocks(dice: Random, paths: list[str]) -> list[BlockPlan]:
    blocks = []
    for number in range(dice.choice((0, 1, 1, 1, 2, 3, 5))):
        sources = dice.sample(paths, dice.randrange(len(paths) + 1))
        targets = tuple((source, _target(dice, at)) for at, source in enumerate(sources))
        is_held = dice.random() < 0.05
        if targets or is_held:
            blocks.append(
                BlockPlan(
                    entity=dice.choice((f"e{number}", f"entity_{number}", f'é"{number}')),
                    entity_version=dice.choice(("1", "2.0.0")),
                    targets=targets,
                    is_held=is_held,
                    is_unreviewed=dice.random() < 0.2,
                    waits="a person" if is_held else "",
                    is_unfiltered=True if dice.random() < 0.2 else UNSET,
                )
            )
    return blocks


def _target(dice: Random, at: int) -> str:
    return dice.choice(
        (f"c{at}", f"x.c{at}", f"x.y.c{at}", f"z.y.c{at}", f"é{at}", f'q\\."{at}', f"long_name_of_attribute_{at}")
    )


def _tree(leaves: Sequence[tuple[str, ...]]) -> Tree:
    tree: Tree = {}
    for *parents, leaf in leaves:
        place = tree
        for parent in parents:
            below = place.setdefault(parent, {})
            assert below is not None
            place = below
        place[leaf] = None
    return tree


def _schema_text(dice: Random, schema: str, leaves: Sequence[tuple[str, ...]], required: frozenset[str]) -> str:
    def fields(tree: Tree, prefix: tuple[str, ...]) -> list[dict[str, Any]]:
        found = []
        for name, below in tree.items():
            path = (*prefix, name)
            if below is None:
                found.append({"field": name, "type": dice.choice(_TYPES), "optional": join(path) not in required})
            else:
                found.append({"field": name, "type": "struct", "optional": True, "fields": fields(below, path)})
        return found

    named = _tree([tuple(name or "empty" for name in leaf) for leaf in leaves])
    schema_half = {"type": "struct", "fields": fields(named, ()), "optional": False, "name": f"{schema}.Value"}
    return json.dumps(schema_half, separators=(",", ":"), ensure_ascii=False)
