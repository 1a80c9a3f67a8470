"""Everything that is wanted of a registry, to a reading: all versions in order, and what they refer to.

Several connections ask at once, as each schema is asked for by itself.

What is new in a registry or a database since somebody looked last (``SourceCursor``) is asked for as little as the API
allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial

import msgspec
from msgspec.structs import replace

from metl_gui.core.project.reader_result import ReaderResult, SkippedSource, order_versions
from metl_gui.errors import SchemaError, ServiceUnavailableError
from metl_gui.registry.addresses import DatabasePlace
from metl_gui.registry.remote.catalogue import read_catalogue
from metl_gui.registry.remote.client import Listed, Registry, Subject
from metl_gui.registry.remote.registry_apis import Apicurio, Newest
from metl_gui.registry.schemas.avro import AvroDocument, EntryGathering
from metl_gui.registry.schemas.registry_entries import RegistryEntry, SchemaReference
from metl_gui.values import Value

AT_ONCE = 8
"""So many questions are asked at once: enough to hide the way, too few to trouble a registry."""

MAX_REFERRED = 20_000
READ_KINDS = frozenset({"", "AVRO", "JSON", "KCONNECT"})
_VALUE, _KEY = "-value", "-key"
_UNREAD = {
    "PROTOBUF": "It is a Protobuf schema, which is not read. Import JSON messages of its topic instead.",
    "DISABLED": "It is disabled in the registry.",
    "DRAFT": "It is a draft, which may still change.",
}

_NOTHING = "Nothing in it has this id. Look whether it is the right registry."

Told = Callable[[str, int, int], None]
"""Told what is done, how much of it and of how much; may stop by raising."""


class _Fetched(Value):
    """What came of asking for one version."""

    subject: Subject
    version: Listed
    entry: RegistryEntry | None
    refusal: str = ""


def matching(subjects: Iterable[Subject], patterns: Sequence[str]) -> list[Subject]:
    """Choose subjects by patterns (``*`` and ``?``) of their names, with or without the group; all without patterns.

    The key of a topic comes with its value.
    """
    listed = sorted(subjects)
    chosen = set(fitting(listed, patterns))
    values = {(one.group, one.name.removesuffix(_VALUE)) for one in chosen if one.name.endswith(_VALUE)}
    keys = {one for one in listed if one.name.endswith(_KEY) and (one.group, one.name.removesuffix(_KEY)) in values}
    return [one for one in listed if one in chosen or one in keys]


def fitting(subjects: Iterable[Subject], patterns: Sequence[str]) -> list[Subject]:
    """Choose subjects by patterns; all without patterns."""
    return [one for one in subjects if not patterns or any(_fits(one, pattern) for pattern in patterns)]


def with_keys(subjects: Iterable[Subject]) -> list[Subject]:
    """Add to the values of topics what their keys would be called; what is not there has no versions."""
    chosen = set(subjects)
    values = [one for one in chosen if one.name.endswith(_VALUE)]
    keys = {Subject(one.group, one.name.removesuffix(_VALUE) + _KEY) for one in values}
    there = {(one.group, one.name) for one in chosen}
    return sorted(chosen | {one for one in keys if (one.group, one.name) not in there})


def read_registry(registry: Registry, patterns: Sequence[str] = (), told: Told = lambda *_: None) -> ReaderResult:
    """Read all versions of the subjects that fit some patterns.

    What cannot be read of one subject is refused and stops no other; a registry that goes away stops all.

    Raises:
        SchemaError: the registry does not list what it holds.
        ServiceUnavailableError: it does not answer any longer.
    """
    told(f"Asking {registry.place.shown} what it holds", 0, 0)
    subjects = matching(registry.subjects(), patterns)
    if not subjects:
        wanted = f"No subject fits {', '.join(patterns)}." if patterns else "It holds no schemas yet."
        return ReaderResult(refused=(SkippedSource(registry.place.shown, wanted),))
    return read_subjects(registry, subjects, told)


def read_subjects(registry: Registry, subjects: Sequence[Subject], told: Told = lambda *_: None) -> ReaderResult:
    """Read all versions of some subjects.

    Raises:
        ServiceUnavailableError: the registry does not answer.
    """
    shown, gathering = registry.place.shown, EntryGathering()
    readable = [one for one in subjects if not _is_refused(one, shown, gathering)]
    with _asking() as pool:
        wanted = []
        listed = pool.map(partial(listed_versions, registry), readable)
        for done, (subject, (versions, why)) in enumerate(zip(readable, listed, strict=True), 1):
            told(f"Listing versions in {shown}", done, len(readable))
            wanted += [(subject, version) for version in versions]
            if why:
                gathering.refuse(SkippedSource(f"{shown} ({subject.shown})", why))
        return _read(registry, wanted, gathering, told, pool)


def read_ids(registry: Registry, ids: Sequence[str], told: Told = lambda *_: None) -> ReaderResult:
    """Read what messages call by some ids: the versions that have one, or the bare schema where none is told of.

    Raises:
        ServiceUnavailableError: the registry does not answer.
    """
    shown, gathering = registry.place.shown, EntryGathering()
    wanted: dict[tuple[Subject, Listed], None] = {}
    bare = []
    with _asking() as pool:
        for done, (id_, found) in enumerate(zip(ids, pool.map(partial(_having, registry), ids), strict=True), 1):
            told(f"Asking {shown} for ids", done, len(ids))
            match found:
                case str():
                    gathering.refuse(SkippedSource(f"{shown} (id {id_})", found))
                case RegistryEntry():
                    bare.append(found)
                case _:
                    wanted |= {pair: None for pair in found if not _is_refused(pair[0], shown, gathering)}
        reading = _read(registry, list(wanted), gathering, told, pool, bare)
    return replace(reading, declarations=order_versions(reading.declarations))


def listed_versions(registry: Registry, subject: Subject) -> tuple[list[Listed], str]:
    """List the versions of a subject; what is wrong with it is told beside them.

    Raises:
        ServiceUnavailableError: the registry does not answer.
    """
    try:
        return registry.versions(subject), ""
    except ServiceUnavailableError:
        raise
    except SchemaError as error:
        return [], str(error)


@contextmanager
def _asking() -> Iterator[ThreadPoolExecutor]:
    """Make threads that ask; what was not asked yet when something goes wrong never is."""
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="registry") as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _is_refused(subject: Subject, shown: str, gathering: EntryGathering) -> bool:
    """Refuse a subject that cannot be read whatever its versions are."""
    if not subject.is_usable:
        gathering.refuse(
            SkippedSource(f"{shown} ({subject.shown[:80]!r})", "Its name cannot be used: too long, or no text.")
        )
    elif subject.kind not in READ_KINDS:
        gathering.refuse(SkippedSource(f"{shown} ({subject.shown})", _unread(subject.kind)))
    return not subject.is_usable or subject.kind not in READ_KINDS


def _read(
    registry: Registry,
    wanted: Sequence[tuple[Subject, Listed]],
    gathering: EntryGathering,
    told: Told,
    pool: ThreadPoolExecutor,
    bare: Iterable[RegistryEntry] = (),
) -> ReaderResult:
    """Read some versions, schemas of which nothing else is known, and what they refer to."""
    shown, entries = registry.place.shown, list(bare)
    for done, fetched in enumerate(pool.map(lambda pair: _fetch(registry, *pair), wanted), 1):
        told(f"Reading {fetched.subject.name} {fetched.version.label}", done, len(wanted))
        if fetched.entry is None:
            gathering.refuse(SkippedSource(_named(shown, fetched), fetched.refusal))
        else:
            entries.append(fetched.entry)
    referred = _referred(registry, entries, pool)
    gathering.add(AvroDocument(shown, "", entry, True) for entry in entries)
    return replace(gathering.result(referred), has_counted_labels=True)


def _having(registry: Registry, id_: str) -> list[tuple[Subject, Listed]] | RegistryEntry | str:
    """Return the versions that have an id, the bare schema where none is told of, or why there is nothing."""
    try:
        return registry.using(id_) or registry.by_id(id_) or _NOTHING
    except ServiceUnavailableError:
        raise
    except SchemaError as error:
        return str(error)


def _fetch(registry: Registry, subject: Subject, version: Listed) -> _Fetched:
    """Fetch a version; what is wrong with it is told with it."""
    if version.state or version.kind not in READ_KINDS:
        return _Fetched(subject, version, None, _unread(version.state or version.kind))
    try:
        entry = registry.entry(subject, version)
        if entry.kind not in READ_KINDS:
            return _Fetched(subject, version, None, _unread(entry.kind))
        return _Fetched(subject, version, entry)
    except ServiceUnavailableError:
        raise
    except SchemaError as error:
        return _Fetched(subject, version, None, str(error))


def _referred(registry: Registry, entries: Sequence[RegistryEntry], pool: ThreadPoolExecutor) -> list[RegistryEntry]:
    """Fetch what entries refer to and what that refers to, each once; what is missing is left to their reader."""
    known = {(entry.group, entry.subject, entry.version or "") for entry in entries}
    waiting = {reference: None for entry in entries for reference in entry.references}
    found: list[RegistryEntry] = []
    asked: set[SchemaReference] = set()
    while waiting and len(asked) < MAX_REFERRED:
        now = [one for one in waiting if one not in asked and (one.group, one.subject, one.version) not in known]
        asked.update(now)
        new = [entry for entry in pool.map(partial(_refer, registry), now) if entry is not None]
        found += new
        waiting = {reference: None for entry in new for reference in entry.references}
    return found


def _refer(registry: Registry, reference: SchemaReference) -> RegistryEntry | None:
    try:
        return registry.referred(reference)
    except ServiceUnavailableError:
        raise
    except SchemaError:
        return None


def _fits(subject: Subject, pattern: str) -> bool:
    """Whether a pattern fits a subject, with or without its group, or its topic."""
    return any(fnmatchcase(name, pattern) for name in (subject.name, subject.shown, subject.name.removesuffix(_VALUE)))


def _unread(kind: str) -> str:
    return _UNREAD.get(kind, f"It is of the kind {kind}, which is not read. Read are Avro, JSON Schema and Connect's.")


def _named(shown: str, fetched: _Fetched) -> str:
    return f"{shown} ({fetched.subject.shown} {fetched.version.label})"


class SourceCursor(Value):
    """What was there when somebody looked: by subject or table what changes when it gets another version.

    Args:
        known: of each subject the labels of its versions that can be read, of each table its fingerprint and key.
        newest: the version of the whole registry that was changed last, where it can be asked for that.
    """

    known: Mapping[str, object] = msgspec.field(default_factory=dict)
    newest: Newest | None = None


def new_in_registry(
    registry: Registry,
    patterns: Sequence[str],
    mark: SourceCursor | None,
    told: Told = lambda *_: None,
    known: frozenset[str] = frozenset(),
) -> tuple[ReaderResult, SourceCursor]:
    """Read the subjects that have changed since a mark, all of them without one.

    Args:
        registry: what is asked.
        patterns: of subjects; none for all.
        mark: of the look before.
        told: told what is done.
        known: ids of what need not be read again without a mark, where the registry lists ids.

    Raises:
        SchemaError: the registry refuses.
        ServiceUnavailableError: it does not answer.
    """
    if isinstance(registry, Apicurio) and registry.lists_newest:
        newest, changed = registry.newest(mark.newest if mark else None)
        now = SourceCursor(newest=newest)
        subjects = with_keys(fitting(registry.unknown(known) if mark is None else changed, patterns))
    else:
        subjects = matching(registry.subjects(), patterns)
        now = SourceCursor(_versions(registry, subjects))
        before = mark.known if mark is not None else {}
        changed = {one for one in subjects if now.known.get(one.shown) != before.get(one.shown)}
        subjects = with_keys(changed)
    return read_subjects(registry, subjects, told) if subjects else ReaderResult(), now


def new_in_database(
    place: DatabasePlace, patterns: Sequence[str], mark: SourceCursor | None
) -> tuple[ReaderResult, SourceCursor]:
    """Read the tables that have changed since a mark, all of them without one.

    Raises:
        SchemaError: the database refuses.
        ServiceUnavailableError: it does not answer.
    """
    reading = read_catalogue(place, patterns)
    now = SourceCursor({one.name: (one.fingerprint, one.key) for one in reading.declarations})
    if mark is None:
        return reading, now
    changed = tuple(one for one in reading.declarations if mark.known.get(one.name) != now.known[one.name])
    return replace(reading, declarations=changed), now


def _versions(registry: Registry, subjects: Sequence[Subject]) -> dict[str, object]:
    """Return what each subject has; of one that is refused the reason, which its reading tells."""
    readable = [one for one in subjects if one.kind in READ_KINDS]
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="registry") as pool:
        listed = pool.map(partial(listed_versions, registry), readable)
        return {
            one.shown: why or tuple((version.label, version.state) for version in versions)
            for one, (versions, why) in zip(readable, listed, strict=True)
        }
