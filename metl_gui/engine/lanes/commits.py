"""What one transaction of a task commits of each partition and each load.

The counts of a load that is through go over to the partition of its changes, in the transaction that commits its last
row: its own place goes with its topic, and counts must add up whenever anybody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from metl_gui.engine.lanes.loads import LoadShare
from metl_gui.engine.lanes.mapping import Mapped
from metl_gui.engine.lanes.share import Commit, Facts, Share
from metl_gui.engine.report import Tally

Keep = Callable[[int, bytes], None]
_NOTHING = Mapped([], Tally(), [])


def commits_of(mapped: Mapping[Share, Mapped], facts: Facts, keeper: Callable[[Share], Keep]) -> list[Commit]:
    """Say what is committed.

    Args:
        mapped: what became of messages, by where they come from.
        facts: of the task.
        keeper: returns what takes counts that are too long for the metadata of an offset.
    """
    commits: list[Commit] = []
    through: dict[Share, Commit] = {}
    for load, done in mapped.items():
        if isinstance(load, LoadShare) and _has_news(load, done):
            commit = load.commit(done.messages, done.tally, facts, keeper(load))
            commits.append(commit)
            if commit.note.is_carried and not load.note.is_carried:
                through[load.changes] = commit
    for share in dict.fromkeys((*mapped, *through)):
        done = mapped.get(share, _NOTHING)
        if not isinstance(share, LoadShare) and (share in through or _has_news(share, done)):
            commits.append(share.commit(done.messages, done.tally, facts, keeper(share), through.get(share)))
    return [commit for commit in commits if commit.position >= 0]


def _has_news(share: Share, done: Mapped) -> bool:
    return bool(done.messages) or not share.held or not share.note.is_waiting
