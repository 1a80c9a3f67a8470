"""The answer sheet: open review items as a workbook to be sent out and read back, one row a lost element.

Rows may be sorted, filtered and left out: a hidden column says which lost element each is about. Others say how a row
was sent, so that a cell which nobody touched overwrites nothing that was done meanwhile. Reading the answers back says
what each row asks for and what it would do, and does it as one undo step. Rows are taken one after the other on a copy
of the document, so that a row whose element was settled by a row above is no conflict. A row that is not clear is told
with its number and changes nothing; the others are applied. Source: docs/guide/change.md, "Reviewing".
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from metl_gui.core.changes.draft import Edit, EditContext, perform
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import block_name
from metl_gui.core.edits.review import AcceptLosses, Postpone, RenameLost
from metl_gui.core.matrix.blocks import Block, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.project.assignments import AssignmentKey
from metl_gui.core.review.assignees import keys_of
from metl_gui.core.review.items import ReviewItem, find_item, review_items
from metl_gui.core.review.loss_choices import LossChoices, loss_choices, loss_name, lost_path, rename_name
from metl_gui.core.review.query import ReviewFacts
from metl_gui.errors import EditError, SchemaError, near_names
from metl_gui.registry.tables.workbook import MAX_ROWS, SheetRow, read_sheet
from metl_gui.values import Value
from metl_gui.workbench.atomic_files import write_whole
from metl_gui.workbench.review.assignments import ReviewListQuery, assignments, checked_name, wanted_in
from metl_gui.workbench.session import EditOrigin, Workbench
from metl_gui.workbench.workbook_writer import SheetColumn, SheetPlan, workbook_bytes

SHEET = "Open decisions"
RENAMED, NOT_NEEDED, LATER = "renamed to", "not needed any more", "later"
ANSWERS = (RENAMED, NOT_NEEDED, LATER)
ANSWER, NEW_NAME, COMMENT, ASSIGNED, KEY = "your answer", "new name", "comment", "assigned to", "key"

_FIRST, _COUNT = "first name", "names"
_SENT_COMMENT, _SENT_ASSIGNED = "comment as sent", "assigned to as sent"
_COLUMNS = (
    SheetColumn("schema", 30),
    SheetColumn("version", 9),
    SheetColumn("entity", 20),
    SheetColumn("lost", 30),
    SheetColumn("reason", 38),
    SheetColumn("candidates", 30),
    SheetColumn(ANSWER, 20, is_asked=True, choices=ANSWERS),
    SheetColumn(NEW_NAME, 24, is_asked=True, choices_of=_FIRST),
    SheetColumn(COMMENT, 30, is_asked=True),
    SheetColumn(ASSIGNED, 16, is_asked=True),
    SheetColumn(KEY, 10, is_hidden=True),
    SheetColumn(_FIRST, 6, is_hidden=True),
    SheetColumn(_COUNT, 6, is_hidden=True),
    SheetColumn(_SENT_COMMENT, 6, is_hidden=True),
    SheetColumn(_SENT_ASSIGNED, 6, is_hidden=True),
)
_PROPOSED = 3
_MOST_CHOICES = 200
"""New names to choose from in one row; any other one can be typed."""

_MOST_NAMES = 1_000_000
"""Rows that a sheet can have; beyond them rows offer no names."""

_HELP = (
    "Each row is something that a schema lost and that somebody must decide.",
    f"{RENAMED}: it has another name now. Choose that name in the column “{NEW_NAME}”.",
    f"{NOT_NEEDED}: nobody misses it; the column in the canonical model stays empty from this source.",
    f"{LATER}: it is asked again; nothing changes.",
    "Leave a row empty to say nothing about it. Rows may be sorted, filtered and deleted; columns may be moved.",
    "Send the workbook back to whoever sent it: it is read again as it is.",
)


class LossKey(NamedTuple):
    """Which lost element a row is about.

    Args:
        project: the beginning of the project's id.
        version, entity_version: the block.
        q_lineage, p_lineage, since: the loss.
    """

    project: str
    version: int
    entity_version: int
    q_lineage: int
    p_lineage: int
    since: int


class AnswerSheetSummary(Value):
    """What an answer sheet holds.

    Args:
        path: where it is.
        items: review items in it.
        rows: lost elements, one row each.
        left_out: items that wait without having lost anything; they are confirmed as they are, not by a sheet.
    """

    path: Path
    items: int
    rows: int
    left_out: int

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl review --sheet``."""
        return {"sheet": str(self.path), "items": self.items, "rows": self.rows, "left_out": self.left_out}


def write_sheet(
    workbench: Workbench, path: Path, wanted: ReviewListQuery | None = None, watch: Watch = UNWATCHED
) -> AnswerSheetSummary:
    """Write the open items to a workbook; a file of that name is replaced.

    Args:
        workbench: the opened project.
        path: where to.
        wanted: which items, in which order; all of them when it is left out.
        watch: progress and cancel.

    Raises:
        ProjectError: the file cannot be written.
        EditError: more waits than a sheet that is read back can hold.
    """
    document, refused = workbench.document, workbench.kept.refused_renames.all()
    found = (wanted or wanted_in(workbench)).of(document, review_items(document))
    asked = [one for one in found if one.item.losses]
    names = _ChoiceLists()
    rows: list[tuple[str | int, ...]] = []
    for at, one in enumerate(asked):
        watch.step("Writing what waits", at, len(asked))
        may_be = loss_choices(document, one.item.block, one.item.losses, refused)
        rows += (_row(document, workbench.project_id, one, loss, may_be[loss], names) for loss in one.item.losses)
        if len(rows) >= MAX_ROWS:
            raise EditError(
                "That is too much for one answer sheet.",
                f"It may have {MAX_ROWS - 1:,} rows, or it cannot be read back.",
                "Filter what waits, by schema or by who is to decide, and send several.",
            )
    help_ = SheetPlan("How to answer", (SheetColumn("How to answer", 110),), tuple((line,) for line in _HELP))
    about = f"Open decisions of {workbench.path.name} at state {document.state}"
    write_whole(path, workbook_bytes((SheetPlan(SHEET, _COLUMNS, tuple(rows)), help_), names.all, about))
    return AnswerSheetSummary(path, len(asked), len(rows), len(found) - len(asked))


def key_text(key: LossKey) -> str:
    """Write a key such that a damaged one is recognised."""
    body = ".".join(map(str, key))
    return f"{body}.{zlib.crc32(body.encode()):08x}"


def parse_key(text: str) -> LossKey | None:
    """Read a key; ``None`` for what is none, or is damaged."""
    body, _, check = text.strip().rpartition(".")
    project, *numbers = body.split(".")
    if check != f"{zlib.crc32(body.encode()):08x}" or len(numbers) != len(LossKey._fields) - 1:
        return None
    if not all(number.isascii() and number.isdigit() and len(number) < 19 for number in numbers):
        return None
    return LossKey(project, *map(int, numbers))


def short_id(project_id: str) -> str:
    """Return the part of a project's id that keys carry."""
    return project_id.replace(".", "")[:8]


def key_of(project_id: str, block: Block, loss: Loss) -> LossKey:
    """Name a lost element of a block."""
    return LossKey(short_id(project_id), *block.key, loss.q_lineage, loss.p_lineage, loss.since)


class _ChoiceLists:
    """The choices of all rows below each other; equal ones stand once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._at: dict[tuple[str, ...], int] = {}

    def place(self, names: tuple[str, ...]) -> int:
        """Return the row in which some names begin."""
        if names not in self._at:
            self._at[names] = len(self.all) + 1
            self.all += names or ("",)
        return self._at[names]

    @property
    def is_full(self) -> bool:
        """Whether there is no room for the choices of another row."""
        return len(self.all) + _MOST_CHOICES > _MOST_NAMES


def _row(
    document: Document, project_id: str, one: ReviewFacts, loss: Loss, may_be: LossChoices, names: _ChoiceLists
) -> tuple[str | int, ...]:
    block = one.item.block
    entity_version = document.cdm.version(block.entity_version)
    choices = () if names.is_full else may_be.paths[:_MOST_CHOICES]
    proposed = [f"{each.candidate} ({each.score:.0%})" for each in may_be.renames[:_PROPOSED]]
    return (
        one.schema,
        document.extraction.version(block.version).label,
        f"{one.entity} {entity_version.label}",
        f"{loss.from_path} → {loss.to_path}",
        loss.reason,
        "\n".join(proposed) or "nothing new looks like it",
        "",
        "",
        block.comment,
        one.assigned,
        key_text(key_of(project_id, block, loss)),
        names.place(choices),
        len(choices),
        block.comment,
        one.assigned,
    )


Assigned: TypeAlias = Callable[[Document, ReviewItem], str]
"""Who is to decide on an item."""

_WRITTEN = (ANSWER, NEW_NAME, COMMENT, ASSIGNED, KEY)


class TakenRow(Value):
    """What became of one row.

    Args:
        number: the row in the sheet.
        words: what it does, or why it does nothing.
    """

    number: int
    words: str

    def as_json(self) -> dict[str, Any]:
        """Return the row with its words."""
        return {"row": self.number, "words": self.words}


class AnswerSheetResult(Value):
    """What an answer sheet does, or did.

    Args:
        path: the workbook.
        state: the state afterwards.
        title: what was done, for people; empty while nothing was.
        answered: rows whose answer is taken.
        ignored: rows whose element was decided meanwhile, or is gone.
        unclear: rows that cannot be followed.
        assigned: items that somebody else is to decide on.
        empty: rows that say nothing.
        left: items on the review list; while nothing was done, as many as there are now.
    """

    path: Path
    state: int
    title: str
    answered: tuple[TakenRow, ...]
    ignored: tuple[TakenRow, ...]
    unclear: tuple[TakenRow, ...]
    assigned: int
    empty: int
    left: int

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl review --answers``."""
        return {
            "state": self.state,
            "title": self.title,
            "answered": [row.as_json() for row in self.answered],
            "ignored": [row.as_json() for row in self.ignored],
            "unclear": [row.as_json() for row in self.unclear],
            "assigned": self.assigned,
            "empty": self.empty,
            "needs_review": self.left,
        }


@dataclass
class _AnswerEdits:
    """What the rows ask for, so far.

    Args:
        document: as the edits so far leave it.
        edits: to be done, in order.
    """

    document: Document
    stamp: EditContext
    edits: list[Edit] = field(default_factory=list)
    answered: list[TakenRow] = field(default_factory=list)
    ignored: list[TakenRow] = field(default_factory=list)
    unclear: list[TakenRow] = field(default_factory=list)
    assigned: dict[AssignmentKey, str] = field(default_factory=dict)
    assigned_items: int = 0
    empty: int = 0
    settled_by: dict[LossKey, int] = field(default_factory=dict)
    postponed: set[tuple[int, int]] = field(default_factory=set)

    def do(self, edit: Edit) -> None:
        """Take an edit into the list.

        Raises:
            EditError: the rules refuse it.
        """
        done = perform(self.document, edit, self.stamp)
        self.document = done.after
        self.edits.append(edit)


def read_answers(workbench: Workbench, path: Path, watch: Watch = UNWATCHED) -> AnswerSheetResult:
    """Return what an answer sheet would do, without doing it.

    Raises:
        SchemaError: the file is no answer sheet of this project.
    """
    return _outcome(workbench, path, _edits_of(workbench, path, watch), "")


def take_answers(
    workbench: Workbench, path: Path, door: EditOrigin = EditOrigin.COMMAND, watch: Watch = UNWATCHED
) -> AnswerSheetResult:
    """Take the answers of a sheet as one undo step; rows that are not clear change nothing.

    Raises:
        SchemaError: the file is no answer sheet of this project.
        EditError: the project was changed meanwhile such that the answers do not hold any more.
    """
    edits = _edits_of(workbench, path, watch)
    title = ""
    if edits.edits:
        count = len(edits.answered)
        name = f"Take {count} answer{'' if count == 1 else 's'} from {path.name}"
        title = workbench.do(CompositeEdit(name, tuple(edits.edits)), door=door).title
    by_name: dict[str, list[AssignmentKey]] = defaultdict(list)
    for key, assignee in edits.assigned.items():
        by_name[assignee].append(key)
    for assignee, keys in by_name.items():
        workbench.kept.assignments.assign(keys, assignee, workbench.stamp())
    return _outcome(workbench, path, edits, title)


def _outcome(workbench: Workbench, path: Path, edits: _AnswerEdits, title: str) -> AnswerSheetResult:
    document = workbench.document
    left = len(review_items(document))
    return AnswerSheetResult(
        path,
        document.state,
        title,
        tuple(edits.answered),
        tuple(edits.ignored),
        tuple(edits.unclear),
        edits.assigned_items,
        edits.empty,
        left,
    )


def _edits_of(workbench: Workbench, path: Path, watch: Watch) -> _AnswerEdits:
    sheet = read_sheet(path, SHEET, _WRITTEN)
    rows = [(row, parse_key(row.cells[KEY])) for row in sheet.rows]
    ours = short_id(workbench.project_id)
    theirs = {key.project for _, key in rows if key is not None}
    if theirs and ours not in theirs:
        raise SchemaError(
            f"{path.name} is the answer sheet of another project.",
            f"None of its {len(rows):,} rows is about {workbench.path.name}.",
            "Open the project that it was written from.",
        )
    edits = _AnswerEdits(workbench.document, workbench.stamp())
    given = _answers_given(rows)
    current = assignments(workbench)
    for at, (row, key) in enumerate(rows):
        watch.step("Reading the answers", at, len(rows))
        said = _unclear_words(row, key, ours, given)
        if said:
            edits.unclear.append(TakenRow(row.number, said))
            continue
        if key is not None:
            _take_row(edits, workbench.document, row, key)
            _assign_row(edits, workbench.document, row, key, current.of)
    return edits


def _answers_given(rows: Sequence[tuple[SheetRow, LossKey | None]]) -> dict[LossKey, set[tuple[str, str]]]:
    """Return the answers of each lost element; more than one contradict each other."""
    given: dict[LossKey, set[tuple[str, str]]] = defaultdict(set)
    for row, key in rows:
        if key is not None and row.cells[ANSWER]:
            given[key].add((row.cells[ANSWER].lower(), row.cells[NEW_NAME]))
    return given


def _unclear_words(row: SheetRow, key: LossKey | None, ours: str, given: dict[LossKey, set[tuple[str, str]]]) -> str:
    """Explain why a row cannot be followed, empty when it can."""
    answer, new_name = row.cells[ANSWER], row.cells[NEW_NAME]
    for title in _WRITTEN:
        if title in row.problems:
            return f"the cell “{title}” {row.problems[title]}"
    says_something = bool(answer or new_name)
    if key is None:
        missing = "its hidden key is missing or damaged, so nobody knows what it is about"
        return missing if says_something or row.cells[KEY] else ""
    if key.project != ours:
        return "it is about another project"
    if len(given.get(key, ())) > 1 and answer:
        return "another row gives another answer to the same"
    if answer and answer.lower() not in ANSWERS:
        hint = near_names(answer.lower(), ANSWERS) or f"Answers are: {', '.join(ANSWERS)}."
        return f"“{answer}” is no answer. {hint}"
    if answer.lower() == RENAMED and not new_name:
        return f"it says “{RENAMED}” and no new name"
    if new_name and answer.lower() != RENAMED:
        return f"it names {new_name}, but its answer is not “{RENAMED}”"
    return ""


def _take_row(edits: _AnswerEdits, before: Document, row: SheetRow, key: LossKey) -> None:
    answer = row.cells[ANSWER].lower()
    if not answer:
        edits.empty += 1
        return
    block = _block(before, key)
    asked = _loss(block, key) if block is not None else None
    if asked is None:
        edits.ignored.append(TakenRow(row.number, _decided_words(before, block, key)))
        return
    now = _block(edits.document, key)
    # By ids: a rename in a row above gives lineages other numbers.
    ids = asked.q, asked.p, asked.since
    loss = next((x for x in now.open_losses if (x.q, x.p, x.since) == ids), None) if now is not None else None
    if now is None or loss is None:
        said = f"settled by row {edits.settled_by[key]}" if key in edits.settled_by else "settled by a row above"
        edits.answered.append(TakenRow(row.number, said))
        return
    try:
        words = _do_answer(edits, now, loss, answer, row)
    except EditError as error:
        edits.unclear.append(TakenRow(row.number, " ".join(part for part in (error.title, error.text) if part)))
        return
    edits.settled_by.setdefault(key, row.number)
    edits.answered.append(TakenRow(row.number, words))


def _do_answer(edits: _AnswerEdits, block: Block, loss: Loss, answer: str, row: SheetRow) -> str:
    """Take the answer of one row into the plan, and say what it does.

    Raises:
        EditError: the rules refuse it.
    """
    said = _touched(row, COMMENT, _SENT_COMMENT)
    comment = said if said != block.comment else ""
    where = block_name(edits.document, block.key)
    lost = lost_path(edits.document, block, loss)
    name = loss_name(block, loss)
    if answer == NOT_NEEDED:
        edits.do(AcceptLosses(block.key, (name,), comment))
        return f"{lost} is not needed any more in {where}"
    if answer == LATER:
        if block.key not in edits.postponed:
            edits.do(Postpone(block.key, comment))
            edits.postponed.add(block.key)
        return f"{where} is decided later"
    edits.do(RenameLost(block.key, rename_name(edits.document, block, loss), row.cells[NEW_NAME], comment))
    return f"{lost} was renamed to {row.cells[NEW_NAME]} in {where}"


def _assign_row(edits: _AnswerEdits, document: Document, row: SheetRow, key: LossKey, assigned: Assigned) -> None:
    """Note who is to decide, where somebody wrote another person into the sheet than the project has."""
    wanted = _touched(row, ASSIGNED, _SENT_ASSIGNED)
    block = _block(document, key)
    item = find_item(document, block.key) if wanted and block is not None else None
    if item is None or assigned(document, item) == wanted:
        return
    try:
        name = checked_name(wanted)
    except EditError as error:
        edits.unclear.append(TakenRow(row.number, f"{error.title} {error.text}"))
        return
    keys = keys_of(document, item)
    if any(edits.assigned.get(each) != name for each in keys):
        edits.assigned_items += keys[0] not in edits.assigned
        edits.assigned |= dict.fromkeys(keys, name)


def _touched(row: SheetRow, title: str, sent: str) -> str:
    """Return what a cell says, empty where it says what it was sent with; sheets of before do not tell that."""
    said = row.cells[title]
    return said if said != row.cells.get(sent) else ""


def _block(document: Document, key: LossKey) -> Block | None:
    """Find the block of a row, which may stand at a newer version of its entity since."""
    entity_version = document.cdm.find_version(key.entity_version)
    if entity_version is None or document.extraction.find_version(key.version) is None:
        return None
    newest = document.cdm.schema(entity_version.schema_id).version_ids[-1]
    found = document.matrix.block(key.version, key.entity_version)
    return found or document.matrix.block(key.version, newest)


def _loss(block: Block, key: LossKey) -> Loss | None:
    """Find the open loss of a row; an inserted version may have moved where it begins since."""
    same = [loss for loss in block.open_losses if loss.lineages == (key.q_lineage, key.p_lineage)]
    return next((loss for loss in same if loss.since == key.since), same[0] if same else None)


def _decided_words(document: Document, block: Block | None, key: LossKey) -> str:
    if block is None:
        return "what it is about is not in the project any more"
    closed = [loss for loss in block.losses if (loss.q_lineage, loss.p_lineage) == (key.q_lineage, key.p_lineage)]
    how = closed[0].answer if closed else ""
    who = f" by {block.who}" if block.who else ""
    return f"it was decided meanwhile{who}{f' ({how})' if how else ''} in {block_name(document, block.key)}"
