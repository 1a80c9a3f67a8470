from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui import packaged
from metl_gui.errors import SetupError


def test_the_sample_and_the_themes_are_found() -> None:
    assert (packaged.sample_projects() / "fx" / "README.md").is_file()
    assert (packaged.resources() / "themes").is_dir()


def test_inside_a_wheel_the_package_holds_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inside = tmp_path / "metl_gui"
    (inside / "resources").mkdir(parents=True)
    (tmp_path / "resources").mkdir()
    monkeypatch.setattr(packaged, "_PACKAGE", inside)
    assert packaged.resources() == inside / "resources"


def test_an_installation_without_them_says_how_to_mend_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(packaged, "_PACKAGE", tmp_path / "metl_gui")
    with pytest.raises(SetupError, match="sample_projects") as raised:
        packaged.sample_projects()
    assert "pip install" in raised.value.hint
