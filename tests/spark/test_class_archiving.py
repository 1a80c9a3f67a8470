"""The archive of Spark's Java classes, made by a real Java and mapped by the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.engine.execution.class_archiving import make
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.spark.class_archive import archive_path, is_ready
from metl_gui.engine.spark.java import find_java
from tests.helpers.killing import below
from tests.spark.conftest import SpecOf, order_record

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def archive() -> Path:
    """The archive that ``metl doctor --fix`` has made, or else is made now."""
    path = archive_path(find_java())
    assert path is not None
    return path if is_ready(find_java()) else make()


def test_a_session_maps_the_archive_and_runs(
    archive: Path, spark: SparkProcess, spec_of: SpecOf, tmp_path: Path
) -> None:
    source = tmp_path / "source.jsonl"
    source.write_bytes(order_record(1) + b"\n")
    assert spark.run(spec_of(source)).read == 1
    assert spark.process_id is not None
    mapped = [
        process for process in below(spark.process_id) if str(archive) in Path(f"/proc/{process}/maps").read_text()
    ]
    assert len(mapped) == 1


def test_the_archive_and_its_folder_are_for_their_owner_alone(archive: Path) -> None:
    assert (archive.stat().st_mode & 0o077, archive.parent.stat().st_mode & 0o077) == (0, 0)
