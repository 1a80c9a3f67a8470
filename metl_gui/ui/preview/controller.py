"""The preview on the Map page: its dock beside the block editor, and everything that is done with samples."""

from __future__ import annotations

from itertools import islice

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QSizePolicy

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.trees.nodes import Schema, Side
from metl_gui.errors import UserError
from metl_gui.ui.jobs.jobs import CommandResult, JobOutcome, Jobs, NewestJob
from metl_gui.ui.map.page import MapPage
from metl_gui.ui.messages.decisions import CellDecisions
from metl_gui.ui.preview.panel import PreviewPanel
from metl_gui.ui.preview.samples import PasteDialog, all_samples_for, choosables
from metl_gui.ui.preview.text import ValueSpan
from metl_gui.ui.project.document import DocumentChange, OpenProject
from metl_gui.ui.project.notes import NodeValues, SampleWords, beside, listed
from metl_gui.ui.project.selection import Selected, Selection, place_of_version
from metl_gui.ui.project.settings import ViewSettings
from metl_gui.ui.project.text import path_of
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import Chooser
from metl_gui.ui.widgets.dialogs import show_about
from metl_gui.ui.widgets.dock import Dock
from metl_gui.ui.widgets.plain_text import plain_tip
from metl_gui.workbench.samples.cell_messages import CellUse, sample_using
from metl_gui.workbench.samples.kept_samples import (
    KeptSamples,
    exclude_samples,
    forget_samples,
    hide_in_included,
    include_samples,
    keep_message,
    keep_samples,
)
from metl_gui.workbench.samples.preview import Previews
from metl_gui.workbench.samples.project_samples import Sample

_LOOKED_AT = 200
"""Samples of a schema that are looked at for one that uses a cell."""


class PreviewController(QObject):
    """Joins the preview with the page.

    Signals:
        said: a ``CommandResult``.
        run_wanted: a test run, whose messages become samples.

    Args:
        page: gets the dock, beside the block editor.
        jobs: where files of messages are looked at.
        settings: where it is kept whether values stand beside names.
    """

    said = Signal(object)
    run_wanted = Signal()

    def __init__(
        self, page: MapPage, project: OpenProject, selection: Selection, jobs: Jobs, settings: ViewSettings
    ) -> None:
        super().__init__(page)
        self._page, self._project, self._selection, self._settings = page, project, selection, settings
        self._values = {side: NodeValues(project, side) for side in Side}
        self._keeping = NewestJob(jobs, self)
        self.panel = PreviewPanel(project, selection)
        self.decisions = CellDecisions(project, jobs, self)
        self._lit: ValueSpan | None = None
        self.panel.text.lit.connect(self._light)
        self.decisions.read.connect(self._say_lit)
        self.dock = Dock("previewDock", "Preview", self.panel)
        self.dock.add_tools(self.panel.tools)
        self.dock.line.title.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Preferred)
        page.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.dock)
        page.splitDockWidget(page.block_dock, self.dock, Qt.Orientation.Horizontal)
        self.panel.retold.connect(self._tell)
        self.panel.run_wanted.connect(self.run_wanted)
        self.panel.paste_wanted.connect(self.paste)
        self.panel.tools.choice_wanted.connect(self.choose)
        project.changed.connect(self._changed)
        page.block.values_of = self._values_of
        self._show_values()

    def lay_out(self) -> None:
        """Give the preview its share of the room below the matrix: 2 of 5."""
        self._page.resizeDocks([self._page.block_dock, self.dock], [3000, 2000], Qt.Orientation.Horizontal)

    # looking

    def show(self) -> None:
        """Show the preview with the keyboard on it."""
        self.dock.show()
        self.dock.raise_()
        self.panel.take_focus()

    def step(self, step: int) -> None:
        """Show the sample some places before or after."""
        self.dock.show()
        self.dock.raise_()
        self.panel.step(step)

    def show_use(self, use: CellUse) -> bool:
        """Show a sample that becomes a message which uses a cell; tell whether there is one."""
        shelf, workbench = self._project.samples, self._project.workbench
        document = self._project.value
        version = document.extraction.find_version(use.key[0])
        if shelf is None or workbench is None or version is None:
            return False
        previews = Previews.of_project(workbench)
        previews.take(document, self._project.newest)
        samples = (sample for sample in shelf.of(document, version.schema_id) if sample.version == version.id)
        found = sample_using(previews, islice(samples, _LOOKED_AT), use)
        if found is not None:
            self.show()
            self.panel.show_sample(found)
        return found is not None

    def choose(self) -> Chooser | None:
        """Let a sample be chosen among all of the schema."""
        shelf, asked = self._project.samples, self.panel.asked
        document = self._project.value
        found = all_samples_for(document, shelf, asked) if shelf is not None and asked is not None else ()
        if asked is None or not found:
            return None
        versions = {sample.version for sample in found if sample.version is not None}
        values = {id_: self._project.sample_values(Side.EXTRACTION, id_) for id_ in versions}
        name = document.extraction.schema(asked.schema).name
        chooser = Chooser(f"Which sample of {name}?", choosables(document, found, values), self._page)
        chooser.chosen.connect(self._chosen, Qt.ConnectionType.QueuedConnection)
        show_about(self._project, chooser)
        return chooser

    def paste(self) -> PasteDialog | None:
        """Take a message of one's own."""
        if self._project.workbench is None:
            return None
        previews = Previews.of_project(self._project.workbench)
        previews.take(self._project.value, self._project.newest)
        dialog = PasteDialog(previews, self._page)
        dialog.used.connect(self._use, Qt.ConnectionType.QueuedConnection)
        show_about(self._project, dialog)
        return dialog

    def switch_values(self) -> None:
        """Show sample values beside names of attributes, or only in tooltips."""
        self._settings.shows_values = not self._settings.shows_values
        self._show_values()

    def _show_values(self) -> None:
        for panel in (self._page.sources, self._page.targets):
            panel.show_values(self._settings.shows_values)
        self._page.block.show_values()

    def _values_of(self, key: BlockKey) -> tuple[SampleWords, SampleWords]:
        """Return what is said of values in the lists of a block; those of the message that is shown come first."""
        shown = self.panel.shown_values if self._settings.shows_values else {}
        words = []
        for side, version in zip((Side.EXTRACTION, Side.CDM), key, strict=True):
            known = self._values[side].of_version(version)
            tips = {id_: f"values: {listed(values)}" for id_, values in known.items()}
            is_beside = self._settings.shows_values and side is Side.EXTRACTION
            first = {id_: beside(values[0]) for id_, values in known.items()} if is_beside else {}
            first |= {id_: beside(value) for (s, v, id_), value in shown.items() if (s, v) == (side, version)}
            words.append(SampleWords(first, tips))
        return words[0], words[1]

    # keeping

    def keep(self, source: str) -> None:
        """Keep the messages of a file or folder as samples."""
        workbench = self._project.workbench
        if workbench is None:
            return

        def task(watch: Watch) -> KeptSamples:
            return keep_samples(workbench, source, watch)

        self._keeping.start("Keeping samples", task, self._kept)

    def forget(self) -> None:
        """Forget all samples of the project, when that is meant."""
        workbench = self._project.workbench
        if workbench is None:
            return
        text = (
            "The sample messages of this project are removed from your cache. Test runs bring new ones.\n"
            "Samples that were included in the project file stay in it."
        )
        answers = [("forget", "Forget them"), ("cancel", "Cancel")]
        if dialogs.ask("Forget the samples?", text, answers, self._page) == "forget":
            count = forget_samples(workbench)
            self._project.read_samples_again()
            self.said.emit(CommandResult(f"The samples of {number_of(count, 'schema')} are forgotten."))

    @property
    def schema(self) -> Schema | None:
        """The schema that is selected."""
        source = self._selection.current.source
        return self._project.value.extraction.find_schema(source.schema) if source is not None else None

    @property
    def is_included(self) -> bool:
        """Whether the project file holds samples of the selected schema."""
        schema, shelf = self.schema, self._project.samples
        return schema is not None and shelf is not None and schema.id in shelf.included

    def switch_included(self) -> None:
        """Include the samples of the selected schema in the project file, when that is meant, or take them out."""
        workbench, schema = self._project.workbench, self.schema
        if workbench is None or schema is None:
            return
        try:
            if self.is_included:
                exclude_samples(workbench, schema.name)
                words = f"The project file holds no samples of {schema.name} any more."
            elif self._means_it(schema.name):
                count = include_samples(workbench, schema.name)
                words = f"The project file holds {number_of(count, 'sample')} of {schema.name} now."
            else:
                return
        except UserError as error:
            self._project.refused.emit(error)
            return
        self._project.read_samples_again()
        self.said.emit(CommandResult(words))

    def _means_it(self, name: str) -> bool:
        text = (
            "Whoever is given the project file can read these messages then; masked values are hidden in them.\n"
            "It goes for samples that come later too. Undo does not take it back: the same command does."
        )
        title = f"Include samples of {name} in the project file?"
        return dialogs.ask(title, text, [("include", "Include them"), ("cancel", "Cancel")], self._page) == "include"

    def _kept(self, outcome: JobOutcome[KeptSamples]) -> None:
        if outcome.error is not None:
            dialogs.tell(outcome.error, self._page)
        if outcome.value is None:
            return
        self._project.read_samples_again()
        self.said.emit(_told(outcome.value))
        self.dock.show()

    def _use(self, raw: bytes) -> None:
        """Keep a message that was pasted, and show it."""
        workbench, shelf = self._project.workbench, self._project.samples
        if workbench is None or shelf is None:
            return
        kept = keep_message(workbench, raw)
        self._project.read_samples_again()
        self.dock.show()
        self.dock.raise_()
        schema = self._project.value.extraction.named(kept.schemas[0]) if kept.kept else None
        found = shelf.of(self._project.value, schema.id) if schema is not None else ()
        sample = next((each for each in found if each.raw == raw), None)
        if sample is None or sample.version is None:
            self.panel.show_pasted(raw)
            return
        asked = self.panel.asked
        if asked is None or asked.schema != sample.schema:
            source = place_of_version(self._project.value, Side.EXTRACTION, sample.version)
            self._selection.choose(Selected(source=source))
        self.panel.show_sample(sample)

    def _chosen(self, value: object) -> None:
        if isinstance(value, Sample):
            self.panel.show_sample(value)

    def _changed(self, changed: DocumentChange) -> None:
        """Hide what is masked from now on in the samples that the project file holds."""
        workbench = self._project.workbench
        if workbench is not None and not changed.same_trees and self._project.looks_back is None:
            try:
                hide_in_included(workbench)
            except UserError as error:
                self._project.refused.emit(error)

    def _light(self, spot: ValueSpan | None) -> None:
        self._lit = spot
        self._say_lit()

    def _say_lit(self) -> None:
        """Say in a tooltip of the value that is pointed at which cells mapped it, and who decided that."""
        words = cells_words(self._project.value, self._lit, self.decisions) if self._lit is not None else ""
        self.panel.text.setToolTip(plain_tip(words))

    def _tell(self) -> None:
        self.dock.say("Preview", self.panel.told)
        self._page.block.show_values()


def _told(kept: KeptSamples) -> CommandResult:
    if kept.problem:
        return CommandResult(kept.problem, is_good=False)
    if not kept.kept:
        return CommandResult(
            f"None of {number_of(kept.read, 'message')} belongs to a schema of the project.", is_good=False
        )
    return CommandResult(f"{number_of(kept.kept, 'sample')} of {number_of(len(kept.schemas), 'schema')} kept.")


def cells_words(document: Document, spot: ValueSpan, decisions: CellDecisions) -> str:
    """Say which cells mapped a value of a preview, a line each, and who decided them as far as that is known."""
    lines = []
    for version, attribute in sorted(spot.partners):
        here, there = (spot.version, spot.attribute), (version, attribute)
        (v, p), (w, q) = (here, there) if spot.side is Side.EXTRACTION else (there, here)
        ends = (path_of(document, Side.EXTRACTION, v, p), path_of(document, Side.CDM, w, q))
        decided = decisions.words((v, w), Element(q, p), document.state)
        lines.append(f"{' → '.join(ends)}, mapped {decided}" if decided else " → ".join(ends))
    return "\n".join(lines)
