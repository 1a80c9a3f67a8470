"""Lines of a mapping table that hold for several versions.

Source: docs/reference/mapping-csv.md, "Several versions".
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from metl_gui.core.counted import number_of
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.mapping.table import MapMode, MapResult, import_mapping
from metl_gui.workbench.review.decisions import retire
from metl_gui.workbench.session import Workbench
from tests.helpers.world import World, declare

from .conftest import write_table

Pairs = set[tuple[str, str]]


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., Workbench]:
    """Return what makes a project of the schema ``s`` with versions of these paths, and the entity ``be``."""

    def open_(*versions: tuple[str, ...], labels: tuple[str, ...] = ()) -> Workbench:
        workbench = Workbench.create(tmp_path / "project.metl")
        for number, paths in enumerate(versions, 1):
            label = labels[number - 1] if labels else str(number)
            workbench.do(AddVersion(Side.EXTRACTION, declare("s", (*paths, f"of{number}"), label)))
        workbench.do(AddVersion(Side.CDM, declare("be", ("a", "b", "c"), "1")))
        return workbench

    return open_


def world_of(workbench: Workbench) -> World:
    world = World()
    world.document = workbench.document
    return world


def pairs(workbench: Workbench, *labels: str) -> list[Pairs]:
    """Return what is mapped in versions: (target, source)."""
    world = world_of(workbench)
    return [world.pairs(f"s@{label}:be@1") for label in labels]


def left(result: MapResult) -> list[tuple[int, str, str]]:
    return [(one.line, str(one.block), one.reason) for one in result.left]


@pytest.mark.parametrize(
    ("text", "mapped"), [("*", "1234"), ("2..3", "23"), ("3..", "34"), ("..2", "12"), (" 2 .. 2 ", "2")]
)
def test_a_range_holds_for_its_versions(
    opened: Callable[..., Workbench], tmp_path: Path, text: str, mapped: str
) -> None:
    workbench = opened(("a",), ("a",), ("a",), ("a",))
    result = import_mapping(workbench, write_table(tmp_path, f"s,{text},a,be,1,b"))
    assert (result.set, result.conflicts, result.left) == (len(mapped), (), ())
    assert [bool(found) for found in pairs(workbench, *"1234")] == [label in mapped for label in "1234"]
    assert workbench.undo_title() == f"Map {number_of(len(mapped), 'element')} from mapping.csv"


def test_the_lineage_is_that_of_the_path_in_the_newest_version_that_has_it(
    opened: Callable[..., Workbench], tmp_path: Path
) -> None:
    workbench = opened(("old",), ("new=old",), ("b",))
    import_mapping(workbench, write_table(tmp_path, "s,*,new,be,1,a"))
    assert pairs(workbench, *"123") == [{("a", "old")}, {("a", "new")}, set()]


def test_every_line_holds_for_all_versions_and_its_own_says_which_lineage(
    opened: Callable[..., Workbench], tmp_path: Path
) -> None:
    workbench = opened(("a", "b"), ("b=a", "a=b"), ("b", "a"))
    result = import_mapping(workbench, write_table(tmp_path, "s,1,a,be,1,c"), all_versions=True)
    assert (result.set, result.conflicts) == (3, ())
    assert pairs(workbench, *"123") == [{("c", "a")}, {("c", "b")}, {("c", "b")}]


def test_of_lines_for_all_versions_each_is_followed_in_its_own_first(
    opened: Callable[..., Workbench], tmp_path: Path
) -> None:
    workbench = opened(("a", "b"), ("a", "b"), ("a", "b"))
    table = write_table(tmp_path, "s,1,a,be,1,a", "s,2,b,be,1,a")
    result = import_mapping(workbench, table, all_versions=True)
    assert pairs(workbench, *"123") == [{("a", "a")}, {("a", "b")}, {("a", "a")}]
    assert left(result) == [
        (2, "s@2:be@1", "an end is taken"),
        (3, "s@1:be@1", "an end is taken"),
        (3, "s@3:be@1", "an end is taken"),
    ]


def test_a_literal_label_wins_even_where_it_looks_like_a_range(
    opened: Callable[..., Workbench], tmp_path: Path
) -> None:
    workbench = opened(("a",), ("a",), ("a",), labels=("1", "1..3", "3"))
    import_mapping(workbench, write_table(tmp_path, "s,1..3,a,be,1,a"))
    assert pairs(workbench, "1", "1..3", "3") == [set(), {("a", "a")}, set()]


def test_labels_with_dots_are_ends_of_ranges(opened: Callable[..., Workbench], tmp_path: Path) -> None:
    workbench = opened(("a",), ("a",), ("a",), labels=("1.0.0", "v..2", "3.0"))
    import_mapping(workbench, write_table(tmp_path, "s,v..2..3.0,a,be,1,a"))
    assert pairs(workbench, "1.0.0", "v..2", "3.0") == [set(), {("a", "a")}, {("a", "a")}]


def test_lines_that_name_a_version_come_first_and_what_they_took_is_left(
    opened: Callable[..., Workbench], tmp_path: Path
) -> None:
    workbench = opened(("a:boolean", "b"), ("a", "b"), ("a", "b"))
    table = write_table(tmp_path, "s,*,a,be,1,a", "s,2,b,be,1,a", "s,*,b,be,1,b")
    result = import_mapping(workbench, table)
    assert pairs(workbench, *"123") == [{("b", "b")}, {("a", "b")}, {("a", "a"), ("b", "b")}]
    assert result.conflicts == ()
    assert left(result) == [
        (2, "s@1:be@1", "the types differ"),
        (2, "s@2:be@1", "an end is taken"),
        (4, "s@2:be@1", "an end is taken"),
    ]
    assert result.set == 4


def test_of_two_ranges_the_earlier_line_wins(opened: Callable[..., Workbench], tmp_path: Path) -> None:
    workbench = opened(("a", "b"), ("b",))
    result = import_mapping(workbench, write_table(tmp_path, "s,*,a,be,1,a", "s,*,b,be,1,a", "s,*,a,be,1,a"))
    assert pairs(workbench, *"12") == [{("a", "a")}, {("a", "b")}]
    assert left(result) == [(3, "s@1:be@1", "an end is taken")]
    assert result.unchanged == 1


def test_a_retired_block_is_left(opened: Callable[..., Workbench], tmp_path: Path) -> None:
    workbench = opened(("a",), ("a",))
    import_mapping(workbench, write_table(tmp_path, "s,1,a,be,1,a"))
    retire(workbench, "s@1:be@1")
    result = import_mapping(workbench, write_table(tmp_path, "s,*,a,be,1,a"))
    assert left(result) == [(2, "s@1:be@1", "the block is retired")]
    assert pairs(workbench, *"12") == [set(), {("a", "a")}]


def test_a_status_of_a_range_leaves_its_blocks_unconfirmed(opened: Callable[..., Workbench], tmp_path: Path) -> None:
    workbench = opened(("a",), ("a",))
    table = tmp_path / "mapping.csv"
    table.write_text(
        "schema,schema_version,attribute,entity,entity_version,cdm_attribute,status\ns,*,a,be,1,a,unconfirmed\n",
        "utf-8",
    )
    import_mapping(workbench, table)
    world = world_of(workbench)
    assert {world.block(f"s@{label}:be@1").status for label in "12"} == {Status.UNCONFIRMED}


def test_a_status_of_a_range_holds_beside_a_line_of_the_version(
    opened: Callable[..., Workbench], tmp_path: Path
) -> None:
    workbench = opened(("a", "b"))
    table = tmp_path / "mapping.csv"
    table.write_text(
        "schema,schema_version,attribute,entity,entity_version,cdm_attribute,status\n"
        "s,1,a,be,1,a,\ns,*,b,be,1,b,unconfirmed\n",
        "utf-8",
    )
    import_mapping(workbench, table)
    assert pairs(workbench, "1") == [{("a", "a"), ("b", "b")}]
    assert world_of(workbench).block("s@1:be@1").status is Status.UNCONFIRMED


def test_a_block_waits_no_more_once_a_range_maps_its_loss_beside_a_line_that_brings_a_comment(
    opened: Callable[..., Workbench], tmp_path: Path
) -> None:
    workbench = opened(("a", "b"))
    import_mapping(workbench, write_table(tmp_path, "s,1,a,be,1,a", "s,1,b,be,1,b"))
    workbench.do(AddVersion(Side.EXTRACTION, declare("s", ("a", "other"), "2")))
    assert world_of(workbench).block("s@2:be@1").status is Status.NEEDS_REVIEW
    table = tmp_path / "mapping.csv"
    table.write_text(
        "schema,schema_version,attribute,entity,entity_version,cdm_attribute,comment\n"
        "s,2,a,be,1,a,ask Ann\ns,*,other,be,1,b,\n",
        "utf-8",
    )
    import_mapping(workbench, table)
    block = world_of(workbench).block("s@2:be@1")
    assert (block.status, block.comment, block.open_losses) == (Status.CONFIRMED, "ask Ann", ())


@pytest.mark.parametrize("last", ["s,3,second,be,1,b", "s,3..,second,be,1,b"])
def test_a_loss_is_answered_in_each_version_as_the_table_says(
    opened: Callable[..., Workbench], tmp_path: Path, last: str
) -> None:
    workbench = opened(("a",))
    import_mapping(workbench, write_table(tmp_path, "s,1,a,be,1,b"))
    for label in "23":  # what is mapped in 2 answers the loss that 3 has from it, too, where the end is free
        workbench.do(AddVersion(Side.EXTRACTION, declare("s", ("first", "second", f"of{label}"), label)))
    result = import_mapping(workbench, write_table(tmp_path, "s,2,first,be,1,b", last))
    assert (result.conflicts, result.set) == ((), 2)
    assert pairs(workbench, *"23") == [{("b", "first")}, {("b", "second")}]
    workbench.undo()
    assert pairs(workbench, *"23") == [set(), set()]


def test_unset_clears_a_range_and_leaves_other_elements(opened: Callable[..., Workbench], tmp_path: Path) -> None:
    workbench = opened(("a", "b"), ("a", "b"))
    import_mapping(workbench, write_table(tmp_path, "s,*,a,be,1,a", "s,*,b,be,1,b"))
    result = import_mapping(workbench, write_table(tmp_path, "s,2..,a,be,1,a"), MapMode.UNSET)
    assert (result.set, result.left) == (1, ())
    assert pairs(workbench, *"12") == [{("a", "a"), ("b", "b")}, {("b", "b")}]


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("1..7", "a", "has no version '7'"),
        ("7..", "a", "has no version '7'"),
        ("2..1", "a", "ends before it begins"),
        ("..", "a", "has no versions '..'"),
        ("*", "none", "has no attribute"),
        ("7", "a", "has no version '7'"),
    ],
)
def test_a_range_that_cannot_be_followed_is_a_conflict_with_its_line(
    opened: Callable[..., Workbench], tmp_path: Path, text: str, path: str, reason: str
) -> None:
    workbench = opened(("a",), ("a",))
    result = import_mapping(workbench, write_table(tmp_path, "s,1,a,be,1,a", f"s,{text},{path},be,1,b"))
    assert [conflict.line for conflict in result.conflicts] == [3]
    assert reason in result.conflicts[0].reason
    assert pairs(workbench, "1") == [set()]


def test_a_range_replaces_no_blocks(opened: Callable[..., Workbench], tmp_path: Path) -> None:
    workbench = opened(("a",))
    result = import_mapping(workbench, write_table(tmp_path, "s,*,a,be,1,a"), MapMode.REPLACE)
    assert "cannot replace" in result.conflicts[0].reason
    assert pairs(workbench, "1") == [set()]
