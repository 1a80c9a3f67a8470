"""Forms: what messages that look alike have in common, so that the next one is mapped without deciding anything again.

A form is learned from a record that the reference kernel has mapped or filtered. The reference is run once more on the
same text with numbers nobody writes in place of its leaves; where they come out is where leaves go. So a form writes
what the reference would write.

A text that a form takes has passed every check of contract.md §5: it decodes by the form's skeleton (grammar, lone
surrogates), its length leaves no room for a repeated name (``skeletons``), and UTF-8 and nesting are looked at in its
leaves, which are all that is not fixed. Where a leaf might change a decision (a null, a placeholder, a changed key),
the form declines and the reference decides.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from metl_gui.core.classify import Kind
from metl_gui.core.json_text import NULL, text_of
from metl_gui.core.paths import split
from metl_gui.core.wrappers import Wrapped
from metl_gui.engine.kernel.placeholders import marks_of
from metl_gui.engine.kernel.plan import SchemaPlan, VersionPlan
from metl_gui.engine.kernel.skeletons import Leaves, Path, Skeleton

Sent: TypeAlias = list[tuple[str, bytes, bool]]
"""Messages of one record: entity, text, and whether nobody has confirmed what made it."""

SKIPPED_BY_FORM = frozenset({Kind.HEARTBEAT, Kind.TRANSACTION})
_NUMBER = re.compile(rb"(?<!\d)\d{19}(?!\d)")
_DIGITS = frozenset(b"0123456789")
_BRACKETS_AT_EASE = 32
"""So many brackets in the leaves cannot nest too deeply, whatever stands around them."""


class Run(NamedTuple):
    """What the reference made of a text."""

    sent: Sent
    schema: SchemaPlan
    version: VersionPlan


Writer: TypeAlias = Callable[[bytes, bytes | None, bytes], "Sent | Kind | None"]
"""Writes the messages of a text, its message key and its position (the inside of a JSON string).

Returns the kind of a record that is skipped, and ``None`` when the reference must decide. Raises
``msgspec.DecodeError`` when the text or the key has another form or is malformed, and ``UnicodeDecodeError`` when a
name is not UTF-8.
"""

Runner: TypeAlias = Callable[[Wrapped, str], "Run | None"]
"""Runs the reference on a record and the position it stands at; ``None`` when it was not mapped."""


@dataclass(frozen=True, slots=True)
class Output:
    """One message of a form.

    Args:
        entity, is_unreviewed: as the block says.
        parts: the fixed pieces with room between them.
        pick: takes the values for the room out of leaves, position and leaves of the key.
        witness: leaf that must not be null for the message to be sent for sure, -1 where nulls change nothing.
    """

    entity: str
    is_unreviewed: bool
    parts: list[bytes]
    pick: Callable[[Sequence[Any]], Sequence[Any]]
    witness: int


@dataclass(frozen=True, slots=True)
class Form:
    """What is known of texts of one form.

    Args:
        skeleton, fixed_bytes: of the text, and the length of what is not a leaf.
        key, key_fixed_bytes: of the message key; ``None`` when it has none that counts.
        is_key_needed: the message key decides what is written.
        time: the leaf that must be a number, -1 for none.
        same: pairs of leaves that must be equal (the key before and after an update).
        marks: what stands in every placeholder; the last one only in lists.
        outputs: the messages.
    """

    skeleton: Skeleton
    fixed_bytes: int
    key: Skeleton | None
    key_fixed_bytes: int
    is_key_needed: bool
    time: int
    same: tuple[tuple[int, int], ...]
    marks: tuple[bytes, ...]
    outputs: tuple[Output, ...]


def writer_of(form: Form) -> Writer:
    """Make the function that writes the messages of texts of a form; what it looks up is bound once."""
    decode, leaves_of, fixed_bytes = form.skeleton.decode, form.skeleton.leaves, form.fixed_bytes
    time, same, is_key_needed = form.time, form.same, form.is_key_needed
    *marks, list_mark = form.marks
    text_mark, other_marks = marks[0], tuple(marks[1:])
    outputs = [(o.entity, o.is_unreviewed, o.parts, o.pick, o.witness) for o in form.outputs]
    join = b"".join

    def write(text: bytes, key: bytes | None, position: bytes) -> Sent | None:
        leaves = leaves_of(decode(text), position)
        joined = join(leaves)
        if len(joined) - len(position) + fixed_bytes != len(text) or not (joined.isascii() or _is_utf8(joined)):
            return None
        if (joined.find(b"[", 2) > 0 or b"{" in joined) and (list_mark in joined or not nests_little(joined)):
            return None
        if text_mark in joined or (time >= 0 and bytes(leaves[time])[-1] not in _DIGITS):
            return None
        for mark in other_marks:
            if mark in joined:
                return None
        if same and any(bytes(leaves[old]) != bytes(leaves[new]) for old, new in same):
            return None
        if is_key_needed:
            of_key = _key_leaves(form, key)
            if of_key is None:
                return None
            leaves = (*leaves, *of_key)
        sent = []
        for entity, is_unreviewed, parts, pick, witness in outputs:
            if witness >= 0 and len(leaves[witness]) == 4 and bytes(leaves[witness]) == NULL:
                return None
            parts[1::2] = pick(leaves)
            sent.append((entity, join(parts), is_unreviewed))
        return sent

    return write


def skipper_of(skeleton: Skeleton, fixed_bytes: int, kind: Kind) -> Writer:
    """Make the function that tells records of one kind without a row by their form."""
    decode, leaves_of = skeleton.decode, skeleton.leaves

    def skip(text: bytes, _key: bytes | None, _position: bytes) -> Kind | None:
        joined = b"".join(leaves_of(decode(text), b""))
        is_plain = joined.isascii() and nests_little(joined)
        return kind if is_plain and len(joined) + fixed_bytes == len(text) else None

    return skip


def nests_little(text: bytes) -> bool:
    """Say whether a text has so few brackets that it cannot nest too deeply."""
    return text.count(b"{") + text.count(b"[") <= _BRACKETS_AT_EASE


def _key_leaves(form: Form, key: bytes | None) -> Leaves | None:
    if key is None or form.key is None:
        return () if key is None and form.key is None else None
    *leaves, _ = form.key.leaves(form.key.decode(key), b"")
    joined = b"".join(leaves)
    is_plain = joined.isascii() and nests_little(joined)
    return tuple(leaves) if is_plain and len(joined) + form.key_fixed_bytes == len(key) else None


def learn_to_skip(payload: bytes, kind: Kind) -> Writer | None:
    """Learn the form of a record that the reference has skipped, where names and ``op`` or ``status`` tell its kind.

    Raises:
        RecordError: the text is malformed.
    """
    skeleton = Skeleton.of(payload, is_flat=True) if kind in SKIPPED_BY_FORM else None
    if skeleton is None or any((name,) in skeleton.paths for name in ("op", "status")):
        return None
    return skipper_of(skeleton, skeleton.fixed_bytes(payload), kind)


def learn(payload: bytes, prefix: bytes, wrapped: Wrapped, run: Runner) -> Writer | None:
    """Learn the form of a record that the reference has mapped; ``None`` when it has none that can be relied on.

    Args:
        payload: the envelope.
        prefix: what stands before it in the value, up to and with the name of the payload; empty for nothing.
        wrapped: the record.
        run: runs the reference.

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
    form = Form(
        skeleton=skeleton,
        fixed_bytes=skeleton.fixed_bytes(payload),
        key=key,
        key_fixed_bytes=key.fixed_bytes(wrapped.key) if key is not None and wrapped.key is not None else 0,
        is_key_needed=is_key_needed,
        time=_time(skeleton.paths),
        same=_same(skeleton.paths, made.version) if "before" in skeleton.parts and not is_delete else (),
        marks=marks_of(made.schema.placeholder),
        outputs=tuple(marked.output(message, is_image=is_image) for message in made.sent),
    )
    write = writer_of(form)
    return write if write(payload, wrapped.key, b"0") == plain.sent else None


def _has_form(skeleton: Skeleton) -> bool:
    op = skeleton.found.get("op")
    row = "before" if op is not None and bytes(op) == b'"d"' else "after"
    return op is not None and bytes(op) in (b'"c"', b'"r"', b'"u"', b'"d"') and row in skeleton.parts


class _Marked:
    """A text with a number nobody writes in place of each leaf."""

    def __init__(self, skeleton: Skeleton, key: Skeleton | None, *, is_update: bool) -> None:
        first = 10**18 + secrets.randbelow(8 * 10**18)
        self.slots: dict[bytes, int] = {}
        self.position = str(first)
        leaves: dict[Path, bytes] = {}
        for number, path in enumerate(skeleton.paths):
            leaves[path] = b"%d" % (first + number + 1)
            self.slots[leaves[path]] = number
        self.slots[self.position.encode()] = len(leaves)
        if is_update:
            leaves |= {
                path: leaves.get(("after", path[1]), mark) for path, mark in leaves.items() if path[0] == "before"
            }
        self.payload = skeleton.rewritten(leaves)
        self.key: bytes | None = None
        if key is not None:
            of_key = {path: b"%d" % (first + len(self.slots) + at) for at, path in enumerate(key.paths)}
            self.slots |= {mark: len(self.slots) + at for at, mark in enumerate(of_key.values())}
            self.key = key.rewritten(of_key)
        self.timestamp = b"%d" % (first + len(self.slots))

    def output(self, message: tuple[str, bytes, bool], *, is_image: bool) -> Output:
        """Find the room for values in one message."""
        entity, text, is_unreviewed = message
        parts, slots, end, payload = [b""], [], 0, text.index(b'"payload":')
        witness = -1
        for found in _NUMBER.finditer(text):
            slot = self.slots.get(found[0])
            if slot is not None:
                parts[-1] = text[end : found.start()]
                parts += b"", b""
                slots.append(slot)
                end = found.end()
                witness = slot if witness < 0 and end > payload else witness
        parts[-1] = text[end:]
        pick = itemgetter(*slots) if len(slots) > 1 else lambda values: (values[slots[0]],)
        return Output(entity, is_unreviewed, parts, pick, witness if is_image else -1)


def _time(paths: Sequence[Path]) -> int:
    """Return the leaf that becomes ``ts_ms``."""
    candidates: tuple[Path, ...] = (("ts_ms",), ("source", "ts_ms"))
    return next((paths.index(path) for path in candidates if path in paths), -1)


def _same(paths: Sequence[Path], version: VersionPlan) -> tuple[tuple[int, int], ...]:
    names = [parts[0] for parts in map(split, version.key or ()) if len(parts) == 1]
    pairs = [(("before", name), ("after", name)) for name in names]
    return tuple((paths.index(old), paths.index(new)) for old, new in pairs if old in paths and new in paths)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
