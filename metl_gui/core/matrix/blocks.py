"""Blocks of the matrix: the elements between one schema version and one entity version, and what is known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from functools import partial
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from metl_gui.values import Value

BlockKey: TypeAlias = tuple[int, int]
"""(schema version id v, entity version id w)."""


class Element(NamedTuple):
    """An element with value 1: the value of a_p goes to c_q."""

    q: int
    p: int

    @classmethod
    def many(cls, qs: Iterable[int], ps: Iterable[int]) -> tuple[Element, ...]:
        """Make elements of their ends: what makes a single one is Python code, and this is not.

        Raises:
            ValueError: there are more ends of one kind than of the other.
        """
        return tuple(map(partial(tuple.__new__, cls), zip(qs, ps, strict=True)))


class Status(StrEnum):
    """What a person has said of a block."""

    UNCONFIRMED = "unconfirmed"
    CONFIRMED = "confirmed"
    NEEDS_REVIEW = "needs review"
    RETIRED = "retired"

    __hash__ = str.__hash__  # that of enumerations is Python code, and every block that is written looks its code up


class Verdict(StrEnum):
    """What the automated update found when it made a block."""

    SAME = "same"
    SMALLER = "smaller"
    EMPTIED = "emptied"
    FIRST = "first"

    __hash__ = str.__hash__


class Loss(Value):
    """An element that did not survive an update and waits for, or has got, an answer.

    Args:
        q, p: the two ends as they last existed (``q`` follows its lineage into newer entity versions where it can).
        q_lineage, p_lineage: their lineages, by which the loss is recognised in later versions.
        to_path, from_path: their paths, kept so that the record outlives the nodes.
        reason: why, in words.
        since: id of the schema version where the loss began; losses of one chain share it.
        answer: ``""`` while open, then ``accepted``, ``renamed`` or ``mapped``.
    """

    q: int
    p: int
    q_lineage: int
    p_lineage: int
    to_path: str
    from_path: str
    reason: str
    since: int
    answer: str = ""

    @property
    def is_open(self) -> bool:
        """Whether a person must still decide."""
        return not self.answer

    @property
    def lineages(self) -> tuple[int, int]:
        """The pair of lineages that names the lost element in every version."""
        return self.q_lineage, self.p_lineage

    @property
    def element_name(self) -> str:
        """Both paths of the lost element: what names it where attributes were mapped crosswise."""
        return f"{self.from_path} → {self.to_path}"

    @property
    def chain(self) -> tuple[int, int, int]:
        """What tells its chain apart within a schema and an entity: where it began, and the two lineages."""
        return self.since, self.q_lineage, self.p_lineage


class Block(Value):
    """MB(o,v,r,w): its ones and its record. A block without elements is a null block that is under review or retired.

    Args:
        version, entity_version: v and w.
        elements: the ones, sorted; within a block no end is used twice.
        status: see ``Status``.
        verdict: see ``Verdict``.
        came_from: key of the block it was copied from.
        losses: lost elements, answered ones included.
        waits: ids of schema versions for whose own sake the block waits without a loss (incompatible type change,
            a setting that asks always); copies inherit them.
        retired: the elements it had when it was retired.
        postponed: a person said "later".
        unconfirmed: while it needs review: nobody has confirmed its elements, so answers leave it unconfirmed and
            production does without it.
        who, when_ms: who set the status, and when (milliseconds since 1970, 0 for never).
        comment: free text.
    """

    version: int
    entity_version: int
    elements: tuple[Element, ...] = ()
    status: Status = Status.CONFIRMED
    verdict: Verdict = Verdict.FIRST
    came_from: BlockKey | None = None
    losses: tuple[Loss, ...] = ()
    waits: tuple[int, ...] = ()
    retired: tuple[Element, ...] = ()
    postponed: bool = False
    who: str = ""
    when_ms: int = 0
    comment: str = ""
    unconfirmed: bool = False

    @property
    def key(self) -> BlockKey:
        """(v, w)."""
        return self.version, self.entity_version

    @property
    def is_null(self) -> bool:
        """Whether all elements are zero."""
        return not self.elements

    @property
    def is_unconfirmed(self) -> bool:
        """Whether nobody has confirmed its elements, be it under review or not."""
        return self.unconfirmed or self.status is Status.UNCONFIRMED

    @property
    def open_losses(self) -> tuple[Loss, ...]:
        """The lost elements that a person must still decide on."""
        return tuple(loss for loss in self.losses if loss.is_open)

    @property
    def is_plain(self) -> bool:
        """Whether nothing but columns of fixed width is known of it (see ``matrix.matrix``)."""
        return not (self.losses or self.waits or self.retired or self.postponed or self.comment or self.unconfirmed)

    def settled(self) -> Block:
        """Return the block with the status that follows from its open losses and waits.

        A block that waits for nothing any more is what it was before it waited, confirmed or not; retired and
        unconfirmed blocks stay what they are unless something waits.
        """
        if self.status is Status.RETIRED:
            return self
        waiting = bool(self.open_losses or self.waits)
        if waiting and self.status is not Status.NEEDS_REVIEW:
            return replace(self, status=Status.NEEDS_REVIEW, unconfirmed=self.status is Status.UNCONFIRMED)
        if not waiting and self.status is Status.NEEDS_REVIEW:
            status = Status.UNCONFIRMED if self.unconfirmed else Status.CONFIRMED
            return replace(self, status=status, postponed=False, unconfirmed=False)
        return self


def conflicts(elements: tuple[Element, ...]) -> list[Element]:
    """List the elements that break the 1:1 rule of a block, in order.

    Source: docs/architecture/model.md, "Rules that always hold".
    """
    qs, ps = [q for q, _ in elements], [p for _, p in elements]
    if len(set(qs)) == len(qs) and len(set(ps)) == len(ps):
        return []
    seen_q, seen_p = Counter(qs), Counter(ps)
    return [e for e in elements if seen_q[e.q] > 1 or seen_p[e.p] > 1]
