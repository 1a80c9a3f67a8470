"""What may stand in the place of a lost element: its proposed new names first, then whatever is free in its block."""

from __future__ import annotations

from collections.abc import Iterable

from metl_gui.core.changes.chains import lost_side
from metl_gui.core.matrix.blocks import Block, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import NO_RENAMES_REFUSED, RefusedRenames
from metl_gui.core.review.rename_proposals import Proposal, candidates
from metl_gui.core.suggest.renames import Values
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.values import Value


class LossChoices(Value):
    """What may stand in the place of one lost element.

    Args:
        side: the tree whose attribute went.
        renames: proposed new names, the best first, without those that were refused.
        free: the other attributes of that side that are not mapped in the block, as the version has them.
    """

    side: Side
    renames: tuple[Proposal, ...]
    free: tuple[Attribute, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of all of them, in order."""
        return (*(proposal.candidate for proposal in self.renames), *(attribute.path for attribute in self.free))


def loss_choices(
    document: Document,
    block: Block,
    losses: Iterable[Loss],
    refused: RefusedRenames = NO_RENAMES_REFUSED,
    values: Values | None = None,
) -> dict[Loss, LossChoices]:
    """List what may stand in the place of some open lost elements of a block.

    Arguments as of ``review.rename_proposals.proposals``.
    """
    proposed = candidates(document, block, refused, values)
    taken = {element.p for element in block.elements}, {element.q for element in block.elements}
    free = {
        Side.EXTRACTION: _free(document.extraction.version(block.version).attributes, taken[0]),
        Side.CDM: _free(document.cdm.version(block.entity_version).attributes, taken[1]),
    }
    made: dict[Loss, LossChoices] = {}
    for loss in losses:
        side = lost_side(document, block, loss)
        renames = tuple(proposed.get(loss, ()))
        named = {proposal.candidate for proposal in renames}
        made[loss] = LossChoices(side, renames, tuple(a for a in free[side] if a.path not in named))
    return made


def lost_path(document: Document, block: Block, loss: Loss) -> str:
    """Return the path of the end that went."""
    return loss.from_path if lost_side(document, block, loss) is Side.EXTRACTION else loss.to_path


def loss_name(block: Block, loss: Loss) -> str:
    """Return what names a loss and no other one of its block: the path of an end, else both of them."""
    ends = [path for other in block.open_losses if other != loss for path in (other.from_path, other.to_path)]
    return next((path for path in (loss.to_path, loss.from_path) if path not in ends), loss.element_name)


def rename_name(document: Document, block: Block, loss: Loss) -> str:
    """Return what a rename calls a loss: the path that went, where no other loss has it."""
    path = lost_path(document, block, loss)
    others = [end for other in block.open_losses if other != loss for end in (other.from_path, other.to_path)]
    return path if path not in others else loss_name(block, loss)


def _free(attributes: tuple[Attribute, ...], taken: set[int]) -> tuple[Attribute, ...]:
    return tuple(attribute for attribute in attributes if attribute.id not in taken)
