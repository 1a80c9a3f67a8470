"""The matrix into files for pipelines, spreadsheets and people, written whole or not at all; and their checks.

The formats themselves are in ``workbench.exports``. ``check_export`` says of an export whether it is as it was written,
what is wrong in it, and whether its project still says so. It is for CI of repositories that hold exports; no project
need be at hand. Source: docs/guide/exports.md.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from metl_gui.core.differences.document_difference import BlockDifference, compare_by_names
from metl_gui.core.matrix.canonical import is_carried, is_held, state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.matrix_export import DUSB_FORMAT, MatrixExport
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.errors import ProjectError, SchemaError
from metl_gui.registry.documents import decode, read_bytes
from metl_gui.registry.matrix_export import MAX_BYTES, parse_export
from metl_gui.workbench.atomic_files import whole_file, whole_folder
from metl_gui.workbench.exports.format_spec import Choices, Export, ProjectMetadata
from metl_gui.workbench.exports.matrix import dusb_text, is_as_written, json_text
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.publishing.checks import CheckResult, check_document
from metl_gui.workbench.publishing.publication import production_document, published_states
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import FRAMING, project_settings

_log = logging.getLogger(__name__)


class ExportResult(JsonResult):
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
    # Before the state: what is published in between must not lend its number to what was published before it.
    publication = workbench.kept.states.publication()
    document = production_document(workbench, state)
    framing = project_settings(workbench).settings[FRAMING]
    moments = {named.state: named.published_ms for named in published_states(workbench)}
    facts = ProjectMetadata(
        project=workbench.path.stem,
        wire=workbench.kept.writer_schemas.all(),
        framing=framing,
        when_ms=moments.get(document.state) or 0,
        publication=publication,
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


_NAMED = 5
_TOLD = 20
_AGAIN = "Take the file as it was committed, export again, or merge with metl merge BASE OURS THEIRS."


def check_export(path: Path, same_as: Path | None = None) -> CheckResult:
    """Run every check on an export.

    Args:
        path: the export.
        same_as: the project whose published state it must show.

    Raises:
        SchemaError: there is no such file.
        UserError: the project cannot be opened, or has published nothing.
    """
    raw = read_bytes(path, MAX_BYTES)
    try:
        export = parse_export(raw)
    except SchemaError as error:
        words = " ".join(filter(None, (error.title, error.text)))
        return CheckResult(0, (Problem(Severity.ERROR, "export.damaged", path.name, words, error.hint),))
    problems = [*_seal(path, decode(raw)), *check_document(export.document).problems]
    if same_as is not None:
        problems += _differences(path, export, same_as)
    ordered = sorted(problems, key=lambda problem: list(Severity).index(problem.severity))
    return CheckResult(export.state, tuple(ordered))


def _seal(path: Path, text: str) -> Iterator[Problem]:
    as_written = is_as_written(text)
    if as_written is None:
        words = "It has no digest: an earlier program wrote it, or somebody took it out. A change cannot be told."
        yield Problem(Severity.NOTE, "export.without-digest", path.name, words, "Export the state again.")
    elif not as_written:
        words = "It was changed after it was written: by hand, by a merge of lines, or laid out anew by a program."
        yield Problem(Severity.ERROR, "export.changed", path.name, words, _AGAIN)


def _differences(path: Path, export: MatrixExport, project: Path) -> Iterator[Problem]:
    """Return where an export says something else than what its project has published."""
    with Workbench.open(project, for_editing=False) as workbench:
        live = production_document(workbench)
    text = (dusb_text if export.format == DUSB_FORMAT else json_text)(live, export.include_unconfirmed)
    published = parse_export(text.encode("utf-8", "surrogatepass"))
    found = compare_by_names(export.document, published.document)
    count = len(found.blocks) + len(found.trees)
    if not count and published.hash == export.hash:
        return
    title = f"{project.name} has published state {live.state} since" if live.state != export.state else project.name
    differ = f"{count:,} difference{'' if count == 1 else 's'}" if count else "settings differ"
    again = f"metl export {project.name} --format {'dusb' if export.format == DUSB_FORMAT else 'json'} -o {path.name}"
    words = f"It shows state {export.state}, and {title}: {differ}."
    yield Problem(Severity.ERROR, "export.differs-from-project", path.name, words, f"Export it again: {again}")
    told = [*((f"{x.name}@{x.version}" if x.version else x.name, x.words()) for x in found.trees)]
    told += [(f"{b.schema}@{b.version}:{b.entity}@{b.entity_version}", _block_words(b)) for b in found.blocks]
    for place, each in told[:_TOLD]:
        yield Problem(Severity.ERROR, "export.differs-from-project", place, f"The project has: {each}.", "")


def _block_words(block: BlockDifference) -> str:
    signs = [f"+ {source} -> {target}" for source, target in block.added]
    signs += [f"- {source} -> {target}" for source, target in block.removed]
    if not signs:
        status = block.status_after
        return f"the status {status.value}" if status is not None else "no such block"
    more = f" and {len(signs) - _NAMED:,} more" if len(signs) > _NAMED else ""
    return f"{', '.join(signs[:_NAMED])}{more}"
