"""What the window remembers between two openings: layout, theme, keys, recent projects, the last look at each project.

The file lies open to everybody and may be cut short by a crash, so whatever is not as it was written counts as not
there: the window opens as for the first time.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

from metl_gui.own_files import make_folder, open_file

_log = logging.getLogger(__name__)
_MOST_RECENT = 10
_MOST_WAREHOUSES = 8
_MOST_RECENT_ACTIONS = 12
_MOST_VISITS = 40
_MOST_MAP_PX = 10_000
_THEMES = ("light", "dark")


def stored_settings() -> QSettings:
    """Open the settings of this user; a file that cannot be read is put aside and begun anew."""
    settings = QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "metl-gui", "metl-gui")
    with contextlib.suppress(OSError):  # Qt keeps the rights of a file that is there; what it says of others follows
        make_folder(Path(settings.fileName()).parent)
        open_file(Path(settings.fileName()), "ab").close()
    settings.allKeys()  # reads the file, so that the status tells how it is
    if settings.status() is not QSettings.Status.FormatError:
        return settings
    path = Path(settings.fileName())
    aside = path.with_suffix(".damaged")
    _log.warning("the settings in %s are damaged; they are kept as %s", path, aside)
    try:
        path.replace(aside)
    except OSError as error:
        _log.warning("they cannot be put aside: %s", error)
    return QSettings(str(path), QSettings.Format.IniFormat)


class ViewSettings:
    """View state; never part of a project.

    Args:
        store: where it is kept.
    """

    def __init__(self, store: QSettings) -> None:
        self._store = store

    @property
    def theme(self) -> str:
        """``light``, ``dark``, or empty for what the system says."""
        found = self._store.value("theme", "")
        return str(found) if found in _THEMES else ""

    @theme.setter
    def theme(self, name: str) -> None:
        self._store.setValue("theme", name)

    @property
    def scale(self) -> int:
        """Size of everything in percent of the system's own."""
        try:
            return min(max(int(str(self._store.value("scale", 100))), 90), 200)
        except ValueError:
            return 100

    @scale.setter
    def scale(self, percent: int) -> None:
        self._store.setValue("scale", percent)

    @property
    def keys(self) -> dict[str, str]:
        """Keys that the person gave to actions, by the actions' ids; empty text for none."""
        return {id_: keys for id_, keys in self._mapping("keys").items() if isinstance(keys, str)}

    @keys.setter
    def keys(self, keys: Mapping[str, str]) -> None:
        self._store.setValue("keys", json.dumps(dict(keys)))

    @property
    def recent_actions(self) -> list[str]:
        """Ids of the actions taken from the palette, the newest first."""
        return self._texts("recent_actions")

    def remember_action(self, id_: str) -> None:
        """Put an action at the head of the recent ones."""
        ids = [id_, *(other for other in self.recent_actions if other != id_)]
        self._store.setValue("recent_actions", ids[:_MOST_RECENT_ACTIONS])

    @property
    def recent(self) -> list[Path]:
        """Recent projects, the newest first."""
        return [Path(name) for name in self._texts("recent")]

    def remember_project(self, path: Path) -> None:
        """Put a project at the head of the recent ones."""
        names = [str(path), *(str(other) for other in self.recent if other != path)]
        self._store.setValue("recent", names[:_MOST_RECENT])

    @property
    def last_open(self) -> Path | None:
        """The project that was open when the window was closed."""
        found = self._store.value("last_open", "")
        return Path(found) if isinstance(found, str) and found else None

    @last_open.setter
    def last_open(self, path: Path | None) -> None:
        self._store.setValue("last_open", str(path) if path is not None else "")

    @property
    def last_export(self) -> tuple[str, str]:
        """Name of the format that was exported last, and the folder it went to; empty texts for none."""
        found = self._texts("last_export")
        return (found[0], found[1]) if len(found) == 2 else ("", "")

    def remember_export(self, format_name: str, folder: Path) -> None:
        """Keep the format and the folder of an export."""
        self._store.setValue("last_export", [format_name, str(folder)])

    @property
    def shows_time(self) -> bool:
        """Whether the slider over the states stands under the matrix."""
        return str(self._store.value("time_slider", "")) == "shown"

    @shows_time.setter
    def shows_time(self, is_shown: bool) -> None:
        self._store.setValue("time_slider", "shown" if is_shown else "")

    @property
    def shows_values(self) -> bool:
        """Whether sample values stand beside the names of attributes."""
        return str(self._store.value("sample_values", "")) != "hidden"

    @shows_values.setter
    def shows_values(self, is_shown: bool) -> None:
        self._store.setValue("sample_values", "" if is_shown else "hidden")

    @property
    def shows_first_steps(self) -> bool:
        """Whether copies of the sample show their first steps."""
        return str(self._store.value("first_steps", "")) != "hidden"

    @shows_first_steps.setter
    def shows_first_steps(self, is_shown: bool) -> None:
        self._store.setValue("first_steps", "" if is_shown else "hidden")

    @property
    def folds_settled(self) -> bool:
        """Whether what was settled lately is folded to its heading below the review list."""
        return str(self._store.value("settled", "")) == "folded"

    @folds_settled.setter
    def folds_settled(self, is_folded: bool) -> None:
        self._store.setValue("settled", "folded" if is_folded else "")

    @property
    def map_width(self) -> float | None:
        """How wide the overview map of the matrix was drawn, in pixels at scale 1; ``None`` in its corner."""
        try:
            found = int(str(self._store.value("map_width", 0)))
        except ValueError:
            return None
        return float(found) if 0 < found <= _MOST_MAP_PX else None

    @map_width.setter
    def map_width(self, width: float | None) -> None:
        self._store.setValue("map_width", round(width) if width is not None else 0)

    @property
    def targets(self) -> list[str]:
        """Spark targets that were run on, the newest first; none of them has a secret in it."""
        return self._texts("targets")

    def remember_target(self, target: str) -> None:
        """Put a Spark target at the head of those that were run on."""
        targets = [target, *(other for other in self.targets if other != target)]
        self._store.setValue("targets", targets[:_MOST_RECENT])

    @property
    def who(self) -> str:
        """The name that a person gave themselves, empty for that of the login."""
        found = self._store.value("who", "")
        return found.strip() if isinstance(found, str) else ""

    @who.setter
    def who(self, name: str) -> None:
        self._store.setValue("who", name)

    @property
    def folded(self) -> list[Any]:
        """Whether each tree of the Map page is folded, and how wide it is when it is not."""
        found = self._mapping("folded").get("trees", [])
        return found if isinstance(found, list) else []

    @folded.setter
    def folded(self, trees: list[list[int]]) -> None:
        self._store.setValue("folded", json.dumps({"trees": trees}))

    def visit(self, project_id: str) -> dict[str, Any]:
        """Return how a project was looked at last, empty when it never was."""
        return self._mapping(f"visits/{project_id}")

    def save_visit(self, project_id: str, seen: Mapping[str, Any]) -> None:
        """Keep how a project was looked at; the visits to other projects that are longest ago go."""
        ids = [project_id, *(other for other in self._texts("visited") if other != project_id)]
        for gone in ids[_MOST_VISITS:]:
            self._store.remove(f"visits/{gone}")
        self._store.setValue("visited", ids[:_MOST_VISITS])
        self._store.setValue(f"visits/{project_id}", json.dumps(dict(seen)))

    def bookmarks(self, project_id: str) -> dict[str, Any]:
        """Return the named places of a project, the oldest first."""
        return self._mapping(f"bookmarks/{project_id}")

    def save_bookmarks(self, project_id: str, places: Mapping[str, Any]) -> None:
        """Keep the named places of a project."""
        self._store.setValue(f"bookmarks/{project_id}", json.dumps(dict(places)))

    def diagram(self, project_id: str) -> dict[str, Any]:
        """Return where the boxes of a project's star diagram were put, by their keys."""
        return self._mapping(f"diagrams/{project_id}")

    def save_diagram(self, project_id: str, places: Mapping[str, Any]) -> None:
        """Keep where the boxes of a project's star diagram are."""
        self._store.setValue(f"diagrams/{project_id}", json.dumps(dict(places)))

    def warehouses(self, project_id: str) -> dict[str, Any]:
        """Return the targets that were loaded from the window, the newest first.

        Each has the name of its ``model``, and the ``kept`` changes for which it is not to be rebuilt.
        """
        return {name: one for name, one in self._mapping(f"warehouses/{project_id}").items() if isinstance(one, dict)}

    def save_warehouse(self, project_id: str, target: str, model: str, kept: str = "") -> None:
        """Put a target at the head of those that were loaded."""
        others = {name: one for name, one in self.warehouses(project_id).items() if name != target}
        found = {target: {"model": model, "kept": kept}, **others}
        newest = dict(list(found.items())[:_MOST_WAREHOUSES])
        self._store.setValue(f"warehouses/{project_id}", json.dumps(newest))

    def watched(self, project_id: str) -> list[dict[str, Any]]:
        """What is watched for a project: registries and databases, each as it was begun."""
        found = self._mapping(f"watched/{project_id}").get("watched", [])
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    def save_watched(self, project_id: str, watched: Sequence[Mapping[str, Any]]) -> None:
        """Keep what is watched for a project."""
        self._store.setValue(f"watched/{project_id}", json.dumps({"watched": list(watched)}))

    def layout(self, name: str) -> QByteArray | None:
        """Return the saved state of a window or page."""
        found = self._store.value(f"layout/{name}")
        return found if isinstance(found, QByteArray) else None

    def save_layout(self, name: str, state: QByteArray) -> None:
        """Keep the state of a window or page."""
        self._store.setValue(f"layout/{name}", state)

    def _texts(self, key: str) -> list[str]:
        found = self._store.value(key, [])
        names = [found] if isinstance(found, str) else found if isinstance(found, list) else []
        return [name for name in names if isinstance(name, str) and name]

    def _mapping(self, key: str) -> dict[str, Any]:
        try:
            found = json.loads(str(self._store.value(key, "{}")))
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
