"""The theme: tokens of ``resources/themes/*.toml`` as palette, style sheet, and colours of charts and matrix.

Custom painters ask ``current()`` at paint time, so a change of theme needs no signal but the repaint that Qt sends
anyway. A widget that keeps something drawn has a method ``dress()``, which ``ui.theming.dresser`` calls after every
change of theme or scale. Sizes in pixels go through ``px``; fonts follow the application's font.

Source: WCAG 2.2, relative luminance and contrast ratio (contrast and mixtures of colours).
"""

from __future__ import annotations

import gc
import re
import string
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from html import escape
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from metl_gui.packaged import resources
from metl_gui.ui.theming.app_icon import app_icon
from metl_gui.values import Value

NO_LIMIT_PX = 16_777_215
"""The largest size of a widget: what Qt takes for no limit, and has no name for in Python."""


def luminance(colour: QColor) -> float:
    """Return the relative luminance, 0 (black) to 1 (white)."""
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: QColor, other: QColor) -> float:
    """Return the contrast ratio, 1 (none) to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def mixed(under: QColor, over: QColor, share: float) -> QColor:
    """Lay a share of one colour over another."""
    parts = (
        u + (o - u) * share
        for u, o in zip(
            (under.redF(), under.greenF(), under.blueF()), (over.redF(), over.greenF(), over.blueF()), strict=True
        )
    )
    return QColor.fromRgbF(*parts)


def faded(colour: QColor, alpha: float) -> QColor:
    """Return the colour with an opacity of 0 to 1."""
    result = QColor(colour)
    result.setAlphaF(alpha)
    return result


SMALL = 0.92
"""Size of secondary text as a share of the system font."""


_DRAWINGS = ("check", "clear", "tick", "more", "arrow-down", "arrow-up", "arrow-left", "arrow-right")
"""Small drawings of the style sheet: those of Qt's own style do not grow with the size."""
_PIXELS = re.compile(r"(?<![\w.])([3-9]|\d{2,})px")
"""Sizes of the style sheet that scale; lines of 1 and 2 px stay lines."""


class Theme(Value):
    """The tokens of one theme, under their names in ``resources/themes``."""

    name: str
    dark: bool
    ramp_end: float
    bg: QColor
    panel: QColor
    line: QColor
    band: QColor
    grid: QColor
    text: QColor
    dim: QColor
    faint: QColor
    accent: QColor
    accentbg: QColor
    sel: QColor
    review: QColor
    reviewbg: QColor
    reviewmark: QColor
    good: QColor
    goodbg: QColor
    bad: QColor
    badbg: QColor

    def tint(self, share: float) -> QColor:
        """Colour of a tile of which a share of 0 to 1 is mapped."""
        return mixed(self.panel, self.accent, self.ramp_end * (0.12 + 0.88 * min(max(share, 0.0), 1.0)))

    def on_tint(self, tint: QColor) -> QColor:
        """Colour of words on a tile: whichever of text and panel contrasts more."""
        return max(self.text, self.panel, key=lambda colour: contrast(colour, tint))

    @property
    def review_outline(self) -> tuple[QColor, float]:
        """Colour and width of the outline of what needs review."""
        return (self.reviewmark, 1.6) if self.dark else (self.review, 2.0)

    @property
    def chart(self) -> dict[str, QColor]:
        """Colours of the chart's lines."""
        return {"in": self.accent, "mapped": self.good, "filtered": self.dim, "set_aside": self.reviewmark}

    def pill(self, kind: str) -> tuple[QColor, QColor]:
        """Surface and text of a pill: ``review``, ``good``, ``bad``, ``accent`` or ``plain``."""
        pairs = {
            "review": (self.reviewbg, self.review),
            "good": (self.goodbg, self.good),
            "bad": (self.badbg, self.bad),
            "accent": (self.accentbg, self.accent),
        }
        return pairs.get(kind, (self.band, self.dim))


@cache
def load(name: str, has_high_contrast: bool = False) -> Theme:
    """Read the tokens of the theme ``light`` or ``dark``.

    Args:
        name: which.
        has_high_contrast: on black or white, secondary text and lines standing out as text does.
    """
    values = tomllib.loads((resources() / "themes" / f"{name}.toml").read_text("utf-8"))
    plain = ("name", "dark", "ramp_end")
    tokens: dict[str, Any] = {name: value if name in plain else QColor(value) for name, value in values.items()}
    theme = Theme(**tokens)
    return _heightened(theme) if has_high_contrast else theme


def _heightened(theme: Theme) -> Theme:
    ground, words = (QColor("black"), QColor("white")) if theme.dark else (QColor("white"), QColor("black"))
    return replace(
        theme,
        bg=ground,
        panel=ground,
        text=words,
        dim=mixed(words, ground, 0.15),
        faint=mixed(words, ground, 0.35),
        line=mixed(words, ground, 0.3),
        grid=mixed(words, ground, 0.75),
        accent=mixed(theme.accent, words, 0.35),
    )


_current: list[Theme] = []
_scale: list[float] = [1.0]
_system_font: list[QFont] = []


def current() -> Theme:
    """Return the theme that was applied last, the light one when none was."""
    return _current[-1] if _current else load("light")


def scale() -> float:
    """Return what the system's font and the sizes of the tokens are multiplied by."""
    return _scale[-1]


def px(pixels: float) -> int:
    """Return a size at the current scale.

    Units: pixels of the screen, before its own device pixel ratio.
    """
    return round(pixels * scale())


def system_theme_name() -> str:
    """Tell which of the two themes the system asks for."""
    hints = QGuiApplication.styleHints()
    return "dark" if hints.colorScheme() == Qt.ColorScheme.Dark else "light"


def system_wants_contrast() -> bool:
    """Tell whether the system asks for high contrast; Qt knows since 6.10."""
    hints = QGuiApplication.styleHints()
    if not hasattr(hints, "accessibility"):
        return False
    return hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast


def apply(app: QApplication, theme: Theme, scale: float = 1.0) -> None:
    """Dress the application in a theme, at a scale."""
    choose(app, theme, scale)
    dress(app)


def choose(app: QApplication, theme: Theme, scale: float = 1.0) -> None:
    """Take a theme, at a scale: its colours and its font, but not yet its style sheet, which ``dress`` puts on.

    A window that is made before the sheet is put on is there in a third of the time: Qt would dress a widget, and all
    below it, again whenever it is put into another.
    """
    if not _system_font:
        _system_font.append(QFont(app.font()))
        app.setStyle("Fusion")
        app.setWindowIcon(app_icon())
    _current[:] = [theme]
    _scale[:] = [scale]
    font = QFont(_system_font[0])
    if font.pointSizeF() > 0:
        font.setPointSizeF(font.pointSizeF() * scale)
    else:
        font.setPixelSize(round(font.pixelSize() * scale))
    with no_widget_goes():
        app.setPalette(palette(theme))
        if font != app.font():
            app.setFont(font)


def dress(app: QApplication) -> None:
    """Put the style sheet of the chosen theme on everything.

    The sheet before is taken off first: where one replaces another, Qt goes to each widget once for each of its
    parents, and with the panels of all pages that takes three times as long as taking it off and putting one on.
    """
    with no_widget_goes():
        undress(app)
        app.setStyleSheet(style_sheet(current(), app.font()))


def undress(app: QApplication) -> None:
    """Take the style sheet off everything."""
    if app.styleSheet():
        app.setStyleSheet("")


@contextmanager
def no_widget_goes() -> Iterator[None]:
    """Keep Python from collecting garbage while Qt walks through a list of all widgets.

    A widget that only a cycle of references keeps would be deleted in the middle of the walk, which ends the process;
    the walk calls Python (``changeEvent``), so it does happen.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def palette(theme: Theme) -> QPalette:
    """Turn tokens into Qt's palette, for what the style sheet does not reach."""
    roles = QPalette.ColorRole
    made = QPalette()
    for role, colour in {
        roles.Window: theme.bg,
        roles.WindowText: theme.text,
        roles.Base: theme.panel,
        roles.AlternateBase: theme.band,
        roles.Text: theme.text,
        roles.PlaceholderText: theme.faint,
        roles.Button: theme.panel,
        roles.ButtonText: theme.text,
        roles.BrightText: theme.bad,
        roles.Highlight: theme.sel,
        roles.HighlightedText: theme.text,
        roles.Link: theme.accent,
        roles.ToolTipBase: theme.panel,
        roles.ToolTipText: theme.text,
        roles.Light: theme.line,
        roles.Midlight: theme.line,
        roles.Mid: theme.line,
        roles.Dark: theme.line,
        roles.Accent: theme.accent,
    }.items():
        made.setColor(role, colour)
    for role in (roles.Text, roles.WindowText, roles.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, theme.faint)
    return made


def style_sheet(theme: Theme, font: QFont) -> str:
    """Fill the style sheet with the tokens and with sizes that follow the system font."""
    size = font.pointSizeF() if font.pointSizeF() > 0 else font.pixelSize() * 0.75
    tokens = {name: getattr(theme, name) for name in Theme.__struct_fields__}
    names = {name: value.name() for name, value in tokens.items() if isinstance(value, QColor)}
    names |= {"small": f"{size * SMALL:.2f}", "title": f"{size * 1.28:.2f}", "figure": f"{size * 1.6:.2f}"}
    names["mono"] = mono().family()
    names |= {name: (resources() / "themes" / f"{name}-{theme.name}.svg").as_posix() for name in _DRAWINGS}
    names |= _round_sizes()
    return _template(scale()).substitute({name.replace("-", "_"): text for name, text in names.items()})


@cache
def _template(scale: float) -> string.Template:
    sheet = (resources() / "themes" / "window.qss").read_text("utf-8")
    return string.Template(_PIXELS.sub(lambda found: f"{round(int(found[1]) * scale)}px", sheet))


def _round_sizes() -> dict[str, str]:
    """Return sizes of a round button: Qt draws one as a square whose corners are rounder than half of it."""
    half = px(7)
    ring = px(5)
    return {"half": f"{half}", "hollow": f"{2 * half - 4}", "ring": f"{ring}", "dot": f"{2 * (half - ring)}"}


def coloured(text: str, colour: QColor) -> str:
    """Return HTML of a text in a colour, for a label; widgets have no style sheets of their own (see the dresser)."""
    return f"<span style='color:{colour.name()}'>{escape(text)}</span>"


def small(bold: bool = False) -> QFont:
    """Return the font of secondary text."""
    return scaled(SMALL, bold)


def scaled(factor: float, bold: bool = False) -> QFont:
    """Return the application's font at a share of its size."""
    return QFont(_scaled(QApplication.font(), factor, bold))


@lru_cache(maxsize=64)
def _scaled(base: QFont, factor: float, bold: bool) -> QFont:
    font = QFont(base)
    if font.pointSizeF() > 0:
        font.setPointSizeF(font.pointSizeF() * factor)
    else:
        font.setPixelSize(round(font.pixelSize() * factor))
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font


def mono() -> QFont:
    """Return the system's monospaced font at the size of secondary text."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    reference = small()
    if reference.pointSizeF() > 0:
        font.setPointSizeF(reference.pointSizeF())
    return font


def text_width(text: str, font: QFont) -> float:
    """Measure a text in pixels."""
    return QFontMetricsF(font).horizontalAdvance(text)
