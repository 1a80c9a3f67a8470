"""Forms: what messages that look alike have in common, so that the next one is mapped without deciding anything again.

A form is learned from a record that the reference kernel has mapped or filtered. The reference is run once more on the
same text with numbers nobody writes in place of its leaves; where they come out is where leaves go. So a form writes
what the reference would write.

A text that a form takes has passed every check of contract.md §5, because it matches the form's pattern (``patterns``).
Where a leaf might change a decision (a placeholder, a changed key, a null), the form does not fit or declines, and the
reference decides.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from metl_gui.core.classify import Kind
from metl_gui.core.json_text import NULL, text_of
from metl_gui.core.paths import split
from metl_gui.core.wrappers import Wrapped
from metl_gui.engine.kernel.patterns import Pattern, pattern_of
from metl_gui.engine.kernel.placeholders import forms_of
from metl_gui.engine.kernel.plan import SchemaPlan, VersionPlan, version_name
from metl_gui.engine.kernel.skeletons import Path, Skeleton

Sent: TypeAlias = list[tuple[str, bytes, bool]]
"""Messages of one record: entity, text, and whether nobody has confirmed what made it."""

SKIPPED_BY_FORM = frozenset({Kind.HEARTBEAT, Kind.TRANSACTION})
_NUMBER = re.compile(rb"(?<!\d)\d{19}(?!\d)")
_BRACKETS_AT_EASE = 32
"""So many brackets in the leaves cannot nest too deeply, whatever stands around them."""


class Run(NamedTuple):
    """What the reference made of a text."""

    sent: Sent
    schema: SchemaPlan
    version: VersionPlan


class OtherForm(Exception):
    """A text is not of the form that it was tried with."""


Writer: TypeAlias = Callable[[bytes, bytes | None, bytes], "Sent | Kind | None"]
"""Writes the messages of a text, its message key and its position (the inside of a JSON string).

Returns the kind of a record that is skipped, and ``None`` when the reference must decide. Raises ``OtherForm``.
"""

Runner: TypeAlias = Callable[[Wrapped, str], "Run | None"]
"""Runs the reference on a record and the position it stands at; ``None`` when it was not mapped."""

Seen: TypeAlias = Callable[[str], list[int]]
"""Gives the number of records that forms have taken of a version, in a list of its own, to be added to."""

Slot: TypeAlias = tuple[str, Path]
"""Where a value of a message comes from: ``text``, ``position`` or ``key``, and the path of the leaf."""

_POSITION: Slot = ("position", ())


@dataclass(frozen=True, slots=True)
class Output:
    """One message of a form.

    Args:
        entity, is_unreviewed: as the block says.
        parts: the fixed pieces with room between them.
        slots: what comes into the room.
        witness: leaf that must not be null for the message to be sent for sure, ``None`` where nulls change nothing.
    """

    entity: str
    is_unreviewed: bool
    parts: list[bytes]
    slots: list[Slot]
    witness: Slot | None


@dataclass(frozen=True, slots=True)
class Form:
    """What is known of texts of one form.

    Args:
        pattern: of the text.
        key: pattern of the message key; ``None`` when it has none that counts.
        is_key_needed: the message key decides what is written.
        same: pairs of groups that must be equal (the key before and after an update).
        outputs: the messages.
    """

    pattern: Pattern
    key: Pattern | None
    is_key_needed: bool
    same: tuple[tuple[int, int], ...]
    outputs: tuple[Output, ...]

    def place(self, slot: Slot) -> int:
        """Return where the value of a slot stands among the groups of the text, the position and those of the key."""
        source, path = slot
        if source == "text":
            return self.pattern.groups[path]
        behind = len(self.pattern.groups)
        return behind if self.key is None or slot == _POSITION else behind + 1 + self.key.groups[path]


def writer_of(form: Form, seen: list[int]) -> Writer:
    """Make the function that writes the messages of texts of a form; what it looks up is bound once.

    Args:
        form: the form.
        seen: one number, to which every text that is taken adds one.
    """
    match, same, is_key_needed = form.pattern.expression.fullmatch, form.same, form.is_key_needed
    outputs = [_bound(form, output) for output in form.outputs]
    join = b"".join

    def write(text: bytes, key: bytes | None, position: bytes) -> Sent | None:
        found = match(text)
        if found is None:
            raise OtherForm
        values = (*found.groups(), position)
        for old, new in same:
            if values[old] != values[new]:
                return None
        if is_key_needed:
            of_key = _key_values(form, key)
            if of_key is None:
                return None
            values = (*values, *of_key)
        sent = []
        for entity, is_unreviewed, parts, pick, witness in outputs:
            if witness >= 0 and values[witness] == NULL:
                return None
            parts[1::2] = pick(values)
            sent.append((entity, join(parts), is_unreviewed))
        seen[0] += 1
        return sent

    return write


def _bound(form: Form, output: Output) -> tuple[str, bool, list[bytes], Callable[[Any], Any], int]:
    places = [form.place(slot) for slot in output.slots]
    pick = itemgetter(*places) if len(places) > 1 else itemgetter(slice(places[0], places[0] + 1))
    witness = -1 if output.witness is None else form.place(output.witness)
    return output.entity, output.is_unreviewed, output.parts, pick, witness


def _key_values(form: Form, key: bytes | None) -> tuple[bytes, ...] | None:
    if key is None or form.key is None:
        return () if key is None and form.key is None else None
    found = form.key.expression.fullmatch(key)
    return None if found is None else found.groups()


def skipper_of(pattern: Pattern, kind: Kind) -> Writer:
    """Make the function that tells records of one kind without a row by their form."""
    match = pattern.expression.fullmatch

    def skip(text: bytes, _key: bytes | None, _position: bytes) -> Kind | None:
        if match(text) is None:
            raise OtherForm
        return kind

    return skip


def nests_little(text: bytes) -> bool:
    """Say whether a text has so few brackets that it cannot nest too deeply."""
    return text.count(b"{") + text.count(b"[") <= _BRACKETS_AT_EASE


def learn_to_skip(payload: bytes, kind: Kind) -> Writer | None:
    """Learn the form of a record that the reference has skipped, where names and ``op`` or ``status`` tell its kind.

    Raises:
        RecordError: the text is malformed.
    """
    skeleton = Skeleton.of(payload, is_flat=True) if kind in SKIPPED_BY_FORM else None
    if skeleton is None or any((name,) in skeleton.paths for name in ("op", "status")):
        return None
    pattern = pattern_of(skeleton, ())
    return None if pattern is None else skipper_of(pattern, kind)


def learn(payload: bytes, prefix: bytes, wrapped: Wrapped, run: Runner, seen_of: Seen) -> Writer | None:
    """Learn the form of a record that the reference has mapped; ``None`` when it has none that can be relied on.

    Args:
        payload: the envelope.
        prefix: what stands before it in the value, up to and with the name of the payload; empty for nothing.
        wrapped: the record.
        run: runs the reference.
        seen_of: gives the number of records seen of a version.

    Raises:
        RecordError: the text is malformed.
    """
    skeleton = Skeleton.of(payload)
    if skeleton is None or not _has_form(skeleton):
        return None
    plain = run(Wrapped(wrapped.value, wrapped.key, wrapped.topic, timestamp=wrapped.timestamp), "0")
    if plain is None:
        return None
    is_delete = text_of(skeleton.found["op"]) == "d"
    is_key_needed = is_delete or plain.version.key is None
    key = Skeleton.of(wrapped.key, is_flat=True) if is_key_needed and wrapped.key is not None else None
    if key is None and is_key_needed and wrapped.key is not None:
        return None
    marked = _Marked(skeleton, key, is_update=text_of(skeleton.found["op"]) == "u")
    value = marked.payload if not prefix else prefix + marked.payload + b"}"
    made = run(Wrapped(value, marked.key, wrapped.topic, timestamp=marked.timestamp), marked.position)
    if made is None or any(marked.timestamp in text for _, text, _ in made.sent):
        return None
    is_image = text_of(skeleton.found["op"]) in ("c", "r")
    outputs = tuple(marked.output(message, is_image=is_image) for message in made.sent)
    same = _same(skeleton.paths, made.version) if "before" in skeleton.parts and not is_delete else []
    captured = {path for output in outputs for source, path in output.slots if source == "text"}
    placeholders = forms_of(made.schema.placeholder)
    pattern = pattern_of(skeleton, captured.union(*same), _time(skeleton.paths), placeholders)
    pattern_of_key = pattern_of(key, key.paths) if key is not None else None
    if pattern is None or (key is not None and pattern_of_key is None):
        return None
    pairs = tuple((pattern.groups[old], pattern.groups[new]) for old, new in same)
    form = Form(pattern, pattern_of_key, is_key_needed, pairs, outputs)
    try:
        if writer_of(form, [0])(payload, wrapped.key, b"0") != plain.sent:
            return None
    except OtherForm:
        return None
    return writer_of(form, seen_of(version_name(made.schema.name, made.version.label)))


def _has_form(skeleton: Skeleton) -> bool:
    op = skeleton.found.get("op")
    row = "before" if op is not None and bytes(op) == b'"d"' else "after"
    return op is not None and bytes(op) in (b'"c"', b'"r"', b'"u"', b'"d"') and row in skeleton.parts


class _Marked:
    """A text with a number nobody writes in place of each leaf."""

    def __init__(self, skeleton: Skeleton, key: Skeleton | None, *, is_update: bool) -> None:
        self.number = 10**18 + secrets.randbelow(8 * 10**18)
        self.slots: dict[bytes, Slot] = {}
        self.position = self._mark(_POSITION).decode()
        leaves = {path: self._mark(("text", path)) for path in skeleton.paths}
        if is_update:
            leaves |= {
                path: leaves.get(("after", path[1]), mark) for path, mark in leaves.items() if path[0] == "before"
            }
        self.payload = skeleton.rewritten(leaves)
        self.key = None if key is None else key.rewritten({path: self._mark(("key", path)) for path in key.paths})
        self.timestamp = b"%d" % (self.number + 1)

    def _mark(self, slot: Slot) -> bytes:
        self.number += 1
        mark = b"%d" % self.number
        self.slots[mark] = slot
        return mark

    def output(self, message: tuple[str, bytes, bool], *, is_image: bool) -> Output:
        """Find the room for values in one message."""
        entity, text, is_unreviewed = message
        parts, slots, end, payload = [b""], [], 0, text.index(b'"payload":')
        witness = None
        for found in _NUMBER.finditer(text):
            slot = self.slots.get(found[0])
            if slot is not None:
                parts[-1] = text[end : found.start()]
                parts += b"", b""
                slots.append(slot)
                end = found.end()
                witness = slot if witness is None and end > payload else witness
        parts[-1] = text[end:]
        return Output(entity, is_unreviewed, parts, slots, witness if is_image else None)


def _time(paths: Collection[Path]) -> Path | None:
    """Return the leaf that becomes ``ts_ms``."""
    candidates: tuple[Path, ...] = (("ts_ms",), ("source", "ts_ms"))
    return next((path for path in candidates if path in paths), None)


def _same(paths: Collection[Path], version: VersionPlan) -> list[tuple[Path, Path]]:
    names = [parts[0] for parts in map(split, version.key or ()) if len(parts) == 1]
    pairs: list[tuple[Path, Path]] = [(("before", name), ("after", name)) for name in names]
    return [(old, new) for old, new in pairs if old in paths and new in paths]
