"""A preview as one text: the row as it came in, below it each message that it becomes.

``lay_out`` returns plain values: the text that people read and copy, its styles, and a span for the value of each
attribute in it. ``PreviewText`` shows them; a value under the pointer lights up with its partner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.records import RecordOutcome
from metl_gui.core.trees import paths
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.ui.messages.json_layout import TOKENS, Member, MemberPath, indented, members_of
from metl_gui.ui.messages.pairs import unwrapped
from metl_gui.ui.messages.view import MessageText
from metl_gui.ui.theming import theme as themes
from metl_gui.values import Value
from metl_gui.workbench.masked_messages import UNREADABLE
from metl_gui.workbench.samples.preview import Preview, PreviewMessage, payload_of

_LONGEST_PIECE = 160
_LONGEST_WHOLE = 20_000
_NO_BREAK = "\N{NO-BREAK SPACE}"


class TextStyle(StrEnum):
    """How a part of the text looks; ``PLAIN`` for what no part names."""

    PLAIN = "plain"
    HEAD = "head"
    VALUE = "value"
    UNMAPPED = "unmapped"
    WAITS = "waits"
    QUIET = "quiet"


class StyledText(Value):
    """A stretch of the text that looks different."""

    start: int
    stop: int
    look: TextStyle


class ValueSpan(Value):
    """The value of one attribute.

    Args:
        side: whose tree the attribute is of.
        version: id of its version.
        attribute: its id.
        member: where its name and value stand.
        partners: what belongs to it on the other side, as (version, attribute) ids.
        value: the value as it stands there.
    """

    side: Side
    version: int
    attribute: int
    member: Member
    partners: frozenset[tuple[int, int]]
    value: str


class PreviewLayout(Value):
    """A preview laid out.

    Args:
        text: all of it.
        parts: its looks, in order.
        spots: its values, in order.
    """

    text: str = ""
    parts: tuple[StyledText, ...] = ()
    spots: tuple[ValueSpan, ...] = ()

    def spot_at(self, position: int) -> ValueSpan | None:
        """Return the spot at a position of the text."""
        found = [spot for spot in self.spots if spot.member.start <= position < spot.member.stop]
        return min(found, key=lambda spot: spot.member.stop - spot.member.start, default=None)


def lay_out(
    document: Document, preview: Preview, key: BlockKey | None, note: str = "", is_whole: bool = False
) -> PreviewLayout:
    """Lay a preview out.

    Args:
        document: the state that it is of.
        preview: what becomes of the message.
        key: the block whose message comes first.
        note: what a person must know of the sample.
        is_whole: show whole records with their envelopes, one member a line.
    """
    page = _Page(document, is_whole)
    page.incoming(preview, note)
    for message in sorted(preview.messages, key=lambda each: each.key != key):
        page.outgoing(preview, message)
    if preview.fate is not RecordOutcome.MAPPED:
        page.line()
        page.say(preview.words, TextStyle.WAITS if preview.fate is RecordOutcome.SET_ASIDE else TextStyle.HEAD)
    return page.laid()


@dataclass(slots=True)
class _Page:
    document: Document
    is_whole: bool
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    parts: list[StyledText] = field(default_factory=list)
    spots: list[ValueSpan] = field(default_factory=list)

    def laid(self) -> PreviewLayout:
        text = "".join(self.pieces).rstrip("\n")
        return PreviewLayout(text, tuple(sorted(self.parts, key=lambda each: each.start)), tuple(self.spots))

    def line(self) -> None:
        self._write("\n")

    def say(self, words: str, look: TextStyle) -> None:
        self.parts.append(StyledText(self.length, self.length + len(words), look))
        self._write(f"{words}\n")

    def incoming(self, preview: Preview, note: str) -> None:
        """Write what came in, mapped values strong, the others dim."""
        where = f"{preview.schema} {preview.version}".strip() or "no schema of the project"
        self.say(" · ".join(part for part in ("in", where, preview.op_words) if part), TextStyle.HEAD)
        if note:
            self.say(note, TextStyle.WAITS)
        raw = preview.whole if self.is_whole or preview.row is None else preview.row
        if raw is None:
            self.say(UNREADABLE, TextStyle.QUIET)
            return
        carrier, raw = unwrapped(raw) if self.is_whole else ("", raw)
        if carrier:
            self.say(carrier, TextStyle.QUIET)
        text = self._text(raw)
        version = self._version(preview)
        self._row(text, version, preview)

    def outgoing(self, preview: Preview, message: PreviewMessage) -> None:
        """Write one message."""
        self.line()
        self.say(f"out · {message.entity} {message.version} · state {self.document.state}", TextStyle.HEAD)
        if message.text is None:
            self.say(UNREADABLE, TextStyle.QUIET)
        else:
            raw = message.text if self.is_whole else payload_of(message.text)
            self._payload(self._text(message.text if raw is None else raw), preview, message)
        for note in message.notes:
            self.say(note, TextStyle.WAITS)

    def _row(self, text: str, version: Version | None, preview: Preview) -> None:
        begin = self.length
        self._write(f"{text}\n")
        if version is None:
            return
        members = members_of(text)
        place = _place_of_row(members, version)
        went = _went(self.document, preview)
        for attribute in version.attributes:
            member = members.get((*place, *paths.split(attribute.path))) if place is not None else None
            if member is None:
                continue
            partners = went.get(attribute.path, frozenset())
            self._look(begin, member, is_mapped=bool(partners))
            self._spot(Side.EXTRACTION, version.id, attribute.id, begin, member, partners, text)

    def _payload(self, text: str, preview: Preview, message: PreviewMessage) -> None:
        begin = self.length
        self._write(f"{text}\n")
        version = self.document.cdm.find_version(message.key[1]) if message.key is not None else None
        source = self._version(preview)
        if version is None or source is None:
            return
        members = members_of(text)
        came = {target: path for path, target in message.links}
        by_path = {attribute.path: attribute.id for attribute in source.attributes}
        for attribute in version.attributes:
            split = paths.split(attribute.path)
            member = members.get(("payload", *split) if self.is_whole else split)
            if member is None:
                continue
            end = by_path.get(came.get(attribute.path, ""))
            partners = frozenset([(source.id, end)]) if end is not None else frozenset[tuple[int, int]]()
            self._look(begin, member, is_mapped=True)
            self._spot(Side.CDM, version.id, attribute.id, begin, member, partners, text)

    def _look(self, begin: int, member: Member, *, is_mapped: bool) -> None:
        if is_mapped:
            self.parts.append(StyledText(begin + member.value, begin + member.stop, TextStyle.VALUE))
        else:
            self.parts.append(StyledText(begin + member.start, begin + member.stop, TextStyle.UNMAPPED))

    def _spot(
        self,
        side: Side,
        version: int,
        attribute: int,
        begin: int,
        member: Member,
        partners: frozenset[tuple[int, int]],
        text: str,
    ) -> None:
        moved = Member(member.start + begin, member.value + begin, member.stop + begin)
        value = text[member.value : member.stop].replace(_NO_BREAK, " ")
        self.spots.append(ValueSpan(side, version, attribute, moved, partners, value))

    def _version(self, preview: Preview) -> Version | None:
        schema = self.document.extraction.named(preview.schema) if preview.schema else None
        return self.document.extraction.labelled(schema.id, preview.version) if schema is not None else None

    def _text(self, raw: bytes) -> str:
        text = raw[:_LONGEST_WHOLE].decode("utf-8", "backslashreplace")
        if len(raw) > _LONGEST_WHOLE:
            return f"{text}\n… {len(raw) - _LONGEST_WHOLE:,} more bytes"
        return indented(text) if self.is_whole else flowing(text)

    def _write(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)


def flowing(text: str) -> str:
    """Lay one JSON value out on one line that breaks between members only; long texts are cut.

    Digits and escapes stay as they came.
    """
    return "".join(_flowing(text))


def _flowing(text: str) -> Iterator[str]:
    pieces = TOKENS.findall(text)
    for at, piece in enumerate(pieces):
        following = pieces[at + 1] if at + 1 < len(pieces) else ""
        if piece in "{[":
            yield piece if following and following in "}]" else piece + _NO_BREAK
        elif piece in "}]":
            yield piece if at and pieces[at - 1] in "{[" else _NO_BREAK + piece
        elif piece == ",":
            yield ", "
        elif piece == ":":
            yield ":" + _NO_BREAK
        elif len(piece) > _LONGEST_PIECE:
            yield f"{piece[: _LONGEST_PIECE - 40]}…{piece[-1]}"
        else:
            yield piece


def _went(document: Document, preview: Preview) -> Mapping[str, frozenset[tuple[int, int]]]:
    """Return where each source path went: the attributes of entity versions by id."""
    found: dict[str, set[tuple[int, int]]] = {}
    for message in preview.messages:
        version = document.cdm.find_version(message.key[1]) if message.key is not None else None
        by_path = {attribute.path: attribute.id for attribute in version.attributes} if version is not None else {}
        for source, target in message.links:
            if version is not None and target in by_path:
                found.setdefault(source, set()).add((version.id, by_path[target]))
    return {path: frozenset(ends) for path, ends in found.items()}


def _place_of_row(members: Mapping[MemberPath, Member], version: Version) -> MemberPath | None:
    """Find where in a text the row stands: itself, or within the envelope."""
    tops = [paths.split(attribute.path) for attribute in version.attributes]
    for wrapper in ((), ("value",), ("message",), ("data",)):
        for part in ((), ("payload",)):
            for row in (("after",), ("before",), ()):
                place = (*wrapper, *part, *row)
                if any((*place, *top) in members for top in tops):
                    return place
    return None


Ends = frozenset[tuple[Side, int, int]]
"""Attributes by side, version and id."""


class PreviewText(MessageText):
    """Shows what was laid out.

    Signals:
        picked: the ``ValueSpan`` that was clicked, or that Enter was pressed on.
        lit: the ``ValueSpan`` that is pointed at, by mouse or keyboard, or ``None``.
    """

    picked = Signal(object)
    lit = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Preview of the sample message", parent)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setProperty("isMain", True)
        self.laid = PreviewLayout()
        self._chosen: Ends = frozenset()
        self._pointed: ValueSpan | None = None
        self.pointed.connect(self._point)
        self.taken.connect(self._take)

    def show_laid(self, laid: PreviewLayout, chosen: Ends) -> None:
        """Show a preview, with the values of chosen attributes marked."""
        if laid != self.laid:
            is_same_text = laid.text == self.laid.text
            at = self.verticalScrollBar().value() if is_same_text or self.laid.text else 0
            self.laid, self._pointed = laid, None
            self.marked = tuple(spot.member for spot in laid.spots)
            self._set_laid()
            self.verticalScrollBar().setValue(at)
        self.choose(chosen)

    def choose(self, chosen: Ends) -> None:
        """Mark the values of some attributes, and bring the first of them into sight."""
        is_new = chosen != self._chosen
        self._chosen = chosen
        self._light()
        found = self.chosen_spots
        if found and is_new and not self.hasFocus():
            self._bring_into_sight(found[0])

    @property
    def chosen_spots(self) -> tuple[ValueSpan, ...]:
        """The values of the chosen attributes."""
        return tuple(spot for spot in self.laid.spots if (spot.side, spot.version, spot.attribute) in self._chosen)

    @property
    def lit_spots(self) -> tuple[ValueSpan, ...]:
        """The value that is pointed at, and its partners."""
        spot = self._pointed
        if spot is None:
            return ()
        other = Side.CDM if spot.side is Side.EXTRACTION else Side.EXTRACTION
        partners = (s for s in self.laid.spots if s.side is other and (s.version, s.attribute) in spot.partners)
        return (spot, *partners)

    def dress(self) -> None:
        """Take the colours and the font of the theme."""
        self.setFont(themes.mono())
        self._set_laid()
        self._light()

    def _set_laid(self) -> None:
        self.setPlainText(self.laid.text)
        cursor = QTextCursor(self.document())
        for part in self.laid.parts:
            cursor.setPosition(part.start)
            cursor.setPosition(part.stop, QTextCursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(_look_of(part.look))

    def _point(self, position: int) -> None:
        spot = self.laid.spot_at(position) if position >= 0 else None
        if spot is not self._pointed:
            self._pointed = spot
            self._light()
            self.lit.emit(spot)

    def _take(self, position: int) -> None:
        spot = self.laid.spot_at(position)
        if spot is not None:
            self.picked.emit(spot)

    def _light(self) -> None:
        theme = themes.current()
        found = list(self._marks(self.chosen_spots, theme.sel, theme.accent))
        found += self._marks(self.lit_spots, theme.accentbg, theme.accent)
        self.setExtraSelections(found)

    def _marks(self, spots: Iterable[ValueSpan], ground: QColor, line: QColor) -> list[Any]:
        marks = []
        for spot in spots:
            made: Any = QTextEdit.ExtraSelection()  # Qt's stubs do not know that its parts can be set
            cursor = QTextCursor(self.document())
            cursor.setPosition(spot.member.start)
            cursor.setPosition(spot.member.stop, QTextCursor.MoveMode.KeepAnchor)
            look = QTextCharFormat()
            look.setBackground(ground)
            look.setForeground(themes.current().text)
            look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
            look.setUnderlineColor(line)
            made.cursor, made.format = cursor, look
            marks.append(made)
        return marks

    def _bring_into_sight(self, spot: ValueSpan) -> None:
        cursor = QTextCursor(self.document())
        cursor.setPosition(spot.member.start)
        box = self.cursorRect(cursor)
        if not self.viewport().rect().contains(box):
            self.setTextCursor(cursor)
            self.ensureCursorVisible()


def _look_of(look: TextStyle) -> QTextCharFormat:
    theme, made = themes.current(), QTextCharFormat()
    colours = {
        TextStyle.HEAD: theme.dim,
        TextStyle.UNMAPPED: theme.dim,
        TextStyle.QUIET: theme.dim,
        TextStyle.WAITS: theme.review,
    }
    made.setForeground(colours.get(look, theme.text))
    if look is TextStyle.VALUE:
        made.setFontWeight(themes.scaled(1.0, bold=True).weight())
    return made
