"""Columns whose names Debezium adjusted go on as what they were, wherever the names leave no doubt."""

from __future__ import annotations

import pytest

from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.importing.schema_import import ImportResult, add_reading
from metl_gui.workbench.session import Workbench
from tests.unit.workbench.conftest import declare


def added(workbench: Workbench, *paths: str) -> ImportResult:
    declaration = declare("shop.orders", f"{len(workbench.document.tree(Side.EXTRACTION).schemas()) + 1}", *paths)
    return add_reading(workbench, Side.EXTRACTION, ReaderResult((declaration,), has_counted_labels=True))


def renamed(result: ImportResult) -> list[tuple[str, str]]:
    return [(one.before, one.after) for version in result.added for one in version.renamed]


@pytest.mark.parametrize(
    ("before", "after"),
    [("unit-price", "unit_price"), ("unit_price", "unit-price"), ("unit-price", "unit_u002dprice"), ("a.b-c", "a.b_c")],
)
def test_a_column_goes_on_under_its_adjusted_name_and_back(workbench: Workbench, before: str, after: str) -> None:
    added(workbench, "id", before)
    assert renamed(added(workbench, "id", after)) == [(before, after)]


def test_names_that_two_columns_may_have_had_are_left_alone(workbench: Workbench) -> None:
    added(workbench, "id", "unit-price", "unit price")
    assert renamed(added(workbench, "id", "unit_price")) == []


def test_a_column_that_is_still_there_is_not_taken_for_another(workbench: Workbench) -> None:
    added(workbench, "id", "unit-price")
    assert renamed(added(workbench, "id", "unit-price", "unit_price")) == []


def test_versions_of_one_reading_are_traced_one_to_the_next(workbench: Workbench) -> None:
    versions = (declare("shop.orders", "1", "a-b"), declare("shop.orders", "2", "a_b"))
    assert renamed(add_reading(workbench, Side.EXTRACTION, ReaderResult(versions))) == [("a-b", "a_b")]


def test_a_registry_counts_for_itself_and_takes_the_next_free_label(workbench: Workbench) -> None:
    first = add_reading(workbench, Side.EXTRACTION, ReaderResult((declare("shop.orders", "1", "id"),)))
    assert [one.version for one in first.added] == ["1"]
    versions = (declare("shop.orders", "1", "id", "a"), declare("shop.orders", "2", "id", "b"))
    counted = ReaderResult(versions, has_counted_labels=True)
    done = add_reading(workbench, Side.EXTRACTION, counted)
    assert [one.version for one in done.added] == ["2", "3"]
    assert not done.refused
    again = add_reading(workbench, Side.EXTRACTION, counted)
    assert (len(again.added), len(again.unchanged), again.refused) == (0, 2, ())
    strict = add_reading(workbench, Side.EXTRACTION, ReaderResult((declare("shop.orders", "1", "other"),)))
    assert "another content" in strict.refused[0].reason
