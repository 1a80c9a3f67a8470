"""Learn from the reference what machine code lacked: shapes, names, schema halves, programs.

A program is learned by letting the reference map the record once more as one whose values say no more than where they
stand (``traced_record``). What may decide by a value is asked first: objects within the row where versions look into
them, the field that names the version, the message key, whether the key of the row changed. Values that are unavailable
are asked for when one of them is met. The operation, and what the source says of a snapshot, decide from the beginning.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from msgspec import Raw

from metl_gui.core.trees.paths import escape, split
from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.avro.records import SchemaPlaceholders
from metl_gui.engine.kernel.compiled.programs import Sending, Unsteady, program_of
from metl_gui.engine.kernel.compiled.tables import Tables, bytes_at, facts_of
from metl_gui.engine.kernel.compiled.traced_record import TracedObject, Tracer, path_of, traced
from metl_gui.engine.kernel.outcomes import BatchOutput, RecordOutput
from metl_gui.engine.kernel.plan import SchemaPlan, VersionPlan, version_name
from metl_gui.engine.kernel.reference import RecordContext, ReferenceKernel, forms_of
from metl_gui.errors import RecordError
from metl_gui.formats.json_text import depth, quoted, text_of
from metl_gui.formats.record_kind import is_with_schema
from metl_gui.formats.record_wrapper import Wrapped, unwrap

MOST_SHAPE_MEMBERS = 1024
MOST_TEXT_BYTES = 1024
MOST_HALF_BYTES = 1 << 18
MOST_HALF_DEPTH = 32
_KEY_BITS, _CHANGE_BITS, _NUMBER_BITS = 20, 2, 20
_LEVEL_SHIFT = 24
_ENVELOPE_OPS = frozenset({*range(at.OP_C, at.OP_M + 1), at.OP_T})
_EMPTY = b""
_NOWHERE = -1


class _Left(Exception):
    """The record is left to the reference, now and whenever its key comes again."""


class _Asked(Exception):
    """More must be known first; ``code`` is the program that asks."""

    def __init__(self, *code: int) -> None:
        super().__init__()
        self.code = code


class Learner:
    """Learns for one kernel.

    Args:
        reference: what decides.
        tables: what was learned.
        output: gives the numbers of entities and layouts.
        stand_ins: what stands for the schemas of values that were decoded.
    """

    def __init__(
        self, reference: ReferenceKernel, tables: Tables, output: BatchOutput, stand_ins: SchemaPlaceholders
    ) -> None:
        self.reference = reference
        self.tables = tables
        self.output = output
        self.stand_ins = stand_ins
        self._levels: dict[int, int] = {}
        self._unavailable: set[int] = set()

    def learn(self, why: int, raw: bytes) -> bool:
        """Learn what is lacking; say whether it is worth trying again.

        Args:
            why: what machine code said.
            raw: the record at hand.
        """
        first, second, third = (self.tables.get(place) for place in (at.S_LACK_A, at.S_LACK_B, at.S_LACK_C))
        if why == at.LACKS_SHAPE:
            return self._shape(first)
        if why == at.LACKS_TEXT:
            return second <= MOST_TEXT_BYTES and self._text(bytes_at(first, second), third)
        if why == at.LACKS_HALF:
            return second <= MOST_HALF_BYTES and self._half(bytes_at(first, second))
        if why == at.LACKS_PAIR:
            number = self.tables.add_pair(first, second)
            if second >= at.UNAVAILABLE:
                self._levels[number] = self.level(first)
                self._unavailable.add(number)
            else:
                self._levels[number] = (second >> _LEVEL_SHIFT) + 1
                self._unavailable.discard(number)  # numbers come anew when there was no room
            return True
        return why == at.LACKS_PROGRAM and self._program(raw)

    def _shape(self, role: int) -> bool:
        names = self.tables.names(role)
        return len(names) <= MOST_SHAPE_MEMBERS and self.tables.add_shape(role, facts_of(names))

    def _text(self, text: bytes, kind: int) -> bool:
        written = _EMPTY
        if kind == at.TOPIC:
            topic = text_of(text)
            if not topic:
                return False
            written = quoted(topic)[1:-1]
        self.tables.add_text(text, kind, written)
        return True

    def _half(self, text: bytes) -> bool:
        # A payload that is a number leaves only the schema to tell.
        is_known = text.startswith(b"{") and is_with_schema({"schema": Raw(text), "payload": Raw(b"0")})
        if is_known and depth(text) <= MOST_HALF_DEPTH:
            self.tables.add_half(text)
            return True
        return False

    def _program(self, raw: bytes) -> bool:
        key = tuple(self.tables.get(place) for place in (at.S_KEY_0, at.S_KEY_1, at.S_KEY_2, at.S_KEY_3))
        try:
            code = _Lesson(self, raw).code()
        except _Asked as asked:
            code = list(asked.code)
        except (_Left, Unsteady, RecordError):
            code = [at.REFUSE]
        self.tables.add_program((key[0], key[1], key[2], key[3]), code)
        return code[0] != at.REFUSE

    def level(self, answer: int) -> int:
        """Return how many levels of objects within the row an answer is about."""
        return self._levels.get(answer, 0)

    def names_unavailable(self, answer: int) -> bool:
        """Return whether an answer says which values are unavailable."""
        return answer in self._unavailable


class _TracedContext(RecordContext):
    """What is known of a traced record: its position stands in a slot."""

    @property
    def quoted_position(self) -> bytes:
        """What stands for the position."""
        return traced(at.POSITION)


class _Lesson:
    """One record of which a program is learned."""

    def __init__(self, learner: Learner, raw: bytes) -> None:
        self.learner = learner
        self.reference = learner.reference
        self.tables = learner.tables
        self.real = unwrap(raw)
        self.op = self.tables.get(at.S_OP)
        self.body = self.tables.get(at.S_BODY)
        answers = self.tables.get(at.S_KEY_3)
        self.key_answer = _bits(answers, at.KEY_SHIFT, _KEY_BITS)
        self.change_answer = _bits(answers, at.CHANGE_SHIFT, _CHANGE_BITS)
        self.nested_answer = _bits(answers, at.NESTED_SHIFT, _NUMBER_BITS)
        self.field_answer = _bits(answers, at.FIELD_SHIFT, _NUMBER_BITS)
        names = self.tables.names(self.body)
        self.is_event = {b"specversion", b"type"}.issubset(names) and self.op in _ENVELOPE_OPS
        self.is_change = self.is_event or (b"op" in names and self.op in _ENVELOPE_OPS)
        self.holder = self._holder()
        self.row_role = self.body
        if self.is_change:
            self.row_role = at.BEFORE if self.op == at.OP_D else at.AFTER
        self.tracer = Tracer(self.tables)
        self.inner: dict[int, int] = {}

    def code(self) -> list[int]:
        """Return the program.

        Raises:
            _Asked, _Left, Unsteady, RecordError: there is none yet, or ever.
        """
        if self.op in (at.OP_TOMBSTONE, at.OP_IS_KEY):
            return self._skip(self._run(self.real)[0])
        real, told = self._run(self.real)
        if real.kind is not None:
            return self._skip(real)
        if self.op == at.OP_T:
            return self._truncate(told)
        schema, version = self._version(told)
        self._look_within(schema)
        self._ask_field(schema)
        if self.op == at.OP_D or (not self.is_change and self.key_answer == 0):
            self._ask_key()
        if self.learner.names_unavailable(self.nested_answer):
            self.tracer.deciding = forms_of(schema.placeholder)
        recorder, found = self._run(self._traced(self._kept(schema)))
        if recorder.kind is not None or (found.schema, found.version) != (schema.name, version.label):
            raise _Left
        if not version.key:
            self._ask_key()
        paths = self._key_paths(version)
        self._ask_change(paths)
        return self._sending(recorder, schema, version, paths)

    def _run(self, wrapped: Wrapped) -> tuple[RecordOutput, RecordContext]:
        recorder, found = RecordOutput(), _TracedContext("")
        written = self.learner.stand_ins.written(wrapped.value)
        self.reference.map_wrapped(dataclasses.replace(wrapped, position=""), found, recorder, written)
        return recorder, found

    def _skip(self, told: RecordOutput) -> list[int]:
        if told.kind is None:
            raise _Left
        return [at.SKIP, self.tables.counter("skip", str(told.kind))]

    def _truncate(self, told: RecordContext) -> list[int]:
        recorder, found = self._run(self._traced(()))
        if found.schema != told.schema:
            raise _Left
        sending = Sending(
            recorder.sent, "", self._times(), self._committed(), frozenset(), wants_key=False, is_event=self.is_event
        )
        return program_of(sending, self.tables, self.learner.output)

    def _version(self, found: RecordContext) -> tuple[SchemaPlan, VersionPlan]:
        schema = next(
            (schema.plan for schema in self.reference.schemas.values() if schema.plan.name == found.schema), None
        )
        version = next((one for one in schema.versions if one.label == found.version), None) if schema else None
        if schema is None or version is None:
            raise _Left
        return schema, version

    def _look_within(self, schema: SchemaPlan) -> None:
        """Ask for objects in the row that a version looks into, level by level."""
        parents = frozenset[str]().union(*self.reference.schemas[schema.name].versions.parents.values())
        if not parents:
            return
        if self.change_answer == at.CHANGED and schema.has_full_images:
            # The old row is sent whole then, and nobody asks for the objects in it.
            raise _Left
        level, role = 0, at.FIRST_NESTED
        objects = [(self.row_role, "")] if self.row_role == self.body or self._has(self.row_role) else []
        while objects:
            found = [
                (number, prefix, name)
                for owner, prefix in objects
                for number, name in self._named(owner)
                if path_of(prefix, name) in parents
            ]
            if not found:
                return
            if role + len(found) > at.ROLES:
                raise _Left
            slots = [slot for slot, _, _ in found]
            if level >= self.learner.level(self.nested_answer):
                raise _Asked(at.ASK_NESTED, len(slots), self.nested_answer, role, level << _LEVEL_SHIFT, *slots)
            objects = []
            for slot, prefix, name in found:
                self.inner[slot] = role if self.tables.is_scanned(role) else 0
                if self.inner[slot]:
                    objects.append((role, path_of(prefix, name) + "."))
                role += 1
            level += 1

    def _named(self, role: int) -> list[tuple[int, bytes]]:
        first = role * at.ROLE_BYTES
        return [(first + number * at.SLOT_BYTES, name) for number, name in enumerate(self.tables.names(role))]

    def _holder(self) -> int:
        """Return the role of the object that the rows are in: of a CloudEvent its data, or the payload there."""
        if not self.is_event:
            return self.body
        if not self.tables.is_scanned(at.DATA) or self.tables.parent(at.DATA) != self.body:
            return _NOWHERE
        return at.DATA_BODY if set(self.tables.names(at.DATA)) == {b"schema", b"payload"} else at.DATA

    def _has(self, role: int) -> bool:
        """Say whether the body has an object in a role; one of the wrapper may have its name."""
        holder = self.holder if role in (at.BEFORE, at.AFTER) else self.body
        return self.tables.is_scanned(role) and self.tables.parent(role) == holder

    def _slot(self, role: int, name: str) -> int:
        if not (role in (self.body, at.TOP) or self._has(role)):
            return -1
        return next((slot for slot, found in self._named(role) if found.decode() == name), -1)

    def _kept(self, schema: SchemaPlan) -> tuple[bytes, ...]:
        field = split(schema.version_field) if schema.version_field else ()
        return tuple(name.encode() for name in field[:1])

    def _ask_field(self, schema: SchemaPlan) -> None:
        field = split(schema.version_field) if schema.version_field else ()
        slot = self._slot(self.row_role, field[0]) if field else -1
        if slot >= 0 and len(field) > 1:
            raise _Left
        if slot >= 0 and not self.field_answer:
            raise _Asked(at.ASK_FIELD, slot)

    def _ask_key(self) -> None:
        if self.key_answer == 0 and self.tables.get(at.S_WRAPPER):
            raise _Asked(at.ASK_KEY)

    def _key_role(self) -> int:
        """Return the role that holds the columns of the message key, -1 when there is none."""
        if self.key_answer <= at.KEY_NONE:
            return -1
        return at.KEY_BODY if self.key_answer & at.IN_PAYLOAD else at.KEY

    def _key_paths(self, version: VersionPlan) -> tuple[str, ...]:
        role = self._key_role()
        given = tuple(escape(name.decode()) for name in self.tables.names(role)) if role >= 0 else ()
        paths = version.key or given
        if any(len(split(path)) > 1 for path in paths) and (given or self.op == at.OP_U):
            raise _Left
        return paths

    def _ask_change(self, paths: Sequence[str]) -> None:
        if self.op != at.OP_U or not self.is_change or self.change_answer or not paths:
            return
        if not self._has(at.BEFORE) or not self.tables.names(at.BEFORE):
            return
        names = [split(path)[0] for path in paths]
        pairs = [(self._slot(at.BEFORE, name), self._slot(at.AFTER, name)) for name in names]
        if all(old >= 0 for old, _ in pairs):
            raise _Asked(at.ASK_CHANGE, len(pairs), *(slot for pair in pairs for slot in pair))

    def _traced(self, kept: tuple[bytes, ...]) -> Wrapped:
        value = self._flat(kept)
        if self.is_change:
            rows = self._rows(kept)
            value = self._event(rows) if self.is_event else self._envelope(rows)
        if self.body == at.INNER:
            value = self.tracer.with_schema(self.tables.parent(at.INNER), value)
        role = self._key_role()
        key = self.tracer.object_of(role, lambda _name, slot, _value: traced(slot)) if role >= 0 else None
        stamp = self._slot(at.TOP, "timestamp") if self.tables.get(at.S_WRAPPER) else -1
        return dataclasses.replace(
            self.real, value=value, key=key, timestamp=traced(stamp) if stamp >= 0 else b"", is_checked=True
        )

    def _rows(self, kept: tuple[bytes, ...]) -> dict[int, bytes]:
        rows: dict[int, bytes] = {}
        for role in (at.BEFORE, at.AFTER):
            if self._has(role):
                is_row = role == self.row_role
                rows[role] = self.tracer.row(role, kept if is_row else (), self.inner if is_row else {})
        if self.op == at.OP_U and self.change_answer == at.UNCHANGED:
            rows[at.BEFORE] = b"null"
        return rows

    def _event(self, rows: dict[int, bytes]) -> TracedObject:
        data: bytes = b"null"
        if self.holder != _NOWHERE and self.tables.is_scanned(self.holder):
            data = self.tracer.envelope(self.holder, rows)
        if self.holder == at.DATA_BODY:
            data = self.tracer.with_schema(at.DATA, data)
        return self.tracer.event(self.body, data)

    def _envelope(self, rows: dict[int, bytes]) -> TracedObject:
        if self._has(at.SOURCE):
            rows[at.SOURCE] = self.tracer.source()
        if self._has(at.TRANSACTION):
            rows[at.TRANSACTION] = self.tracer.row(at.TRANSACTION, (), {})
        return self.tracer.envelope(self.body, rows)

    def _flat(self, kept: tuple[bytes, ...]) -> TracedObject:
        deciding = [*kept, b"__op", b"__deleted", *self._snapshot_of_row()]
        if self.op in (at.OP_BEGIN, at.OP_END):
            deciding.append(b"status")
        return self.tracer.row(self.body, deciding, self.inner)

    def _snapshot_of_row(self) -> Sequence[bytes]:
        """Return the name of the metadata of a flattened row that speaks of a snapshot; empty where none does."""
        names = self.tables.names(self.body)
        return [name for name in (b"__source_snapshot", b"__snapshot") if name in names][:1]

    def _committed(self) -> int:
        """Return the slot of the time of the commit, below 0 where there is none."""
        if self.is_event:
            return self._slot(self.body, "iodebeziumtsms")
        return self._slot(at.SOURCE, "ts_ms") if self.is_change else self._slot(self.body, "__source_ts_ms")

    def _times(self) -> list[int]:
        names = [(self.body, "__ts_ms"), (self.body, "__source_ts_ms")]
        if self.is_event:
            names = [(self.body, "iodebeziumtsms")]
        elif self.is_change:
            names = [(self.body, "ts_ms"), (at.SOURCE, "ts_ms")]
        candidates = [*names, *([(at.TOP, "timestamp")] if self.tables.get(at.S_WRAPPER) else [])]
        return [slot for role, name in candidates if (slot := self._slot(role, name)) >= 0]

    def _sending(
        self, recorder: RecordOutput, schema: SchemaPlan, version: VersionPlan, paths: Sequence[str]
    ) -> list[int]:
        is_delete = bool(recorder.sent) and all(sent.layout.kind.op == "d" for sent in recorder.sent)
        is_full = schema.has_full_images and (self.row_role == self.body or self._has(self.row_role))
        sending = Sending(
            sent=recorder.sent,
            version=version_name(schema.name, version.label),
            times=self._times(),
            committed=self._committed(),
            forms=forms_of(schema.placeholder),
            is_event=self.is_event,
            wants_key=is_delete and self._key_role() < 0 and not is_full and bool(paths),
        )
        return program_of(sending, self.tables, self.learner.output)


def _bits(number: int, shift: int, width: int) -> int:
    return (number >> shift) & ((1 << width) - 1)
