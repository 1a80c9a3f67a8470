"""Which review items to show and in which order: the text of the filter box, and the choices of order and grouping.

``schema:`` and ``entity:`` a part of a name, ``verdict:smaller``, ``older:7`` days, ``assigned:ada`` or
``assigned:nobody``, ``is:postponed``; every other word stands in the names, the lost attributes or the comment. A minus
turns a term round.
Source: docs/guide/change.md, "Reviewing".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import StrEnum

from metl_gui.core.matrix.blocks import Verdict
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import ReviewItem
from metl_gui.values import Value

NOBODY = "nobody"
"""What ``assigned:`` says of an item that nobody is asked to decide."""

DAY_MS = 86_400_000

_PARTS = re.compile(r'-?(?:[a-z]+:)?"[^"]*"?|\S+')
_PREFIXES = ("schema", "entity", "verdict", "older", "assigned", "is")
_AGE = re.compile(r"(\d{1,5})\s*d?(?:ays?)?")


class ReviewOrder(StrEnum):
    """How items stand below each other."""

    SCHEMA = "schema"
    AGE = "age"
    WEIGHT = "weight"


class Grouping(StrEnum):
    """What items stand together."""

    SCHEMA = "schema"
    ENTITY = "entity"
    NONE = "none"


class ReviewFacts(Value):
    """What a review item is asked by.

    Args:
        item: the item.
        schema, entity: their names.
        assigned: who is to decide, empty for nobody.
        records: how many records the newest run counted in the versions that the decision is about.
        starved: paths of the required attributes that lose their last source by it.
    """

    item: ReviewItem
    schema: str
    entity: str
    assigned: str = ""
    records: int = 0
    starved: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return self.item.block.verdict.value

    @property
    def weight(self) -> tuple[int, int]:
        """How much hangs on the decision: records, then elements in all versions of the chain."""
        return self.records, len(self.item.losses) * (1 + len(self.item.chain))


class ReviewQuery(Value):
    """A parsed filter; every term must hold.

    Args:
        terms: kind, value in lower case, and whether it is turned round; the kind of a plain word is empty.
        unknown: parts whose value means nothing.
    """

    terms: tuple[tuple[str, str, bool], ...] = ()
    unknown: tuple[str, ...] = ()

    def passes(self, facts: ReviewFacts, now_ms: int) -> bool:
        """Return whether an item passes."""
        return all(_holds(kind, value, facts, now_ms) is not turned for kind, value, turned in self.terms)

    def words(self) -> str:
        """Describe in a few words what passes: ``smaller, older than 7 days``; empty when everything does."""
        return ", ".join(_term_words(*term) for term in self.terms)


NO_FILTER = ReviewQuery()
"""Everything passes."""


def parse_review_query(text: str) -> ReviewQuery:
    """Read the text of the filter box; nothing is refused, what means nothing is named."""
    terms: list[tuple[str, str, bool]] = []
    unknown: list[str] = []
    for part in _PARTS.findall(text.lower()):
        is_negated = part.startswith("-") and len(part) > 1
        bare = part.removeprefix("-") if is_negated else part
        prefix, colon, value = bare.partition(":")
        kind = prefix if colon and prefix in _PREFIXES else ""
        meant = _value(kind, (value if kind else bare).strip('"').strip())
        if meant is None:
            unknown.append(part)
        elif meant:
            terms.append((kind, meant, is_negated))
    return ReviewQuery(tuple(terms), tuple(unknown))


def query_of(
    schema: str = "", entity: str = "", verdict: str = "", older: int | None = None, assigned: str = "", text: str = ""
) -> ReviewQuery:
    """Make a filter from its parts, each left out when it is empty; a verdict ``any`` is none."""
    parts = (("schema", schema), ("entity", entity), ("verdict", "" if verdict == "any" else verdict))
    terms = [(kind, value.lower(), False) for kind, value in parts if value]
    terms += [("older", str(older), False)] if older is not None else []
    terms += [("assigned", assigned.lower(), False)] if assigned else []
    return ReviewQuery((*terms, *parse_review_query(text).terms))


def facts_of(
    document: Document,
    item: ReviewItem,
    assigned: str = "",
    records_of: Callable[[int], int] | None = None,
    starved: tuple[str, ...] = (),
) -> ReviewFacts:
    """Name what an item is asked by.

    Args:
        document: where the item is.
        item: the item.
        assigned: who is to decide.
        records_of: how many records the newest run counted of a schema version, by its id.
        starved: paths of the required attributes that lose their last source by it.
    """
    schema = document.extraction.schema(document.extraction.schema_of(item.key[0])).name
    entity = document.cdm.schema(document.cdm.schema_of(item.key[1])).name
    ids = (item.key[0], *(key[0] for key in item.chain))
    records = sum(map(records_of, ids)) if records_of is not None else 0
    return ReviewFacts(item, schema, entity, assigned, records, starved)


def sorted_facts(
    facts: Iterable[ReviewFacts], order: ReviewOrder, grouping: Grouping = Grouping.NONE
) -> list[ReviewFacts]:
    """Sort items: those that were postponed last, and first those by which a required attribute loses its last source.

    Within equals the order in which they come stays.

    Order:
        A group stands where its first item does.
    """
    ranked = sorted(facts, key=_rank(order))
    if grouping is Grouping.NONE:
        return ranked
    places: dict[tuple[bool, str], int] = {}
    for one in ranked:
        places.setdefault(group_of(one, grouping), len(places))
    return sorted(ranked, key=lambda one: places[group_of(one, grouping)])


def group_of(facts: ReviewFacts, grouping: Grouping) -> tuple[bool, str]:
    """Return the group of an item: whether it was postponed, and the name that it stands below."""
    is_later = facts.item.block.postponed
    if grouping is Grouping.NONE:
        return is_later, ""
    return is_later, facts.schema if grouping is Grouping.SCHEMA else facts.entity


def _rank(order: ReviewOrder) -> Callable[[ReviewFacts], tuple[bool, bool, int, int]]:
    def rank(facts: ReviewFacts) -> tuple[bool, bool, int, int]:
        block = facts.item.block
        first = block.postponed, not facts.starved
        if order is ReviewOrder.AGE:
            return *first, block.when_ms, 0
        if order is ReviewOrder.WEIGHT:
            records, elements = facts.weight
            return *first, -records, -elements
        return *first, 0, 0

    return rank


def _value(kind: str, value: str) -> str | None:
    """Return what a term asks, empty while it is still to be typed, ``None`` when it means nothing."""
    if not value or value == "-":
        return ""
    if kind == "verdict":
        return next((verdict.value for verdict in Verdict if verdict.value.startswith(value)), None)
    if kind == "older":
        found = _AGE.fullmatch(value)
        return found[1] if found else None
    if kind == "is":
        return "postponed" if "postponed".startswith(value) else None
    return value


def _holds(kind: str, value: str, facts: ReviewFacts, now_ms: int) -> bool:
    block = facts.item.block
    match kind:
        case "schema":
            return value in facts.schema.lower()
        case "entity":
            return value in facts.entity.lower()
        case "verdict":
            return value == block.verdict.value
        case "older":
            return 0 < block.when_ms <= now_ms - int(value) * DAY_MS
        case "assigned":
            return value in facts.assigned.lower() if value != NOBODY else not facts.assigned
        case "is":
            return block.postponed
        case _:
            return value in _haystack(facts)


def _haystack(facts: ReviewFacts) -> str:
    lost = " ".join(f"{loss.from_path} {loss.to_path}" for loss in facts.item.losses)
    block = facts.item.block
    said = f"{facts.schema} {facts.entity} {block.verdict.value} {facts.assigned} {block.comment}"
    return f"{said} {lost}".lower()


def _term_words(kind: str, value: str, is_negated: bool) -> str:
    words = {
        "schema": f"of {value}",
        "entity": f"to {value}",
        "verdict": value,
        "older": f"older than {value} day{'' if value == '1' else 's'}",
        "assigned": f"assigned to {value}",
        "is": value,
    }.get(kind, f"with “{value}”")
    return f"not {words}" if is_negated else words
