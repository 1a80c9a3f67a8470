"""A dry run of schemas that are not deployed yet: what would shrink, and what would lose its last source.

Nothing is written: the edits of an import are made on the frozen document and thrown away.
Source: docs/guide/change.md, "Before it is deployed".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from metl_gui.core.changes.draft import Edit, Transition, perform
from metl_gui.core.matrix.blocks import Verdict
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, TaskRunner, Watch, run_inline
from metl_gui.core.project.reader_result import ReaderResult, SkippedSource
from metl_gui.core.project.refusals import NO_RENAMES_REFUSED
from metl_gui.core.review.dry_run import UnfedAttribute, compare_with
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.values import Value
from metl_gui.workbench.importing.schema_import import (
    AddedVersion,
    UnchangedVersion,
    added_version,
    edits_for,
    read_sources,
    unchanged_version,
    with_free_label,
)
from metl_gui.workbench.importing.source_names import continued, traced
from metl_gui.workbench.importing.warehouse_effects import BrokenPart, broken_parts, warehouse_problems
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.review.decisions import Refused, ReviewEntry, entry

NAMED = 5
"""So many paths are named where many are told at once."""


class LostSource(JsonResult):
    """A CDM attribute that nothing would feed any more.

    Args:
        entity, entity_version, attribute: by names.
        required: whether the entity must have it.
        fed_by: the schemas that feed it today.
    """

    entity: str
    entity_version: str
    attribute: str
    required: bool
    fed_by: tuple[str, ...]


class TriedBlock(Value):
    """A block that would wait for a decision.

    Args:
        entry: as the review list would show it.
        was_confirmed: whether the block it comes from is confirmed today.
    """

    entry: ReviewEntry
    was_confirmed: bool

    def as_json(self) -> dict[str, Any]:
        """Return the item of the review list, and whether a confirmed block would be hurt."""
        return self.entry.as_json() | {"was_confirmed": self.was_confirmed}


class SourceDryRun(JsonResult):
    """What would happen.

    Args:
        state: the state that was tried against.
        added: versions that the project does not have.
        unchanged: versions that it has.
        refused: sources that could not be tried, and why.
        sources_lost: CDM attributes without a source, required ones first.
        blocks: blocks that would shrink, be emptied, or need another look.
        problems: the same as a check would say it.
        warehouse: parts of tables of warehouse models that would not be what they are.
    """

    state: int
    added: tuple[AddedVersion, ...]
    unchanged: tuple[UnchangedVersion, ...]
    refused: tuple[SkippedSource, ...]
    sources_lost: tuple[LostSource, ...]
    blocks: tuple[TriedBlock, ...]
    problems: tuple[Problem, ...]
    warehouse: tuple[BrokenPart, ...] = ()

    @property
    def is_all_refused(self) -> bool:
        """Whether nothing could be tried."""
        return bool(self.refused) and not self.added and not self.unchanged


def try_sources(
    document: Document,
    side: Side,
    sources: Sequence[str | Path],
    format_name: str = "auto",
    refused: Refused = NO_RENAMES_REFUSED,
    watch: Watch = UNWATCHED,
    aside: TaskRunner = run_inline,
) -> SourceDryRun:
    """Read files, folders and patterns and try the versions in them.

    Args:
        document: the state to try against.
        side: the tree they would belong to.
        sources: files, folders and patterns.
        format_name: how to read them; ``auto`` looks into each file.
        refused: rename proposals not to make again.
        watch: progress and cancel.
        aside: where the reading is done.

    Raises:
        SchemaError: there is no such format.
    """
    reading = aside(partial(read_sources, tuple(sources), format_name), watch)
    return try_reading(document, side, reading, refused, watch)


def try_reading(
    document: Document,
    side: Side,
    reading: ReaderResult,
    refused: Refused = NO_RENAMES_REFUSED,
    watch: Watch = UNWATCHED,
) -> SourceDryRun:
    """Try versions that a reader has declared, one after the other in their order.

    Cost: that of importing them, without writing.
    """
    reading = traced(document.tree(side), continued(document.tree(side), reading))
    transitions: list[Transition] = []
    added: list[AddedVersion] = []
    unchanged: list[UnchangedVersion] = []
    not_tried = list(reading.refused)
    at, total = document, len(reading.declarations)
    for done, declaration in enumerate(reading.declarations):
        watch.step(f"Trying {declaration.name} {declaration.label or ''}".rstrip(), done, total)
        try:
            own = with_free_label(at, side, declaration) if reading.has_counted_labels else declaration
            made = _tried(at, edits_for(at, side, own))
        except EditError as error:
            not_tried.append(SkippedSource(declaration.source or declaration.name, str(error)))
            continue
        transitions += made
        at = made[-1].after if made else at
        new = [version for each in made if (version := added_version(each, side, declaration.source)) is not None]
        added += new
        if not new:
            unchanged.append(unchanged_version(at, side, declaration))
    found = compare_with(document, transitions)
    starved = tuple(_lost_source(at, document, each) for each in found.starved)
    blocks = tuple(TriedBlock(entry(at, hurt.item, refused), hurt.was_confirmed) for hurt in found.hurt)
    broken = broken_parts(document, at)
    problems = (*_source_problems(starved), *_block_problems(blocks), *warehouse_problems(broken))
    return SourceDryRun(
        document.state, tuple(added), tuple(unchanged), tuple(not_tried), starved, blocks, problems, broken
    )


def _tried(document: Document, edits: tuple[Edit, ...]) -> list[Transition]:
    made: list[Transition] = []
    for edit in edits:
        made.append(perform(made[-1].after if made else document, edit))
    return made


def _lost_source(after: Document, before: Document, starved: UnfedAttribute) -> LostSource:
    version = after.cdm.version(starved.entity_version)
    entity = after.cdm.schema(version.schema_id)
    names = tuple(sorted(before.extraction.schema(id_).name for id_ in starved.fed_by))
    attribute = starved.attribute
    return LostSource(entity.name, version.label, attribute.path, not attribute.optional, names)


def _source_problems(starved: Sequence[LostSource]) -> list[Problem]:
    found = []
    for each in starved:
        need = "is required and would have no source any more" if each.required else "would have no source any more"
        feed = "feeds" if len(each.fed_by) == 1 else "feed"
        message = f"{each.attribute} {need}; {', '.join(each.fed_by)} {feed} it today."
        severity = Severity.ERROR if each.required else Severity.WARNING
        hint = "Say which attribute takes its place, or ask its owner to keep it."
        found.append(Problem(severity, "trial.last-source", f"{each.entity}@{each.entity_version}", message, hint))
    return found


_CODES: dict[str, str] = {
    Verdict.SAME: "trial.block-same",
    Verdict.SMALLER: "trial.block-smaller",
    Verdict.EMPTIED: "trial.block-emptied",
    Verdict.FIRST: "trial.block-first",
}


def _block_problems(blocks: Sequence[TriedBlock]) -> list[Problem]:
    found = []
    for each in blocks:
        item = each.entry
        severity = Severity.WARNING if each.was_confirmed else Severity.NOTE
        found.append(Problem(severity, _CODES[item.verdict], str(item.block), _block_words(item), _hint(item)))
    return found


def _block_words(item: ReviewEntry) -> str:
    lost = [f"{each.element.from_path} -> {each.element.to_path}" for each in item.lost]
    if lost:
        more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
        whole = len(lost) + len(item.kept)
        whole_words = "its only element" if whole == 1 else f"all {whole} elements"
        kept = f"{len(lost)} of {whole} elements" if item.kept else whole_words
        return f"It would lose {kept}: {', '.join(lost[:NAMED])}{more}."
    changes = [f"{c.path} from {c.before} to {c.after}" for c in item.type_changes if not c.is_compatible]
    if changes:
        return f"It would keep its elements; types change: {', '.join(changes[:NAMED])}."
    return "It would keep its elements and wait to be looked at."


def _hint(item: ReviewEntry) -> str:
    if not item.proposals:
        return "Ask the service's owner, or be ready to decide when it is live."
    best = max(item.proposals, key=lambda proposal: proposal.score)
    return f"Perhaps {best.lost} is called {best.candidate} there: {best.reason}."
