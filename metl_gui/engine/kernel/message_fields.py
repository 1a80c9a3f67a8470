"""Where the members of messages stand in the text of a batch, by the layouts and the lengths of their values.

Nothing here reads a message: where a member begins and ends is a sum of fixed letters and lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from metl_gui.engine.kernel.message_layout import Field, Layout, Place, fields_of
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.values import Value

Places: TypeAlias = "NDArray[np.int64]"


class AlikeMessages(Value, eq=False):
    """Messages of one layout in a batch.

    Args:
        layout: of all of them.
        rows: which messages of the batch, in its order.
        ends: where in the text each message begins, and where each of its values would end if there were no fixed text.

    Shape: ``rows`` (messages,); ``ends`` (values + 1, messages).
    """

    layout: Layout
    rows: Places
    ends: Places

    def span(self, field: Field) -> tuple[Places, Places]:
        """Return where a member of each message begins and ends in the text of the batch."""
        return self._at(field.start), self._at(field.stop)

    def _at(self, place: Place) -> Places:
        found: Places = self.ends[place.values] + place.letters
        return found


def alike_messages(batch: MappedBatch) -> Iterator[AlikeMessages]:
    """Yield the messages of a batch by layout."""
    if not len(batch):
        return
    if batch.layouts[0] == batch.layouts[-1] and (batch.layouts == batch.layouts[0]).all():
        layout = batch.layout(int(batch.layouts[0]))
        lengths = batch.lengths.reshape(len(batch), len(layout.order)).T
        yield AlikeMessages(layout, np.arange(len(batch)), _ends(batch.starts, lengths))
        return
    numbers, which = np.unique(batch.layouts, return_inverse=True)
    layouts = [batch.layout(number) for number in numbers.tolist()]
    counts = np.array([len(layout.order) for layout in layouts], np.int64)[which]
    firsts = np.cumsum(counts) - counts
    order = np.argsort(which, kind="stable")
    stops = np.cumsum(np.bincount(which, minlength=len(layouts))).tolist()
    for layout, start, stop in zip(layouts, [0, *stops], stops, strict=False):
        rows = order[start:stop]
        lengths = batch.lengths[np.arange(len(layout.order))[:, None] + firsts[rows]]
        yield AlikeMessages(layout, rows, _ends(batch.starts[rows], lengths))


def _ends(begins: Places, lengths: NDArray[np.int32]) -> Places:
    """Return what ``AlikeMessages.ends`` says of messages."""
    ends = np.empty((len(lengths) + 1, len(begins)), np.int64)
    ends[0] = begins
    # numpy's own sum over rows that lie apart takes several times as long.
    for row, some in enumerate(lengths):
        np.add(ends[row], some, out=ends[row + 1])
    return ends


def spans_of(batch: MappedBatch, names: Sequence[str]) -> tuple[Places, Places]:
    """Return where members outside of the payload stand.

    Args:
        batch: the messages.
        names: of the members, such as ``message_layout.KEY``.

    Returns:
        Where they begin and end in the text of the batch.

    Shape: both (names, messages).
    """
    starts, stops = np.empty((2, len(names), len(batch)), np.int64)
    for alike in alike_messages(batch):
        named = fields_of(alike.layout).named
        for at, name in enumerate(names):
            starts[at, alike.rows], stops[at, alike.rows] = alike.span(named[name])
    return starts, stops
