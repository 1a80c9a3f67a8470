"""The matrix into files for pipelines, spreadsheets and people, written whole or not at all.

Source: contract.md §3, §4. The formats themselves: ``workbench.exports``.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path

from metl_gui.core.matrix.canonical import is_carried, is_held, state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.errors import ProjectError
from metl_gui.workbench.documents import Written
from metl_gui.workbench.exports import Choices, Export
from metl_gui.workbench.exports.export import Beside
from metl_gui.workbench.progress import UNWATCHED, Watch
from metl_gui.workbench.project_settings import FRAMING, project_settings
from metl_gui.workbench.publishing import production_document, published_states
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.writing import whole_file, whole_folder

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ExportResult(Written):
    """What was written.

    Args:
        state: the state it shows.
        path: the file or folder.
        format: name of the format.
        blocks: blocks carried, held ones included.
        held: blocks that are carried without elements, because they need review.
        size_bytes: size of the file, or of all files of the folder.
        left_out: blocks that are not carried because nobody has confirmed them.
        says: what the export cannot say, one sentence each.
    """

    state: int
    path: Path
    format: str
    blocks: int
    held: int
    size_bytes: int
    left_out: int = 0
    says: tuple[str, ...] = ()


def export_published(
    workbench: Workbench,
    export_: Export,
    path: Path,
    state: int | None = None,
    choices: Choices = Choices(),  # noqa: B008 - a frozen value
    watch: Watch = UNWATCHED,
) -> ExportResult:
    """Write the published state that production uses, or another published one, and remember that it was exported.

    Args:
        workbench: the project; it may be open read only.
        export_: the format.
        path: the file or folder; the folder it lies in must exist.
        state: number of a published state.
        choices: what a person chose.
        watch: progress and cancel.

    Raises:
        UserError: nothing is published, or this state is not; the format cannot follow the choices.
        ProjectError: the place cannot be written; then what was there is there still.
    """
    document = production_document(workbench, state)
    framing = project_settings(workbench).settings[FRAMING]
    moments = {named.state: named.published_ms for named in published_states(workbench)}
    facts = Beside(
        workbench.path.stem, workbench.kept.writer_schemas.all(), framing, when_ms=moments.get(document.state) or 0
    )
    choices = replace(choices, comments=workbench.kept.comments.all(), beside=facts)
    done = export(document, export_, path, choices, watch)
    try:
        workbench.kept.states.add_export(done.state, workbench.stamp().when_ms)
    except ProjectError as error:  # a project that nobody may write to; a published state is kept all the same
        _log.info("the export of state %s is not noted: %s", done.state, error)
    return done


def export(
    document: Document,
    export_: Export,
    path: Path,
    choices: Choices = Choices(),  # noqa: B008 - a frozen value
    watch: Watch = UNWATCHED,
) -> ExportResult:
    """Write the confirmed blocks of a state to a file or folder, replacing what was there in one step.

    A block that needs review is carried with ``"held": true`` and without elements, or with the elements left where
    its schema says ``map what is left``.

    Args:
        document: the state to write; for pipelines a published one (``export_published``).
        export_: the format.
        path: the file or folder; the folder it lies in must exist.
        choices: what a person chose.
        watch: progress and cancel.

    Raises:
        UserError: the format cannot follow the choices.
        ProjectError: the place cannot be written; then what was there is there still.
    """
    export_.checked(choices)
    if export_.is_folder:
        facts = {"export": export_.name, "state": document.state, "hash": state_hash(document)}
        with whole_folder(path, facts, export_.leavings) as partial:
            said = export_.write(document, choices, partial, watch)
        size_bytes = sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    else:
        with whole_file(path) as partial:
            said = export_.write(document, choices, partial, watch)
        size_bytes = path.stat().st_size
    blocks, held, left_out = _counted(document, choices.include_unconfirmed)
    says = (*export_.limits, *said)
    return ExportResult(document.state, path, export_.name, blocks, held, size_bytes, left_out, says)


def _counted(document: Document, include_unconfirmed: bool) -> tuple[int, int, int]:
    """Count the blocks that an export carries, those of them that are held, and those that it leaves out."""
    blocks = held = left_out = 0
    for block in document.matrix.blocks():
        if is_carried(block, include_unconfirmed):
            blocks += 1
            held += is_held(document, block)
        else:
            left_out += is_carried(block, include_unconfirmed=True)
    return blocks, held, left_out
