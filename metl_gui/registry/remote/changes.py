"""What is new in a registry or a database since somebody looked last, asked for as little as the API allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

from metl_gui.registry.places import DatabasePlace
from metl_gui.registry.reading import Reading
from metl_gui.registry.remote.apicurio import Apicurio, Newest
from metl_gui.registry.remote.catalogue import read_catalogue
from metl_gui.registry.remote.client import Registry, Subject
from metl_gui.registry.remote.reading import (
    AT_ONCE,
    READ_KINDS,
    Told,
    fitting,
    listed_versions,
    matching,
    read_subjects,
    with_keys,
)


@dataclass(frozen=True, slots=True)
class Mark:
    """What was there when somebody looked: by subject or table what changes when it gets another version.

    Args:
        known: of each subject the labels of its versions that can be read, of each table its fingerprint and key.
        newest: the version of the whole registry that was changed last, where it can be asked for that.
    """

    known: Mapping[str, object] = field(default_factory=dict)
    newest: Newest | None = None


def new_in_registry(
    registry: Registry,
    patterns: Sequence[str],
    mark: Mark | None,
    told: Told = lambda *_: None,
    known: frozenset[str] = frozenset(),
) -> tuple[Reading, Mark]:
    """Read the subjects that have changed since a mark, all of them without one.

    Args:
        registry: what is asked.
        patterns: of subjects; none for all.
        mark: of the look before.
        told: told what is done.
        known: ids of what need not be read again without a mark, where the registry lists ids.

    Raises:
        SchemaError: the registry refuses.
        AwayError: it does not answer.
    """
    if isinstance(registry, Apicurio) and registry.lists_newest:
        newest, changed = registry.newest(mark.newest if mark else None)
        now = Mark(newest=newest)
        subjects = with_keys(fitting(registry.unknown(known) if mark is None else changed, patterns))
    else:
        subjects = matching(registry.subjects(), patterns)
        now = Mark(_versions(registry, subjects))
        before = mark.known if mark is not None else {}
        changed = {one for one in subjects if now.known.get(one.shown) != before.get(one.shown)}
        subjects = with_keys(changed)
    return read_subjects(registry, subjects, told) if subjects else Reading(), now


def new_in_database(place: DatabasePlace, patterns: Sequence[str], mark: Mark | None) -> tuple[Reading, Mark]:
    """Read the tables that have changed since a mark, all of them without one.

    Raises:
        SchemaError: the database refuses.
        AwayError: it does not answer.
    """
    reading = read_catalogue(place, patterns)
    now = Mark({one.name: (one.fingerprint, one.key) for one in reading.declarations})
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
