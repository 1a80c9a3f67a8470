"""Watch a registry or a database: what is new in it is brought into the project at once, as an import brings it.

Looking is one thing and adding another: who looks needs no project, and who adds holds the editing lease only as long
as that takes. Two that watch the same do no harm: what the project has is left alone.

Source: METL §3.4 (registries that announce versions); docs/reference/commands.md, "metl watch".
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from metl_gui.core.counted import number_of
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.project.reader_result import ReaderResult, SkippedSource
from metl_gui.core.project.writer_schemas import version_of
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import ProjectLockedError, RunCancelled, ServiceUnavailableError, UserError
from metl_gui.values import Value
from metl_gui.workbench.importing.remote_sources import EVERYTHING, ImportFilter, read_new
from metl_gui.workbench.importing.schema_import import ImportResult, add_reading, is_new
from metl_gui.workbench.session import EditOrigin, Workbench

if TYPE_CHECKING:
    from metl_gui.registry.remote.registry_reader import SourceCursor

EVERY_SECONDS = 10.0
LONGEST_SECONDS = 300.0
"""However long it is down, it is asked again after so long."""

_JITTER = 0.2
_SLICE_SECONDS = 0.1


class SourceLost(Value):
    """The registry does not answer; told once until it is back."""

    source: str
    title: str
    text: str
    hint: str


class SourceRestored(Value):
    """The registry answers again.

    Args:
        source: what is watched.
        seconds: how long it was away.
    """

    source: str
    seconds: float


class VersionsAdded(Value):
    """New versions came into the project, and the automated update was run for each."""

    source: str
    result: ImportResult


class VersionsWait(Value):
    """New versions cannot be added yet, because somebody else edits the project; told once for the same ones."""

    source: str
    names: tuple[str, ...]
    text: str


class NotRead(Value):
    """A part of the registry cannot be read, or nothing of it; told once for the same."""

    source: str
    refused: tuple[SkippedSource, ...]


WatchEvent: TypeAlias = SourceLost | SourceRestored | VersionsAdded | VersionsWait | NotRead

_NAMES: Mapping[type[WatchEvent], str] = {
    SourceLost: "went_away",
    SourceRestored: "came_back",
    VersionsAdded: "versions_added",
    VersionsWait: "versions_wait",
    NotRead: "not_read",
}
"""What the events are called in ``metl watch --json``."""


class WatchTarget(Value):
    """Where new versions go.

    Args:
        add: adds what is new of a reading; ``None`` when nothing of it is.
        known: returns the registry ids of what the project has.
    """

    add: Callable[[ReaderResult, Watch], ImportResult | None]
    known: Callable[[], frozenset[str]]


class Watcher:
    """Looks at one registry or database again and again.

    ``looks`` counts how often it has, ``added`` the versions that came of it; ``is_well`` says whether the last look
    went to its end, with not everything refused.

    Args:
        source: its address, or a profile.
        take: adds what is new to the project.
        tell: told what happens, on the thread that looks.
        every_seconds: so often it is looked at while all is well.
        choice: what of it is watched.
        clock: tells the time in seconds.
        chance: numbers from 0 to 1, so that many watchers do not come at the same moment.
    """

    def __init__(
        self,
        source: str,
        take: WatchTarget,
        tell: Callable[[WatchEvent], None],
        every_seconds: float = EVERY_SECONDS,
        choice: ImportFilter = EVERYTHING,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.source = source
        self.looks = 0
        self.added = 0
        self.is_well = False
        self._take = take
        self._tell = tell
        self._every = every_seconds
        self._choice = choice
        self._clock = clock
        self._chance = chance
        self._mark: SourceCursor | None = None
        self._away_since: float | None = None
        self._failures = 0
        self._told: frozenset[tuple[str, str]] = frozenset()
        self._waiting: tuple[str, ...] = ()

    @property
    def is_away(self) -> bool:
        """Whether it did not answer when it was looked at last."""
        return self._away_since is not None

    def look(self, watch: Watch = UNWATCHED) -> float:
        """Look once, and add what is new.

        Returns:
            After how many seconds to look again.

        Raises:
            RunCancelled: somebody stopped it.
        """
        self.looks += 1
        self.is_well = False
        try:
            known = self._take.known() if self._mark is None else frozenset[str]()
            reading, mark = read_new(self.source, self._choice, self._mark, watch, known)
        except ServiceUnavailableError as error:
            return self._miss(error, error.wait_seconds or 0)
        except UserError as error:
            self._say_unread([SkippedSource(self.source, str(error))])
            return self._later()
        if self._away_since is not None:
            self._tell(SourceRestored(self.source, self._clock() - self._away_since))
            self._away_since = None
        return self._add(reading, mark, watch)

    def follow(self, watch: Watch, sleep: Callable[[float], None] = time.sleep) -> None:
        """Look again and again until somebody stops it; what was added until then stays."""
        with contextlib.suppress(RunCancelled):
            while True:
                end = self._clock() + self.look(watch)
                while (left := end - self._clock()) > 0:
                    if watch.is_cancelled:
                        return
                    sleep(min(left, _SLICE_SECONDS))

    def _add(self, reading: ReaderResult, mark: SourceCursor, watch: Watch) -> float:
        self._say_unread(reading.refused)
        try:
            result = self._take.add(reading, watch) if reading.declarations or reading.wire else None
        except ProjectLockedError as error:
            self._say_waiting(reading, error)
            return self._spread(self._every)
        except UserError as error:
            self._say_unread([SkippedSource(self.source, str(error))])
            return self._later()
        if result is not None:
            self._say_unread(result.refused)
        if result is not None and result.is_all_refused and reading.declarations:
            return self._later()  # the project may take them when it is another one; they are asked for again
        self._mark, self._waiting, self._failures = mark, (), 0
        is_refused = result is not None and not result.added and not set(reading.refused).issuperset(result.refused)
        self.is_well = not is_refused and (bool(reading.declarations) or not reading.refused)
        if result is not None and result.added:
            self.added += len(result.added)
            self._tell(VersionsAdded(self.source, result))
        return self._spread(self._every)

    def _miss(self, error: ServiceUnavailableError, wait_seconds: float) -> float:
        if self._away_since is None:
            self._away_since = self._clock()
            self._tell(SourceLost(self.source, error.title, error.text, error.hint))
        return max(self._later(), wait_seconds)

    def _later(self) -> float:
        """Return when to look again after something went wrong: ever later, up to a limit."""
        self._failures += 1
        return self._spread(min(self._every * 2 ** min(self._failures, 20), max(LONGEST_SECONDS, self._every)))

    def _spread(self, seconds: float) -> float:
        return seconds * (1 + _JITTER * (2 * self._chance() - 1))

    def _say_unread(self, refused: Iterable[SkippedSource]) -> None:
        found = {(one.source, one.reason): one for one in refused}
        new = tuple(one for key, one in found.items() if key not in self._told)
        if new:
            self._told = self._told | found.keys()
            self._tell(NotRead(self.source, new))

    def _say_waiting(self, reading: ReaderResult, error: ProjectLockedError) -> None:
        names = tuple(f"{one.name} {one.label or ''}".strip() for one in reading.declarations)
        if names != self._waiting:
            self._waiting = names
            self._tell(VersionsWait(self.source, names, f"{error.title} {error.text}".strip()))


def into_project(workbench: Workbench, side: Side, door: EditOrigin = EditOrigin.WINDOW) -> WatchTarget:
    """Return what adds new versions to a project that is open here."""

    def add(reading: ReaderResult, watch: Watch) -> ImportResult | None:
        return add_reading(workbench, side, reading, door, watch) if is_new(workbench, side, reading) else None

    return WatchTarget(add, partial(_known, workbench, side))


def into_file(path: Path, side: Side) -> WatchTarget:
    """Return what opens a project for as long as there is something to add; it may be open elsewhere meanwhile.

    Whether there is something new is found out read only, which needs no lease.
    """

    def add(reading: ReaderResult, watch: Watch) -> ImportResult | None:
        with Workbench.open(path, for_editing=False) as workbench:
            if not is_new(workbench, side, reading):
                return None
        with Workbench.open(path) as workbench:
            # Somebody may have added it in between.
            return add_reading(workbench, side, reading, watch=watch) if is_new(workbench, side, reading) else None

    def known() -> frozenset[str]:
        with Workbench.open(path, for_editing=False) as workbench:
            return _known(workbench, side)

    return WatchTarget(add, known)


def _known(workbench: Workbench, side: Side) -> frozenset[str]:
    """Return the registry ids of keys, and of rows whose versions the project has."""
    if side is not Side.EXTRACTION:
        return frozenset()
    document = workbench.document
    schemas = workbench.kept.writer_schemas.all()
    return frozenset(one.id for one in schemas if not one.fingerprint or version_of(document, one) is not None)


def event_lines(event: WatchEvent) -> list[str]:
    """Describe in lines what happened."""
    match event:
        case SourceLost(_, title, text, _):
            return [f"{title} {text} It is asked again until it does.".replace("  ", " ")]
        case SourceRestored(source, seconds):
            return [f"{source} answers again, after {_duration(seconds)}."]
        case VersionsWait(_, names, text):
            return [f"New, and not added yet: {', '.join(names)}. {text}"]
        case NotRead(_, refused):
            return [f"refused  {one.source}: {one.reason}" for one in refused]
        case VersionsAdded(_, result):
            added = [
                f"added    {one.name} version {one.version}, {number_of(one.attributes, 'attribute')}"
                for one in result.added
            ]
            waiting = result.needs_review
            verb = "waits" if waiting == 1 else "wait"
            review = [f"{number_of(waiting, 'decision')} {verb} for review."] if waiting else []
            return [*added, *review]


def event_json(event: WatchEvent) -> dict[str, object]:
    """Return an event as one of ``events`` of ``metl watch --json``."""
    body = {"result": event.result.as_json()} if isinstance(event, VersionsAdded) else msgspec.to_builtins(event)
    return {"event": _NAMES[type(event)], **body}


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
