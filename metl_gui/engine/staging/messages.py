"""Canonical messages that exist, as rows of histories: read from their text, exactly as a mapping run would stage them.

What values are follows from the plan, as in typed columns: a number or a text in JSON does not say what it counts. So a
plan for this lists every version of every entity (``mapping.plan_compiler.staging_plan``). A message is staged, set
aside by itself, or skipped where its entity has no history.

Cost: one pass over the text of a message, one over its payload; then whole columns are read at once.

Source: docs/reference/message.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import attrgetter, is_not
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Meta, Raw
from numpy.typing import NDArray

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.runs.report import Tally
from metl_gui.engine.kernel.message_layout import Nested, tree_of
from metl_gui.engine.kernel.message_records import MessageRecords, RecordBatch, distinct
from metl_gui.engine.kernel.outcomes import SetAside, error_row
from metl_gui.engine.kernel.plan import EntityPlan, Plan, version_name
from metl_gui.engine.sinks.columns import Column
from metl_gui.engine.sinks.readers import Reader
from metl_gui.engine.sinks.typed_rows import Misfit, read_each, refusal
from metl_gui.engine.staging.columns import history_columns
from metl_gui.engine.staging.rows import ABSENT, TIME_COLUMNS, MessageHeads, absent_columns, staged_rows
from metl_gui.errors import RecordError
from metl_gui.formats.json_text import NULL, check, malformed
from metl_gui.formats.record_kind import RecordKind

Array: TypeAlias = "pa.Array[Any]"
OTHER_ENTITY = "other_entity"
"""What messages of an entity without a history are counted as."""

_Number: TypeAlias = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
_NULL = Raw(NULL)
_MISSING = Raw(NULL)
"""Stands for a member that a payload does not have."""


class CanonicalSource(msgspec.Struct, frozen=True, gc=False):
    """What a message says of its source; messages of 0.1 end with the origin."""

    schema: str
    version: str | None = None
    position: str | None = None
    origin: Raw = _NULL
    committed_at_ms: Raw = _NULL
    snapshot: bool | None = None
    old_key: Raw = _NULL
    publication: _Number | None = None


class CanonicalMessage(msgspec.Struct, frozen=True, gc=False):
    """A message, its objects unread."""

    entity: str
    version: str | None
    state: _Number
    op: Literal["c", "r", "u", "d", "t"]
    source: CanonicalSource
    key: Raw = _NULL
    ts_ms: Raw = _NULL
    payload: Raw = Raw(b"{}")
    unchanged: tuple[str, ...] = ()


_message = msgspec.json.Decoder(CanonicalMessage).decode
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


@dataclass(slots=True)
class StagedBatch:
    """What became of a batch of messages.

    Args:
        tally: its counts.
        tables: rows, each table with the entity that it is of.
        set_aside: messages for the error store.
    """

    tally: Tally
    tables: list[tuple[str, pa.Table]] = field(default_factory=list)
    set_aside: list[SetAside] = field(default_factory=list)


@dataclass(slots=True)
class _Entity:
    """The messages of a batch that are of one entity version, and which records they were."""

    records: list[int] = field(default_factory=list)
    messages: list[CanonicalMessage] = field(default_factory=list)


class MessageStager:
    """Makes rows of histories of canonical messages.

    Args:
        plan: every entity version.
        histories: of the entities that are staged.
        is_production: messages without a publication are of number 0; in tests they go by their state.
    """

    def __init__(self, plan: Plan, histories: Iterable[EntityHistory], *, is_production: bool = False) -> None:
        self.state = plan.state
        self.is_production = is_production
        self._histories = {one.entity: one for one in histories}
        self._plans = {(one.entity, one.version): one for one in plan.entities}
        self._known = {one.entity for one in plan.entities}
        self._staged = {place for place in self._plans if place[0] in self._histories}
        self._payloads: dict[tuple[str, str], _Payloads] = {}

    def stage(self, records: RecordBatch) -> StagedBatch:
        """Stage one batch of records, each of which is a message."""
        staged = StagedBatch(Tally(read=len(records), bytes_in=records.bytes_in))
        skipped: Counter[str] = Counter()
        entities: dict[tuple[str, str], _Entity] = {}
        refused: dict[int, tuple[RecordError, str, str]] = {}
        for record in range(len(records)):
            try:
                message = self._read(records, record)
            except RecordError as error:
                refused[record] = error, "", ""
                continue
            if isinstance(message, str):
                skipped[message] += 1
                continue
            place = message.entity, message.version or ""
            found = entities.get(place)
            if found is None:
                found = entities[place] = _Entity()
            found.records.append(record)
            found.messages.append(message)
        for (entity, version), of_it in entities.items():
            table = self._table(entity, version, of_it, refused)
            staged.tables.append((entity, table))
        self._count(staged, records, skipped, entities, refused)
        return staged

    def _read(self, records: RecordBatch, record: int) -> CanonicalMessage | str:
        """Read a message, or name what it is counted as where it is skipped.

        Raises:
            RecordError: it is none that the state knows.
        """
        if not records.is_whole(record):
            raise RecordError("too_large", f"the record has {records.size(record)} bytes")
        text = records.value(record) if isinstance(records, MessageRecords) else records.raw(record)
        if text is None:
            return RecordKind.TOMBSTONE.value
        check(text)
        try:
            message = _message(text)
        except _UNREADABLE as error:
            raise malformed(f"no canonical message: {error}") from None
        place = message.entity, message.version
        if place in self._staged:
            return message
        if message.entity not in self._known:
            raise malformed(f"no entity is called {message.entity}")
        if message.entity not in self._histories:
            return OTHER_ENTITY
        if message.version is not None:
            raise malformed(f"no version is called {version_name(message.entity, message.version)}")
        if message.op != "t":
            raise malformed("no canonical message: it names no version of its entity")
        return message

    def _table(
        self, entity: str, version: str, of_it: _Entity, refused: dict[int, tuple[RecordError, str, str]]
    ) -> pa.Table:
        """Read messages of one entity version; those that are refused are left out of the table."""
        reader = self._payloads.get((entity, version))
        if reader is None:
            plan = self._plans.get((entity, version)) or EntityPlan(entity, version)
            reader = self._payloads[entity, version] = _Payloads(plan, self._histories[entity])
        readable, payloads = reader.decode(of_it.messages)
        wrong = {
            row: malformed("no canonical message: its payload is no object of its attributes")
            for row in set(range(len(of_it.messages))) - set(readable)
        }
        messages = [of_it.messages[row] for row in readable]
        columns, absent, misfits = reader.read(messages, payloads)
        heads, head_misfits = self._heads(messages, absent, reader.plan)
        for name, keys in (("key", heads.key), ("old_key", heads.old_key)):
            for row in np.flatnonzero(pc.invert(pc.starts_with(keys, "{")).fill_null(False).to_numpy(False)).tolist():
                wrong[readable[row]] = malformed(f"no canonical message: its {name} is no object")
        for row, detail in {**head_misfits, **misfits}.items():
            wrong.setdefault(readable[row], RecordError("type_mismatch", detail))
        table = staged_rows(self._histories[entity], heads, columns)
        for row, error in wrong.items():
            source = of_it.messages[row].source
            refused[of_it.records[row]] = error, source.schema, source.version or ""
        is_kept = [row not in wrong for row in readable]
        return table if all(is_kept) else table.filter(pa.array(is_kept, pa.bool_()))

    def _heads(
        self, messages: Sequence[CanonicalMessage], absent: Array, plan: EntityPlan
    ) -> tuple[MessageHeads, dict[int, str]]:
        """Read what messages say of themselves, and describe the times that are of no calendar."""
        sources = [one.source for one in messages]
        misfits: dict[int, str] = {}
        times: list[Array] = []
        for column, values in (
            (TIME_COLUMNS["source.committed_at_ms"], [one.committed_at_ms for one in sources]),
            (TIME_COLUMNS["ts_ms"], [one.ts_ms for one in messages]),
        ):
            array, wrong = read_each(column.read, list(values))
            times.append(array)
            misfits.update({one.at: refusal(plan, column, one) for one in wrong})
        heads = MessageHeads(
            schema=pa.array([one.schema for one in sources], pa.string()),
            schema_version=pa.array([one.version for one in sources], pa.string()),
            entity_version=pa.array([one.version for one in messages], pa.string()),
            op=pa.array([one.op for one in messages], pa.string()),
            publication=pa.array(map(self._publication, messages), pa.int64()),
            key=_json_array([one.key for one in messages]),
            old_key=_json_array([one.old_key for one in sources]),
            origin=_json_array([one.origin for one in sources]),
            committed_at=times[0],
            seen_at=times[1],
            position=pa.array([one.position for one in sources], pa.string()),
            snapshot=pa.array([one.snapshot for one in sources], pa.bool_()),
            absent=absent,
        )
        return heads, misfits

    def _publication(self, message: CanonicalMessage) -> int:
        found = message.source.publication
        return found if found is not None else 0 if self.is_production else message.state

    def _count(
        self,
        staged: StagedBatch,
        records: RecordBatch,
        skipped: Counter[str],
        entities: dict[tuple[str, str], _Entity],
        refused: dict[int, tuple[RecordError, str, str]],
    ) -> None:
        """Count what became of a batch, and write the rows of what is set aside."""
        for record, (error, schema, version) in sorted(refused.items()):
            place = schema, version, records.position(record)
            staged.set_aside.append(
                SetAside(record, error.reason, error_row(error, self.state, place, records.raw(record)))
            )
        tally = staged.tally
        kept = [record for of_it in entities.values() for record in of_it.records if record not in refused]
        tally.by_skip = dict(skipped)
        tally.skipped = sum(skipped.values())
        tally.set_aside = len(refused)
        tally.by_reason = dict(Counter(error.reason for error, _, _ in refused.values()))
        tally.mapped = tally.messages_out = len(kept)
        lengths = records.lengths
        tally.bytes_out = int(lengths[np.array(kept, np.int64)].sum())
        by_entity: Counter[str] = Counter()
        for entity, table in staged.tables:
            by_entity[entity] += table.num_rows
        tally.by_entity = dict(+by_entity)
        tally.by_version = dict(
            Counter(
                version_name(one.source.schema, one.source.version)
                for of_it in entities.values()
                for one in of_it.messages
                if one.source.version is not None
            )
        )


class _Payloads:
    """Reads the payloads of one entity version."""

    def __init__(self, plan: EntityPlan, history: EntityHistory) -> None:
        self.plan = plan
        self.history = history
        found = history_columns(plan, history)
        self.names = [kept.name for kept, _ in found]
        self.columns = [column for _, column in found]
        self._number_of = {column.path: number for number, column in enumerate(self.columns)}
        fields: dict[int, str] = {}
        kind = _struct_of(tree_of([column.path for column in self.columns]), "", fields)
        self._all = msgspec.json.Decoder(list[kind]).decode  # type: ignore[valid-type]  # made just now
        self._one: Callable[[bytes], Any] = msgspec.json.Decoder(kind).decode
        self._getters = [attrgetter(fields[number]) for number in range(len(self.columns))]

    def decode(self, messages: Sequence[CanonicalMessage]) -> tuple[Sequence[int], list[Any]]:
        """Return which payloads can be read, and these."""
        try:
            return range(len(messages)), self._all(b"[" + b",".join([one.payload for one in messages]) + b"]")
        except _UNREADABLE:
            rows, found = [], []
            for row, one in enumerate(messages):
                try:
                    found.append(self._one(one.payload))
                except _UNREADABLE:
                    continue
                rows.append(row)
            return rows, found

    def read(
        self, messages: Sequence[CanonicalMessage], payloads: Sequence[Any]
    ) -> tuple[dict[str, Array], Array, dict[int, str]]:
        """Read payloads into columns.

        Returns:
            The columns by name, the names of those that each message does not carry, and why some do not fit.
        """
        values = [list(map(getter, payloads)) for getter in self._getters]
        is_carried = np.empty((len(self.columns), len(payloads)), np.bool_)
        for number, found in enumerate(values):
            is_carried[number] = list(map(is_not, found, repeat(_MISSING)))
        for row, one in enumerate(messages):
            for path in one.unchanged:
                at = self._number_of.get(path)
                if at is not None:
                    is_carried[at, row] = False
                    values[at][row] = _MISSING
        columns: dict[str, Array] = {}
        refused: dict[int, str] = {}
        sources, source_of = distinct([(one.source.schema, one.source.version or "") for one in messages])
        for name, column, found in zip(self.names, self.columns, values, strict=True):
            array, misfits = _read_column(column, found, sources, source_of)
            columns[name] = array.cast(column.type)
            for misfit in misfits:
                refused.setdefault(misfit.at, refusal(self.plan, column, misfit))
        return columns, self._absent(is_carried), refused

    def _absent(self, is_carried: NDArray[np.bool_]) -> Array:
        """Return what each message does not carry; few messages of a version differ in it."""
        paths = [column.path for column in self.columns]
        if is_carried.all():
            everything = absent_columns(self.history, self.plan.version, paths)
            return pa.array([everything], ABSENT).take(np.zeros(is_carried.shape[1], np.int64))
        packed = np.ascontiguousarray(np.packbits(is_carried, axis=0).T)
        patterns, which = distinct(packed.view(f"V{packed.shape[1]}").ravel().tolist())
        lists = [
            absent_columns(
                self.history, self.plan.version, [path for path, bit in zip(paths, bits, strict=False) if bit]
            )
            for bits in (np.unpackbits(np.frombuffer(pattern, np.uint8)).tolist() for pattern in patterns)
        ]
        return pa.array(lists, ABSENT).take(which)


def _read_column(
    column: Column, values: list[Raw], sources: Sequence[tuple[str, str]], source_of: NDArray[np.int64]
) -> tuple[Array, list[Misfit]]:
    """Read the values of one column, those of each source as that source declares them.

    Args:
        column: the column.
        values: one a message.
        sources, source_of: schemas and versions, and which of them each message is from.
    """
    by_read: dict[Reader, list[int]] = {}
    for number, source in enumerate(sources):
        by_read.setdefault(column.by_source.get(source, column.read), []).append(number)
    if len(by_read) == 1:
        return read_each(next(iter(by_read)), list(values))
    arrays: list[Array] = [pa.array([], column.type)]
    misfits: list[Misfit] = []
    order: list[int] = []
    for read, numbers in by_read.items():
        rows = np.flatnonzero(np.isin(source_of, numbers)).tolist()
        array, wrong = read_each(read, [values[row] for row in rows])
        arrays.append(array.cast(column.type))
        misfits.extend(one._replace(at=rows[one.at]) for one in wrong)
        order.extend(rows)
    return pa.concat_arrays(arrays).take(pa.array(np.argsort(order), pa.int64())), misfits


def _struct_of(tree: Nested, prefix: str, fields: dict[int, str]) -> type[msgspec.Struct]:
    """Make a struct for objects of one form, with each value unread; note the member of each path in ``fields``."""
    members: list[tuple[str, Any, Any]] = []
    names: dict[str, str] = {}
    for at, (name, below) in enumerate(tree.items()):
        member = f"f{at}"
        names[member] = name
        if isinstance(below, int):
            fields[below] = prefix + member
            members.append((member, Raw, _MISSING))
        else:
            kind = _struct_of(below, f"{prefix}{member}.", fields)
            members.append((member, kind, kind()))
    return msgspec.defstruct("Payload", members, rename=names, frozen=True, gc=False)


def _json_array(values: Iterable[Raw]) -> Array:
    found = [None if text == NULL else text for text in map(bytes, values)]
    return pa.array(found, pa.binary()).cast(pa.string())
