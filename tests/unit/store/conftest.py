"""A project file to edit, and the world that it is edited through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.store.project_file import ProjectFile
from tests.unit.store.editing import Editing


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "fx.metl"


@pytest.fixture
def editing(path: Path) -> Iterator[Editing]:
    with ProjectFile.create(path, "ada") as project:
        yield Editing(project)
