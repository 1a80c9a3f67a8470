"""Say who is to decide on review items; beside the states, so it is not undone but said again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from metl_gui.core.review.assignees import Assignments, keys_of
from metl_gui.core.review.items import ReviewItem, review_items
from metl_gui.errors import EditError
from metl_gui.workbench.addresses import find_block, known_block_name
from metl_gui.workbench.session import Workbench

LONGEST_NAME = 200
"""Characters of a name; more is hardly one."""

_LOOKED_BACK = 200


def assignments(workbench: Workbench) -> Assignments:
    """Return who is to decide on what."""
    return Assignments(workbench.kept.assignments.all())


def assign_items(workbench: Workbench, items: Iterable[ReviewItem], assignee: str) -> int:
    """Say who is to decide on some items; an empty name takes that away.

    Returns:
        How many items there were.

    Raises:
        EditError: the name cannot be one.
        ProjectHeldError: the project is open read only.
    """
    name = checked_name(assignee)
    wanted = list(items)
    keys = [key for item in wanted for key in keys_of(workbench.document, item)]
    workbench.kept.assignments.assign(keys, name, workbench.stamp())
    return len(wanted)


def assign(workbench: Workbench, blocks: Sequence[str], assignee: str) -> int:
    """Say who is to decide on the review items of some blocks, each written ``schema@version:entity@version``.

    Raises:
        EditError: a block is not known or waits for no decision; then none was assigned.
    """
    document = workbench.document
    waiting = {item.key: item for item in review_items(document)}
    heads = {key: item for item in waiting.values() for key in item.chain} | waiting
    items: list[ReviewItem] = []
    for text in blocks:
        key = find_block(document, text)
        if key not in heads:
            raise EditError(f"{text} waits for no decision.", hint="See metl review --list for what waits.")
        if key not in waiting:
            head = known_block_name(document, heads[key].key)
            raise EditError(f"{text} is decided by an earlier version.", hint=f"Assign {head} instead.")
        items.append(waiting[key])
    return assign_items(workbench, items, assignee)


def known_people(workbench: Workbench) -> tuple[str, ...]:
    """Return the names of those who may be asked: this person, who is assigned already, who edited lately."""
    found = [workbench.who, *assignments(workbench).names, *(each.who for each in workbench.log(_LOOKED_BACK))]
    return tuple(dict.fromkeys(name for name in found if name))


def checked_name(name: str) -> str:
    """Return a name as it is kept.

    Raises:
        EditError: it is too long, or holds signs that nobody sees.
    """
    bare = " ".join(name.split())
    if not bare.isprintable():
        raise EditError("That name holds signs that cannot be seen.", hint="Type it anew, without them.")
    if len(bare) > LONGEST_NAME:
        raise EditError("That is too long for a name.", f"It has {len(bare):,} characters.", "Give a shorter one.")
    return bare
