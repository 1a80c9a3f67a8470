"""Previews of the first messages of a source: what ``metl preview`` prints, in process and without Spark.

Source: contract.md §5; ux.md §5 (the preview), §8 (masked values).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from metl_gui.engine.kernel.outcomes import Fate
from metl_gui.engine.sources.first_records import FirstRecord
from metl_gui.formats.record_delimiting import split
from metl_gui.workbench.preview import Preview, Previews
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.topic_sources import records_to_see

STANDARD_INPUT = "stdin"
"""Name of the standard input in positions."""


@dataclass(frozen=True, slots=True)
class PreviewedSource:
    """What becomes of the first messages of a source.

    Args:
        state: the state that they were mapped with.
        previews: one for each record, in order.
        cut: positions of records that are too long to be looked at whole.
    """

    state: int
    previews: tuple[Preview, ...]
    cut: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Count the records by fate, under the names of a report; they add up to ``read``."""
        fates = Counter(each.fate for each in self.previews)
        aside = fates[Fate.SET_ASIDE] + len(self.cut)
        return {
            "read": len(self.previews) + len(self.cut),
            "mapped": fates[Fate.MAPPED],
            "filtered": fates[Fate.FILTERED],
            "set_aside": aside,
            "skipped": fates[Fate.SKIPPED],
        }

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl preview``."""
        return {"state": self.state, **self.counts(), "records": [*map(Preview.as_json, self.previews), *self._cut()]}

    def _cut(self) -> Iterator[dict[str, Any]]:
        for position in self.cut:
            yield {"position": position, "fate": "set_aside", "reason": "too_large", "messages": []}


def preview_source(workbench: Workbench, source: str, limit: int) -> PreviewedSource:
    """Preview the first messages of a file, a folder, a pattern or topics.

    Raises:
        RunError: there is no such source, or it cannot be read.
    """
    return _previewed(workbench, records_to_see(source, limit))


def preview_stream(workbench: Workbench, chunks: Iterable[bytes], limit: int) -> PreviewedSource:
    """Preview the first messages of a stream of bytes; no more of it is read than they need."""
    return _previewed(workbench, _first_of(chunks, limit))


def _first_of(chunks: Iterable[bytes], limit: int) -> Iterator[FirstRecord]:
    for number, found in enumerate(split(chunks), 1):
        yield FirstRecord(found.raw, f"{STANDARD_INPUT}@{found.offset}", found.is_whole)
        if number == limit:
            return


def _previewed(workbench: Workbench, records: Iterable[FirstRecord]) -> PreviewedSource:
    previews, found, cut = Previews.of_project(workbench), [], []
    previews.take(workbench.document)
    for record in records:
        if record.is_whole:
            found.append(previews.of(record.raw, record.place))
        else:
            cut.append(record.place)
    return PreviewedSource(workbench.document.state, tuple(found), tuple(cut))
