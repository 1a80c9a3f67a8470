"""The course of a run that is over, from the events that it left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from metl_gui.engine.events import decode_event
from metl_gui.engine.runs import RunFolder
from metl_gui.ui.run.course import Course


def course_of(folder: RunFolder, report: Mapping[str, Any]) -> Course:
    """Read the course of a run; one whose events are gone, or that told none, is one stretch."""
    course = Course()
    for line in folder.events():
        try:
            course.take(decode_event(line))
        except msgspec.MsgspecError:
            continue  # of another version of the program, or cut short
    course.finish(report)
    return course
