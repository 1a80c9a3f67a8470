"""Messages in Parquet as rows of histories, whole columns at once: the same rows as of the same messages in JSON.

A batch is checked and read as a whole. Where something in it does not fit, its halves are, and so on, until a message
stands alone, which is set aside by itself with the reason.

Cost: some passes over columns; no message becomes an object unless it is set aside.

Source: docs/reference/message.md, "Typed rows".
"""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute
from msgspec import Raw

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn
from metl_gui.core.runs.report import Tally
from metl_gui.engine.kernel.outcomes import SetAside, error_row
from metl_gui.engine.kernel.plan import EntityPlan, version_name
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.sinks.columns import TypedColumn
from metl_gui.engine.sinks.typed_rows import Misfit, refusal
from metl_gui.engine.staging.columns import history_columns, in_one_spelling, instants_of_ms
from metl_gui.engine.staging.messages import OTHER_ENTITY, StagedBatch, Stager
from metl_gui.engine.staging.rows import ABSENT, TIME_COLUMNS, MessageHeads, absent_columns, staged_rows
from metl_gui.engine.staging.typed_files import TypedBatch, TypedFile
from metl_gui.engine.staging.typed_values import history_values
from metl_gui.errors import RecordError
from metl_gui.formats.json_text import malformed

Array: TypeAlias = "pa.Array[Any]"
pc: Any = pyarrow.compute
"""Arrow's functions; the stubs know too little of them."""

_UNFIT = (ValueError, OverflowError, NotImplementedError, RecursionError, msgspec.MsgspecError)
"""What values raise that are none; Arrow's own errors of values are among them."""

_OPS = ("c", "r", "u", "d", "t")
_BETWEEN = "\0"
_text = pa.string()
_json = msgspec.json.Decoder(Raw).decode


class TypedStager(Stager):
    """Makes rows of histories of messages in Parquet; the arguments are those of any ``Stager``."""

    _reader: _FileReader | None = None

    def stage(self, found: TypedBatch) -> tuple[StagedBatch, Records]:
        """Stage some rows.

        Returns:
            What became of them, and what of them is set aside as records of JSON, in the order of ``set_aside``.
        """
        tally = Tally(read=found.rows.num_rows, bytes_in=found.bytes_in)
        staged, wrong = StagedBatch(tally), dict[int, RecordError]()
        file, history = found.file, self._histories.get(found.file.entity)
        if history is None and file.entity in self._known:
            tally.skipped, tally.by_skip = tally.read, {OTHER_ENTITY: tally.read} if tally.read else {}
        else:
            if self._reader is None or self._reader.file is not file:
                self._reader = _FileReader(self, file, history)
            tables = self._tables(self._reader, found.rows, 0, wrong)
            staged.tables.extend((file.entity, table) for table in tables)
            _count(tally, found.rows, tables, wrong)
            tally.by_entity = {file.entity: tally.mapped} if tally.mapped else {}
        records = self._set_aside(staged, found, wrong)
        return staged, records

    def plan_of(self, file: TypedFile) -> EntityPlan | None:
        """Return the attributes of the version that a file has; ``None`` where the state has no such version."""
        if file.version is None:
            return EntityPlan(file.entity, "") if file.entity in self._known else None
        return self._plans.get((file.entity, file.version))

    def _tables(
        self, reader: _FileReader, rows: pa.RecordBatch, first: int, wrong: dict[int, RecordError]
    ) -> list[pa.Table]:
        """Read rows; around those that cannot be read, ever fewer, whose errors are put into ``wrong``."""
        if not rows.num_rows:
            return []
        try:
            return [reader.table(rows)]
        except RecordError as error:
            reason = error
        except _UNFIT as error:
            reason = malformed(f"no canonical message: {error}")
        if rows.num_rows == 1:
            wrong[first] = reason
            return []
        middle = rows.num_rows // 2
        left = self._tables(reader, rows.slice(0, middle), first, wrong)
        return left + self._tables(reader, rows.slice(middle), first + middle, wrong)

    def _set_aside(self, staged: StagedBatch, found: TypedBatch, wrong: dict[int, RecordError]) -> Records:
        """Write the rows of what is set aside."""
        scalars = [found.rows.to_struct_array()[row] for row in wrong]
        raws = [msgspec.json.encode(_record(one), enc_hook=str) for one in scalars]
        records = Records.of(raws, found.file.name, [found.first + row for row in wrong])
        for at, (error, scalar) in enumerate(zip(wrong.values(), scalars, strict=True)):
            source = scalar["source"].as_py() or {}
            place = source.get("schema") or "", source.get("version") or "", records.position(at)
            row = error_row(error, self.state, place, raws[at])
            staged.set_aside.append(SetAside(at, error.reason, row))
        return records


class _FileReader:
    """Reads rows of one file; raises at the first that is no message of the state."""

    def __init__(self, stager: TypedStager, file: TypedFile, history: EntityHistory | None) -> None:
        self.stager, self.file, self.history = stager, file, history
        self.plan = stager.plan_of(file)
        self.absent: dict[str, list[str]] = {}
        self.kept = history_columns(self.plan, history) if self.plan is not None and history is not None else []
        self.hashed = history.hashed if history is not None else ()
        self.attributes = {one.path: one for one in self.plan.columns} if self.plan is not None else {}

    def table(self, rows: pa.RecordBatch) -> pa.Table:
        """Read rows.

        Raises:
            RecordError, ValueError: one of them is no message of the state, or does not fit.
        """
        history, plan = self.history, self.plan
        if history is None:
            raise malformed(f"no entity is called {self.file.entity}")
        if plan is None:
            raise malformed(f"no version is called {version_name(self.file.entity, self.file.version or '')}")
        source: Any = rows.column("source")
        heads = {name: rows.column(name) for name in ("entity", "state", "op", "key", "ts_ms")}
        heads |= {one.name: pc.struct_field(source, [one.name]) for one in source.type}
        heads = {name: one.cast(_text) if pa.types.is_large_string(one.type) else one for name, one in heads.items()}
        self._check(heads)
        patterns, which = self._patterns(rows.column("absent"))
        payload = self._payload(rows, plan, patterns, which)
        lists = pa.array([self._absent(history, pattern) for pattern in patterns], ABSENT)
        otherwise = pa.scalar(0, pa.int64()) if self.stager.is_production else heads["state"]
        made = MessageHeads(
            schema=heads["schema"],
            schema_version=heads["version"],
            entity_version=pa.repeat(pa.scalar(self.file.version, _text), rows.num_rows),
            op=heads["op"],
            publication=pc.coalesce(heads["publication"], otherwise),
            key=heads["key"],
            old_key=heads["old_key"],
            origin=heads["origin"],
            committed_at=self._instants("source.committed_at_ms", heads["committed_at_ms"], plan),
            seen_at=self._instants("ts_ms", heads["ts_ms"], plan),
            position=heads["position"],
            snapshot=heads["snapshot"],
            absent=lists.take(which),
        )
        return staged_rows(history, made, payload, self.stager.mask_key)

    def _check(self, heads: dict[str, Array]) -> None:
        """Refuse rows that are no messages.

        Raises:
            RecordError: one is none.
        """
        for name in ("state", "schema", "op", "entity"):
            if heads[name].null_count:
                raise malformed(f"no canonical message: its {name} is null")
        ops = pc.is_in(heads["op"], pa.array(_OPS))
        if not pc.all(ops, min_count=0).as_py():
            raise malformed(f"no canonical message: it is none of {', '.join(_OPS)}")
        if self.file.version is None and not pc.all(pc.equal(heads["op"], "t"), min_count=0).as_py():
            raise malformed("no canonical message: it names no version of its entity")
        if not pc.all(pc.equal(heads["entity"], self.file.entity), min_count=0).as_py():
            raise malformed(f"no canonical message: it is of another entity than its file, {self.file.entity}")
        for name in ("state", "publication"):
            if pc.any(pc.less(heads[name], 0)).as_py():
                raise malformed(f"no canonical message: its {name} is below 0")
        for name in ("key", "old_key"):
            if not pc.all(pc.starts_with(heads[name], "{"), min_count=0).as_py():
                raise malformed(f"no canonical message: its {name} is no object")

    def _patterns(self, absent: Array) -> tuple[list[str], Array]:
        """Return which lists of absent paths there are, each as one text, and which of them each row has."""
        if absent.null_count:
            raise malformed("no canonical message: it does not say what it leaves out")
        joined: Any = pc.binary_join(absent, _BETWEEN)
        found = joined.dictionary_encode()
        return found.dictionary.to_pylist(), found.indices

    def _absent(self, history: EntityHistory, pattern: str) -> list[str]:
        if pattern not in self.absent:
            left_out = set(pattern.split(_BETWEEN))
            carried = [path for path in self.file.leaves if path not in left_out]
            self.absent[pattern] = absent_columns(history, self.file.version, carried)
        return self.absent[pattern]

    def _payload(self, rows: pa.RecordBatch, plan: EntityPlan, patterns: list[str], which: Array) -> dict[str, Array]:
        """Read the attributes that the history keeps; what is absent is null, whatever stands in its column."""
        left_out = [set(pattern.split(_BETWEEN)) for pattern in patterns]
        made: dict[str, Array] = {}
        for kept, wanted in self.kept:
            if wanted.path not in self.file.leaves:
                continue
            values = pc.struct_field(rows.column("payload"), list(self.file.leaves[wanted.path]))
            names = self.file.digits.get(wanted.path)
            digits = pc.struct_field(rows.column("digits"), list(names)) if names is not None else None
            if any(wanted.path in paths for paths in left_out):
                is_carried = pa.array([wanted.path not in paths for paths in left_out]).take(which)
                values = pc.if_else(is_carried, values, pa.scalar(None, values.type))
                digits = pc.if_else(is_carried, digits, pa.scalar(None, _text)) if digits is not None else None
            try:
                if kept.type == "json":
                    _check_json(values)
                made[kept.name] = self._values(values, digits, kept, wanted.path)
            except _UNFIT as error:
                raise _misfit(plan, wanted, values, error) from error
        return made

    def _values(self, values: Array, digits: Array | None, kept: HistoryColumn, path: str) -> Array:
        plan = self.attributes[path]
        found = history_values(values, digits, plan, kept.type)
        return in_one_spelling(found, plan) if kept.name in self.hashed else found

    def _instants(self, name: str, found: Array, plan: EntityPlan) -> Array:
        """Read a time that messages say of themselves.

        Raises:
            RecordError: it is of no calendar.
        """
        try:
            return instants_of_ms(found)
        except _UNFIT as error:
            raise _misfit(plan, TIME_COLUMNS[name], found, error) from error


def _misfit(plan: EntityPlan, wanted: TypedColumn, values: Array, error: Exception) -> RecordError:
    """Return why a value does not fit: the first of these, which matters where it is the only one."""
    shown = [_plain(one) for one in values.drop_null().slice(0, 1)]
    text = msgspec.json.encode(shown[0], enc_hook=str) if shown else b"null"
    return RecordError("type_mismatch", refusal(plan, wanted, Misfit(0, text, error)))


def _check_json(values: Array) -> None:
    """Refuse texts that are no JSON.

    Raises:
        ValueError: one is none.
    """
    joined = pc.binary_join(pa.ListArray.from_arrays([0, len(values) - values.null_count], values.drop_null()), ",")
    _json(b"[%b]" % joined[0].as_py().encode())


def _record(scalar: Any) -> dict[str, Any]:
    """Return a row as a record for people: no message, as its values are not those of one."""
    found: dict[str, Any] = _plain(scalar)
    source = found["source"]
    found["key"] = _object(found["key"])
    if source is not None:
        found["source"] = source | {name: _object(source[name]) for name in ("origin", "old_key")}
    return found


def _object(text: str | None) -> Raw | None:
    """Return the object that a text is; nothing for what is none, of which nobody can tell what it holds."""
    content = (text or "").encode()
    try:
        _json(content)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return Raw(content) if content.startswith(b"{") else None


def _plain(scalar: Any) -> Any:
    """Return a value as JSON can have it; times that Python does not know as their numbers."""
    if not scalar.is_valid:
        return None
    if pa.types.is_struct(scalar.type):
        return {name: _plain(value) for name, value in scalar.items()}
    if pa.types.is_list(scalar.type):
        return [_plain(value) for value in scalar]
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        return scalar.value


def _count(tally: Tally, rows: pa.RecordBatch, tables: list[pa.Table], wrong: dict[int, RecordError]) -> None:
    """Count what became of the rows of an entity that is staged."""
    tally.set_aside = len(wrong)
    tally.by_reason = dict(Counter(one.reason for one in wrong.values()))
    tally.mapped = tally.messages_out = sum(table.num_rows for table in tables)
    tally.bytes_out = sum(table.nbytes for table in tables)
    source: Any = rows.column("source")
    names = ["schema", "version"]
    places = pa.table([pc.struct_field(source, [name]) for name in names], names).drop_null()
    counted = places.group_by(names).aggregate([([], "count_all")]).to_pylist()
    tally.by_version = {version_name(one["schema"], one["version"]): one["count_all"] for one in counted}
