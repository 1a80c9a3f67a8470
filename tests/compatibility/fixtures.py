"""Fixtures with the kept files of each version, for the tests of all folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compatibility.installed import FOLDER, VERSIONS, Installed, install

_by_version: dict[str, Installed] = {}


@pytest.fixture(params=VERSIONS)
def kept_version(request: pytest.FixtureRequest) -> Path:
    """The folder of a version, which no test writes to."""
    return FOLDER / str(request.param)


@pytest.fixture
def kept(kept_version: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """What a version left, for one test to change."""
    return _found(install(kept_version, tmp_path), monkeypatch)


@pytest.fixture
def looked_at(
    kept_version: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Installed:
    """What a version left, for all tests that only look."""
    name = kept_version.name
    if name not in _by_version:
        _by_version[name] = install(kept_version, tmp_path_factory.mktemp("kept"), ["files.tar.xz", "exports.tar.xz"])
        _found(_by_version[name], monkeypatch).metl("runs", _by_version[name].project)  # takes up what was killed
    return _found(_by_version[name], monkeypatch)


def _found(installed: Installed, monkeypatch: pytest.MonkeyPatch) -> Installed:
    for name, value in installed.environment.items():
        monkeypatch.setenv(name, value)
    return installed
