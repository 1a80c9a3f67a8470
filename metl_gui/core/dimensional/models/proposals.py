"""A first warehouse model, read off keys, names, references and types; a person edits it.

An attribute refers to another entity when its name ends in the name of that entity's key (``owner_customer_id``), or in
``id`` behind a word of the entity's name; with one key alone of the same last words, that one. Entities that others
refer to are dimensions unless they have a moment and numbers; entities with a time and numbers are facts; the rest are
dimensions, as far as they have a key.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from metl_gui.core.dimensional.histories import EntityHistory, HistoryColumn, entity_histories
from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.matrix.document import Document
from metl_gui.core.suggest.words import segments, usual
from metl_gui.core.trees.paths import split
from metl_gui.core.warehouse_model import EVENT_TIME, Column, Dates, Dimension, Fact, History, Model, Reference

_MOMENTS = ("instant", "timestamp")
_TIMES = (*_MOMENTS, "date")
_NUMBERS = ("decimal", "float")
_COUNTS = frozenset(("amount", "count", "number", "quantity", "price", "total", "value", "sum", "size", "duration"))
_ROLES = frozenset(("owner", "holder", "payer", "payee", "buyer", "seller", "user", "client", "customer"))
"""Words for people; where one entity alone is about people, they stand for it."""

_RATIOS = frozenset(("rate", "ratio", "price", "percent", "percentage", "average", "share", "fraction"))
_EXACT = "decimal(28,8)"
_FIRST_DAY, _LAST_DAY = "2015-01-01", "2035-12-31"
_NOT_EVENTS = frozenset(("created", "updated", "changed", "modified", "deleted", "inserted"))


def proposed_model(document: Document, name: str) -> Model:
    """Return a first model of what is mapped; without tables where nothing can be in one.

    Args:
        document: the state.
        name: of the model.
    """
    facts = EntityFacts(document)
    histories = [history for history in entity_histories(document) if _mapped(facts, history)]
    names = [free_of_underscores(history.entity) for history in histories]
    found = [
        _Entity(history, history.entity if names.count(name) > 1 else name, facts)
        for history, name in zip(histories, names, strict=True)
    ]
    for one in found:
        one.references = tuple(_references(one, found))
    referred = {reference.dimension for one in found for reference in one.references}
    facts_of = {one.name for one in found if one.is_fact(is_referred_to=one.name in referred)}
    dimensions = {one.name for one in found if one.name not in facts_of and one.history.key}
    for one in found:
        one.references = tuple(reference for reference in one.references if reference.dimension in dimensions)
    tables: list[Dimension | Fact | Dates] = [*_without_circles([_dimension(o) for o in found if o.name in dimensions])]
    tables += [_fact(one, dimensions) for one in found if one.name in facts_of]
    if facts_of:
        tables.append(Dates(name=_date_name(dimensions), first=_FIRST_DAY, last=_LAST_DAY))
    return Model(name=name, tables=tuple(tables))


class _Entity:
    """An entity with what its attributes look like, by the name of its table."""

    def __init__(self, history: EntityHistory, name: str, facts: EntityFacts) -> None:
        self.history, self.name = history, name
        self.columns = [one for one in history.columns if facts.is_mapped(history.entity, one.path)]
        self.references: tuple[Reference, ...] = ()
        times = [one for one in self.columns if one.type in _TIMES]
        best = sorted(times, key=lambda one: (one.type not in _MOMENTS, bool(_NOT_EVENTS & set(_words(one.path)))))
        self.event_time = best[0] if best else None

    def is_fact(self, *, is_referred_to: bool) -> bool:
        """Whether it happens: it has a time and numbers; what others refer to, a moment and no day."""
        if self.event_time is None or not self.measures:
            return False
        return not is_referred_to or self.event_time.type in _MOMENTS

    @property
    def measures(self) -> list[HistoryColumn]:
        """Numbers that are no keys and refer to nothing."""
        return [one for one in self.columns if self._is_measure(one)]

    def _is_measure(self, one: HistoryColumn) -> bool:
        if one.path in self.history.key or _words(one.path)[-1:] == ["id"] or one.path in self._referring():
            return False
        if one.type.startswith(_NUMBERS):
            return True
        is_counted = bool(_COUNTS & set(_words(one.path)))
        return is_counted and one.type in ("integer", "text")

    def _referring(self) -> set[str]:
        return {left for one in self.references if not isinstance(one.on, str) for left, _ in one.on}

    def plain_columns(self) -> list[HistoryColumn]:
        """What is neither key nor reference nor measure nor the event time."""
        taken = {*self.history.key, *self._referring(), *(one.path for one in self.measures)}
        taken |= {self.event_time.path} if self.event_time is not None else set()
        return [one for one in self.columns if one.path not in taken]


def _mapped(facts: EntityFacts, history: EntityHistory) -> bool:
    return any(facts.is_mapped(history.entity, one.path) for one in history.columns)


def _words(path: str) -> list[str]:
    """Return the words of a path in their usual form."""
    return [word for segment in segments(path) for written in segment for word in usual(written)]


def _references(one: _Entity, entities: list[_Entity]) -> Iterator[Reference]:
    """Yield what attributes of an entity refer to, for entities whose key is one attribute."""
    for column in one.columns:
        if column.path in one.history.key or column.type not in ("integer", "text"):
            continue
        target = _target(column, one, entities)
        if target is not None:
            (key,) = target.history.key
            role = "_".join(_written(column.path)[:-1]) or target.name
            yield Reference(dimension=target.name, on=((column.path, key),), role="" if role == target.name else role)


def _written(path: str) -> list[str]:
    return [part for name in split(path) for part in name.lower().split("_") if part]


def _target(column: HistoryColumn, own: _Entity, entities: list[_Entity]) -> _Entity | None:
    """Find the entity whose key an attribute holds, by its words; ``None`` where none or several could be meant."""
    words = _words(column.path)
    if words[-1:] != ["id"]:
        return None
    others = [one for one in entities if len(one.history.key) == 1 and one is not own]
    by_key = [one for one in others if words[-len(_words(one.history.key[0])) :] == _words(one.history.key[0])]
    exact = [one for one in by_key if len(_words(one.history.key[0])) > 1]
    named = [one for one in others if set(_words(one.name)) <= set(words[:-1])]
    people = [one for one in others if _ROLES & set(_words(one.name))] if _ROLES & set(words) else []
    for found in (exact, named, people):
        if len(found) == 1 and _is_alike(column, found[0]):
            return found[0]
    return None


def _is_alike(column: HistoryColumn, target: _Entity) -> bool:
    """Whether an attribute has the type of the key; a text may hold a number that has to be cut out of it."""
    key = next((one for one in target.history.columns if one.path == target.history.key[0]), None)
    return key is not None and key.type == column.type


def _dimension(one: _Entity) -> Dimension:
    taken = {split(path)[-1] for path in one.history.key}
    rest = [*one.measures, *one.plain_columns(), *([one.event_time] if one.event_time is not None else [])]
    listed = [column for column in one.columns if column in rest and column.type != "json"]
    columns = tuple(_columns(listed, taken, 2))
    return Dimension(name=one.name, entity=one.history.entity, columns=columns, references=one.references)


def _fact(one: _Entity, dimensions: set[str]) -> Fact:
    taken = {split(path)[-1] for path in one.history.key} | {EVENT_TIME, "is_deleted", "posted_at"}
    event = one.event_time
    references = list(one.references)
    if event is not None:
        zone = "" if event.type == "date" else "UTC"
        references.append(Reference(dimension=_date_name(dimensions), on=EVENT_TIME, time_zone=zone))
    return Fact(
        name=one.name,
        entity=one.history.entity,
        grain=() if one.history.key else "row",
        event_time=event.path if event is not None else "",
        references=tuple(references),
        measures=tuple(_measures(one, taken)),
        degenerate=tuple(_columns([column for column in one.plain_columns() if column.type != "json"], taken, 1)),
    )


def _measures(one: _Entity, taken: set[str]) -> Iterator[Column]:
    for measure, column in zip(one.measures, _columns(one.measures, taken, 1), strict=True):
        is_ratio = bool(_RATIOS & {*_words(measure.path), *_words(one.name)})
        type_ = _EXACT if measure.type == "text" else ""  # histories keep numbers without a scale as their digits
        yield msgspec.structs.replace(column, type=type_, additivity="non-additive" if is_ratio else "additive")


def _columns(columns: list[HistoryColumn], taken: set[str], history: History) -> Iterator[Column]:
    """Yield columns with short names: the last part of a path, or more of it where that is taken."""
    for one in columns:
        last = free_of_underscores(split(one.path)[-1].lower())
        name = last if last not in taken and last.isidentifier() else one.name
        taken.add(name)
        yield Column(name=name, path=one.path, history=history)


def free_of_underscores(name: str) -> str:
    """Return a name without the underscores that it begins with, as the names of the loader do."""
    return name.lstrip("_") or name


def _date_name(taken: set[str]) -> str:
    return "date" if "date" not in taken else "calendar_date"


def _without_circles(tables: list[Dimension]) -> Iterator[Dimension]:
    """Yield dimensions without the references that would lead in a circle."""
    leads: dict[str, set[str]] = {table.name: set() for table in tables}
    for table in tables:
        kept = []
        for reference in table.references:
            if table.name not in _reached(leads, reference.dimension):
                leads[table.name].add(reference.dimension)
                kept.append(reference)
        yield msgspec.structs.replace(table, references=tuple(kept))


def _reached(leads: dict[str, set[str]], start: str) -> set[str]:
    found, left = {start}, [start]
    while left:
        for name in leads.get(left.pop(), set()) - found:
            found.add(name)
            left.append(name)
    return found
