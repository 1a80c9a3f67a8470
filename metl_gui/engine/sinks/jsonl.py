"""Write what one task makes: JSON lines, one part in each folder.

Parts carry the task and its attempt in their names, so a second attempt never touches what a first one left.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

_FLUSH_BYTES = 8 << 20


class JsonlParts:
    """The parts of one task attempt.

    Args:
        name: the name of the parts, without suffix.
        made: folders that are there already; when they are gone, the run was cancelled and they must not come back.

    Files are opened only to append what has gathered, so any number of folders needs one open file.
    """

    def __init__(self, name: str, made: Collection[Path] = ()) -> None:
        self.made = made
        self.name = f"{name}.jsonl"
        self._written: dict[Path, None] = {}
        self._waiting: dict[Path, list[bytes]] = {}
        self._waiting_bytes = 0

    def append(self, folder: Path, lines: list[bytes]) -> None:
        """Take lines for the part in a folder."""
        self._waiting.setdefault(folder, []).extend(lines)
        self._waiting_bytes += sum(map(len, lines))
        if self._waiting_bytes >= _FLUSH_BYTES:
            self._flush()

    def close(self) -> list[str]:
        """Write what is left and return the paths of all parts."""
        self._flush()
        return [str(path) for path in self._written]

    def _flush(self) -> None:
        for folder, lines in self._waiting.items():
            path = folder / self.name
            if path not in self._written:
                if folder not in self.made:
                    folder.mkdir(exist_ok=True)
                self._written[path] = None
            with path.open("ab") as file:
                file.write(b"\n".join(lines) + b"\n")
        self._waiting.clear()
        self._waiting_bytes = 0
