"""What the sheet says of dropped files, part by part, and what each part offers; plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.naming import number_of
from metl_gui.workbench.recognizing import Novelty, Recognized, likely_side, novelty

_PARTS_SHOWN = 3


class Act(StrEnum):
    """What a button of the sheet does."""

    OPEN = "open"
    ADD_EXTRACTION = "add-extraction"
    ADD_CDM = "add-cdm"
    ADD_TABLE = "add-table"
    READ_ANSWERS = "read-answers"
    ADD_FROM_MESSAGES = "add-from-messages"
    USE = "use"
    TRY = "try"
    ONLY_TRY = "only-try"


@dataclass(frozen=True)
class Offer:
    """One button.

    Args:
        act: what it does.
        words: what it says.
        path: the file that it is about, where there are several.
        why_not: why it cannot be pressed now, empty when it can.
    """

    act: Act
    words: str
    path: Path | None = None
    why_not: str = ""


@dataclass(frozen=True)
class Part:
    """One kind of file among those that were dropped.

    Args:
        title: what it is.
        text: numbers.
        offers: its buttons, the likeliest first.
    """

    title: str
    text: str
    offers: tuple[Offer, ...]


def parts_of(found: Recognized, document: Document, why_not: str, has_project: bool) -> tuple[Part, ...]:
    """Put what was found into words.

    Args:
        found: what the files are.
        document: the document of the open project.
        why_not: why nothing can be added to it, empty when it can.
        has_project: whether there is one at all.
    """
    parts = [
        Part(f"The project {path.stem}", _end_of(str(path)), (Offer(Act.OPEN, "Open it", path),))
        for path in found.projects
    ]
    if found.schemas.declarations:
        parts.append(_schemas(found, document, why_not, has_project))
    for table in found.tables:
        lines = f"; {number_of(table.problems, 'line')} cannot be used" if table.problems else ""
        text = f"{number_of(table.rows, 'element')} in {table.path.name}{lines}"
        parts.append(Part("A mapping table", text, (Offer(Act.ADD_TABLE, "Add its elements", table.path, why_not),)))
    for sheet in found.sheets:
        text = f"{number_of(sheet.answered, 'answer')} in {number_of(sheet.rows, 'row')} of {sheet.path.name}"
        offer = Offer(Act.READ_ANSWERS, "See what they would do", sheet.path, "" if has_project else why_not)
        parts.append(Part("An answer sheet", text, (offer,)))
    if found.messages:
        parts.append(_messages(found, why_not, has_project))
    return tuple(parts)


def refusal_words(found: Recognized, most: int) -> list[str]:
    """Return a line for each file that cannot be used, the last one for those that are not listed."""
    lines = [f"{Path(refused.source).name}: {refused.reason}" for refused in found.refused[:most]]
    more = len(found.refused) - most
    return [*lines, f"and {more:,} more"] if more > 0 else lines


def _schemas(found: Recognized, document: Document, why_not: str, has_project: bool) -> Part:
    likely = likely_side(found.schemas, document)
    facts = novelty(found.schemas, document, likely)
    where = {Side.EXTRACTION: "extraction tree", Side.CDM: "canonical model"}
    text = f"{number_of(facts.versions, 'version')} of {number_of(facts.schemas, 'schema')} in "
    text += f"{number_of(found.schema_files, 'file')}. {_what_is_new(facts, where[likely])}"
    if found.schemas.wire:
        text += " Binary messages that name them can be read then."
    offers = {
        Side.EXTRACTION: Offer(Act.ADD_EXTRACTION, "Add to the extraction tree", None, why_not),
        Side.CDM: Offer(Act.ADD_CDM, "Add to the canonical model", None, why_not),
    }
    other = Side.CDM if likely is Side.EXTRACTION else Side.EXTRACTION
    no_try = "" if has_project else why_not
    return Part("Schemas", text, (offers[likely], offers[other], Offer(Act.ONLY_TRY, "Only try", None, no_try)))


def _what_is_new(facts: Novelty, tree: str) -> str:
    if not facts.new_versions:
        return f"The {tree} has all of them already."
    words = f"{number_of(facts.new_versions, 'version')} {_is_are(facts.new_versions)} new to the {tree}"
    return f"{words}, {number_of(facts.new_schemas, 'schema')} by name too." if facts.new_schemas else f"{words}."


def _messages(found: Recognized, why_not: str, has_project: bool) -> Part:
    no_run = "" if has_project else why_not
    text = f"{number_of(len(found.messages), 'file')}, {_size(found.message_bytes)}, "
    text += f"read from {_end_of(found.message_source)}"
    offers = (
        Offer(Act.TRY, "Test run", None, no_run),
        Offer(Act.USE, "Use as sample", None, no_run),
        Offer(Act.ADD_FROM_MESSAGES, "Add their schemas", None, why_not),
    )
    return Part("Messages", text, offers)


def _end_of(path: str) -> str:
    """Return the end of a path, which tells most; a whole one is wider than the sheet."""
    return str(Path(*Path(path).parts[-_PARTS_SHOWN:]))


def _is_are(number: int) -> str:
    return "is" if number == 1 else "are"


def _size(number: int) -> str:
    size = float(number)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"
