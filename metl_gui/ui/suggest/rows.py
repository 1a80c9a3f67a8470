"""What the panel of suggestions lists: candidates of a block, entities that a schema may feed, what was refused."""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import Refusal
from metl_gui.core.suggest.block import Candidate
from metl_gui.core.suggest.entities import EntityRank
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.naming import number_of, path_of, version_words
from metl_gui.workbench.suggesting import refusal_words


@dataclass(frozen=True)
class Row:
    """One row.

    Args:
        title, facts: what is read.
        score: 0 to 1, ``None`` where there is none.
        candidate, entity, refusal: what it stands for, one of the three.
    """

    title: str
    facts: str
    score: float | None = None
    candidate: Candidate | None = None
    entity: EntityRank | None = None
    refusal: Refusal | None = None

    @property
    def spoken(self) -> str:
        """What a screen reader says."""
        what = "refused" if self.refusal is not None else "suggested"
        score = "" if self.score is None else f", {self.score:.2f}"
        return f"{self.title}, {what}{score}, {self.facts}"


def candidate_row(document: Document, key: BlockKey, candidate: Candidate) -> Row:
    """Put a candidate into words: ``payer_id from customer_ref``."""
    target = path_of(document, Side.CDM, key[1], candidate.element.q)
    source = path_of(document, Side.EXTRACTION, key[0], candidate.element.p)
    return Row(f"{target} from {source}", candidate.reason, candidate.score, candidate=candidate)


def entity_row(document: Document, rank: EntityRank) -> Row:
    """Put an entity that a schema may feed into words."""
    alike = f"{number_of(rank.alike, 'attribute')} alike"
    facts = f"fed by this schema already, {alike}" if rank.is_fed else alike
    return Row(version_words(document, Side.CDM, rank.entity_version), facts, rank.score, entity=rank)


def refusal_row(document: Document, refusal: Refusal) -> Row:
    """Put a refusal into words."""
    return Row(*refusal_words(document, refusal), refusal=refusal)
