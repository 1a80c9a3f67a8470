"""The first hour with a copy of a sample: five steps, each done once the project shows that it was.

Source: docs/guide/first-hour.md, "In the window".
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from metl_gui.core.review.items import review_items
from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.values import Value
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.importing.schema_import import known_version, read_sources
from metl_gui.workbench.publishing.publication import published_states
from metl_gui.workbench.runs.history import runs
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import samples_folder


class FirstStep(StrEnum):
    """A step, in words; in this order."""

    ADD = "Add the version that has arrived"
    DECIDE = "Decide what it lost"
    RUN = "Make a test run"
    PUBLISH = "Publish the mapping"
    WAREHOUSE = "Open the warehouse"


class FirstSteps(Value):
    """The steps of one copy.

    Args:
        folder: the copy.
        waiting: the versions that have arrived and that the project of a fresh copy does not have.
    """

    folder: SampleFolder
    waiting: tuple[VersionDeclaration, ...]

    def done(self, workbench: Workbench) -> frozenset[FirstStep]:
        """Return the steps that the project shows to be done; whether its warehouse was opened is not in it.

        Cost: the versions that have arrived, and a look at the newest run.
        """
        found = set()
        if all(known_version(workbench.document, Side.EXTRACTION, each) is not None for each in self.waiting):
            found.add(FirstStep.ADD)
            if not review_items(workbench.document):
                found.add(FirstStep.DECIDE)
        if runs(workbench, 1):
            found.add(FirstStep.RUN)
        if len(published_states(workbench)) > 1:  # the copy comes with one
            found.add(FirstStep.PUBLISH)
        return frozenset(found)


def sample_copy(path: Path) -> SampleFolder | None:
    """Return the folder of a project that is a copy of a sample in the user's own folder; ``None`` for any other."""
    folder = SampleFolder(path.parent)
    is_copy = path.resolve().is_relative_to(samples_folder().resolve()) and folder.project == path
    return folder if is_copy and folder.waiting.is_dir() else None


def first_steps(folder: SampleFolder) -> FirstSteps | None:
    """Return the steps of a copy of a sample; ``None`` where nothing has arrived.

    Raises:
        SchemaError: what has arrived cannot be read.
    """
    reading = read_sources((folder.waiting,), "auto")
    return FirstSteps(folder, reading.declarations) if reading.declarations else None
