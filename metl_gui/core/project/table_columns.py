"""Which columns of a mapping table of another shape hold what a mapping table does, and a guess of it.

The guess looks at titles first and then at the values of the first rows: what is the name of a schema or the path of
an attribute of the project says more than any title. Nothing is taken for a column that neither points to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from metl_gui.values import Value

ALL_VERSIONS = "*"
"""What stands for a version of a schema where a table has no column of versions."""

NEWEST = ""
"""What stands for a version of an entity where a table has none: its newest one."""

_TITLES = {
    "schema": "schema source_schema source_table from_table table topic subject source_object source_entity stream",
    "schema_version": "schema_version source_version source_schema_version from_version version",
    "attribute": (
        "attribute source_attribute source_field source_column from_field from_column field column source_path "
        "source_name source element from"
    ),
    "entity": "entity target_entity target_table to_table business_entity target_schema target_object canonical_entity",
    "entity_version": "entity_version target_version target_entity_version to_version cdm_version canonical_version",
    "cdm_attribute": (
        "cdm_attribute target_attribute target_field target_column to_field to_column canonical_attribute cdm_field "
        "canonical_field target_path target_name target to"
    ),
}
"""Titles that each column has in tables of others, the clearest first."""

_SHORT = {"src": "source", "tgt": "target", "dst": "target", "destination": "target", "col": "column", "ver": "version"}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_LEAST = 0.3


class TableColumns(Value):
    """The title of the column that holds each thing; empty where no column does.

    A table without versions holds for all versions of its schemas, and for the newest ones of its entities.
    """

    schema: str = ""
    schema_version: str = ""
    attribute: str = ""
    entity: str = ""
    entity_version: str = ""
    cdm_attribute: str = ""

    @property
    def as_pairs(self) -> tuple[tuple[str, str], ...]:
        """What is held and the title of its column, in the order of a mapping table."""
        return tuple((name, str(getattr(self, name))) for name in self.__struct_fields__)

    @property
    def missing(self) -> tuple[str, ...]:
        """What must have a column and has none."""
        return tuple(name for name, title in self.as_pairs if not title and name not in DEFAULTS)

    @property
    def repeated(self) -> tuple[str, ...]:
        """Titles that stand for several things."""
        titles = [title for _, title in self.as_pairs if title]
        return tuple(dict.fromkeys(title for title in titles if titles.count(title) > 1))


DEFAULTS: Mapping[str, str] = {"schema_version": ALL_VERSIONS, "entity_version": NEWEST}
"""What may have no column, and what it is then."""


class TableHead(Value):
    """The beginning of a table.

    Args:
        titles: of its columns, as they stand; one that stands twice is left out.
        rows: the cells of the first rows below these titles.
        is_mapping: whether it has the columns of a mapping table, so that nobody needs to be asked.
    """

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_mapping: bool = False

    def column(self, title: str) -> tuple[str, ...]:
        """Return the cells of a column, none where no column has the title."""
        at = self.titles.index(title) if title in self.titles else None
        return () if at is None else tuple(row[at] for row in self.rows)


def guess_columns(head: TableHead, known: Mapping[str, AbstractSet[str]]) -> TableColumns:
    """Guess which column of a table is what.

    Args:
        head: the beginning of the table.
        known: by the name of a column of a mapping table, what the project has of it: names, paths, labels.

    Order: the surest pair of a column and what it holds is taken first, each column once.
    """
    scored = sorted(_scores(head, known), key=lambda each: (-each[0], each[2], each[1]))
    chosen: dict[str, str] = {}
    for score, title, name in scored:
        if score >= _LEAST and name not in chosen and title not in chosen.values():
            chosen[name] = title
    return TableColumns(**chosen)


def _scores(head: TableHead, known: Mapping[str, AbstractSet[str]]) -> Iterator[tuple[float, str, str]]:
    for title in head.titles:
        cells = [cell for cell in head.column(title) if cell]
        for name, titles in _TITLES.items():
            values = known.get(name, frozenset())
            share = sum(cell in values for cell in cells) / len(cells) if cells and values else 0.0
            yield _title_score(title, titles.split()) + share, title, name


def _title_score(title: str, titles: Sequence[str]) -> float:
    """Return how likely a title is for a column: 1 when it is its own one, 0 for a word that none knows."""
    words = "_".join(_SHORT.get(word, word) for word in (found.lower() for found in _WORD.findall(title)))
    return 1.0 - titles.index(words) / (2 * len(titles)) if words in titles else 0.0
