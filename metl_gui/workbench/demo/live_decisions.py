"""The decisions of the live demo: taken by itself, or by a person at the window.

``decide`` takes them where nobody sits at a window, and tells each as it is taken. ``lead`` tells a person what happens
and what to do; the person decides.
"""

from __future__ import annotations

import time

from metl_gui.core.project.version_tasks import VersionTask
from metl_gui.core.review.items import review_items
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import ReplayOrder, RunPolicy, SinkSpec, SourceSpec
from metl_gui.errors import RunError
from metl_gui.workbench.demo.live_story import LEAST_SCORE, RELEASES, Story
from metl_gui.workbench.importing.schema_import import ImportResult
from metl_gui.workbench.importing.version_tasks import accept_task, version_tasks
from metl_gui.workbench.live import SERVICE, Release
from metl_gui.workbench.mapping.acceptance import accept_best
from metl_gui.workbench.mapping.suggestions import SuggestionQuery, suggest
from metl_gui.workbench.publishing.publication import live_state, publish
from metl_gui.workbench.review.decisions import confirm_unconfirmed, rename, review_list
from metl_gui.workbench.runs.mapping_run import PRODUCTION, RunRequest
from metl_gui.workbench.runs.replay import replay
from metl_gui.workbench.session import Workbench


def decide(story: Story, release: Release) -> RunReport:
    """Meet a release as a person would: import its version, decide what must be decided, publish, replay.

    Returns:
        The report of the replay.

    Raises:
        UserError: something does not happen that should.
        RunCancelled: the watch was cancelled.
    """
    before = story.deploy(release)
    task = story.find_task(release)
    story.tell(
        f"Records of {task.schema} are set aside, none is guessed: {story.lane.unknown - before} so far. "
        f"A version task stands on the review list, for a version with {len(task.declaration.attributes)} columns.",
        f"metl review {story.path} --list",
    )
    with Workbench.open(story.path) as workbench:
        _tell_imported(story, accept_task(workbench, task.id))
        _review(story, workbench, release)
        published = publish(workbench, name=f"After the release of {release.service}")
    story.tell(f"State {published.state} is published; the lane is not stopped.", "")
    story.lane.wait(lambda: story.lane.state == published.state, "The lane takes up the new state", story.watch)
    story.tell(f"The lane maps with state {published.state}: {story.lane.told}.", "")
    return _replayed(story)


def _tell_imported(story: Story, done: ImportResult) -> None:
    added = done.added[0]
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in done.blocks.items() if count)
    left = done.needs_review
    story.tell(
        f"The task was taken: {added.name} has version {added.version} now. The automated update carried its mapping "
        f"over (blocks: {verdicts}); {left or 'no'} decision{'s' * (left != 1)} left.",
        "",
    )


def _review(story: Story, workbench: Workbench, release: Release) -> None:
    for item in review_list(workbench.document).items:
        best: dict[str, str] = {}
        for one in item.proposals:
            best.setdefault(one.lost, one.candidate)
        lost = ", ".join(each.element.from_path for each in item.lost)
        if not best:
            raise RunError(f"Nothing is proposed for {lost}.", f"It was lost in {item.block}.")
        pairs = [f"{old}={new}" for old, new in best.items()]
        rename(workbench, str(item.block), pairs, "The demo took the first proposal")
        story.tell(
            f"Review item: {item.block} lost {lost}. Proposed and decided: {', '.join(pairs)}.",
            f"metl review PROJECT --rename {item.block} {' '.join(pairs)}",
        )
    asked = SuggestionQuery(schema=f"{SERVICE}.{release.table}")
    taken = accept_best(workbench, suggest(workbench.document, asked, watch=story.watch), LEAST_SCORE)
    if taken.set:
        story.tell(f"{taken.set} new element was suggested and taken.", "")
    confirm_unconfirmed(workbench, "The demo looked through it")


def _replayed(story: Story) -> RunReport:
    request = RunRequest(
        SourceSpec(address=story.servers.errors, replay=ReplayOrder()),
        SinkSpec(address=story.servers.sink),
        policy=RunPolicy(mode=PRODUCTION),
    )
    with Workbench.open(story.path, for_editing=False) as workbench:
        report = replay(workbench, request, watch=story.watch).report
    story.tell(
        f"What was set aside was replayed from its topic: {report.mapped:,} of {report.read:,} records are mapped now, "
        f"{report.set_aside:,} were set aside again.",
        f"metl replay PROJECT --errors {story.servers.errors} --sink {story.servers.sink} --mode production",
    )
    return report


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
