"""Bulk imports that were killed or stopped: what they still have to add, going on with them, forgetting them."""

from __future__ import annotations

from metl_gui.core.project.pending_imports import Remainder
from metl_gui.errors import UserError
from metl_gui.registry.reading import Reading
from metl_gui.workbench.import_record import ImportRecord
from metl_gui.workbench.importing import ImportResult, add_recorded, remainders
from metl_gui.workbench.progress import UNWATCHED, Watch
from metl_gui.workbench.session import Workbench


def resume(workbench: Workbench, watch: Watch = UNWATCHED) -> ImportResult:
    """Go on with every interrupted import.

    Returns:
        What was added now, as one result.

    Raises:
        UserError: there is none.
        RunCancelled: it was stopped; what is left then stays to be done.
    """
    results = [
        add_recorded(
            workbench,
            left.began.side,
            Reading(left.declarations),
            ImportRecord.again(workbench, left.began),
            watch,
        )
        for left in remainders(workbench)
    ]
    if not results:
        raise UserError("No import was interrupted.", hint="There is nothing to go on with.")
    return ImportResult(
        results[-1].state,
        tuple(version for result in results for version in result.added),
        tuple(version for result in results for version in result.unchanged),
        tuple(refusal for result in results for refusal in result.refused),
        {verdict: sum(result.blocks[verdict] for result in results) for verdict in results[-1].blocks},
        results[-1].needs_review,
    )


def forget(workbench: Workbench) -> int:
    """Forget what interrupted imports still had to do; what they added stays.

    Returns:
        How many versions will not be added.
    """
    left = remainders(workbench)
    for began in workbench.kept.pending_imports.all():
        workbench.kept.pending_imports.end(began.id)
    return sum(len(each.declarations) for each in left)


def words(left: Remainder) -> str:
    """Say what an interrupted import still has to do."""
    count, total = len(left.declarations), left.began.total
    who = f" by {left.began.who}" if left.began.who else ""
    first = left.declarations[0]
    label = f" version {first.label}" if first.label else ""
    begun = f"An import of {total:,} versions{who} was interrupted"
    return f"{begun}: {count:,} of them still to be added, from {first.name}{label} on."
