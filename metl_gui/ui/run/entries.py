"""Rows of the history from what is known of runs."""

from __future__ import annotations

from pathlib import Path

from metl_gui.store.runs import LoggedRun
from metl_gui.ui.moments import on
from metl_gui.ui.run.amounts import duration
from metl_gui.ui.run.followed import FollowedRun
from metl_gui.ui.run.history_model import HistoryEntry
from metl_gui.ui.run.run_words import kind_words, moment_words, source_words, title_words
from metl_gui.ui.two_lines import TwoLines

OWN = "this window's run"


def entry_of_logged(run: LoggedRun) -> HistoryEntry:
    """Make the row of a run that is over."""
    report = run.report
    seconds, is_stopped = float(report.get("seconds", 0)), bool(report.get("is_stopped"))
    facts = f"{report.get('read', 0):,} records · {moment_words(run.when_ms)}"
    spoken = f"{kind_words(report)}{'' if report.get('is_replay') else ' run'}, state {run.state}, {facts}"
    source = str(report.get("source", ""))
    tip = "\n".join(part for part in (source, on(run.when_ms), "stopped" if is_stopped else "") if part)
    short = f"{kind_words(report)} {run.state}"
    words = TwoLines(title_words(report), facts, "stopped" if is_stopped else duration(seconds), short=short)
    return HistoryEntry(run.run_id, words, f"{spoken}, {words.pill}", tip, run=run)


def entry_of_own(run: FollowedRun, source: str) -> HistoryEntry:
    """Make the row of the run that this window does just now."""
    words = TwoLines(run.title, source_words(source), "running", "accent")
    return HistoryEntry(OWN, words, f"{run.title}, running", source, is_live=True, run=run)


def folder_words(path: str | Path) -> str:
    """Name a folder for people, by its last two parts."""
    return "/".join(Path(path).parts[-2:])
