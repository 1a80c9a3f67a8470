"""Messages of an entity as rows of its history, in the columns of a part (``core.dimensional.loads.staged_parts``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.loads.mask_key import MaskKey
from metl_gui.core.dimensional.loads.staged_parts import COLUMNS
from metl_gui.engine.sinks.columns import TypedColumn
from metl_gui.engine.sinks.parquet_parts import ENTITY
from metl_gui.engine.staging.columns import INSTANTS_OF_MS, columns_of, stored_type
from metl_gui.engine.staging.log_places import order_key_column, transport_columns
from metl_gui.engine.staging.place_code import MACHINE
from metl_gui.errors import BugError
from metl_gui.formats.canonical_keys import row_keys

Array: TypeAlias = "pa.Array[Any]"
pc: Any = pyarrow.compute
"""Arrow's functions; the stubs know too little of them."""

_NAME = r'"[^"\\\x00-\x1f]*"'
_PLAIN = rf"(?:{_NAME}|-?[1-9][0-9]{{0,63}}|0|true|false)"
_CANONICAL = rf"^(?:\{{{_NAME}:{_PLAIN}\}}|\{{{_NAME}:\{{{_NAME}:{_PLAIN}\}}\}})$"
"""Keys of one member, or of one within one, as ``formats.canonical_keys`` writes them."""

_PAIR = rf'^\{{"(?P<one>[^"\\\x00-\x1f]*)":{_PLAIN},"(?P<other>[^"\\\x00-\x1f]*)":{_PLAIN}\}}$'
"""Keys of two members; they are canonical where the names are in order."""

ABSENT = pa.list_(pa.string())
TIME_COLUMNS = {
    path: TypedColumn(
        path, pa.timestamp("us", "UTC"), "times of the years 1 to 9999 in milliseconds", INSTANTS_OF_MS, {}
    )
    for path in ("ts_ms", "source.committed_at_ms")
}
"""How times that messages say of themselves are read."""


class MessageHeads(NamedTuple):
    """What messages say beside their payload.

    Args:
        schema, schema_version, entity_version, op, publication: as messages have them.
        key, old_key, origin: JSON.
        committed_at, seen_at: instants.
        position: of transport.
        snapshot: true and false.
        absent: names of columns.
    """

    schema: Array
    schema_version: Array
    entity_version: Array
    op: Array
    publication: Array
    key: Array
    old_key: Array
    origin: Array
    committed_at: Array
    seen_at: Array
    position: Array
    snapshot: Array
    absent: Array


def staged_rows(
    history: EntityHistory, heads: MessageHeads, payload: Mapping[str, Array], mask_key: MaskKey | None = None
) -> pa.Table:
    """Lay out messages as rows of a history.

    Args:
        history: of their entity.
        heads: what they say of themselves.
        payload: columns of the history by name; those that are missing are null.
        mask_key: makes the hashes of columns that the history keeps hashed.
    """
    rows = len(heads.op)
    positions = heads.position.fill_null("")
    machine = MACHINE.after(rows)
    place = transport_columns(positions, machine)
    made: dict[str, Array] = {
        "schema": heads.schema,
        "row_key": _keys(heads.key),
        "order_key": order_key_column(heads.origin, positions, machine),
        "op": heads.op,
        "publication": heads.publication,
        "schema_version": heads.schema_version,
        "entity_version": heads.entity_version,
        "committed_at": heads.committed_at,
        "seen_at": heads.seen_at,
        "position_log": place.log,
        "position_partition": place.partition,
        "position_offset": place.offset,
        "snapshot": heads.snapshot,
        "old_key": _keys(heads.old_key),
        "absent": heads.absent,
    }
    made = {name: made[name] for name in COLUMNS}
    for one in history.columns:
        found = payload.get(one.name)
        # The stubs want to know the type.
        type_: Any = stored_type(one.type)
        made[one.name] = pa.nulls(rows, type_) if found is None else found
    for hashed in history.hashed:
        made[hashed] = _hashes(made[hashed], mask_key)
    if history.is_key_hashed:
        made["old_key"] = _hashes(made["old_key"], mask_key)
    return pa.table(made).replace_schema_metadata({ENTITY: history.entity.encode()})


def _hashes(column: Array, mask_key: MaskKey | None) -> Array:
    """Return the hashes of texts; null stays null."""
    if mask_key is None:
        raise BugError("a history keeps hashes, and nobody said under which key")
    # The stubs do not know dictionaries.
    found: Any = column.dictionary_encode()
    found = found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found
    hashes = pa.array(map(mask_key.hashed, found.dictionary.to_pylist()), pa.string())
    made: Array = hashes.take(found.indices)
    return made


def absent_columns(history: EntityHistory, version: str | None, carried: Iterable[str]) -> list[str]:
    """Return the names of the columns that a message does not carry, sorted.

    Args:
        history: of its entity.
        version: of its entity, ``None`` for none.
        carried: the paths of its payload, those that are unchanged left out.
    """
    by_path = columns_of(history, version or "")
    found = {by_path[path].name for path in carried if path in by_path}
    return sorted(one.name for one in history.columns if one.name not in found)


def _keys(keys: Array) -> Array:
    """Return the canonical texts of keys; most are that already, which a pattern finds, and the others are made so."""
    is_other = pc.invert(pc.fill_null(pc.match_substring_regex(keys, _CANONICAL), True))
    others = keys.filter(is_other)
    if not len(others):
        return keys
    pairs = pc.extract_regex(others, _PAIR)
    is_sorted = pc.less(pc.struct_field(pairs, "one"), pc.struct_field(pairs, "other"))
    is_left = pc.invert(pc.fill_null(is_sorted, False))
    left: list[Any] = others.filter(is_left).cast(pa.binary()).to_pylist()
    made = pc.replace_with_mask(others, is_left, pa.array(row_keys(left), pa.string()))
    found: Array = pc.replace_with_mask(keys, is_other, made)
    return found
