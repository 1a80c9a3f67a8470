"""Puts what was made into the folder of a version, with placeholders for this computer."""

from __future__ import annotations

import io
import lzma
import re
import socket
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from metl_gui.store.lease import LeaseHolder
from tests.compatibility.installed import AS_IT_IS
from tests.compatibility.placeholders import BROKER, HOST, MACHINE, ROOT

_IN_THE_PROJECT = "collected"
"""Says in a run folder that the project has its report."""

_HEARTBEAT = re.compile(r'("heartbeat_ms": ?)(\d+)')
_SILENT_MS = 3_600_000
"""A process far away counts as gone only after some time; nobody shall have to wait for that."""

_LEFT_OUT = ("cdm/", "schemas/", "waiting/", "config/", "data/", "long/", "unset.csv")
_PRESET = 9 | lzma.PRESET_EXTREME
_SAMPLES = re.compile(r"cache/[^/]+/samples/")


class Cleaner:
    """Puts placeholders in the place of what names this computer.

    Args:
        root: the folder that everything lies in.
        brokers: the addresses of Kafka servers.
    """

    def __init__(self, root: Path, brokers: Iterable[str] = ()) -> None:
        self.root = str(root)
        self._brokers = tuple(brokers)
        self._host = socket.gethostname()
        self._machine = LeaseHolder.here("nobody").machine

    def cleaned(self, text: str, where: str) -> str:
        """Return a text with placeholders.

        Raises:
            SystemExit: it names this computer in a way that is not known.
        """
        text = text.replace(self.root, ROOT).replace(self._machine, MACHINE)
        for broker in self._brokers:
            text = text.replace(broker, BROKER)
        # It may be named like any word, so only where the program writes the name of a computer.
        text = re.sub(rf"""("host": ?"| on |,'){re.escape(self._host)}(?=["'\s]|$)""", rf"\g<1>{HOST}", text)
        text = _HEARTBEAT.sub(lambda found: f"{found[1]}{int(found[2]) - _SILENT_MS}", text)
        self._check(text, where)
        return text

    def cleaned_bytes(self, content: bytes, where: str) -> bytes:
        """Return the content of a file with placeholders.

        Raises:
            SystemExit: as of ``cleaned``.
        """
        if where.endswith(AS_IT_IS):
            self._check(content.decode("latin-1"), where)
            return content
        return self.cleaned(content.decode("utf-8", "surrogateescape"), where).encode("utf-8", "surrogateescape")

    def _check(self, text: str, where: str) -> None:
        names = [self.root, self._machine.split()[0], *self._brokers]
        if any(name in text for name in names) or re.search(rf"(?<![\w.-]){re.escape(self._host)}(?![\w-])", text):
            raise SystemExit(f"{where} names this computer")


def pack_files(cleaner: Cleaner, root: Path, target: Path, below: str = "") -> None:
    """Write what lies in a folder into one archive.

    Args:
        cleaner: for this folder.
        root: the folder.
        target: the archive.
        below: only what lies in this folder of it, the folder of a run that the kept project does not have.
    """

    def is_wanted(path: Path, name: str) -> bool:
        if not path.is_file() or path.parent == root or (below and path.name == _IN_THE_PROJECT):
            return False
        return not name.startswith(_LEFT_OUT) and not _SAMPLES.match(name)

    found = ((path, path.relative_to(root).as_posix()) for path in sorted((root / below).rglob("*")))
    wanted = [(path, name) for path, name in found if is_wanted(path, name)]
    write_archive(target, {name: cleaner.cleaned_bytes(path.read_bytes(), name) for path, name in wanted})


def write_archive(target: Path, files: Mapping[str, bytes]) -> None:
    """Write files into one archive, which is the same for the same files."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as packed:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o600
            packed.addfile(member, io.BytesIO(content))
    target.write_bytes(lzma.compress(archive.getvalue(), preset=_PRESET))


def write_packed(target: Path, text: str) -> None:
    """Write a text into a file of its own."""
    target.write_bytes(lzma.compress(text.encode(), preset=_PRESET))
