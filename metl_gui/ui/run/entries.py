"""Rows of the history from what is known of runs."""

from __future__ import annotations

from metl_gui.ui.moments import now_ms, on
from metl_gui.ui.run.amounts import duration
from metl_gui.ui.run.followed import FollowedRun
from metl_gui.ui.run.history_model import HistoryEntry
from metl_gui.ui.run.run_words import kind_words, moment_words, source_words, title_words
from metl_gui.ui.two_lines import TwoLines
from metl_gui.workbench.run_history import PastRun, RunStatus

OWN = "this window's run"
_PILLS = {
    RunStatus.RUNNING: ("live", "good"),
    RunStatus.STOPPED: ("stopped", "plain"),
    RunStatus.FAILED: ("failed", "bad"),
    RunStatus.DIED: ("died", "bad"),
    RunStatus.CANCELLED: ("cancelled", "plain"),
    RunStatus.KILLED: ("killed", "bad"),
}


def entry_of_past(run: PastRun) -> HistoryEntry:
    """Make the row of a run of the history; one that goes on says for how long."""
    report = run.report.as_json()
    is_live = run.status is RunStatus.RUNNING
    pill, kind = _PILLS.get(run.status, (duration(run.report.seconds), "plain"))
    source = source_words(run.report.source)
    if is_live:
        title, facts = f"{kind_words(report)} · {source}", f"state {run.state:,} · {_age(run)}"
    else:
        until = " until then" if run.report.outcome else ""
        title, facts = title_words(report), f"{run.report.read:,} records{until} · {moment_words(run.when_ms)}"
    name = kind_words(report) if run.report.is_replay else f"{kind_words(report)} run"
    tip = "\n".join(part for part in (run.report.source, on(run.when_ms), *run.problems) if part)
    words = TwoLines(title, facts, pill, kind, short=f"{kind_words(report)} {run.state}")
    return HistoryEntry(run.run_id, words, f"{name}, state {run.state}, {facts}, {pill}", tip, is_live, run)


def entry_of_own(run: FollowedRun, source: str) -> HistoryEntry:
    """Make the row of the run that this window does just now."""
    words = TwoLines(run.title, source_words(source), "running", "accent")
    return HistoryEntry(OWN, words, f"{run.title}, running", source, is_live=True, run=run)


def _age(run: PastRun) -> str:
    seconds = max(now_ms() - run.when_ms, 0) / 1000
    return "just begun" if seconds < 60 else duration(seconds // 60 * 60)
