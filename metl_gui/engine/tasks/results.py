"""Look at what a run wrote: records beside the messages they became, and what was set aside."""

from __future__ import annotations

import base64
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from metl_gui.core.runs.records import MappedRecord, SentMessage, SetAsideRecord
from metl_gui.engine.sources.large_records import cut_row

_TAIL_BYTES = 1 << 18
_SHOWN_BYTES = 1 << 20
_MAPPED = msgspec.json.Decoder(MappedRecord)
_SET_ASIDE = msgspec.json.Decoder(SetAsideRecord)


class Sampler:
    """Chooses in a task which records are kept beside their messages: the first ones of each entity.

    Args:
        wanted: how many an entity.
    """

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self._taken: Counter[str] = Counter()

    def has_enough(self, entities: Iterable[str]) -> bool:
        """Say whether nothing more is wanted of these entities."""
        return all(self._taken[entity] >= self.wanted for entity in entities)

    def take(self, place: str, raw: bytes, sent: list[tuple[str, bytes]]) -> bytes | None:
        """Return the line to keep of a record and its (entity, message)s, None when there is enough of them."""
        if self.has_enough(entity for entity, _ in sent):
            return None
        self._taken.update(entity for entity, _ in sent)
        outgoing = tuple(SentMessage(entity, msgspec.Raw(text)) for entity, text in sent)
        try:
            return msgspec.json.encode(MappedRecord(place, outgoing, raw=raw.decode()))
        except UnicodeDecodeError:
            return msgspec.json.encode(MappedRecord(place, outgoing, raw_base64=base64.b64encode(raw).decode()))


def first_results(samples: Path, count: int, entity: str = "") -> list[MappedRecord]:
    """Read the first records that became messages.

    Args:
        samples: the folder of samples of a finished run (``RunSpec.samples_folder``).
        count: how many records.
        entity: only records that became a message of this entity; all when empty.

    Order: as the run read them.
    """
    records = (_MAPPED.decode(line) for line in _lines_of(samples))
    wanted = (r for r in records if not entity or any(sent.entity == entity for sent in r.outgoing))
    return list(itertools.islice(wanted, count))


def newest_result(samples: Path) -> MappedRecord | None:
    """Read the record that a run kept last, also while it goes on; ``None`` where it kept none."""
    parts = sorted(samples.glob("part-*.jsonl"), key=lambda part: part.stat().st_mtime_ns)
    for part in reversed(parts):
        with part.open("rb") as lines:
            lines.seek(max(part.stat().st_size - _TAIL_BYTES, 0))
            whole = [line for line in lines.read().split(b"\n")[:-1] if line.startswith(b"{") and line.endswith(b"}")]
        for line in reversed(whole):
            try:
                return _MAPPED.decode(line)
            except msgspec.MsgspecError:
                continue  # the end of a line that is longer than what was read
    return None


def first_set_aside(errors: Path, count: int, reason: str = "") -> list[SetAsideRecord]:
    """Read the first records of the error store, of one reason or of all in turn; of a very long one the beginning."""
    pattern = f"reason={reason}" if reason else "reason=*"
    folders: list[Iterator[Any]] = [_beginnings_of(folder) for folder in sorted(errors.glob(pattern))]
    in_turn = (line for row in itertools.zip_longest(*folders) for line in row if line is not None)
    return [_SET_ASIDE.decode(line) for line in itertools.islice(in_turn, count)]


def _beginnings_of(folder: Path) -> Iterator[bytes]:
    """Yield the rows of an error store; one that is too long to be looked at ends early, and is a whole row still."""
    for part in sorted(folder.glob("part-*.jsonl")):
        with part.open("rb") as lines:
            while line := lines.readline(_SHOWN_BYTES):
                yield line if line.endswith(b"\n") else cut_row(line)
                while line and not line.endswith(b"\n"):
                    line = lines.readline(_SHOWN_BYTES)


def _lines_of(folder: Path) -> Iterator[bytes]:
    for part in sorted(folder.glob("part-*.jsonl")):
        with part.open("rb") as lines:
            yield from lines
