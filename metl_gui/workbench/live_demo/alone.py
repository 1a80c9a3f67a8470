"""The decisions of the live demo where nobody sits at a window: taken by itself, and told as they are taken."""

from __future__ import annotations

from metl_gui.engine.report import RunReport
from metl_gui.errors import RunError
from metl_gui.workbench.confirming import confirm_unconfirmed
from metl_gui.workbench.importing import ImportResult
from metl_gui.workbench.live_demo.project import LEAST_SCORE
from metl_gui.workbench.live_demo.shop import SERVICE, Release
from metl_gui.workbench.live_demo.story import Story
from metl_gui.workbench.publishing import publish
from metl_gui.workbench.replaying import ReplayRequest, replay
from metl_gui.workbench.reviewing import rename, review_list
from metl_gui.workbench.running import PRODUCTION
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.suggesting import Asked, accept_best, suggest
from metl_gui.workbench.version_tasks import accept_task


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
    asked = Asked(schema=f"{SERVICE}.{release.table}")
    taken = accept_best(workbench, suggest(workbench.document, asked, watch=story.watch), LEAST_SCORE)
    if taken.set:
        story.tell(f"{taken.set} new element was suggested and taken.", "")
    confirm_unconfirmed(workbench, "The demo looked through it")


def _replayed(story: Story) -> RunReport:
    request = ReplayRequest(errors=story.servers.errors, sink=story.servers.sink, mode=PRODUCTION)
    with Workbench.open(story.path, for_editing=False) as workbench:
        report = replay(workbench, request, watch=story.watch).report
    story.tell(
        f"What was set aside was replayed from its topic: {report.mapped:,} of {report.read:,} records are mapped now, "
        f"{report.set_aside:,} were set aside again.",
        f"metl replay PROJECT --errors {story.servers.errors} --sink {story.servers.sink} --mode production",
    )
    return report
