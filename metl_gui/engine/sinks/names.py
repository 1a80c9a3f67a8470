"""Folder names made of entity names: any entity name gives a safe one, and different names give different folders."""

from __future__ import annotations

import hashlib
import re

_UNSAFE = re.compile(r"[^\w .@+-]|^[.\s_]|[.\s]$")
_LONGEST = 120


def folder_name(entity: str) -> str:
    """Return the name of an entity's folder, unsafe characters written as ``%XX``."""
    safe = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found.group().encode()), entity) or "%"
    if len(safe.encode()) <= _LONGEST:
        return safe
    return f"{safe[: _LONGEST // 4]}%{hashlib.sha256(entity.encode()).hexdigest()[:16]}"
