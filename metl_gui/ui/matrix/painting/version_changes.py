"""What changed from version to version: the elements that a version's block has more or fewer than the one before.

Elements of two versions are the same when they lead from the same lineage to the same CDM attribute.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from metl_gui.ui.matrix.layout.axis import Axis, Level
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.ui.matrix.layout.tree_columns import spread
from metl_gui.ui.matrix.painting.paint_context import PaintContext, Sign
from metl_gui.ui.matrix.painting.raster import PixelLine
from metl_gui.ui.matrix.painting.text_layout import TextAlignment, TextPainter
from metl_gui.ui.theming.theme import Theme
from metl_gui.values import Value

Ints = npt.NDArray[np.int64]

_MOST_VERSIONS = 400
"""More than these are not in sight while a version has 14 px, unless most are far smaller than the median."""
_BAR_PX = 3.0


class ChangeCounts(Value, eq=False):
    """Numbers of elements that came and went, of tiles in which any did.

    Args:
        x: the version, an item of the column axis.
        y: the item of the row axis.
        added, gone: how many elements it has that the version before has not, and the other way round.
    """

    x: Ints
    y: Ints
    added: Ints
    gone: Ints


_NONE = np.empty(0, np.int64)
NO_CHANGES = ChangeCounts(_NONE, _NONE, _NONE, _NONE)


def changes_within(content: PlaneContent, versions: range, rows: range, level: Level) -> ChangeCounts:
    """Compare the versions of a range with those before them, by items of a level of the rows."""
    axis = content.columns
    spans = axis.spans(Level.VERSION)
    first = versions.start
    if first > 0 and axis.schema_at(first - 1) == axis.schema_at(min(first, len(spans) - 1)):
        first -= 1
    wide, tall = range(first, versions.stop), content.rows.spans(level)
    if not wide or not len(rows):
        return NO_CHANGES
    found = content.elements_within(
        range(spans.first(wide.start), spans.last(wide.stop - 1)),
        range(tall.first(rows.start), tall.last(rows.stop - 1)),
    )
    if not len(found.column):
        return NO_CHANGES
    version = spans.items_of(found.column).astype(np.int64)
    lineage, schema = _lineages(axis, wide)
    key = np.stack([schema[version - first], lineage[found.column - spans.first(first)], found.row, version])
    key = key[:, np.lexsort(key[::-1])]
    same = (key[:3, 1:] == key[:3, :-1]).all(axis=0) & (key[3, 1:] == key[3, :-1] + 1)
    has_before, has_after = np.concatenate([[False], same]), np.concatenate([same, [False]])
    is_first = np.concatenate([[True], schema[1:] != schema[:-1]])
    came = ~has_before & ~is_first[key[3] - first]
    following = key[3] + 1 - first
    known = following < len(schema)
    after = np.minimum(following, len(schema) - 1)
    went = ~has_after & known & (schema[after] == key[0])
    return _summed(tall.items_of(key[2]).astype(np.int64), key[3], came, went, versions)


def paint_changes(
    painter: QPainter, look: PaintContext, levels: tuple[Level, Level], lines: tuple[PixelLine, PixelLine]
) -> frozenset[Sign]:
    """Paint on tiles of versions what came and went: words where there is room, else bars; dashed is gone."""
    content = look.content
    seen_x = content.columns.spans(levels[0]).within(look.box[0], look.box[2])
    seen_y = content.rows.spans(levels[1]).within(look.box[1], look.box[3])
    if len(seen_x) > _MOST_VERSIONS:
        return frozenset()
    changes = changes_within(content, seen_x, seen_y, levels[1])
    columns, rows = lines
    at_x, at_y = columns.rows_of(changes.x), rows.rows_of(changes.y)
    letters = TextPainter(painter, look.ratio, is_vector=look.is_vector, factor=0.8)
    signs: set[Sign] = set()
    for x, y, added, gone in zip(
        at_x.tolist(), at_y.tolist(), changes.added.tolist(), changes.gone.tolist(), strict=True
    ):
        left, top = int(columns.begin[x]) / look.ratio, int(rows.begin[y]) / look.ratio
        box = QRectF(left, top, int(columns.end[x]) / look.ratio - left, int(rows.end[y]) / look.ratio - top)
        paint_change(painter, letters, box, (added, gone), look.theme)
        signs |= ({Sign.ADDED} if added else set()) | ({Sign.GONE} if gone else set())
    return frozenset(signs)


def _lineages(axis: Axis, versions: range) -> tuple[Ints, Ints]:
    """Return the lineage of every attribute position of some versions, and the schema of each version."""
    spans, nodes = axis.version_spans, axis.nodes
    rows = axis.rows[versions.start : versions.stop].astype(np.int64)
    shown_counts = np.diff(spans.bounds[versions.start : versions.stop + 1])
    if (rows >= 0).all() and (nodes.widths(rows) == shown_counts).all():  # none was edited, and all of each is shown
        places = spread(nodes.base.start[rows], nodes.base.start[rows + 1])
        return nodes.base.lineage[places].astype(np.int64), nodes.base.schema_id[rows].astype(np.int64)
    made = [axis.version(at) for at in versions]
    lineages: list[int] = []
    for at, version in zip(versions, made, strict=True):
        shown = range(spans.first(at), spans.last(at))
        if len(shown) == len(version.attributes):
            lineages += [a.lineage for a in version.attributes]
        else:
            known = {a.id: a.lineage for a in version.attributes}
            lineages += [known[axis.attribute_id(position)] for position in shown]
    return np.array(lineages, np.int64), np.array([version.schema_id for version in made], np.int64)


def _summed(
    y: Ints, version: Ints, came: npt.NDArray[np.bool_], went: npt.NDArray[np.bool_], versions: range
) -> ChangeCounts:
    """Count by tile; what went is told on the version that has it no more."""
    xs = np.concatenate([version[came], version[went] + 1])
    ys = np.concatenate([y[came], y[went]])
    kept = (xs >= versions.start) & (xs < versions.stop)
    is_added = np.arange(len(xs)) < int(came.sum())
    tiles, at = np.unique(np.stack([xs[kept], ys[kept]]), axis=1, return_inverse=True)
    at = at.reshape(-1)
    added = np.bincount(at, weights=is_added[kept], minlength=tiles.shape[1]).astype(np.int64)
    gone = np.bincount(at, weights=~is_added[kept], minlength=tiles.shape[1]).astype(np.int64)
    return ChangeCounts(tiles[0], tiles[1], added, gone)


def paint_change(painter: QPainter, letters: TextPainter, box: QRectF, change: tuple[int, int], theme: Theme) -> None:
    """Write at the foot of a tile how many elements came and went; without room for words draw bars."""
    added, gone = change
    fonts = letters.plain
    words = f"+{added}" if added else "", f"-{gone}" if gone else ""
    has_words = box.height() >= 3.4 * fonts.height and all(fonts.width(each) + 6 <= box.width() / 2 for each in words)
    if has_words:
        foot = QRectF(box.left() + 3, box.bottom() - fonts.height - 2, box.width() - 6, fonts.height)
        _paint_pill(painter, letters, foot, words[0], (theme.goodbg, theme.good), TextAlignment.LEFT)
        _paint_pill(painter, letters, foot, words[1], (theme.reviewbg, theme.review), TextAlignment.RIGHT)
        return
    bar = QRectF(box.left() + 1, box.bottom() - _BAR_PX, box.width() - 2, _BAR_PX)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    painter.fillRect(bar, theme.panel)
    if added:
        half = bar.adjusted(0, 1, -bar.width() / 2 if gone else 0, 0)
        painter.fillRect(half, theme.good)
    if gone:
        pen = QPen(theme.review_outline[0], _BAR_PX - 1, Qt.PenStyle.CustomDashLine, Qt.PenCapStyle.FlatCap)
        pen.setDashPattern([1.5, 1.0])
        painter.setPen(pen)
        left = bar.center().x() if added else bar.left()
        painter.drawLine(QLineF(left, bar.center().y() + 0.5, bar.right(), bar.center().y() + 0.5))


def _paint_pill(
    painter: QPainter,
    letters: TextPainter,
    foot: QRectF,
    words: str,
    colours: tuple[QColor, QColor],
    stand: TextAlignment,
) -> None:
    if not words:
        return
    width = letters.plain.width(words) + 6
    left = foot.left() if stand is TextAlignment.LEFT else foot.right() - width
    box = QRectF(left, foot.top(), width, foot.height())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colours[0])
    painter.drawRoundedRect(box, 4, 4)
    letters.write(words, box, colours[1])
