"""What a bulk import still has to do, so that one that was interrupted can go on."""

from __future__ import annotations

from metl_gui.core.trees.declarations import VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.values import Value


class PendingImport(Value):
    """A bulk import that was begun and did not end.

    Args:
        id: names it.
        side: the tree it adds to.
        door: where it was begun.
        group: its undo group, ``None`` when it added nothing yet.
        total: how many versions it was about.
        who, when_ms: who began it, and when (milliseconds since 1970).
    """

    id: int
    side: Side
    door: str
    group: int | None
    total: int
    who: str
    when_ms: int


class Remainder(Value):
    """The versions that an interrupted import has not added."""

    began: PendingImport
    declarations: tuple[VersionDeclaration, ...]
