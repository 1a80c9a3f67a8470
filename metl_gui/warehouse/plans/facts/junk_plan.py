"""Junk dimensions: a row for each combination of columns that occurs in a fact, with a key that stays its own.

Source: docs/reference/warehouse-model.md, "Junk dimensions".
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.warehouse.plans.dimensions.member_plan import MemberTables
from metl_gui.warehouse.plans.shapes.table_shapes import FactShape, JunkShape
from metl_gui.warehouse.plans.statements import Step, name, names, temporary, text
from metl_gui.warehouse.plans.write_plan import write_plan


def combinations_table(junk: str) -> str:
    """Return the name of the table, kept in the target, of the keys of combinations."""
    return f"metl_combinations_{junk}"


def create_junk(shape: JunkShape) -> Iterator[Step]:
    """Yield the steps that make an empty junk dimension; keys that were given stay."""
    table, columns = shape.table, ", ".join(f"{name(one.name)} {one.type}" for one in shape.columns)
    yield Step(f"Make {table}", f"CREATE TABLE {name(table)} ({name(shape.key)} BIGINT, {columns})")
    keys = f"CREATE TABLE IF NOT EXISTS {name(combinations_table(table))} (combination VARCHAR, junk_key BIGINT)"
    yield Step(f"Make the keys of {table}", keys)
    known = f"NOT EXISTS (SELECT 1 FROM metl_numbers WHERE dimension = {text(table)})"
    yield Step(f"Number the keys of {table}", f"INSERT INTO metl_numbers SELECT {text(table)}, 1, 1 WHERE {known}")


def _combination(shape: JunkShape, of: str) -> str:
    """Return the expression for the columns as one text, from which each can be told apart, in whatever order they are.

    Null equals null here, and no database looks that up by an index.
    """
    parts = []
    for column in sorted(one.name for one in shape.columns):
        value = f"CAST({name(of, column)} AS VARCHAR)"
        parts.append(f"{text(f'{column}=')} || COALESCE(CAST(LENGTH({value}) AS VARCHAR) || ':' || {value}, '-')")
    return " || ".join(parts)


def purge_combinations(shape: JunkShape) -> Step:
    """Return the step that takes out the combinations that no fact has any more: their values may be forgotten ones."""
    there = f"SELECT {name(shape.key)} FROM {name(shape.table)}"
    statement = f"DELETE FROM {name(combinations_table(shape.table))} WHERE junk_key NOT IN ({there})"
    return Step(f"Forget combinations of {shape.table}", statement)


def combine_again(shape: JunkShape) -> Step:
    """Return the step that writes combinations that stand in the table anew, once its columns became texts."""
    statement = f"""UPDATE {name(combinations_table(shape.table))} SET combination = {_combination(shape, "t")}
        FROM {name(shape.table)} AS t WHERE t.{name(shape.key)} = junk_key"""
    return Step(f"Write the combinations of {shape.table} as texts", statement)


def number_combinations(fact: FactShape, shape: JunkShape) -> Iterator[Step]:
    """Yield the steps that number the combinations of affected facts that have no number."""
    table, made = shape.table, combinations_table(shape.table)
    known = name(made)
    numbers = text(table)
    met = f"SELECT DISTINCT {_combination(shape, 'f')} AS combination FROM {name(f'_facts_{fact.table}')} AS f"
    fresh = (
        f"SELECT * FROM ({met}) AS q WHERE NOT EXISTS (SELECT 1 FROM {known} AS x WHERE x.combination = q.combination)"
    )
    next_ = f"(SELECT next_durable FROM metl_numbers WHERE dimension = {numbers})"
    numbered = f"SELECT combination, {next_} - 1 + ROW_NUMBER() OVER (ORDER BY combination) FROM ({fresh}) AS f"
    yield Step(f"Number new combinations of {table}", f"INSERT INTO {known} {numbered}", made=made)
    update = f"SELECT COALESCE(MAX(junk_key), 0) + 1 FROM {known}"
    advance = f"UPDATE metl_numbers SET next_durable = GREATEST(next_durable, ({update})) WHERE dimension = {numbers}"
    yield Step("Keep the next number", advance, needs=made)


def combination_join(shape: JunkShape) -> str:
    """Return the join of facts, ``f``, to the keys of their combinations, ``junk_key`` behind ``j_TABLE``."""
    alias = name(f"j_{shape.table}")
    known = name(combinations_table(shape.table))
    return f" JOIN {known} AS {alias} ON {alias}.combination = {_combination(shape, 'f')}"


def junk_plan(fact: FactShape, shape: JunkShape) -> Iterator[Step]:
    """Yield the steps that bring a junk dimension up to date, once the rows of its fact are.

    Combinations that no fact has any longer go, and keep their keys for when they come back.

    Cost: the affected facts, and a look at the fact for each combination that these had.
    """
    table, key = name(shape.table), name(shape.key)
    columns = [shape.key, *(one.name for one in shape.columns)]
    values = "".join(f", f.{name(one.name)}" for one in shape.columns)
    used = f"SELECT {key} FROM {name(MemberTables(fact.table).wanted)}"
    yield temporary(
        MemberTables(shape.table).wanted,
        f"""SELECT DISTINCT {name(f"j_{shape.table}")}.junk_key AS {key}{values}
        FROM {name(f"_facts_{fact.table}")} AS f{combination_join(shape)}
        WHERE {name(f"j_{shape.table}")}.junk_key IN ({used})""",
        f"Make the rows of {shape.table}",
    )
    had, wanted = name(MemberTables(fact.table).before), name(MemberTables(shape.table).wanted)
    standing = f"""SELECT {names(columns, "t")} FROM {table} AS t
        WHERE t.{key} IN (SELECT {key} FROM {had} UNION SELECT {key} FROM {wanted})"""
    goes = f"NOT EXISTS (SELECT 1 FROM {name(fact.table)} AS f WHERE f.{key} = t.{key})"
    yield from write_plan(shape.table, [shape.key], columns, standing, goes)
