"""What becomes of a target when attributes of entities come, get other names, or are said in another type.

Columns of histories are attributes, whatever these are called: which attribute a column holds is kept in the target, by
the paths that it has in the versions of its entity. So a column is added, gets the name that its attribute has now, or
becomes text where the versions of its attribute differ in type. Tables follow in place where that says the same as
making them anew; elsewhere a rebuild is asked for.

Source: docs/reference/warehouse-model.md, "When attributes change".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import msgspec
from sqlglot import exp

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.models.wider_types import is_wider
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.plans.access_plan import declared
from metl_gui.warehouse.plans.dialects import fitted
from metl_gui.warehouse.plans.dimensions.dimension_tables import current_view, now_view
from metl_gui.warehouse.plans.facts.junk_plan import combine_again
from metl_gui.warehouse.plans.histories.arrivals import SET_ASIDE_COLUMN, set_aside_table
from metl_gui.warehouse.plans.histories.history_tables import (
    OWN_COLUMNS,
    add_column,
    history_table,
    list_absent_again,
    rename_column,
    sql_type,
)
from metl_gui.warehouse.plans.index_plan import indexes
from metl_gui.warehouse.plans.load_plan import create_derived, create_histories
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.plans.statements import WRITTEN_IN, name, parsed

HeldAttributes: TypeAlias = dict[str, list[Any]]
"""By name of a column: its type, whether it holds hashes, and by label of a version the path of its attribute."""


class FollowedAttributes(NamedTuple):
    """What became of the columns of a history.

    Args:
        fresh: columns of attributes that no message in the target carried.
        others: columns that hold another attribute than they did.
        unknown: columns of attributes that later states have, and this one has not.
    """

    fresh: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()


_NOTHING = FollowedAttributes()
_REBUILD = "Run “metl warehouse rebuild” first."
_TABLES = "tables"
_OF = "attributes of "
"""Before the name of an entity, the name of what is remembered of it."""
_TEXT = "TEXT"
"""How the type of texts is written once it was read (``_known``)."""
_TIMES = {"TIMESTAMP": "", "TIMESTAMPTZ": " || 'Z'"}
"""Types of times, each with what stands behind one that is written as text."""


def follow_attributes(
    target: WarehouseTarget, histories: Iterable[EntityHistory], known: Mapping[str, str]
) -> dict[str, FollowedAttributes]:
    """Make the histories of a target those of the attributes that there are now.

    Args:
        target: within a transaction.
        histories: of the entities.
        known: what the target remembers, by name.

    Returns:
        What changed, by entity.

    Raises:
        TargetError: a column would get a type that may not hold what stands in it.
    """
    return {one.entity: _followed(target, one, known) for one in histories}


def kept_entities(target: WarehouseTarget) -> set[str]:
    """Return the entities whose histories are in a target, those that its model has no more among them."""
    return {what.removeprefix(_OF) for (what,) in target.rows(f"SELECT name FROM metl_target WHERE name LIKE '{_OF}%'")}


def remember_tables(target: WarehouseTarget, shapes: TableShapes) -> None:
    """Keep in a target of which columns its tables are."""
    remember(target, _TABLES, _digest(shapes))


def fit_tables(
    target: WarehouseTarget, shapes: TableShapes, known: Mapping[str, str], followed: Mapping[str, FollowedAttributes]
) -> None:
    """Make the columns of tables follow those of histories; views of the model and what people added to them stay.

    Args:
        target: within a transaction, its histories as they are to be.
        shapes: the tables of the model.
        known: what the target remembers, by name.
        followed: what changed in histories.

    Raises:
        TargetError: tables are to be made anew, or a view that people made does not fit any more.
    """
    if others := [f"{column} of {entity}" for entity, one in followed.items() for column in sorted(one.others)]:
        text = f"Other attributes than before are called {', '.join(others)} now."
        raise TargetError("The attributes of an entity have changed", text, _REBUILD)
    if known.get(_TABLES) == _digest(shapes):
        return
    entities = {one.table: one.entity for one in shapes.dimensions}
    changed: dict[str, list[str]] = {}
    for table, wanted in _declared_columns(shapes):
        stored = _stored(target, table, wanted)
        changed[table] = [
            *_added(target, table, stored, wanted, followed.get(entities.get(table, ""), _NOTHING).fresh),
            *_retyped(target, table, stored, wanted),
        ]
    seen = [one for one in shapes.dimensions if changed[one.table]]
    additions = target.additions(declared(shapes.model)) if seen else ()
    views = target.set_views_aside(declared(shapes.model)) if any(changed.values()) else ()
    for dimension in seen:
        for view in ("current", "now"):
            target.run(f"DROP VIEW IF EXISTS {name(f'{dimension.table}_{view}')}")
    for table, wanted in _declared_columns(shapes):
        stored = _stored(target, table, wanted)
        for column in changed[table]:
            _change(target, table, column, stored.get(column), wanted[column])
    for dimension in seen:
        target.step(current_view(dimension))
        target.step(now_view(dimension))
    for junk in (one for fact in shapes.facts for one in fact.junk if changed[one.table]):
        target.step(combine_again(junk))
    target.add_again(additions)
    target.index(indexes(shapes))
    target.grant(declared(shapes.model).grants)
    target.make_views(views)
    remember_tables(target, shapes)


def remember(target: WarehouseTarget, what: str, value: str) -> None:
    """Keep a value under a name."""
    target.run("DELETE FROM metl_target WHERE name = ?", [what])
    target.run("INSERT INTO metl_target VALUES (?, ?)", [what, value])


def _followed(target: WarehouseTarget, history: EntityHistory, known: Mapping[str, str]) -> FollowedAttributes:
    """Make the history of an entity, and the table of what is set aside of it, what they are to be."""
    what, kept = f"{_OF}{history.entity}", history_table(history.entity)
    now: HeldAttributes = {one.name: [one.type, one.name in history.hashed, {**one.paths}] for one in history.columns}
    if not (stored := _attributes(target, kept)):
        for step in create_histories([history]):
            target.step(step)
        remember(target, what, msgspec.json.encode(now).decode())
        return FollowedAttributes()
    said: HeldAttributes = msgspec.json.decode(known.get(what, "{}"))
    # A mask takes columns away; and of a target that does not say what it holds, only the names are known.
    held: HeldAttributes = {column: said.get(column, ["", False, {}]) for column in stored}
    if said.keys() == stored.keys() and now.items() <= dict(said).items():
        return FollowedAttributes(unknown=tuple(sorted(said.keys() - now.keys())))
    before = _names_before(history, held)
    left = _left(held, before)
    names = {**before, **{column: old for old, column in left.items()}}
    are_others = said.keys() != stored.keys() or any(column != old for column, old in names.items())
    for table in (kept, set_aside_table(history.entity)):
        if are_others:
            _rename(target, history, table, names)
        _retype(target, history, table)
    remember(target, what, msgspec.json.encode(now | {left[old]: held[old] for old in left}).decode())
    fresh = frozenset(one for one, old in before.items() if not old)
    others = {column for column, old in before.items() if old != column and column in stored}
    others |= {one.name for one in history.columns if one.name in fresh and _had_path(held, one.path)}
    return FollowedAttributes(fresh, frozenset(others), tuple(sorted(left.values())))


def _attributes(target: WarehouseTarget, table: str) -> dict[str, str]:
    """Return the columns of a table of messages that are attributes, with their types."""
    own = {column for column, _ in OWN_COLUMNS} | {SET_ASIDE_COLUMN}
    return {column: type_ for column, type_ in target.columns(table).items() if column not in own}


def _rename(target: WarehouseTarget, history: EntityHistory, table: str, names: Mapping[str, str]) -> None:
    """Give the columns of a table of messages the names that their attributes have now, and add those that are new.

    Args:
        target: within a transaction.
        history: of the entity.
        table: its history, or what is set aside of it.
        names: all columns that it is to have, each with its name of before, empty for none.
    """
    renamed = {old: column for column, old in names.items() if old not in ("", column)}
    for number, old in enumerate(renamed):
        target.run(rename_column(table, old, f"_renamed_{number}"))
    for number, column in enumerate(renamed.values()):
        target.run(rename_column(table, f"_renamed_{number}", column))
    for one in history.columns:
        if not names[one.name]:
            target.run(add_column(table, one.name, sql_type(one.type)))
    # Columns that a mask took away are named there no more either.
    target.run(list_absent_again(table, names))


def _retype(target: WarehouseTarget, history: EntityHistory, table: str) -> None:
    """Make those columns of a table of messages texts that are to be."""
    stored, wanted = target.columns(table), {one.name: sql_type(one.type) for one in history.columns}
    for column in list(_retyped(target, history.entity, stored, wanted)):
        _change(target, table, column, stored[column], wanted[column])


def _names_before(history: EntityHistory, held: HeldAttributes) -> dict[str, str]:
    """Return, by column, the name under which its attribute stands in the target, empty for none.

    An attribute is known by its path in a version. Where versions now say that two of before are one, or that one was
    two, each column of before goes to one of now, to that of its name if it can.
    """
    labels = {label for column in history.columns for label in column.paths}
    found: dict[str, str] = {}
    for is_same in (True, False):
        for column in (one for one in history.columns if one.name not in found):
            claimed, pairs = {*found.values()}, column.paths.items()
            free = (old for old in held if old not in claimed and (old == column.name) == is_same)
            if old := next((one for one in free if pairs & held[one][2].items()), ""):
                found[column.name] = old
    for column in history.columns:
        # The target does not say what it holds, or no version of what it holds is there any more.
        may_be_it = column.name in held and labels.isdisjoint(held[column.name][2])
        if column.name not in found and may_be_it and column.name not in found.values():
            found[column.name] = column.name
    return {column.name: found.get(column.name, "") for column in history.columns}


def _left(held: HeldAttributes, before: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of attributes that the state has not, each with its name from now on: another may need it."""
    left: dict[str, str] = {}
    claimed = {*before.values()}
    for old in sorted(held.keys() - claimed):
        number, free = 2, old
        while free in before or (free != old and free in held) or free in left.values():
            free, number = f"{old}_{number}", number + 1
        left[old] = free
    return left


def _had_path(held: HeldAttributes, path: str) -> bool:
    """Return whether an attribute of before had a path in some version: what names it may have meant that one."""
    return any(path in paths.values() for *_, paths in held.values())


def _digest(shapes: TableShapes) -> str:
    statements = (step.statement for step in create_derived(shapes) if step.statement.startswith("CREATE TABLE"))
    return hashlib.sha256("\n".join(statements).encode()).hexdigest()


def _declared_columns(shapes: TableShapes) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the tables that follow from histories, each with its columns and their types."""
    for step in create_derived(shapes):
        made = parsed(step.statement)
        if isinstance(made, exp.Create) and isinstance(made.this, exp.Schema):
            columns = (one for one in made.this.expressions if isinstance(one, exp.ColumnDef))
            yield made.this.this.name, {one.name: one.args["kind"].sql(WRITTEN_IN) for one in columns}


def _stored(target: WarehouseTarget, table: str, wanted: Iterable[str]) -> dict[str, str]:
    """Return the columns that a table has, under the names that they were given: some databases shorten these."""
    given = {fitted(column): column for column in wanted}
    return {given.get(column, column): type_ for column, type_ in target.columns(table).items()}


def _added(
    target: WarehouseTarget, table: str, stored: Mapping[str, str], wanted: Mapping[str, str], fresh: frozenset[str]
) -> list[str]:
    """Return the columns that a table has to get, of attributes that no message carried.

    Raises:
        TargetError: it has to be made anew.
    """
    added = [column for column in wanted if column not in stored]
    if stored.keys() - wanted.keys() or not fresh.issuperset(added):
        other = [*added, *(column for column in stored if column not in wanted)]
        text = f"{table} of {target.title} would have other columns now: {', '.join(other)}."
        raise TargetError("The attributes of an entity have changed", text, _REBUILD)
    return added


def _retyped(target: WarehouseTarget, what: str, stored: Mapping[str, str], wanted: Mapping[str, str]) -> Iterator[str]:
    """Yield the columns that are to become texts, or wider.

    Raises:
        TargetError: the type of a column changed in another way.
    """
    for column, type_ in wanted.items():
        before, after = _known(stored.get(column, type_)), _known(type_)
        if before == after:
            continue
        if after != _TEXT and not is_wider(before.lower(), after.lower()):
            text = f"{target.title} holds {column} of {what} as {before.lower()}, and it would be {after.lower()} now."
            hint = "Load a state in which it has the type that it had, or another target."
            raise TargetError("An attribute has a type that may not hold what it held", text, hint)
        yield column


@lru_cache(maxsize=256)
def _known(type_: str) -> str:
    return exp.DataType.build(type_, dialect=WRITTEN_IN).sql(WRITTEN_IN)


def _change(target: WarehouseTarget, table: str, column: str, before: str | None, after: str) -> None:
    """Add a column, or make it wider, or one of texts as staging writes them."""
    if before is None:
        target.run(add_column(table, column, after))
        return
    c, behind = name(column), _TIMES.get(_known(before))
    if _known(after) != _TEXT:
        target.retype(table, column, after, f"CAST({c} AS {after})")
        return
    written = f"CAST({c} AS VARCHAR)"
    if behind is not None:
        written = f"CASE WHEN ISFINITE({c}) THEN STRFTIME({c}, '%Y-%m-%d %H:%M:%S.%f'){behind} ELSE {written} END"
    target.retype(table, column, _TEXT, written)
