"""Sample messages: taken over from runs and files, kept in the user's cache, counted, forgotten on demand.

They are kept beside their schemas; which schema and version a message belongs to is decided by the kernel's own rules.
The project gets only what values look like; samples themselves only of schemas that a person includes, and then without
masked values. ``sample_overview`` says how many samples there are of which schema and version, and what their values
look like. Source: docs/guide/running.md, "See at once what an edit does"; docs/reference/project-file.md.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from msgspec import MsgspecError
from msgspec.structs import replace

from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.project.masks import hidden_sources
from metl_gui.core.project.project_data import Gathered, IncludedSamples
from metl_gui.core.project.sample_profiles import SchemaProfile, without_masked
from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.core.project.version_tasks import without_masked as without_masked_forms
from metl_gui.core.runs.kafka import is_kafka
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.core.trees.paths import split
from metl_gui.engine.kernel.versions import value_at
from metl_gui.engine.mapping.preview import RecognizedRecord
from metl_gui.errors import ProjectError, RecordError
from metl_gui.formats.json_text import Members
from metl_gui.formats.value_profiles import Profiler, kind_of
from metl_gui.workbench.addresses import find_schema
from metl_gui.workbench.importing.remote_sources import records_to_see
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.masked_messages import Masks
from metl_gui.workbench.samples.cache import (
    MOST_OF_SCHEMA,
    MOST_SAMPLE_BYTES,
    KeptSample,
    SampleCache,
    decode_samples,
    encode_samples,
    forget_old_samples,
)
from metl_gui.workbench.samples.preview import previewer_of
from metl_gui.workbench.samples.run_records import first_results, first_set_aside
from metl_gui.workbench.session import Workbench

_log = logging.getLogger(__name__)
MOST_OF_VERSION = 40
"""So many samples of one schema version are kept."""

_LOOKED_AT, _OF_FILE = 20_000, 5_000
_OF_RUN, _OF_REASON = 1_000, 40
_ALIKE_HELD = 8
_ROWS_PROFILED = 2_000
_NO_VERSION = ""


class KeptSamples(JsonResult):
    """What came of keeping samples.

    Args:
        read: records that were looked at.
        kept: how many samples of them are kept now.
        schemas: names of the schemas that they belong to.
        no_schema: records that belong to no schema of the project, or are no change of a row.
        too_large: records that are longer than a sample may be.
        problem: why they could not be kept, empty when they could.
    """

    read: int
    kept: int
    schemas: tuple[str, ...]
    no_schema: int = 0
    too_large: int = 0
    problem: str = ""


def keep_samples(workbench: Workbench, source: str, watch: Watch = UNWATCHED) -> KeptSamples:
    """Keep messages of a file, a folder, a pattern or topics as samples.

    Raises:
        RunError: there is no such source, or it cannot be read.
        RunCancelled: it was stopped; nothing was kept.
    """

    def records() -> Iterator[tuple[bytes, str]]:
        for number, record in enumerate(records_to_see(source, _LOOKED_AT, _OF_FILE)):
            if not number % 200:
                watch.step("Looking at messages", number)
            yield record.raw if record.is_whole else b"", record.place

    return _keep(workbench, records(), source if is_kafka(source) else Path(source).name or source)


def keep_message(workbench: Workbench, raw: bytes, source: str = "pasted") -> KeptSamples:
    """Keep one message as a sample."""
    return _keep(workbench, [(raw, source)], source)


def keep_run_samples(workbench: Workbench, samples: Path, errors: str, run_id: str) -> KeptSamples:
    """Keep what a test run showed: records beside their messages, and some of those that it set aside.

    What cannot be read of it counts as not there: the run itself is done.
    """
    found: list[tuple[bytes, str]] = []
    try:
        found += [(each.incoming, each.place) for each in first_results(samples, _OF_RUN)]
        folders = sorted(Path(errors).glob("reason=*")) if errors else []
        for reason in (folder.name.removeprefix("reason=") for folder in folders):
            aside = first_set_aside(Path(errors), _OF_REASON, reason)
            found += [(each.incoming, each.position or "") for each in aside]
    except (OSError, ValueError, MsgspecError) as error:
        _log.warning("not all samples of run %s can be read: %s", run_id, error)
    return _keep(workbench, found, f"run {run_id}")


def forget_samples(workbench: Workbench) -> int:
    """Remove all samples of the project from the user's cache; of how many schemas there were some.

    Those of schemas that a person included stay in the project until they are excluded.
    """
    return SampleCache(workbench.project_id).forget()


def include_samples(workbench: Workbench, name: str) -> int:
    """Keep the samples of a schema in the project file too, from now on, without masked values; how many there are.

    It is a setting beside the states: undo does not take it back, excluding does.

    Raises:
        EditError: there is no such schema.
        ProjectLockedError: the project is open read only.
    """
    schema = find_schema(workbench.document, Side.EXTRACTION, name)
    samples = SampleCache(workbench.project_id).read(schema.id)
    hidden = _without_masked_values(workbench.document, schema, samples)
    workbench.kept.samples.include(schema.id, encode_samples(hidden), workbench.stamp())
    return len(hidden)


def exclude_samples(workbench: Workbench, name: str) -> bool:
    """Take the samples of a schema out of the project file again; whether there were any.

    Raises:
        EditError: there is no such schema.
        ProjectLockedError: the project is open read only.
    """
    return workbench.kept.samples.exclude(find_schema(workbench.document, Side.EXTRACTION, name).id)


def hide_in_included(workbench: Workbench) -> None:
    """Hide what is masked by now in the samples that the project file holds; does nothing in one open read only."""
    if not workbench.is_for_editing:
        return
    for schema_id in workbench.kept.samples.included():
        text = workbench.kept.samples.included_text(schema_id)
        hidden = hidden_in(workbench.document, schema_id, text)
        if hidden != text:
            workbench.kept.samples.include(schema_id, hidden, workbench.stamp())


def hidden_in(document: Document, schema_id: int, text: bytes) -> bytes:
    """Return included samples of a schema without what a document masks; as they are where it masks nothing of it."""
    schema = document.extraction.find_schema(schema_id)
    if schema is None or not hidden_sources(document, schema.name):
        return text
    samples = decode_samples(text, are_kept_long=True)
    return encode_samples(_without_masked_values(document, schema, samples))


def hidden_now(document: Document, thing: Gathered) -> Gathered:
    """Take out of what was gathered from messages what a document masks by now."""
    if isinstance(thing, IncludedSamples):
        return replace(thing, text=hidden_in(document, thing.schema_id, thing.text))
    if isinstance(thing, VersionTask):
        hidden = hidden_sources(document, thing.schema)
        return replace(thing, samples=without_masked_forms(thing.samples, hidden)) if hidden else thing
    schema = document.extraction.find_schema(thing.schema_id)
    return thing if schema is None else without_masked(thing, hidden_sources(document, schema.name))


def all_samples(workbench: Workbench, schema_id: int) -> tuple[KeptSample, ...]:
    """Read the samples of a schema: those of the cache, and those that only the project holds."""
    own = SampleCache(workbench.project_id).read(schema_id)
    if schema_id not in workbench.kept.samples.included():
        return own
    known = {(each.place, each.source, each.when_ms) for each in own}
    text = workbench.kept.samples.included_text(schema_id)
    carried = decode_samples(text, are_kept_long=True)
    return (*own, *(each for each in carried if (each.place, each.source, each.when_ms) not in known))


@dataclass(slots=True)
class _Gathered:
    """What is known of one schema while records come in."""

    schema: Schema
    samples: dict[tuple[str, str, str], deque[KeptSample]] = field(default_factory=dict)
    profilers: list[tuple[tuple[str, ...], Profiler]] = field(default_factory=list)

    def take(self, sample: KeptSample, row: Members | None) -> None:
        held = self.samples.setdefault((sample.version, sample.op, sample.shape), deque(maxlen=_ALIKE_HELD))
        held.append(sample)
        if row is None or (self.profilers and self.profilers[0][1].rows >= _ROWS_PROFILED):
            return
        for path, profiler in self.profilers:
            profiler.take(_value_at(row, path))


def _keep(workbench: Workbench, records: Iterable[tuple[bytes, str]], source: str) -> KeptSamples:
    forget_old_samples()
    document, now_ms = workbench.document, time.time_ns() // 1_000_000
    previewer = previewer_of(workbench)
    previewer.take(document)
    gathered: dict[int, _Gathered] = {}
    read = no_schema = too_large = 0
    for raw, place in records:
        read += 1
        if not 0 < len(raw) <= MOST_SAMPLE_BYTES:
            too_large += 1
            continue
        found = previewer.recognize(raw)
        if found is None:
            no_schema += 1
            continue
        of_schema = gathered.get(found.schema.id)
        if of_schema is None:
            of_schema = gathered[found.schema.id] = _begin(document, found.schema)
        of_schema.take(_sample_of(document, found, raw, place, source, now_ms), found.row.members)
    kept, problem = _write(workbench, list(gathered.values()), now_ms)
    names = tuple(sorted(each.schema.name for each in gathered.values()))
    return KeptSamples(read, kept, names, no_schema, too_large, problem)


def _begin(document: Document, schema: Schema) -> _Gathered:
    paths = dict.fromkeys(a.path for version in document.extraction.versions(schema.id) for a in version.attributes)
    return _Gathered(schema, profilers=[(split(path), Profiler(path)) for path in paths])


def _sample_of(
    document: Document, found: RecognizedRecord, raw: bytes, place: str, source: str, now_ms: int
) -> KeptSample:
    version = document.extraction.version(found.version).label if found.version is not None else _NO_VERSION
    shape = shape_of(found.row.members)
    facts: dict[str, str | int] = {"place": place, "op": found.row.op, "shape": shape, "version": version}
    return KeptSample.of(raw, when_ms=now_ms, source=source, **facts)


def shape_of(row: Members | None) -> str:
    """Tell rows apart by their members and the types of these, nulls included."""
    members = sorted((name, kind_of(raw)) for name, raw in (row or {}).items())
    return hashlib.blake2b(repr(members).encode(), digest_size=6).hexdigest()


def _value_at(row: Members, path: tuple[str, ...]) -> Any:
    try:
        return value_at(row, path)
    except RecordError:
        return None


def _write(workbench: Workbench, gathered: Sequence[_Gathered], now_ms: int) -> tuple[int, str]:
    """Keep what was gathered; how many samples of it stay, and why not all of it could be written."""
    cache, document = SampleCache(workbench.project_id), workbench.document
    kept, problem = 0, ""
    profiles = []
    included: frozenset[int] = frozenset()
    try:
        included = workbench.kept.samples.included()
    except ProjectError as error:
        problem = str(error)
    for each in gathered:
        schema = each.schema
        fresh = list(chain.from_iterable(each.samples.values()))
        stay = chosen((*fresh, *cache.read(schema.id)))
        if not cache.write(schema.id, stay):
            problem = f"Samples cannot be kept in {cache.folder}."
            continue
        new = {id(sample) for sample in fresh}
        kept += sum(id(sample) in new for sample in stay)
        attributes = tuple(profiler.profile() for _, profiler in each.profilers)
        profile = SchemaProfile(schema.id, max((p.rows for _, p in each.profilers), default=0), now_ms, attributes)
        if profile.rows:
            profiles.append(without_masked(profile, hidden_sources(document, schema.name)))
        if schema.id in included and workbench.is_for_editing:
            hidden = _without_masked_values(document, schema, stay)
            workbench.kept.samples.include(schema.id, encode_samples(hidden), workbench.stamp())
    try:
        if profiles:
            workbench.kept.samples.put_profiles(profiles)
    except ProjectError as error:
        problem = problem or str(error)
    return kept, problem


def chosen(samples: Iterable[KeptSample]) -> tuple[KeptSample, ...]:
    """Choose which samples stay: of each version the newest, as many different ones as there are.

    Order: the newest first within each version, versions in turn, so that what is cut off at the end is cut off
    from all of them.
    """
    by_version: dict[str, dict[tuple[str, str], list[KeptSample]]] = defaultdict(lambda: defaultdict(list))
    seen: set[str] = set()
    for sample in sorted(samples, key=lambda each: -each.when_ms):
        content = sample.raw_base64 or sample.raw or ""
        if content not in seen:
            seen.add(content)
            by_version[sample.version][sample.op, sample.shape].append(sample)
    versions = [_in_turn(list(groups.values()))[:MOST_OF_VERSION] for groups in by_version.values()]
    return tuple(_in_turn(versions)[:MOST_OF_SCHEMA])


def _in_turn(groups: Sequence[Sequence[KeptSample]]) -> list[KeptSample]:
    rows = zip_longest(*groups)
    return [sample for row in rows for sample in row if sample is not None]


def _without_masked_values(document: Document, schema: Schema, samples: Iterable[KeptSample]) -> list[KeptSample]:
    """Return copies of samples with masked values hidden; what cannot be read to find them is left out."""
    masks = Masks(document, schema.name)
    found = []
    for sample in samples:
        raw = masks.incoming(sample.incoming)
        if raw is not None:
            found.append(replace_raw(sample, raw))
    return found


def replace_raw(sample: KeptSample, raw: bytes) -> KeptSample:
    """Return a sample with other bytes."""
    facts: dict[str, str | int] = {"source": sample.source, "place": sample.place, "op": sample.op}
    facts |= {"shape": sample.shape, "version": sample.version}
    return KeptSample.of(raw, when_ms=sample.when_ms, **facts)


class SampleCount(JsonResult):
    """The samples of one version.

    Args:
        version: its label; empty for messages of no version that is known.
        samples: how many.
        shapes: how many different forms they have.
        ops: their operations.
        newest_ms: when the newest was kept (milliseconds since 1970).
    """

    version: str
    samples: int
    shapes: int
    ops: tuple[str, ...]
    newest_ms: int


class SchemaSamples(JsonResult):
    """The samples of one schema.

    Args:
        schema: its name.
        is_included: whether the project file holds them too.
        versions: by version.
        profile: what its values look like; ``None`` where none was kept.
    """

    schema: str
    is_included: bool
    versions: tuple[SampleCount, ...]
    profile: SchemaProfile | None = None

    def as_json(self) -> dict[str, Any]:
        """Return one of ``schemas`` of ``metl samples --json``."""
        attributes = self.profile.attributes if self.profile is not None else ()
        return {
            "schema": self.schema,
            "included": self.is_included,
            "samples": sum(each.samples for each in self.versions),
            "versions": [each.as_json() for each in self.versions],
            "profile": [
                {
                    "path": each.path,
                    "types": dict(each.types),
                    "filled": each.filled,
                    "patterns": list(each.patterns),
                    "shortest": each.shortest,
                    "longest": each.longest,
                    "distinct": each.distinct,
                }
                for each in attributes
            ],
        }


def sample_overview(workbench: Workbench) -> tuple[SchemaSamples, ...]:
    """Count the samples of each schema that has any, in the cache or in the project."""
    cache, included = SampleCache(workbench.project_id), workbench.kept.samples.included()
    found = []
    for schema_id in sorted({*cache.schemas(), *included}):
        schema = workbench.document.extraction.find_schema(schema_id)
        if schema is None:
            continue
        samples = all_samples(workbench, schema_id)
        profile = workbench.kept.samples.profile(schema_id)
        if profile is not None:
            profile = without_masked(profile, hidden_sources(workbench.document, schema.name))
        found.append(SchemaSamples(schema.name, schema_id in included, _counted(samples), profile))
    return tuple(found)


def _counted(samples: Iterable[KeptSample]) -> tuple[SampleCount, ...]:
    by_version: dict[str, list[KeptSample]] = defaultdict(list)
    for sample in samples:
        by_version[sample.version].append(sample)
    return tuple(
        SampleCount(
            version,
            len(group),
            len({sample.shape for sample in group}),
            tuple(sorted({sample.op for sample in group})),
            max(sample.when_ms for sample in group),
        )
        for version, group in sorted(by_version.items())
    )
