"""Keyrings for tests: one keeps its secrets in memory, or refuses as a locked one does; one is there for programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import keyring
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError


class MemoryKeyring(KeyringBackend):
    """Keeps secrets by service and name."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # keyring leaves it without annotations
        self.kept: dict[tuple[str, str], str] = {}
        self.is_locked = False

    def get_password(self, service: str, username: str) -> str | None:
        """Return a secret."""
        self._look()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a secret."""
        self._look()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        """Forget a secret."""
        self._look()
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("it is not there")

    def _look(self) -> None:
        if self.is_locked:
            raise KeyringLocked("Failed to unlock the collection!")


class FileKeyring(MemoryKeyring):
    """Keeps secrets in the file that ``FILE_VARIABLE`` names, for programs that a test starts one after the other.

    They take it where ``PYTHON_KEYRING_BACKEND`` names it.
    """

    FILE_VARIABLE = "METL_TEST_KEYRING"

    def __init__(self) -> None:
        super().__init__()
        self._path = Path(os.environ.get(self.FILE_VARIABLE, os.devnull))
        if self._path.is_file():
            self.kept = {(service, name): text for service, name, text in json.loads(self._path.read_text())}

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a secret."""
        super().set_password(service, username, password)
        self._path.write_text(json.dumps([(*place, text) for place, text in self.kept.items()]))


@contextmanager
def keyring_in_memory() -> Iterator[MemoryKeyring]:
    """Put a keyring in the place of the system's for as long as the ``with`` block lasts."""
    before, found = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(found)
    try:
        yield found
    finally:
        keyring.set_keyring(before)
