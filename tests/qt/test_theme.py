"""The tokens keep their contrast on every surface they stand on: words 4.5 to 1, marks and outlines 3 to 1."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from metl_gui.ui.theming import theme as themes
from metl_gui.ui.theming.theme import contrast

WORDS = [
    ("text", ("bg", "panel", "band", "sel", "accentbg", "reviewbg", "goodbg", "badbg")),
    ("dim", ("bg", "panel", "band")),
    ("accent", ("bg", "panel", "band", "accentbg")),
    ("review", ("bg", "panel", "reviewbg")),
    ("good", ("bg", "panel", "goodbg")),
    ("bad", ("bg", "panel", "badbg")),
    ("panel", ("accent",)),
]
MARKS = [
    ("accent", ("panel", "bg", "accentbg", "sel", "reviewbg")),
    ("good", ("panel", "reviewbg")),
    ("bad", ("panel",)),
]


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize(("word", "surfaces"), WORDS)
def test_words_stand_out_from_every_surface_they_stand_on(name: str, word: str, surfaces: tuple[str, ...]) -> None:
    theme = themes.load(name)
    ratios = {surface: contrast(getattr(theme, word), getattr(theme, surface)) for surface in surfaces}
    assert {surface: ratio for surface, ratio in ratios.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize(("mark", "surfaces"), MARKS)
def test_marks_stand_out_from_every_surface_they_stand_on(name: str, mark: str, surfaces: tuple[str, ...]) -> None:
    theme = themes.load(name)
    ratios = {surface: contrast(getattr(theme, mark), getattr(theme, surface)) for surface in surfaces}
    assert {surface: ratio for surface, ratio in ratios.items() if ratio < 3.0} == {}


@pytest.mark.parametrize("name", ["light", "dark"])
def test_outlines_of_what_needs_review_stand_out(name: str) -> None:
    theme = themes.load(name)
    colour, width = theme.review_outline
    assert min(contrast(colour, theme.panel), contrast(colour, theme.reviewbg)) >= 3.0
    assert width >= 1.5


@pytest.mark.parametrize("name", ["light", "dark"])
def test_numbers_can_be_read_on_every_tint_of_a_tile(name: str) -> None:
    theme = themes.load(name)
    tints = [theme.tint(share / 50) for share in range(51)]
    assert min(contrast(theme.on_tint(tint), tint) for tint in tints) >= 4.5


def test_a_fuller_tile_is_darker_than_an_emptier_one_in_the_light_theme() -> None:
    theme = themes.load("light")
    values = [theme.tint(share / 10).lightnessF() for share in range(11)]
    assert values == sorted(values, reverse=True)


def test_the_style_sheet_leaves_no_token_unfilled(qapp: QApplication) -> None:
    sheet = themes.style_sheet(themes.load("dark"), qapp.font())
    assert "$" not in sheet
    assert themes.load("dark").accent.name() in sheet


def test_the_contrast_of_black_and_white_is_twenty_one() -> None:
    assert contrast(QColor("black"), QColor("white")) == pytest.approx(21.0)
