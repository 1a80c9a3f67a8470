"""Three-way merge of project files and of JSON exports, as a command and as git's merge driver call it.

Projects: what theirs changed since the base becomes one edit of ours, so its history stays and it can be undone.
Exports: the result is an export again. Which of both a file is, its content tells; an empty base is no project yet.
Source: docs/guide/teams.md, "Compare and merge".
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from metl_gui.core.changes.draft import EditContext, Transition, perform
from metl_gui.core.differences.document_difference import Difference, compare, compare_by_names
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.matrix import Dpm
from metl_gui.core.matrix.matrix_export import DUSB_FORMAT, JSON_FORMAT, MatrixExport
from metl_gui.core.matrix.node_matches import SameIds, by_names
from metl_gui.core.merge.merged_document import MergeTheirs
from metl_gui.core.merge.merged_project_data import (
    LeftThere,
    MergedProjectData,
    ProjectDataSide,
    merge_project_data,
    named_for,
)
from metl_gui.core.merge.sides import ConflictKind, MergeConflict, ThreeWay
from metl_gui.core.project.project_data import ItemKind, Naming, ProjectDataChange, entries, project_data_differences
from metl_gui.core.review.items import review_items
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import SchemaError, UserError
from metl_gui.registry.matrix_export import parse_export
from metl_gui.store.creation import copy_file
from metl_gui.store.repositories.project_data import MERGE_RULES, Untaken
from metl_gui.store.sqlite.connection import SUFFIX
from metl_gui.values import Value
from metl_gui.workbench.addresses import block_name
from metl_gui.workbench.atomic_files import write_whole
from metl_gui.workbench.comparison.diff import is_project
from metl_gui.workbench.exports.matrix import dusb_text, json_text, laid_out
from metl_gui.workbench.history.difference_text import difference_json, difference_lines, difference_summary
from metl_gui.workbench.samples.kept_samples import hidden_now
from metl_gui.workbench.session import Workbench


class MergeResult(Value, eq=False):
    """What a merge did.

    Args:
        output: the file that holds the result.
        title: what was merged.
        document: the result.
        difference: what came to ours.
        conflicts: what both changed differently; ours is kept.
        left: what theirs has more and the result has not, with why.
        is_project: whether the result is a project file.
    """

    output: Path
    title: str
    document: Document
    difference: Difference
    conflicts: tuple[MergeConflict, ...]
    is_project: bool
    left: tuple[LeftThere, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl merge``."""
        return {
            "output": str(self.output),
            "state": self.document.state,
            "conflicts": [self._conflict_json(conflict) for conflict in self.conflicts],
            "left": [{"kind": each.kind, "place": each.place, "reason": each.reason} for each in self.left],
            "needs_review": len(review_items(self.document)),
            **difference_json(self.difference),
        }

    def lines(self) -> Iterator[str]:
        """Say it to people."""
        yield f"{self.title} into {self.output.name}, state {self.document.state}"
        yield from (f"  {line}" for line in difference_lines(self.difference))
        yield difference_summary(self.difference)
        if self.left:
            yield "Left in theirs:"
        for left in self.left:
            yield f"  {left.place} ({left.kind}). {left.reason}"
        if not self.conflicts:
            return
        count = len(self.conflicts)
        yield f"{count} conflict{'' if count == 1 else 's'}, ours is kept:"
        for conflict in self.conflicts:
            yield f"  ! {conflict.place}: {conflict.reason}"
        if not self.is_project:
            yield 'The blocks need review; what ours holds stands in them under "kept", theirs under "conflicts".'
        elif any(isinstance(conflict.kind, ConflictKind) for conflict in self.conflicts):
            yield f"They wait in the review list: metl review {self.output.name} --list"
        if any(isinstance(conflict.kind, ItemKind) for conflict in self.conflicts):
            yield "Settings, names, samples and who decides wait in no list: change them where theirs is right."

    def _conflict_json(self, conflict: MergeConflict) -> dict[str, Any]:
        name = block_name(self.document, conflict.key) if conflict.key else None
        ends = {"from": conflict.from_path, "to": conflict.to_path}
        return {
            "kind": conflict.kind.value,
            "place": conflict.place,
            "reason": conflict.reason,
            "block": name.as_json() if name else None,
            "element": ends if conflict.from_path or conflict.to_path else None,
        }


def merge_files(base: Path, ours: Path, theirs: Path, output: Path | None = None, name: str = "") -> MergeResult:
    """Merge what theirs changed since the base into ours.

    Args:
        base: what both began with; an empty file where there was nothing.
        ours: the side that is kept where both changed the same.
        theirs: the other side.
        output: where the result goes; by default ours itself, as git's merge drivers have it.
        name: what theirs is called in the history; by default its file name.

    Raises:
        UserError: a file cannot be read, or the result cannot be written; then ours is as it was.
    """
    title = name or theirs.name
    with tempfile.TemporaryDirectory(prefix="metl-merge-") as folder:
        before, other = (_document(path, Path(folder) / f"{side}{SUFFIX}") for side, path in _sides(base, theirs))
        if is_project(ours):
            draft = Path(folder) / f"ours{SUFFIX}"
            return _merged_project(before, ours, other, output or ours, draft, title)
        return _merged_export(before, ours, other, output or ours, title)


def _sides(base: Path, theirs: Path) -> tuple[tuple[str, Path], tuple[str, Path]]:
    return ("base", base), ("theirs", theirs)


class _MergeSide(Value, eq=False):
    """Base or theirs: its document, what lies beside it, and as the export that it came from."""

    document: Document
    raw: bytes = b""
    export: MatrixExport | None = None
    beside: ProjectDataSide | None = None
    untaken: Untaken = msgspec.field(default_factory=dict)


def _document(path: Path, copy: Path) -> _MergeSide:
    if is_project(path):
        # A copy, because reading an older project brings it up to date, and these files are not ours to change.
        copy_file(path, copy)
        with Workbench.open(copy, for_editing=False) as workbench:
            return _MergeSide(workbench.document, beside=_beside(workbench), untaken=workbench.kept.data.untaken())
    raw = _read(path)
    if not raw.strip():
        return _MergeSide(Document())
    export = _parsed(path, raw)
    return _MergeSide(export.document, raw, export)


def _merged_project(
    base: _MergeSide, ours: Path, theirs: _MergeSide, output: Path, draft: Path, title: str
) -> MergeResult:
    is_elsewhere = output.resolve() != ours.resolve()
    if is_elsewhere:
        copy_file(ours, draft)
    edit = MergeTheirs(_as_told(base, theirs), theirs.document, title)
    with Workbench.open(draft if is_elsewhere else output, take_over=is_elsewhere) as workbench:
        before = _beside(workbench)
        merged: list[MergedProjectData] = []

        def beside(transition: Transition) -> ProjectDataChange:
            merged[:] = [_merged_beside(workbench, base, theirs, transition.after)]
            return merged[0].change

        after = workbench.do(edit, beside=beside, is_decided=True).after
        difference = _difference(before, _beside(workbench))
        left = (*merged[0].left, *_untaken(base, theirs, workbench.kept.data.untaken()))
    if is_elsewhere:
        copy_file(draft, output)  # only now, so that nobody ever finds ours under the name of the result
    conflicts = (*edit.conflicts, *merged[0].conflicts)
    return MergeResult(output, f"Merge {title}", after, difference, conflicts, is_project=True, left=left)


def _as_told(base: _MergeSide, theirs: _MergeSide) -> Document:
    """Return the base as far as the export can say it that theirs is: what it cannot say, theirs has not taken away.

    Of blocks that theirs changed the base has all that an export of any kind can say, so that what was decided there is
    told from what was never said.
    """
    if theirs.export is None or base.export is not None:
        return base.document
    write = dusb_text if theirs.export.format == DUSB_FORMAT else json_text
    told = _read_again(write(base.document, theirs.export.include_unconfirmed))
    everything = MatrixExport(base.document, JSON_FORMAT, base.document.state, state_hash(base.document), True)
    whole = _read_again(laid_out(everything.content()))
    matching = by_names(told, theirs.document)
    changed = {
        each.before or tuple(matching.version(side, id_) for side, id_ in zip(Side, each.after or (), strict=True))
        for each in compare_by_names(told, theirs.document).blocks
    }
    blocks = [block for block in told.matrix.blocks() if block.key not in changed]
    blocks += [block for block in whole.matrix.blocks() if block.key in changed]
    return replace(told, matrix=Dpm.of(blocks))


def _read_again(text: str) -> Document:
    """Read an export that was just made; its nodes have the ids that they have in any other of the same document."""
    return parse_export(text.encode("utf-8", "surrogatepass")).document


def _beside(workbench: Workbench) -> ProjectDataSide:
    return ProjectDataSide(workbench.document, workbench.kept.data.read(), workbench.project_id)


def _merged_beside(workbench: Workbench, base: _MergeSide, theirs: _MergeSide, result: Document) -> MergedProjectData:
    """Merge what lies beside the states; an export says nothing of it, and what masks hide by now comes hidden."""
    ours = _beside(workbench)
    before = base.beside or ProjectDataSide(base.document)
    named = named_for(result, ThreeWay(before, ours, theirs.beside or ProjectDataSide(theirs.document)))
    if theirs.beside is None:
        named = named._replace(theirs=named.base)
    return merge_project_data(named, workbench.kept.data.has_state, partial(hidden_now, result))


def _difference(before: ProjectDataSide, after: ProjectDataSide) -> Difference:
    """Return what came to ours."""
    was = Naming(before.document, after.document, ((SameIds(after.document),),))
    beside = project_data_differences(entries(before.things, was), entries(after.things, Naming.of(after.document)))
    return replace(compare(before.document, after.document), beside=beside)


def _untaken(base: _MergeSide, theirs: _MergeSide, ours: Untaken) -> Iterator[LeftThere]:
    """Return what theirs has more of in tables that stay with their file."""
    for table, rows in theirs.untaken.items():
        count = len(rows - base.untaken.get(table, frozenset()) - ours[table])
        if count:
            kind = table.replace("_", " ")
            yield LeftThere(kind, f"{count:,} more", MERGE_RULES[table].why)


def _merged_export(base: _MergeSide, ours: Path, theirs: _MergeSide, output: Path, title: str) -> MergeResult:
    raw = _read(ours)
    export = _parsed(ours, raw)
    if export.format == DUSB_FORMAT:
        raise UserError(
            f"{ours.name} is a compact export, which cannot say what waits for a decision.",
            "",
            "Merge exports that were made with --format json.",
        )
    edit = MergeTheirs(base.document, theirs.document, title)
    merged, text = export, raw
    if theirs.export is not None and compare_by_names(base.document, export.document).is_empty:
        merged, text = theirs.export, theirs.raw  # ours changed nothing, so theirs it is, to the last byte
    elif not compare_by_names(base.document, theirs.document).is_empty:
        after = perform(export.document, edit, EditContext()).after
        if not compare(export.document, after).is_empty:
            state = max(export.state, theirs.document.state) + 1
            merged = export.with_document(after, state)
            text = laid_out(merged.content()).encode("utf-8", "surrogatepass")
    if output.resolve() != ours.resolve() or text != raw:
        write_whole(output, text)
    difference = compare_by_names(export.document, merged.document)
    return MergeResult(output, f"Merge {title}", merged.document, difference, tuple(edit.conflicts), is_project=False)


def _parsed(path: Path, raw: bytes) -> MatrixExport:
    try:
        return parse_export(raw)
    except SchemaError as error:
        raise SchemaError(f"{path.name}: {error.title}", error.text, error.hint) from error


def _read(path: Path) -> bytes:
    with contextlib.suppress(OSError):
        return path.read_bytes()
    raise UserError(f"{path} cannot be read.", "", "Check the path and its permissions.")
