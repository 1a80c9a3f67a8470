"""Prove that the tables of a target are the function of its histories, and that declared tests hold.

Source: docs/reference/warehouse-model.md, "The audit".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.key_history import keys_in
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.plans.declared_tests import Rule, declared_rules
from metl_gui.warehouse.plans.dimensions.dimension_tables import versions_table
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keys_of
from metl_gui.warehouse.plans.facts.fact_plan import member_references
from metl_gui.warehouse.plans.facts.fact_values import row_columns
from metl_gui.warehouse.plans.histories.arrivals import set_aside_table
from metl_gui.warehouse.plans.histories.history_tables import history_table
from metl_gui.warehouse.plans.load_plan import referring_to
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, FactShape, JunkShape, MemberShape, TableShapes
from metl_gui.warehouse.plans.statements import Step, name, names
from metl_gui.warehouse.plans.write_plan import rows_written
from metl_gui.warehouse.target_model import Owner, check_loaded

_SHOWN = 5

Member: TypeAlias = DimensionShape | FactShape
"""What has a key by which people know its rows."""

DIFFERS = "follows from the histories"
"""The rule of which counts are shown in place of rows."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not as it must be.

    Args:
        table: where.
        rule: which is broken.
        rows: how many rows break it.
        shown: some of them.
        keys: business keys or grains of some of them, where the table is a dimension or a fact.
    """

    table: str
    rule: str
    rows: int
    shown: tuple[str, ...] = ()
    keys: tuple[tuple[str, ...], ...] = ()


def audit(target: WarehouseTarget, shapes: TableShapes, owner: Owner) -> tuple[Finding, ...]:
    """Return what is wrong in a target; nothing in it is changed.

    Cost: every row is made anew once and compared, and each rule is one query.

    Raises:
        TargetError: nothing was loaded into the target, or it is somebody else's, or made by another model.
    """
    check_loaded(target)
    known: tuple[Member, ...] = (*shapes.dimensions, *shapes.facts)
    members = {one.table: one for one in known}
    differing = _DifferingKeys(target, members)
    # First, as it says plainly what the rules would stumble over: another owner, or a model that has changed.
    report = Loader(target, shapes, owner, differing.note).recomputed()
    findings = [_found(target, rule, members.get(rule.table)) for rule in _rules(target, shapes)]
    for table, counts in report.tables.items():
        if count := counts.inserted + counts.updated + counts.removed:
            shown = (f"missing: {counts.inserted}", f"other values: {counts.updated}", f"too many: {counts.removed}")
            keys = tuple(differing.keys.get(table, ()))
            findings.append(Finding(table=table, rule=DIFFERS, rows=count, shown=shown, keys=keys))
    return tuple(one for one in findings if one is not None)


class _DifferingKeys:
    """Keeps keys of rows that making them anew writes, step by step.

    Args:
        target: where they are.
        members: dimensions and facts by table.
    """

    def __init__(self, target: WarehouseTarget, members: Mapping[str, Member]) -> None:
        self._target, self._members = target, members
        self.keys: dict[str, dict[tuple[str, ...], None]] = {}

    def note(self, step: Step, rows: int) -> None:
        """Note the keys of what a step wrote."""
        shape = self._members.get(step.table)
        if shape is None or not rows:
            return
        query = rows_written(step, row_columns(shape) if isinstance(shape, FactShape) else [shape.version_key])
        found = self.keys.setdefault(step.table, {})
        if query and len(found) < _SHOWN:
            some = keys_in(self._target, shape, query, _SHOWN)
            found |= dict.fromkeys(some[: _SHOWN - len(found)])


def _found(target: WarehouseTarget, rule: Rule, shape: Member | None) -> Finding | None:
    count = target.rows(rule.count)[0][0]
    if not count:
        return None
    rows = target.rows(f"SELECT * FROM ({rule.broken}) AS q LIMIT {_SHOWN}")
    shown = tuple(", ".join(str(value) for value in row) for row in rows)
    keys = keys_in(target, shape, rule.whole or rule.broken, _SHOWN) if shape is not None else ()
    return Finding(table=rule.table, rule=rule.rule, rows=count, shown=shown, keys=keys)


def _rules(target: WarehouseTarget, shapes: TableShapes) -> Iterator[Rule]:
    # What was mapped since the last load has no history yet.
    yield _ledger([entity for entity in shapes.histories if target.has_table(history_table(entity))])
    for dimension in shapes.dimensions:
        yield from _dimension_rules(dimension)
        for table, reference in referring_to(shapes, dimension):
            column = reference.durable
            known = f"SELECT {name(dimension.durable_key)} FROM {name(dimension.table)}"
            broken = f"SELECT * FROM {name(table)} WHERE {name(column)} NOT IN ({known})"
            yield Rule(table, f"{column} stands in {dimension.table}", broken)
    for hierarchy in shapes.hierarchies:
        of = hierarchy.dimension
        known = f"SELECT {name(of.durable_key)} FROM {name(of.table)} WHERE is_current"
        for column in ("ancestor_durable_key", "descendant_durable_key"):
            broken = f"SELECT * FROM {name(hierarchy.table)} WHERE {column} NOT IN ({known})"
            yield Rule(hierarchy.table, f"{column} is a current member of {of.table}", broken)
    for bridge in shapes.list_bridges:
        yield _stands(bridge.table, bridge.owner_columns, bridge.owner.table)
    for pairs in shapes.pair_bridges:
        yield _stands(pairs.table, [*pairs.owner_columns, pairs.element_column], pairs.links.table)
    for fact in shapes.facts:
        yield _owned(fact)
        for junk in fact.junk:
            yield from _junk_rules(fact, junk)
        for reference in member_references(fact):
            to = shapes.dimension(reference.dimension)
            pair = f"SELECT {name(to.version_key)}, {name(to.durable_key)} FROM {name(to.table)}"
            broken = f"""SELECT * FROM {name(fact.table)}
                WHERE ({name(reference.key)}, {name(reference.durable)}) NOT IN ({pair})"""
            yield Rule(fact.table, f"{reference.key} and {reference.durable} are one member", broken)
    yield from declared_rules(shapes)


def _stands(table: str, columns: Sequence[tuple[str, str]], of: str) -> Rule:
    """Return the rule that rows have what stands in another table under the same columns."""
    k = names(column for column, _ in columns)
    broken = f"SELECT * FROM {name(table)} WHERE ({k}) NOT IN (SELECT {k} FROM {name(of)})"
    return Rule(table, f"owners stand in {of}", broken)


def _ledger(entities: Sequence[str]) -> Rule:
    stored = " + ".join(f"(SELECT COUNT(*) FROM {name(history_table(entity))})" for entity in entities) or "0"
    tables = (name(set_aside_table(entity)) for entity in entities)
    aside = " + ".join(f"(SELECT COUNT(*) FROM {table})" for table in tables) or "0"
    counts = ("messages", "repeated", "forgotten", "purged")
    kept = " - ".join(f"COALESCE(CAST(report ->> '$.{count}' AS BIGINT), 0)" for count in counts)
    counted = f"SELECT COALESCE(SUM({kept}), 0) AS loaded FROM metl_loads WHERE report IS NOT NULL"
    broken = f"SELECT loaded, {stored} + {aside} AS stored FROM ({counted}) AS l WHERE loaded <> {stored} + {aside}"
    return Rule("metl_loads", "messages are those that are stored, repeated, set aside or taken out", broken)


def _dimension_rules(shape: DimensionShape) -> Iterator[Rule]:
    table, key, member = name(shape.table), name(shape.version_key), name(shape.durable_key)

    def rule(words: str, broken: str, column: str) -> Rule:
        whole = f"SELECT * FROM {table} WHERE {column} IN (SELECT {column} FROM ({broken}) AS q)"
        return Rule(shape.table, words, broken, whole=whole)

    overlap = f"""SELECT a.{key}, b.{key} AS other FROM {table} AS a JOIN {table} AS b
        ON a.{member} = b.{member} AND a.{key} <> b.{key} AND a.valid_from <= b.valid_from
        AND (a.valid_to IS NULL OR a.valid_to > b.valid_from) WHERE a.{key} > 0"""
    yield rule("versions of a member do not overlap", overlap, key)
    several = f"SELECT {member} FROM {table} WHERE is_current AND {key} > 0 GROUP BY {member} HAVING COUNT(*) > 1"
    yield rule("a member has one current version at most", several, member)
    twice = f"SELECT {key} FROM {table} GROUP BY {key} HAVING COUNT(*) > 1"
    yield rule("a key is given once", twice, key)
    given = name(versions_table(shape.table))
    strange = f"""SELECT t.{key} FROM {table} AS t WHERE t.{key} > 0 AND NOT EXISTS (
        SELECT 1 FROM {given} AS v WHERE v.version_key = t.{key} AND v.durable_key = t.{member})"""
    yield rule("keys are those that were given", strange, key)


def _owned(shape: MemberShape) -> Rule:
    """Return the rule that rows have a grain that some message has: others were written by hand."""
    keys = zip(shape.key, keys_of(shape), strict=True)
    match = " AND ".join(f"o.{name(key)} = t.{name(part.name)}" for part, key in keys)
    owners = name(MemberTables(shape.table).owners)
    broken = f"SELECT * FROM {name(shape.table)} AS t WHERE NOT EXISTS (SELECT 1 FROM {owners} AS o WHERE {match})"
    return Rule(shape.table, "rows come from messages", broken)


def _junk_rules(fact: FactShape, junk: JunkShape) -> Iterator[Rule]:
    key = name(junk.key)
    for table, other in ((fact.table, junk.table), (junk.table, fact.table)):
        known = f"SELECT {key} FROM {name(other)}"
        yield Rule(table, f"{junk.key} stands in {other}", f"SELECT * FROM {name(table)} WHERE {key} NOT IN ({known})")
