"""Densities below 14 px: nothing is lost, parts agree with the whole, cells are told apart, edits are seen."""

from __future__ import annotations

import random
from collections import Counter
from math import ceil, floor

import numpy as np
import pytest

from metl_gui.core.changes.draft import perform
from metl_gui.ui.matrix.layout import density as densities
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.content import PlaneContent, content_after, content_of
from metl_gui.ui.matrix.layout.density import Density
from tests.qt.random_documents import some_document
from tests.unit.ui.naive_plane import Plane
from tests.unit.ui.random_edits import some_edit

SEEDS = range(4)
SIZES = [(0.25, 0.25), (0.25, 3.0), (2.0, 1.0), (16.0, 0.3), (16.0, 4.0), (60.0, 60.0), (500.0, 500.0)]


def whole(content: PlaneContent, most: tuple[float, float]) -> Density:
    return content.density((0.0, 0.0, content.columns.length, content.rows.length), most)


def edges(begin: float) -> tuple[int, int]:
    """Return the first of the bins of a quarter of a unit that a cell touches, and the one behind the last."""
    return floor(round(begin / 0.25, 5)), ceil(round((begin + 1) / 0.25, 5))


@pytest.mark.parametrize("most", SIZES)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_bins_of_the_whole_plane_hold_every_element(seed: int, most: tuple[float, float]) -> None:
    content = content_of(some_document(seed))
    tiles = Plane.of(content.document).tiles(Level.GROUP, Level.GROUP)
    found = whole(content, most)
    assert found.elements.sum() == pytest.approx(sum(tile.elements for tile in tiles), rel=1e-4)
    assert found.waiting.any() == any(tile.waiting for tile in tiles)


@pytest.mark.parametrize("seed", SEEDS)
def test_bins_smaller_than_half_a_cell_hold_only_the_cells_that_are_mapped(seed: int) -> None:
    content = content_of(some_document(seed))
    plane, found = Plane.of(content.document), whole(content, (0.3, 0.3))
    expected: Counter[tuple[int, int]] = Counter()
    for column, row, _ in plane.elements():
        left, top = plane.columns[column].begin, plane.rows[row].begin
        xs = range(*edges(left))
        ys = range(*edges(top))
        expected.update((y, x) for x in xs for y in ys)
    assert {(int(y), int(x)) for y, x in zip(*np.nonzero(found.elements), strict=True)} == set(expected)


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize("most", SIZES)
def test_a_part_shows_the_same_bins_as_the_whole(
    most: tuple[float, float], is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(densities, "_MANY_TILES", 0 if is_kept else 10**9)
    content, rng = content_of(some_document(5)), random.Random(5)
    everything = whole(content, most)
    size = (everything.right - everything.left) / everything.elements.shape[1]
    tall = (everything.bottom - everything.top) / everything.elements.shape[0]
    for _ in range(10):
        left, right = sorted((rng.uniform(0, content.columns.length), rng.uniform(0, content.columns.length)))
        top, bottom = sorted((rng.uniform(0, content.rows.length), rng.uniform(0, content.rows.length)))
        part = content.density((left, top, right + 1e-3, bottom + 1e-3), most)
        x, y = round(part.left / size), round(part.top / tall)
        rows, columns = (
            min(n, w - at) for n, w, at in zip(part.elements.shape, everything.elements.shape, (y, x), strict=True)
        )
        for name in ("elements", "waits"):
            expected = getattr(everything, name)[y : y + rows, x : x + columns]
            assert np.allclose(getattr(part, name)[:rows, :columns], expected, atol=1e-4)


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_edits_change_the_bins_as_if_everything_were_binned_again(
    seed: int, is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(densities, "_MANY_TILES", 0 if is_kept else 10**9)
    rng = random.Random(seed)
    document = some_document(seed).merged()
    content = content_of(document)
    for _ in range(12):
        transition = perform(document, some_edit(document, rng))
        document = transition.after
        content = content_after(content, document, [change.key for change in transition.change.blocks])
        fresh = content_of(document.merged())
        for most in SIZES[3:]:
            found, expected = whole(content, most), whole(fresh, most)
            assert np.allclose(found.elements, expected.elements, atol=1e-3)
            assert np.array_equal(found.elements > 0, expected.elements > 0)
            assert np.array_equal(found.waiting, expected.waiting)
