"""What tells two outcomes of the same batch apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metl_gui.core.runs.records import RecordOutcome
from metl_gui.engine.kernel.outcomes import MappedBatch

_SHOWN = 5


def differences(ours: MappedBatch, expected: MappedBatch) -> list[str]:
    """Return a line for each thing that differs, what happened to single records first; ``hits`` may differ."""
    return [*_of_records(ours, expected), *_of_counts(ours, expected)]


def _of_records(ours: MappedBatch, expected: MappedBatch) -> Iterator[str]:
    pairs = (
        (
            "fate",
            [RecordOutcome(fate).name for fate in ours.fates.tolist()],
            [RecordOutcome(fate).name for fate in expected.fates.tolist()],
        ),
        ("message", _messages(ours), _messages(expected)),
        ("set aside", ours.set_aside, expected.set_aside),
    )
    for name, found, wanted in pairs:
        if found != wanted:
            yield from _first(name, found, wanted)


def _of_counts(ours: MappedBatch, expected: MappedBatch) -> Iterator[str]:
    for name in ("by_skip", "from_unreviewed", "by_version", "filled", "bytes_in"):
        found, wanted = getattr(ours, name), getattr(expected, name)
        if found != wanted:
            yield f"{name}: {found!r} and not {wanted!r}"
    if ours.counts() != expected.counts():
        yield f"counts: {ours.counts()!r} and not {expected.counts()!r}"
    whole = b"".join(text + b"\n" for text in ours.messages())
    if bytes(ours.text) != whole:
        yield "text: it is not its messages, each with a line feed behind it"
    by_entity = {name: bytes(lines) for name, lines in ours.lines_by_entity().items()}
    if by_entity != {name: bytes(lines) for name, lines in expected.lines_by_entity().items()}:
        yield "lines by entity differ"


def _messages(outcome: MappedBatch) -> list[tuple[int, str, bytes]]:
    return list(zip(outcome.records.tolist(), outcome.sent_to(), outcome.messages(), strict=True))


def _first(name: str, found: Sequence[object], wanted: Sequence[object]) -> Iterator[str]:
    shown = 0
    for at in range(max(len(found), len(wanted))):
        ours, expected = (side[at] if at < len(side) else None for side in (found, wanted))
        if ours != expected:
            yield f"{name} {at}: {ours!r} and not {expected!r}"
            shown += 1
            if shown == _SHOWN:
                return
