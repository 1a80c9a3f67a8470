"""What the workbench writes down or prints, by the names of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metl_gui.core.dimensional.loads import load_report
from metl_gui.core.runs.lanes import LoadProgress, MemberFigures
from metl_gui.warehouse import target_model
from metl_gui.workbench import addresses, settings, user_folders
from metl_gui.workbench import settings as project_settings
from metl_gui.workbench.exports import files, warehouse_page
from metl_gui.workbench.history import blame, states
from metl_gui.workbench.importing import dry_run, schema_import, source_watch, warehouse_effects
from metl_gui.workbench.lanes import control, initial_load
from metl_gui.workbench.links import message_reasons, places
from metl_gui.workbench.mapping import search, suggestions, table, todo
from metl_gui.workbench.model import entities
from metl_gui.workbench.profiles import connection_test, saved_profiles
from metl_gui.workbench.publishing import checks, publication
from metl_gui.workbench.review import decisions
from metl_gui.workbench.runs import production, unfinished_runs
from metl_gui.workbench.runs import unfinished_runs as killed_runs
from metl_gui.workbench.samples import cache, kept_samples, preview
from metl_gui.workbench.warehouse import models

FILES: Mapping[str, Any] = {
    "what a production run is told": production.ProductionOrder,
    "the process of a run": user_folders.ProcessFacts,
    "a run that has begun": unfinished_runs._Begun,
    "where a run wrote": killed_runs._RunOutputs,
    "profiles": saved_profiles._File,
    "a sample": cache.KeptSample,
    "a load of a warehouse": load_report.LoadReport,
    "whose a warehouse is": target_model.Owner,
}
"""Run folders, the cache of samples and the settings of a user."""

RESULTS: Mapping[str, Any] = {
    "a block": addresses.BlockName,
    "import": schema_import.ImportResult,
    "an import's version": schema_import.AddedVersion,
    "an import's renaming": schema_import.Renaming,
    "an import's version that was there": schema_import.UnchangedVersion,
    "map, a conflict": table.RowConflict,
    "map, what is left": table.LeftLine,
    "review, all that is new": decisions.Confirmation,
    "publish": publication.PublishResult,
    "remove": settings.Removal,
    "set": settings.SettingsResult,
    "set, of the project": project_settings.ProjectSettings,
    "search": search.Answers,
    "search, an answer": search.Answer,
    "search, versions": search.VersionProgression,
    "search, a version": search.VersionStep,
    "suggest": suggestions.Suggestions,
    "todo": todo.ToDoList,
    "todo, a schema": todo.SchemaProgress,
    "todo, an attribute": todo.ToDoAttribute,
    "todo, a suggestion": todo.Suggested,
    "history": states.History,
    "history, a state": states.HistoryEntry,
    "undo and redo": states.StepResult,
    "compact": states.CompactResult,
    "show": states.StateSummary,
    "show, a place": places.ShownPlace,
    "show, a message": places.UsedMessage,
    "why, a message": message_reasons.MessageReasons,
    "why, a value": message_reasons.ValueReason,
    "blame": blame.Blame,
    "blame, an event": blame.BlameEvent,
    "check": checks.CheckResult,
    "check against a source": dry_run.SourceDryRun,
    "check, a source that would be lost": dry_run.LostSource,
    "check, a part of a table": warehouse_effects.BrokenPart,
    "export": files.ExportResult,
    "entity": entities.EntityContent,
    "entity, an attribute": entities.EntityAttribute,
    "samples": kept_samples.SchemaSamples,
    "samples, of a version": kept_samples.SampleCount,
    "samples that are kept": kept_samples.KeptSamples,
    "preview": preview.Preview,
    "profile": saved_profiles.Profile,
    "profile test": connection_test.ConnectionTestResult,
    "warehouse, an edit": models.ModelEdit,
    "warehouse, a check": models.ModelCheck,
    "warehouse, a model": models.ModelContent,
    "warehouse, an export": models.ModelExport,
    "warehouse, a page": warehouse_page.WarehouseDocs,
}
"""What commands print with ``--json``, as far as its members are those of a class."""

EVENTS: Mapping[str, Any] = {
    "watch, the source went away": source_watch.SourceLost,
    "watch, it came back": source_watch.SourceRestored,
    "watch, versions were added": source_watch.VersionsAdded,
    "watch, versions wait": source_watch.VersionsWait,
    "watch, a part is not read": source_watch.NotRead,
}

DOCUMENTS: Mapping[str, tuple[Any, Any]] = {
    **{name: (kind, kind.as_json) for name, kind in RESULTS.items()},
    **{name: (kind, source_watch.event_json) for name, kind in EVENTS.items()},
    "lane, a member": (MemberFigures, control.member_json),
    "load": (LoadProgress, initial_load.as_json),
}
"""By row: what is printed, and what makes the document of it."""
