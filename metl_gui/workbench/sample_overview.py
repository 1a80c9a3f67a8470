"""How many samples there are of which schema and version, and what their values look like.

Source: contract.md §2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from metl_gui.core.project.masks import hidden_sources
from metl_gui.core.project.sample_profiles import SchemaProfile, without_masked
from metl_gui.workbench.documents import Written
from metl_gui.workbench.sample_cache import KeptSample, SampleCache
from metl_gui.workbench.samples import all_samples
from metl_gui.workbench.session import Workbench


@dataclass(frozen=True, slots=True)
class SampleCount(Written):
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


@dataclass(frozen=True, slots=True)
class SchemaSamples(Written):
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
