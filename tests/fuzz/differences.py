"""What tells two outcomes of the same batch apart."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from msgspec import Raw

from metl_gui.core.runs.records import RecordOutcome
from metl_gui.core.trees.paths import split
from metl_gui.engine.kernel.message_fields import alike_messages
from metl_gui.engine.kernel.message_layout import fields_of
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.sinks.message_columns import NAMED
from metl_gui.formats.json_text import Members, members, text_of

_SHOWN = 5


def differences(ours: MappedBatch, expected: MappedBatch) -> list[str]:
    """Return a line for each thing that differs, what happened to single records first; ``hits`` may differ."""
    return [*_of_records(ours, expected), *_of_counts(ours, expected), *_of_fields(ours), *_of_fields(expected)]


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


def _of_fields(outcome: MappedBatch) -> Iterator[str]:
    """Hold where the members of each message are said to stand against what stands there when it is read."""
    texts = outcome.messages()
    for alike in alike_messages(outcome):
        kind, fields = alike.layout.kind, fields_of(alike.layout)
        spans = {
            name: list(zip(*(part.tolist() for part in alike.span(field)), strict=True))
            for name, field in (
                *fields.named.items(),
                *((f"payload.{path}", at) for path, at in fields.payload.items()),
            )
        }
        for at, row in enumerate(alike.rows.tolist()):
            said = {name: bytes(outcome.text[slice(*found[at])]) for name, found in spans.items()}
            said["position"] = b'"%b"' % said["position"]
            wanted = _read(texts[row], fields.payload)
            stated = kind.entity, kind.entity_version, kind.op, kind.schema, kind.version, alike.layout.paths.unchanged
            if (said, stated) != wanted:
                yield f"fields of message {row}: {said!r}, {stated!r} and not {wanted!r}"
                return


def _read(text: bytes, paths: Collection[str]) -> tuple[dict[str, bytes], tuple[object, ...]]:
    """Read a message as one that knows no layout does."""
    message = members(text)
    source = members(message["source"])
    found = {name: message[name] if name in message else source[name] for name in NAMED}
    found |= {f"payload.{path}": _leaf(members(message["payload"]), path) for path in paths}
    told = (
        *(text_of(message[name]) for name in ("entity", "version", "op")),
        *(text_of(source[name]) for name in ("schema", "version")),
        tuple(json.loads(bytes(message.get("unchanged", b"[]")))),
    )
    return {name: bytes(raw) for name, raw in found.items()}, told


def _leaf(payload: Members, path: str) -> Raw:
    if path in payload:
        return payload[path]
    *parents, leaf = split(path)
    for parent in parents:
        payload = members(payload[parent])
    return payload[leaf]


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
