"""Messages in Parquet, as runs write them: what a file must have to be staged, and its rows in batches.

A file has the messages of one entity version (``sinks.parquet``). Which one, its metadata says, or the folders that it
lies in, where another program wrote it anew. What it has not is said before anything is staged, with the way out.

Memory: a batch at a time; of a file, a row group as it is packed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import lt
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from metl_gui.engine.kernel.message_layout import Nested, tree_of
from metl_gui.engine.kernel.plan import EntityPlan, Plan, version_name
from metl_gui.engine.sinks.columns import column, digits_column
from metl_gui.engine.sinks.parquet import ENTITY_VERSION, NO_VERSION
from metl_gui.engine.sinks.parquet_parts import ENTITY
from metl_gui.engine.sinks.sink import folder_name
from metl_gui.errors import RunError
from metl_gui.values import Value

MAGIC = b"PAR1"
_BATCH_ROWS, _FEW_ROWS = 32_768, 64
_BATCH_BYTES = 16 << 20
_TEXT, _NUMBER = pa.string(), pa.int64()
_HEADS: dict[str, pa.DataType] = {
    "entity": _TEXT,
    "state": _NUMBER,
    "op": _TEXT,
    "key": _TEXT,
    "ts_ms": _NUMBER,
    "source.schema": _TEXT,
    "source.version": _TEXT,
    "source.position": _TEXT,
    "source.origin": _TEXT,
    "source.committed_at_ms": _NUMBER,
    "source.snapshot": pa.bool_(),
    "source.old_key": _TEXT,
    "source.publication": _NUMBER,
    "absent": pa.list_(_TEXT),
}
"""What every file has, beside the payload; ``absent`` came last."""

_READ = ("entity", "state", "op", "key", "ts_ms", "source", "payload", "absent", "digits")
_WAY_OUT = (
    "Have a run write the messages anew (metl run --format parquet), or load them as JSON lines (--format jsonl)."
)
_LACKS = "Messages in Parquet lack a column."
_REPAIR = "Nothing was loaded. Copy the file again, or leave it out of the source."


_Leaves: TypeAlias = dict[str, tuple[str, ...]]


class TypedBatch(NamedTuple):
    """Some rows of a file.

    Args:
        file: where they are from.
        first: number of the first one in the file.
        rows: the rows, with those of ``_READ`` that the file has.
        bytes_in: how much of the file they are, as it lies on disk.
    """

    file: TypedFile
    first: int
    rows: pa.RecordBatch
    bytes_in: int


class TypedFile(Value):
    """What a file says of itself.

    Args:
        path: where it lies.
        name: how positions call it.
        entity: whose messages it has.
        version: of the entity, ``None`` for truncates.
        size_bytes: its size.
        starts: where each of its row groups begins, in bytes; empty where they do not follow one another.
        leaves: the paths of the payload that it has, each with its names in the file.
        digits: the same of numbers as they were written.
    """

    path: str
    name: str
    entity: str
    version: str | None
    size_bytes: int
    starts: tuple[int, ...]
    leaves: Mapping[str, Sequence[str]]
    digits: Mapping[str, Sequence[str]]


def typed_file(path: str, name: str, plan: Plan) -> TypedFile:
    """Inspect the end of a file.

    Args:
        path: where it lies.
        name: how positions call it.
        plan: every entity version.

    Raises:
        RunError: it is no Parquet, no messages, of before, cut off, or has columns of other types.
    """
    with _in_words(path):
        about, size = pq.read_metadata(path), Path(path).stat().st_size
        schema = about.schema.to_arrow_schema()
    _check_heads(path, schema)
    entity, version = _version_of(path, schema, plan)
    found = next((one for one in plan.entities if (one.entity, one.version) == (entity, version)), None)
    leaves, digits = _checked_leaves(path, schema, found) if found is not None else ({}, {})
    starts = tuple(_start(about.row_group(at)) for at in range(about.num_row_groups))
    if not all(0 <= start < size for start in starts):
        raise _damaged(path, "its end says that it is longer")
    starts = starts if all(map(lt, starts, starts[1:])) else ()
    return TypedFile(path, name, entity, version, size, starts, leaves, digits)


def _start(group: Any) -> int:
    """Return where the bytes of a row group begin."""
    first = group.column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)


def _check_heads(path: str, schema: pa.Schema) -> None:
    """Refuse a file that is not of messages as runs write them now."""
    if any(_type_at(schema, [name]) is None for name in ("entity", "op", "source")):
        raise RunError("A Parquet file has no messages of a run.", f"{path} has other columns.", _WAY_OUT)
    if _type_at(schema, ["absent"]) is None:
        text = f"{path} does not say what its messages leave out (column absent), as those of earlier versions."
        raise RunError(_LACKS, text, _WAY_OUT)
    for dotted, wanted in _HEADS.items():
        _check_type(path, schema, dotted.split("."), dotted, wanted)


def _checked_leaves(path: str, schema: pa.Schema, plan: EntityPlan) -> tuple[_Leaves, _Leaves]:
    """Return the columns of a payload, which are of the types that the state gives them, and those of its digits."""
    wanted = {one.path: column(one, plan.sources).type for one in plan.columns}
    written = [one.path for one in plan.columns if digits_column(one, wanted[one.path], plan.sources) is not None]
    places = _places(list(wanted))
    # An attribute that came later is none of the messages of before, as with JSON.
    leaves = {name: place for name, place in places.items() if _type_at(schema, ("payload", *place)) is not None}
    if wanted and _type_at(schema, ["payload"]) is None:
        raise RunError(_LACKS, f"{path} has no column payload.", _WAY_OUT)
    for name, place in leaves.items():
        _check_type(path, schema, ("payload", *place), f"payload.{name}", wanted[name])
    digits = {name: place for name, place in _places(written).items() if name in leaves}
    for name, place in digits.items():
        _check_type(path, schema, ("digits", *place), f"digits.{name}", _TEXT)
    return leaves, digits


def _check_type(path: str, schema: pa.Schema, place: Sequence[str], name: str, wanted: pa.DataType) -> None:
    found = _type_at(schema, place)
    if found is None:
        raise RunError(_LACKS, f"{path} has no column {name}.", _WAY_OUT)
    if not _is_like(found, wanted):
        text = f"{path}: {name} is {found}, and not {wanted}."
        raise RunError("A column of messages in Parquet is of another type.", text, _WAY_OUT)


def _places(paths: Sequence[str]) -> _Leaves:
    """Return the names that lead to each of some paths where these are all the leaves."""

    def below(tree: Nested, above: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
        for name, under in tree.items():
            if isinstance(under, int):
                yield under, (*above, name)
            else:
                yield from below(under, (*above, name))

    return {paths[number]: names for number, names in sorted(below(tree_of(paths), ()))}


def _type_at(schema: pa.Schema, names: Sequence[str]) -> pa.DataType | None:
    """Return the type of a column, nested or not; ``None`` where there is none, or two."""
    fields: Any = schema
    type_: Any = None
    for name in names:
        at = fields.get_field_index(name) if hasattr(fields, "get_field_index") else -1
        if at < 0:
            return None
        type_ = fields.field(at).type
        fields = type_
    return type_  # type: ignore[no-any-return]  # the stubs do not know fields of structs


def _is_like(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether values of a type are those of another: of any unit of time, and short or long."""
    if pa.types.is_timestamp(found) and pa.types.is_timestamp(wanted):
        return (found.tz is None) == (wanted.tz is None)
    if pa.types.is_list(found) and pa.types.is_list(wanted):
        return _is_like(found.value_type, wanted.value_type)
    return found == wanted or (pa.types.is_large_string(found) and pa.types.is_string(wanted))


def _version_of(path: str, schema: pa.Schema, plan: Plan) -> tuple[str, str | None]:
    """Return the entity and the version whose messages a file has."""
    about = schema.metadata or {}
    if ENTITY in about and ENTITY_VERSION in about:
        return about[ENTITY].decode(), about[ENTITY_VERSION].decode() or None
    folders = Path(path).parts[:-1]
    for number, folder in enumerate(folders):
        label = folder.removeprefix("version=")
        if label == folder or not number:
            continue
        ours = [one for one in plan.entities if folder_name(one.entity) == folders[number - 1]]
        if label == NO_VERSION and ours:
            return ours[0].entity, None
        for one in ours:
            if folder_name(one.version) == label:
                return one.entity, one.version
    text = f"Neither {path} nor its folders name an entity and a version that the state has."
    known = ", ".join(version_name(one.entity, one.version) for one in plan.entities[:3])
    raise RunError(
        "It is not known whose messages a Parquet file has.",
        text,
        f"Leave it in folders like payment/version=2.0.0, as a run wrote it. The state has {known} ...",
    )


def typed_batches(file: TypedFile, start: int, stop: int) -> Iterator[TypedBatch]:
    """Yield the rows of those row groups of a file that begin in a range of its bytes.

    Raises:
        RunError: it cannot be read to its end.
    """
    with _in_words(file.path), pq.ParquetFile(file.path) as opened:
        yield from _groups(file, opened, start, stop)


def _groups(file: TypedFile, opened: pq.ParquetFile, start: int, stop: int) -> Iterator[TypedBatch]:
    about, names = opened.metadata, set(opened.schema_arrow.names)
    first = 0
    for number in range(about.num_row_groups):
        group = about.row_group(number)
        if start <= _start(group) < stop:
            packed = sum(group.column(at).total_compressed_size for at in range(group.num_columns))
            rows = max(min(_BATCH_ROWS, _BATCH_BYTES * group.num_rows // max(group.total_byte_size, 1)), _FEW_ROWS)
            read = [name for name in _READ if name in names]
            done = 0
            for batch in opened.iter_batches(rows, row_groups=[number], columns=read, use_threads=False):
                batch.validate(full=True)
                yield TypedBatch(file, first + done, batch, packed * batch.num_rows // max(group.num_rows, 1))
                done += batch.num_rows
            if done != group.num_rows:
                raise _damaged(file.path, f"{group.num_rows - done:,} of its rows are missing")
        first += group.num_rows


@contextmanager
def _in_words(path: str) -> Iterator[None]:
    """Say of a file what Arrow says of bytes."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _unread(path, error) from error


def _unread(path: str, error: Exception) -> RunError:
    if isinstance(error, OSError) and error.errno:
        text = f"{path}: {error.strerror or error}."
        return RunError("A source file cannot be read.", text, "Check that it exists and is readable.")
    try:
        with Path(path).open("rb") as file:
            is_parquet = file.read(len(MAGIC)) == MAGIC
    except OSError:
        is_parquet = True
    if not is_parquet:
        return RunError("A file is no Parquet.", f"{path} does not begin as Parquet does.", _REPAIR)
    return _damaged(path, str(error))


def _damaged(path: str, why: str) -> RunError:
    return RunError("A Parquet file is cut off or damaged.", f"{path} cannot be read to its end: {why}.", _REPAIR)
