"""Ranges of sources that runs covered: what lower publications made of them is void.

Of each part of a log the highest publication that covered it is kept, so that the order of loads makes no difference.

Source: docs/reference/warehouse-model.md, "A load".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from metl_gui.core.dimensional.rows.messages import Replay

WHOLE = (1 << 63) - 1
"""The end of what is read to its end, however long it is."""


class CoveredRange(msgspec.Struct, frozen=True):
    """A part of a source that a run read whole.

    Args:
        log: topic or file, as positions in histories name it.
        partition: of the topic, 0 of a file.
        first: the first offset.
        behind: the offset behind the last.
    """

    log: str
    partition: int
    first: int
    behind: int


class Coverage(msgspec.Struct, frozen=True):
    """What a run covered, and the publication that it mapped under.

    Args:
        publication: 0 for none, which voids nothing.
        ranges: what it read.
        is_ordered: its messages lie as in the logs of their sources, unless these went back.
    """

    publication: int = 0
    ranges: tuple[CoveredRange, ...] = ()
    is_ordered: bool = False

    @property
    def replay(self) -> Replay:
        """Return what it means for messages."""
        return Replay(self.publication, tuple((r.log, r.partition, r.first, r.behind) for r in self.ranges))


class Span(NamedTuple):
    """A part of one log and the publication that covers it.

    Args:
        first: offset.
        behind: the offset behind the last.
        publication: of the mapping.
    """

    first: int
    behind: int
    publication: int


def highest(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the highest publication that covers each offset of a log, in as few spans as there can be.

    Cost: the square of the spans of one log, of which there are few.
    """
    found: list[Span] = []
    for span in _pieces(tuple(spans)):
        if found and (found[-1].behind, found[-1].publication) == (span.first, span.publication):
            found[-1] = found[-1]._replace(behind=span.behind)
        else:
            found.append(span)
    return tuple(found)


def newly_covered(known: Iterable[Span], came: Iterable[Span]) -> tuple[Span, ...]:
    """Return the parts of what came that nothing known of its publication, or of a higher one, covers."""
    before, pieces = tuple(known), []
    for piece in _pieces((*before, *came)):
        covered = _publication_at(before, piece)
        if covered is None or covered < piece.publication:
            pieces.append(piece)
    return highest(pieces)


def _pieces(spans: Sequence[Span]) -> Iterator[Span]:
    """Yield what is covered between each two neighbouring bounds."""
    bounds = sorted({bound for span in spans for bound in (span.first, span.behind)})
    for first, behind in pairwise(bounds):
        piece = Span(first, behind, 0)
        publication = _publication_at(spans, piece)
        if publication is not None:
            yield piece._replace(publication=publication)


def _publication_at(spans: Sequence[Span], piece: Span) -> int | None:
    """Return the highest publication that covers all of a piece."""
    covering = (one.publication for one in spans if one.first <= piece.first and piece.behind <= one.behind)
    return max(covering, default=None)
