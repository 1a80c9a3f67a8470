"""The main job on the sample project: add the version that waits, show what needs review, map its messages.

Source: contract.md §1 (``metl demo``). The window's part (opening it, the screenshot) is done by whoever calls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from metl_gui.engine.client import SparkProcess
from metl_gui.workbench.importing import ImportResult
from metl_gui.workbench.progress import UNWATCHED, Watch
from metl_gui.workbench.reviewing import ReviewList, review_list
from metl_gui.workbench.running import EventSink, RunRequest, RunResult, run_mapping
from metl_gui.workbench.sample import FX, SampleFolder, add_waiting, fresh_copy, mark_untouched
from metl_gui.workbench.session import Workbench


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the demo did.

    Args:
        project: the copy that it worked on.
        imported: the version that waited.
        review: what needs review since.
        run: the test run.
        screenshot: picture of the window on the project, ``None`` when there is none.
    """

    project: Path
    imported: ImportResult
    review: ReviewList
    run: RunResult
    screenshot: Path | None = None

    def with_screenshot(self, path: Path) -> DemoResult:
        """Return the same with a picture."""
        return replace(self, screenshot=path)

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl demo``."""
        return {
            "project": str(self.project),
            "import": self.imported.as_json(),
            "review": self.review.as_json(),
            "run": self.run.as_json(),
            "screenshot": str(self.screenshot) if self.screenshot else None,
        }


@dataclass(frozen=True, slots=True)
class PreparedDemo:
    """The sample with the waiting version added: what a window opens before it starts the run."""

    folder: SampleFolder
    imported: ImportResult
    review: ReviewList

    @property
    def request(self) -> RunRequest:
        """The test run of the demo."""
        return RunRequest(str(self.folder.messages))


def prepare_demo(watch: Watch = UNWATCHED) -> PreparedDemo:
    """Make a fresh copy of the sample, add the version that waits, and close the project again.

    Raises:
        ProjectError: the user's data folder cannot be written.
    """
    folder = fresh_copy(FX, watch)
    with Workbench.open(folder.project) as workbench:
        imported = add_waiting(workbench, folder, watch)
        review = review_list(workbench.document)
    mark_untouched(folder)
    return PreparedDemo(folder, imported, review)


def run_demo(on_event: EventSink | None = None, watch: Watch = UNWATCHED) -> DemoResult:
    """Do the main job on a fresh copy of the sample, without a window.

    Spark starts while the project is prepared.

    Raises:
        SetupError: Java or Spark is missing.
        RunCancelled: it was cancelled.
    """
    with SparkProcess() as spark:
        prepared = prepare_demo(watch)
        with Workbench.open(prepared.folder.project, for_editing=False) as workbench:
            run = run_mapping(workbench, prepared.request, spark, on_event, watch)
    return DemoResult(prepared.folder.project, prepared.imported, prepared.review, run)
