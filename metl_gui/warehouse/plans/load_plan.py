"""The whole plan of a load, made of those of its tables, in the order in which they need one another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.rows.junk import junk_tables
from metl_gui.core.warehouse_model import Bridge, Dates, Dimension, Fact, Hierarchy, Model, TimesOfDay
from metl_gui.warehouse.plans.dimensions.bridge_plan import (
    create_bridge,
    gather_plan,
    list_bridge_plan,
    pair_bridge_plan,
)
from metl_gui.warehouse.plans.dimensions.calendar_plan import create_dates, create_times
from metl_gui.warehouse.plans.dimensions.dimension_plan import again_for_parents, dimension_plan
from metl_gui.warehouse.plans.dimensions.dimension_tables import create_dimension
from metl_gui.warehouse.plans.dimensions.hierarchy_plan import create_hierarchy, cycles_table, hierarchy_plan
from metl_gui.warehouse.plans.dimensions.inferred_plan import forget_inferred, infer
from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables, keep_owners, owner_plan, widen_plan
from metl_gui.warehouse.plans.facts.fact_plan import (
    all_members,
    changed_members,
    create_fact,
    fact_plan,
    member_references,
    rekey_plan,
)
from metl_gui.warehouse.plans.facts.fact_values import row_columns
from metl_gui.warehouse.plans.facts.missed_plan import again_plan, again_table, missed_table
from metl_gui.warehouse.plans.facts.periodic_plan import create_periodic, fact_periodic_plan, periodic_plan
from metl_gui.warehouse.plans.facts.periods import watermark_plan
from metl_gui.warehouse.plans.facts.posting_plan import no_runs, runs_table
from metl_gui.warehouse.plans.histories.arrivals import (
    SET_ASIDE_COLUMN,
    Batch,
    arrival_plan,
    once_plan,
    set_aside_plan,
    set_aside_table,
    touch_linked,
)
from metl_gui.warehouse.plans.histories.epoch_plan import CREATE_EPOCHS, falls_plan
from metl_gui.warehouse.plans.histories.forget_plan import CREATE_FORGOTTEN
from metl_gui.warehouse.plans.histories.history_tables import UNLIKE, create_history, history_table
from metl_gui.warehouse.plans.histories.log_plan import CREATE_LOGS, LOGS
from metl_gui.warehouse.plans.histories.replay_plan import RANGE, REPLAYS
from metl_gui.warehouse.plans.histories.state_plan import Contents, find_messages, state_plan
from metl_gui.warehouse.plans.shapes.bridge_shapes import links_table
from metl_gui.warehouse.plans.shapes.table_shapes import (
    DimensionShape,
    FactPeriodicShape,
    FactShape,
    MemberShape,
    ReferenceShape,
    TableShapes,
)
from metl_gui.warehouse.plans.statements import Step, name, temporary

OWN_TABLES = (
    "CREATE TABLE metl_loads (load VARCHAR PRIMARY KEY, loaded_at TIMESTAMPTZ, report VARCHAR)",
    "CREATE TABLE metl_target (name VARCHAR, value VARCHAR)",
    "CREATE TABLE metl_numbers (dimension VARCHAR, next_durable BIGINT, next_version BIGINT)",
    f"CREATE TABLE {REPLAYS} ({', '.join(' '.join(one) for one in RANGE)})",
    CREATE_LOGS,
    CREATE_FORGOTTEN,
    CREATE_EPOCHS,
    "CREATE TABLE metl_watermarks (entity VARCHAR, schema VARCHAR, latest TIMESTAMPTZ, earliest TIMESTAMPTZ)",
    "CREATE TABLE metl_periods (periodic VARCHAR, closed_to TIMESTAMPTZ, opened_from TIMESTAMPTZ)",
)


def create_own() -> Iterator[Step]:
    """Yield the steps that make the tables of the loader's own."""
    for statement in OWN_TABLES:
        yield Step("Make a table of the loader's own", statement)


def create_histories(histories: Iterable[EntityHistory]) -> Iterator[Step]:
    """Yield the steps that make the histories which are missing, and keep what does not fit the model beside them."""
    for history in histories:
        entity = history.entity
        yield Step(f"Make the history of {entity}", create_history(history, history_table(entity)), unlike=UNLIKE)
        aside = create_history(history, set_aside_table(entity), [(SET_ASIDE_COLUMN, "VARCHAR")])
        yield Step(f"Make the place for what is set aside of {entity}", aside)


def create_tables(shapes: TableShapes) -> Iterator[Step]:
    """Yield the steps that make the tables of the model, empty but for what is generated."""
    for table in shapes.model.tables:
        if isinstance(table, Dates):
            yield from create_dates(table)
        if isinstance(table, TimesOfDay):
            yield from create_times(table)
    yield from create_derived(shapes)


def create_derived(shapes: TableShapes) -> Iterator[Step]:
    """Yield the steps that make the tables whose rows follow from histories, empty."""
    for dimension in shapes.dimensions:
        yield from create_dimension(dimension)
    for fact in shapes.facts:
        yield from create_fact(fact)
    for periodic in shapes.periodics:
        yield from create_periodic(periodic)
    for hierarchy in shapes.hierarchies:
        yield from create_hierarchy(hierarchy)
    for bridge in shapes.bridges:
        yield from create_bridge(bridge)


def drop_tables(model: Model) -> Iterator[Step]:
    """Yield the steps that drop the tables of a model; histories and the keys that were given stay."""
    for table in (*model.tables, *junk_tables(model)):
        if isinstance(table, Dimension):
            yield Step("Drop a view", f"DROP VIEW IF EXISTS {name(table.name + '_current')}")
            yield Step("Drop a view", f"DROP VIEW IF EXISTS {name(table.name + '_now')}")
        if isinstance(table, Fact):
            yield Step("Drop a list of what is missed", f"DROP TABLE IF EXISTS {name(missed_table(table.name))}")
            yield Step("Drop a list of what facts were", f"DROP TABLE IF EXISTS {name(runs_table(table.name))}")
        if isinstance(table, Dimension | Fact):
            yield Step("Drop a list of owners", f"DROP TABLE IF EXISTS {name(MemberTables(table.name).owners)}")
        if isinstance(table, Hierarchy):
            yield Step("Drop a list of cycles", f"DROP TABLE IF EXISTS {name(cycles_table(table.name))}")
        if isinstance(table, Bridge):
            links = links_table(table.name)
            for one in (links, MemberTables(links).owners, missed_table(links)):
                yield Step("Drop a list of pairs", f"DROP TABLE IF EXISTS {name(one)}")
        yield Step(f"Drop {table.name}", f"DROP TABLE IF EXISTS {name(table.name)}")
    yield Step("Forget up to when periodic facts went", "DELETE FROM metl_periods")


def whole_plan(shapes: TableShapes) -> Iterator[Step]:
    """Yield all steps of a load, for messages that have everything in them that plans provide for."""
    for history in shapes.histories.values():
        yield from set_aside_plan(history, shapes.conversions(history.entity), "LOAD")
        batch = Batch(history.entity, is_replay=True)
        yield from once_plan(history, batch)
        yield from falls_plan(history.entity, batch.once, batch.falls, LOGS)
        yield from arrival_plan(history, "LOAD", batch)
        yield from watermark_plan(batch)
    for entity in shapes.entities:
        columns = tuple(column.name for column in shapes.stated[entity].columns)
        yield find_messages(shapes.stated[entity])
        yield from states_of(shapes, entity, Contents(lacking=columns, partial=columns))
        yield from wider(shapes, entity)
        yield touch_linked(entity)
    for dimension in shapes.dimensions:
        yield from again_for_parents(dimension)
        yield from one_dimension(shapes, dimension)
    for fact in shapes.missing:
        yield from members_came(shapes, fact)
    yield from facts_plan(shapes)


def states_of(
    shapes: TableShapes, entity: str, contents: Contents, done: Collection[str] = (), *, are_new: bool = False
) -> Iterator[Step]:
    """Yield the steps that make the states of an entity and find the keys that change.

    Args:
        shapes: the tables of the model.
        entity: its name.
        contents: what the messages of touched rows have in them.
        done: tables that are up to date, whose keys were found before.
        are_new: no touched row was taken in for the sake of another.
    """
    of_entity = shapes.of_entity(entity)
    keeps_log = any(isinstance(one, FactShape) and one.has_moments for one in of_entity)
    yield from state_plan(shapes.stated[entity], contents, shapes.valid_at.get(entity, ""), keeps_log=keeps_log)
    for shape in (one for one in of_entity if one.table not in done):
        again = again_table(shape.table) if shape in shapes.revisited else ""
        yield from owner_plan(shape, again=again, are_new=are_new)


def wider(shapes: TableShapes, entity: str, done: Collection[str] = ()) -> Iterator[Step]:
    """Yield the steps that take in rows which share a key with touched rows; arguments as of ``states_of``."""
    yield from widen_plan([one for one in shapes.of_entity(entity) if one.table not in done], entity)


def one_dimension(
    shapes: TableShapes, dimension: DimensionShape, *, is_whole: bool = False, are_new: bool = False
) -> Iterator[Step]:
    """Yield the steps that bring a dimension up to date, once those that it refers to are, and states are made.

    Args:
        shapes: the tables of the model.
        dimension: one of them.
        is_whole: look at what refers to members that did not change too.
        are_new: no touched row of its entity was taken in for the sake of another.
    """
    by_name = {one.table: one for one in shapes.dimensions}
    yield from keep_owners(dimension, are_new=are_new)
    yield from dimension_plan(dimension, by_name, _as_of_times(shapes, dimension))
    yield all_members(dimension) if is_whole else changed_members(dimension)
    yield from _gathered(shapes, dimension)


def _gathered(shapes: TableShapes, owner: MemberShape) -> Iterator[Step]:
    """Yield the steps that keep the lists of a table while the rows that it is to have are at hand."""
    for bridge in shapes.list_bridges:
        if bridge.owner.table == owner.table:
            yield from gather_plan(bridge)


def _as_of_times(shapes: TableShapes, dimension: DimensionShape) -> list[tuple[str, str, str]]:
    """Return the tables that refer to a dimension as of a time, each with its columns for member and time."""
    children = [
        (child.table, reference.durable, "first_known")
        for child in shapes.dimensions
        for reference in member_references(child)
        if reference.dimension == dimension.table and reference.as_of == "version"
    ]
    return children + [
        (fact.table, reference.durable, "event_time")
        for fact in shapes.facts
        for reference in member_references(fact)
        if reference.dimension == dimension.table and reference.as_of == "event"
    ]


def members_came(shapes: TableShapes, fact: FactShape) -> Iterator[Step]:
    """Yield the steps that list the facts whose members came or went, once dimensions are up to date."""
    yield from again_plan(fact, {one.table: one for one in shapes.dimensions})


def no_members(dimension: DimensionShape) -> Step:
    """Return the step that says of a dimension of which no row is touched that no member changed."""
    query = f"SELECT {name(dimension.durable_key)} AS durable_key FROM {name(dimension.table)} WHERE FALSE"
    return temporary(f"_members_{dimension.table}", query, f"Leave the members of {dimension.table}")


def facts_plan(shapes: TableShapes, resting: Collection[str] = (), new: Collection[str] = ()) -> Iterator[Step]:
    """Yield the steps that bring facts up to date, and what refers to members that changed.

    Args:
        shapes: the tables of the model.
        resting: tables of which no row is touched.
        new: entities of which no touched row was taken in for the sake of another.
    """
    by_name = {one.table: one for one in shapes.dimensions}
    for fact in shapes.facts:
        if fact.table in resting:
            yield from no_runs(fact)
        else:
            yield from keep_owners(fact, are_new=fact.entity in new)
            yield from fact_plan(fact, by_name)
            yield from _gathered(shapes, fact)
    for bridge in shapes.list_bridges:
        if bridge.owner.table not in resting:
            yield from list_bridge_plan(bridge, by_name)
    for pairs in shapes.pair_bridges:
        if pairs.links.table not in resting:
            yield from pair_bridge_plan(pairs)
    yield from _rekey(shapes, [one for one in shapes.dimensions if one.table not in resting])
    for periodic in shapes.periodics:
        if isinstance(periodic, FactPeriodicShape):
            yield from fact_periodic_plan(periodic)
        else:
            yield from periodic_plan(periodic)
    for dimension in shapes.dimensions:
        if referring := referring_to(shapes, dimension):
            yield from forget_inferred(dimension, referring)
    for hierarchy in shapes.hierarchies:
        yield from hierarchy_plan(hierarchy)


def referring_to(shapes: TableShapes, dimension: DimensionShape) -> list[tuple[str, ReferenceShape]]:
    """Return the tables that refer to a dimension, each with its reference."""
    found = [(s.table, r) for s in (*shapes.dimensions, *shapes.facts) for r in member_references(s)]
    found += [(bridge.table, bridge.to) for bridge in shapes.list_bridges if bridge.to is not None]
    return [(table, reference) for table, reference in found if reference.dimension == dimension.table]


def _rekey(shapes: TableShapes, changing: Sequence[DimensionShape]) -> Iterator[Step]:
    """Yield the steps that point rows to the right version of members of some dimensions that changed, or went away."""
    for dimension in changing:
        for table, reference in referring_to(shapes, dimension):
            changed = f"SELECT durable_key FROM {name(f'_members_{dimension.table}')}"
            member = name(reference.durable)
            needed = f"SELECT DISTINCT {member} AS durable_key FROM {name(table)} WHERE {member} IN ({changed})"
            yield from infer(dimension, needed)
        for child in shapes.dimensions:
            for reference in member_references(child):
                if reference.dimension == dimension.table and reference.has_key:
                    yield from rekey_plan(child.table, [child.version_key], "first_known", reference, dimension)
        for fact in shapes.facts:
            for reference in member_references(fact):
                if reference.dimension == dimension.table:
                    yield from rekey_plan(fact.table, row_columns(fact), "event_time", reference, dimension)
