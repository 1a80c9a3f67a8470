"""Checks of what all tables of a warehouse model are made of: names, attributes, expressions, types, times, zones.

Each check yields what it finds; places are ``MODEL: TABLE`` or ``MODEL: TABLE.COLUMN``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from metl_gui.core.dimensional.histories import DECIMAL_DIGITS, TYPES
from metl_gui.core.dimensional.models.entity_facts import EntityFacts
from metl_gui.core.dimensional.models.grants import role_of
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.time_zones import check_time_zone
from metl_gui.core.search.problems import Problem, Severity
from metl_gui.core.warehouse_model import Model
from metl_gui.errors import EditError, UserError, near_names

AttributesOf = Callable[[str], tuple[str, ...]]
"""Reads a row expression and returns the attributes that it names; raises ``UserError`` for what is none."""

KEY_SUFFIX = "_durable_key"
"""The longest of what is put behind names of tables and roles."""

MOST_NAMED = 5
_TYPE = re.compile(r"decimal\(([0-9]{1,3}),([0-9]{1,3})\)|text\([1-9][0-9]{0,8}\)")
_TIMES = ("date", "timestamp", "instant")
_LONGEST_NAME = 63
_OWN = "metl_"
"""How names of the loader's tables begin."""

_TABLES = ("table", "junk dimension")
"""What has tables named after it, whose names begin with an underscore while a load goes on."""

OF_LOADER = frozenset((
    "_alive", "_any", "_at", "_began", "_begins", "_bound", "_by", "_cascaded", "_column", "_commit", "_committed",
    "_covered", "_cut", "_deleted", "_depth", "_durable", "_element", "_end", "_ended", "_ends", "_epochs", "_first",
    "_first_from", "_from", "_from_at", "_from_run", "_goes_on", "_greatest", "_held", "_is_dead", "_is_last",
    "_is_new", "_is_newest", "_is_own", "_is_row", "_key", "_kind", "_last", "_last_end", "_life", "_lives", "_new",
    "_next", "_next_posted", "_number", "_op", "_opened", "_order", "_own", "_place", "_posted", "_posted_at",
    "_posting", "_posts", "_rank", "_reversal", "_row", "_run", "_schema", "_since", "_sum", "_time", "_to",
    "_unfit", "_until", "_weight",
))  # fmt: skip
"""Columns that loads put beside declared ones."""

LOADER_PATTERN = re.compile(r"_n|_k[0-9]+|_([cfnpqrv]|list|weight)_.*")
"""What more of them are called like."""


def is_of_loader(name: str, noun: str) -> bool:
    """Return whether a name is one that loads use.

    Args:
        name: in small letters.
        noun: what it names.
    """
    if noun in _TABLES and name.startswith("_"):
        return True
    return name.startswith(_OWN) or name in OF_LOADER or LOADER_PATTERN.fullmatch(name) is not None


class PartChecks:
    """The checks of parts of one model.

    Args:
        document: the state that its entities are of.
        model: what is checked.
        attributes_of: reads row expressions.
        production: what no published block maps is an error.
    """

    def __init__(self, document: Document, model: Model, attributes_of: AttributesOf, production: bool) -> None:
        self.document, self.model, self.production = document, model, production
        self.attributes_of = attributes_of
        self.facts = EntityFacts(document)

    def problem(
        self, code: str, table: str, message: str, hint: str = "", severity: Severity = Severity.ERROR
    ) -> Problem:
        """Return a problem at a table, or a part of it; at the model where ``table`` is empty."""
        place = f"{self.model.name}: {table}" if table else self.model.name
        return Problem(severity, code, place, message, hint)

    def name(self, name: str, place: str, noun: str, suffix: int = 0) -> Iterator[Problem]:
        """Check one name that becomes one in a database.

        Args:
            name: the name.
            place: of what it names.
            noun: what it names.
            suffix: how many bytes more the longest name has that is made of it.
        """
        if not name.strip() or not name.isprintable():
            yield self.problem("warehouse.name", place, f"The {noun} has no name that can be printed.", "Give it one.")
        elif len(name.encode("utf-8", "surrogatepass")) + suffix > _LONGEST_NAME:
            text = f"The name of the {noun} has more than {_LONGEST_NAME - suffix} bytes."
            yield self.problem("warehouse.name-too-long", place, text, "Give it a shorter one; databases cut it off.")
        elif is_of_loader(name.lower(), noun):
            text = f"Names such as {name} are those of the loader."
            yield self.problem("warehouse.name-reserved", place, text, "Give it another name.")

    def entity(self, name: str, place: str) -> Iterator[Problem]:
        """Check that there is an entity."""
        if self.facts.history(name) is None:
            hint = near_names(name, self.facts.names()) or "See metl entity show."
            yield self.problem("warehouse.unknown-entity", place, f"There is no entity {name}.", hint)

    def attribute(self, table: str, entity: str, path: str, member: str) -> Iterator[Problem]:
        """Check that an attribute is there, mapped, and not masked."""
        if self.facts.history(entity) is None:
            return
        if self.facts.column(entity, path) is None:
            known = self.facts.paths(entity)
            below = [one for one in known if one.startswith(f"{path}.")]
            hint = f"It has {', '.join(below[:MOST_NAMED])}." if below else near_names(path, known)
            text = f"The entity {entity} has no attribute {path}."
            yield self.problem(
                "warehouse.unknown-attribute", table, text, hint or f"See metl entity show PROJECT {entity}."
            )
            return
        if not self.facts.is_mapped(entity, path, published=self.production):
            word = "published block" if self.production else "block"
            severity = Severity.ERROR if self.production else Severity.WARNING
            text = f"No {word} maps to {path} of {entity}, so {member} is always null."
            yield self.problem("warehouse.not-mapped", table, text, "Map it, or leave it out.", severity)
        elif not self.facts.is_still_mapped(entity, path):
            text = f"The newest version of no schema maps to {path} of {entity}, so {member} is null from then on."
            hint = "What is there stays. Map it again, or leave it out."
            yield self.problem("warehouse.no-longer-mapped", table, text, hint, Severity.NOTE)
        if self.facts.is_masked(entity, path):
            text = f"{path} of {entity} is masked."
            hint = "Targets leave it out unless they were made to hold it plain; or leave it out of the model."
            yield self.problem("warehouse.masked", table, text, hint, Severity.WARNING)

    def expression(self, place: str, entity: str, text: str, member: str) -> Iterator[Problem]:
        """Check a row expression and the attributes that it names."""
        try:
            paths = self.attributes_of(text)
        except UserError as error:
            yield self.problem(
                "warehouse.expression", place, f"{member}: {error.title} {error.text}".strip(), error.hint
            )
            return
        for path in paths:
            yield from self.attribute(place, entity, path, member)

    def value(self, place: str, entity: str, text: str, member: str) -> Iterator[Problem]:
        """Check what is an attribute or a row expression."""
        is_path = self.facts.column(entity, text) is not None or re.fullmatch(r"[\w.]+", text)
        yield from (self.attribute if is_path else self.expression)(place, entity, text, member)

    def time(self, place: str, entity: str, path: str, member: str) -> Iterator[Problem]:
        """Check that an attribute is a time."""
        yield from self.attribute(place, entity, path, member)
        found = self.facts.column(entity, path)
        if found is not None and found.type not in _TIMES:
            text = f"{path} of {entity} is {found.type}, and {member} is a time."
            yield self.problem(
                "warehouse.no-time", place, text, f"Take an attribute that is one of {', '.join(_TIMES)}."
            )

    def grants(self, table: str, grants: Iterable[str]) -> Iterator[Problem]:
        """Check that what is granted is to read."""
        for grant in grants:
            if role_of(grant) is None:
                text = f"{grant} grants nothing that a table gives."
                yield self.problem("warehouse.grant", table, text, "Name a role that may read it: ROLE.")

    def known_columns(self, table: str, listed: Iterable[str], known: Collection[str]) -> Iterator[Problem]:
        """Check that columns are among those of a table, as they are written there."""
        for name in listed:
            if name not in known:
                same = sorted(one for one in known if one.lower() == name.lower())
                near = f"Did you mean {' or '.join(same)}?" if same else near_names(name, known)
                hint = near or f"Its columns are {', '.join(sorted(known)[:MOST_NAMED])} and more."
                yield self.problem("warehouse.unknown-column", table, f"There is no column {name}.", hint)

    def zone(self, place: str, name: str) -> Iterator[Problem]:
        """Check that there is a time zone."""
        try:
            check_time_zone(name)
        except EditError as error:
            yield self.problem("warehouse.time-zone", place, error.title, error.hint or error.text)


def is_type(type_: str) -> bool:
    """Whether a text is a type of a column."""
    found = _TYPE.fullmatch(type_)
    if found is None:
        return type_ in TYPES
    if found[1] is None:
        return True
    return 1 <= int(found[1]) <= DECIMAL_DIGITS and int(found[2]) <= int(found[1])


def type_family(type_: str) -> str:
    """Return what of a type counts where values are held against others."""
    name = type_.partition("(")[0]
    return "number" if name in ("integer", "decimal", "float") else name
