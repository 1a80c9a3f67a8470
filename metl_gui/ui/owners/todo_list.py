"""What the list of what is to do shows: gaps, open attributes, those never to be mapped, and how far both trees are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import msgspec

from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.search import gaps as room
from metl_gui.core.search.gaps import Gap
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.search.todo import AttributeStatus, MappingProgress, ToDo
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.notes import reason_words
from metl_gui.ui.widgets.two_line_list import TwoLines
from metl_gui.ui.widgets.window_words import in_window
from metl_gui.values import Value
from metl_gui.workbench.mapping.suggestions import Suggestion
from metl_gui.workbench.publishing.checks import seen_in_runs
from metl_gui.workbench.session import Workbench

OPEN = "attribute.open"
IGNORED = "attribute.ignored"
KINDS = {
    room.REQUIRED: "required, no source",
    room.NEVER_FED: "never fed",
    room.RETIRED: "retired, still sent",
    room.NEVER_MAPPED: "not mapped at all",
    room.UNMAPPED: "long unmapped",
}
"""The kinds of gaps in few words, in the order in which they are listed."""
ATTRIBUTE_KINDS = {OPEN: "open", IGNORED: "never to be mapped"}
"""The kinds of attributes that are listed apart from gaps."""
MOST = 5_000
"""So many gaps are listed, and so many attributes; who has more fills these first."""
_STEP = 200
_TREES = {Side.EXTRACTION: "Schemas", Side.CDM: "Entities"}


class ToDoContent(Value, eq=False):
    """What there is to list of one document.

    Args:
        gaps: in the order of their kinds.
        attributes: open ones, then those never to be mapped; of both trees.
        progress: how far each tree is.
    """

    gaps: tuple[Gap, ...] = ()
    attributes: tuple[Gap, ...] = ()
    progress: Mapping[Side, MappingProgress] = msgspec.field(default_factory=dict)

    def of_kind(self, kind: str) -> tuple[Gap, ...]:
        """Return one kind, all gaps for an empty one."""
        if kind in ATTRIBUTE_KINDS:
            return tuple(gap for gap in self.attributes if gap.problem.code == kind)
        return tuple(gap for gap in self.gaps if kind in ("", gap.problem.code))

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each kind; of open and ignored attributes also those that are not listed."""
        found = {kind: len(self.of_kind(kind)) for kind in ("", *KINDS)}
        totals = sum(self.progress.values(), MappingProgress())
        return found | {OPEN: totals.open, IGNORED: totals.ignored}

    def words(self) -> str:
        """Say how far both trees are."""
        told = [
            f"{_TREES[side]}: {progress.words()}" for side, progress in self.progress.items() if progress.attributes
        ]
        return " · ".join(told)


def look(workbench: Workbench, document: Document, watch: Watch) -> ToDoContent:
    """Look for everything; linear in the document, done beside the window.

    Raises:
        RunCancelled: it was stopped.
    """
    found: list[Gap] = []
    for gap in itertools.islice(room.gaps(document, seen_in_runs(workbench)), MOST):
        if len(found) % _STEP == 0:
            watch.step("Looking for gaps")
        found.append(gap)
    order = {code: at for at, code in enumerate(KINDS)}
    attributes: list[Gap] = []
    progress: dict[Side, MappingProgress] = {}
    for side in (Side.CDM, Side.EXTRACTION):
        listed = ToDo.of(document, side)
        progress[side] = MappingProgress()
        for schema in listed.schemas():
            watch.step("Looking at attributes")
            progress[side] += listed.progress(schema)
            if len(attributes) < MOST:
                attributes += _attributes(listed, schema.id)
    attributes.sort(key=lambda gap: gap.problem.code == IGNORED)
    gaps = tuple(sorted(found, key=lambda gap: order[gap.problem.code]))
    return ToDoContent(
        gaps, tuple(attributes[:MOST]), dict(sorted(progress.items(), key=lambda each: each[0] is Side.CDM))
    )


def _attributes(listed: ToDo, schema_id: int) -> Iterator[Gap]:
    tree = listed.document.tree(listed.side)
    schema = tree.schema(schema_id)
    for item in listed.items(schema, (AttributeStatus.OPEN, AttributeStatus.IGNORED)):
        attribute, code = item.attribute, OPEN if item.mark is None else IGNORED
        place = f"{schema.name}@{tree.version(item.version_id).label}"
        need = "optional" if attribute.optional else "required"
        words = f"{attribute.type_text}, {need}" if item.mark is None else reason_words(item.mark)
        problem = Problem(Severity.NOTE, code, place, attribute.path, words)
        yield Gap(problem, item.side, item.version_id, attribute.id, path=attribute.path)


def row_of(gap: Gap, suggestion: Suggestion | None = None) -> TwoLines:
    """Describe one row; of an open attribute its best suggestion, where one is known."""
    problem = gap.problem
    if suggestion is not None:
        block, names = suggestion.block, suggestion.names
        is_source = gap.side is Side.EXTRACTION
        other = f"{block.entity} {names.to_path}" if is_source else f"{block.schema} {names.from_path}"
        facts = f"{problem.place} · {other}: {suggestion.reason}"
        return TwoLines(problem.message, facts, f"suggested {suggestion.score:.2f}", "good")
    kind = "review" if problem.severity is Severity.WARNING else "plain"
    pill = KINDS.get(problem.code) or ATTRIBUTE_KINDS[problem.code]
    return TwoLines(problem.message, " · ".join(filter(None, (problem.place, in_window(problem.hint)))), pill, kind)
