"""The strip that leads through a copy of the sample: five steps that tick themselves off."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from metl_gui.core.counted import number_of
from metl_gui.ui.context.app_context import PAGES, AppContext
from metl_gui.ui.drop.controller import DropController
from metl_gui.ui.jobs.jobs import JobOutcome, NewestJob
from metl_gui.ui.widgets.pill import KeyButton, ValueButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.workbench.demo.first_steps import FirstStep, FirstSteps, first_steps, sample_copy
from metl_gui.workbench.session import Workbench

_STEPS = tuple(FirstStep)


class FirstStepsStrip(QFrame):
    """Shows the steps in a row; where there is no room for all, the next one with how many are done.

    Signals:
        wanted: the ``FirstStep`` that was pressed.
    """

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "steps")
        self.setAccessibleName("First steps")
        self.done: frozenset[FirstStep] = frozenset()
        self.heading = plain_label("First steps", kind="heading")
        self.buttons = {step: ValueButton(step, step.value) for step in _STEPS}
        self.close_button = KeyButton("Close", kind="link")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 14, 6)
        row.setSpacing(8)
        row.addWidget(self.heading)
        for step, button in self.buttons.items():
            button.chosen.connect(self.wanted)
            button.setAccessibleDescription(f"Step {_STEPS.index(step) + 1} of {len(_STEPS)}")
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.close_button)
        self.hide()

    @property
    def next(self) -> FirstStep | None:
        """The first step that is not done."""
        return next((step for step in _STEPS if step not in self.done), None)

    def show_done(self, done: Iterable[FirstStep]) -> None:
        """Tick steps off."""
        self.done = frozenset(done)
        for number, (step, button) in enumerate(self.buttons.items(), 1):
            button.setText(f"✓ {step.value}" if step in self.done else f"{number} {step.value}")
            kind = "link" if step in self.done else "primary" if step is self.next else ""
            if button.property("kind") != kind:
                button.setProperty("kind", kind)
                button.style().unpolish(button)
                button.style().polish(button)
            button.updateGeometry()
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Ask for no width: steps that have no room are left out."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many steps as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        hints = [button.sizeHint().width() + 8 for button in self.buttons.values()]
        room = self.width() - self.heading.sizeHint().width() - self.close_button.sizeHint().width() - 60
        has_room = sum(hints) <= room
        for step, button in self.buttons.items():
            button.setVisible(has_room or step is self.next)
        count = f"{len(self.done)} of {number_of(len(_STEPS), 'step')} done"
        self.heading.setText("First steps" if has_room or self.next is None else count)


class FirstStepsController(QObject):
    """Shows the strip for a copy of the sample, until all is done and somebody closes it.

    Args:
        context: of the window.
        drops: shows what has arrived.
    """

    def __init__(self, context: AppContext, drops: DropController) -> None:
        super().__init__(context.window)
        self._context, self._drops = context, drops
        self._looking = NewestJob(context.jobs, self)
        self._steps: FirstSteps | None = None
        self._has_opened_warehouse = False
        self.strip = FirstStepsStrip()
        self.strip.wanted.connect(self._go)
        self.strip.close_button.clicked.connect(self.close)
        context.project.opened.connect(self._opened)
        context.project.changed.connect(self.refresh)

    def close(self) -> None:
        """Show the steps no more, in no project."""
        self._context.settings.shows_first_steps = False
        self.strip.hide()

    def show_again(self) -> None:
        """Show the steps of the project in front, also where they were closed."""
        self._context.settings.shows_first_steps = True
        if self._steps is None:
            self._context.notify("The first steps belong to the sample: File > Open the sample project.")
        self.refresh()

    def show_page(self, number: int) -> None:
        """Note that a page came to the front."""
        if PAGES[number : number + 1] == ("Warehouse",):
            self._has_opened_warehouse = True
        self.refresh()

    def refresh(self, _what: object = None) -> None:
        """Tick off what is done."""
        workbench = self._context.project.workbench
        is_shown = self._steps is not None and self._context.settings.shows_first_steps
        if workbench is None or self._steps is None or not is_shown:
            self.strip.hide()
            return
        own = {FirstStep.WAREHOUSE} if self._has_opened_warehouse else set()
        self.strip.show_done(self._steps.done(workbench) | own)
        self.strip.show()

    def _opened(self, workbench: Workbench | None) -> None:
        self._looking.cancel()
        self._steps, self._has_opened_warehouse = None, False
        self.strip.hide()
        folder = sample_copy(workbench.path) if workbench is not None else None
        if folder is not None:
            self._looking.start("Looking at the sample", lambda _watch: first_steps(folder), self._take)

    def _take(self, outcome: JobOutcome[FirstSteps | None]) -> None:
        self._steps = outcome.value
        self.refresh()

    def _go(self, step: FirstStep) -> None:
        if self._steps is None:
            return
        match step:
            case FirstStep.ADD:
                self._drops.look_at([self._steps.folder.waiting])
            case FirstStep.DECIDE:
                self._context.navigate.show_page(PAGES.index("Review"))
            case FirstStep.RUN:
                self._drops.run_wanted.emit(str(self._steps.folder.messages))
            case FirstStep.PUBLISH:
                self._context.actions["publish"].trigger()
            case FirstStep.WAREHOUSE:
                self._context.navigate.show_page(PAGES.index("Warehouse"))
