"""The archive of Spark's Java classes: whose it is, and when it is used."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from metl_gui.engine.spark.class_archive import archive_path, is_ready, java_options
from metl_gui.engine.spark.java import JavaHome


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JavaHome:
    """A Java of this test's own; the archive of every one lies in the test's folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache of mine"))
    home = tmp_path / "java"
    home.mkdir()
    (home / "release").write_text('JAVA_VERSION="17.0.1"\n')
    return JavaHome(home, 17)


def _kept(java: JavaHome) -> Path:
    path = archive_path(java)
    assert path is not None
    return path


def _made(java: JavaHome) -> Path:
    path = _kept(java)
    path.parent.mkdir(parents=True, mode=0o700)
    path.touch()
    return path


def test_spark_starts_without_options_while_there_is_no_archive(java: JavaHome) -> None:
    assert not is_ready(java)
    assert java_options(java) == ""


def test_an_archive_that_is_there_is_named_in_one_word_whatever_its_folder_is_called(java: JavaHome) -> None:
    path = _made(java)
    assert is_ready(java)
    assert shlex.split(java_options(java))[0] == f"-XX:SharedArchiveFile={path}"


def test_an_archive_that_others_could_have_put_there_is_not_used(java: JavaHome) -> None:
    path = _made(java)
    path.parent.chmod(0o777)
    assert not is_ready(java)
    assert java_options(java) == ""


def test_a_java_that_was_renewed_has_another_archive(java: JavaHome) -> None:
    before = _kept(java)
    (java.path / "release").write_text('JAVA_VERSION="17.0.2"\n')
    assert _kept(java) != before
