"""The preview panel: follows the selection, shows a sample of it and what becomes of it, anew after every edit.

``PreviewTools`` are its few controls in the title line of its dock.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAction,
    QHideEvent,
    QKeySequence,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QLayout, QPushButton, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.preview.samples import SampleRequest, key_of, note_of, samples_for, wanted
from metl_gui.ui.preview.text import Ends, PreviewLayout, PreviewText, ValueSpan, lay_out
from metl_gui.ui.project.document import OpenProject
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.project.selection import Selected, Selection, place_of_version
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.trees.node import action_named
from metl_gui.ui.widgets.dock import Surface
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.workbench.samples.preview import Preview, Previews
from metl_gui.workbench.samples.project_samples import Sample, value_to_read

_LONG, _SHORT = "sample {:,} of {:,}", "{:,} of {:,}"
_GAP_PX, _PAD_PX = 2, 8


class PreviewTools(QWidget):
    """Which sample, the samples before and after it, whole records, and a message of one's own.

    Signals:
        stepped: how many samples further, -1 or 1.
        choice_wanted: the list of the samples.
        paste_wanted: a message is to be pasted.
    """

    stepped = Signal(object)
    choice_wanted = Signal()
    paste_wanted = Signal()

    measures_hidden = True
    """It is as high as its buttons, of which all may be hidden: they are dressed with what is seen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.count = _button("", "Choose a sample")
        self.back = _button("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "Previous sample")
        self.forward = _button("\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}", "Next sample")
        self.whole = _button("Whole", "Show whole records, with their envelopes")
        self.whole.setCheckable(True)
        self.paste = _button("Paste", "Paste a message")
        self._at, self._whole = 0, 0
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_GAP_PX)
        row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        row.addStretch(1)
        for button in (self.count, self.back, self.forward, self.whole, self.paste):
            row.addWidget(button)
        self.back.clicked.connect(self._go_back)
        self.forward.clicked.connect(self._go_forward)
        self.count.clicked.connect(self.choice_wanted)
        self.paste.clicked.connect(self.paste_wanted)

    def show_count(self, at: int, whole: int) -> None:
        """Show which sample of how many is shown; none without any."""
        self._at, self._whole = at, whole
        self.count.setAccessibleName(f"sample {at + 1:,} of {whole:,}, choose a sample")
        self.count.setVisible(whole > 0)
        for button in (self.back, self.forward):
            button.setVisible(whole > 0)
            button.setEnabled(whole > 1)
        self._fit()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Ask for room for everything."""
        return self._room(_LONG, [*self._steps, self.whole, self.paste])

    def minimumSizeHint(self) -> QSize:
        """Get along with room for the steps; the rest has keys and stands in the menu."""
        return self._room(_SHORT, self._steps)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what there is no room for."""
        super().resizeEvent(event)
        self._fit()

    def dress(self) -> None:
        """Follow the scale."""
        self._fit()
        self.updateGeometry()

    def say_keys(self, action_named: Callable[[str], QAction | None]) -> None:
        """Say in the tooltips by which keys the buttons can be had, as a person may have changed them."""
        names = {
            "previous_sample": (self.back, "Previous sample"),
            "next_sample": (self.forward, "Next sample"),
            "choose_sample": (self.count, "Choose a sample"),
            "paste_message": (self.paste, "Paste a message"),
            "whole_sample": (self.whole, "Show whole records, with their envelopes"),
        }
        for name, (button, what) in names.items():
            action = action_named(name)
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText) if action is not None else ""
            button.setToolTip(f"{what} ({keys})" if keys else what)

    @property
    def _steps(self) -> list[QPushButton]:
        return [self.back, self.forward] if self._whole else []

    def _room(self, words: str, buttons: list[QPushButton]) -> QSize:
        around = self.count.fontMetrics().horizontalAdvance(self._words(words)) + 2 * themes.px(_PAD_PX)
        of_count = around if self._whole else 0
        width = of_count + sum(button.sizeHint().width() + _GAP_PX for button in buttons)
        return QSize(width, self.back.sizeHint().height())

    def _words(self, words: str) -> str:
        return words.format(self._at + 1, self._whole)

    def _fit(self) -> None:
        is_narrow = self.width() < self.sizeHint().width()
        self.count.setText(self._words(_SHORT if is_narrow else _LONG))
        for button in (self.whole, self.paste):
            button.setVisible(not is_narrow)

    def _go_back(self) -> None:
        self.stepped.emit(-1)

    def _go_forward(self) -> None:
        self.stepped.emit(1)


def _button(words: str, what: str) -> QPushButton:
    button = QPushButton(words)
    button.setProperty("kind", "quiet")
    button.setAccessibleName(what)
    button.setToolTip(what)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    return button


_TEXT, _EMPTY = range(2)
_NOTHING = "Select a schema, an entity or a cell to see what becomes of its messages."


class PreviewPanel(Surface):
    """Shows one message at a time.

    Signals:
        run_wanted: a test run, whose messages become samples.
        paste_wanted: a message is to be pasted.
        retold: what is shown changed, see ``told``.
    """

    run_wanted = Signal()
    paste_wanted = Signal()
    retold = Signal()

    def __init__(self, project: OpenProject, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__("panel", (420, 290), parent, share=(0.3, 0.36))
        self._project = project
        self._selection = selection
        self._previews = Previews()
        self._asked: SampleRequest | None = None
        self._at: dict[SampleRequest, int] = {}
        self._pasted: tuple[bytes, SampleRequest | None] | None = None
        self._choice: Sample | None = None
        self._told_empty: tuple[str, bool] | None = None
        self.samples: tuple[Sample, ...] = ()
        self.preview: Preview | None = None
        self.told = ""
        self.tools = PreviewTools()
        self.text = PreviewText()
        self._build()
        self.tools.stepped.connect(self.step)
        self.tools.whole.toggled.connect(self.refresh)
        self.tools.paste_wanted.connect(self.paste_wanted)
        self.text.picked.connect(self._picked)
        project.opened.connect(self._opened)
        PanelUpdater(project, self, self.refresh, catches_up=False)
        project.merged.connect(self.refresh)
        project.looked.connect(self.refresh)
        project.samples_changed.connect(self.refresh)
        selection.changed.connect(self._follow)

    # what is shown

    def refresh(self, _what: object = None) -> None:
        """Show the sample of the selection as it becomes now; while nobody can see it, nothing is worked out."""
        if not self.isVisible():
            return
        document, shelf, selected = self._project.value, self._project.samples, self._selection.current
        self._asked = wanted(document, selected, shelf) if shelf is not None else None
        asked = self._asked
        self.samples = samples_for(document, shelf, asked) if shelf is not None and asked is not None else ()
        if self._pasted is not None and self._pasted[1] != asked:
            self._pasted = None
        self._show(selected)

    def show_pasted(self, raw: bytes) -> None:
        """Show a message that is no sample, until something else is selected."""
        self._pasted = raw, self._asked
        self.refresh()

    def show_sample(self, sample: Sample) -> None:
        """Show a certain sample of the schema that is selected."""
        self._pasted = None
        if self._asked is not None and self._is_listed(sample):
            self._at[self._asked] = self._place(sample)
            self.refresh()
        elif sample.version is not None:
            self._choice = sample
            self._selection.choose(
                self._selection.current.with_place(
                    Side.EXTRACTION, place_of_version(self._project.value, Side.EXTRACTION, sample.version)
                )
            )

    def step(self, step: int) -> None:
        """Go to the sample some places before or after, round at the ends."""
        asked = self._asked
        if asked is None or not self.samples:
            return
        if self._pasted is None:
            self._at[asked] = (self._at.get(asked, 0) + step) % len(self.samples)
        self._pasted = None
        self.refresh()
        if self.preview is not None:
            words = f"sample {self._at.get(asked, 0) + 1} of {len(self.samples)}. {self.preview.words}"
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.text, words))

    def take_focus(self) -> None:
        """Put the keyboard on the preview."""
        (self.text if self._stack.currentIndex() == _TEXT else self.paste_button).setFocus()

    @property
    def sample(self) -> Sample | None:
        """The sample that is shown."""
        at = self._at.get(self._asked, 0) if self._asked is not None else 0
        return self.samples[min(at, len(self.samples) - 1)] if self.samples else None

    @property
    def shown_values(self) -> dict[tuple[Side, int, int], str]:
        """The values of the message that is shown, by side, version and attribute id."""
        spots = self.text.laid.spots if self.isVisible() else ()
        return {(s.side, s.version, s.attribute): value_to_read(s.value.encode()) for s in spots}

    @property
    def asked(self) -> SampleRequest | None:
        """What the selection asks samples of."""
        return self._asked

    def showEvent(self, event: QShowEvent) -> None:
        """Show what changed while nobody could see it."""
        super().showEvent(event)
        self.tools.say_keys(lambda name: action_named(self, name))
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """Keep no state alive that nobody looks at."""
        super().hideEvent(event)
        self._previews.take(Document())

    def _build(self) -> None:
        self._words = plain_label(_NOTHING, "dim")
        self._words.setWordWrap(True)
        self.run_button = KeyButton("Test run", "F5")
        self.paste_button = KeyButton("Paste a message…")
        self.run_button.clicked.connect(self.run_wanted)
        self.paste_button.clicked.connect(self.paste_wanted)
        self._empty = QWidget()
        column = QVBoxLayout(self._empty)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(10)
        column.addWidget(self._words)
        for button in (self.run_button, self.paste_button):
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.text)
        self._stack.addWidget(self._empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 2, 12, 8)
        layout.addWidget(self._stack, 1)
        self._show_empty()

    # following

    def _opened(self, _workbench: object) -> None:
        self._at, self._pasted, self._choice = {}, None, None
        workbench = self._project.workbench
        self._previews = Previews() if workbench is None else Previews.of_project(workbench)
        self.refresh()

    def _follow(self, selected: Selected) -> None:
        """Follow the selection; where it stays with the same samples, only what is marked changes."""
        if not self.isVisible():
            return
        shelf = self._project.samples
        asked = wanted(self._project.value, selected, shelf) if shelf is not None else None
        if asked == self._asked and self._pasted is None:
            self._show(selected)
        else:
            self.refresh()

    def _show(self, selected: Selected) -> None:
        choice, self._choice = self._choice, None
        if choice is not None and self._asked is not None and self._is_listed(choice):
            self._at[self._asked] = self._place(choice)
        sample = self.sample
        raw = self._pasted[0] if self._pasted is not None else sample.raw if sample is not None else None
        if raw is None:
            self._show_empty()
            return
        self._told_empty = None
        document, asked = self._project.value, self._asked
        self._previews.take(document, self._project.newest)
        self.preview = self._previews.of(raw, sample.place if self._pasted is None and sample is not None else "pasted")
        is_sample = self._pasted is None and sample is not None and asked is not None
        note = note_of(document, sample, asked) if is_sample and sample is not None and asked is not None else ""
        laid = lay_out(document, self.preview, key_of(document, selected), note, self.tools.whole.isChecked())
        self.text.show_laid(laid, _chosen(selected))
        self._stack.setCurrentIndex(_TEXT)
        self._tell()

    def _show_empty(self) -> None:
        schema = self._project.value.extraction.find_schema(self._asked.schema) if self._asked is not None else None
        is_entity = schema is None and self._selection.current.target is not None
        words = _NOTHING
        if schema is not None or is_entity:
            whose = f"of {schema.name}" if schema is not None else "of what feeds this entity"
            words = f"No samples {whose} yet: run a test (F5) or drop a message file."
        now = words, self._project.workbench is not None
        if now == self._told_empty:
            return
        self._told_empty = now
        self.preview = None
        self.text.show_laid(PreviewLayout(), frozenset())
        self._words.setText(words)
        for button in (self.run_button, self.paste_button):
            button.setVisible(self._project.workbench is not None)
        self._stack.setCurrentIndex(_EMPTY)
        self._tell()

    def _tell(self) -> None:
        at = self._at.get(self._asked, 0) if self._asked is not None else 0
        self.tools.show_count(min(at, max(len(self.samples) - 1, 0)), len(self.samples))
        self.tools.whole.setEnabled(self.preview is not None)
        self.told = "pasted message" if self._pasted is not None else ""
        self.retold.emit()

    def _picked(self, spot: ValueSpan) -> None:
        """Select the attribute of a value, and the one at the other end where there is a single one."""
        document = self._project.value
        selected = self._selection.current.with_place(
            spot.side, place_of_version(document, spot.side, spot.version, spot.attribute)
        )
        other = Side.CDM if spot.side is Side.EXTRACTION else Side.EXTRACTION
        if len(spot.partners) == 1:
            (end,) = spot.partners
            selected = selected.with_place(other, place_of_version(document, other, *end))
        self._selection.choose(selected)

    def _place(self, sample: Sample) -> int:
        return next(at for at, each in enumerate(self.samples) if each is sample)

    def _is_listed(self, sample: Sample) -> bool:
        return any(each is sample for each in self.samples)


def _chosen(selected: Selected) -> Ends:
    """Return the attributes that are selected on either side."""
    return frozenset(
        (side, place.version, place.attribute)
        for side in Side
        for place in selected.all_on(side)
        if place.version is not None and place.attribute is not None
    )
