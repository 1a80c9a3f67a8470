"""Places with names, kept in the view settings of each project."""

from __future__ import annotations

from typing import Any

from metl_gui.ui.matrix.places import PlanePlace
from metl_gui.ui.settings import ViewSettings

_MOST = 50


class Bookmarks:
    """The bookmarks of the open project.

    Args:
        settings: where they are kept, ``None`` for nowhere.
    """

    def __init__(self, settings: ViewSettings | None) -> None:
        self._settings = settings
        self._project_id = ""
        self._found: dict[str, PlanePlace] = {}

    def open(self, project_id: str) -> None:
        """Take those of another project."""
        self._project_id = project_id
        kept = self._settings.bookmarks(project_id) if self._settings is not None and project_id else {}
        places = {name: PlanePlace.of_json(value) for name, value in kept.items()}
        self._found = {name: place for name, place in places.items() if place is not None}

    def names(self) -> list[str]:
        """Return the names, the oldest first."""
        return list(self._found)

    def place(self, name: str) -> PlanePlace | None:
        """Return the place of a name."""
        return self._found.get(name)

    def add(self, name: str, place: PlanePlace) -> None:
        """Give a place a name; the place that had it before has none any more."""
        self._found.pop(name, None)
        self._found[name] = place
        for oldest in list(self._found)[:-_MOST]:
            del self._found[oldest]
        self._save()

    def remove(self, name: str) -> None:
        """Forget a name."""
        self._found.pop(name, None)
        self._save()

    def _save(self) -> None:
        if self._settings is not None and self._project_id:
            kept: dict[str, Any] = {name: place.as_json() for name, place in self._found.items()}
            self._settings.save_bookmarks(self._project_id, kept)
