"""The reference kernel: maps each record as the documentation says, to the letter (A6).

What is slow is kept by shape (``kernel.versions``). ``forms_of`` lists the shapes in which an unavailable value stands
in a row.

Source: docs/architecture/model.md, "Algorithms"; docs/reference/formats.md, "A record"; docs/reference/formats.md,
"Which version a record has"; docs/reference/message.md; docs/reference/set-aside.md; docs/reference/cdc.md, "Values
that are not the value".
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from metl_gui.core.runs.run_spec import Mode
from metl_gui.core.trees.paths import escape, split
from metl_gui.engine.kernel.changes import RowChange, read_wrapped
from metl_gui.engine.kernel.message_layout import MessageKind, MessagePaths, layout_of
from metl_gui.engine.kernel.message_records import RecordBatch
from metl_gui.engine.kernel.outcomes import BatchOutput, Sent, error_row
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan, version_name
from metl_gui.engine.kernel.versions import VersionResolver, value_at
from metl_gui.engine.kernel.wire_format import DecodedValue, WireDecoder
from metl_gui.errors import RecordError
from metl_gui.formats.json_text import NULL, Members, bytes_of, quoted
from metl_gui.formats.record_wrapper import Wrapped

_HEX = "hex:"

_KeyValues: TypeAlias = list[tuple[str, bytes]]
"""Source path and value of each key attribute, in key order."""

_Members: TypeAlias = tuple[_KeyValues, _KeyValues, list[tuple[str, bytes]], list[str]]


@lru_cache(maxsize=256)
def forms_of(placeholder: str) -> frozenset[bytes]:
    """Return every JSON value that means "unchanged": text, list of text, list of codes, base64, and maps.

    Lists and maps are known as connectors write them and as tools write them that put a space behind each separator.

    Args:
        placeholder: the text that the connector is set to, with ``hex:`` before hexadecimal digits.
    """
    content = _content(placeholder)
    text = content.decode("utf-8", "replace")
    as_map = {text: text}
    values = (
        text,
        [text],
        list(content),
        base64.b64encode(content).decode(),
        base64.urlsafe_b64encode(content).decode(),
        as_map,
        json.dumps(as_map, separators=(",", ":"), ensure_ascii=False),
        json.dumps(as_map, ensure_ascii=False),
    )
    spellings = ((",", ":"), (", ", ": "))
    written = (json.dumps(value, separators=spelling, ensure_ascii=False) for value in values for spelling in spellings)
    return frozenset(text.encode() for text in written) | {json.dumps(placeholder, ensure_ascii=False).encode()}


def _content(placeholder: str) -> bytes:
    if placeholder.startswith(_HEX):
        try:
            return bytes.fromhex(placeholder.removeprefix(_HEX))
        except ValueError:
            return placeholder.encode()
    return placeholder.encode()


class ReferenceKernel:
    """Maps records one by one.

    Args:
        plan: the compiled state.
        mode: ``production`` sets aside what is held for review; ``test`` maps every block as it stands.
        is_replay: the records were set aside before, and their messages say so.
        publication: number of the publication that the state is mapped under, 0 for none.

    Attributes:
        wire: decodes what headers name a schema for, ``None`` while no schema is known.
    """

    def __init__(self, plan: Plan, mode: Mode = "test", *, is_replay: bool = False, publication: int = 0) -> None:
        self.plan = plan
        self.publication = publication or None
        self.is_replay = is_replay
        self.is_production = mode == "production"
        self.schemas = {name: _PlannedSchema(schema, self.is_production) for name, schema in plan.by_name().items()}
        self.known = frozenset(self.schemas)
        self.decoding = WireDecoder(plan)
        self.wire = self.decoding if plan.wire else None

    def map_record(self, records: RecordBatch, record: int, outcome: BatchOutput) -> None:
        """Map one record of a batch; its position in the file is used where it names no other.

        Args:
            records: the batch.
            record: its number.
            outcome: where messages, fate and counts go.
        """
        found = RecordContext(records.position(record))
        try:
            self.map_wrapped(records.unwrapped(record), found, outcome)
        except RecordError as error:
            where = found.schema, found.version, found.position
            outcome.put_aside(error, error_row(error, self.plan.state, where, records.raw(record)))

    def map_wrapped(
        self, wrapped: Wrapped, found: RecordContext, outcome: BatchOutput, written: DecodedValue | None = None
    ) -> None:
        """Map one record that was taken apart; ``written`` is its value where somebody decoded it before.

        Raises:
            RecordError: it must be set aside; nothing of it was sent.
        """
        found.position = wrapped.position or found.position
        if wrapped.topic in self.known:
            found.schema = self.schemas[wrapped.topic].plan.name
        change = read_wrapped(wrapped, self.known, self.decoding, written)
        if isinstance(change, RowChange):
            self.map_change(change, found, outcome)
        else:
            outcome.skip(change)

    def map_change(self, change: RowChange, found: RecordContext, outcome: BatchOutput) -> None:
        """Map one change, whole or not at all.

        Raises:
            RecordError: it must be set aside; nothing of it was sent.
        """
        schema = self._schema(change)
        found.schema = schema.plan.name
        if change.op == "t":
            sent = _truncates(schema, self._template(found, change), is_production=self.is_production)
        else:
            version = schema.versions.of(change)
            found.version = version.label
            outcome.by_version[version_name(found.schema, version.label)] += 1
            sent = self._messages(schema, version, change, found)
        outcome.send(sent)

    def _schema(self, change: RowChange) -> _PlannedSchema:
        for name in change.names:
            schema = self.schemas.get(name)
            if schema is not None:
                return schema
        called = f"no schema is called {' or '.join(change.names)}" if change.names else "nothing names its schema"
        raise RecordError("unknown_schema", called)

    def _template(self, found: RecordContext, change: RowChange) -> _MessageTemplate:
        return _MessageTemplate(
            self.plan.state,
            found.schema,
            self.publication,
            self.is_replay,
            change.origin,
            (change.ts_ms, found.quoted_position),
            (change.committed_at_ms, change.snapshot),
        )

    def _messages(
        self, schema: _PlannedSchema, version: VersionPlan, change: RowChange, found: RecordContext
    ) -> list[Sent]:
        if self.is_production:
            _refuse_held(schema.plan, version)
        if not any(block.targets for block in version.blocks):
            return []
        writer = _ChangeWriter(self._template(found, change), schema, version, change)
        if change.op == "d":
            return writer.deletes(change.row, writer.message_key)
        if _is_key_change(writer.key_paths, change):
            return writer.key_change()
        return writer.images(change.op, writer.key_before())


class RecordContext:
    """What is known of a record so far, for its row in the error store.

    Args:
        position: transport position.
    """

    def __init__(self, position: str) -> None:
        self.position = position
        self.schema = ""
        self.version = ""

    @property
    def quoted_position(self) -> bytes:
        """The position as it stands between the quotes of a JSON string."""
        return quoted(self.position)[1:-1]


class _PlannedSchema:
    def __init__(self, plan: SchemaPlan, is_production: bool) -> None:
        self.plan = plan
        self.versions = VersionResolver(plan, is_production=is_production)
        self.placeholders = forms_of(plan.placeholder)


class _MessageTemplate(NamedTuple):
    """What all messages of one change share.

    Args:
        state: number of the state.
        schema: its name.
        publication: number of the publication, ``None`` for none.
        is_replay: its record was set aside before.
        origin: paths and values of what says where in the log the change stands.
        times: time and position, as they stand in JSON.
        commit: when the source committed the change, and whether a snapshot read it.
    """

    state: int
    schema: str
    publication: int | None
    is_replay: bool
    origin: Mapping[str, bytes]
    times: tuple[bytes, bytes]
    commit: tuple[bytes, bytes]

    def write(self, block: BlockPlan, op: str, version: str | None, members: _Members) -> Sent:
        """Write one message.

        Args:
            block: what makes it.
            op: its kind of change.
            version: of the source; a truncate has none, and its entity has none either.
            members: its key, the key that its row had before, its payload and what is unchanged.
        """
        entity_version = None if version is None else block.entity_version
        kind = MessageKind(
            block.entity, entity_version, self.state, op, self.schema, version, self.publication, self.is_replay
        )
        key, old_key, payload, unchanged = members
        paths = MessagePaths(_paths(key), tuple(self.origin), _paths(old_key), _paths(payload), tuple(unchanged))
        layout = layout_of(kind, paths)
        values = [*_values(key), *self.times, *self.origin.values(), *self.commit, *_values(old_key), *_values(payload)]
        filled = [path for path, value in payload if value != NULL]
        return Sent(block, layout, [values[number] for number in layout.order], filled)


def _paths(members: Sequence[tuple[str, bytes]]) -> tuple[str, ...]:
    return tuple(path for path, _ in members)


def _values(members: Sequence[tuple[str, bytes]]) -> list[bytes]:
    return [value for _, value in members]


class _ChangeWriter:
    """Writes the messages of one change of a known version."""

    def __init__(
        self, template: _MessageTemplate, schema: _PlannedSchema, version: VersionPlan, change: RowChange
    ) -> None:
        self.template = template
        self.schema = schema
        self.version = version
        self.blocks = [block for block in version.blocks if block.targets]
        self.change = change
        self.message_key = change.key() if change.op == "d" or not version.key else None
        # A primary key that is added later changes no column, and so no version: the message key then tells.
        self.key_paths = version.key or tuple(map(escape, self.message_key or ()))

    def key_change(self) -> list[Sent]:
        """Write an update that changed the key: a delete of the old key, then a create that names it.

        Raises:
            RecordError: ``no_key``.
        """
        before = self.change.before or {}
        return [*self.deletes(before, None), *self.images("c", _key_values(self.key_paths, None, before))]

    def key_before(self) -> _KeyValues:
        """Return the key that a header names as the old one; empty where it does not name every key attribute."""
        given = self.change.old_key()
        if given is None or any(value_at(given, split(path)) is None for path in self.key_paths):
            return []
        return _key_values(self.key_paths, given, {})

    def images(self, op: str, old_key: _KeyValues) -> list[Sent]:
        """Write full images for c, r and u; a c or r without any value is sent only where nothing is filtered.

        Args:
            op: their kind of change.
            old_key: what identified the row before its key changed; empty where it did not.
        """
        row = self.change.row or {}
        key = _key_values(self.key_paths, self.message_key, row)
        sent = []
        for block in self.blocks:
            members, unchanged = self._payload(block, row)
            is_sent = op == "u" or unchanged or block.is_unfiltered
            if is_sent or any(value != NULL for _, value in members):
                sent.append(self._write(op, block, (key, old_key), members, unchanged))
        return sent

    def _payload(
        self, block: BlockPlan, row: Members, only: Mapping[str, bytes] | None = None
    ) -> tuple[list[tuple[str, bytes]], list[str]]:
        """Return the mapped values and the paths that are unchanged; ``only`` limits them to values at hand."""
        members, unchanged = [], []
        for source, target in block.targets:
            if only is not None and source not in only:
                continue
            value = _value(row, source) if only is None else only[source]
            if value in self.schema.placeholders:
                unchanged.append(target)
            else:
                members.append((target, value))
        return members, unchanged

    def deletes(self, row: Members | None, message_key: Members | None) -> list[Sent]:
        """Write deletes: the key, and what identifies the row; the rest only where old rows are given whole.

        Raises:
            RecordError: ``no_key``.
        """
        is_full = self.schema.plan.has_full_images and row is not None
        key = _key_values(self.key_paths, message_key, row or {})
        is_identified = message_key is not None or any(value != NULL for _, value in key)
        if not (is_full or (key and is_identified)):
            raise RecordError("no_key", "a delete with neither a message key nor a known key")
        by_source = dict(key)
        sent = []
        for block in self.blocks:
            identifying = {source: by_source[source] for source, _ in block.targets if source in by_source}
            members, unchanged = self._payload(block, row or {}, None if is_full else identifying)
            sent.append(self._write("d", block, (key, []), members, unchanged))
        return sent

    def _write(
        self,
        op: str,
        block: BlockPlan,
        keys: tuple[_KeyValues, _KeyValues],
        payload: list[tuple[str, bytes]],
        unchanged: list[str],
    ) -> Sent:
        key, old_key = (_named(block, values) for values in keys)
        return self.template.write(block, op, self.version.label, (key, old_key, payload, unchanged))


def _truncates(schema: _PlannedSchema, template: _MessageTemplate, *, is_production: bool) -> list[Sent]:
    """Write one truncate for every entity that any version of the schema feeds.

    Raises:
        RecordError: only held blocks feed one of them.
    """
    fed = [block for version in schema.plan.versions for block in version.blocks if block.targets]
    if is_production:
        certain = {block.entity for block in fed if not block.is_held}
        for version in schema.plan.versions:
            _refuse_held(schema.plan, version, certain)
        fed = [block for block in fed if not block.is_held]
    blocks = {block.entity: block for block in sorted(fed, key=lambda block: not block.is_unreviewed)}
    return [template.write(block, "t", None, ([], [], [], [])) for block in blocks.values()]


def _refuse_held(schema: SchemaPlan, version: VersionPlan, fed_otherwise: Collection[str] = ()) -> None:
    """Refuse a record of a version that has held blocks; nothing of it is sent to any entity.

    Raises:
        RecordError: the first of them that nothing else stands for, and what it waits for.
    """
    for block in version.blocks:
        if block.is_held and block.entity not in fed_otherwise:
            names = version_name(schema.name, version.label), version_name(block.entity, block.entity_version)
            waits = f": {block.waits}" if block.waits else ""
            raise RecordError("block_needs_review", f"{':'.join(names)} needs review{waits}")


def _named(block: BlockPlan, values: _KeyValues) -> _KeyValues:
    """Give a key the names that a block gives to its attributes."""
    targets = dict(block.targets)
    return [(targets.get(source) or escape(f"@{source}"), value) for source, value in values]


def _key_values(paths: Sequence[str], message_key: Members | None, row: Members) -> _KeyValues:
    """Return (source path, value) of every key attribute in key order; empty without a key.

    The message key speaks first, the row where it does not name the attribute.
    """
    given = message_key or {}
    return [(path, _value(row if value_at(given, split(path)) is None else given, path)) for path in paths]


def _is_key_change(paths: Sequence[str], change: RowChange) -> bool:
    if change.op != "u" or not change.before or not paths:
        return False
    old, new = ([_value(row or {}, path) for path in paths] for row in (change.before, change.row))
    return old != new and NULL not in old


def _value(row: Members, path: str) -> bytes:
    raw = row.get(path) if path in row and "." not in path and "\\" not in path else value_at(row, split(path))
    return NULL if raw is None else bytes_of(raw)
