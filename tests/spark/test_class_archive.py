"""The archive of Spark's Java classes, made by a real Java and mapped by the next one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.spark.class_archive import archive_folder, archive_key, archive_name, find_archive
from metl_gui.engine.spark.java import find_java
from tests.helpers.killing import below, module
from tests.spark.conftest import SpecOf, order_record

pytestmark = pytest.mark.spark


_HEAD_BYTES = 20_000_000
"""So much of an archive has all that Java checks, and not all that it maps."""


@pytest.fixture(scope="module")
def archive() -> Path:
    """The archive that `metl doctor --fix` made on this computer; where it did not, one is made as it does."""
    found = find_archive(find_java())
    if found is None:
        command = [sys.executable, "-m", module("metl_gui.engine.execution.class_archive_builder")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found = find_archive(find_java())
    assert found is not None
    return found


@pytest.fixture
def own_archive(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same archive as the only one of a cache folder of the test's own."""
    monkeypatch.setenv("METL_JAVA_CLASSES", str(tmp_path / "cache"))
    archive_folder().mkdir(mode=0o700)
    return Path(shutil.copy2(archive, archive_folder()))


def _maps(spark: SparkProcess, archive: Path) -> bool:
    """Whether a process of the session has mapped an archive."""
    assert spark.process_id is not None
    return any(str(archive) in Path(f"/proc/{process}/maps").read_text() for process in below(spark.process_id))


def test_an_archive_is_for_its_owner_alone_mapped_and_removed_when_java_does_not_live_with_it(
    archive: Path, own_archive: Path, spec_of: SpecOf, tmp_path: Path
) -> None:
    source = tmp_path / "source.jsonl"
    source.write_bytes(order_record(1) + b"\n")
    assert (archive.stat().st_mode & 0o077, archive.parent.stat().st_mode & 0o077) == (0, 0)
    with SparkProcess("local[2]") as spark:
        assert spark.run(spec_of(source, folder=str(tmp_path / "one"), sink=str(tmp_path / "out-one"))).read == 1
        assert _maps(spark, own_archive)

    spoilt = archive_folder() / archive_name(archive_key(find_java()), _HEAD_BYTES)
    spoilt.write_bytes(own_archive.read_bytes()[:_HEAD_BYTES])
    own_archive.unlink()
    with SparkProcess("local[2]") as spark:
        assert spark.run(spec_of(source, folder=str(tmp_path / "two"), sink=str(tmp_path / "out-two"))).read == 1
    assert not spoilt.exists()
