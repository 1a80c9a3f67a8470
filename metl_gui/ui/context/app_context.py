"""The context of the window: what controllers share, without the window that makes it."""

from __future__ import annotations

from typing import Any, Protocol

from PySide6.QtWidgets import QWidget

from metl_gui.ui.actions.menus import Actions
from metl_gui.ui.context.project_writer import Notify, ProjectWriter
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.selection import Selection
from metl_gui.ui.project.settings import ViewSettings
from metl_gui.values import Value
from metl_gui.workbench.profiles.kinds import ProfileKind

PAGES = ("Map", "Review", "Run", "Warehouse")
"""The pages by their numbers."""


class Navigation(Protocol):
    """Leads to what lies on another page, or belongs to none."""

    @property
    def page(self) -> int:
        """The number of the page in front."""

    def show_page(self, number: int) -> None:
        """Bring a page to the front, with the focus on it."""

    def show_profiles(self, kind: ProfileKind) -> None:
        """Show the connection profiles of a kind."""


class AppContext(Value, eq=False):
    """What the controllers of one window share.

    Args:
        window: parent of their dialogs and of themselves.
        settings: the view state that is kept.
        jobs: the threads, or their synchronous twin.
        project: the project in front: document, edits, what changed.
        selection: what is selected.
        actions: the actions of the window, to be triggered, or refreshed when what they depend on has changed.
        writer: jobs that write into the project.
        notify: says what came of something.
        navigate: leads to other pages.
    """

    window: QWidget
    settings: ViewSettings
    jobs: Jobs
    project: OpenProject
    selection: Selection
    actions: Actions[Any]
    writer: ProjectWriter
    notify: Notify
    navigate: Navigation
