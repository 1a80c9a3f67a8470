"""What the window remembers between two openings: layout, theme, recent projects."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

_MOST_RECENT = 10


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
        return str(self._store.value("theme", ""))

    @theme.setter
    def theme(self, name: str) -> None:
        self._store.setValue("theme", name)

    @property
    def recent(self) -> list[Path]:
        """Recent projects, the newest first."""
        found = self._store.value("recent", [])
        names = [found] if isinstance(found, str) else list(found) if isinstance(found, list) else []
        return [Path(str(name)) for name in names]

    def remember_project(self, path: Path) -> None:
        """Put a project at the head of the recent ones."""
        names = [str(path), *(str(other) for other in self.recent if other != path)]
        self._store.setValue("recent", names[:_MOST_RECENT])

    def layout(self, name: str) -> QByteArray | None:
        """Return the saved state of a window or page."""
        found = self._store.value(f"layout/{name}")
        return found if isinstance(found, QByteArray) else None

    def save_layout(self, name: str, state: QByteArray) -> None:
        """Keep the state of a window or page."""
        self._store.setValue(f"layout/{name}", state)
