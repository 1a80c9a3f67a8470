"""Parsed JSON that is asked for what must be there, and says where something else stands instead.

A place is written as in ``blocks[3].elements[0].from``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from metl_gui.errors import SchemaError

_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a whole number"}


class Checked:
    """A parsed value at its place; every question is refused with that place where the value does not fit.

    Args:
        value: what ``json.loads`` gave.
        parent: what it stands in, ``None`` for the whole document.
        step: its name or number there.
    """

    __slots__ = ("_parent", "_step", "value")

    def __init__(self, value: Any, parent: Checked | None = None, step: str | int = "") -> None:
        self.value = value
        self._parent = parent
        self._step = step

    @property
    def place(self) -> str:
        """Where it stands, worked out only when somebody must be told."""
        if self._parent is None:
            return ""
        above = self._parent.place
        if isinstance(self._step, int):
            return f"{above}[{self._step}]"
        return f"{above}.{self._step}" if above else self._step

    def refused(self, what: str, hint: str = "Export the state again.") -> SchemaError:
        """Make the error that says what is wrong here."""
        return SchemaError("The export cannot be read.", f"{self.place or 'The document'}: {what}.", hint)

    def member(self, name: str) -> Checked:
        """Return a member that must be there."""
        members = self._of(dict)
        if name not in members:
            raise self.refused(f"{name!r} is missing")
        return Checked(members[name], self, name)

    def optional(self, name: str) -> Checked | None:
        """Return a member, ``None`` where there is none."""
        members = self._of(dict)
        if name not in members:
            return None
        return Checked(members[name], self, name)

    def members(self) -> Iterator[tuple[str, Checked]]:
        """Yield the members of an object."""
        for name in self._of(dict):
            yield name, self.member(name)

    def items(self) -> Iterator[Checked]:
        """Yield the items of a list."""
        for at, each in enumerate(self._of(list)):
            yield Checked(each, self, at)

    def text(self) -> str:
        """Return a text that says something."""
        found: str = self._of(str)
        if not found:
            raise self.refused("a text is empty")
        return found

    def any_text(self) -> str:
        """Return a text that may be empty."""
        found: str = self._of(str)
        return found

    def flag(self) -> bool:
        """Return true or false."""
        found: bool = self._of(bool)
        return found

    def whole(self) -> int:
        """Return a whole number from 0 on that ids may have."""
        found: int = self._of(int)
        if not 0 <= found < 2**31:
            raise self.refused(f"{found} is out of range")
        return found

    def _of(self, kind: type) -> Any:
        # A bool is an int in Python, and not in JSON.
        if type(self.value) is not kind:
            found = _KINDS.get(type(self.value), "null" if self.value is None else "a number")
            raise self.refused(f"{_KINDS[kind]} is needed here, not {found}")
        return self.value
