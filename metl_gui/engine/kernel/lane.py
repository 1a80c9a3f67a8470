"""The fast lane: finds the form of a record and lets it write; learns forms from what the reference has mapped."""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

import msgspec
from msgspec import Raw

from metl_gui.core.classify import Kind
from metl_gui.core.json_text import NULL, members, quoted, text_of
from metl_gui.core.wrappers import BARE, Wrapped, unwrap
from metl_gui.engine.kernel.forms import OtherForm, Run, Sent, Writer, learn, learn_to_skip, nests_little
from metl_gui.engine.kernel.outcomes import Outcome
from metl_gui.engine.kernel.reference import Found, Reference
from metl_gui.errors import RecordError

_Look: TypeAlias = tuple[str, bytes, bytes]

MOST_FORMS = 8
"""Forms kept for records that look alike at first sight."""

MOST_LESSONS = 32
"""How often learning is tried for records that look alike at first sight."""

MOST_LOOKS = 4096
_DECLINED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Carrier(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The wrapper that Kafka tools write most often."""

    topic: Raw
    key: Raw
    value: Raw
    partition: Raw
    offset: Raw
    timestamp: Raw
    headers: Raw = Raw(b"")


_carrier = msgspec.json.Decoder(_Carrier).decode
_text = msgspec.json.Decoder(str).decode
_CARRIER_BYTES = len(b'{"topic":,"key":,"value":,"partition":,"offset":,"timestamp":}')
_HEADERS_BYTES = len(b',"headers":')
_SCHEMA = b'{"schema":'
_PAYLOAD = b',"payload":'


class Lane:
    """The fast lane of one kernel.

    Args:
        reference: decides what no form decides.
        patience: how many records that look alike are left to the reference before a form is learned.
    """

    def __init__(self, reference: Reference, patience: int) -> None:
        self.reference = reference
        self.patience = patience
        self._sights: Counter[_Look] = Counter()
        self._forms: dict[_Look, list[Writer]] = {}
        self._lessons: Counter[_Look] = Counter()
        self._prefixes: dict[str, list[bytes]] = {}
        self._topics: dict[bytes, str] = {}
        self._seen: dict[str, list[int]] = {}

    def write(self, raw: bytes, position: bytes) -> Sent | Kind | None:
        """Write the messages of a record, or tell its kind when it is skipped; ``None`` when the reference must decide.

        Args:
            raw: the record exactly.
            position: its place in the file as the inside of a JSON string.
        """
        try:
            if raw.startswith(BARE):
                return self._written(_look(raw, "", b""), raw, None, position)
            if raw.startswith(b'{"topic":'):
                return self._write_carried(raw)
            return self._write(raw, "", None, position) if raw.startswith(_SCHEMA) else None
        except _DECLINED:
            return None

    def _written(self, look: _Look, value: bytes, key: bytes | None, position: bytes) -> Sent | Kind | None:
        writers = self._forms.get(look)
        if writers is None:
            return None
        try:
            return writers[0](value, key, position)
        except OtherForm:
            return _written_otherwise(writers, value, key, position)

    def learn(self, raw: bytes, kind: Kind | None = None) -> None:
        """Learn the form of a record that the reference has not set aside; ``kind`` is that of one it has skipped."""
        try:
            if not raw.startswith((*BARE, _SCHEMA)):
                _carrier(raw)
            wrapped = unwrap(raw)
            prefix, payload = self._parted(wrapped.value or b"", wrapped.topic, is_new=True)
            look = _look(payload, wrapped.topic, prefix)
            if self._lessons[look] >= MOST_LESSONS or len(self._sights) >= MOST_LOOKS:
                return
            self._sights[look] += 1
            if self._sights[look] <= self.patience:
                return
            self._lessons[look] += 1
            form = (
                learn(payload, prefix, wrapped, self._run, self._seen_of)
                if kind is None
                else learn_to_skip(payload, kind)
            )
        except (RecordError, *_DECLINED):
            return
        if form is not None:
            self._forms.setdefault(look, []).insert(0, form)
            del self._forms[look][MOST_FORMS:]

    def take_seen(self) -> dict[str, int]:
        """Return how many records of each version were written since this was asked last."""
        seen = {name: number[0] for name, number in self._seen.items() if number[0]}
        for name in seen:
            self._seen[name][0] = 0
        return seen

    def _seen_of(self, version: str) -> list[int]:
        return self._seen.setdefault(version, [0])

    def _run(self, wrapped: Wrapped, position: str) -> Run | None:
        outcome, found = Outcome(), Found(position)
        try:
            self.reference.map_wrapped(wrapped, found, outcome)
        except RecordError:
            return None
        if outcome.by_skip or not found.version:
            return None
        schema = self.reference.schemas[found.schema].plan
        version = next(version for version in schema.versions if version.label == found.version)
        flags = [bool(outcome.from_unreviewed[entity]) for entity in outcome.entities]
        return Run(list(zip(outcome.entities, outcome.messages, flags, strict=True)), schema, version)

    def _write_carried(self, raw: bytes) -> Sent | Kind | None:
        carrier = _carrier(raw)
        topic, numbers = bytes(carrier.topic), b"".join((carrier.partition, carrier.offset, carrier.timestamp))
        key = bytes(carrier.key)
        leaves_bytes = len(topic) + len(key) + len(carrier.value) + len(numbers)
        if len(carrier.headers):
            leaves_bytes += len(carrier.headers) + _HEADERS_BYTES
            if not nests_little(bytes(carrier.headers)):
                return None
        if _CARRIER_BYTES + leaves_bytes != len(raw) or not numbers.isdigit() or key[:1] not in (b'"', b"n"):
            return None
        name = self._topics.get(topic)
        if name is None:
            name = text_of(topic)
            if name is None or quoted(name) != topic or len(self._topics) >= MOST_LOOKS:
                return None
            self._topics[topic] = name
        if not raw.isascii():
            raw.decode()
        if len(carrier.value) == 4 and bytes(carrier.value) == NULL:
            return Kind.TOMBSTONE
        position = b"%b/%b/%b" % (topic[1:-1], carrier.partition, carrier.offset)
        return self._write(_text(carrier.value).encode(), name, None if key == NULL else _text(key).encode(), position)

    def _write(self, value: bytes, topic: str, key: bytes | None, position: bytes) -> Sent | Kind | None:
        prefix = b""
        if value.startswith(_SCHEMA):
            prefix, value = self._parted(value, topic, is_new=False)
        return self._written(_look(value, topic, prefix), value, key, position)

    def _parted(self, value: bytes, topic: str, *, is_new: bool) -> tuple[bytes, bytes]:
        """Part a value into its schema half, up to the payload, and its payload."""
        if not value.startswith(_SCHEMA):
            return b"", value
        prefixes = self._prefixes.get(topic, [])
        for prefix in prefixes:
            if value.startswith(prefix) and value.endswith(b"}"):
                return prefix, value[len(prefix) : -1]
        if is_new and len(prefixes) < MOST_LESSONS and len(self._prefixes) < MOST_LOOKS:
            payload = bytes(members(value)["payload"])
            prefix = value[: -len(payload) - 1]
            if prefix.endswith(_PAYLOAD) and value == prefix + payload + b"}":
                self._prefixes[topic] = [*prefixes, prefix]
                return prefix, payload
        raise msgspec.DecodeError("the schema half of this value has not been seen before")


def _written_otherwise(writers: list[Writer], value: bytes, key: bytes | None, position: bytes) -> Sent | Kind | None:
    """Try all forms but the first; the one that fits comes first from then on."""
    for at, write in enumerate(writers[1:], 1):
        try:
            sent = write(value, key, position)
        except OtherForm:
            continue
        writers.insert(0, writers.pop(at))
        return sent
    return None


def _look(payload: bytes, topic: str, prefix: bytes) -> _Look:
    """Return what tells records apart at first sight: topic, schema half, or table, and the operation."""
    op = payload.rfind(b'"op":"') + 6
    if topic or prefix or op < 6:
        return topic, prefix, payload[op : op + 1] if op >= 6 else b""
    table = payload.rfind(b'"table":"', 0, op) + 9
    return "", payload[op : op + 1], payload[table : payload.find(b'"', table)]
