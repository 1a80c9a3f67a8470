"""The checks of an export: whether it is as it was written, what is wrong in it, and whether its project still says so.

For CI of repositories that hold exports; no project need be at hand. Source: contract.md §1 (``metl check``), §4.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from metl_gui.core.differences.document_difference import BlockDifference, compare_by_names
from metl_gui.core.matrix.matrix_export import DUSB_FORMAT, MatrixExport
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.errors import SchemaError
from metl_gui.registry.documents import decode, read_bytes
from metl_gui.registry.matrix_export import MAX_BYTES, parse_export
from metl_gui.workbench.checking import CheckResult, check_document
from metl_gui.workbench.exports.matrix import dusb_text, is_as_written, json_text
from metl_gui.workbench.publishing import production_document
from metl_gui.workbench.session import Workbench

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
        words = "It has no digest, so a change by hand cannot be told."
        yield Problem(Severity.NOTE, "export.without-digest", path.name, words, "Export the state again.")
    elif not as_written:
        words = "It was changed after it was written, by hand or by a merge of lines."
        yield Problem(Severity.ERROR, "export.changed", path.name, words, _AGAIN)


def _differences(path: Path, export: MatrixExport, project: Path) -> Iterator[Problem]:
    """Tell where an export says something else than what its project has published."""
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
