"""What stands beside the text of a decoded value for the schema that wrote it.

A decoded value is mapped as text beside a schema half: a short text that no record can hold, as nobody can guess it.
Machine code tells writer schemas apart by it as it tells schema halves of messages apart, and a lesson finds in it
what the schema says.
"""

from __future__ import annotations

import secrets
from dataclasses import replace

from metl_gui.engine.kernel.wire import Written
from metl_gui.formats.json_text import members


class StandIns:
    """The stand-ins of one kernel."""

    def __init__(self) -> None:
        self._begins = b'{"type":"%b",' % secrets.token_hex(16).encode()
        self._within = b'{"schema":' + self._begins
        self._written: dict[bytes, Written] = {}
        self._texts: dict[tuple[str, str], bytes] = {}

    def text(self, topic: str, common: Written) -> bytes:
        """Return what stands for a schema in a topic; ``common`` is what its values have in common."""
        key = common.id, topic
        if key not in self._texts:
            found = self._texts[key] = self._begins + b'"number":%d}' % len(self._texts)
            self._written[found] = common
        return self._texts[key]

    def written(self, value: bytes | None) -> Written | None:
        """Return a decoded value by the text that was made of it; ``None`` for any other value."""
        if value is None or not value.startswith(self._within):
            return None
        found = members(value)
        return replace(self._written[bytes(found["schema"])], text=bytes(found["payload"]))
