"""Rows as records of a topic, written after the example of a record that the connector itself has sent.

What stands around the row (schemas, envelope, what the flattening transform adds) is taken over from the example; only
the row, its key and what says where it comes from are new.

Source: docs/reference/cdc.md, "The envelope"; docs/reference/cdc.md, "Flattened rows".
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from metl_gui.engine.kernel.plan import DEFAULT_PLACEHOLDER
from metl_gui.engine.loading.debezium_values import filler_of, writer_of
from metl_gui.errors import RunError
from metl_gui.formats.table_columns import TableColumn

ADDED = "__"
_KEPT_ADDED = ("__table", "__schema", "__db", "__name", "__connector", "__version")
_SAID = {"__op": "r", "__deleted": "false", "__snapshot": "true"}
_POSITIONS = ("txId", "sequence", "xmin", "origin", "origin_lsn")
_CONTROL: Final = {code: f"\\u{code:04X}" for code in range(32)} | {
    8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"
}  # fmt: skip
_SECONDS_TO_MS, _SECONDS_TO_US, _SECONDS_TO_NS = 1_000, 1_000_000, 1_000_000_000


class _SchemaAndPayload(msgspec.Struct, forbid_unknown_fields=True):
    schema: msgspec.Raw
    payload: msgspec.Raw


class RowTemplate:
    """Writes rows of one table as its topic has them.

    Args:
        value, key: of a record of the newest version, as JSON.
        columns: of the table, in the order in which ``record`` gets their texts.
        mapped: names of those columns that something is mapped from; what nothing is mapped from may be left out.
        end: the place in the database's log that the rows were read at, as ``0/16B3748``.

    Attributes:
        key_names: the columns of the key, in the order in which keys have them.

    Raises:
        RunError: the record and the table do not fit together.
    """

    def __init__(
        self, value: bytes, key: bytes, columns: Sequence[TableColumn], mapped: frozenset[str], end: str = ""
    ) -> None:
        self._value_head, payload = _unwrapped(value)
        self._key_head, key_payload = _unwrapped(key)
        if not isinstance(payload, dict) or not isinstance(key_payload, dict):
            raise RunError(
                "The topic holds no rows with keys.",
                "The newest record has no object as its value or as its key.",
                "Only tables with a key can be loaded beside a running lane: their rows are told apart by it.",
            )
        self._payload: dict[str, Any] = payload
        self._end = _number_of(end) if end else None
        self._is_envelope = "op" in payload and isinstance(payload.get("after"), dict)
        row = payload["after"] if self._is_envelope else payload
        self._row_names = [name for name in row if self._is_envelope or not name.startswith(ADDED)]
        self.key_names = list(key_payload)
        self._places = {column.name: place for place, column in enumerate(columns)}
        missing = [name for name in (*self._row_names, *self.key_names) if name not in self._places]
        unsent = [column.name for column in columns if column.name not in self._row_names]
        if missing or unsent:
            names = ", ".join((missing or unsent)[:5])
            raise RunError(
                "The table and the newest record of its topic do not have the same columns.",
                f"{names} is only in the {'record' if missing else 'table'}.",
                "Change any row of the table, so that the connector sends its new columns; then load again.",
            )
        self._writers = [_writer(column, column.name in mapped or column.name in self.key_names) for column in columns]
        self._fillers = [filler_of(column) for column in columns]

    def record(self, texts: Sequence[str | None]) -> tuple[bytes, bytes]:
        """Return key and value of a row.

        Args:
            texts: of each column as the database prints it; None for null.

        Raises:
            ValueError: a value cannot be said in the topic's words; the text says which and why.
        """
        key = self.key({name: texts[self._places[name]] for name in self.key_names})
        row = {name: self._value(self._places[name], texts[self._places[name]]) for name in self._row_names}
        payload = self._around(row)
        return key, _closed(self._value_head, json.dumps(payload, separators=(",", ":"), ensure_ascii=False))

    def key(self, texts: Mapping[str, str | None]) -> bytes:
        """Return the bytes of a key, the same that the connector writes: rows are told apart by them.

        Raises:
            ValueError: a part of the key is a fraction or a structure.
        """
        values = [(name, self._value(self._places[name], texts[name])) for name in self.key_names]
        if any(isinstance(value, float | dict | list) for _, value in values):
            raise ValueError("a key with a fraction or a structure is not written the same by everybody")
        inner = ",".join(f"{_text(name)}:{_plain(value)}" for name, value in values)
        return _closed(self._key_head, f"{{{inner}}}")

    def _value(self, place: int, text: str | None) -> Any:
        writer = self._writers[place]
        if writer is None:
            return self._fillers[place]
        return None if text is None else writer(text)

    def _around(self, row: dict[str, Any]) -> dict[str, Any]:
        now = time.time()
        if not self._is_envelope:
            added = {name: value for name, value in self._payload.items() if name.startswith(ADDED)}
            return row | {
                name: _SAID.get(name, value if name in _KEPT_ADDED else None) for name, value in added.items()
            }
        payload = self._payload | {"before": None, "after": row, "op": "r"}
        if "transaction" in payload:
            payload["transaction"] = None
        for name, factor in (("ts_ms", _SECONDS_TO_MS), ("ts_us", _SECONDS_TO_US), ("ts_ns", _SECONDS_TO_NS)):
            if name in payload:
                payload[name] = int(now * factor)
        if isinstance(payload.get("source"), dict):
            payload["source"] = self._source(payload["source"])
        return payload

    def _source(self, source: Mapping[str, Any]) -> dict[str, Any]:
        told = dict(source)
        told |= {name: None for name in _POSITIONS if name in told}
        if "snapshot" in told:
            told["snapshot"] = True if isinstance(told["snapshot"], bool) else "true"
        if "lsn" in told:
            told["lsn"] = self._end
        return told


def has_placeholder(value: bytes) -> bool:
    """Whether a record may leave out large values that did not change.

    Source: docs/reference/cdc.md, "Values that are not the value".
    """
    return _PLACEHOLDER in value or _PLACEHOLDER_BASE64 in value or _PLACEHOLDER_CODES in value


_PLACEHOLDER = DEFAULT_PLACEHOLDER.encode()
_PLACEHOLDER_BASE64 = b"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ"
_PLACEHOLDER_CODES = ",".join(str(code) for code in _PLACEHOLDER).encode()


def _writer(column: TableColumn, is_needed: bool) -> Callable[[str], Any] | None:
    try:
        return writer_of(column)
    except RunError:
        if is_needed:
            raise
        return None


def _unwrapped(text: bytes) -> tuple[bytes, Any]:
    """Part a value into the bytes that stand before its payload, and the payload."""
    try:
        wrapped = msgspec.json.decode(text, type=_SchemaAndPayload)
    except msgspec.DecodeError:
        try:
            return b"", json.loads(text)
        except ValueError as error:
            raise RunError(
                "The records of the topic are not JSON.",
                "Rows are written after the example of the newest record.",
                "Load the table from Debezium's own snapshot (--from debezium), or from the topic's beginning.",
            ) from error
    return b'{"schema":' + bytes(wrapped.schema) + b',"payload":', json.loads(bytes(wrapped.payload))


def _closed(head: bytes, payload: str) -> bytes:
    return head + payload.encode() + b"}" if head else payload.encode()


def _number_of(place: str) -> int:
    """Return a place in the log as connectors write it: one number."""
    high, _, low = place.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    return json.dumps(value)


def _text(value: str) -> str:
    """Quote a text as connectors in Java do: nothing is escaped that need not be, codes in capitals."""
    return f'"{value.translate(_CONTROL)}"'
