"""The archive of Spark's Java classes: whose it is, and when it is used."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from metl_gui.engine.execution import class_archive_builder
from metl_gui.engine.spark.class_archive import (
    archive_folder,
    archive_key,
    archive_name,
    archive_options,
    find_archive,
    make_archive,
    program_key,
)
from metl_gui.engine.spark.java import JavaHome
from metl_gui.errors import SetupError


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JavaHome:
    """A Java of this test's own; the archive of every one lies in the test's folder."""
    monkeypatch.setenv("METL_JAVA_CLASSES", str(tmp_path / "cache of mine"))
    home = tmp_path / "java"
    home.mkdir()
    (home / "release").write_text('JAVA_VERSION="17.0.1"\n')
    return JavaHome(home, 17)


def _made(java: JavaHome) -> Path:
    path = archive_folder() / archive_name(archive_key(java), 4)
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(b"jsa.")
    return path


def test_archives_lie_in_the_cache_unless_a_folder_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("METL_JAVA_CLASSES", str(tmp_path / "named"))
    assert archive_folder() == tmp_path / "named"
    monkeypatch.delenv("METL_JAVA_CLASSES")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert archive_folder().is_relative_to(tmp_path / "cache")


def test_spark_starts_without_options_while_there_is_no_archive(java: JavaHome) -> None:
    assert find_archive(java) is None
    assert archive_options(None) == ""


def test_an_archive_that_is_there_is_named_in_one_word_whatever_its_folder_is_called(java: JavaHome) -> None:
    path = _made(java)
    assert find_archive(java) == path
    assert shlex.split(archive_options(path))[0] == f"-XX:SharedArchiveFile={path}"


def test_a_name_that_cannot_be_quoted_is_not_given_to_java(tmp_path: Path) -> None:
    assert archive_options(tmp_path / 'a"b' / "x.jsa") == ""


def test_an_archive_that_others_could_have_put_there_is_not_used(java: JavaHome) -> None:
    _made(java).parent.chmod(0o777)
    assert find_archive(java) is None


def test_an_archive_that_was_cut_short_is_not_used(java: JavaHome) -> None:
    path = _made(java)
    path.write_bytes(b"jsa")
    assert find_archive(java) is None


def test_a_link_is_no_archive(java: JavaHome, tmp_path: Path) -> None:
    path = _made(java)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert find_archive(java) is None


def test_a_java_that_was_renewed_has_another_archive(java: JavaHome) -> None:
    before = archive_key(java)
    (java.path / "release").write_text('JAVA_VERSION="17.0.12"\n')
    assert archive_key(java) != before


def test_one_java_under_two_names_has_one_archive(java: JavaHome, tmp_path: Path) -> None:
    (tmp_path / "default-java").symlink_to(java.path)
    assert archive_key(JavaHome(tmp_path / "default-java", 17)) == archive_key(java)


def test_the_spark_that_is_named_has_an_archive_of_its_own(
    java: JavaHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = archive_key(java)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    assert archive_key(java) != before


def test_an_archive_that_is_made_anew_takes_the_place_of_all_others_of_its_java(
    java: JavaHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = _made(java)

    def write(path: Path) -> None:
        path.write_bytes(b"longer")

    monkeypatch.setattr(class_archive_builder, "find_java", lambda: java)
    monkeypatch.setattr(class_archive_builder, "_write", write)  # tests/spark has Java write one
    made = class_archive_builder.make()
    assert (made, made.read_bytes(), old.exists()) == (find_archive(java), b"longer", False)
    assert list(archive_folder().iterdir()) == [made]


def test_programs_of_the_same_jars_have_archives_of_their_own(java: JavaHome, tmp_path: Path) -> None:
    keys = {program_key(java, tmp_path, main) for main in ("", "kafka.Kafka", "org.apache.kafka.connect.Connect")}
    assert len(keys) == 3


@pytest.mark.usefixtures("java")
def test_a_java_that_writes_nothing_leaves_nothing() -> None:
    with pytest.raises(SetupError, match="wrote no archive"):
        make_archive("k", lambda _path: None)
    assert list(archive_folder().iterdir()) == []
