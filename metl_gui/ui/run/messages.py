"""A record before mapping beside the messages it became, or beside the reason why it was set aside."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from metl_gui.core.document import Document
from metl_gui.engine.results import MappedRecord, SetAsideRecord, first_results, first_set_aside
from metl_gui.ui import theme as themes
from metl_gui.ui.elided import Elided
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.run.indent import indented
from metl_gui.workbench.masking import UNREADABLE, Masks, schema_of

_SHOWN = 200
_NO_RUN = "Run a mapping to see records beside the messages they become."
_NO_MESSAGE = "No record of this run became a message, or they are not kept any more."
_LONGEST = 20_000
KeptRecord: TypeAlias = MappedRecord | SetAsideRecord


@dataclass(frozen=True)
class MessagePair:
    """What is shown at one time: a place, the record, what became of it."""

    place: str
    before: str
    after_title: str
    after: str


def records_of(folder: Path, errors: Path | None, only_set_aside: bool, reason: str = "") -> list[KeptRecord]:
    """Read the first records that a run kept to look at."""
    if not only_set_aside:
        return list(first_results(folder / "samples", _SHOWN))
    return list(first_set_aside(errors, _SHOWN, reason)) if errors is not None and errors.is_dir() else []


def pair_of(record: KeptRecord, document: Document) -> MessagePair:
    """Lay a record out beside what became of it, without the values that the document masks."""
    return _mapped(record, document) if isinstance(record, MappedRecord) else _set_aside(record, document)


def readable(raw: bytes) -> str:
    """Return a record as text, indented when it is one JSON value, with digits and order as they came."""
    text = raw[:_LONGEST].decode("utf-8", "backslashreplace")
    if len(raw) > _LONGEST:
        return f"{text}\n… {len(raw) - _LONGEST:,} more bytes"
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return indented(text)


def unwrapped(raw: bytes) -> tuple[str, bytes]:
    """Return topic and key of a record that wraps its message as text, and the message; else the record itself."""
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return "", raw
    if not isinstance(record, dict) or not isinstance(record.get("value"), str):
        return "", raw
    parts = [str(record[name]) for name in ("topic", "key") if isinstance(record.get(name), str)]
    return " · ".join(parts), record["value"].encode()


def _mapped(record: MappedRecord, document: Document) -> MessagePair:
    titles = ", ".join(dict.fromkeys(sent.entity for sent in record.outgoing))
    masks = Masks(document, schema_of(record.outgoing[0].message) if record.outgoing else None)
    sent = [(each, masks.outgoing(each.entity, bytes(each.message))) for each in record.outgoing]
    after = "\n\n".join(readable(text) if text is not None else UNREADABLE for _, text in sent)
    incoming = masks.incoming(record.incoming)
    if incoming is None:
        return MessagePair(record.place, UNREADABLE, titles, after)
    where, value = unwrapped(incoming)
    return MessagePair(" · ".join(part for part in (record.place, where) if part), readable(value), titles, after)


def _set_aside(record: SetAsideRecord, document: Document) -> MessagePair:
    words = record.detail or "No further detail."
    where = f"\n\nschema {record.schema or 'unknown'}, version {record.version or 'unknown'}"
    incoming = Masks(document, record.schema).incoming(record.incoming)
    before = readable(incoming) if incoming is not None else UNREADABLE
    return MessagePair(record.position or "", before, f"set aside · {record.reason}", words + where)


class MessagePanel(QFrame):
    """Shows pairs one by one.

    Args:
        document: gives the newest document, whose masks hold whatever state is shown.
    """

    def __init__(self, document: Callable[[], Document], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.setProperty("surface", "card")
        self.records: list[KeptRecord] = []
        self._at = 0
        self._folder: Path | None = None
        self._errors: Path | None = None
        self._reason = ""
        self.place = Elided(kind="dim")
        self.before, self.after = _text("Message before mapping"), _text("Messages after mapping")
        self._after_title = QLabel("after mapping")
        self._after_title.setTextFormat(Qt.TextFormat.PlainText)
        self.only_aside = KeyButton("Only set aside")
        self.only_aside.setCheckable(True)
        self.previous_button, self.next_button = KeyButton("Previous"), KeyButton("Next")
        self._build()
        self.only_aside.toggled.connect(self._load)
        self.previous_button.clicked.connect(self._back)
        self.next_button.clicked.connect(self._forth)
        self._show()

    def show_run(self, folder: Path | None, errors: Path | None) -> None:
        """Show what another run kept."""
        self._folder, self._errors, self._reason = folder, errors, ""
        self._load()

    def show_reason(self, reason: str) -> None:
        """Show the records that were set aside for a reason."""
        self._reason = reason
        if self.only_aside.isChecked():
            self._load()
        else:
            self.only_aside.setChecked(True)

    def refresh(self) -> None:
        """Show the same record again, as the masks of the document are now."""
        self._show()

    @property
    def pair(self) -> MessagePair | None:
        """What is shown."""
        return pair_of(self.records[self._at], self._document()) if self.records else None

    def _load(self) -> None:
        if not self.only_aside.isChecked():
            self._reason = ""
        is_there = self._folder is not None and self._folder.is_dir()
        aside = self.only_aside.isChecked()
        self.records = (
            records_of(self._folder, self._errors, aside, self._reason) if self._folder and (is_there or aside) else []
        )
        self._at = 0
        self._show()

    def _back(self) -> None:
        self._at = (self._at - 1) % max(len(self.records), 1)
        self._show()

    def _forth(self) -> None:
        self._at = (self._at + 1) % max(len(self.records), 1)
        self._show()

    def _show(self) -> None:
        for button in (self.previous_button, self.next_button):
            button.setEnabled(len(self.records) > 1)
        pair = self.pair
        if pair is None:
            self.place.setText(_NO_RUN if self._folder is None else _NO_MESSAGE)
            self.before.clear()
            self.after.clear()
            self._after_title.setText("after mapping")
            return
        self.place.setText(f"{pair.place} · {self._at + 1} of {len(self.records)}")
        self.before.setPlainText(pair.before)
        self.after.setPlainText(pair.after)
        self._after_title.setText(pair.after_title)

    def _build(self) -> None:
        head = QHBoxLayout()
        title = QLabel("Message")
        title.setProperty("kind", "heading")
        head.addWidget(title)
        head.addSpacing(8)
        head.addWidget(self.place, 1)
        for button in (self.previous_button, self.next_button, self.only_aside):
            head.addWidget(button)
        sides = QHBoxLayout()
        sides.setSpacing(20)
        before_title = QLabel("before mapping")
        for label, text in ((before_title, self.before), (self._after_title, self.after)):
            label.setProperty("kind", "small")
            column = QVBoxLayout()
            column.setSpacing(2)
            column.addWidget(label)
            column.addWidget(text, 1)
            sides.addLayout(column, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 8, 14, 8)
        layout.addLayout(head)
        layout.addLayout(sides, 1)


def _text(name: str) -> QPlainTextEdit:
    text = QPlainTextEdit()
    text.setReadOnly(True)
    text.setFont(themes.mono())
    text.setProperty("surface", "clear")
    text.setAccessibleName(name)
    text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    return text
