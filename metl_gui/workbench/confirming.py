"""Confirming what others have set: the unconfirmed blocks, all at once.

Source: dmm.md §9 (second person confirms, suggestions accepted in bulk).
"""

from __future__ import annotations

from dataclasses import dataclass

from metl_gui.core.changes.second_person import is_author, unconfirmed_keys
from metl_gui.core.edits.composite import Several
from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.workbench.documents import Written
from metl_gui.workbench.project_settings import project_settings
from metl_gui.workbench.session import Door, Workbench


@dataclass(frozen=True, slots=True)
class Confirmation(Written):
    """What confirming did.

    Args:
        state: the state afterwards.
        title: what was done; empty when there was nothing.
        confirmed: how many blocks are confirmed by it.
        own: how many stay, because they hold work of the person and somebody else must confirm it.
    """

    state: int
    title: str
    confirmed: int
    own: int


def confirm_unconfirmed(workbench: Workbench, comment: str = "", door: Door = Door.COMMAND) -> Confirmation:
    """Confirm every unconfirmed block; one undo step.

    Where the project asks for a second person, blocks that hold work of whoever confirms are left for somebody else.

    Args:
        workbench: the project, open for editing.
        comment: kept with each block.
        door: where the gesture was made.
    """
    document = workbench.document
    keys = unconfirmed_keys(document.matrix)
    needs_second = project_settings(workbench).second_person_confirms
    found = [(key, document.matrix.block(*key)) for key in keys]
    mine = {key for key, block in found if needs_second and block is not None and is_author(block, workbench.who)}
    edits = tuple(ConfirmBlock(key, comment) for key in keys if key not in mine)
    if not edits:
        return Confirmation(document.state, "", 0, len(mine))
    title = f"Confirm {len(edits):,} unconfirmed block{'' if len(edits) == 1 else 's'}"
    transition = workbench.do(Several(title, edits), door=door)
    return Confirmation(transition.after.state, title, len(edits), len(mine))
