"""What the workbench writes down or prints, by the names of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metl_gui.engine.lanes.members import MemberFigures
from metl_gui.engine.loading.lane_loads import LoadProgress
from metl_gui.workbench import (
    addresses,
    blame,
    checking,
    confirming,
    entities,
    exporting,
    history,
    importing,
    killed_runs,
    lanes,
    live_process,
    loading,
    mapping,
    preview,
    production,
    profile_check,
    profiles,
    project_settings,
    publishing,
    sample_cache,
    sample_overview,
    samples,
    searching,
    settings,
    suggesting,
    trying,
    unfinished_runs,
    watching,
)

FILES: Mapping[str, Any] = {
    "what a production run is told": production.ProductionOrder,
    "the process of a run": live_process.ProcessFacts,
    "a run that has begun": unfinished_runs._Begun,
    "where a run wrote": killed_runs._Places,
    "profiles": profiles._File,
    "a sample": sample_cache.KeptSample,
}
"""Run folders, the cache of samples and the settings of a user."""

RESULTS: Mapping[str, Any] = {
    "a block": addresses.BlockName,
    "import": importing.ImportResult,
    "an import's version": importing.AddedVersion,
    "an import's renaming": importing.Renaming,
    "an import's version that was there": importing.UnchangedVersion,
    "map, a conflict": mapping.Conflict,
    "review, all that is new": confirming.Confirmation,
    "publish": publishing.Published,
    "remove": settings.Removal,
    "set": settings.SettingsResult,
    "set, of the project": project_settings.ProjectSettings,
    "search": searching.Answers,
    "search, an answer": searching.Answer,
    "search, versions": searching.VersionProgression,
    "search, a version": searching.VersionStep,
    "suggest": suggesting.Suggestions,
    "history": history.History,
    "history, a state": history.HistoryEntry,
    "undo and redo": history.StepResult,
    "compact": history.CompactResult,
    "show": history.StateSummary,
    "blame": blame.Blame,
    "blame, an event": blame.Event,
    "check": checking.CheckResult,
    "check against a source": trying.Trial,
    "check, a source that would be lost": trying.LostSource,
    "export": exporting.ExportResult,
    "entity": entities.EntityContent,
    "entity, an attribute": entities.EntityAttribute,
    "samples": sample_overview.SchemaSamples,
    "samples, of a version": sample_overview.SampleCount,
    "samples that are kept": samples.KeptSamples,
    "preview": preview.Preview,
    "profile": profiles.Profile,
    "profile test": profile_check.ProfileCheck,
}
"""What commands print with ``--json``, as far as its members are those of a class."""

EVENTS: Mapping[str, Any] = {
    "watch, the source went away": watching.WentAway,
    "watch, it came back": watching.CameBack,
    "watch, versions were added": watching.VersionsAdded,
    "watch, versions wait": watching.VersionsWait,
    "watch, a part is not read": watching.NotRead,
}

DOCUMENTS: Mapping[str, tuple[Any, Any]] = {
    **{name: (kind, kind.as_json) for name, kind in RESULTS.items()},
    **{name: (kind, watching.event_json) for name, kind in EVENTS.items()},
    "lane, a member": (MemberFigures, lanes.member_json),
    "load": (LoadProgress, loading.as_json),
}
"""By row: what is printed, and what makes the document of it."""
