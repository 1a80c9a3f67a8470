"""What may stand in the place of a lost element: its proposed new names first, then whatever is free in its block."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from metl_gui.core.blocks import Block, Loss
from metl_gui.core.document import Document
from metl_gui.core.nodes import Attribute, Side
from metl_gui.core.proposals import Proposal, proposals


@dataclass(frozen=True, slots=True)
class Candidates:
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


def lost_side(document: Document, block: Block, loss: Loss) -> Side:
    """Tell which end of a lost element is the one that went."""
    rows = document.cdm.version(block.entity_version)
    return Side.EXTRACTION if rows.of_lineage(loss.q_lineage) is not None else Side.CDM


def refused_pairs(
    document: Document, block: Block, refused: AbstractSet[tuple[int, str, str]]
) -> frozenset[tuple[str, str]]:
    """Return the refused proposals of a block's schema: lost path, candidate path."""
    schema_id = document.extraction.version(block.version).schema_id
    return frozenset((lost, candidate) for id_, lost, candidate in refused if id_ == schema_id)


def candidates(
    document: Document, block: Block, losses: Iterable[Loss], refused: frozenset[tuple[str, str]] = frozenset()
) -> dict[Loss, Candidates]:
    """List the candidates of some lost elements of a block.

    Args:
        document: where the block is.
        block: the block.
        losses: its lost elements.
        refused: lost and candidate paths not to propose again.
    """
    found: dict[str, list[Proposal]] = defaultdict(list)
    for proposal in proposals(document, block):
        if (proposal.lost, proposal.candidate) not in refused:
            found[proposal.lost].append(proposal)
    taken = {element.p for element in block.elements}, {element.q for element in block.elements}
    free = {
        Side.EXTRACTION: _free(document.extraction.version(block.version).attributes, taken[0]),
        Side.CDM: _free(document.cdm.version(block.entity_version).attributes, taken[1]),
    }
    made: dict[Loss, Candidates] = {}
    for loss in losses:
        side = lost_side(document, block, loss)
        lost = loss.from_path if side is Side.EXTRACTION else loss.to_path
        renames = sorted(found[lost], key=lambda each: -each.score)
        named = {proposal.candidate for proposal in renames}
        made[loss] = Candidates(side, tuple(renames), tuple(a for a in free[side] if a.path not in named))
    return made


def loss_name(block: Block, loss: Loss) -> str:
    """Return the path that names a loss and no other one of its block."""
    ends = [path for other in block.open_losses if other != loss for path in (other.from_path, other.to_path)]
    return next((path for path in (loss.to_path, loss.from_path) if path not in ends), loss.to_path)


def _free(attributes: tuple[Attribute, ...], taken: set[int]) -> tuple[Attribute, ...]:
    return tuple(attribute for attribute in attributes if attribute.id not in taken)
