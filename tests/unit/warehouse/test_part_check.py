"""Loads take up what tasks said they wrote, whole, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from metl_gui.core.dimensional.loads.staged_parts import StagedPart
from metl_gui.engine.staging.part_marks import keep_marks, kept_marks, marks_of, place_of
from metl_gui.engine.staging.sink import part_at, staged_parts
from metl_gui.warehouse.loader import Loader
from metl_gui.warehouse.part_check import StagedPartError, check_bytes
from metl_gui.warehouse.target_model import Owner
from tests.unit.warehouse.conftest import NewTarget
from tests.unit.warehouse.test_read_progress import person
from tests.unit.warehouse.worlds import model_of, part, person_dimension


@pytest.fixture
def staged(tmp_path: Path) -> StagedPart:
    folder = tmp_path / "out" / "person"
    folder.mkdir(parents=True)
    path = part(folder, "person", [person(1), person(2)]).path
    return part_at(path, marks_of([path])[path])


def load(new_target: NewTarget, folder: Path, one: StagedPart) -> int:
    loader = Loader(target := new_target(folder), model_of(person_dimension())[1], Owner(project="w", mode="test"))
    try:
        return loader.load([one], "load").appended
    finally:
        assert target.has_table("metl_loads") == (loader.report.appended > 0)


def test_a_part_that_is_as_its_task_wrote_it_is_loaded(
    new_target: NewTarget, tmp_path: Path, staged: StagedPart
) -> None:
    assert staged.checksum is not None
    assert load(new_target, tmp_path, staged) == 2


def test_a_part_that_another_attempt_overwrote_is_refused_and_nothing_is_kept(
    new_target: NewTarget, tmp_path: Path, staged: StagedPart
) -> None:
    other = part(tmp_path, "person", [person(3), person(4)])
    Path(other.path).replace(staged.path)
    with pytest.raises(StagedPartError, match="damaged"):
        load(new_target, tmp_path, staged)


def test_a_part_that_is_damaged_after_it_was_looked_at_is_told_by_its_path(
    new_target: NewTarget, tmp_path: Path, staged: StagedPart, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Sequence[StagedPart]] = []

    def damage(parts: Sequence[StagedPart]) -> None:
        check_bytes(parts)
        if not looked:
            Path(staged.path).write_bytes(Path(staged.path).read_bytes()[:-9])
        looked.append(parts)

    monkeypatch.setattr("metl_gui.warehouse.loader.check_bytes", damage)
    with pytest.raises(StagedPartError, match="damaged"):
        load(new_target, tmp_path, staged)


def test_rows_that_are_missing_in_the_target_are_refused(
    new_target: NewTarget, tmp_path: Path, staged: StagedPart
) -> None:
    with pytest.raises(StagedPartError, match="wrote 3 messages of person, 2 came in"):
        load(new_target, tmp_path, msgspec.structs.replace(staged, rows=3))


def test_a_part_that_is_gone_is_told_by_its_path(new_target: NewTarget, tmp_path: Path, staged: StagedPart) -> None:
    Path(staged.path).unlink()
    with pytest.raises(StagedPartError, match="cannot be read"):
        load(new_target, tmp_path, staged)


def test_what_tasks_said_stays_with_parts_that_are_moved(tmp_path: Path, staged: StagedPart) -> None:
    marks = marks_of([staged.path])
    keep_marks(tmp_path / "out", marks)
    (tmp_path / "out").rename(tmp_path / "moved")
    moved = str(tmp_path / "moved" / place_of(staged.path))
    assert kept_marks(tmp_path / "moved") == {place_of(staged.path): marks[staged.path]}
    assert staged_parts(tmp_path / "moved") == (msgspec.structs.replace(staged, path=moved),)
    assert kept_marks(tmp_path) == {}
