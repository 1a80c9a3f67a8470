"""Canonical messages that exist, as rows of histories: read from their text, exactly as a mapping run would stage them.

What values are follows from the plan, as in typed columns: a number or a text in JSON does not say what it counts. So a
plan for this lists every version of every entity (``mapping.plan_compiler.staging_plan``). A message is staged, set
aside by itself, or skipped where its entity has no history.

Cost: one pass of machine code over the text of a message as METL writes it (``written_messages``); of others one over
the text and one over the payload. Then whole columns are read at once.

Source: docs/reference/message.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw

from metl_gui.core.dimensional.histories import EntityHistory
from metl_gui.core.dimensional.loads.mask_key import MaskKey
from metl_gui.core.runs.report import Tally
from metl_gui.engine.kernel.message_layout import MessageKind
from metl_gui.engine.kernel.message_records import RecordBatch, distinct
from metl_gui.engine.kernel.outcomes import SetAside, error_row
from metl_gui.engine.kernel.plan import EntityPlan, Plan, version_name
from metl_gui.engine.sinks.typed_rows import read_each, refusal
from metl_gui.engine.staging.canonical_messages import BatchMessages, CanonicalMessage, read_batch
from metl_gui.engine.staging.history_rows import HistoryRows
from metl_gui.engine.staging.payloads import PayloadReader, Payloads
from metl_gui.engine.staging.rows import TIME_COLUMNS, MessageHeads, staged_rows
from metl_gui.engine.staging.written_messages import TREE_CODE, WrittenMessages
from metl_gui.errors import RecordError
from metl_gui.formats.json_text import NULL, malformed
from metl_gui.formats.record_kind import RecordKind

Array: TypeAlias = "pa.Array[Any]"
OTHER_ENTITY = "other_entity"
"""What messages of an entity without a history are counted as."""

_NO_PAYLOAD = "no canonical message: its payload is no object of its attributes"
_place_of = attrgetter("entity", "version")
_version_of = attrgetter("source.schema", "source.version")


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


class _Refused(NamedTuple):
    """Why a message is set aside, and where it is from as far as that is known."""

    error: RecordError
    schema: str = ""
    version: str = ""


class Stager:
    """Knows what canonical messages are made rows of histories by.

    Args:
        plan: every entity version.
        histories: of the entities that are staged.
        is_production: messages without a publication are of number 0; in tests they go by their state.
        mask_key: of the hashes that histories keep.
    """

    def __init__(
        self,
        plan: Plan,
        histories: Iterable[EntityHistory],
        *,
        is_production: bool = False,
        mask_key: MaskKey | None = None,
    ) -> None:
        self.state = plan.state
        self.mask_key = mask_key
        self.is_production = is_production
        self._histories = {one.entity: one for one in histories}
        self._plans = {(one.entity, one.version): one for one in plan.entities}
        self._known = {one.entity for one in plan.entities}


class MessageStager(Stager):
    """Makes rows of histories of canonical messages; the arguments are those of any ``Stager``.

    Attributes:
        tree_code: finds layouts of messages by machine code.
    """

    tree_code = TREE_CODE

    @cached_property
    def _staged(self) -> set[tuple[str, str]]:
        return {place for place in self._plans if place[0] in self._histories}

    @cached_property
    def _payloads(self) -> dict[tuple[str, str], PayloadReader]:
        return {}

    @cached_property
    def _written(self) -> WrittenMessages:
        def rows_of(plan: EntityPlan) -> HistoryRows:
            return HistoryRows(plan, self._histories[plan.entity], self.mask_key, self._number_of)

        return WrittenMessages(self._plans, self._histories, rows_of, OTHER_ENTITY, self.tree_code)

    def _number_of(self, kind: MessageKind) -> int:
        return self._publication_of(kind.publication, kind.state)

    def stage(self, records: RecordBatch) -> StagedBatch:
        """Stage one batch of records, each of which is a message."""
        written = self._written.stage(records)
        if len(written.left) == len(records):
            return self._stage(records)
        staged = StagedBatch(written.tally, written.tables)
        if len(written.left):
            left = written.left.tolist()
            rest = self._stage(records.chosen(left))
            staged.tally.add(rest.tally)
            staged.tables += rest.tables
            staged.set_aside = [one._replace(record=left[one.record]) for one in rest.set_aside]
        return staged

    def _stage(self, records: RecordBatch) -> StagedBatch:
        """Stage records, reading each."""
        staged = StagedBatch(Tally(read=len(records), bytes_in=records.bytes_in))
        skipped: Counter[str] = Counter()
        entities: dict[tuple[str, str], BatchMessages] = {}
        refused: dict[int, _Refused] = {}
        read = read_batch(records)
        for record, error in read.others.items():
            if error is None:
                skipped[RecordKind.TOMBSTONE.value] += 1
            else:
                refused[record] = _Refused(error)
        places, place_of = distinct(list(map(_place_of, read.messages)))
        for number, (entity, version) in enumerate(places):
            of_it = read.chosen(place_of == number) if len(places) > 1 else read
            if (entity, version) not in self._staged:
                of_it = self._staged_of(of_it, skipped, refused)
            if of_it.messages:
                entities[entity, version or ""] = of_it
        for (entity, version), of_it in entities.items():
            table = self._table(entity, version, of_it, refused)
            staged.tables.append((entity, table))
        self._count(staged, records, skipped, entities, refused)
        return staged

    def _staged_of(self, found: BatchMessages, skipped: Counter[str], refused: dict[int, _Refused]) -> BatchMessages:
        """Return which messages of a place that the state does not have are staged all the same, and count the rest."""
        kept = np.zeros(len(found.messages), np.bool_)
        for at, (record, message) in enumerate(zip(found.records, found.messages, strict=True)):
            try:
                if self._is_skipped(message):
                    skipped[OTHER_ENTITY] += 1
                else:
                    kept[at] = True
            except RecordError as error:
                refused[record] = _Refused(error)
        return found.chosen(kept)

    def _is_skipped(self, message: CanonicalMessage) -> bool:
        """Return whether the entity of a message has no history.

        Raises:
            RecordError: it is no message that the state knows.
        """
        if message.entity not in self._known:
            raise malformed(f"no entity is called {message.entity}")
        if message.entity not in self._histories:
            return True
        if message.version is not None:
            raise malformed(f"no version is called {version_name(message.entity, message.version)}")
        if message.op != "t":
            raise malformed("no canonical message: it names no version of its entity")
        return False

    def _table(self, entity: str, version: str, of_it: BatchMessages, refused: dict[int, _Refused]) -> pa.Table:
        """Read messages of one entity version; those that are refused are left out of the table."""
        reader = self._payloads.get((entity, version))
        if reader is None:
            plan = self._plans.get((entity, version)) or EntityPlan(entity, version)
            reader = self._payloads[entity, version] = PayloadReader(plan, self._histories[entity])
        messages = of_it.messages
        sources = [(one.source.schema, one.source.version or "") for one in messages]
        rows, columns, absent, misfits = reader.read(
            Payloads([one.payload for one in messages], [one.unchanged for one in messages], sources)
        )
        is_whole = len(rows) == len(messages)
        heads, head_misfits = self._heads(
            messages if is_whole else [messages[row] for row in rows], absent, reader.plan
        )
        wrong = {} if is_whole else {row: malformed(_NO_PAYLOAD) for row in set(range(len(sources))) - set(rows)}
        for name, keys in (("key", heads.key), ("old_key", heads.old_key)):
            for row in _no_objects(keys):
                wrong[rows[row]] = malformed(f"no canonical message: its {name} is no object")
        for row, detail in (*misfits.items(), *head_misfits.items()):
            wrong.setdefault(rows[row], RecordError("type_mismatch", detail))
        for row, error in wrong.items():
            refused[of_it.records[row]] = _Refused(error, *sources[row])
        table = staged_rows(self._histories[entity], heads, columns, self.mask_key)
        return table.filter(pa.array([row not in wrong for row in rows], pa.bool_())) if wrong else table

    def _heads(
        self, messages: Sequence[CanonicalMessage], absent: Array, plan: EntityPlan
    ) -> tuple[MessageHeads, dict[int, str]]:
        """Read what messages say of themselves, and describe the times that are of no calendar."""
        sources = [one.source for one in messages]
        seen_at, unseen = read_each(TIME_COLUMNS["ts_ms"].read, [one.ts_ms for one in messages])
        committed = TIME_COLUMNS["source.committed_at_ms"]
        committed_at, uncommitted = read_each(committed.read, [one.committed_at_ms for one in sources])
        misfits = {one.at: refusal(plan, committed, one) for one in uncommitted}
        misfits |= {one.at: refusal(plan, TIME_COLUMNS["ts_ms"], one) for one in unseen}
        heads = MessageHeads(
            schema=pa.array([one.schema for one in sources], pa.string()),
            schema_version=pa.array([one.version for one in sources], pa.string()),
            entity_version=pa.array([one.version for one in messages], pa.string()),
            op=pa.array([one.op for one in messages], pa.string()),
            publication=pa.array(map(self._publication, messages), pa.int64()),
            key=_json_array([one.key for one in messages]),
            old_key=_json_array([one.old_key for one in sources]),
            origin=_json_array([one.origin for one in sources]),
            committed_at=committed_at,
            seen_at=seen_at,
            position=pa.array([one.position for one in sources], pa.string()),
            snapshot=pa.array([one.snapshot for one in sources], pa.bool_()),
            absent=absent,
        )
        return heads, misfits

    def _publication(self, message: CanonicalMessage) -> int:
        return self._publication_of(message.source.publication, message.state)

    def _publication_of(self, number: int | None, state: int) -> int:
        return number if number is not None else 0 if self.is_production else state

    def _count(
        self,
        staged: StagedBatch,
        records: RecordBatch,
        skipped: Counter[str],
        entities: dict[tuple[str, str], BatchMessages],
        refused: dict[int, _Refused],
    ) -> None:
        """Count what became of a batch, and write the rows of what is set aside."""
        for record, (error, schema, version) in sorted(refused.items()):
            row = error_row(error, self.state, (schema, version, records.position(record)), records.raw(record))
            staged.set_aside.append(SetAside(record, error.reason, row))
        tally = staged.tally
        kept = [record for of_it in entities.values() for record in of_it.records if record not in refused]
        tally.by_skip = dict(skipped)
        tally.skipped = sum(skipped.values())
        tally.set_aside = len(refused)
        tally.by_reason = dict(Counter(one.error.reason for one in refused.values()))
        tally.mapped = tally.messages_out = len(kept)
        tally.bytes_out = int(records.lengths[np.array(kept, np.int64)].sum())
        by_entity: Counter[str] = Counter()
        for entity, table in staged.tables:
            by_entity[entity] += table.num_rows
        tally.by_entity = dict(+by_entity)
        versions = Counter(map(_version_of, chain.from_iterable(of_it.messages for of_it in entities.values())))
        tally.by_version = {
            version_name(schema, version): count for (schema, version), count in versions.items() if version is not None
        }


def _no_objects(keys: Array) -> list[int]:
    """Return which of some JSON values are neither objects nor null."""
    starts: Array = pc.starts_with(keys, "{").fill_null(True)
    return np.flatnonzero(~starts.to_numpy(zero_copy_only=False)).tolist()


def _json_array(values: Iterable[Raw]) -> Array:
    found: Any = pa.array(list(map(bytes, values)), pa.binary())
    equal: Any = pc.equal
    made: Array = pc.if_else(equal(found, NULL), pa.scalar(None, pa.binary()), found).cast(pa.string())
    return made
