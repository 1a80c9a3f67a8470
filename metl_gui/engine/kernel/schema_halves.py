"""What the schema of a message says of its rows, whether it stands in the message or wrote its bytes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

from metl_gui.core.trees.declarations import fingerprint
from metl_gui.errors import SchemaError
from metl_gui.formats.avro_schema import as_connect, holder_of
from metl_gui.formats.avro_types import AvroType
from metl_gui.formats.connect_schema import ConnectSchema, declare, record_name, row_of, without_added

_KEPT_BYTES = 1 << 18
"""Schema halves larger than this are read anew each time, so that a hostile stream cannot fill the memory."""


@dataclass(frozen=True, slots=True)
class SchemaHalf:
    """What the schema of one message says (empty: nothing).

    Args:
        record_name: its record name.
        fingerprint: that of its row.
        flattened_fingerprint: the same without the fields that the flattening transform adds.
    """

    record_name: str = ""
    fingerprint: str = ""
    flattened_fingerprint: str = ""


def schema_half(raw: bytes) -> SchemaHalf:
    """Read the schema half of a message; what is no schema of a row says nothing."""
    return _kept_half(raw) if len(raw) <= _KEPT_BYTES else _read_half(raw)


def half_of_avro(avro: AvroType) -> SchemaHalf:
    """Say the same of the schema that wrote Avro bytes."""
    try:
        return _half(as_connect(holder_of(avro)))
    except SchemaError:
        return SchemaHalf()


@lru_cache(maxsize=1024)
def _kept_half(raw: bytes) -> SchemaHalf:
    return _read_half(raw)


def _read_half(raw: bytes) -> SchemaHalf:
    try:
        schema = json.loads(raw)
        return _half(schema) if isinstance(schema, dict) and "type" in schema else SchemaHalf()
    except (SchemaError, ValueError, RecursionError):
        return SchemaHalf()


def _half(schema: ConnectSchema) -> SchemaHalf:
    attributes = declare(row_of(schema))
    return SchemaHalf(record_name(schema), fingerprint(attributes), fingerprint(without_added(attributes)))
