"""Schemas from registries, databases and topics, by address or by profile: what is offered, and what is read.

An address stands for itself as long as nobody asks for a login; everything else is in a profile (``@NAME``). Of topics
the records are read: a few for people to look at, and enough for readers to tell schemas and versions by. The client of
Kafka is loaded when it is needed first.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.project.reader_result import ReaderResult, SkippedSource
from metl_gui.core.project.source_formats import Format
from metl_gui.core.project.writer_schemas import is_registry_id
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.engine.sources.batches import FirstRecord, first_records
from metl_gui.errors import SchemaError, UserError
from metl_gui.registry.addresses import DatabasePlace, is_database, is_registry
from metl_gui.registry.files import sources
from metl_gui.values import Value
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.profiles.saved_profiles import SIGN, find_database, find_profile, find_registry, kafka_servers

if TYPE_CHECKING:
    from metl_gui.registry.remote.client import Registry
    from metl_gui.registry.remote.registry_reader import SourceCursor


_PREFIXES = (SIGN, "profile:")


class ImportFilter(Value):
    """What is wanted of a registry or a database, or is said of files of SQL.

    Args:
        only: patterns of subjects, or of tables with or without their schema; none for everything.
        prefix: what topics begin with (Debezium's ``topic.prefix``), put before the names of tables.
        ids: of a registry exactly what messages call by these (``WireSchema.id``), whatever the patterns say.
    """

    only: tuple[str, ...] = ()
    prefix: str = ""
    ids: tuple[str, ...] = ()


EVERYTHING = ImportFilter()


class Offer(Value):
    """One thing that a registry or a database has, as lists show it.

    Args:
        name: the subject with its group, or the table with its schema; good as a pattern of a ``ImportFilter``.
        kind: ``AVRO``, ``JSON`` and so on; ``table`` of a database; empty where the registry does not say.
        changed: when it was changed last, as the registry writes it; empty where it does not say.
        comment: what people wrote of it.
        is_readable: whether it can be imported.
        group: that the subject is in; empty for none, and of tables.
    """

    name: str
    kind: str = ""
    changed: str = ""
    comment: str = ""
    is_readable: bool = True
    group: str = ""


class OfferedVersion(Value):
    """One version of a subject, as lists show it.

    Args:
        label: its name.
        created: when, as the registry writes it; empty where it does not say.
        why_not: why it is not imported; empty when it is.
    """

    label: str
    created: str = ""
    why_not: str = ""


def is_remote(source: object) -> bool:
    """Return whether a source is a registry, a database, or a profile."""
    text = source.strip() if isinstance(source, str) else ""
    return text.startswith(_PREFIXES) or is_registry(text) or is_database(text)


def check_source(source: str) -> None:
    """Refuse what is neither a registry nor a database; nobody is asked.

    Raises:
        UserError: the address cannot be read, holds a password, or the profile will not do.
    """
    if not is_remote(source):
        raise SchemaError(
            f"{source} is no registry and no database.",
            hint="Name a profile, as @NAME (metl profile list shows them), or an address.",
        )
    if _is_of_database(source):
        database_of(source)
    else:
        find_registry(_target(source))


def parse_ids(text: str) -> tuple[str, ...]:
    """Read ids with commas between, as messages and what was set aside name them: numbers, or GUIDs.

    Raises:
        SchemaError: one of them can be no id.
    """
    ids = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",")))
    wrong = next((id_ for id_ in ids if not is_registry_id(id_)), None)
    if wrong is not None:
        raise SchemaError(
            f"{wrong!r} is no id of a registry.", hint="Write numbers (7, content:7, global:7) or GUIDs, as in 7,9."
        )
    return ids


def read_remote(source: str, choice: ImportFilter = EVERYTHING, watch: Watch = UNWATCHED) -> ReaderResult:
    """Read what is wanted of a registry or a database; what cannot be read is refused with a reason.

    Raises:
        RunCancelled: somebody stopped it.
    """
    try:
        return read_now(source, choice, watch)
    except UserError as error:
        return ReaderResult(refused=(SkippedSource(_shown(source), str(error)),))


def read_now(source: str, choice: ImportFilter = EVERYTHING, watch: Watch = UNWATCHED) -> ReaderResult:
    """Read what is wanted of a registry or a database.

    Raises:
        ServiceUnavailableError: it does not answer now.
        UserError: it refuses us, or the address or profile will not do.
    """
    from metl_gui.registry.remote.catalogue import read_catalogue
    from metl_gui.registry.remote.registry_reader import read_ids, read_registry

    if _is_of_database(source):
        place = database_of(source, choice)
        if choice.ids:
            raise SchemaError(f"{place.shown} is a database.", "Its tables have no ids.", "Name a registry.")
        watch.step(f"Asking {place.shown} for its tables")
        return read_catalogue(place, choice.only)
    with _registry(source, watch) as registry:
        told = partial(_step, watch)
        return read_ids(registry, choice.ids, told) if choice.ids else read_registry(registry, choice.only, told)


def read_new(
    source: str,
    choice: ImportFilter,
    mark: SourceCursor | None,
    watch: Watch = UNWATCHED,
    known: frozenset[str] = frozenset(),
) -> tuple[ReaderResult, SourceCursor]:
    """Read what is new in a registry or a database since a mark, everything that is wanted without one.

    Args:
        source: its address, or a profile.
        choice: what of it.
        mark: of the look before.
        watch: progress and cancel.
        known: registry ids of what need not be read again without a mark.

    Raises:
        ServiceUnavailableError: it does not answer now.
        UserError: it refuses us, or the address or profile will not do.
    """
    from metl_gui.registry.remote.registry_reader import new_in_database, new_in_registry

    if _is_of_database(source):
        return new_in_database(database_of(source, choice), choice.only, mark)
    with _registry(source, watch) as registry:
        told = partial(_step, watch)
        return new_in_registry(registry, choice.only, mark, told, known)


def offers(source: str, watch: Watch = UNWATCHED) -> list[Offer]:
    """List what a registry or a database has.

    Raises:
        UserError: it refuses us or does not answer, or the address or profile will not do.
        RunCancelled: somebody stopped it.
    """
    from metl_gui.registry.remote.catalogue import list_tables
    from metl_gui.registry.remote.registry_reader import READ_KINDS

    if _is_of_database(source):
        tables = list_tables(database_of(source))
        return [Offer(table.shown, "table", comment=table.comment) for table in tables if not table.is_partition]
    with _registry(source, watch) as registry:
        found: list[Offer] = []
        for subject in registry.subjects():
            if not subject.is_usable:
                continue
            watch.step(f"{len(found) + 1:,} subjects of {registry.place.shown}")
            readable = subject.kind in READ_KINDS
            found.append(Offer(subject.shown, subject.kind, subject.changed, "", readable, subject.group))
        return sorted(found, key=lambda offer: offer.name)


def versions_of(source: str, offer: Offer, watch: Watch = UNWATCHED) -> list[OfferedVersion]:
    """List the versions of a subject, in their order; a table has none but what it is now.

    Raises:
        UserError: the registry refuses us or does not answer, or the address or profile will not do.
    """
    from metl_gui.registry.remote.client import Subject

    if _is_of_database(source):
        return []
    with _registry(source, watch) as registry:
        name = offer.name.removeprefix(f"{offer.group}/") if offer.group else offer.name
        found = registry.versions(Subject(offer.group, name, offer.kind, offer.changed))
        return [OfferedVersion(one.label, one.created, one.state.lower()) for one in found]


def database_of(source: str, choice: ImportFilter = EVERYTHING) -> DatabasePlace:
    """Return the database that an address or a profile names, with what a choice says of it.

    Raises:
        UserError: the address or profile will not do.
    """
    place = find_database(_target(source))
    return msgspec.structs.replace(place, prefix=choice.prefix) if choice.prefix else place


@contextmanager
def _registry(source: str, watch: Watch) -> Iterator[Registry]:
    from metl_gui.registry.remote.http import RegistryConnection
    from metl_gui.registry.remote.registry_apis import open_registry

    with RegistryConnection(find_registry(_target(source)), lambda: watch.is_cancelled) as web:
        yield open_registry(web)


def _step(watch: Watch, text: str, done: int, total: int) -> None:
    watch.step(text, done, total or None)


def _target(source: str) -> str:
    """Return an address as it is, a profile with the sign before its name."""
    text = source.strip()
    prefix = next((prefix for prefix in _PREFIXES if text.startswith(prefix)), None)
    return text if prefix is None else f"{SIGN}{text.removeprefix(prefix)}"


def _is_of_database(source: str) -> bool:
    """Whether a source is a database; other profiles than those of registries and databases are refused by name."""
    target = _target(source)
    if not target.startswith(SIGN):
        return is_database(target)
    profile = find_profile(target)
    if profile.kind not in (ProfileKind.REGISTRY, ProfileKind.POSTGRESQL):
        raise SchemaError(
            f"{target} holds no schemas.",
            f"It leads to {profile.target}.",
            "Name a profile of a registry or of a PostgreSQL database.",
        )
    return profile.kind is ProfileKind.POSTGRESQL


def _shown(source: str) -> str:
    """Return a source without a login that somebody may have written into it."""
    head, sign, tail = source.rpartition("@")
    scheme = head.partition("://")
    return f"{scheme[0]}://{tail}" if sign and scheme[1] else source


_MOST_READ = 200_000
_TOLD_EVERY = 1000
_SUFFIX = ".jsonl"


def records_to_see(source: str, most: int, most_of_each: int | None = None) -> Iterator[FirstRecord]:
    """Yield the first records of files or topics.

    Args:
        source: a file, a folder, a pattern, or topics.
        most: how many in all.
        most_of_each: how many of each file or partition; by default as many as are left, of partitions their share.

    Raises:
        RunError: there is no such source, or it cannot be read.
    """
    if not is_kafka(source):
        yield from first_records(source, most, most_of_each)
        return
    from metl_gui.engine.sources.first_messages import first_messages

    for found in first_messages(kafka_servers(source), source, most, most_of_each):
        yield found.record


def read_topics(source: str, format_: Format, watch: Watch = UNWATCHED) -> ReaderResult:
    """Read which schemas and versions the records of topics show; of long topics those at the beginning.

    Args:
        source: topics by name or pattern.
        format_: how to read the records.
        watch: progress and cancel.

    Raises:
        RunError: servers do not answer or refuse, or a topic is not there.
        RunCancelled: it was cancelled.
    """
    from metl_gui.engine.sources.first_messages import first_messages

    with tempfile.TemporaryDirectory(prefix="metl-topics-") as folder, ExitStack() as files:
        opened: dict[str, IO[bytes]] = {}
        for number, found in enumerate(first_messages(kafka_servers(source), source, _MOST_READ)):
            if not number % _TOLD_EVERY:
                watch.step(f"Reading {found.topic}", number)
            if found.topic not in opened:
                opened[found.topic] = files.enter_context((Path(folder) / f"{found.topic}{_SUFFIX}").open("wb"))
            opened[found.topic].write(found.record.raw + b"\n")
        files.close()
        watch.step("Telling schemas and versions apart")
        read = sources.read([folder], format_) if opened else ReaderResult()
    return _named(read)


def _named(read: ReaderResult) -> ReaderResult:
    """Name the topics where the files that stood for them are named."""

    def topic(text: str) -> str:
        name, suffix, rest = text.partition(_SUFFIX)
        return f"{name.rpartition('/')[2]}{rest}" if suffix else text

    return replace(
        read,
        declarations=tuple(replace(one, source=topic(one.source)) for one in read.declarations),
        refused=tuple(replace(one, source=topic(one.source)) for one in read.refused),
    )
