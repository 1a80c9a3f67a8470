"""The archives of Kafka's and Connect's Java classes, made by a real Java and mapped by the next one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from metl_gui.engine.spark.class_archive import archive_folder, archive_name, archive_of
from metl_gui.stack.connect import ConnectWorker
from metl_gui.stack.java_server import JavaServer
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.stack.server_archives import has_archives, make_archives
from metl_gui.workbench.live import archive_server_classes

pytestmark = pytest.mark.live

_HEAD_BYTES = 8_000_000
"""So much of an archive has all that Java checks, and not all that it maps."""


def _maps(server: JavaServer) -> bool:
    archive = archive_of(server.archive_key)
    assert archive is not None
    return any(str(archive) in Path(f"/proc/{each}/maps").read_text() for each in server.process_ids)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the archives that `metl doctor --live --fix` made; where it did not, they are made as it does."""
    if not has_archives():
        make_archives()
        assert has_archives()
    folder = tmp_path_factory.mktemp("archives")
    broker = KafkaBroker()
    for server in (broker, ConnectWorker(broker)):
        archive = archive_of(server.archive_key)
        assert archive is not None
        shutil.copy2(archive, folder)
    return folder


@pytest.fixture
def own_archives(archives: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("METL_JAVA_CLASSES", str(tmp_path / "cache"))
    return Path(shutil.copytree(archives, archive_folder()))


def test_servers_map_their_archives_which_are_made_once_for_their_owner_alone(own_archives: Path) -> None:
    assert [path.stat().st_mode & 0o077 for path in (own_archives, *own_archives.iterdir())] == [0, 0, 0]
    told: list[str] = []
    assert not archive_server_classes(told.append)
    assert told == []
    with KafkaBroker() as broker, ConnectWorker(broker) as worker:
        assert _maps(broker)
        assert _maps(worker)


@pytest.mark.usefixtures("own_archives")
def test_a_broker_starts_without_an_archive_that_java_does_not_live_with_and_removes_it() -> None:
    broker = KafkaBroker()
    archive = archive_of(broker.archive_key)
    assert archive is not None
    os.truncate(archive, _HEAD_BYTES)
    broken = archive.rename(archive.parent / archive_name(broker.archive_key, _HEAD_BYTES))
    with broker:
        assert broker.is_alive
        assert not broken.exists()
