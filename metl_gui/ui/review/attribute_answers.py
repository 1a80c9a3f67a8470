"""Finds out which attributes came and went since tables of the warehouse were declared, and takes the answers.

It is a job, as expressions of tables are read for it. Each answer is one edit, which can be undone.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject

from metl_gui.core.changes.draft import Edit
from metl_gui.core.dimensional.models.asked_attributes import LostAttribute, NewAttributes
from metl_gui.core.edits.warehouse import SetModel, SettleAttributes
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.warehouse_model import Model
from metl_gui.ui.context.app_context import AppContext
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.project.panel_updater import PanelUpdater
from metl_gui.ui.review.page import ReviewPage
from metl_gui.ui.widgets.choice import ChoiceRow, Chooser
from metl_gui.ui.widgets.dialogs import show_about
from metl_gui.ui.widgets.two_line_list import TwoLines
from metl_gui.workbench.warehouse.attribute_questions import (
    AttributeQuestions,
    attribute_questions,
    with_attributes,
    without_attribute,
)


class AttributeAnswers(QObject):
    """Joins the job, the cards and the edits.

    Args:
        context: what controllers share.
        page: with the cards.
    """

    def __init__(self, context: AppContext, page: ReviewPage) -> None:
        super().__init__(context.window)
        self._context, self._page, self._project = context, page, context.project
        self._looking = NewestJob(context.jobs, self)
        cards, lost = page.list.new_attributes, page.list.lost_attributes
        cards.add_wanted.connect(self.add)
        cards.leave_wanted.connect(self.leave_out)
        lost.keep_wanted.connect(self.keep)
        lost.drop_wanted.connect(self.drop)
        PanelUpdater(context.project, page, self.look, catches_up=False)
        page.seen.connect(self.look)
        context.project.opened.connect(self._opened)

    def look(self) -> None:
        """Find out what is asked of the state that is shown."""
        document = self._project.value
        if not document.models:
            self._looking.cancel()
            self._page.show_attributes(AttributeQuestions())
            return

        def done(outcome: JobOutcome[AttributeQuestions]) -> None:
            if outcome.value is not None and document is self._project.value:
                self._page.show_attributes(outcome.value)

        self._looking.start("Attributes of the warehouse", partial(_questions, document), done, is_quiet=True)

    def add(self, new: NewAttributes) -> None:
        """Take attributes into the table of their entity, or into one that is chosen."""
        if len(new.tables) == 1:
            self._add_to(new, new.tables[0])
            return
        choices = [ChoiceRow(TwoLines(name, ""), name) for name in new.tables]
        chooser = Chooser(f"Table for {', '.join(new.paths)}", choices, self._page)
        chooser.chosen.connect(partial(self._add_to, new))
        show_about(self._project, chooser)

    def leave_out(self, new: NewAttributes) -> None:
        """Ask for these attributes no more."""
        self._do(SettleAttributes(new.entity, new.paths), f"{', '.join(new.paths)} of {new.entity} stay out.")

    def keep(self, lost: LostAttribute) -> None:
        """Leave the columns of an attribute as they are, and ask no more."""
        said = f"Columns of {lost.path} stay, null for what follows."
        self._do(SettleAttributes(lost.entity, (lost.path,), is_lost=True), said)

    def drop(self, lost: LostAttribute) -> None:
        """Take the columns of an attribute out of their tables."""
        model = self._model(lost.model)
        if model is not None:
            self._set(without_attribute(self._project.value, model, lost), model, f"Columns of {lost.path} go")

    def _add_to(self, new: NewAttributes, table: str) -> None:
        model = self._model(new.model)
        if model is not None:
            changed = with_attributes(self._project.value, model, table, new.paths)
            self._set(changed, model, f"{table} takes {', '.join(new.paths)}")

    def _model(self, name: str) -> Model | None:
        return self._project.value.model(name) if not self._project.refuses_now() else None

    def _set(self, changed: Model, model: Model, said: str) -> None:
        if changed != model:
            self._do(SetModel(changed), f"{said}; in targets with their next rebuild.")

    def _do(self, edit: Edit, said: str) -> None:
        if self._project.do(edit):
            self._context.notify(said, "Undo", self._project.undo)

    def _opened(self, _workbench: object) -> None:
        self._looking.cancel()
        self._page.show_attributes(AttributeQuestions())


def _questions(document: Document, _watch: Watch) -> AttributeQuestions:
    return attribute_questions(document)
