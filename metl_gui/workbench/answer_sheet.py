"""The answer sheet: open review items as a workbook that can be sent out, one row for each lost element.

Rows may be sorted, filtered and left out: a hidden column says which lost element each is about. Reading the answers
back is ``workbench.answers``. Source: ux.md §8.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from metl_gui.core.matrix.blocks import Block, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import review_items
from metl_gui.core.review.loss_choices import LossChoices, loss_choices
from metl_gui.core.review.query import ReviewFacts
from metl_gui.errors import EditError
from metl_gui.registry.workbook import MAX_ROWS
from metl_gui.workbench.progress import UNWATCHED, Watch
from metl_gui.workbench.review_wanted import Wanted, wanted_in
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.workbook_writer import Column, SheetPlan, workbook_bytes
from metl_gui.workbench.writing import write_whole

SHEET = "Open decisions"
RENAMED, NOT_NEEDED, LATER = "renamed to", "not needed any more", "later"
ANSWERS = (RENAMED, NOT_NEEDED, LATER)
ANSWER, NEW_NAME, COMMENT, ASSIGNED, KEY = "your answer", "new name", "comment", "assigned to", "key"

_FIRST, _COUNT = "first name", "names"
_COLUMNS = (
    Column("schema", 30),
    Column("version", 9),
    Column("entity", 20),
    Column("lost", 30),
    Column("reason", 38),
    Column("candidates", 30),
    Column(ANSWER, 20, is_asked=True, choices=ANSWERS),
    Column(NEW_NAME, 24, is_asked=True, choices_of=_FIRST),
    Column(COMMENT, 30, is_asked=True),
    Column(ASSIGNED, 16, is_asked=True),
    Column(KEY, 10, is_hidden=True),
    Column(_FIRST, 6, is_hidden=True),
    Column(_COUNT, 6, is_hidden=True),
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


@dataclass(frozen=True, slots=True)
class SheetMade:
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


def write_sheet(workbench: Workbench, path: Path, wanted: Wanted | None = None, watch: Watch = UNWATCHED) -> SheetMade:
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
    names = _Names()
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
    help_ = SheetPlan("How to answer", (Column("How to answer", 110),), tuple((line,) for line in _HELP))
    about = f"Open decisions of {workbench.path.name} at state {document.state}"
    write_whole(path, workbook_bytes((SheetPlan(SHEET, _COLUMNS, tuple(rows)), help_), names.all, about))
    return SheetMade(path, len(asked), len(rows), len(found) - len(asked))


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


class _Names:
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
    document: Document, project_id: str, one: ReviewFacts, loss: Loss, may_be: LossChoices, names: _Names
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
    )
