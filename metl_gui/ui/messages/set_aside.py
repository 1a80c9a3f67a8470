"""Why records were set aside, reason by reason, and what a person does about it.

Reasons are put into words for people who know the business and not the program. Where a record is mended is found by
``metl_gui.workbench.links.set_aside``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.values import Value
from metl_gui.workbench.links.link import PlaceKind
from metl_gui.workbench.links.set_aside import BEFORE_VALUE, Mending, mending_place

ADD, REVIEW, GO, SHOW = "add", "review", "go", "show"
_PLACES = 20


class NextStep(Value):
    """What to do about one reason.

    Args:
        kind: ``ADD`` a version, ``REVIEW`` a block, ``GO`` to what decides, or ``SHOW`` the records.
        words: of the link.
    """

    kind: str
    words: str


_STEPS = {
    "unknown_version": NextStep(ADD, "Add version"),
    "unknown_schema": NextStep(ADD, "Import schema"),
    "block_needs_review": NextStep(REVIEW, "Review"),
    "type_mismatch": NextStep(GO, "Go to cell"),
    "ambiguous_version": NextStep(GO, "Go to cells"),
    "no_key": NextStep(GO, "Set key"),
    "undecodable": NextStep(GO, "Set framing"),
    "malformed": NextStep(GO, "Go to schema"),
    "too_large": NextStep(GO, "Go to schema"),
    "too_late": NextStep(GO, "Go to schema"),
}
_SHOW = NextStep(SHOW, "Show")


def next_step(reason: str) -> NextStep:
    """Return what to do about a reason."""
    return _STEPS.get(reason, _SHOW)


_LEADS = {
    PlaceKind.CELL: "Go to cell",
    PlaceKind.BLOCK: "Go to block",
    PlaceKind.REVIEW: "Review",
    PlaceKind.ENTITY: "Go to attribute",
    PlaceKind.SCHEMA: "Go to schema",
}


def lead_words(document: Document, record: SetAsideRecord) -> str:
    """Return the words of the link that leads to where one record is mended."""
    step, found = next_step(record.reason), mending_place(document, record)
    if found.mending is Mending.ADD or (found.mending is Mending.SETTING and found.setting != "version_field"):
        return step.words
    if len(found.places) > 1:
        return "Go to cells"
    return _LEADS.get(found.places[0].kind, "Show") if found.places else "What to do"


def where(records: Sequence[SetAsideRecord]) -> str:
    """Say where records of one reason come from, by the first of them: schema and version, or the file."""
    named = Counter(_place(record) for record in records[:_PLACES])
    if not named:
        return ""
    first = named.most_common(1)[0][0]
    return first if len(named) == 1 else f"{first} and others"


def _place(record: SetAsideRecord) -> str:
    if record.schema:
        return f"{record.schema} {record.version}" if record.version else record.schema
    position = record.position or ""
    return position.rpartition("@")[0] or position.partition("/")[0]


HIDDEN_VALUE = "what it has, which is masked"


def without_value(detail: str) -> str:
    """Return what is said of a misfit without the value that did not fit."""
    said, before, _ = detail.partition(BEFORE_VALUE)
    return said + before + HIDDEN_VALUE if before else detail


_WORDS = {
    "malformed": "This cannot be read: it is no proper JSON.",
    "unknown_schema": "No schema of the project has this name.",
    "unknown_version": "No version of its schema fits this message.",
    "ambiguous_version": "Several versions of its schema fit, and they would map it differently.",
    "block_needs_review": "It waits for a decision: a block that it needs is under review.",
    "type_mismatch": "A value does not fit the type that the canonical model has for it.",
    "undecodable": "Its bytes cannot be decoded with the schemas that the project has.",
    "no_key": "It deletes a row, and nothing in it says which.",
    "too_large": "It is larger than the limit; only its beginning is kept.",
    "too_late": "It came after its time: what is as old was compacted in the warehouse.",
}
_KINDS = {"block_needs_review": "review", "unknown_version": "review", "unknown_schema": "review"}


def reason_words(reason: str) -> str:
    """Say what a reason means; one that nobody foresaw stands for itself."""
    return _WORDS.get(reason, reason.replace("_", " ").capitalize() + ".")


def reason_tip(reason: str) -> str:
    """Say what a reason means, and what reports and files call it."""
    return f"{reason_words(reason)} Reports call it {reason}."


def reason_kind(reason: str) -> str:
    """Return the kind of a reason's pill: a person must decide, or something is broken."""
    return _KINDS.get(reason, "bad")
