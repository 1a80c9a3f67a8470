"""A row of the window's action table, and when it makes sense: small questions about the window for its ``when``.

Each is asked for every row after every change of project, document, selection or page, so it must cost next to
nothing: look at what the window knows already, never count or read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from metl_gui.ui.actions.table import ActionRow, EditCondition

if TYPE_CHECKING:
    from metl_gui.ui.shell.window import Window

Condition: TypeAlias = "Callable[[Window], bool]"


def has_project(window: Window) -> bool:
    """Ask for an open project."""
    return window.project.workbench is not None


class WindowRow(ActionRow["Window"]):
    """One action of the window, which needs an open project unless it says otherwise."""

    when: Condition = has_project


def can_edit(window: Window) -> bool:
    """Ask for a project that is open for editing and shows its newest state."""
    return window.project.can_edit


def can_begin(window: Window) -> bool:
    """Ask for no project at all, as one is made then, or for one that can be edited."""
    return not has_project(window) or can_edit(window)


def may_write(window: Window) -> bool:
    """Ask for a project that is open for editing, whichever of its states is shown."""
    workbench = window.project.workbench
    return workbench is not None and workbench.is_for_editing


def looks_back(window: Window) -> bool:
    """Ask for an earlier state that is looked at."""
    return window.project.looks_back is not None


def shows_now(window: Window) -> bool:
    """Ask for the newest state to be the one that is shown."""
    return not looks_back(window)


def node_selected(window: Window) -> bool:
    """Ask for a node on either side."""
    current = window.selection.current
    return has_project(window) and (current.source is not None or current.target is not None)


def nodes_on_both_sides(window: Window) -> bool:
    """Ask for a node on each side, of whatever level."""
    current = window.selection.current
    return has_project(window) and current.source is not None and current.target is not None


def version_selected(window: Window) -> bool:
    """Ask for a version, or an attribute of one, on either side."""
    current = window.selection.current
    places = (current.source, current.target)
    return has_project(window) and any(place is not None and place.version is not None for place in places)


@EditCondition
def can_undo(window: Window) -> bool:
    """Ask for an edit that undo takes back."""
    return can_edit(window) and window.facts.titles[0] is not None


@EditCondition
def can_redo(window: Window) -> bool:
    """Ask for an edit that redo brings again."""
    return can_edit(window) and window.facts.titles[1] is not None


@EditCondition
def something_waits(window: Window) -> bool:
    """Ask for a decision that waits."""
    return has_project(window) and window.facts.waiting > 0


def is_running(window: Window) -> bool:
    """Ask for a run that goes on."""
    return window.is_busy


def can_run(window: Window) -> bool:
    """Ask for a project while no run goes on."""
    return has_project(window) and not window.is_busy


def all_of(*conditions: Condition) -> Condition:
    """Ask for all of some conditions."""

    def holds(window: Window) -> bool:
        return all(condition(window) for condition in conditions)

    return EditCondition(holds) if any(isinstance(each, EditCondition) for each in conditions) else holds


def on_page(number: int) -> Condition:
    """Ask for a project whose page of a number is in front."""
    return lambda window: has_project(window) and window.stack.currentIndex() == number
