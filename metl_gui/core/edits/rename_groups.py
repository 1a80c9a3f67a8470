"""Rename proposals that belong together: a struct moved or renamed, names in another spelling, a word replaced.

People answer such a group once: either all of it was renamed, or none. Source: docs/guide/change.md, "Renames".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TypeAlias

from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.review import RenameLost
from metl_gui.core.matrix.blocks import Block, BlockKey, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import NO_RENAMES_REFUSED
from metl_gui.core.review.rename_proposals import Proposal, Refused, best_proposals
from metl_gui.core.suggest.renames import Values, parted, prefixes
from metl_gui.core.suggest.words import letters, segments
from metl_gui.core.trees.paths import join
from metl_gui.values import Value

_FEWEST = 2

Words: TypeAlias = tuple[str, ...]


class NameChange(Value):
    """What two names differ in.

    Args:
        kind: ``moved``, ``spelling`` or ``words``.
        before, after: the parents, or the words, that took each other's place.
    """

    kind: str
    before: Words = ()
    after: Words = ()

    @property
    def words(self) -> str:
        """Say it to people."""
        if self.kind == "spelling":
            return "names in another spelling"
        if self.kind == "moved":
            old, new = join(self.before), join(self.after)
            return f"{old} is {new} now" if old and new else f"moved under {new}" if new else f"moved out of {old}"
        before, after = " ".join(self.before), " ".join(self.after)
        if before and after:
            return f"“{before}” is “{after}” now"
        return f"“{after}” was added" if after else f"“{before}” was left out"


class RenameGroup(Value):
    """Lost attributes of a block that were renamed in the same way, as far as proposals go.

    Args:
        change: what is different about all of them.
        proposals: the loss and the candidate of each, in the order of the block's losses.
    """

    change: NameChange
    proposals: tuple[tuple[Loss, Proposal], ...]

    @property
    def score(self) -> float:
        """That of the least sure one."""
        return min(proposal.score for _, proposal in self.proposals)

    @property
    def reason(self) -> str:
        """Say what happened to how many."""
        return f"{len(self.proposals)} lost attributes: {self.change.words}"


def rename_groups(
    document: Document, block: Block, refused: Refused = NO_RENAMES_REFUSED, values: Values | None = None
) -> tuple[RenameGroup, ...]:
    """Find the proposals of a block that belong together, two or more; the largest group first.

    Arguments as of ``review.rename_proposals.proposals``.
    """
    return grouped(best_proposals(document, block, refused, values))


def grouped(best: Mapping[Loss, Proposal]) -> tuple[RenameGroup, ...]:
    """Put the best proposals of a block into groups; those that stand alone are left out."""
    found: dict[NameChange, list[tuple[Loss, Proposal]]] = defaultdict(list)
    for loss, proposal in best.items():
        change = change_of(proposal.lost, proposal.candidate)
        if change is not None:
            found[change].append((loss, proposal))
    groups = (RenameGroup(change, tuple(list_)) for change, list_ in found.items() if len(list_) >= _FEWEST)
    return tuple(sorted(groups, key=lambda group: -len(group.proposals)))


def change_of(lost: str, candidate: str) -> NameChange | None:
    """Say what a rename changed, ``None`` where nothing is left of the name."""
    old, new = parted(lost), parted(candidate)
    if letters(old[-1]) == letters(new[-1]):
        before, after = prefixes(lost, candidate)
        if [letters(name) for name in before] == [letters(name) for name in after]:
            return NameChange("spelling")
        while before and after and before[0] == after[0]:
            before, after = before[1:], after[1:]
        return NameChange("moved", before, after)
    if old[:-1] != new[:-1]:
        return None
    return _replaced(_words(old[-1]), _words(new[-1]))


def accepting(key: BlockKey, group: RenameGroup, comment: str = "") -> CompositeEdit:
    """Make the one edit that accepts a group: every rename of it, in all blocks of the chain."""
    edits = tuple(RenameLost(key, proposal.lost, proposal.candidate, comment) for _, proposal in group.proposals)
    return CompositeEdit(f"Rename {len(edits)} lost attributes: {group.change.words}", edits)


def _words(name: str) -> Words:
    return tuple(word for part in segments(join((name,))) for word in part)


def _replaced(old: Words, new: Words) -> NameChange | None:
    """Say which words between the same first and last ones are others."""
    begin = 0
    while begin < min(len(old), len(new)) and old[begin] == new[begin]:
        begin += 1
    end = 0
    while end < min(len(old), len(new)) - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    if not begin and not end:
        return None
    return NameChange("words", old[begin : len(old) - end], new[begin : len(new) - end])
