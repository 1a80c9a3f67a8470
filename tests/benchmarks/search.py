"""What a key costs in the boxes that filter and search, at 10^5 and at 10^7 attributes.

The baseline at 10^5 attributes asks every attribute as an object, as a filter written down naively does; both must let
the same attributes pass. At 10^7 the whole time of a key is reported, and the longest step between two of which the
window takes events.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from metl_gui.core.matrix.document import Document
from metl_gui.core.search.attribute_facts import AttributeUses
from metl_gui.core.search.filters import Filtering
from metl_gui.core.search.node_search import find_attributes, find_schemas
from metl_gui.core.search.query import Query, Term, TermKind, parse
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.core.trees.tree_columns import columns_of
from metl_gui.core.trees.trees import Tree
from metl_gui.ui.table.rows import MappingColumn, MappingRows
from tests.benchmarks.harness import Case, figure, paired, single
from tests.benchmarks.sizes import ATTRIBUTES, DESIGN, STRETCH, VERSIONS, Size, build

_KEY_MS = 50
_TYPED = ("attribute_3", "table55 renamed", "is:unmapped service12", "type:str -attribute")
_FOUND = ("attribute_3", "table55", "renamed service9")


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Measure filter boxes, search everywhere and the mapping list."""
    yield from _filtered(DESIGN, build(DESIGN), rounds, against_objects=True)
    if not quick:
        yield from _filtered(STRETCH, build(STRETCH), rounds, against_objects=False)


def _filtered(size: Size, document: Document, rounds: int, against_objects: bool) -> Iterator[Case]:
    tree = document.extraction
    uses = AttributeUses(Side.EXTRACTION, document)
    for _ in uses.count():
        pass
    count = size.schemas * VERSIONS * ATTRIBUTES
    name = f"{count:.0e} attributes"
    for text in _TYPED:
        query = parse(text)
        if against_objects:
            case = _against_objects(f"filter '{text}', {name}", tree, document, query, uses, rounds)
            yield case
            yield figure(f"a key, {case.case}", case.ours, unit="ms", target=_KEY_MS)
        else:
            yield from _in_steps(f"filter '{text}', {name}", tree, query, uses, rounds)
    for text in _FOUND:
        words = parse(text).values(TermKind.WORD)
        yield single(
            f"search everywhere '{text}', {name}",
            _finder(document, words),
            unit="ms",
            per=1e3,
            rounds=rounds,
            target=_KEY_MS if against_objects else None,
            note="both trees",
        )
    yield from _listed(document, name, rounds, _KEY_MS if against_objects else None)


def _against_objects(case: str, tree: Tree, document: Document, query: Query, uses: AttributeUses, rounds: int) -> Case:
    ours, naive = _columns(tree, query, uses), _objects(tree, document, query)
    if ours() != naive():
        raise AssertionError(f"the columns and the objects let different attributes pass: {case}")
    return paired(case, ours, naive, unit="ms", per=1e3, target=20, rounds=rounds, note=f"{ours():,} pass")


def _columns(tree: Tree, query: Query, uses: AttributeUses) -> Callable[[], int]:
    def work() -> int:
        filtering = Filtering(columns_of(tree), query, uses)
        for _ in filtering.run():
            pass
        return sum(int(part.hits.sum()) for part in filtering.parts)

    return work


def _objects(tree: Tree, document: Document, query: Query) -> Callable[[], int]:
    def work() -> int:
        found = 0
        for schema in tree.schemas():
            for version in tree.versions(schema.id):
                blocks = document.matrix.column_set(version.id)
                mapped = {element.p for block in blocks for element in block.elements}
                place = schema.name.lower()
                found += sum(_passes(attribute, place, mapped, query) for attribute in version.attributes)
        return found

    return work


def _passes(attribute: Attribute, schema: str, mapped: set[int], query: Query) -> bool:
    return all(_holds(attribute, schema, mapped, term) != term.is_negated for term in query.terms)


def _holds(attribute: Attribute, schema: str, mapped: set[int], term: Term) -> bool:
    if term.kind is TermKind.TYPE:
        return term.value in attribute.type_text.lower()
    if term.kind is TermKind.IS:
        return attribute.id not in mapped
    return term.value in attribute.path.lower() or term.value in schema


def _in_steps(case: str, tree: Tree, query: Query, uses: AttributeUses, rounds: int) -> Iterator[Case]:
    longest: list[float] = []

    def work() -> None:
        filtering = Filtering(columns_of(tree), query, uses)
        before = time.perf_counter()
        slowest = 0.0
        for _ in filtering.run():
            now = time.perf_counter()
            slowest, before = max(slowest, now - before), now
        longest.append(slowest)

    work()
    longest.clear()
    yield single(case, work, unit="ms", per=1e3, rounds=rounds, note="in steps, between which the window answers")
    median = sorted(longest)[len(longest) // 2] * 1e3
    yield figure(f"longest step, {case}", median, unit="ms", target=_KEY_MS)


def _finder(document: Document, words: tuple[str, ...]) -> Callable[[], None]:
    def work() -> None:
        for side in Side:
            columns = columns_of(document.tree(side))
            find_schemas(columns, words, 6)
            find_attributes(columns, words, 6)

    work()
    return work


def _listed(document: Document, name: str, rounds: int, target: float | None) -> Iterator[Case]:
    mapping = MappingRows(document)
    mapping.ordered(mapping.rows, MappingColumn.SCHEMA)
    for text, column in (
        ("", MappingColumn.SCHEMA),
        ("attribute_3", MappingColumn.SCHEMA),
        ("service12", MappingColumn.CDM_ATTRIBUTE),
    ):
        query = parse(text)
        yield single(
            f"mapping list '{text}' by {column.value}, {name}",
            lambda query=query, column=column: mapping.ordered(mapping.passing(query), column),  # type: ignore[misc]
            unit="ms",
            per=1e3,
            rounds=rounds,
            target=target,
            note=f"{len(mapping.passing(query)):,} of {len(mapping):,} rows",
        )
