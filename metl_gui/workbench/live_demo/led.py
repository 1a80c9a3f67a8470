"""The live demo with a person at the window: what happens is told, what to do is said, the person decides."""

from __future__ import annotations

import time

from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.core.review.items import review_items
from metl_gui.workbench.live_demo.shop import Release
from metl_gui.workbench.live_demo.story import RELEASES, Story
from metl_gui.workbench.publishing import live_state
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.version_tasks import version_tasks

_LOOK_SECONDS = 0.5
_QUIET_SECONDS = 15.0
_WITHOUT_END = 30 * 24 * 3600.0


def lead(story: Story) -> None:
    """Lead a person through the releases of the shop, then let records flow until the watch is cancelled.

    Raises:
        RunCancelled: the window was closed, or somebody wants to end.
        UserError: the lane ended, or servers do not answer.
    """
    story.tell(
        "The window shows the lane on its Run page: lag, rate and latency of each partition, and its state.",
        "Have a look around; a release of one of the services comes in some seconds.",
    )
    for release in RELEASES:
        _stay(story, _QUIET_SECONDS, "Records flow")
        _meet(story, release)
    story.tell(
        "That is the loop. The shop stays open: change the mapping, publish, freeze the lane, roll it back.",
        "Close the window, or press Ctrl+C here, and everything that was started ends.",
    )
    _stay(story, _WITHOUT_END, "Records flow")


def _meet(story: Story, release: Release) -> None:
    story.deploy(release)
    task = story.find_task(release)
    story.tell(
        f"Records of {task.schema} are set aside: no version of it has these columns. None of them is guessed or lost.",
        "In the window: Review page (Ctrl+2). Press 'Add this version' on the card at the head of the list.",
    )
    story.lane.wait(lambda: not _stands(story, task), "Waiting for you to add the version", story.watch, _WITHOUT_END)
    left = _left(story)
    decide = "Then decide the item that waits on the Review page: the column has another name now. " if left else ""
    story.tell(
        f"The version was added, and the automated update carried its mapping over: {left or 'no'} "
        f"decision{'s' * (left != 1)} left.",
        f"{decide}Publish the state (Ctrl+Shift+U); the lane takes it up without a stop.",
    )
    before = story.lane.state
    story.lane.wait(
        lambda: story.lane.state != before and story.lane.state == _live(story),
        "Waiting for you to publish",
        story.watch,
        _WITHOUT_END,
    )
    story.tell(
        f"The lane maps with state {story.lane.state}: new records of {task.schema} flow again.",
        "Run page (Ctrl+3), view Run: 'Replay these' under Set aside (Ctrl+F5) maps what was set aside. Its messages "
        "keep their places, so that nothing newer is overwritten.",
    )


def _stay(story: Story, seconds: float, text: str) -> None:
    end = time.monotonic() + seconds
    story.lane.wait(lambda: time.monotonic() > end, text, story.watch, seconds + 60)


def _stands(story: Story, task: VersionTask) -> bool:
    time.sleep(_LOOK_SECONDS)
    with Workbench.open(story.path, for_editing=False) as workbench:
        return any(one.id == task.id for one in version_tasks(workbench))


def _left(story: Story) -> int:
    with Workbench.open(story.path, for_editing=False) as workbench:
        return sum(1 for _ in review_items(workbench.document))


def _live(story: Story) -> int:
    with Workbench.open(story.path, for_editing=False) as workbench:
        live = live_state(workbench)
        return live.state if live is not None else -1
