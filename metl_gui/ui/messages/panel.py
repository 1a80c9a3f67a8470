"""The records of a run one by one: before mapping beside what they became, or beside the reason why they wait."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.records import MappedRecord, SetAsideRecord
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.messages.pairs import KeptRecord, MessagePair, RecordRequest, about_of, pair_of, records_of
from metl_gui.ui.messages.set_aside import lead_words
from metl_gui.ui.messages.view import MessageSides
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.workbench.links.set_aside import reason_title
from metl_gui.workbench.samples.cell_messages import CellUse
from metl_gui.workbench.samples.run_records import newest_result

_NO_RUN = "Run a mapping to see records beside the messages they become."
_NO_MESSAGE = "No record of this run became a message, or they are not kept any more."
_NOTHING_ASIDE = "Nothing was set aside, or its records are not kept any more."
_WAITS = "The first message is on its way."


class MessagePanel(QFrame):
    """Shows pairs one by one.

    Args:
        document: gives the newest document, whose masks hold whatever state is shown.
        jobs: reads what a run kept.

    Signals:
        cell_wanted: a ``RecordLink`` whose cell somebody wants to see.
        place_wanted: a ``SetAsideRecord`` whose schema or block somebody wants to see.
    """

    cell_wanted = Signal(object)
    place_wanted = Signal(object)

    def __init__(self, document: Callable[[], Document], jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.setProperty("surface", "card")
        self.setAccessibleName("Message")
        self.records: list[KeptRecord] = []
        self.wanted = RecordRequest()
        self._at = 0
        self._live: Path | None = None
        self._instead = self._failure = ""
        self._reading = NewestJob(jobs, self)
        self.place = Elided(kind="dim")
        self.sides = MessageSides()
        self.before, self.after = self.sides.before, self.sides.after
        self.only_aside = _switch("Only set aside", "Show only records that were set aside")
        self.follow = _switch("Follow", "Show the newest message while a run goes on")
        self.as_it_came = _switch("As it came", "Show the whole record exactly as it came, not laid out")
        self.everything = KeyButton("Show all", kind="link")
        self.everything.setAccessibleName("Show the records of all reasons and entities")
        self.lead = KeyButton("", kind="link")
        self.previous_button, self.next_button = KeyButton("\u2039"), KeyButton("\u203a")  # arrows as in books
        self.previous_button.setAccessibleName("Previous record")
        self.next_button.setAccessibleName("Next record")
        self._build()
        self.only_aside.toggled.connect(self._choose_kind)
        self.follow.toggled.connect(self.look_again)
        self.as_it_came.toggled.connect(self.refresh)
        self.everything.clicked.connect(self._show_everything)
        self.lead.clicked.connect(self._lead)
        self.previous_button.clicked.connect(self._back)
        self.next_button.clicked.connect(self._forth)
        self.sides.cell_wanted.connect(self.cell_wanted)
        self._show()

    def show_run(self, folder: Path | None, errors: str = "", nothing: str = "") -> None:
        """Show what another run kept.

        Args:
            folder: its run folder, ``None`` for no run.
            errors: the folder of its error store, or the address of its error topic; empty for none.
            nothing: what stands there instead of a message.
        """
        self._live, self._instead = None, nothing
        self.wanted = RecordRequest(folder, errors, self.only_aside.isChecked())
        self._load()

    def show_live(self, folder: Path) -> None:
        """Follow a run that goes on, by its run folder."""
        self._live = folder
        self._reading.cancel()
        self.wanted = RecordRequest()
        self.records = []
        self._show()
        self.look_again()

    def end_only_aside(self) -> None:
        """Show of the next run what it mapped, too: what was looked for of the last one is done with."""
        self._say_only_aside(False)

    def look_again(self) -> None:
        """Read the newest record of the run that goes on, where somebody follows it."""
        folder = self._live
        if folder is not None and self.isVisible() and (self.follow.isChecked() or not self.records):
            self._reading.start("Reading the newest message", lambda _watch: newest_result(folder), self._take_newest)

    def show_reason(self, reason: str, place: str = "") -> None:
        """Show the records that were set aside for a reason, or only the one that lay at a place."""
        self._want(replace(self.wanted, is_set_aside=True, reason=reason, entity="", place=place, use=None))

    def show_entity(self, entity: str) -> None:
        """Show the records that became messages of an entity."""
        self._want(replace(self.wanted, is_set_aside=False, reason="", entity=entity, place="", use=None))

    def show_place(self, place: str) -> None:
        """Show the record that lay at a place."""
        self._want(replace(self.wanted, is_set_aside=False, reason="", entity="", place=place, use=None))

    def show_use(self, use: CellUse) -> None:
        """Show the records that a cell mapped, with its part of each marked."""
        self._want(RecordRequest(self.wanted.folder, self.wanted.errors, use=use))

    def refresh(self) -> None:
        """Show the same record again, as the masks of the document are now."""
        self._show()

    @property
    def pair(self) -> MessagePair | None:
        """What is shown."""
        record = self.record
        return pair_of(record, self._document(), self.as_it_came.isChecked()) if record is not None else None

    @property
    def record(self) -> KeptRecord | None:
        """The record that is shown."""
        return self.records[self._at] if self.records else None

    def _want(self, wanted: RecordRequest) -> None:
        self.wanted = wanted
        self._say_only_aside(wanted.is_set_aside)
        self._load()

    def _say_only_aside(self, is_so: bool) -> None:
        self.only_aside.blockSignals(True)
        self.only_aside.setChecked(is_so)
        self.only_aside.blockSignals(False)

    def _choose_kind(self, is_set_aside: bool) -> None:
        self._want(replace(self.wanted, is_set_aside=is_set_aside, reason="", entity="", place="", use=None))

    def _show_everything(self) -> None:
        self._want(replace(self.wanted, reason="", entity="", place="", use=None))

    def _load(self) -> None:
        wanted = self.wanted
        if wanted.folder is None and not (wanted.is_set_aside and wanted.errors):
            self._reading.cancel()  # records of a topic may take their time, and are of another run by now
            self._take(JobOutcome([]))
        else:
            self._reading.start("Reading records", lambda _watch: records_of(wanted), self._take)

    def _take(self, outcome: JobOutcome[list[KeptRecord]]) -> None:
        self.records = outcome.value or []
        self._failure = dialogs.in_one_line(outcome.error) if outcome.error else ""
        self._at = 0
        self._show()

    def _take_newest(self, outcome: JobOutcome[MappedRecord | None]) -> None:
        if outcome.value is not None and self._live is not None:
            self.records, self._at = [outcome.value], 0
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
        record, pair = self.record, self.pair
        self.as_it_came.setEnabled(record is not None)
        self.follow.setEnabled(self._live is not None)
        self.everything.setVisible(self.wanted.is_part)
        self._show_lead(record)
        if pair is None:
            self.place.setText(self._nothing())
            self.sides.clear()
            return
        why = reason_title(self.wanted.reason)
        about = why or self.wanted.entity or (self.wanted.use is not None and "messages of one cell")
        many = f" of {len(self.records)}{f' · {about}' if about else ''}" if self._live is None else ""
        number = f"{self._at + 1}{many}" if many else "newest"
        self.place.setText(f"{number} · {pair.place}")
        is_prose = isinstance(record, SetAsideRecord)
        cell = about_of(self._document(), record) if isinstance(record, SetAsideRecord) else ""
        self.sides.show_texts(pair.before, pair.after, pair.links, pair.after_title, is_prose, cell)
        if self.wanted.use is not None:
            self.sides.point_at(self.wanted.use.key, self.wanted.use.element)

    def _nothing(self) -> str:
        if self._live is not None:
            return _WAITS
        if self._failure:
            return self._failure
        if self._instead and not (self.wanted.is_set_aside and self.wanted.errors):
            return self._instead
        if self.wanted.folder is None and not self.wanted.errors:
            return _NO_RUN
        return _NOTHING_ASIDE if self.wanted.is_set_aside else _NO_MESSAGE

    def _show_lead(self, record: KeptRecord | None) -> None:
        """Name where a person goes to mend what set the record aside."""
        words = ""
        if isinstance(record, SetAsideRecord):
            words = lead_words(self._document(), record)
        self.lead.setText(words)
        self.lead.setVisible(bool(words))
        self.lead.updateGeometry()

    def _lead(self) -> None:
        if isinstance(self.record, SetAsideRecord):
            self.place_wanted.emit(self.record)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(4)
        head.addWidget(plain_label("Message", "heading"))
        head.addSpacing(8)
        head.addWidget(self.place, 1)
        head.addWidget(self.lead)
        head.addWidget(self.everything)
        for button in (self.previous_button, self.next_button, self.only_aside, self.as_it_came, self.follow):
            button.set_height(24)
            head.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 8, 14, 6)
        layout.setSpacing(4)
        layout.addLayout(head)
        layout.addWidget(self.sides, 1)


def _switch(words: str, description: str) -> KeyButton:
    button = KeyButton(words, kind="switch")
    button.setCheckable(True)
    button.setAccessibleDescription(description)
    return button
