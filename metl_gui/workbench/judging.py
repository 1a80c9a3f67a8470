"""What publishing a state would mean, told before anybody decides: the checks, and what production would do with it."""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.core.canonical import is_carried, is_held
from metl_gui.core.document import Document
from metl_gui.core.problems import Problem, Severity
from metl_gui.workbench.checking import check_document
from metl_gui.workbench.progress import UNWATCHED, Watch
from metl_gui.workbench.session import Workbench


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is known of a state before it is published.

    Args:
        state: its number.
        problems: what the checks find, errors first.
        blocks: how many blocks production would use, held ones included.
        elements: how many elements they hold.
        held: how many of them wait for review, so that their messages are set aside.
        unconfirmed: how many production would leave out because nobody has confirmed them.
    """

    state: int
    problems: tuple[Problem, ...]
    blocks: int
    elements: int
    held: int
    unconfirmed: int

    @property
    def errors(self) -> int:
        """How many problems keep it from being published."""
        return sum(problem.severity is Severity.ERROR for problem in self.problems)


def judge(workbench: Workbench, state: int, watch: Watch = UNWATCHED) -> Judgement:
    """Check a state as publishing does; linear in the document.

    Raises:
        ProjectError: there is no such state.
    """
    watch.step("Checking the state")
    return judged(workbench.at_state(state), watch)


def judged(document: Document, watch: Watch = UNWATCHED) -> Judgement:
    """Check a document, and count what production would use of it; linear in the document."""
    problems = check_document(document).problems
    watch.step("Checking the state")
    blocks = elements = held = unconfirmed = 0
    for block in document.matrix.blocks():  # one at a time: there may be ten million
        if is_carried(block):
            blocks += 1
            elements += len(block.elements)
            held += is_held(document, block)
        elif is_carried(block, include_unconfirmed=True):
            unconfirmed += 1
    return Judgement(document.state, problems, blocks, elements, held, unconfirmed)
