"""Names in databases: of tables that are read, and of columns and models that are made; equal names never meet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256

from metl_gui.workbench.exports.export import Option

TABLES = Option(
    "tables",
    "how the tables are named that are read: by the last two parts of the schema's name, its last part, the whole "
    "name, or the whole name with underscores for dots",
    "schema.table",
    ("schema.table", "table", "topic", "topic_"),
)

_HASH_LETTERS = 8
_OTHER = re.compile(r"[^a-z0-9]+")


def table_parts(schema: str, naming: str) -> tuple[str, str]:
    """Return the database schema (empty for none) and the table that a person's choice of ``TABLES`` leads to."""
    parts = schema.split(".")
    if naming == "schema.table" and len(parts) > 1:
        return parts[-2], parts[-1]
    if naming in ("schema.table", "table"):
        return "", parts[-1]
    return "", schema.replace(".", "_") if naming == "topic_" else schema


def unique_names(wanted: Sequence[tuple[str, str]], longest: int, taken: Iterable[str] = ()) -> tuple[str, ...]:
    """Cut names to what a database takes, and keep them apart also where letters do not count by their case.

    What is cut, or would meet another, ends in a hash of what it was made from.

    Args:
        wanted: each name, and what it was made from, which is different for each.
        longest: how many bytes a name may have.
        taken: names that none may have.
    """
    used = {name.casefold() for name in taken}
    counts = Counter(name.casefold() for name, _ in wanted)
    found: list[str] = []
    for name, origin in wanted:
        made, number = name, 0
        if counts[name.casefold()] > 1 or len(_bytes(name)) > longest or name.casefold() in used:
            made = _hashed(name, origin, number, longest)
        while made.casefold() in used:
            number += 1
            made = _hashed(name, origin, number, longest)
        used.add(made.casefold())
        found.append(made)
    return tuple(found)


def _hashed(name: str, origin: str, number: int, longest: int) -> str:
    told = sha256(_bytes(f"{origin}{number or ''}")).hexdigest()[:_HASH_LETTERS]
    return _bytes(name)[: longest - _HASH_LETTERS - 1].decode(errors="ignore") + f"_{told}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def slug(name: str) -> str:
    """Write a name in small letters, digits and underscores."""
    return _OTHER.sub("_", name.casefold()).strip("_") or "x"
