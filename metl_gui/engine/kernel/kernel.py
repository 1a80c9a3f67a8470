"""The kernel's door: batches in, outcomes out. The same for every kernel that maps by a plan."""

from __future__ import annotations

from collections.abc import Sequence

from metl_gui.core.classify import Kind
from metl_gui.core.json_text import quoted
from metl_gui.engine.kernel.lane import Lane
from metl_gui.engine.kernel.outcomes import Fate, Outcome, error_row
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.kernel.reference import Mode, Reference
from metl_gui.errors import RecordError

PATIENCE = 300
"""Learning a form costs about as much as mapping so many records without it."""


class Kernel:
    """Maps batches of raw records.

    Args:
        plan: the compiled state.
        mode: ``production`` sets aside what is held for review; ``test`` maps every block as it stands.
        is_fast: records that look like many mapped before take the fast lane; the outcome is the same either way.
        patience: how many make many.
        is_replay: the records were set aside before, and their messages say so.
    """

    def __init__(
        self,
        plan: Plan,
        mode: Mode = "test",
        *,
        is_fast: bool = True,
        patience: int = PATIENCE,
        is_replay: bool = False,
    ) -> None:
        self.plan = plan
        self.reference = Reference(plan, mode, is_replay=is_replay)
        self.lane = Lane(self.reference, patience) if is_fast else None

    def map(
        self, raws: Sequence[bytes], files: Sequence[str], offsets: Sequence[int], sizes: Sequence[int] = ()
    ) -> Outcome:
        """Map one batch of records, in order.

        Args:
            raws: the records exactly as they lie in their file.
            files: for each, the name of its file as positions say it.
            offsets: for each, how many (decompressed) bytes lie before it.
            sizes: for each, how long it is; one that is longer than what is given of it is too large to map. Empty
                when every record is whole.
        """
        lengths = list(map(len, raws))
        outcome = Outcome(bytes_in=sum(sizes or lengths))
        if sizes and list(sizes) != lengths:
            return self._map_cut(raws, files, offsets, sizes, outcome)
        self._map_whole(raws, files, offsets, outcome)
        return outcome

    def _map_whole(self, raws: Sequence[bytes], files: Sequence[str], offsets: Sequence[int], outcome: Outcome) -> None:
        names = {file: quoted(file)[1:-1] + b"@" for file in set(files)}
        write = self.lane.write if self.lane else _decline
        messages, entities, records, fates = outcome.messages, outcome.entities, outcome.records, outcome.fates
        mapped = Fate.MAPPED
        for raw, file, offset in zip(raws, files, offsets, strict=True):
            sent = write(raw, names[file] + b"%d" % offset)
            if sent is None:
                self._decide(raw, f"{file}@{offset}", outcome)
            elif isinstance(sent, Kind):
                outcome.skip(sent)
            elif len(sent) == 1 and not sent[0][2]:
                # What send does, for what happens most.
                entity, text, _ = sent[0]
                records.append(len(fates))
                messages.append(text)
                entities.append(entity)
                fates.append(mapped)
            else:
                outcome.send(sent)
        if self.lane:
            outcome.by_version.update(self.lane.take_seen())

    def _decide(self, raw: bytes, place: str, outcome: Outcome) -> None:
        """Map a record by the reference and let the lane learn from it."""
        kind = self.reference.map_record(raw, place, outcome)
        if self.lane and (kind is not None or outcome.fates[-1] is not Fate.SET_ASIDE):
            self.lane.learn(raw, kind)

    def _map_cut(
        self,
        raws: Sequence[bytes],
        files: Sequence[str],
        offsets: Sequence[int],
        sizes: Sequence[int],
        outcome: Outcome,
    ) -> Outcome:
        for raw, file, offset, size in zip(raws, files, offsets, sizes, strict=True):
            if len(raw) == size:
                self._map_whole([raw], [file], [offset], outcome)
                continue
            detail = f"the record has {size} bytes, of which the first {len(raw)} are kept here"
            error = RecordError("too_large", detail)
            outcome.put_aside(error, error_row(error, self.plan.state, ("", "", f"{file}@{offset}"), raw))
        return outcome


def _decline(_raw: bytes, _position: bytes) -> None:
    """Leave every record to the reference."""
