"""Why a row of a target is as it is: for each column the messages that brought it, by the function that makes rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from metl_gui.core.dimensional.loads.row_reasons import ColumnReason, MessageOrigin, ReferringRow, RowReason
from metl_gui.core.dimensional.rows.late_messages import Columns, VersionRules, member_versions
from metl_gui.core.dimensional.rows.members import MemberVersion, fact_states
from metl_gui.core.dimensional.rows.messages import Message, held
from metl_gui.core.dimensional.rows.row_states import FOREVER, Values, row_states
from metl_gui.core.dimensional.rows.traced_values import Traced, plain_value, traced, traced_columns
from metl_gui.errors import RunError
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.key_history import has_key, shown_value
from metl_gui.warehouse.key_messages import LOOKED_UP, KeyMessages, declared_columns, read_key
from metl_gui.warehouse.plans.histories.history_tables import history_table
from metl_gui.warehouse.plans.load_plan import referring_to
from metl_gui.warehouse.plans.shapes.table_shapes import (
    ComputedColumn,
    DimensionShape,
    FactShape,
    MemberShape,
    ReferenceShape,
    TableShapes,
)
from metl_gui.warehouse.plans.statements import name

_HOW = {
    0: "the first value in time",
    1: "the last value in log order",
    2: "the value of this version",
    3: "the value of the last version",
    6: "the value of this version",
}
_NOT_BROUGHT = "null, or no message brought a value"
_OF_NOTHING = "an expression over what no message brought"


def row_reason(
    target: WarehouseTarget, shapes: TableShapes, table: str, key: Sequence[str], at: datetime | None = None
) -> RowReason:
    """Return why a version of a member, or a fact, is as it is.

    Args:
        target: where it is.
        shapes: the tables of the model.
        table: a dimension or a fact.
        key: values of the business key or grain, as texts.
        at: a time in which the version holds; ``None`` for the last version.

    Raises:
        RunError: there is no such row.
        TargetError: the key has too many messages, or the table was made by another declaration.
    """
    members: tuple[DimensionShape | FactShape, ...] = (*shapes.dimensions, *shapes.facts)
    shape = next(one for one in members if one.table == table)
    reading = read_key(target, shapes, shape, key)
    rules = reading.rules
    made_of = declared_columns(shape)
    maker = traced_columns(reading.columns, {one.name: one.uses for one in made_of})
    values = [one for one in made_of if one not in shape.lists]
    reason = RowReason(table=table, key=tuple(key))
    if isinstance(shape, DimensionShape):
        reason, version = _member_reason(target, shapes, shape, reading, maker, reason, at)
        if version is None:
            return reason
        looked_up = (one for one in rules.compared if one.startswith(LOOKED_UP))
        made = rules.values(version) | {one: version.by_version.get(one) for one in looked_up}
        how = {one.name: _HOW[one.history] for one in shape.columns}
    else:
        _check_fact(target, shape, key)
        made = dict(_fact_values(reading, maker))
        how = dict.fromkeys((one.name for one in values if not one.name.startswith(LOOKED_UP)), _HOW[1])
    origins: dict[int, MessageOrigin] = {}
    told = tuple(_column(target, shape, one, made.get(one.name), how, origins) for one in values)
    return msgspec.structs.replace(reason, columns=told)


def _member_reason(
    target: WarehouseTarget,
    shapes: TableShapes,
    shape: DimensionShape,
    reading: KeyMessages,
    maker: Columns,
    reason: RowReason,
    at: datetime | None,
) -> tuple[RowReason, MemberVersion | None]:
    """Return which version of a member holds at a time, and its values; ``None`` for one that is inferred."""
    found, rules = reading.messages, reading.rules
    member = member_versions(traced(found), reading.key, rules, maker)
    if not member.versions:
        inferred = _inferred(target, shapes, shape, reason, 1)
        if inferred is None:
            raise RunError(f"There is no {reason.table} {', '.join(reason.key)}.", hint="Its key is its business key.")
        return inferred, None
    first = member.versions[0].valid_from
    if at is not None and at < first and not rules.covers_past:
        inferred = _inferred(target, shapes, shape, msgspec.structs.replace(reason, until=first), 0)
        if inferred is not None:
            return inferred, None
    number, version = _version_at(member.versions, at, rules)
    since = None if number == 1 and shape.covers_past else version.valid_from
    stays_open = shape.on_delete == "flag" and number == len(member.versions)
    until = None if stays_open or version.valid_to == FOREVER else version.valid_to
    reason = msgspec.structs.replace(reason, version=number, since=since, until=until)
    if shape.cascades:
        reason, version = _cascaded(target, shape, reason, member.versions, at)
    by = version.opened_by[:4]
    opened = next((one for one in found if (one.schema, one.row_key, one.order_key, one.op) == by), None)
    if opened is None or reason.follows:
        return reason, version
    return msgspec.structs.replace(reason, opened_by=_origin(target, shape, opened)), version


def _fact_values(reading: KeyMessages, maker: Columns) -> Values:
    states = row_states(held(traced(reading.messages)), lambda _values: None)
    state = fact_states(states, reading.rules.ownership).get(reading.key)
    if state is None:
        raise RunError("There is no such fact.", hint="Its key is its grain, as the table has it.")
    (values,) = maker([state.values])
    return values


def _check_fact(target: WarehouseTarget, shape: FactShape, key: Sequence[str]) -> None:
    """Refuse a fact that the table does not hold: deleted, left out by a condition, or waiting.

    Raises:
        RunError: there is no row of it.
    """
    is_key = has_key([part.name for part in shape.key])
    if not target.rows(f"SELECT 1 FROM {name(shape.table)} WHERE {is_key} LIMIT 1", list(key)):
        hint = f"Its key is its grain. Facts that are deleted, wait, or do not fulfil “where” are not in {shape.table}."
        raise RunError("There is no such fact.", hint=hint)


def _version_at(
    versions: Sequence[MemberVersion], at: datetime | None, rules: VersionRules
) -> tuple[int, MemberVersion]:
    number = len(versions)
    if at is not None:
        number = sum(one.valid_from <= at for one in versions) or (1 if rules.covers_past else 0)
    if not number:
        raise RunError("There is no version that holds then.", hint=f"The first begins {versions[0].valid_from}.")
    return number, versions[number - 1]


def _cascaded(
    target: WarehouseTarget,
    shape: DimensionShape,
    reason: RowReason,
    versions: Sequence[MemberVersion],
    at: datetime | None,
) -> tuple[RowReason, MemberVersion]:
    """Return which version stands in a table where those of other members make some, and what it is by messages.

    Args:
        target: where it is.
        shape: of a dimension that cascades.
        reason: with the key.
        versions: that the messages of the member make.
        at: a time in which the version holds; ``None`` for the last version.
    """
    is_key = has_key([part.name for part in shape.key])
    query = f"""SELECT version_number, first_known, valid_to FROM {name(shape.table)}
        WHERE {is_key} AND NOT is_inferred ORDER BY first_known"""
    standing = target.rows(query, list(reason.key))
    # The target was read for the time already.
    number, since, until = [one for one in standing if at is None or one[1] <= at or one[0] == 1][-1]
    version = [one for one in versions if one.valid_from <= since][-1]
    is_own = version.valid_from == since
    told = msgspec.structs.replace(
        reason,
        version=number,
        since=None if number == 1 and shape.covers_past else since,
        until=until,
        follows=() if is_own else tuple(dict.fromkeys(one.dimension for one in shape.cascades)),
    )
    return told, version


def _inferred(
    target: WarehouseTarget, shapes: TableShapes, shape: DimensionShape, reason: RowReason, number: int
) -> RowReason | None:
    """Return why an inferred row of a member is there; ``None`` where there is none.

    Args:
        target: where it is.
        shapes: the tables of the model.
        shape: the dimension.
        reason: with the key.
        number: 1 for a member that no message brought, 0 for the time before its first version.

    Cost: a scan of each table that refers to the dimension.
    """
    is_key = has_key([part.name for part in shape.key])
    keys = f"{name(shape.version_key)}, {name(shape.durable_key)}"
    query = f"SELECT {keys} FROM {name(shape.table)} WHERE {is_key} AND is_inferred AND version_number = {number}"
    found = target.rows(query, list(reason.key))
    if not found:
        return None
    version_key, durable_key = found[0]
    known_tables: tuple[DimensionShape | FactShape, ...] = (*shapes.dimensions, *shapes.facts)
    members = {one.table: one for one in known_tables}
    referring: list[ReferringRow] = []
    for table, reference in referring_to(shapes, shape):
        known = members.get(table)
        if known is not None and (number or reference.has_key):
            column, value = (reference.durable, durable_key) if number else (reference.key, version_key)
            referring += _referring(target, shapes, known, reference, reason.key, f"{name(column)} = {int(value)}")
    return msgspec.structs.replace(reason, is_inferred=True, inferred_by=tuple(referring))


def _referring(
    target: WarehouseTarget,
    shapes: TableShapes,
    shape: DimensionShape | FactShape,
    reference: ReferenceShape,
    member: Sequence[str],
    is_so: str,
) -> Iterator[ReferringRow]:
    """Yield the first row of a table that refers to a member, if any.

    Args:
        target: where it is.
        shapes: the tables of the model.
        shape: the table.
        reference: of it.
        member: the business key that it refers to.
        is_so: the condition that a row does.
    """
    table, is_fact = name(shape.table), isinstance(shape, FactShape)
    moment = "event_time" if is_fact else "valid_from"
    parts = ", ".join(f"CAST({name(part.name)} AS VARCHAR)" for part in shape.key)
    query = f"SELECT {parts}, {moment} FROM {table} WHERE {is_so} ORDER BY {moment} NULLS LAST, {parts} LIMIT 1"
    for *parts_found, since in target.rows(query):
        key = tuple(parts_found)
        rows = target.rows(f"SELECT COUNT(*) FROM {table} WHERE {is_so}")[0][0]
        try:
            told = row_reason(target, shapes, shape.table, key, None if is_fact else since).columns
        except (RunError, TargetError):  # no message made it, or too many did
            told = ()
        looked_up = told[max(len(told) - sum(len(one.on) for one in shape.references), 0) :]
        columns = tuple(one for one in looked_up if one.column == reference.role)
        if isinstance(shape, FactShape) and shape.reverses and sorted(one.value for one in columns) != sorted(member):
            columns = ()  # a posting of what the fact was before
        yield ReferringRow(table=shape.table, key=key, role=reference.role, rows=rows, columns=columns)


def _column(
    target: WarehouseTarget,
    shape: MemberShape,
    column: ComputedColumn,
    value: Any,
    how: Mapping[str, str],
    origins: dict[int, MessageOrigin],
) -> ColumnReason:
    brought = value.brought_by if isinstance(value, Traced) else {}
    for message in brought.values():
        if id(message) not in origins:
            origins[id(message)] = _origin(target, shape, message)
    is_reference = column.name.startswith(LOOKED_UP)
    label = column.name.removeprefix(LOOKED_UP).rpartition("_")[0] if is_reference else column.name
    told = how.get(column.name, "what the reference looks up")
    if not brought:
        told = _NOT_BROUGHT if plain_value(value) is None else _OF_NOTHING
    return ColumnReason(
        column=label,
        value=shown_value(plain_value(value)),
        how=told,
        is_expression=column.sql != name(column.uses[0]) if len(column.uses) == 1 else True,
        uses=column.uses,
        brought_by={attribute: origins[id(message)] for attribute, message in brought.items()},
    )


def _origin(target: WarehouseTarget, shape: MemberShape, message: Message) -> MessageOrigin:
    query = f"""SELECT schema_version, entity_version, batch FROM {name(history_table(shape.entity))}
        WHERE schema = ? AND row_key = ? AND op = ? AND order_key = ? AND publication = ? LIMIT 1"""
    rows = target.rows(query, [*message.identity, message.publication])
    schema_version, entity_version, batch = rows[0] if rows else (None, None, None)
    return MessageOrigin(
        schema=message.schema,
        schema_version=schema_version or "",
        entity_version=entity_version or "",
        row_key=message.row_key or "",
        op=message.op,
        committed_at=message.commit,
        log=message.position.log,
        partition=message.position.partition,
        offset=message.position.offset,
        publication=message.publication,
        load=batch or "",
    )
