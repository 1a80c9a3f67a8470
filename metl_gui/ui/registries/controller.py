"""Registries and databases in the window: browsed, imported from, and watched for the open project.

They are opened from the start page, the menus and the connections. Those that are watched are looked at by jobs; what
is found goes into the project at once, as an import does, and is told in the window. Where the window is not in front,
the desktop shows it, if it has a tray; whoever clicks that is led to the review list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.progress import Watch
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import UserError
from metl_gui.ui.context.app_context import AppContext
from metl_gui.ui.importing.commands import ImportCommands
from metl_gui.ui.jobs.jobs import Job, JobOutcome
from metl_gui.ui.registries.browser import RegistryBrowser, RemoteImport
from metl_gui.ui.theming.app_icon import app_icon
from metl_gui.ui.widgets.dialogs import show_about
from metl_gui.ui.widgets.plain_text import plain_entry
from metl_gui.values import Value
from metl_gui.workbench.importing.remote_sources import ImportFilter
from metl_gui.workbench.importing.source_watch import (
    SourceLost,
    VersionsAdded,
    Watcher,
    WatchEvent,
    event_lines,
    into_project,
)
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.profiles.saved_profiles import SIGN, profiles
from metl_gui.workbench.session import Workbench

_TICK_MS = 500
_NAMED = 2
_SHOWS_MS = 10_000


class Watched(Value):
    """What is watched.

    Args:
        source: an address, or ``@`` and the name of a profile.
        side: the tree that new versions go to.
        choice: what of it.
    """

    source: str
    side: Side = Side.EXTRACTION
    choice: ImportFilter = msgspec.field(default_factory=ImportFilter)

    def as_json(self) -> dict[str, Any]:
        """Return it as it is remembered."""
        only, prefix = list(self.choice.only), self.choice.prefix
        return {"source": self.source, "side": self.side.value, "only": only, "prefix": prefix}


def watched_of(known: Mapping[str, Any]) -> Watched | None:
    """Read what was remembered; ``None`` where it is not as it was written."""
    source, side, only, prefix = (known.get(name) for name in ("source", "side", "only", "prefix"))
    if not isinstance(source, str) or not isinstance(only, list) or not isinstance(prefix, str):
        return None
    if side not in tuple(Side):
        return None
    return Watched(source, Side(side), ImportFilter(tuple(str(each) for each in only), prefix))


@dataclass
class _Task:
    """One source that is looked at again and again.

    Args:
        watched: what.
        watcher: who looks.
        left_ms: how long until the next look.
        job: the look that goes on.
        heard: what the last look told.
    """

    watched: Watched
    watcher: Watcher
    left_ms: float = 0.0
    job: Job | None = None
    heard: list[WatchEvent] = field(default_factory=list)


class RegistryWatch(QObject):
    """Watches for one window.

    Signals:
        changed: something else is watched, or a registry went away or came back.
        review_wanted: the key of the block that came last, to be reviewed; ``None`` for whatever waits.
    """

    changed = Signal()
    review_wanted = Signal(object)

    def __init__(self, context: AppContext) -> None:
        super().__init__(context.window)
        self._context = context
        self._tasks: dict[str, _Task] = {}
        self._project: Workbench | None = None
        self._found: BlockKey | None = None
        self._tray: QSystemTrayIcon | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._tick)
        context.project.opened.connect(self._opened)

    @property
    def sources(self) -> list[str]:
        """What is watched, in the order in which it was begun."""
        return list(self._tasks)

    @property
    def words(self) -> tuple[str, str]:
        """What the status bar says, and its tooltip; both empty while nothing is watched."""
        if not self._tasks:
            return "", ""
        away = [source for source, task in self._tasks.items() if task.watcher.is_away]
        named = ", ".join(self.sources[:_NAMED]) + (
            f" and {len(self._tasks) - _NAMED} more" * (len(self._tasks) > _NAMED)
        )
        lines = [f"{source}: {_state_of(task)}" for source, task in self._tasks.items()]
        return (f"{away[0]} does not answer" if away else f"Watches {named}"), "\n".join(lines)

    def begin(self, watched: Watched) -> None:
        """Watch from now on, in place of what was watched of the same source."""
        self._end(watched.source)
        self._add(watched)
        self._keep()
        self._look_at(self._tasks[watched.source])

    def end(self, source: str) -> None:
        """Watch a source no more."""
        self._end(source)
        self._keep()

    def toggle(self, source: str) -> None:
        """Begin or end."""
        if source in self._tasks:
            self.end(source)
        else:
            self.begin(Watched(source))

    def show_found(self, _how: object = None) -> None:
        """Show the review item of what came last; however the desktop says that it was asked for."""
        window = self._context.window
        if window.isMinimized():
            window.showNormal()
        window.activateWindow()
        self.review_wanted.emit(self._found)

    # the tasks

    def _add(self, watched: Watched) -> None:
        workbench = self._project
        if workbench is None:
            return
        heard: list[WatchEvent] = []
        take = into_project(workbench, watched.side)
        watcher = Watcher(watched.source, take, heard.append, choice=watched.choice)
        self._tasks[watched.source] = _Task(watched, watcher, heard=heard)
        self._timer.start()

    def _end(self, source: str) -> None:
        task = self._tasks.pop(source, None)
        if task is not None and task.job is not None:
            task.job.cancel()
        if not self._tasks:
            self._timer.stop()

    def _opened(self, _workbench: object) -> None:
        """Go on with what was watched for a project when it was open last."""
        for source in self.sources:
            self._end(source)
        workbench = self._project = self._context.project.workbench
        if workbench is not None and workbench.is_for_editing:
            for known in self._context.settings.watched(workbench.project_id):
                watched = watched_of(known)
                if watched is not None:
                    self._add(watched)
        self.changed.emit()

    def _keep(self) -> None:
        if self._project is not None:
            watched = [task.watched.as_json() for task in self._tasks.values()]
            self._context.settings.save_watched(self._project.project_id, watched)
        self.changed.emit()

    def _tick(self) -> None:
        for task in list(self._tasks.values()):
            task.left_ms -= _TICK_MS
            if task.left_ms <= 0 and task.job is None:
                self._look_at(task)

    def _look_at(self, task: _Task) -> None:
        if self._context.project.workbench is None or not self._context.project.can_edit:
            return  # an earlier state is shown: what is new waits until somebody comes back

        def look(watch: Watch) -> float:
            return task.watcher.look(watch)

        def done(outcome: JobOutcome[float]) -> None:
            task.job = None
            if self._tasks.get(task.watched.source) is task:
                self._looked(task, outcome)

        title = f"Looking for new versions in {task.watched.source}"
        job = self._context.jobs.start(title, look, done, is_quiet=True)
        task.job = job if job in self._context.jobs.running else None

    def _looked(self, task: _Task, outcome: JobOutcome[float]) -> None:
        if outcome.value is None:
            self._end(task.watched.source)
            if outcome.error is not None:
                self._context.notify(f"{task.watched.source} is watched no more: {outcome.error}", is_good=False)
            self.changed.emit()
            return
        task.left_ms = outcome.value * 1000
        heard, task.heard[:] = list(task.heard), []
        for event in heard:
            self._tell(event)
        if heard:
            self.changed.emit()

    # telling

    def _tell(self, event: WatchEvent) -> None:
        if not isinstance(event, VersionsAdded):
            self._context.notify(" ".join(event_lines(event)), is_good=not isinstance(event, SourceLost))
            return
        self._context.project.catch_up()
        added, waiting = event.result.added, event.result.needs_review
        names = ", ".join(f"{each.name} {each.version}" for each in added[:_NAMED])
        more = f" and {len(added) - _NAMED:,} more" if len(added) > _NAMED else ""
        words = f"{event.source} has {names}{more}."
        if waiting:
            self._found = self._item_of({(each.name, each.version) for each in added})
            words += f" {number_of(waiting, 'decision')} wait{'s' if waiting == 1 else ''}."
            self._context.notify(words, "Review now", self.show_found, is_good=False)
        else:
            self._context.notify(words)
        self._tell_outside(words)

    def _item_of(self, added: set[tuple[str, str]]) -> BlockKey | None:
        """Return the first review item that is of a version that came in."""
        document = self._context.project.value
        for item in self._context.project.review_items():
            for side, id_ in ((Side.EXTRACTION, item.key[0]), (Side.CDM, item.key[1])):
                tree = document.tree(side)
                version = tree.find_version(id_)
                schema = tree.find_schema(version.schema_id) if version is not None else None
                if version is not None and schema is not None and (schema.name, version.label) in added:
                    return item.key
        return None

    def _tell_outside(self, words: str) -> None:
        """Say it on the desktop, where somebody looks at something else and there is a place for it."""
        window = self._context.window
        if window.isActiveWindow() or not QSystemTrayIcon.isSystemTrayAvailable():
            return
        if self._tray is None:
            self._tray = QSystemTrayIcon(app_icon(), self)
            self._tray.messageClicked.connect(self.show_found)
            self._tray.activated.connect(self.show_found)
        self._tray.show()
        self._tray.showMessage(window.windowTitle(), words, QSystemTrayIcon.MessageIcon.Information, _SHOWS_MS)


def _state_of(task: _Task) -> str:
    if task.watcher.is_away:
        return "does not answer; it is asked again"
    if not task.watcher.looks:
        return "is looked at soon"
    return f"looked at {task.watcher.looks:,} times, {number_of(task.watcher.added, 'version')} added"


class RegistryController(QObject):
    """Browses, imports and watches for one window.

    Signals:
        project_wanted: a project to import into.
    """

    project_wanted = Signal()

    def __init__(self, context: AppContext, imports: ImportCommands) -> None:
        super().__init__(context.window)
        self._context, self._imports = context, imports
        self._wanted = ""
        self.watch = RegistryWatch(context)
        context.project.opened.connect(self._opened)

    def browse(self, source: str = "") -> None:
        """Show what a registry or a database has; without a project make one first.

        Args:
            source: what is shown first.
        """
        context = self._context
        if context.project.workbench is None:
            self._wanted = source or " "
            self.project_wanted.emit()
            return
        used = tuple(each for each in self.watch.sources if not each.startswith(SIGN))
        dialog = RegistryBrowser(context.jobs, source, used, context.window)
        dialog.chosen.connect(self._import)
        dialog.profiles_wanted.connect(self._show_profiles)
        show_about(context.project, dialog)

    def fill_watch_menu(self, menu: QMenu) -> None:
        """List the registries and databases there are, each with a mark where it is watched."""
        try:
            known = [
                f"{SIGN}{each.name}" for each in (*profiles(ProfileKind.REGISTRY), *profiles(ProfileKind.POSTGRESQL))
            ]
        except UserError:
            known = []
        can_watch = self._context.project.can_edit
        for source in dict.fromkeys([*known, *self.watch.sources]):
            action = menu.addAction(plain_entry(source))
            action.setCheckable(True)
            action.setChecked(source in self.watch.sources)
            action.setEnabled(can_watch)
            action.setData(source)
        if menu.isEmpty():
            menu.addAction("No connection leads to a registry or a database").setEnabled(False)

    def choose_watched(self, action: QAction) -> None:
        """Begin or end watching, as an entry of the menu says."""
        if isinstance(action.data(), str):
            self.watch.toggle(action.data())

    def _opened(self, workbench: Workbench | None) -> None:
        wanted, self._wanted = self._wanted, ""
        if workbench is not None and wanted:
            self.browse(wanted.strip())

    def _import(self, wanted: RemoteImport) -> None:
        self._imports.import_schemas(wanted.side, [wanted.source], wanted.wanted)
        if wanted.is_watched:
            self.watch.begin(Watched(wanted.source, wanted.side, wanted.wanted))

    def _show_profiles(self) -> None:
        self._context.navigate.show_profiles(ProfileKind.REGISTRY)
