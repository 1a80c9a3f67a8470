"""The commands of the present program, in folders of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tests.compatibility.installed import folders_in
from tests.helpers.machine_code import kernel_cache

REPOSITORY = Path(__file__).parents[3]
SPARK = "local[2]"


class Program:
    """``metl`` with everything that it keeps in one folder.

    Args:
        root: the folder; commands run in it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "fx.metl"
        self.environment = {
            **os.environ,
            **folders_in(root),
            **kernel_cache(),
            "METL_USER": "Ada",
            "PYTHONPATH": str(REPOSITORY),
            "QT_QPA_PLATFORM": "offscreen",
            "TZ": "UTC",
        }

    def metl(self, *arguments: object, codes: Collection[int] = (0,)) -> Any:
        """Run a command to its end and return its document.

        Args:
            arguments: of the command.
            codes: how it may end.

        Raises:
            SystemExit: it ended otherwise.
        """
        done = subprocess.run(
            self._command(*arguments, "--json"),
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in codes:
            raise SystemExit(f"metl {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def started(self, *arguments: object, **variables: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
        """Start a command that somebody stops or kills."""
        return subprocess.Popen(
            self._command(*arguments),
            cwd=self.root,
            env=self.environment | variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @staticmethod
    def _command(*arguments: object) -> list[str]:
        return [sys.executable, "-m", "metl_gui.cli.main", *map(str, arguments)]
