"""The course of a run that is over, from the events that are kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metl_gui.ui.run.followed import FollowedRun
from metl_gui.workbench.run_history import events_of
from metl_gui.workbench.session import Workbench


def told_of(workbench: Workbench, run_id: str, report: Mapping[str, Any]) -> FollowedRun:
    """Read what a run told; the course of one whose events are gone, or that told none, is one stretch."""
    told = FollowedRun("", run_id)
    for event in events_of(workbench, run_id):
        told.take(event)
    told.course.finish(report)
    return told
