"""What reverse and forward search found: rows below the schema or entity at the other end.

``AnswerRows`` collects them without Qt; ``AnswerModel`` shows them as schemas or entities with their elements below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import Block, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.lineage_search import LineageMatch, fed, feeding
from metl_gui.core.search.query import Query, Term, TermKind
from metl_gui.core.trees.nodes import Side
from metl_gui.ui.project.selection import NodeRef
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.tree import GroupedModel
from metl_gui.values import Value

_STEP_ROWS = 500


class AnswerRow(Value):
    """One element.

    Args:
        block, element: what was found.
        schema, version, source, type: the extraction end.
        entity, entity_version, target: the CDM end.
        status: of the block, as people read it.
    """

    block: Block
    element: Element
    schema: str
    version: str
    source: str
    type: str
    entity: str
    entity_version: str
    target: str
    status: str


@dataclass(slots=True)
class AnswerGroup:
    """The rows of one schema or entity.

    Args:
        id: of the schema or entity.
        name: as written.
        rows: in the order in which they were found.
    """

    id: int
    name: str
    rows: list[AnswerRow] = field(default_factory=list)

    @property
    def waiting(self) -> int:
        """How many rows stand in blocks that need review."""
        return sum(row.block.status is Status.NEEDS_REVIEW for row in self.rows)


class AnswerRows:
    """Collects what was found, group by group.

    Args:
        document: where it is looked for.
        asked: the tree of the node that is asked for; the groups are of the other tree.
    """

    def __init__(self, document: Document, asked: Side) -> None:
        self.document = document
        self.asked = asked
        self.groups: dict[int, AnswerGroup] = {}

    def collect(self, place: NodeRef) -> Iterator[None]:
        """Find everything at the other ends of a node, step by step."""
        path = _path(self.document, self.asked, place)
        search = feeding if self.asked is Side.CDM else fed
        for count, found in enumerate(search(self.document, place.schema, path), 1):
            self._add(found)
            if count % _STEP_ROWS == 0:
                yield

    def passing(self, query: Query) -> list[AnswerGroup]:
        """Return the groups with the rows that pass."""
        if query.is_empty:
            return list(self.groups.values())
        kept = (AnswerGroup(g.id, g.name, [row for row in g.rows if passes(row, query)]) for g in self.groups.values())
        return [group for group in kept if group.rows]

    def _add(self, found: LineageMatch) -> None:
        document, block = self.document, found.block
        version, target = document.extraction.version(block.version), document.cdm.version(block.entity_version)
        source, sink = version.attribute(found.element.p), target.attribute(found.element.q)
        schema, entity = document.extraction.schema(version.schema_id), document.cdm.schema(target.schema_id)
        row = AnswerRow(
            block,
            found.element,
            schema.name,
            version.label,
            source.path if source is not None else "",
            source.type_text if source is not None else "",
            entity.name,
            target.label,
            sink.path if sink is not None else "",
            block.status.value,
        )
        end = schema if self.asked is Side.CDM else entity
        self.groups.setdefault(end.id, AnswerGroup(end.id, end.name)).rows.append(row)


def passes(row: AnswerRow, query: Query) -> bool:
    """Whether a row passes; prefixes that say nothing of an element let it pass."""
    return all(_holds(row, term) != term.is_negated for term in query.terms if _is_understood(term))


def not_understood(query: Query) -> tuple[str, ...]:
    """Return the parts of a query that say nothing of elements."""
    odd = (f"{term.kind.value}:{term.value}" for term in query.terms if not _is_understood(term))
    return (*query.unknown, *odd)


def count_words(groups: Iterable[AnswerGroup], asked: Side) -> str:
    """Return how much was found: ``12 elements, 4 schemas``."""
    groups = list(groups)
    elements = sum(len(group.rows) for group in groups)
    nouns = ("schema", "schemas") if asked is Side.CDM else ("entity", "entities")
    return f"{number_of(elements, 'element')}, {len(groups):,} {nouns[len(groups) != 1]}"


def _path(document: Document, side: Side, place: NodeRef) -> str | None:
    version = document.tree(side).find_version(place.version) if place.version is not None else None
    attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
    return attribute.path if attribute is not None else None


def _is_understood(term: Term) -> bool:
    return term.kind in (TermKind.WORD, TermKind.IN, TermKind.TYPE) or (
        term.kind is TermKind.IS and term.value in ("review", "mapped")
    )


def _holds(row: AnswerRow, term: Term) -> bool:
    match term.kind:
        case TermKind.TYPE:
            return term.value in row.type.lower()
        case TermKind.IS:
            return term.value == "mapped" or row.block.status is Status.NEEDS_REVIEW
        case TermKind.IN:
            return term.value in f"{row.schema}\n{row.entity}".lower()
        case _:
            return term.value in f"{row.schema}\n{row.source}\n{row.entity}\n{row.target}\n{row.status}".lower()


_STATUS = 3


class AnswerModel(GroupedModel[AnswerGroup, AnswerRow]):
    """Elements and the status of their blocks; a block that waits has its colour.

    Args:
        asked: the tree of the node that is asked for.
    """

    def __init__(self, asked: Side, parent: QObject | None = None) -> None:
        other = "Schema" if asked is Side.CDM else "Entity"
        super().__init__((other, "Attribute", "CDM attribute", "Status"), parent)
        self._asked = asked

    def group_words(self, group: AnswerGroup, column: int) -> str:
        """Say what a group is of, and how much of it was found."""
        match column:
            case 0:
                return group.name
            case 1:
                count = len({row.block.version for row in group.rows})
                return number_of(count, "version")
            case 2:
                return number_of(len(group.rows), "element")
            case _:
                return f"{group.waiting:,} need{'s' if group.waiting == 1 else ''} review" if group.waiting else ""

    def row_words(self, row: AnswerRow, column: int) -> str:
        """Name the version, both ends, and the status."""
        label = f"version {row.version}"
        if self._asked is Side.EXTRACTION:
            label = f"version {row.entity_version}, from version {row.version}"
        target = row.target if self._asked is Side.EXTRACTION else f"{row.target}  ·  {row.entity} {row.entity_version}"
        return (label, row.source, target, row.status)[column]

    def colour(self, row: AnswerRow | None, column: int) -> Any:
        """Return the colour of what waits."""
        theme = themes.current()
        if row is None:
            return theme.review if column == _STATUS else theme.dim if column else None
        if column == _STATUS and row.block.status is Status.NEEDS_REVIEW:
            return theme.review
        return theme.dim if column == 0 else None
