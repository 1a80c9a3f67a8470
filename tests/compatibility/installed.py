"""Kept files of a version, laid out in a folder of a test."""

from __future__ import annotations

import contextlib
import io
import json
import lzma
import sqlite3
import tarfile
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metl_gui.cli.main import main
from tests.compatibility.placeholders import BROKER, ROOT

FOLDER = Path(__file__).parents[1] / "cases" / "versions"
VERSIONS = tuple(sorted(path.name for path in FOLDER.iterdir())) if FOLDER.is_dir() else ()
"""The versions that files are kept of."""

AS_IT_IS = (".parquet", ".gz", ".crc", ".xlsx")
"""How files end that hold no text."""


class CommandError(Exception):
    """A command did not end as it should."""


@dataclass(frozen=True)
class Installed:
    """What a version left, in a folder of its own.

    Args:
        kept: the folder of the version, which nobody writes to.
        root: where it is laid out.
        broker: what stands for the Kafka servers.
    """

    kept: Path
    root: Path
    broker: str = BROKER

    @property
    def project(self) -> Path:
        """The project file."""
        return self.root / "fx.metl"

    def filled_in(self, text: bytes) -> bytes:
        """Put this folder and these servers where kept text has a placeholder."""
        return text.replace(ROOT.encode(), str(self.root).encode()).replace(BROKER.encode(), self.broker.encode())

    @property
    def environment(self) -> dict[str, str]:
        """The variables that let the program find these files, and know who works with them."""
        return {**folders_in(self.root), "METL_USER": "Ada"}

    def taken_out(self, text: str) -> str:
        """Put placeholders where a text names this folder or these servers."""
        return text.replace(str(self.root), ROOT).replace(self.broker, BROKER)

    def metl(self, *arguments: object, codes: Collection[int] = (0, 3)) -> Any:
        """Run a command in this process and return its document.

        Args:
            arguments: of the command.
            codes: how it may end.

        Raises:
            CommandError: it ended otherwise.
        """
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = main([*map(str, arguments), "--json"])
        if code not in codes:
            raise CommandError(f"metl {' '.join(map(str, arguments))} ended with {code}: {out.getvalue()}")
        return json.loads(out.getvalue())

    def json(self, name: str) -> Any:
        """Read a kept document."""
        return json.loads(self.filled_in((self.kept / name).read_bytes()))


def folders_in(root: Path) -> dict[str, str]:
    """Return the variables that let the program keep everything in a folder."""
    return {f"XDG_{name.upper()}_HOME": str(root / name) for name in ("cache", "data", "config")}


def install(kept: Path, root: Path, archives: Sequence[str] = ("files.tar.xz",), broker: str = BROKER) -> Installed:
    """Lay out what a version left.

    Args:
        kept: the folder of the version.
        root: a folder that is there.
        archives: which files.
        broker: what stands for the Kafka servers.
    """
    installed = Installed(kept, root, broker)
    statements = lzma.decompress((kept / "project.sql.xz").read_bytes())
    write_project(installed.project, installed.filled_in(statements).decode())
    for name in archives:
        with tarfile.open(kept / name) as packed:
            for member in packed.getmembers():
                # As if made now: run folders are kept for some days only.
                packed.extract(member.replace(mtime=time.time(), deep=False), root, filter="data")
            _fill_in(installed, [root / member.name for member in packed.getmembers() if member.isfile()])
    return installed


def _fill_in(installed: Installed, paths: Iterable[Path]) -> None:
    for path in paths:
        if path.name.endswith(AS_IT_IS):
            continue
        before = path.read_bytes()
        after = installed.filled_in(before)
        if after != before:
            path.write_bytes(after)
            # What Spark sums up beside a file holds for what stood there before.
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


def write_project(path: Path, statements: str) -> None:
    """Make a project file from SQL."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(statements)
