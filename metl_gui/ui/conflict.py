"""The 1:1 guard of a click: what stands in the way of an element, and the edits that each answer means."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document


class Answer(StrEnum):
    """What a person may say to a conflict."""

    REPLACE = "replace"
    SWAP = "swap"
    CANCEL = "cancel"


@dataclass(frozen=True)
class Conflict:
    """An element that cannot simply be set.

    Args:
        key: the block.
        wanted: the element.
        taken: the elements that use one of its ends: one or two.
    """

    key: BlockKey
    wanted: Element
    taken: tuple[Element, ...]

    @property
    def can_swap(self) -> bool:
        """Whether both ends are taken by two elements whose other ends can be joined."""
        return len(self.taken) == 2

    def replace(self) -> SetElements:
        """Clear what is taken and set the wanted element."""
        return SetElements(self.key, (self.wanted,), self.taken)

    def swap(self) -> SetElements:
        """Set the wanted element and join the two ends that become free."""
        other_q = next(e.q for e in self.taken if e.q != self.wanted.q)
        other_p = next(e.p for e in self.taken if e.p != self.wanted.p)
        return SetElements(self.key, (self.wanted, Element(other_q, other_p)), self.taken)


def toggle(document: Document, key: BlockKey, element: Element) -> SetElements | Conflict:
    """Work out what setting or clearing an element means."""
    block = document.matrix.block(*key) or Block(*key)
    if element in block.elements:
        return SetElements(key, zeros=(element,))
    taken = tuple(e for e in block.elements if e.q == element.q or e.p == element.p)
    return Conflict(key, element, taken) if taken else SetElements(key, (element,))


def describe(document: Document, conflict: Conflict) -> tuple[str, str]:
    """Say what is taken by what, and what swapping would set."""
    version, entity_version = document.extraction.version(conflict.key[0]), document.cdm.version(conflict.key[1])
    sources = {a.id: a.path for a in version.attributes}
    targets = {a.id: a.path for a in entity_version.attributes}

    def pair(element: Element) -> str:
        return f"{sources[element.p]} → {targets[element.q]}"

    title = f"{pair(conflict.wanted)} shares an end with what is mapped already"
    text = "Taken now: " + ", ".join(pair(element) for element in conflict.taken) + "."
    if conflict.can_swap:
        other = next(e for e in conflict.swap().ones if e != conflict.wanted)
        text += f" Swapping sets {pair(other)} too."
    return title, text
