"""The run that brought a message to a target, and the record of it that the run keeps to look at."""

from __future__ import annotations

from metl_gui.core.dimensional.loads.row_reasons import MessageOrigin
from metl_gui.errors import ProjectError, RunError
from metl_gui.values import Value
from metl_gui.workbench.runs.history import PastRun, find_past
from metl_gui.workbench.samples.run_records import first_results
from metl_gui.workbench.session import Workbench


class BroughtMessage(Value):
    """A message, by the run that brought it.

    Args:
        run: that run.
        place: of the record among those that the run keeps; empty where it keeps others.
    """

    run: PastRun
    place: str

    @property
    def words(self) -> str:
        """Say where the record is."""
        if self.place:
            return f"Run {self.run.run_id} brought the message."
        return f"Run {self.run.run_id} brought the message, and keeps other records to look at, not this one."


def run_of_message(workbench: Workbench, message: MessageOrigin) -> BroughtMessage:
    """Find the run that brought a message.

    Args:
        workbench: the opened project.
        message: as a target knows it.

    Cost: reads the records that the run keeps, the first ones of each entity and task.

    Raises:
        RunError: the project has no such run any more, or its folder is gone.
    """
    try:
        run = find_past(workbench, message.load)
    except ProjectError as error:
        load = f"Load {message.load}" if message.load else "A load without a name"
        text = f"{load} brought the message, and is no run that this project knows any more."
        raise RunError(text, hint=_where(message)) from error
    if not run.folder.is_dir():
        text = f"Run {run.run_id} brought the message. Its folder is gone, and what it kept with it."
        raise RunError(text, hint=_where(message))
    for place in message.places:
        if first_results(run.folder / "samples", 1, place=place):
            return BroughtMessage(run, place)
    return BroughtMessage(run, "")


def _where(message: MessageOrigin) -> str:
    return f"It came from {message.places[0]}." if message.places else ""
