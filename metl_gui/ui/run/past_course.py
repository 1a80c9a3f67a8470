"""The course of a run that is over, from the events that are kept of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metl_gui.ui.run.course import Course
from metl_gui.workbench.run_history import events_of
from metl_gui.workbench.session import Workbench


def course_of(workbench: Workbench, run_id: str, report: Mapping[str, Any]) -> Course:
    """Read the course of a run; one whose events are gone, or that told none, is one stretch."""
    course = Course()
    for event in events_of(workbench, run_id):
        course.take(event)
    course.finish(report)
    return course
