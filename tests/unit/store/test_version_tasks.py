"""Tasks for versions that messages showed, as the project file keeps them from run to run."""

from __future__ import annotations

from pathlib import Path

from metl_gui.core.project.version_tasks import VersionTask, seen_of
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.workbench.session import Workbench


def task(letters: str) -> VersionTask:
    shape = tuple(AttributeDeclaration(letter, "string", optional=False) for letter in letters)
    declared = VersionDeclaration("s", shape, inferred=True)
    return VersionTask(0, "s", seen_of(declared), declared)


def test_tasks_that_turn_out_to_be_of_one_version_are_one_and_the_other_is_gone_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "fx.metl"
    with Workbench.create(path, who="ada") as workbench:
        tasks, stamp = workbench.kept.version_tasks, workbench.stamp()
        tasks.collect([task("abx"), task("aby")], stamp)
        assert len(tasks.all()) == 2
        tasks.collect([task("abxy")], stamp)
    with Workbench.open(path, who="ada") as workbench:
        (found,) = workbench.kept.version_tasks.all()
    assert [attribute.path for attribute in found.declaration.attributes] == ["a", "b", "x", "y"]
