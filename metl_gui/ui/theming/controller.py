"""Which theme, at which scale: what the person chose, or what the system says, followed while the window is open."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from metl_gui.ui.project.settings import ViewSettings
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.dresser import Dresser

SCALES = (90, 100, 110, 125, 150, 175, 200)
"""Sizes of everything, in percent of the system's own."""


_LAYOUTS = 3
"""How often at most a layout makes what is around it another size: a bar, its window, the pages of the window."""


def choose_theme(app: QApplication, settings: ViewSettings) -> None:
    """Take the theme that the settings name, or the system's."""
    name = settings.theme or themes.system_theme_name()
    themes.choose(app, themes.load(name, themes.system_wants_contrast()), settings.scale / 100)


class ThemeController(QObject):
    """Dresses the application again when the person or the system wants it otherwise.

    Args:
        settings: where the choice is kept.
        window: what it lives with.

    Signals:
        dressed: the application wears another theme or scale now.
    """

    dressed = Signal()

    def __init__(self, settings: ViewSettings, window: QWidget) -> None:
        super().__init__(window)
        self._settings = settings
        self._dresser = Dresser(self)
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self.follow_system)
        if hasattr(hints, "accessibility"):
            hints.accessibility().contrastPreferenceChanged.connect(self.follow_system)

    @property
    def has_more_to_dress(self) -> bool:
        """Whether something hidden still wears the theme or the size before."""
        return self._dresser.is_at_work

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
        """Dress the application, and tell every widget that keeps something drawn and so has a method ``dress``."""
        app = QApplication.instance()
        if not isinstance(app, QApplication):
            return
        choose_theme(app, self._settings)
        self._dresser.dress(app)
        self.dressed.emit()
        _lay_out()


def _lay_out() -> None:
    """Give everything its place before it is painted: Qt would paint it in its old place first, and then once more."""
    for _ in range(_LAYOUTS):
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
