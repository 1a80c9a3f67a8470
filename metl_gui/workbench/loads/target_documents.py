"""Which state of a project a target goes by: the published one where it takes production runs, else the draft."""

from __future__ import annotations

from metl_gui.core.matrix.document import Document
from metl_gui.errors import EditError
from metl_gui.workbench.loads.targets import TargetAddress, find_target
from metl_gui.workbench.publishing.publication import live_state, production_document
from metl_gui.workbench.runs.mapping_run import PRODUCTION
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.models import model_of


def document_of(workbench: Workbench, mode: str) -> Document:
    """Return the state that a target goes by.

    Args:
        workbench: the opened project.
        mode: of the runs that the target takes.

    Raises:
        UserError: it takes production runs, and nothing is published.
    """
    return production_document(workbench) if mode == PRODUCTION else workbench.document


def find_any_target(workbench: Workbench, target: str, model: str = "") -> TargetAddress:
    """Return where a target is of which nobody has said what runs it takes; a model may be published alone.

    Raises:
        EditError: there is no such model.
        UserError: it is no target.
    """
    try:
        named = model_of(workbench.document, model)
    except EditError:
        if live_state(workbench) is None:
            raise
        named = model_of(production_document(workbench), model)
    return find_target(target, named.name)
