"""The samples that a selection means, the list to choose one from, and the dialog for a message of one's own.

The functions are plain, over frozen values. A pasted message is judged while it is typed, by the rules that every
message meets, and used as a sample.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.records import RecordOutcome
from metl_gui.ui.jobs.timers import pause
from metl_gui.ui.project.selection import Selected, block_meant
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ChoiceRow
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.two_line_list import TwoLines
from metl_gui.values import Value
from metl_gui.workbench.samples.cache import MOST_SAMPLE_BYTES
from metl_gui.workbench.samples.preview import Preview, Previews
from metl_gui.workbench.samples.project_samples import ProjectSamples, Sample, Values

_MOST_FEEDERS = 24
_LITTLE = ("d", "t")
"""Operations whose messages show little; they come last."""

_OPS = {"c": "create", "r": "read", "u": "update", "d": "delete", "t": "truncate"}


class SampleRequest(Value):
    """What a selection asks samples of.

    Args:
        schema: the schema.
        version: its version, ``None`` where none is meant.
    """

    schema: int
    version: int | None


def wanted(document: Document, selected: Selected, shelf: ProjectSamples) -> SampleRequest | None:
    """Tell what a selection means: its schema, or a schema with samples that feeds its entity; ``None`` for nothing."""
    source, target = selected.source, selected.target
    if source is not None:
        schema = document.extraction.find_schema(source.schema)
        if schema is None:
            return None
        is_known = source.version is not None and document.extraction.find_version(source.version) is not None
        newest = schema.version_ids[-1] if schema.version_ids else None
        return SampleRequest(schema.id, source.version if is_known else newest)
    if target is None or document.cdm.find_schema(target.schema) is None:
        return None
    versions = document.cdm.schema(target.schema).version_ids
    selected_version = target.version if target.version in versions else None
    found = (_feeder(document, shelf, each) for each in dict.fromkeys((selected_version, *reversed(versions))))
    return next((request for request in found if request is not None), None)


def _feeder(document: Document, shelf: ProjectSamples, entity_version: int | None) -> SampleRequest | None:
    """Return the newest version with samples that feeds an entity version; a newer one has taken over what it had."""
    if entity_version is None:
        return None
    for version_id, _ in reversed(document.matrix.row_keys(entity_version)[-_MOST_FEEDERS:]):
        owner = document.extraction.schema_of(version_id)
        if owner in shelf.schemas:
            return SampleRequest(owner, version_id)
    return None


def samples_for(document: Document, shelf: ProjectSamples, asked: SampleRequest) -> tuple[Sample, ...]:
    """Return the samples to step through: those of the version, else those of the whole schema."""
    found = shelf.of(document, asked.schema)
    of_version = tuple(sample for sample in found if sample.version == asked.version)
    return tuple(sorted(of_version or found, key=lambda sample: sample.op in _LITTLE))


def all_samples_for(document: Document, shelf: ProjectSamples, asked: SampleRequest) -> tuple[Sample, ...]:
    """Return all samples of the schema, those of the version first."""
    found = shelf.of(document, asked.schema)
    return tuple(sorted(found, key=lambda sample: sample.version != asked.version))


def note_of(document: Document, sample: Sample, asked: SampleRequest) -> str:
    """Say where a sample is of another version than the one that is selected."""
    if sample.version == asked.version or asked.version is None or sample.op == "t":
        return ""
    label = document.extraction.version(asked.version).label
    if sample.version is None:
        return f"no sample of version {label}, and this one is of no version that is known"
    return f"no sample of version {label}: this one is of version {document.extraction.version(sample.version).label}"


def choosables(document: Document, samples: Sequence[Sample], values: dict[int, dict[int, Values]]) -> list[ChoiceRow]:
    """List samples for the chooser: by version, each with its operation and the first values that may be seen.

    Args:
        document: the state.
        samples: the samples, by version.
        values: nothing but attributes that may be seen, by version and attribute id.
    """
    return [
        ChoiceRow(_choice_words(document, sample, values), sample, _section(document, sample)) for sample in samples
    ]


def key_of(document: Document, selected: Selected) -> tuple[int, int] | None:
    """Return the block whose message comes first."""
    return block_meant(document, selected)


def _section(document: Document, sample: Sample) -> str:
    schema = document.extraction.schema(sample.schema).name
    if sample.version is None:
        return f"{schema} · of no version that is known"
    return f"{schema} {document.extraction.version(sample.version).label}"


def _choice_words(document: Document, sample: Sample, values: dict[int, dict[int, Values]]) -> TwoLines:
    shown = _first_values(document, sample, values)
    count = number_of(len(sample.row or ()), "member")
    nulls = sum(bytes(raw) == b"null" for raw in (sample.row or {}).values())
    facts = [count, *([f"{nulls} null"] if nulls else []), sample.source, sample.place]
    title = _OPS.get(sample.op, sample.op)
    return TwoLines(f"{title} · {shown}" if shown else title, " · ".join(part for part in facts if part))


def _first_values(document: Document, sample: Sample, values: dict[int, dict[int, Values]]) -> str:
    version = document.extraction.find_version(sample.version) if sample.version is not None else None
    if version is None or sample.row is None:
        return ""
    may_be_seen = values.get(version.id, {})
    found = [a.path for a in version.attributes if a.id in may_be_seen and a.path in sample.row][:3]
    return ", ".join(bytes(sample.row[path]).decode("utf-8", "replace")[:24] for path in found)


_WAIT_MS = 120
_SIZE = (620, 420)


class PasteDialog(FittedDialog):
    """Takes one message.

    Args:
        previews: judges the message by the document on the screen.

    Signals:
        used: the message as bytes.
    """

    used = Signal(object)

    def __init__(self, previews: Previews, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Paste a message")
        self._previews = previews
        self.box = QPlainTextEdit()
        self.box.setFont(themes.mono())
        self.box.setTabChangesFocus(True)
        self.box.setAccessibleName("Message")
        self.box.setPlaceholderText("An envelope, a row, a CloudEvent, or a record with topic, key and value")
        self.verdict = plain_label(kind="dim")
        self.verdict.setWordWrap(True)
        self.verdict.setMinimumHeight(themes.px(38))
        self.use = KeyButton("Use as sample", kind="primary")
        self.cancel = KeyButton("Cancel", "Esc")
        heading = plain_label("Paste a message", "heading")
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.use)
        foot.addWidget(self.cancel)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 18, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(heading)
        layout.addWidget(self.box, 1)
        layout.addWidget(self.verdict)
        layout.addLayout(foot)
        self.resize(themes.px(_SIZE[0]), themes.px(_SIZE[1]))
        self._timer = pause(self, _WAIT_MS, self.judge)
        self.box.textChanged.connect(self._timer.start)
        self.use.clicked.connect(self._use)
        self.cancel.clicked.connect(self.reject)
        copied = QGuiApplication.clipboard().text()
        if copied.lstrip()[:1] in ("{", "[") and len(copied) <= MOST_SAMPLE_BYTES:
            self.box.setPlainText(copied)
        self.judge()
        self.box.setFocus()

    @property
    def raw(self) -> bytes:
        """The message."""
        return self.box.toPlainText().strip().encode("utf-8", "surrogatepass")

    def judge(self) -> None:
        """Say what would become of the message, or why it is none."""
        self._timer.stop()
        raw = self.raw
        if not raw:
            self._say("Nothing is kept before it is used.", is_possible=False)
        elif len(raw) > MOST_SAMPLE_BYTES:
            self._say(f"A sample has at most {MOST_SAMPLE_BYTES >> 10:,} kB.", is_possible=False)
        else:
            found = self._previews.of(raw)
            self._say(_verdict_words(found), is_possible=found.reason not in ("malformed", "undecodable"))

    def _say(self, words: str, *, is_possible: bool) -> None:
        self.verdict.setText(words)
        self.use.setEnabled(is_possible)

    def _use(self) -> None:
        self.judge()
        if self.use.isEnabled():
            raw = self.raw
            self.accept()
            self.used.emit(raw)


def _verdict_words(found: Preview) -> str:
    where = f"{found.schema} {found.version}".strip()
    head = " · ".join(part for part in (where, found.op_words) if part)
    entities = ", ".join(dict.fromkeys(f"{each.entity} {each.version}" for each in found.messages))
    tail = f" {entities}." if found.fate is RecordOutcome.MAPPED else ""
    return f"{head}. {found.words}{tail}" if head else found.words
