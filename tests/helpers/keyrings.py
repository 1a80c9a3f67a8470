"""A keyring for tests: it keeps its secrets in memory, or refuses as a locked one does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def keyring_in_memory() -> Iterator[MemoryKeyring]:
    """Put a keyring in the place of the system's for as long as the ``with`` block lasts."""
    before, found = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(found)
    try:
        yield found
    finally:
        keyring.set_keyring(before)
