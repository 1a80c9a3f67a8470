"""Why a row of a target is as it is: for each column the messages that brought it, by the function that makes rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from metl_gui.core.dimensional.loads.row_reasons import ColumnReason, MessageOrigin, RowReason
from metl_gui.core.dimensional.rows.late_messages import DECLARED, VersionRules, member_versions
from metl_gui.core.dimensional.rows.members import Key, MemberVersion, Ownership, fact_states
from metl_gui.core.dimensional.rows.messages import Message, held
from metl_gui.core.dimensional.rows.row_states import FOREVER, row_states
from metl_gui.core.dimensional.rows.traced_values import Traced, plain_value, traced, traced_columns
from metl_gui.core.warehouse_model import Dimension, Fact
from metl_gui.errors import RunError
from metl_gui.warehouse.databases.target import WarehouseTarget
from metl_gui.warehouse.key_history import as_text, shown_value
from metl_gui.warehouse.late_messages import ColumnMaker, key_messages, typed_key
from metl_gui.warehouse.plans.histories.history_tables import history_table, sql_type
from metl_gui.warehouse.plans.shapes.table_shapes import DimensionShape, FactShape, MemberShape, TableShapes, Value
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
        RunError: there is no such row, or versions follow from those of another dimension.
        TargetError: the key has too many messages.
    """
    members: tuple[DimensionShape | FactShape, ...] = (*shapes.dimensions, *shapes.facts)
    shape = next(one for one in members if one.table == table)
    found, owner, ownership, types = _read(target, shapes, shape, key)
    values = [*shape.columns, *_event_times(shape), *_references(shape)]
    maker = traced_columns(ColumnMaker(shape, types), {one.name: one.uses for one in values})
    reason = RowReason(table=table, key=tuple(key))
    if isinstance(shape, DimensionShape):
        compared = tuple(one.name for one in values if one.history in (2, 6) or one.name.startswith(_LOOKED_UP))
        rules = VersionRules(
            ownership,
            compared,
            tuple((one.name, one.history) for one in shape.columns),
            is_declared=any(DECLARED in one.values for one in found),
            covers_past=shape.covers_past,
            removes=shape.on_delete == "remove",
        )
        member = member_versions(traced(found), owner, rules, maker)
        if not member.versions:
            return _inferred(target, shape, reason)
        number, version = _version_at(member.versions, at, rules)
        since = None if number == 1 and shape.covers_past else version.valid_from
        stays_open = shape.on_delete == "flag" and number == len(member.versions)
        until = None if stays_open or version.valid_to == FOREVER else version.valid_to
        made = rules.values(version) | {one.name: version.by_version.get(one.name) for one in _references(shape)}
        opened = next(
            (one for one in found if (one.schema, one.row_key, one.order_key, one.op) == version.opened_by[:4]), None
        )
        opened_by = _origin(target, shape, opened) if opened is not None else None
        reason = msgspec.structs.replace(reason, version=number, since=since, until=until, opened_by=opened_by)
        how = {one.name: _HOW[one.history] for one in shape.columns}
    else:
        _check_fact(target, shape, key)
        made = dict(_fact_values(found, owner, ownership, maker))
        how = dict.fromkeys((one.name for one in (*shape.columns, *_event_times(shape))), _HOW[1])
    origins: dict[int, MessageOrigin] = {}
    told = tuple(_column(target, shape, one, made.get(one.name), how, origins) for one in values)
    return msgspec.structs.replace(reason, columns=told)


def _read(
    target: WarehouseTarget, shapes: TableShapes, shape: DimensionShape | FactShape, key: Sequence[str]
) -> tuple[tuple[Message, ...], Key, Ownership, dict[str, str]]:
    """Return the messages of a key, its values, who owns states, and the types of what was read."""
    declared = shapes.model.table(shape.table)
    if (isinstance(shape, DimensionShape) and shape.cascades) or not isinstance(declared, Dimension | Fact):
        text = f"Rows of {shape.table} follow from those of other tables; why they are so cannot be told here."
        raise RunError(text)
    history, valid_at = shapes.histories[shape.entity], shapes.valid_at.get(shape.entity, "")
    since = history.at_path(declared.valid_at) if valid_at and isinstance(declared, Dimension) else None
    sources = tuple(part.source for part in shape.key if not part.source.startswith("_"))
    columns = tuple(dict.fromkeys((*sources, *_uses(shape), *((since.name,) if since is not None else ()))))
    by_name = {one.name: one.type for one in history.columns}
    held_from = (since.name, valid_at) if since is not None else ("", "")
    found = key_messages(target, shape, columns, held_from, key)
    has_schema = bool(sources) and len(sources) < len(shape.key)
    ownership = Ownership(sources, has_schema, shape.prefer, shape.leading)
    types = {column: sql_type(by_name[column]) for column in columns}
    return found, typed_key(target, shape, key), ownership, types


_LOOKED_UP = "_r_"


def _references(shape: MemberShape) -> list[Value]:
    """Return what references look up, as columns."""
    return [
        msgspec.structs.replace(value, name=f"{_LOOKED_UP}{one.role}_{number}")
        for one in shape.references
        for number, value in enumerate(one.on)
    ]


def _event_times(shape: MemberShape) -> list[Value]:
    """Return the event time of a fact that declares one, as a column."""
    if not isinstance(shape, FactShape) or not shape.event_time:
        return []
    return [Value("event_time", shape.event_time, "TIMESTAMPTZ", shape.event_time_uses)]


def _uses(shape: MemberShape) -> list[str]:
    values = (*shape.columns, *shape.lists, *_event_times(shape), *_references(shape))
    return [used for one in values for used in one.uses]


def _fact_values(found: Sequence[Message], owner: Key, ownership: Ownership, maker: Any) -> Mapping[str, Any]:
    state = fact_states(row_states(held(traced(found)), lambda _values: None), ownership).get(owner)
    if state is None:
        raise RunError("There is no such fact.", hint="Its key is its grain, as the table has it.")
    (values,) = maker([state.values])
    return values  # type: ignore[no-any-return]


def _check_fact(target: WarehouseTarget, shape: FactShape, key: Sequence[str]) -> None:
    """Refuse a fact that the table does not hold: deleted, left out by a condition, or waiting.

    Raises:
        RunError: there is no row of it.
    """
    is_key = " AND ".join(f"{as_text(part.name)} = ?" for part in shape.key)
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


def _inferred(target: WarehouseTarget, shape: DimensionShape, reason: RowReason) -> RowReason:
    is_key = " AND ".join(f"{as_text(part.name)} = ?" for part in shape.key)
    query = f"SELECT COUNT(*) FROM {name(shape.table)} WHERE {is_key} AND is_inferred"
    if not target.rows(query, list(reason.key))[0][0]:
        raise RunError(f"There is no {reason.table} {', '.join(reason.key)}.", hint="Its key is its business key.")
    return msgspec.structs.replace(reason, is_inferred=True)


def _column(
    target: WarehouseTarget,
    shape: MemberShape,
    column: Value,
    value: Any,
    how: Mapping[str, str],
    origins: dict[int, MessageOrigin],
) -> ColumnReason:
    brought = value.brought_by if isinstance(value, Traced) else {}
    for message in brought.values():
        if id(message) not in origins:
            origins[id(message)] = _origin(target, shape, message)
    is_reference = column.name.startswith(_LOOKED_UP)
    label = column.name.removeprefix(_LOOKED_UP).rpartition("_")[0] if is_reference else column.name
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
    query = f"""SELECT schema_version, entity_version FROM {name(history_table(shape.entity))}
        WHERE schema = ? AND row_key = ? AND op = ? AND order_key = ? AND publication = ? LIMIT 1"""
    rows = target.rows(query, [*message.identity, message.publication])
    schema_version, entity_version = rows[0] if rows else (None, None)
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
    )
