"""Write what one task makes: messages by entity, set-aside records by reason, one JSON object a line.

Parts carry the task and its attempt in their names, so a second attempt never touches what a first one left.
"""

from __future__ import annotations

from pathlib import Path

from metl_gui.engine.sinks.names import folder_name

_FLUSH_BYTES = 8 << 20


class JsonlParts:
    """The parts of one task attempt.

    Args:
        messages: the folder for entities, None to drop the messages (``noop``).
        errors: the folder for ``reason=<code>`` folders.
        part: the name of the parts, without suffix.

    Files are opened only to append what has gathered, so any number of entities needs few open files.
    """

    def __init__(self, messages: Path | None, errors: Path, part: str) -> None:
        self.messages = messages
        self.errors = errors
        self.part = f"{part}.jsonl"
        self.written: list[str] = []
        self._waiting: dict[Path, list[bytes]] = {}
        self._bytes = 0

    def send(self, entity: str, lines: list[bytes], size_bytes: int) -> None:
        """Take messages of an entity."""
        if self.messages is not None:
            self._keep(self.messages / folder_name(entity), lines, size_bytes)

    def set_aside(self, reason: str, lines: list[bytes], size_bytes: int) -> None:
        """Take set-aside records of a reason."""
        self._keep(self.errors / f"reason={reason}", lines, size_bytes)

    def close(self) -> list[str]:
        """Write what is left and return the paths of all parts."""
        self._flush()
        return self.written

    def _keep(self, folder: Path, lines: list[bytes], size_bytes: int) -> None:
        self._waiting.setdefault(folder, []).extend(lines)
        self._bytes += size_bytes
        if self._bytes >= _FLUSH_BYTES:
            self._flush()

    def _flush(self) -> None:
        for folder, lines in self._waiting.items():
            path = folder / self.part
            if str(path) not in self.written:
                # Not the parents: when the run was cancelled its folder is gone and must not come back.
                folder.mkdir(exist_ok=True)
                self.written.append(str(path))
            with path.open("ab") as file:
                file.write(b"\n".join(lines) + b"\n")
        self._waiting.clear()
        self._bytes = 0
