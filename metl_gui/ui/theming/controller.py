"""Which theme, at which scale: what the person chose, or what the system says, followed while the window is open."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from metl_gui.ui.project.settings import ViewSettings
from metl_gui.ui.theming import theme as themes

SCALES = (90, 100, 110, 125, 150, 175, 200)
"""Sizes of everything, in percent of the system's own."""


def choose_theme(app: QApplication, settings: ViewSettings) -> None:
    """Take the theme that the settings name, or the system's."""
    name = settings.theme or themes.system_theme_name()
    themes.choose(app, themes.load(name, themes.system_wants_contrast()), settings.scale / 100)


def apply_theme(app: QApplication, settings: ViewSettings) -> None:
    """Dress the application as the settings say."""
    choose_theme(app, settings)
    themes.dress(app)


class ThemeController(QObject):
    """Dresses the application again when the person or the system wants it otherwise.

    Args:
        settings: where the choice is kept.
        window: every widget in it that has ``dress()`` is told.

    Signals:
        dressed: the application wears another theme or scale now.
    """

    dressed = Signal()

    def __init__(self, settings: ViewSettings, window: QWidget) -> None:
        super().__init__(window)
        self._settings = settings
        self._window = window
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self.follow_system)
        if hasattr(hints, "accessibility"):
            hints.accessibility().contrastPreferenceChanged.connect(self.follow_system)

    def choose(self, name: str) -> None:
        """Wear ``light`` or ``dark``, or with an empty name what the system says."""
        self._settings.theme = name
        self.dress()

    def scale_to(self, percent: int) -> None:
        """Show everything larger or smaller."""
        self._settings.scale = min(max(percent, SCALES[0]), SCALES[-1])
        self.dress()

    def step(self, direction: int) -> None:
        """Go to the next larger (1) or smaller (-1) scale."""
        beyond = [percent for percent in SCALES if (percent - self._settings.scale) * direction > 0]
        if beyond:
            self.scale_to(min(beyond, key=lambda percent: abs(percent - self._settings.scale)))

    def follow_system(self) -> None:
        """Dress again; a theme that was chosen stays, its contrast follows the system."""
        self.dress()

    def dress(self) -> None:
        """Dress the application and everything in the window that keeps something drawn."""
        app = QApplication.instance()
        if not isinstance(app, QApplication):
            return
        apply_theme(app, self._settings)
        for widget in self._window.findChildren(QWidget):
            if hasattr(widget, "dress"):
                widget.dress()
        self.dressed.emit()
