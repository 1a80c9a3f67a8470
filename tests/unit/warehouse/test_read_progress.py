"""How far a followed source is in a target: kept with the load, and held against who comes second."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.dimensional.loads.read_progress import ReadProgress
from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.warehouse.databases.target import TargetError, WarehouseTarget
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.plans.shapes.table_shapes import TableShapes
from metl_gui.warehouse.plans.statements import Step
from metl_gui.warehouse.read_progress import OvertakenError, stored_progress
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.worlds import at, model_of, part, person_dimension

SOURCE = "kafka://shop:9092/customers"
OWNER = Owner(project="world", mode="test")


@pytest.fixture
def tables() -> TableShapes:
    return model_of(person_dimension())[1]


def person(number: int) -> Message:
    return Message(
        schema="a",
        row_key=f'{{"id":{number}}}',
        order_key=f"{number:04}",
        op="c",
        values={"id": number, "city": "Kiel", "mood": "x", "nick": "m", "since": None},
        position=Position("log", 0, number),
        committed_at=at(number),
        seen_at=at(number),
    )


def load(target: WarehouseTarget, tables: TableShapes, folder: Path, number: int, progress: ReadProgress) -> None:
    parts = [part(folder, "person", [person(number)])]
    Loader(target, tables, OWNER).load(parts, f"load {number}", progress=progress)


def persons(target: WarehouseTarget) -> list[int]:
    return [int(row[0]) for row in target.rows("SELECT id FROM metl_history_person ORDER BY id")]


def test_a_load_begins_where_the_one_before_it_ended(
    new_target: NewTarget, tables: TableShapes, tmp_path: Path
) -> None:
    target = new_target(tmp_path)
    assert stored_progress(target, SOURCE) == ReadProgress(SOURCE)
    load(target, tables, tmp_path, 1, ReadProgress(SOURCE, "", {"customers/0": "one", "it's": '"two"'}))
    load(target, tables, tmp_path, 2, ReadProgress(SOURCE, "load 1", {"customers/0": "three"}))
    assert stored_progress(target, SOURCE) == ReadProgress(SOURCE, "load 2", {"customers/0": "three", "it's": '"two"'})
    assert stored_progress(target, "elsewhere") == ReadProgress("elsewhere")
    assert persons(target) == [1, 2]


def test_who_comes_second_is_refused_and_leaves_nothing(
    new_target: NewTarget, tables: TableShapes, tmp_path: Path
) -> None:
    target = new_target(tmp_path)
    load(target, tables, tmp_path, 1, ReadProgress(SOURCE, "", {"customers/0": "one"}))
    with pytest.raises(OvertakenError, match="Another loader"):
        load(target, tables, tmp_path, 2, ReadProgress(SOURCE, "", {"customers/0": "two"}))
    assert stored_progress(target, SOURCE) == ReadProgress(SOURCE, "load 1", {"customers/0": "one"})
    assert persons(target) == [1]
    # Of another source it says nothing.
    load(target, tables, tmp_path, 3, ReadProgress("elsewhere", "", {}))
    assert persons(target) == [1, 3]


def test_a_load_that_is_broken_off_between_two_steps_got_nowhere(
    new_target: NewTarget, tables: TableShapes, tmp_path: Path
) -> None:
    target = new_target(tmp_path)
    load(target, tables, tmp_path, 1, ReadProgress(SOURCE, "", {"customers/0": "one"}))

    def stop(step: Step, _rows: int) -> None:
        if step.table == "person":
            raise TargetError("Stopped")

    parts = [part(tmp_path, "person", [person(2)])]
    progress = ReadProgress(SOURCE, "load 1", {"customers/0": "two"})
    with pytest.raises(TargetError, match="Stopped"):
        Loader(target, tables, OWNER, stop).load(parts, "load 2", progress=progress)
    assert stored_progress(target, SOURCE) == ReadProgress(SOURCE, "load 1", {"customers/0": "one"})
    load(target, tables, tmp_path, 2, progress)
    assert persons(target) == [1, 2]


def test_thousands_of_files_are_kept_some_at_a_time(new_target: NewTarget, tables: TableShapes, tmp_path: Path) -> None:
    target = new_target(tmp_path)
    places = {f"day {number}.jsonl": str(number) for number in range(1_001)}
    load(target, tables, tmp_path, 1, ReadProgress("folder", "", places))
    assert stored_progress(target, "folder").places == places
